"""Shards answer wherever they live, and keep the states of oracles whatever their size."""

import pickle

import numpy as np
import pytest

from engines import Processes
from maximand.batch import Batch
from maximand.costs import Hamming, ZeroOne
from maximand.engine import Threads
from maximand.features import ChainFeatures, Examples, PerLabel, Rows
from maximand.inference import BeliefPropagation
from maximand.losses import CRF, EUCLIDEAN, HINGE, MARGINAL, RAMP
from maximand.objective import Objective
from maximand.shards import Shard
from maximand.solvers import CCCP, LBFGS, BlockFrankWolfe, NSlack, OneSlack, Subgradient
from maximand.solvers.snapshots import snapshot
from maximand.spaces import Chain, Choice, Labels, Matching
from maximand.tasks.graphs import GraphTask

SOLVERS = [
    (CRF, LBFGS(max_iterations=8)),
    (HINGE, OneSlack(max_iterations=8)),
    (HINGE, NSlack(max_iterations=4)),
    (HINGE, BlockFrankWolfe(max_iterations=4)),
    (RAMP, CCCP(inner=NSlack(max_iterations=3), max_iterations=3)),
    (HINGE, Subgradient(max_iterations=3, batch_size=5)),
]


def chains(rng):
    lengths = rng.integers(1, 6, 30)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows, labels = rng.normal(size=(offsets[-1], 4)), rng.integers(0, 3, offsets[-1])
    batch = Batch(Examples(Chain(lengths, 3), Rows(rows, offsets)), Labels(labels, offsets, 3), Hamming(), np.ones(30))
    return batch, ChainFeatures(PerLabel(4, 3), first=True)


def rows(rng):
    X, codes = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
    return Batch(Examples(Choice(30, 3), Rows.single(X)), Labels.single(codes, 3), ZeroOne(), np.ones(30)), PerLabel(
        4, 3
    )


def in_pieces(batch):
    return [batch.take(slice(a, b)) for a, b in ((0, 11), (11, 12), (12, 30))]


@pytest.fixture(scope="module")
def processes():
    engine = Processes(2)
    yield engine
    engine.close()


@pytest.mark.parametrize("data", [chains, rows])
@pytest.mark.parametrize(("loss", "solver"), SOLVERS, ids=lambda value: getattr(value, "name", type(value).__name__))
def test_other_processes_give_the_same_bits(processes, data, loss, solver):
    batch, features = data(np.random.default_rng(0))
    weight = np.random.default_rng(1).random(30) + 0.5
    found = []
    for engine in (Threads(1), Threads(2), processes):
        objective = Objective.of(in_pieces(batch), features, loss, 0.01, engine, sample_weight=weight)
        found.append(solver.minimize(objective))
    for other in found[1:]:
        np.testing.assert_array_equal(other.weights, found[0].weights)
        assert [record.value for record in other.history] == [record.value for record in found[0].history]
        assert other.history[-1].oracle_calls == found[0].history[-1].oracle_calls


@pytest.mark.parametrize("data", [chains, rows])
@pytest.mark.parametrize("solver", [NSlack(tolerance=1e-5), BlockFrankWolfe(tolerance=1e-5), OneSlack(tolerance=1e-5)])
def test_several_shards_reach_the_minimum_of_one(data, solver):
    batch, features = data(np.random.default_rng(2))
    one = solver.minimize(Objective.of(batch, features, HINGE, 0.01))
    several = solver.minimize(Objective.of(in_pieces(batch), features, HINGE, 0.01))
    assert one.certified and several.certified
    np.testing.assert_allclose(several.value, one.value, rtol=2e-5)


