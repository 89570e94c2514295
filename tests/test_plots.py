import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.feature_extraction import FeatureHasher

from maximand import MulticlassClassifier, Perceptron, SequenceTagger
from maximand.datasets import simulate_chains
from maximand.papers import Figure
from maximand.solvers import Record

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from maximand.plots import (  # noqa: E402
    ConfusionDisplay,
    ConvergenceDisplay,
    FigureDisplay,
    LabelMapsDisplay,
    MarginalsDisplay,
    TransitionsDisplay,
    WeightsDisplay,
)

SENTENCES = ["the dog barks", "a cat sleeps", "the cat barks", "a dog sleeps", "dogs sleep"]
TAGS = [["D", "N", "V"]] * 4 + [["N", "V"]]


@pytest.fixture(autouse=True)
def drawn():
    """Draw every figure that a test leaves, as a window or a file would, then close them."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def classifier(iris):
    return MulticlassClassifier(regularization=1e-2).fit(*iris)


@pytest.fixture(scope="module")
def words():
    return [[{"word": word, "ends": word[-1]} for word in sentence.split()] for sentence in SENTENCES]


@pytest.fixture(scope="module")
def tagger(words):
    return SequenceTagger(regularization=1e-2).fit(words, TAGS)


def tick_names(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_convergence_of_several(iris, classifier):
    crf = MulticlassClassifier(loss="crf", regularization=1e-2).fit(*iris)
    display = ConvergenceDisplay.from_estimators({"hinge": classifier, "price in $": crf}, against="oracle_calls")
    objective, gap = display.ax_
    assert display.figure_ is objective.figure is gap.figure
    assert gap.get_yscale() == "log" and objective.get_xlabel() == "oracle calls"
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), [record.value for record in classifier.history_])
    assert [text.get_text() for text in objective.get_legend().get_texts()] == ["hinge", r"price in \$"]


def test_convergence_of_one(iris, classifier):
    axes = plt.subplots(1, 2)[1]
    display = ConvergenceDisplay.from_estimator(classifier, ax=axes)
    assert display.ax_[0] is axes[0] and axes[0].get_legend() is None
    with pytest.raises(ValueError, match="Give a pair of axes"):
        ConvergenceDisplay.from_estimator(classifier, ax=axes[0])
    with pytest.raises(ValueError, match="choose one of seconds, oracle_calls"):
        ConvergenceDisplay({}, against="hours")


def test_convergence_without_a_bound_or_down_to_zero(iris):
    perceptron = MulticlassClassifier(loss="perceptron", solver=Perceptron(max_iterations=3)).fit(*iris)
    gap = ConvergenceDisplay.from_estimator(perceptron).ax_[1]
    assert gap.texts[0].get_text() == "no bound on the gap"
    zero = [Record(1, 0.1, 5, 2.0, 1.0), Record(2, 0.2, 9, 1.0, 0.0)]
    np.testing.assert_array_equal(ConvergenceDisplay({"a": zero}).plot().ax_[1].lines[0].get_ydata(), [1.0, np.nan])


def test_marginals(tagger, words):
    display = MarginalsDisplay.from_estimator(tagger, words[0], tokens=SENTENCES[0].split())
    np.testing.assert_allclose(display.image_.get_array().sum(axis=0), 1.0)
    assert tick_names(display.ax_.xaxis) == ["the", "dog", "barks"] and tick_names(display.ax_.yaxis) == ["D", "N", "V"]
    ax = plt.subplots()[1]
    assert MarginalsDisplay.from_estimator(tagger, words[0], ax=ax).ax_ is ax
    with pytest.raises(ValueError, match="There are 1 tokens but marginals of 3"):
        MarginalsDisplay.from_estimator(tagger, words[0], tokens=["the"])


def test_confusion_of_a_classifier(iris, classifier):
    X, y = iris
    display = ConfusionDisplay.from_estimator(classifier, X, y)
    assert display.matrix.sum() == 150 and np.trace(display.matrix) == round(150 * classifier.score(X, y))
    assert tick_names(display.ax_.yaxis) == ["setosa", "versicolor", "virginica"]
    shares = ConfusionDisplay.from_estimator(classifier, X, [None, {"setosa", "virginica"}, *y[2:]], normalize="true")
    np.testing.assert_allclose(shares.matrix.sum(axis=1), 1.0)


def test_confusion_of_a_tagger():
    X, Y = simulate_chains(20)
    model = SequenceTagger().fit(X, Y)
    display = ConfusionDisplay.from_estimator(model, X, [[-1, *tags[1:].tolist()] for tags in Y])
    assert display.matrix.sum() == sum(map(len, Y)) - 20
    with pytest.raises(ValueError, match=r"Y\[0\] has 1 tags"):
        ConfusionDisplay.from_estimator(model, X, [[0]] * 20)
    labels = np.array(["a", 1], dtype=object)
    mixed = ConfusionDisplay.from_predictions(["a", 1, "a"], labels[[0, 1, 1]], labels)
    assert mixed.matrix.tolist() == [[1, 1], [0, 1]]


def test_weights_of_a_classifier(classifier):
    display = WeightsDisplay.from_estimator(classifier, n_weights=100, feature_names=load_iris().feature_names)
    everything = {
        f"{name} → {label}": weight
        for label, row in zip(classifier.classes_, classifier.coef_, strict=True)
        for name, weight in zip(load_iris().feature_names, row, strict=True)
    }
    everything |= {
        f"bias → {label}": bias for label, bias in zip(classifier.classes_, classifier.intercept_, strict=True)
    }
    assert dict(zip(display.names, display.weights, strict=True)) == everything
    assert (np.diff(np.abs(display.weights)) <= 0).all() and len(display.bars_) == 15
    assert WeightsDisplay.from_estimator(classifier, n_weights=3).names[0].startswith(("feature ", "bias "))
    with pytest.raises(ValueError, match="There are 1 names for 4 features"):
        WeightsDisplay.from_estimator(classifier, feature_names=["one"])


def test_weights_of_pairs_that_were_seen(iris):
    X, y = iris
    X = np.where(X > 2.0, X, 0.0)
    model = MulticlassClassifier(pairs="seen", regularization=1e-2).fit(csr_matrix(X), y)
    assert not model.task_.features.every_pair
    display = WeightsDisplay.from_estimator(model, n_weights=100)
    for name, weight in zip(display.names, display.weights, strict=True):
        what, label = name.split(" → ")
        k = model.classes_.tolist().index(label)
        expected = model.intercept_[k] if what == "bias" else model.coef_[k, int(what.split()[1])]
        assert weight == expected


def test_weights_of_a_tagger(tagger, words):
    display = WeightsDisplay.from_estimator(tagger)
    assert "word=the → D" in display.names and "word=the → V" not in display.names
    hashed = SequenceTagger(vectorizer=FeatureHasher(16)).fit(words, TAGS)
    assert all(name.startswith(("feature ", "bias ")) for name in WeightsDisplay.from_estimator(hashed).names)


def test_transitions(tagger, classifier):
    display = TransitionsDisplay.from_estimator(tagger)
    likes = display.transitions
    assert tick_names(display.ax_.yaxis) == ["D", "N", "V"] and likes[0, 1] > 0.0 == likes[2, 0]
    assert TransitionsDisplay(np.zeros((2, 2)), ["a", "b"]).plot().image_.get_clim() == (-1.0, 1.0)
    with pytest.raises(ValueError, match="MulticlassClassifier has no transitions"):
        TransitionsDisplay.from_estimator(classifier)


def test_stored_figures():
    curves = [{"name": "ours", "x": [1, 10, 10000], "y": [3.0, None, 5.0], "band": [0.1, 0.2, 0.1]}]
    curves.append({"name": "theirs", "x": [1, 10000], "y": [4.0, 4.5]})
    stored = {"title": "Growth", "x_label": "steps", "y_label": "height", "curves": curves, "an extra": 1}
    display = FigureDisplay(stored).plot()
    ax = display.ax_
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_title(), ax.get_xlabel()) == ("log", "linear", "Growth", "steps")
    assert len(ax.lines) == 2 and len(ax.collections) == 1
    assert FigureDisplay(Figure("Empty", "x", "y", [])).plot(ax).figure_ is ax.figure
    with pytest.raises(ValueError, match=r"figure\.title is missing"):
        FigureDisplay({})


def test_grids_of_labels_share_their_colours():
    known = np.array([["sky", None], ["grass", "cow"]], dtype=object)
    grids = {
        "seen": np.eye(2),
        "known": known,
        "all": np.array([["sky", "sky"], ["grass", "cow"]]),
        "codes": -np.eye(2, dtype=int),
    }
    display = LabelMapsDisplay(grids).plot()
    seen, partly, whole, codes = (ax.images[0].get_array() for ax in display.axes_)
    np.testing.assert_array_equal(seen, np.eye(2))
    assert partly.mask.tolist() == [[False, True], [False, False]] and codes.mask.tolist() == [
        [True, False],
        [False, True],
    ]
    assert partly[0, 0] == whole[0, 0] and len(set(whole.ravel().tolist())) == 3
    assert [ax.get_title() for ax in display.axes_] == list(grids)
    with pytest.raises(ValueError, match="'flat' is none"):
        LabelMapsDisplay({"flat": np.zeros(3)})


def test_many_names_are_left_out():
    names = list(range(100))
    assert len(TransitionsDisplay(np.eye(100), names).plot().ax_.get_xticks()) < 20
    assert ConfusionDisplay(np.eye(20, dtype=int), names[:20]).plot().display_.text_ is None


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'maximand\[plot\]'"):
        TransitionsDisplay(np.eye(2), ["a", "b"]).plot()
