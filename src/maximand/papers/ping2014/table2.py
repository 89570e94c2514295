"""Table 2: hidden chains and grids, by (sub)gradient descent and by CCCP."""

from __future__ import annotations

from typing import Any, NamedTuple

from maximand.papers.outcome import Cell, Outcome, Row, Table
from maximand.papers.ping2014.training import CONCAVE, DEFAULT, METHODS, RANDOM, SGD, ZERO
from maximand.papers.ping2014.trials import (
    CHAIN,
    GRID,
    LONG_CHAIN,
    Paired,
    accuracies,
    blocks,
    gathered,
    key,
    mean_and_half,
    of_truth,
    truth_row,
    truth_table,
    verdict,
)
from maximand.papers.study import Study

PAPER = {
    CHAIN: {SGD: (69.20, 66.87, 68.75), CONCAVE: (69.63, 67.91, 69.03)},
    GRID: {SGD: (74.12, 71.96, 73.51), CONCAVE: (74.08, 73.38, 73.62)},
}
PROTOCOL = (
    "20 training and 100 test examples, sigma 0.1 for nodes and 2 for pairs, C = 1 beside the sum of the losses, the "
    "Hamming cost as a count. Chains have 10 outputs, 10 hidden nodes and an input for each of these; grids 18, 18 and "
    "36. Weights of the field and of the model are shared by all positions, or each has its own. SGD takes the paper's "
    "steps as long as it says that they take to converge: 50 of 0.02 for MSSVM and HCRF, 250 of 0.001 for LSSVM. CCCP "
    "solves its rounds by cutting planes or L-BFGS. Inference is exact on chains, belief propagation on grids."
)
TABLE2_SCALES = {
    "quick": "Two trials on chains with shared weights, from random weights. " + PROTOCOL,
    "standard": "Chains: 200 trials from zero and from random weights, 100 from our default start, 30 of each variant. "
    "Grids: 32 trials from random weights, 16 from zero, 4 with exact inference. " + PROTOCOL,
    "paper": "200 trials of everything. " + PROTOCOL,
}
BOTH = [SGD, CONCAVE]
START_WORDS = {ZERO: "all weights zero", RANDOM: "random weights", DEFAULT: "an easier objective first"}


class Counts(NamedTuple):
    """How many trials there are: of chains, of their variants and of grids."""

    chains: int = 200
    default: int = 200
    variants: int = 200
    grids: int = 200
    grids_from_zero: int = 200
    exact_grids: int = 200


COUNTS = {"quick": Counts(2, 0, 0, 0, 0, 0), "standard": Counts(200, 100, 30, 32, 16, 4), "paper": Counts()}
SIZES = {CHAIN: 20, LONG_CHAIN: 10, GRID: 4}  # of the blocks of trials that make a cell


def settings_of(scale: str) -> list[tuple[dict[str, Any], int]]:
    """Return all settings, each with its number of trials."""
    counts = COUNTS[scale]
    listed: list[tuple[dict[str, Any], int]] = []

    def add(count: int, graph: str, shared: bool, start: str, algorithms: list[str], **more: Any) -> None:
        listed.append(({"graph": graph, "shared": shared, "start": start, "algorithms": algorithms, **more}, count))

    for shared in (True, False):
        add(counts.chains, CHAIN, shared, RANDOM, BOTH)
        add(counts.chains, CHAIN, shared, ZERO, BOTH)
        add(counts.default, CHAIN, shared, DEFAULT, [CONCAVE])
        add(counts.variants, LONG_CHAIN, shared, RANDOM, BOTH)
        add(counts.variants, CHAIN, shared, RANDOM, BOTH, normalized=True)
    for shared in (True, False):
        add(counts.grids, GRID, shared, RANDOM, BOTH)
        add(counts.grids_from_zero, GRID, shared, ZERO, BOTH)
        add(counts.exact_grids, GRID, shared, RANDOM, [CONCAVE], exact=True)
    if scale == "quick":
        listed = [(setting, count) for setting, count in listed if setting["shared"] and setting["start"] == RANDOM]
    return [(setting, count) for setting, count in listed if count]


