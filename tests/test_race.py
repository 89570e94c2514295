"""Turns of planes and soft maxima: who gets them, and what they make together."""

import numpy as np
import pytest

from maximand import (
    BeliefPropagation,
    BlockFrankWolfe,
    GraphLabeler,
    LabelRanker,
    OracleTask,
    Race,
    SequenceTagger,
    Smoothing,
    StructuredPredictor,
)
from maximand.datasets import simulate_chains


def turns_of(model, X, Y):
    """Fit with a race, and return what it ended with."""
    ended = {}

    class Watched(Race):
        def minimize(self, objective, *arguments, **settings):
            ended["result"] = super().minimize(objective, *arguments, **settings)
            return ended["result"]

    model.set_params(solver=Watched(tolerance=1e-2)).fit(X, Y)
    return ended["result"]


def chains(noise):
    rng = np.random.default_rng(0)
    X, Y = simulate_chains(60)
    return X, [np.where(rng.random(len(y)) < noise, rng.permutation(y), y) for y in Y]


def test_soft_maxima_finish_what_planes_cannot():
    X, Y = chains(0.4)
    result = turns_of(SequenceTagger(loss="hinge", regularization=1e-5), X, Y)
    assert result.certified
    assert result.gap <= 1e-2 * result.value
    assert result.state.is_second
    assert 0 < result.state.second.gap < result.state.first.gap


def test_planes_finish_where_the_data_can_be_fitted():
    rng = np.random.default_rng(0)
    Y = [rng.integers(3, size=8) for _ in range(60)]
    X = [np.eye(3)[y] + 0.05 * rng.normal(size=(8, 3)) for y in Y]
    result = turns_of(SequenceTagger(loss="hinge", regularization=1e-3), X, Y)
    assert result.certified
    assert result.state.first.gap <= 1e-2 * result.value < result.state.second.gap


def test_there_is_no_race_where_no_row_matters_by_itself():
    X, Y = chains(0.4)
    alone = turns_of(SequenceTagger(loss="hinge", regularization=0.1), X, Y)
    assert alone.certified
    assert not alone.state.apart
    assert alone.state.first.work == alone.state.second.work == 0
    race = turns_of(SequenceTagger(loss="hinge", regularization=1e-5), X, Y)
    assert race.state.apart


@pytest.mark.parametrize(("n", "apart"), [(400, False), (20, True)])
def test_nor_where_no_example_does_and_rows_are_not_fewer_than_weights(n, apart):
    """Rows promise equally much in both cases."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    scores = X @ rng.normal(size=(5, 4)) + rng.normal(size=(n, 4))
    ranker = LabelRanker(projection="hinge", regularization=0.25 / n)
    found = turns_of(ranker, X, np.argsort(-scores, axis=1))
    assert found.certified
    assert found.state.apart == apart


def test_soft_maxima_of_another_round_are_no_hotter():
    X, Y = chains(0.4)
    found = []

    class Kept(Smoothing):
        def minimize(self, objective, *arguments, **settings):
            found.append((objective, super().minimize(objective, *arguments, **settings)))
            return found[-1][1]

    SequenceTagger(loss="hinge", regularization=1e-4, solver=Kept(tolerance=1e-3)).fit(X, Y)
    ((objective, first),) = found
    again = Smoothing(tolerance=1e-3).minimize(objective, start=first)
    assert again.certified
    assert again.gap <= 1e-3 * again.value
    assert again.state.temperature <= first.state.temperature
    assert again.history[-1].oracle_calls < 0.5 * first.history[-1].oracle_calls


def test_estimates_of_means_make_no_bound():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 4, 3)) for _ in range(6)]
    Y = [rng.integers(0, 4, (4, 4)) for _ in X]
    settings = {"loss": "hinge", "tables": "full", "inference": BeliefPropagation(), "regularization": 1e-3}
    result = turns_of(GraphLabeler(**settings), X, Y)
    assert not result.certified
    assert np.isneginf(result.state.second.bound)
    with pytest.warns(UserWarning, match="stopped early"):
        alone = GraphLabeler(solver=Smoothing(max_iterations=3), **settings).fit(X, Y)
    assert alone.gap_ is None


def test_a_race_goes_on_from_another_with_the_one_that_came_closer():
    X, Y = chains(0.4)
    first = turns_of(SequenceTagger(loss="hinge", regularization=1e-5), X, Y)
    objectives = []

    class Kept(Race):
        def minimize(self, objective, *arguments, **settings):
            objectives.append(objective)
            return super().minimize(objective, *arguments, **settings)

    SequenceTagger(loss="hinge", regularization=1e-5, solver=Kept(tolerance=1e-2)).fit(X, Y)
    (objective,) = objectives
    before = objective.tally.work
    again = Race(tolerance=1e-2).minimize(objective, start=first)
    assert again.gap <= 1e-2 * again.value
    assert objective.tally.work - before < (first.state.first.work + first.state.second.work)


def test_spaces_without_soft_maxima_have_no_race():
    task = OracleTask(lambda theta, instance: (theta > 0).astype(float))
    X, Y = [np.eye(2), np.eye(2)], [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    with pytest.raises(ValueError, match="Smoothing needs a maximum over all outputs"):
        StructuredPredictor(task, loss="hinge", solver=Race(first=BlockFrankWolfe())).fit(X, Y)
