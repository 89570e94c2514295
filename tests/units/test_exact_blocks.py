"""Dual blocks with a closed form: choices, choices with pairs of their own, sets of independent items."""

from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from maximand import Hamming, MulticlassClassifier, MultilabelClassifier
from maximand.batch import Batch
from maximand.costs import CostMatrix
from maximand.engine import Threads
from maximand.features import Examples, PerLabel, Rows
from maximand.losses import HINGE
from maximand.numerics.pair_blocks import project_stretched
from maximand.objective import Objective
from maximand.solvers import BlockFrankWolfe, OneSlack, automatic
from maximand.solvers.item_blocks import ItemBlocks
from maximand.solvers.simplex_blocks import SimplexBlocks
from maximand.solvers.snapshots import snapshot
from maximand.spaces import Choice, Choices, Labels, Subset

N, K, D = 40, 4, 12
RNG = np.random.default_rng(0)
X = random_array((N, D), density=0.4, rng=RNG, format="csr")
DENSE = X.toarray()
SETS = (DENSE @ RNG.normal(size=(D, K)) + 0.3 * RNG.normal(size=(N, K)) > 0.2).astype(int)
CLASSES = SETS @ (1 << np.arange(K)) % 3
INDICATORS = np.stack([1 - SETS, SETS], axis=2).reshape(N, -1) > 0
PARTIAL = np.where(RNG.random(SETS.shape) < 0.2, -1, SETS)


def objective_of(space, codes, features, matrix, cost=None, engine=None, parts=1, offsets=None):
    n, slots = space.n_examples, space.n_slots
    annotation = Labels(np.asarray(codes).ravel(), np.arange(n + 1) * slots, space.n_labels)
    rows = Rows(matrix, np.arange(matrix.shape[0] + 1) if offsets is None else offsets)
    whole = Batch(Examples(space, rows), annotation, cost or Hamming(), np.full(n, 1 / n))
    edges = np.linspace(0, n, parts + 1).astype(int).tolist()
    batches = [whole.take(slice(*edge)) for edge in pairwise(edges)]
    return Objective.of(batches, features, HINGE, 0.05, engine or Threads(1))


