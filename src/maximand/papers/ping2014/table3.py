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
    of_truth,
    truth_row,
    truth_table,
    verdict,
)
from maximand.papers.study import Study

SIGMAS = (10.0, 1.0, 0.5, 0.1, 0.01, 1e-3)
CERTAIN, UNCERTAIN = 10.0, 0.1  # where hidden nodes are known almost for sure; up to where they are not
HARDLY = 0.1  # sigma_xh with which inputs say hardly anything of hidden nodes
PAPER = {
    "MSSVM": (79.30, 70.00, 67.24, 69.63, 73.88, 72.08),
    "LSSVM": (79.46, 70.07, 65.98, 67.91, 71.38, 69.24),
    "HCRF": (78.68, 69.88, 66.66, 69.03, 72.58, 70.88),
    "M3E": (79.04, 68.53, 66.05, 65.19, 67.21, 65.48),
    "ModLat": (77.16, 67.91, 65.15, 67.96, 71.52, 66.54),
}
BASELINES: dict[str, M3E | ModLat] = {
    **{f"M3E, alpha {alpha:g}": M3E(alpha) for alpha in (2.0, 8.0)},
    **{f"ModLat, beta {beta:g}": ModLat(beta) for beta in (0.1, 0.5)},
}
PROTOCOL = (
    "Chains of ping2014-table2 (10 outputs, 10 hidden nodes, 20 training and 100 test examples, C = 1) for six values "
    "of sigma_h, trained by CCCP. MSSVM and HCRF predict by marginal MAP, LSSVM and ModLat by joint MAP, M3E by its "
    "score. The paper takes the default alpha and beta of others' programs: two values of each are reported, alpha = 2 "
    "and 8, beta = 0.1 and 0.5. The rounds of M3E and ModLat are solved by L-BFGS on soft maxima at temperature 0.05. "
    "As the inputs of hidden nodes say much about these whatever sigma_h is, a variant draws their tables with "
    f"sigma_xh = {HARDLY:g} instead of 2."
)
TABLE3_SCALES = {
    "quick": "One trial from random weights, shared, for the largest and the smallest sigma_h; one alpha and one beta. "
    + PROTOCOL,
    "standard": "MSSVM, LSSVM and HCRF: 60 trials from random weights, 30 from zero, 60 of the variant, each with "
    "shared weights and with weights for each position. M3E and ModLat: the first 20 trials from random weights, with "
    "weights for each position. " + PROTOCOL,
    "paper": "200 trials of everything; M3E and ModLat from random weights, with weights for each position. "
    + PROTOCOL,
}


class Counts(NamedTuple):
    """How many trials there are for each sigma_h."""

    random: int = 200
    zero: int = 200
    variant: int = 200
    baselines: int = 200


class Group(NamedTuple):
    """Settings that make a table: all but sigma_h, and the number of trials."""

    shared: bool
    start: str
    sigma_xh: float | None
    trials: int

    def setting(self, sigma_h: float) -> dict[str, Any]:
        """Return the cell, but for the trials."""
        more = {} if self.sigma_xh is None else {"sigma_xh": self.sigma_xh}
        common = {"graph": CHAIN, "shared": self.shared, "sigma_h": sigma_h}
        return {**common, "start": self.start, "algorithms": [CONCAVE], **more}

    def __str__(self) -> str:
        weights = "shared weights" if self.shared else "weights for each position"
        start = "random weights" if self.start == RANDOM else "all weights zero"
        return f"{weights}, from {start}" + ("" if self.sigma_xh is None else f", sigma_xh = {self.sigma_xh:g}")


COUNTS = {"quick": Counts(1, 0, 0, 1), "standard": Counts(60, 30, 60, 20), "paper": Counts()}
Found = dict[float, dict[str, list[float]]]


