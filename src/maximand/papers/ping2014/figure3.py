"""Figure 3: test errors by the number of training examples."""

from __future__ import annotations

from typing import Any

from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.ping2014.simulators import Lattice, Spread
from maximand.papers.ping2014.training import CONCAVE, METHODS, RANDOM, Problem, fitted
from maximand.papers.ping2014.trials import Paired, mean_and_half, rng_of
from maximand.papers.study import Study

SIZES = tuple(2**power for power in range(2, 11))
PROTOCOL = (
    "Chains of 5 outputs, 5 hidden nodes and 10 inputs, sigma 0.1 for nodes and 2 for pairs, C = 1 beside the sum of "
    "the losses, 500 test examples, CCCP from random weights."
)
FIGURE3_SCALES = {
    "quick": "4 and 8 training examples, one trial, shared weights. " + PROTOCOL,
    "standard": "4 to 1024 training examples, 10 trials up to 128 and 5 beyond, shared weights and weights for each "
    "position. " + PROTOCOL,
    "paper": "4 to 1024 training examples, 20 trials. " + PROTOCOL,
}
FEW = 128  # training examples for which there are more trials


def figure3(study: Study) -> Outcome:
    """Test error of MSSVM, LSSVM and HCRF by training examples."""
    sizes = SIZES[:2] if study.scale == "quick" else SIZES
    few, many = {"quick": (1, 1), "standard": (10, 5), "paper": (20, 20)}[study.scale]
    readings = (True,) if study.scale == "quick" else (True, False)
    cells = [
        {"shared": shared, "size": size, "trial": trial}
        for shared in readings
        for size in sizes
        for trial in range(few if size <= FEW else many)
    ]
    runs = study.map(errors, cells)
    tables, figures, remarks = [], [], list[str]()
    for shared in readings:
        where = "shared weights" if shared else "weights for each position"
        found = {
            size: {
                name: [run["errors"][name] for run in runs if _is(run, shared, size)] for name in METHODS
            }
            for size in sizes
        }  # fmt: skip
        rows = [
            Row(f"{size} examples", [Cell(*mean_and_half(values[name])) for name in METHODS])
            for size, values in found.items()
        ]
        note = "Means over trials with half the width of their 95 % intervals."
        tables.append(Table(f"Test error (%), {where}", list(METHODS), rows, note, 2, higher_is_better=False))
        tables.append(_differences(where, found))
        curves = [
            {"name": name, "x": list(sizes), "y": [mean_and_half(values[name])[0] for values in found.values()]}
            for name in METHODS
        ]
        figures.append(Figure(f"Test error, {where}", "training examples", "test error (%)", curves))
        remarks += _remarks(where, found)
    return Outcome(tables, figures, remarks, runs)


def _is(run: dict[str, Any], shared: bool, size: int) -> bool:
    return bool(run["cell"]["shared"] == shared and run["cell"]["size"] == size)


def errors(shared: bool, size: int, trial: int, seed: int) -> dict[str, Any]:
    """Return the test error of each method, in per cent, from the first training examples of a trial."""
    problem = Problem(Lattice(10), Spread(), shared, (SIZES[-1], 500), rng_of(seed, trial)).only(size)
    return {
        "errors": {
            name: 100.0 - problem.accuracy(fitted(problem, name, CONCAVE, RANDOM), method.hidden)
            for name, method in METHODS.items()
        }
    }


PAIRS = (("LSSVM", "MSSVM"), ("HCRF", "MSSVM"), ("HCRF", "LSSVM"))


def _differences(where: str, found: dict[int, dict[str, list[float]]]) -> Table:
    rows = [
        Row(f"{size} examples", [Cell(*Paired.of(values[worse], values[better])) for worse, better in PAIRS])
        for size, values in found.items()
    ]
    note = "Paired differences of errors on the same problems, with half the width of their 95 % intervals."
    columns = [f"{worse} - {better}" for worse, better in PAIRS]
    return Table(f"Differences of errors (points), {where}", columns, rows, note, 2)


def _remarks(where: str, found: dict[int, dict[str, list[float]]]) -> list[str]:
    """State the paper's findings with the sizes at which the intervals are clear of zero."""

    def clear(worse: str, better: str, sizes: list[int]) -> str:
        pairs = {size: Paired.of(found[size][worse], found[size][better]) for size in sizes}
        above = [size for size, pair in pairs.items() if pair.positive]
        below = [size for size, pair in pairs.items() if pair.negative]
        answer = (
            "no" if len(below) >= max(1, len(above)) else "yes" if 2 * len(above) > len(sizes) else "no, not clearly"
        )
        return (
            f"{answer}. The difference is clear of zero and positive at {_listed(above)}, negative at {_listed(below)} "
            f"of {len(sizes)} sizes."
        )

    sizes = list(found)
    half = len(sizes) // 2
    return [
        f"MSSVM beats LSSVM at all sizes ({where}): {clear('LSSVM', 'MSSVM', sizes)}",
        f"MSSVM beats HCRF on few examples ({where}): {clear('HCRF', 'MSSVM', sizes[: half + 1])}",
        f"HCRF is worse than LSSVM on few examples ({where}): {clear('HCRF', 'LSSVM', sizes[:half])}",
        f"LSSVM is worse than HCRF on many examples ({where}): {clear('LSSVM', 'HCRF', sizes[half:])}",
    ]


def _listed(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes)) or "none"