PROBLEMS = {
    "sets": lambda **other: objective_of(Subset(N, K), SETS, PerLabel(D, K), DENSE, **other),
    "sparse sets": lambda **other: objective_of(Subset(N, K), SETS, PerLabel(D, K, bias=False), X, **other),
    "sets of any cost": lambda **other: objective_of(
        Subset(N, K), SETS, PerLabel(D, K), DENSE, CostMatrix([[0, 3], [1, 0]], normalized=True), **other
    ),
    "choices in a row": lambda **other: objective_of(Choices(N, K, 2), SETS, PerLabel(D, 2 * K), DENSE, **other),
    "sparse choices in a row": lambda **other: objective_of(Choices(N, K, 2), SETS, PerLabel(D, 2 * K), X, **other),
    "choices with rows": lambda **other: objective_of(
        Choices(N // 2, 2, 3), CLASSES, PerLabel(D, 3), DENSE, offsets=np.arange(0, N + 1, 2), **other
    ),
    "seen pairs": lambda **other: objective_of(
        Choice(N, 3), CLASSES, PerLabel.seen(X, np.eye(3, dtype=bool)[CLASSES]), X, **other
    ),
    "seen pairs of choices": lambda **other: objective_of(
        Choices(N, K, 2), SETS, PerLabel.seen(X, INDICATORS), X, **other
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_exact_blocks_reach_the_minimum_that_planes_reach(name):
    objective = PROBLEMS[name]()
    assert SimplexBlocks.fit(objective) != ItemBlocks.fit(objective)
    exact = BlockFrankWolfe(tolerance=1e-6).minimize(objective)
    planes = OneSlack(tolerance=1e-6, max_iterations=3000).minimize(objective)
    assert exact.certified
    assert exact.converged
    assert exact.value == pytest.approx(planes.value, rel=3e-6)
    assert exact.value == pytest.approx(objective.value(exact.weights), abs=1e-12)
    assert exact.value - exact.gap <= planes.value + 1e-12


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_answer_depends_on_shards_in_rounding_alone_and_on_threads_not_at_all(name):
    solver = BlockFrankWolfe(tolerance=1e-7)
    alone = solver.minimize(PROBLEMS[name]())
    assert solver.minimize(PROBLEMS[name](parts=3)).value == pytest.approx(alone.value, rel=2e-7)
    assert np.array_equal(solver.minimize(PROBLEMS[name](engine=Threads(2))).weights, alone.weights)


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_updates_lose_is_less_than_the_dual_allows_for(name):
    objective = PROBLEMS[name]()
    kind = ItemBlocks if ItemBlocks.fit(objective) else SimplexBlocks
    blocks = kind.retargeted(objective, None)
    rng = np.random.default_rng(0)
    for _ in range(100):
        blocks.sweep(rng.permutation(blocks.violation.size))
    updated, dual, rounding = blocks.weights, blocks.dual, blocks.rounding
    blocks.renew()
    assert 0 < rounding < 1e-8
    assert dual <= blocks.dual <= dual + 2 * rounding
    np.testing.assert_allclose(updated, blocks.weights, atol=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_runs_go_on_in_the_same_bits(name):
    solver, kept = BlockFrankWolfe(tolerance=1e-7), []
    whole = solver.minimize(PROBLEMS[name](), callback=lambda record, run: kept.append(deepcopy(snapshot(run))))
    assert len(kept) > 2
    resumed = solver.minimize(PROBLEMS[name](), resume=kept[1])
    assert np.array_equal(resumed.weights, whole.weights)
    assert resumed.gap == whole.gap


def test_more_items_than_planes_could_tell_apart():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30)) / 6
    Y = (X @ rng.normal(size=(30, 300)) + rng.normal(size=(200, 300)) > 1.2).astype(int)
    result = MultilabelClassifier(regularization=1e-2, solver=BlockFrankWolfe(max_seconds=30)).fit(X, Y)
    assert result.gap_ <= 1e-3 * result.objective_


def test_items_that_are_not_known_and_sets_of_bounded_size_are_no_exact_blocks_of_items():
    partial = objective_of(Subset(N, K), PARTIAL, PerLabel(D, K), DENSE)
    exact = automatic(partial.annotated(), tolerance=1e-6).minimize(partial.annotated())
    assert exact.value == pytest.approx(OneSlack(tolerance=1e-6).minimize(partial.annotated()).value, rel=3e-6)
    assert not ItemBlocks.fit(objective_of(Subset(N, K, 0, K - 1), SETS * 0, PerLabel(D, K), DENSE))


def test_pairs_without_a_weight_get_none():
    model = MulticlassClassifier(pairs="seen", regularization=1e-2).fit(csr_array(X), CLASSES)
    together = np.stack([X[np.flatnonzero(c == CLASSES)].toarray().any(axis=0) for c in range(3)])
    assert not model.coef_[~together].any()
    assert model.gap_ <= 1e-3 * model.objective_


def test_stretched_projections_are_those_of_the_quadratic_problem():
    rng = np.random.default_rng(0)
    for _ in range(200):
        k = rng.integers(1, 8)
        point, stretch, out = rng.normal(size=k), rng.random(k) + 0.01, np.empty(k)
        project_stretched(point, stretch, ((point - 1.0) / stretch).max(), out)
        assert (out >= 0).all()
        assert out.sum() == pytest.approx(1.0, abs=1e-12)
        slope = (point - out) / stretch  # equal where out is positive, no larger elsewhere
        threshold = slope[out > 0].mean()
        np.testing.assert_allclose(slope[out > 0], threshold, atol=1e-9)
        assert (slope[out == 0] <= threshold + 1e-9).all()