def table2(study: Study) -> Outcome:
    """Accuracies of MSSVM, LSSVM and HCRF on simulated chains and grids."""
    settings = settings_of(study.scale)
    cells = [
        {**setting, "trials": block} for setting, count in settings for block in blocks(count, SIZES[setting["graph"]])
    ]
    runs = study.map(accuracies, cells)
    own = {(setting["graph"], setting["shared"]): count for setting, count in reversed(settings)}
    asked = [{"graph": graph, "shared": shared} for graph, shared in own]
    truths = study.map(
        of_truth, [{**one, "trials": block} for one in asked for block in blocks(own[one["graph"], one["shared"]], 20)]
    )
    found = [(setting, count, gathered(runs, setting)) for setting, count in settings]
    tables = [_accuracies(setting, count, values) for setting, count, values in found]
    differences = [
        _differences(title, [one for one in found if one[0]["shared"] == shared]) for title, shared in TITLES
    ]
    tables += [table for table in differences if table.rows]
    tables.append(truth_table([truth_row(f"{one['graph']}, {_weights(one)}", gathered(truths, one)) for one in asked]))
    return Outcome(tables, remarks=_remarks(found), runs=[*runs, *truths])


TITLES = (("Differences, shared weights (points)", True), ("Differences, weights for each position (points)", False))


def _named(setting: dict[str, Any]) -> str:
    variant = ", cost as a share" if setting.get("normalized") else ", exact inference" if setting.get("exact") else ""
    return f"{setting['graph']}, from {START_WORDS[setting['start']]}{variant}"


def _accuracies(setting: dict[str, Any], count: int, values: dict[str, list[float]]) -> Table:
    rows = []
    for algorithm in setting["algorithms"]:
        paper = PAPER[CHAIN if setting["graph"] == LONG_CHAIN else setting["graph"]][algorithm]
        cells = [
            Cell(*mean_and_half(values[key(name, algorithm)]), theirs)
            for name, theirs in zip(METHODS, paper, strict=True)
        ]
        rows.append(Row(algorithm, cells))
    note = f"Means of {count} trials with half the width of their 95 % intervals."
    return Table(
        f"Accuracy (%): {_named(setting)}, {_weights(setting)}", list(METHODS), rows, note, 2, higher_is_better=True
    )


def _differences(title: str, found: list[tuple[dict[str, Any], int, dict[str, list[float]]]]) -> Table:
    rows = []
    for setting, _, values in found:
        for algorithm in setting["algorithms"]:
            pairs = [_pair(values, algorithm, other) for other in ("LSSVM", "HCRF")]
            rows.append(Row(f"{_named(setting)}, {algorithm}", [Cell(pair.mean, pair.half) for pair in pairs]))
    note = "Paired differences on the same problems, with half the width of their 95 % intervals."
    return Table(title, ["MSSVM - LSSVM", "MSSVM - HCRF"], rows, note, 2)


def _weights(setting: dict[str, Any]) -> str:
    return "shared weights" if setting["shared"] else "weights for each position"


def _pair(values: dict[str, list[float]], algorithm: str, other: str) -> Paired:
    return Paired.of(values[key("MSSVM", algorithm)], values[key(other, algorithm)])


def _remarks(found: list[tuple[dict[str, Any], int, dict[str, list[float]]]]) -> list[str]:
    """State the paper's findings as yes or no for each setting, with paired intervals."""
    remarks = []
    for setting, count, values in found:
        where = f"{_named(setting)}, {'shared' if setting['shared'] else 'own'} weights"
        for algorithm in setting["algorithms"]:
            pairs = {other: _pair(values, algorithm, other) for other in ("LSSVM", "HCRF")}
            shown = ", ".join(f"{pair} above {other}" for other, pair in pairs.items())
            remarks.append(
                f"MSSVM is the most accurate ({where}, {algorithm}, {count} trials): "
                f"{verdict(list(pairs.values()))}. It is {shown}."
            )
        if SGD in setting["algorithms"]:
            pair = Paired.of(values[key("LSSVM", CONCAVE)], values[key("LSSVM", SGD)])
            remarks.append(f"LSSVM is more accurate by CCCP than by SGD ({where}): {verdict([pair])}. It is by {pair}.")
    return remarks
