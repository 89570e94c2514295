from itertools import combinations
from time import sleep

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maximand import LOSSES, OneSlack, OracleTask, StructuredPredictor, check_oracle
from maximand.capabilities import Can
from maximand.checks import OracleError
from maximand.spaces import Chain, Choice
from maximand.support import Guarantee

# A user's own space in plain Python: choose two of the parts.


def pairs(instance):
    for chosen in combinations(range(len(instance)), 2):
        yield np.isin(np.arange(len(instance)), chosen).astype(float)


def best_pair(theta, instance):
    y = np.zeros(len(instance))
    y[np.argsort(-theta, kind="stable")[:2]] = 1.0
    return y


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.array([1.0, -2.0, 0.5])
    X = [rng.normal(size=(rng.integers(3, 6), 3)) for _ in range(n)]
    return X, [best_pair(x @ weights, x) for x in X]


@pytest.mark.parametrize("loss", [name for name, loss in LOSSES.items() if Can.MIXED not in loss.needs])
def test_a_plain_argmax_trains_with_every_loss(loss):
    X, Y = problem()
    X_test, Y_test = problem(seed=1)
    model = StructuredPredictor(OracleTask(best_pair, outputs=pairs), loss=loss, max_iterations=200).fit(X, Y)
    assert model.costs(X_test, Y_test).mean() < 0.5
    assert model.score(X_test, Y_test) == -model.costs(X_test, Y_test).mean()
    assert len(model.decision_function(X_test)[0]) == len(X_test[0])


def test_partial_annotations_of_parts():
    X, Y = problem(80)
    rng = np.random.default_rng(0)
    partial = [np.where(rng.random(y.size) < 0.4, -1, y) for y in Y]
    for loss in ("hinge", "bridge"):
        model = StructuredPredictor(OracleTask(best_pair), loss=loss).fit(X, partial)
        assert model.costs(X, Y).mean() < 0.6


def test_outputs_of_any_type():
    def argmax(theta, instance):
        return frozenset(np.argsort(-theta, kind="stable")[:2].tolist())

    def encode(y, instance):
        return np.isin(np.arange(len(instance)), list(y))

    def decode(psi, instance):
        return frozenset(np.flatnonzero(psi).tolist())

    X, Y = problem()
    sets = [frozenset(np.flatnonzero(y).tolist()) for y in Y]
    model = StructuredPredictor(OracleTask(argmax, encode=encode, decode=decode), solver=OneSlack()).fit(X, sets)
    assert np.mean([guess == true for guess, true in zip(model.predict(X), sets, strict=True)]) > 0.9


def test_losses_that_need_marginals_say_so():
    X, Y = problem(5)
    with pytest.raises(ValueError, match="has no marginals; use a loss made of maxima"):
        StructuredPredictor(OracleTask(best_pair), loss="crf").fit(X, Y)
    Y[0] = [np.nan, *Y[0][1:]]  # where nothing is hidden, the marginal loss is the hinge
    with pytest.raises(
        ValueError, match=r"at two temperatures; use one .*, or a space that has them: Chain, Choice or Graph"
    ):
        StructuredPredictor(OracleTask(best_pair, outputs=pairs), loss="marginal").fit(X, Y)


def test_counts_that_are_no_numbers_are_refused():
    X, Y = [np.eye(2)] * 3, [np.array([1.0, 0.0])] * 3
    task = OracleTask(lambda theta, instance: np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match=r"The output of instance 0 has nan as the count of part 1; counts are finite"):
        StructuredPredictor(task).fit(X, Y)


def test_time_limits_given_solvers_too():
    def slow(theta, instance):
        sleep(0.002)
        return (theta > 0).astype(float)

    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 6)) for _ in range(40)]
    Y = [(rng.random(4) < 0.5).astype(float) for _ in X]
    solver = OneSlack(tolerance=0.0, max_iterations=10**6)
    with pytest.warns(ConvergenceWarning, match="max_seconds=0.5 was reached"):
        StructuredPredictor(OracleTask(slow), solver=solver, max_seconds=0.5).fit(X, Y)


def test_bad_user_data_are_named():
    X, Y = problem(5)
    with pytest.raises(ValueError, match=r"Y\[1\] has 9 parts but X\[1\] has"):
        StructuredPredictor(OracleTask(best_pair)).fit(X, [Y[0], np.zeros(9), *Y[2:]])
    with pytest.raises(ValueError, match="X has 5 instances but Y has 4"):
        StructuredPredictor(OracleTask(best_pair)).fit(X, Y[:4])
    with pytest.raises(ValueError, match=r"features\(X\[1\]\) has shape"):
        StructuredPredictor(OracleTask(best_pair)).fit([X[0], np.ones((3, 2)), *X[2:]], Y)


def test_check_oracle_accepts_what_is_right():
    check_oracle(best_pair, [np.zeros(4), np.zeros(5)], outputs=pairs)
    check_oracle(Choice(2, 4))
    check_oracle(Chain(np.array([3, 1]), 3))


def smallest(theta, instance):
    return best_pair(-theta, instance)