def test_a_run_on_shards_elsewhere_goes_on_from_its_snapshot(processes):
    batch, features = chains(np.random.default_rng(3))
    solver = BlockFrankWolfe(max_iterations=5, tolerance=0)
    snapshots = []

    def objective():
        return Objective.of(in_pieces(batch), features, HINGE, 0.01, processes)

    whole = solver.minimize(objective(), callback=lambda _, run: snapshots.append(pickle.dumps(snapshot(run))))
    again = solver.minimize(objective(), resume=pickle.loads(snapshots[2]))
    np.testing.assert_array_equal(again.weights, whole.weights)


def matchings(rng):
    X, codes = rng.normal(size=(40, 3)), np.array([rng.permutation(4) for _ in range(40)])
    examples = Examples(Matching(40, 4), Rows.single(X))
    return Batch(examples, Labels(codes.ravel(), np.arange(41) * 4, 4), Hamming(), np.ones(40)), PerLabel(3, 16)


def test_states_of_oracles_are_kept_whatever_the_size(monkeypatch):
    monkeypatch.setattr("maximand.shards.LITTLE", 0)
    monkeypatch.setattr("maximand.batch.CHUNK_PARTS", 100)
    batch, features = matchings(np.random.default_rng(4))
    objective = Objective.of(batch, features, EUCLIDEAN, 0.01)
    (shard,) = objective.placed
    assert sum(map(len, shard.lanes)) > 3 and all(piece.target is None for lane in shard.lanes for piece in lane)
    assert objective.states == [None, None]
    weights = np.random.default_rng(5).normal(size=objective.n_weights)
    objective.penalty(weights)
    state, _ = objective.states
    assert np.diff(state.offsets).tolist() == [4] * 40 and state.values.any()
    objective.begin_from([state])
    some = np.array([7, 3])
    objective.sampled_gradient(2.0 * weights, some)
    changed, _ = objective.states
    rest = np.setdiff1d(np.arange(40), some)
    np.testing.assert_array_equal(changed.take(rest).values, state.take(rest).values)
    assert (changed.take(some).values != state.take(some).values).any()
    objective.begin_from([])
    assert objective.states == [None, None]


def test_planes_belong_to_the_data_and_to_the_run():
    """Planes are recycled within the data they were found on, and not where another run has replaced them."""
    batch, features = chains(np.random.default_rng(6))
    first, second = (Objective.of(batch, features, HINGE, 0.01) for _ in range(2))
    solver = NSlack(max_iterations=3, tolerance=0)
    start = solver.minimize(first)
    calls = first.tally.calls
    assert solver.minimize(first, start=start).value <= start.value
    assert solver.begin(second, start).sets is not start.state.sets
    solver.minimize(first)
    assert solver.begin(first, start).sets is not start.state.sets
    assert first.tally.calls > calls


def test_functions_sent_to_shards_pickle():
    for function in (Shard.sums, Shard.planes, Shard.slacks, Shard.keep, Shard.ask, Shard.state, Shard.begin_from):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("loss", [CRF, HINGE, MARGINAL], ids=lambda loss: loss.name)
def test_runs_whose_oracles_kept_messages_resume_in_the_same_bits(loss):
    rng = np.random.default_rng(8)
    X = [rng.normal(size=(4, 4, 2)) for _ in range(4)]
    Y = [np.where(rng.random((4, 4)) < 0.5, -1, (x[:, :, 0] > 0) + (x[:, :, 1] > 0)) for x in X]
    task = GraphTask(inference=BeliefPropagation(max_iterations=2, warm_start=True), classes=np.arange(3))
    bound, examples, annotation = task.bind(X, Y)

    def objective():
        return Objective.of(Batch(examples, annotation, bound.cost, np.ones(4)), bound.features, loss, 0.01)

    solver, snapshots = Subgradient(batch_size=2, max_iterations=5), []
    whole = solver.minimize(
        objective(), callback=lambda record, run: snapshots.append(pickle.loads(pickle.dumps(snapshot(run))))
    )
    assert any(state is not None for state in snapshots[0]["states"][1:])
    for taken in snapshots[:-1]:
        np.testing.assert_array_equal(solver.minimize(objective(), resume=taken).weights, whole.weights)
