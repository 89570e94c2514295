"""Figure 3: soft permutation matrices, Euclidean and KL."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from maximand.estimators import LabelRanker
from maximand.files.atomic import write_atomically
from maximand.oracles import Entropic, Euclidean, Projection
from maximand.papers.blondel2019.choosing import best, brief, path, strengths, validated
from maximand.papers.blondel2019.findings import yes
from maximand.papers.blondel2019.rankings import losses, read, split
from maximand.papers.endings import ending
from maximand.papers.outcome import Cell, HeatMap, Outcome, Row, Table
from maximand.papers.study import Study
from maximand.report.heat_maps import heat_map_svg
from maximand.support import Array, Ints

GEOMETRIES: dict[str, Projection] = {"Euclidean": Euclidean(), "KL": Entropic()}
SHOWN = {"glass": 4, "vowel": 1, "embedded wine": 3}  # how many test rows
ZERO = 1e-9
FIGURE3_SCALES = {
    "quick": "Embedded wine, its classes ranked by naive Bayes; three of the most uncertain test rows, regularisation "
    "among three values.",
    "standard": "Glass (6 labels) and vowel (11 labels), the first split of table 1, regularisation chosen in the same "
    "way; the most uncertain test rows by the entropy of the Euclidean matrix, each with another true ranking. The "
    "paper shows one matrix and does not say of which data.",
    "paper": "As standard.",
}
COLUMNS = ("zero entries (%)", "certain rows (%)", "uncertainty (bits)", "expected loss (%)", "loss (%)")


def figure3(study: Study) -> Outcome:
    """Draw soft permutation matrices of test rows, and say how sure they are of themselves and how right."""
    names = ["embedded wine"] if study.scale == "quick" else ["glass", "vowel"]
    paths = {name: "" if study.scale == "quick" else str(study.file(f"labelranking/{name}.csv.gz")) for name in names}
    cells = [{"data": name, "count": 3 if study.scale == "quick" else 10} for name in names]
    runs = study.map(soft_matrices, cells, files=paths)
    heat_maps = [_heat_map(run) for run in runs]
    for heat_map in heat_maps:
        write_atomically(study.folder / heat_map.file, heat_map_svg(heat_map).encode())
    rows = [
        Row(f"{run['cell']['data']}, {geometry}", [Cell(run["facts"][geometry][column]) for column in COLUMNS])
        for run in runs
        for geometry in GEOMETRIES
    ]
    note = (
        "Over all test rows. Uncertainty is the entropy of the position of a label, averaged over labels; a row is "
        "certain when its matrix is a permutation. The expected loss is that of the predicted ranking if the matrix "
        "is right: the share of wrong entries, as in table 1."
    )
    table = Table("How sure the matrices are", list(COLUMNS), rows, note, 2)
    return Outcome([table], remarks=_remarks(runs), runs=runs, heat_maps=heat_maps)


def soft_matrices(data: str, count: int, seed: int, files: dict[str, str]) -> dict[str, Any]:
    """Fit both geometries and return their matrices for the most uncertain test rows of different rankings."""
    X, Y = read(data, files[data])
    train, test = split(Y, 0.2, [seed, 0])
    splits = [split(Y[train], 0.25, [seed, 0, 1])]
    soft, facts, fits, chosen = {}, {}, {}, {}
    for geometry, projection in GEOMETRIES.items():
        ranker = LabelRanker(projection=projection, max_iterations=500, n_threads=1)
        tried = validated(partial(path, ranker), X[train], Y[train], strengths(count), splits, losses)
        chosen[geometry] = best(tried["Birkhoff"])
        ranker.set_params(max_iterations=5000)
        (model,) = path(ranker, X[train], Y[train], [chosen[geometry]])
        soft[geometry] = model.predict_soft(X[test])
        positions = model.predict_positions(X[test])
        facts[geometry] = _facts(soft[geometry], positions, losses(model, X[test], Y[test])["Birkhoff"])
        fits[geometry] = brief(model)
        if geometry == "Euclidean":
            ended = ending(model)
    rows = _informative(soft["Euclidean"], Y[test], SHOWN[data])
    return {
        "rows": [int(test[row]) for row in rows],
        "rankings": ["".join(Y[test][row]) for row in rows],
        "labels": model.classes_.tolist(),
        "matrices": {geometry: soft[geometry][rows].round(6).tolist() for geometry in GEOMETRIES},
        "facts": facts,
        "regularization": chosen,
        "fits": fits,
        **ended,
    }


def _entropies(soft: Array) -> Array:
    """Return the entropy of the positions of each label in bits, (row, label)."""
    return -(soft * np.log2(np.maximum(soft, 1e-300))).sum(axis=2)


def _informative(soft: Array, Y: np.ndarray, n_rows: int) -> list[int]:
    """Return the most uncertain rows, no two of the same true ranking."""
    order = np.argsort(-_entropies(soft).mean(axis=1), kind="stable")
    first: dict[tuple[str, ...], int] = {}
    for row in order.tolist():
        first.setdefault(tuple(Y[row]), row)
    return list(first.values())[:n_rows]


def _facts(soft: Array, positions: Ints, loss: float) -> dict[str, float]:
    k = soft.shape[1]
    sure = np.take_along_axis(soft, positions[:, :, None], axis=2)[:, :, 0].sum(axis=1)
    found = {
        "zero entries (%)": 100.0 * (soft < ZERO).mean(),
        "certain rows (%)": 100.0 * (soft.max(axis=2) > 1 - 1e-6).all(axis=1).mean(),
        "uncertainty (bits)": _entropies(soft).mean(),
        "expected loss (%)": 100.0 * np.mean(2.0 * (k - sure) / k**2),
        "loss (%)": loss,
        "error of sums": max(np.abs(soft.sum(axis=axis) - 1.0).max() for axis in (1, 2)),
    }
    return {name: float(value) for name, value in found.items()}


def _heat_map(run: dict[str, Any]) -> HeatMap:
    """Order the labels of each matrix by the true ranking, which becomes the diagonal."""
    name, labels = run["cell"]["data"], run["labels"]
    k = len(labels)
    maps = []
    for geometry, matrices in run["matrices"].items():
        for row, ranking, matrix in zip(run["rows"], run["rankings"], matrices, strict=True):
            maps.append(
                {
                    "name": f"{geometry}, row {row + 1}",
                    "rows": list(ranking),
                    "columns": [str(place + 1) for place in range(k)],
                    "values": [matrix[labels.index(label)] for label in ranking],
                    "marks": [[place, place] for place in range(k)],
                }
            )
    across = len(run["rows"]) if len(run["rows"]) > 1 else 2
    note = (
        "Each line of a matrix is a label, with the probability of every position; lines stand in the true order, so "
        "that the framed diagonal is the true ranking. Entries below 0.005 are left blank."
    )
    title = f"Soft permutation matrices of uncertain test rows, {name}"
    return HeatMap(title, "label", "position", "true position", maps, across, f"{name.replace(' ', '-')}.svg", note)


def _remarks(runs: list[dict[str, Any]]) -> list[str]:
    facts = [run["facts"] for run in runs]
    zeros = {geometry: np.mean([fact[geometry]["zero entries (%)"] for fact in facts]) for geometry in GEOMETRIES}
    sums = max(fact[geometry]["error of sums"] for fact in facts for geometry in GEOMETRIES)
    return [
        f"Euclidean matrices are sparser than KL ones: {yes(zeros['Euclidean'] > zeros['KL'])}. "
        f"{zeros['Euclidean']:.1f} against {zeros['KL']:.1f} % of the entries are zero (below {ZERO:g}).",
        f"All matrices are doubly stochastic: {yes(sums < 1e-6)}. No row or column is off one by more than {sums:.1g}.",
    ]