def three(theta, instance):
    y = best_pair(theta, instance)
    y[np.argmin(y)] = 1.0
    return y


def wavering(theta, instance, rng=np.random.default_rng(0)):  # noqa: B008
    return best_pair(rng.normal(size=theta.size), instance)


def ignores_forbidden(theta, instance):
    return best_pair(np.where(np.isfinite(theta), theta, 5.0), instance)


@pytest.mark.parametrize(
    ("oracle", "complaint"),
    [
        (smallest, "The oracle is wrong"),
        (three, "not among all outputs"),
        (wavering, "wrong|not deterministic"),
        (ignores_forbidden, "The oracle is wrong|not among all outputs"),
    ],
)
def test_check_oracle_finds_what_is_wrong(oracle, complaint):
    with pytest.raises(OracleError, match=complaint) as found:
        check_oracle(oracle, [np.zeros(4)], outputs=pairs)
    for line in ("instance: 0", "scores:", "answer:", "best:"):
        assert line in str(found.value)


def test_check_oracle_needs_all_outputs():
    with pytest.raises(ValueError, match="give outputs="):
        check_oracle(best_pair, [np.zeros(4)])


@pytest.mark.parametrize("loss", ["hinge", "bridge", "slack_hinge", "ramp", "euclidean"])
def test_an_argmax_that_minimises_is_refused_before_training(loss):
    X, Y = problem(6)
    with pytest.raises(ValueError, match=r"argmax does not return Y\[0\] .* seems to minimise; check_oracle"):
        StructuredPredictor(OracleTask(smallest), loss=loss).fit(X, Y)


@pytest.mark.parametrize("loss", ["hinge", "bridge", "ramp"])
def test_so_it_is_on_partial_annotations(loss):
    X, Y = problem(6)
    partial = [
        np.where(np.arange(y.size) == np.argmax(y == kept), y, -1) for y, kept in zip(Y, [0, 1] * 3, strict=True)
    ]
    StructuredPredictor(OracleTask(best_pair), loss=loss).fit(X, partial)
    with pytest.raises(ValueError, match=r"no output of X\[0\] agrees with it, or argmax .* seems to minimise"):
        StructuredPredictor(OracleTask(smallest), loss=loss).fit(X, partial)


def test_partial_annotations_that_no_output_agrees_with_are_named():
    X, Y = problem(6)
    Y[4] = np.array([1, 1, 1, *[-1] * (len(X[4]) - 3)])
    with pytest.raises(ValueError, match=r"either no output of X\[4\] agrees with it, or") as refusal:
        StructuredPredictor(OracleTask(best_pair)).fit(X, Y)
    assert "minimise" not in str(refusal.value)
    with (
        pytest.warns(RuntimeWarning, match=r"either no output of X\[4\] agrees with it, or"),
        pytest.raises(
            ValueError, match=r"agrees with the annotation of example 4; .* unless argmax overlooks such outputs"
        ),
    ):
        StructuredPredictor(OracleTask(best_pair, guarantee=Guarantee.UNDER)).fit(X, Y)


def test_an_annotation_that_is_no_output_is_refused_before_training():
    X, Y = problem(6)
    Y[4] = np.ones(len(X[4]))
    with pytest.raises(ValueError, match=r"Y\[4\] is not an output of X\[4\]"):
        StructuredPredictor(OracleTask(best_pair)).fit(X, Y)


def test_a_search_that_is_a_lower_bound_may_overlook_an_annotation():
    X, Y = problem(6)
    Y[4] = np.ones(len(X[4]))
    with pytest.warns(RuntimeWarning, match=r"argmax does not return Y\[4\]"):
        model = StructuredPredictor(OracleTask(best_pair, guarantee=Guarantee.UNDER)).fit(X, Y)
    assert not model.gap_is_certificate_


def test_parts_that_occur_several_times_may_be_better_than_the_annotation():
    """Outputs distribute two units: at scores that favour one unit of each, two units of one are as good."""

    def argmax(theta, instance):
        return 2.0 * (np.arange(theta.size) == np.argmax(theta))

    X = [np.eye(3), np.eye(3)]
    OracleTask(argmax).bind(X, [np.array([1.0, 1.0, 0.0]), np.array([0.0, 2.0, 0.0])])


def test_an_argmax_that_goes_wrong_later_loses_its_certificate():
    """It is right where scores are whole numbers, as they are before training."""

    def argmax(theta, instance):
        return best_pair(theta if (theta == np.round(theta)).all() else -theta, instance)

    X, Y = problem()
    with (
        pytest.warns(ConvergenceWarning, match="Training stopped early"),
        pytest.warns(RuntimeWarning, match=r"Inference is wrong: at example \d+ it finds less .* check_oracle"),
    ):
        model = StructuredPredictor(OracleTask(argmax), solver=OneSlack(max_iterations=50, tolerance=0.9)).fit(X, Y)
    assert model.objective_ >= 0.0
    assert not model.gap_is_certificate_
    assert "inference found less than the annotated output has" in model.guarantee_text_
