"""The linear and the integer program against brute force and against a formulation written down in full."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Thread

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

from maximand.inference.base import Inference
from maximand.inference.integer_program import IntegerProgram
from maximand.inference.linear_program import LinearProgram, relax, relax_from, vertex_of
from maximand.inference.local_polytope import Program, polytope_of
from maximand.inference.structure import FactorGraphs, Structure
from maximand.support import Array, Guarantee

RNG = np.random.default_rng


def pieces(graphs: FactorGraphs, parts: Array, i: int) -> tuple[Structure, Array, Array]:
    """Return the structure of an example, and its rows of nodes and its tables."""
    structure = graphs.structures.graphs[graphs.which[i]]
    nodes = graphs.nodes(parts)[graphs.node_offsets[i] : graphs.node_offsets[i + 1]]
    return structure, nodes, graphs.tables(parts)[graphs.table_offsets[i] : graphs.table_offsets[i + 1]]


def alone(graphs: FactorGraphs, parts: Array, i: int) -> Array:
    _, nodes, tables = pieces(graphs, parts, i)
    return np.concatenate([nodes.ravel(), tables.ravel()])


def brute_force(graphs: FactorGraphs, theta: Array) -> Array:
    best = np.full(graphs.n_examples, -np.inf)
    for i in range(graphs.n_examples):
        structure, nodes, tables = pieces(graphs, theta, i)
        for labels in product(*map(range, structure.states)):
            score = sum(nodes[v, x] for v, x in enumerate(labels))
            score += sum(
                tables[t, labels[u], labels[v]] for (u, v), t in zip(structure.edges, structure.tables, strict=True)
            )
            best[i] = max(best[i], score)
    return best


def in_full(structure: Structure, nodes: Array, tables: Array) -> float:
    """Solve the program with a variable for every marginal and a row for every equation."""
    scores, place = [], {}
    for v in range(structure.n_nodes):
        for x in range(structure.states[v]):
            place[v, x] = len(scores)
            scores.append(nodes[v, x])
    for e, (u, v) in enumerate(structure.edges):
        for x, y in product(range(structure.states[u]), range(structure.states[v])):
            place[e, x, y] = len(scores)
            scores.append(tables[structure.tables[e], x, y])
    rows, sums = [], []

    def equal(plus: list[int], minus: list[int], total: float) -> None:
        row = np.zeros(len(scores))
        row[plus], row[minus] = 1.0, -1.0
        rows.append(row)
        sums.append(total)

    for v in range(structure.n_nodes):
        equal([place[v, x] for x in range(structure.states[v])], [], 1.0)
    for e, (u, v) in enumerate(structure.edges):
        for x in range(structure.states[u]):
            equal([place[e, x, y] for y in range(structure.states[v])], [place[u, x]], 0.0)
        for y in range(structure.states[v]):
            equal([place[e, x, y] for x in range(structure.states[u])], [place[v, y]], 0.0)
    costs = np.array(scores)
    allowed = np.isfinite(costs)
    limits = np.stack([np.zeros(len(costs)), allowed.astype(float)], axis=1)
    found = linprog(-np.where(allowed, costs, 0.0), A_eq=np.array(rows), b_eq=sums, bounds=limits, method="highs")
    return -np.inf if found.status == 2 else -found.fun


def dense(rng: np.random.Generator) -> Structure:
    return Structure.complete(6)


def tree(rng: np.random.Generator) -> Structure:
    return Structure.of(rng.integers(1, 4, size=6), [[int(rng.integers(v)), v] for v in range(1, 6)])


def tied(rng: np.random.Generator) -> Structure:
    return Structure.grid(2, 3, 3)


def ragged(rng: np.random.Generator) -> Structure:
    pairs = np.stack(np.triu_indices(6, 1), axis=1)
    return Structure.of(rng.integers(1, 4, size=6), pairs[rng.random(len(pairs)) < 0.7][:, ::-1])


def tied_ragged(rng: np.random.Generator) -> Structure:
    return Structure.of([2, 3, 1, 3, 2], [[0, 1], [1, 3], [3, 0], [2, 4], [4, 0]], [0, 1, 1, 0, 3], n_tables=5)


def apart(rng: np.random.Generator) -> Structure:
    return Structure.of([1, 2, 3, 4, 2], [[4, 1]])


SHAPES = [dense, tree, tied, ragged, tied_ragged, apart]
KINDS = ["plain", "whole numbers", "forbidden"]


def batch(shape, kind: str, seed: int = 0, n_examples: int = 6) -> tuple[FactorGraphs, Array]:
    rng = RNG(seed)
    first, second = shape(rng), shape(rng)
    graphs = FactorGraphs.of([first, second] * (n_examples // 2), width=4)
    theta = rng.normal(size=graphs.n_parts)
    graphs.nodes(theta)[:] *= 0.3  # so that the linear program is often fractional
    if kind == "whole numbers":
        theta = np.round(theta)
    if kind == "forbidden":
        theta[rng.random(theta.size) < 0.15] = -np.inf
    return graphs, theta


def over(shapes=SHAPES):
    return pytest.mark.parametrize(
        ("shape", "kind"), [(s, k) for s in shapes for k in KINDS], ids=lambda p: getattr(p, "__name__", p)
    )


@over()
def test_the_linear_program_bounds_the_maximum(shape, kind):
    graphs, theta = batch(shape, kind)
    found, best = LinearProgram().argmax(graphs, theta), brute_force(graphs, theta)
    assert (found.value >= best - 1e-9).all()
    assert found.guarantee in (Guarantee.EXACT, Guarantee.OVER)
    if found.guarantee is Guarantee.EXACT:
        np.testing.assert_allclose(found.value, best, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_linear_program_of_a_tree_is_exact(kind):
    graphs, theta = batch(tree, kind, seed=5)
    np.testing.assert_allclose(LinearProgram().argmax(graphs, theta).value, brute_force(graphs, theta), atol=1e-9)


@over()
def test_the_linear_program_is_that_written_in_full(shape, kind):
    graphs, theta = batch(shape, kind, seed=1)
    full = [in_full(*pieces(graphs, theta, i)) for i in range(graphs.n_examples)]
    np.testing.assert_allclose(LinearProgram().argmax(graphs, theta).value, full, atol=1e-7)


@over()
def test_the_mean_lies_in_the_polytope_and_has_the_value(shape, kind):
    graphs, theta = batch(shape, kind, seed=2)
    found = LinearProgram().argmax(graphs, theta)
    for i in range(graphs.n_examples):
        structure, nodes, tables = pieces(graphs, found.mean, i)
        if found.value[i] == -np.inf:
            assert not nodes.any() and not tables.any()
            continue
        own = alone(graphs, found.mean, i)
        used = own != 0.0
        np.testing.assert_allclose(alone(graphs, theta, i)[used] @ own[used], found.value[i], atol=1e-9)
        assert (own >= 0.0).all()
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-7)
        for v, k in enumerate(structure.states):
            assert not nodes[v, k:].any()
        for t in range(structure.n_tables):
            left, right = structure.edges[structure.tables == t].T
            np.testing.assert_allclose(tables[t].sum(axis=1), nodes[left].sum(axis=0), atol=1e-7)
            np.testing.assert_allclose(tables[t].sum(axis=0), nodes[right].sum(axis=0), atol=1e-7)


def test_a_frustrated_triangle_is_half_and_half():
    graphs = FactorGraphs.of([Structure.of([2, 2, 2], [[0, 1], [1, 2], [2, 0]], [0, 0, 0])])
    theta = np.zeros(graphs.n_parts)
    graphs.tables(theta)[0] = [[0.0, 1.0], [1.0, 0.0]]
    found = LinearProgram().argmax(graphs, theta)
    assert found.guarantee is Guarantee.OVER
    np.testing.assert_allclose(found.value, [3.0])
    np.testing.assert_array_equal(graphs.nodes(found.mean), np.full((3, 2), 0.5))
    np.testing.assert_array_equal(graphs.tables(found.mean), [[[0.0, 1.5], [1.5, 0.0]]])
    rounded = LinearProgram(integral=True).argmax(graphs, theta)
    assert rounded.guarantee is Guarantee.UNDER
    np.testing.assert_array_equal(graphs.nodes(rounded.mean).argmax(axis=1), [0, 0, 0])
    np.testing.assert_allclose([rounded.value[0], rounded.bound[0]], [0.0, 3.0])
    exact = IntegerProgram().argmax(graphs, theta)
    assert exact.guarantee is Guarantee.EXACT
    np.testing.assert_array_equal(exact.value, [2.0])


@over()
def test_rounding_gives_a_labelling_and_a_bound(shape, kind):
    graphs, theta = batch(shape, kind, seed=3)
    best, relaxed = brute_force(graphs, theta), LinearProgram().argmax(graphs, theta)
    rounded = LinearProgram(integral=True).argmax(graphs, theta)
    assert (rounded.value <= best + 1e-9).all() and (rounded.bound >= best - 1e-9).all()
    np.testing.assert_allclose(rounded.bound, relaxed.value, atol=1e-9)
    assert np.isin(graphs.nodes(rounded.mean), (0.0, 1.0)).all()
    assert (rounded.guarantee is Guarantee.EXACT) == (relaxed.guarantee is Guarantee.EXACT)


@over()
def test_the_integer_program_is_exact(shape, kind):
    graphs, theta = batch(shape, kind, seed=4)
    found = IntegerProgram().argmax(graphs, theta)
    assert found.guarantee is Guarantee.EXACT
    np.testing.assert_allclose(found.value, brute_force(graphs, theta), atol=1e-9)
    np.testing.assert_array_equal(found.bound, found.value)


@pytest.mark.parametrize("seconds", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_out_of_time_there_is_a_labelling_and_a_bound(seconds, kind):
    graphs, theta = batch(dense, kind, seed=6)
    best, found = brute_force(graphs, theta), IntegerProgram(max_seconds=seconds).argmax(graphs, theta)
    assert (found.value <= best + 1e-9).all() and (found.bound >= best - 1e-6).all()
    assert not np.isnan(found.bound).any() and (found.bound < np.inf).all()
    assert np.isfinite(found.value).any()


def test_no_time_at_all_is_a_lower_bound():
    graphs = FactorGraphs.of([Structure.complete(14)])
    theta = RNG(0).normal(size=graphs.n_parts)
    hasty, patient = IntegerProgram(max_seconds=0.0).argmax(graphs, theta), IntegerProgram().argmax(graphs, theta)
    assert hasty.guarantee is Guarantee.UNDER
    assert hasty.value[0] <= patient.value[0] <= hasty.bound[0] < np.inf


def test_a_relative_gap_is_kept():
    graphs = FactorGraphs.of([Structure.complete(12)] * 3)
    theta = RNG(1).normal(size=graphs.n_parts)
    best, found = IntegerProgram().argmax(graphs, theta).value, IntegerProgram(relative_gap=0.3).argmax(graphs, theta)
    assert (found.value <= best).all() and (best <= found.bound + 1e-6).all()
    assert (found.bound - found.value <= 0.3 * np.abs(found.value) + 1e-6).all()


@pytest.mark.parametrize("inference", [LinearProgram(), LinearProgram(integral=True), IntegerProgram()], ids=repr)
@over()
def test_a_batch_is_its_examples_one_by_one(inference: Inference, shape, kind):
    graphs, theta = batch(shape, kind, seed=7)
    together = inference.argmax(graphs, theta)
    for i in range(graphs.n_examples):
        single = inference.argmax(graphs.take(np.array([i])), alone(graphs, theta, i))
        assert single.value[0] == together.value[i]
        np.testing.assert_array_equal(single.mean, alone(graphs, together.mean, i))


@over()
def test_warm_starts_keep_the_values(shape, kind):
    graphs, theta = batch(shape, kind, seed=8)
    rng, warm, state = RNG(8), LinearProgram(warm_start=True), None
    for _ in range(4):
        found, cold = warm.argmax(graphs, theta, state), LinearProgram().argmax(graphs, theta)
        np.testing.assert_allclose(found.value, cold.value, atol=1e-7)
        state = found.state
        theta = theta + 0.05 * rng.normal(size=theta.size)
        theta[rng.random(theta.size) < 0.01] = -np.inf


def test_a_warm_start_takes_few_steps():
    structure = Structure.grid(4, 4, 3)
    graphs = FactorGraphs.of([structure])
    rng, program = RNG(9), Program(polytope_of(structure))
    theta = rng.normal(size=graphs.n_parts)
    relax(program, 0, theta, graphs.width, graphs.nodes(theta).argmax(axis=1))
    cold, vertex = program.solver.getInfo().simplex_iteration_count, vertex_of(program)
    relax_from(program, 0, theta + 0.01 * rng.normal(size=theta.size), graphs.width, vertex)
    assert program.solver.getInfo().simplex_iteration_count < cold / 3


def test_vertices_of_some_graphs_are_taken_and_put_back():
    graphs = FactorGraphs.of([Structure.complete(4), Structure.grid(2, 2, 3), Structure.complete(4)])
    theta, warm = RNG(10).normal(size=graphs.n_parts), LinearProgram(warm_start=True)
    whole = warm.argmax(graphs, theta)
    some, chosen = graphs.take(np.array([2, 1])), np.array([2, 1])
    part = warm.argmax(some, graphs.layout.pick(theta, chosen, some.layout), whole.state.take(chosen))
    np.testing.assert_allclose(part.value, whole.value[chosen], atol=1e-7)
    again = warm.argmax(graphs, theta, whole.state.put(chosen, part.state))
    np.testing.assert_allclose(again.value, whole.value, atol=1e-7)
    assert LinearProgram().argmax(graphs, theta).state is None


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_the_scale_of_the_scores_does_not_matter(scale):
    graphs, theta = batch(dense, "plain", seed=11)
    for inference in (LinearProgram(), IntegerProgram()):
        plain, scaled = inference.argmax(graphs, theta), inference.argmax(graphs, theta * scale)
        np.testing.assert_allclose(scaled.value / scale, plain.value, rtol=1e-9)


@pytest.mark.parametrize("inference", [LinearProgram(), LinearProgram(integral=True), IntegerProgram()], ids=repr)
@pytest.mark.parametrize("structure", [Structure.edgeless(1, 1), tied_ragged(RNG(0)), apart(RNG(0))])
def test_nothing_left(inference: Inference, structure):
    graphs = FactorGraphs.of([structure] * 2)
    theta = RNG(12).normal(size=graphs.n_parts)
    graphs.nodes(theta)[structure.n_nodes - 1] = -np.inf
    if len(structure.edges):
        graphs.tables(theta)[structure.n_tables] = -np.inf
        graphs.nodes(theta)[structure.n_nodes - 1] = 0.0
    found = inference.argmax(graphs, theta)
    lost = int(len(structure.edges) > 0)
    assert found.value[lost] == -np.inf and found.value[1 - lost] > -np.inf
    assert not alone(graphs, found.mean, lost).any()


def test_threads_share_structures():
    graphs = FactorGraphs.of([Structure.grid(3, 3, 3)] * 8)
    thetas = RNG(13).normal(size=(6, graphs.n_parts))
    expected = [LinearProgram().argmax(graphs, theta) for theta in thetas]
    for inference in (LinearProgram(), LinearProgram(warm_start=True)):
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda theta, inference=inference: inference.argmax(graphs, theta), thetas))
        for mine, sure in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine.value, sure.value, atol=1e-7)


def test_a_thread_that_ran_the_solver_with_other_settings():
    graphs, theta = batch(dense, "plain", seed=14)
    found = []

    def work() -> None:
        other = highspy.Highs()
        other.setOptionValue("output_flag", False)
        other.setOptionValue("threads", 2)
        other.addVar(0.0, 1.0)
        other.run()
        found.append(LinearProgram().argmax(graphs, theta).value)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], LinearProgram().argmax(graphs, theta).value)


def test_a_failure_names_the_example():
    structure = Structure.complete(6)
    program = Program(polytope_of(structure))
    program.set(simplex_iteration_limit=1)
    program.pose(RNG(15).normal(size=6 * 2 + 15 * 4), 2, np.zeros(6, dtype=int))
    program.set(solve_relaxation=True)
    with pytest.raises(RuntimeError, match=r"HiGHS stopped on example 17: Iteration limit"):
        program.run(17)


def test_nothing_is_printed(capfd):
    graphs, theta = batch(dense, "forbidden")
    for inference in (LinearProgram(), IntegerProgram(), IntegerProgram(max_seconds=0.0)):
        inference.argmax(graphs, theta)
    assert capfd.readouterr() == ("", "")
