"""Features of very different sizes: certificates stay true, and a run that cannot go on says so."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from maximand import (
    LBFGS,
    BlockFrankWolfe,
    GraphLabeler,
    LabelRanker,
    MulticlassClassifier,
    MultilabelClassifier,
    NSlack,
    OneSlack,
    OrdinalClassifier,
    SequenceTagger,
)


def table(seed, size):
    """Return a small table, the same with a column of another size, and label sets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    return X, np.c_[X, size * (1 + 1e-3 * rng.random(40))], (X > 0).astype(int)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", [OneSlack(), NSlack(max_iterations=30), BlockFrankWolfe(max_iterations=30)])
@pytest.mark.parametrize("size", [1e3, 1e9, 1e15])
@pytest.mark.parametrize("seed", range(3))
def test_gaps_are_true_whatever_the_size_of_a_column(solver, size, seed):
    X, wide, Y = table(seed, size)
    least = MultilabelClassifier(tolerance=1e-6).fit(X, Y).objective_  # reached with no weight on the column
    model = MultilabelClassifier(solver=solver).fit(wide, Y)
    assert model.gap_is_certificate_
    assert model.objective_ - model.gap_ <= least * (1 + 1e-6)


def test_a_column_of_years_does_no_harm():
    X, wide, Y = table(0, 2000.0)
    model = MultilabelClassifier().fit(wide, Y)
    assert model.gap_ <= 1e-3 * model.objective_
    assert model.objective_ <= MultilabelClassifier(tolerance=1e-6).fit(X, Y).objective_ * 1.002


@pytest.mark.parametrize(("size", "regularization"), [(1e3, 1e-2), (1e3, 1e-5), (1.0, 1e-6)])
@pytest.mark.parametrize("seed", range(4))
def test_more_planes_than_weights_are_no_obstacle(size, regularization, seed):
    rng = np.random.default_rng(seed)
    X, y = size * rng.normal(size=(17, 1)), np.r_[0, 1, 2, rng.integers(0, 3, 14)]
    solver = OneSlack(tolerance=1e-5)
    model = MulticlassClassifier(loss="hinge", solver=solver, regularization=regularization).fit(X, y)
    assert model.gap_ <= 1e-5 * model.objective_


@pytest.mark.parametrize("loss", ["euclidean", "hinge"])
def test_a_run_that_cannot_go_on_warns(loss):
    X, wide, _ = table(0, 1.7e18)
    levels = np.digitize(X[:, 0], [-0.5, 0.5])
    with pytest.warns(ConvergenceWarning, match="features of similar sizes help"):
        OrdinalClassifier(loss=loss).fit(wide, levels)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [OrdinalClassifier(), MulticlassClassifier(loss="crf"), LabelRanker()], ids=repr)
def test_large_features_are_learnt_from(model):
    X = 1e13 * table(0, 1.0)[0]
    Y = np.argsort(-X, axis=1) if isinstance(model, LabelRanker) else (X[:, 0] > 0).astype(int)
    best = 0.0 if isinstance(model, OrdinalClassifier) else 1.0  # minus an error, accuracy, Kendall's tau
    assert model.fit(X, Y).score(X, Y) > best - 0.05


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", [OneSlack(), NSlack(max_iterations=3), BlockFrankWolfe(max_iterations=3)])
def test_no_solver_ends_above_zero_weights(solver):
    X = table(0, 1.0)[0]
    model = LabelRanker(projection="hinge", solver=solver, regularization=1e-12).fit(X, np.argsort(-X, axis=1))
    assert model.objective_ <= X.shape[1] + 1e-12  # that of zero weights, where every item may be misplaced


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", [1e8, 1e20, 9e28])
@pytest.mark.parametrize("loss", ["hinge", "slack_hinge", "perceptron"])
@pytest.mark.parametrize("solver", [OneSlack(), NSlack(max_iterations=9), BlockFrankWolfe(max_iterations=9)], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_with_columns_of_any_size(loss, solver, size, seed):
    _, wide, Y = table(seed, size)
    y = Y[:, 0] + Y[:, 1]
    model = MulticlassClassifier(loss=loss, solver=solver).fit(wide, y)
    assert 0.0 <= model.objective_ <= (0.0 if loss == "perceptron" else 1.0 + 1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", [1e20, 9e28])
@pytest.mark.parametrize(
    ("loss", "solver"),
    [
        ("hinge", OneSlack()), ("hinge", NSlack(max_iterations=50)),
        ("hinge", BlockFrankWolfe(max_iterations=50)), ("slack_hinge", OneSlack()),
        ("slack_hinge", NSlack(max_iterations=50)), ("slack_hinge", BlockFrankWolfe(max_iterations=200)),
        ("crf", LBFGS()), ("crf", OneSlack()), ("euclidean", LBFGS()),
    ],
    ids=repr,
)  # fmt: skip
def test_certificates_are_true_or_not_given(loss, solver, size):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    least = MulticlassClassifier(loss=loss).fit(X[:, [0, 2]], y).objective_  # reached with no weight on the column
    model = MulticlassClassifier(loss=loss, solver=solver).fit(X * np.array([1.0, size, 1.0]), y)
    if model.gap_is_certificate_:
        assert model.objective_ >= 0
        assert model.objective_ - model.gap_ <= least + 1e-9 * model.gap_


@pytest.mark.parametrize("value", [1e31, -1e150, 1e300])
def test_features_whose_scores_overflow_are_refused_by_column(value):
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[7, 1] = value
    y = np.arange(12) % 2
    refused = re.escape(f"X[7] contains {value:g} in feature 1; scores of numbers beyond 1e+30 overflow")
    for table_of in (np.asarray, csr_array):
        with pytest.raises(ValueError, match=refused):
            MulticlassClassifier().fit(table_of(X), y)
    with pytest.raises(ValueError, match=r"X\[1\], token 3, contains .* in feature 1; scores"):
        SequenceTagger().fit([X[:4], X[4:]], [y[:4], y[4:]])
    with pytest.raises(ValueError, match=r"X\[0\], node 7, contains .* in feature 1; scores"):
        GraphLabeler().fit([(X, [(0, 1)])], [y])
    fitted = MulticlassClassifier().fit(np.delete(X, 7, axis=0), np.delete(y, 7))
    with pytest.raises(ValueError, match=r"X\[7\] contains .* in feature 1; scores"):
        fitted.predict(X)
