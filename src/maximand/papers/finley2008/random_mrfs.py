"""How many labellings of random graphs are better than the one that an inference finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from maximand.inference import Exhaustive, FactorGraphs, Structure, labelled
from maximand.numerics.enumeration import better_labellings
from maximand.papers.finley2008.training import ORACLES
from maximand.papers.outcome import Cell, Figure, Outcome, Row, Table
from maximand.papers.study import Study
from maximand.support import Array, Guarantee

N_NODES = 10
METHODS = ("Greedy", "LBP", "LBP, damped", "Combine", "Relaxed, then random")
RANDOM_MRFS_SCALES = {
    "quick": "100 graphs.",
    "standard": "The paper's 1000 complete graphs on 10 binary nodes, potentials uniform on [-1, 1].",
    "paper": "As standard.",
}


def random_mrfs(study: Study) -> Outcome:
    """Count the labellings that beat each method's, graph by graph."""
    n_graphs = 100 if study.scale == "quick" else 1000
    runs = study.map(superior_labellings, [{"method": method, "n_graphs": n_graphs} for method in METHODS])
    curves, rows = [], []
    for run in runs:
        counts = np.sort(run["counts"])
        curves.append(
            {"name": run["cell"]["method"], "x": list(range(n_graphs)), "y": np.maximum(counts, 0.5).tolist()}
        )
        shares = [
            float(100.0 * np.mean(counts == 0)),
            float(counts.mean()),
            float(np.median(counts)),
            float(counts.max()),
        ]
        rows.append(Row(run["cell"]["method"], [Cell(share) for share in shares]))
    columns = ["optimal (%)", "mean", "median", "most"]
    table = Table("Labellings better than the one found, of 1024", columns, rows, digits=1)
    figure = Figure(
        "Superior labellings, each method's graphs in order",
        "graph",
        "superior labellings",
        curves,
        "0.5 stands for none: the labelling is optimal.",
    )
    by_name = {run["cell"]["method"]: np.array(run["counts"]) for run in runs}
    lbp, greedy = by_name["LBP"], by_name["Greedy"]
    more = np.mean(lbp == 0) > np.mean(greedy == 0)
    worse = np.percentile(lbp, 99) > np.percentile(greedy, 99)
    remarks = [
        f"LBP returns optimal labellings more often than Greedy: {'yes' if more else 'no'} "
        f"({100 * np.mean(lbp == 0):.1f} against {100 * np.mean(greedy == 0):.1f} %).",
        f"When LBP does poorly, it does very poorly: {'yes' if worse else 'no'}. In the worst hundredth of graphs at "
        f"least {np.percentile(lbp, 99):.0f} labellings are better, for Greedy {np.percentile(greedy, 99):.0f}.",
    ]
    return Outcome([table], [figure], remarks, runs)


def random_graphs(n_graphs: int, seed: int) -> tuple[FactorGraphs, Array]:
    """Return complete graphs with a potential for each node and each edge that is on."""
    rng = np.random.default_rng(seed)
    graphs = FactorGraphs.of([Structure.complete(N_NODES)] * n_graphs)
    theta = np.zeros(graphs.n_parts)
    graphs.nodes(theta)[:, 1] = rng.uniform(-1.0, 1.0, graphs.nodes(theta).shape[0])
    graphs.tables(theta)[:, 1, 1] = rng.uniform(-1.0, 1.0, graphs.tables(theta).shape[0])
    return graphs, theta


def superior_labellings(method: str, n_graphs: int, seed: int) -> dict[str, Any]:
    """Return for each graph how many labellings are better than the one found."""
    graphs, theta = random_graphs(n_graphs, seed)
    inference = ORACLES["Relaxed" if method.startswith("Relaxed") else method]
    support = inference.argmax(graphs, theta)
    present = graphs.nodes(support.mean)[:, 1]
    rng = np.random.default_rng([seed, 1])
    codes = np.where(rng.random(present.size) < present, 1, 0)
    values = labelled(graphs, theta, codes, Guarantee.UNDER).value
    counts = np.empty(n_graphs, dtype=np.int64)
    better_labellings(graphs.factors, theta, values, counts)
    best = Exhaustive().argmax(graphs, theta).value
    return {
        "counts": counts.tolist(),
        "undecided": float(np.mean((present > 0) & (present < 1))),
        "mean share of the best score": float(np.mean(values / best)),
    }