def table3(study: Study) -> Outcome:
    """Accuracies of five methods by sigma_h."""
    quick, counts = study.scale == "quick", COUNTS[study.scale]
    sigmas, models = ((SIGMAS[0], SIGMAS[-1]), list(BASELINES)[::2]) if quick else (SIGMAS, list(BASELINES))
    groups = [
        Group(shared, start, sigma_xh, count)
        for start, sigma_xh, count in (
            (RANDOM, None, counts.random), (ZERO, None, counts.zero), (RANDOM, HARDLY, counts.variant),
        )
        for shared in ((True,) if quick else (False, True))
        if count
    ]  # fmt: skip
    settings = [(group.setting(sigma), group.trials) for group in groups for sigma in sigmas]
    runs = study.map(accuracies, [{**one, "trials": block} for one, count in settings for block in blocks(count, 20)])
    truths = [_field(group, sigma) for group in groups if group.start == RANDOM for sigma in sigmas]
    of_truths = study.map(of_truth, [{**one, "trials": blocks(counts.random, 60)[0]} for one in truths])
    compared: list[dict[str, Any]] = [
        {"shared": quick, "sigma_h": sigma, "baseline": name} for sigma in sigmas for name in models
    ]
    others = study.map(
        baseline, [{**one, "trials": block} for one in compared for block in blocks(counts.baselines, 5)]
    )
    tables, remarks = [], list[str]()
    for group in groups:
        found = {sigma: gathered(runs, group.setting(sigma)) for sigma in sigmas}
        names = {name: key(name, CONCAVE) for name in METHODS}
        if group[:3] == (quick, RANDOM, None):
            for one in compared:
                found[one["sigma_h"]] |= gathered(others, one)
            names |= {name: name for name in models}
        tables += [_accuracies(group, found, names), _differences(group, found, names)]
        remarks += _remarks(group, found, names)
    rows = [truth_row(_titled(one), gathered(of_truths, one)) for one in truths]
    return Outcome([*tables, truth_table(rows)], remarks=remarks, runs=[*runs, *of_truths, *others])


def _field(group: Group, sigma_h: float) -> dict[str, Any]:
    return {name: value for name, value in group.setting(sigma_h).items() if name not in ("start", "algorithms")}


def _titled(one: dict[str, Any]) -> str:
    weights = "shared weights" if one["shared"] else "weights for each position"
    more = f", sigma_xh = {one['sigma_xh']:g}" if "sigma_xh" in one else ""
    return f"sigma_h = {one['sigma_h']:g}{more}, {weights}"


def baseline(shared: bool, sigma_h: float, baseline: str, trials: list[int], seed: int) -> dict[str, Any]:
    """Return how many outputs a baseline predicts right, trial by trial, in per cent; it starts at random weights."""
    model, found = BASELINES[baseline], []
    for trial in trials:
        problem = drawn(CHAIN, shared, trial, seed, sigma_h=sigma_h)
        found.append(model.accuracy(problem, model.fitted(problem, problem.start(RANDOM))))
    return {"accuracies": {baseline: found}}


def _accuracies(group: Group, found: Found, names: Mapping[str, str]) -> Table:
    rows = []
    for sigma, values in found.items():
        paper = {name: PAPER[name.split(",")[0]][SIGMAS.index(sigma)] for name in names}
        cells = [
            Cell(*mean_and_half(values[own]), paper[name] if group.sigma_xh is None else None)
            for name, own in names.items()
        ]
        rows.append(Row(f"sigma_h = {sigma:g}", cells))
    fewest = min(len(values[own]) for values in found.values() for own in names.values())
    note = f"Means of {group.trials} trials with half the width of their 95 % intervals"
    note += f"; of {fewest} for M3E and ModLat." if len(names) > len(METHODS) else "."
    return Table(f"Accuracy (%): {group}", list(names), rows, note, 2, higher_is_better=True)


def _against(values: Mapping[str, list[float]], own: str) -> Paired:
    """Compare MSSVM with another on the trials of that."""
    other = values[own]
    return Paired.of(values[key("MSSVM", CONCAVE)][: len(other)], other)


def _differences(group: Group, found: Found, names: Mapping[str, str]) -> Table:
    others = {name: own for name, own in names.items() if name != "MSSVM"}
    rows = [
        Row(f"sigma_h = {sigma:g}", [Cell(*_against(values, own)) for own in others.values()])
        for sigma, values in found.items()
    ]
    note = "Paired differences on the same problems, with half the width of their 95 % intervals."
    return Table(f"MSSVM less others (points): {group}", list(others), rows, note, 2)


def _remarks(group: Group, found: Found, names: Mapping[str, str]) -> list[str]:
    """State the paper's findings as yes or no, with paired intervals."""
    remarks = []
    for name in list(names)[1:]:
        pairs = {sigma: _against(values, names[name]) for sigma, values in found.items()}
        uncertain = [sigma for sigma in found if sigma <= UNCERTAIN]
        answer, even = verdict([pairs[sigma] for sigma in uncertain]), pairs[CERTAIN]
        clear = even.positive or even.negative
        remarks += [
            f"MSSVM is more accurate than {name} where hidden nodes are uncertain, sigma_h up to {UNCERTAIN:g} "
            f"({group}): {answer}. {', '.join(f'{pairs[sigma]} at {sigma:g}' for sigma in uncertain)}.",
            f"MSSVM and {name} do not differ clearly at sigma_h = {CERTAIN:g} ({group}): {'no' if clear else 'yes'}. "
            f"{even}.",
        ]
    return remarks
