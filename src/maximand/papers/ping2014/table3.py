"""Table 3: chains by how uncertain their hidden nodes are, with two baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from maximand.papers.outcome import Cell, Outcome, Row, Table
from maximand.papers.ping2014.m3e import M3E
from maximand.papers.ping2014.modlat import ModLat
from maximand.papers.ping2014.training import CONCAVE, METHODS, RANDOM, ZERO
from maximand.papers.ping2014.trials import (
    CHAIN,
    Paired,
    accuracies,
    blocks,
    drawn,
    gathered,
    key,
    mean_and_half,
    verdict,
)
from maximand.papers.study import Study

SIGMAS = (10.0, 1.0, 0.5, 0.1, 0.01, 1e-3)
CERTAIN, UNCERTAIN = 10.0, 0.1  # where hidden nodes are known almost for sure; up to where they are not
PAPER = {
    "MSSVM": (79.30, 70.00, 67.24, 69.63, 73.88, 72.08),
    "LSSVM": (79.46, 70.07, 65.98, 67.91, 71.38, 69.24),
    "HCRF": (78.68, 69.88, 66.66, 69.03, 72.58, 70.88),
    "M3E": (79.04, 68.53, 66.05, 65.19, 67.21, 65.48),
    "ModLat": (77.16, 67.91, 65.15, 67.96, 71.52, 66.54),
}
ALPHAS, BETAS = (2.0, 8.0), (0.1, 0.5)
BASELINES: dict[str, M3E | ModLat] = {
    **{f"M3E, alpha {alpha:g}": M3E(alpha) for alpha in ALPHAS},
    **{f"ModLat, beta {beta:g}": ModLat(beta) for beta in BETAS},
}
PROTOCOL = (
    "Chains of ping2014-table2 (10 outputs, 10 hidden nodes, 20 training and 100 test examples, C = 1) for six values "
    "of sigma_h, trained by CCCP. MSSVM and HCRF predict by marginal MAP, LSSVM and ModLat by joint MAP, M3E by its "
    "score. The paper takes the default alpha and beta of others' programs: two values of each are reported, alpha = 2 "
    "and 8, beta = 0.1 and 0.5. The rounds of M3E and ModLat are solved by L-BFGS on soft maxima at temperature 0.05."
)
TABLE3_SCALES = {
    "quick": "One trial from random weights, shared, for the largest and the smallest sigma_h. " + PROTOCOL,
    "standard": "MSSVM, LSSVM and HCRF: 100 trials from random weights, 40 from zero, shared weights and weights for "
    "each position. M3E and ModLat: the first 20 trials from random weights, with weights for each position. "
    + PROTOCOL,
    "paper": "200 trials of everything. " + PROTOCOL,
}


class Counts(NamedTuple):
    """How many trials there are for each sigma_h: from random weights, from zero, and of the baselines."""

    random: int = 200
    zero: int = 200
    baselines: int = 200


COUNTS = {"quick": Counts(1, 0, 1), "standard": Counts(100, 40, 20), "paper": Counts()}


def table3(study: Study) -> Outcome:
    """Accuracies of five methods by sigma_h."""
    quick, counts = study.scale == "quick", COUNTS[study.scale]
    sigmas = (SIGMAS[0], SIGMAS[-1]) if quick else SIGMAS
    groups = [
        (shared, start, count)
        for shared in ((True,) if quick else (True, False))
        for start, count in ((RANDOM, counts.random), (ZERO, counts.zero))
        if count
    ]
    alone = quick or study.scale == "standard"
    compared = [(quick, RANDOM, counts.baselines)] if alone else [(shared, RANDOM, 200) for shared in (True, False)]
    settings = [(_setting(shared, start, sigma), count) for shared, start, count in groups for sigma in sigmas]
    models = list(BASELINES)[:: 2 if quick else 1]
    of_baselines = [
        ({"shared": shared, "sigma_h": sigma, "baseline": name}, count)
        for shared, _, count in compared
        for sigma in sigmas
        for name in models
    ]
    runs = study.map(accuracies, [{**s, "trials": block} for s, count in settings for block in blocks(count, 20)])
    others = study.map(baseline, [{**s, "trials": block} for s, count in of_baselines for block in blocks(count, 5)])
    tables, remarks = [], list[str]()
    for shared, start, _ in groups:
        found = {sigma: gathered(runs, _setting(shared, start, sigma)) for sigma in sigmas}
        names = {name: key(name, CONCAVE) for name in METHODS}
        if (shared, start) in [(own, RANDOM) for own, _, _ in compared]:
            for sigma in sigmas:
                for name in models:
                    setting = {"shared": shared, "sigma_h": sigma, "baseline": name}
                    found[sigma] |= gathered(others, setting)
            names |= {name: name for name in models}
        where = f"{'shared weights' if shared else 'weights for each position'}, from {WORDS[start]}"
        tables += [_accuracies(where, found, names), _differences(where, found, names)]
        remarks += _remarks(where, found, names)
    return Outcome(tables, remarks=remarks, runs=[*runs, *others])


WORDS = {RANDOM: "random weights", ZERO: "all weights zero"}


def baseline(shared: bool, sigma_h: float, baseline: str, trials: list[int], seed: int) -> dict[str, Any]:
    """Return how many outputs a baseline predicts right, trial by trial, in per cent; it starts at random weights."""
    model, found = BASELINES[baseline], []
    for trial in trials:
        problem = drawn(CHAIN, shared, trial, seed, sigma_h=sigma_h)
        found.append(model.accuracy(problem, model.fitted(problem, problem.start(RANDOM))))
    return {"accuracies": {baseline: found}}


def _setting(shared: bool, start: str, sigma_h: float) -> dict[str, Any]:
    return {"graph": CHAIN, "shared": shared, "start": start, "algorithms": [CONCAVE], "sigma_h": sigma_h}


def _accuracies(where: str, found: Mapping[float, Mapping[str, list[float]]], names: Mapping[str, str]) -> Table:
    rows = []
    for sigma, values in found.items():
        cells = [
            Cell(*mean_and_half(values[own]), PAPER[name.split(",")[0]][SIGMAS.index(sigma)])
            for name, own in names.items()
        ]
        rows.append(Row(f"sigma_h = {sigma:g}", cells))
    counts = {len(values[own]) for values in found.values() for own in names.values()}
    note = (
        f"Means of {' or '.join(map(str, sorted(counts, reverse=True)))} trials with half the width of their 95 % "
        "intervals; fewer are those of M3E and ModLat."
    )
    return Table(f"Accuracy (%): {where}", list(names), rows, note, 2, higher_is_better=True)


def _against(values: Mapping[str, list[float]], own: str) -> Paired:
    """Compare MSSVM with another on the trials of that."""
    other = values[own]
    return Paired.of(values[key("MSSVM", CONCAVE)][: len(other)], other)


def _differences(where: str, found: Mapping[float, Mapping[str, list[float]]], names: Mapping[str, str]) -> Table:
    others = {name: own for name, own in names.items() if name != "MSSVM"}
    rows = [
        Row(f"sigma_h = {sigma:g}", [Cell(*_against(values, own)) for own in others.values()])
        for sigma, values in found.items()
    ]
    note = "Paired differences on the same problems, with half the width of their 95 % intervals."
    return Table(f"MSSVM less others (points): {where}", list(others), rows, note, 2)


def _remarks(where: str, found: Mapping[float, Mapping[str, list[float]]], names: Mapping[str, str]) -> list[str]:
    remarks = []
    for name in list(names)[1:]:
        pairs = {sigma: _against(values, names[name]) for sigma, values in found.items()}
        uncertain = [sigma for sigma in found if sigma <= UNCERTAIN]
        remarks += [
            f"MSSVM is more accurate than {name} where hidden nodes are uncertain, sigma_h up to {UNCERTAIN:g} "
            f"({where}): {verdict([pairs[sigma] for sigma in uncertain])}. {_shown(pairs, uncertain)}.",
            f"MSSVM differs from {name} where they are not, sigma_h = {CERTAIN:g} ({where}): {_clear(pairs[CERTAIN])}. "
            f"{_shown(pairs, [CERTAIN])}.",
        ]
    return remarks


def _shown(pairs: Mapping[float, Paired], sigmas: list[float]) -> str:
    return ", ".join(f"{pairs[sigma]} at {sigma:g}" for sigma in sigmas)


def _clear(pair: Paired) -> str:
    return "yes" if pair.positive or pair.negative else "not clearly"
