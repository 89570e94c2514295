"""What is known of outputs holds in predictions, for every family of estimators."""

import numpy as np
import pandas as pd
import pytest

from maximand import (
    BeliefPropagation,
    Budget,
    FrozenPredictor,
    GraphCut,
    GraphLabeler,
    Greedy,
    IteratedModes,
    LabelRanker,
    LinearProgram,
    MulticlassClassifier,
    MultilabelClassifier,
    NodesAndEdges,
    OracleTask,
    OrdinalClassifier,
    Pairwise,
    RegularizationCV,
    SequenceTagger,
    StructuredPredictor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
CLASSES = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.5, 0.5])]
SETS = (X + 0.3 * RNG.normal(size=X.shape) > 0).astype(int)
ORDERS = [[int(label) for label in row] for row in np.argsort(-X, axis=1)]


def others(labels, predicted):
    """A label for each prediction that it is not."""
    return [next(label for label in labels if label != own) for own in predicted]


@pytest.mark.parametrize("loss", ["hinge", "crf", "euclidean"])
@pytest.mark.parametrize("kind", [MulticlassClassifier, OrdinalClassifier])
def test_classes(kind, loss):
    names = ["left", "middle", "right"]
    model = kind(loss=loss, classes=names).fit(X, CLASSES)
    free = model.predict(X)
    known = [None, *others(names, free[1:-1]), {"left", "right"}]
    pinned = model.predict(X, known=known)
    assert pinned[0] == free[0]
    assert pinned[1:-1].tolist() == known[1:-1]
    assert pinned[-1] in {"left", "right"}
    assert np.array_equal(model.predict(X, known=[None] * 60), free)
    assert np.array_equal(FrozenPredictor(model).predict(X, known=known), pinned)


def test_candidates_leave_the_best_of_them():
    model = MulticlassClassifier().fit(X, CLASSES)
    names, scores = model.classes_.tolist(), model.decision_function(X)
    best = np.argmax(scores, axis=1)
    known = [set(names) - {names[code]} for code in best]
    scores[np.arange(60), best] = -np.inf
    assert model.predict(X, known=known).tolist() == [names[code] for code in np.argmax(scores, axis=1)]


@pytest.mark.parametrize(
    "structure", ["independent", "budget", "pairwise", Pairwise(GraphCut()), Pairwise(LinearProgram()), Budget(0, 2)]
)
def test_label_sets(structure):
    model = MultilabelClassifier(structure=structure, loss="perceptron").fit(X, SETS)
    known = np.full(SETS.shape, -1)
    known[:30, 1] = 1 - model.predict(X)[:30, 1]
    known[0] = -1
    pinned = model.predict(X, known=known)
    assert np.array_equal(pinned[known >= 0], known[known >= 0])
    assert np.array_equal(pinned[[0, *range(30, 60)]], model.predict(X)[[0, *range(30, 60)]])


def test_label_sets_that_are_too_large_are_refused():
    model = MultilabelClassifier(structure=Budget(0, 1)).fit(X, SETS)
    known = np.full(SETS.shape, -1)
    known[7, :2] = 1
    with pytest.raises(ValueError, match="No legal output agrees with the annotation of example 7;"):
        model.predict(X, known=known)


@pytest.mark.parametrize("encoding", ["matrix", "vector"])
def test_rankings(encoding):
    model = LabelRanker(encoding=encoding).fit(X, ORDERS)
    free = model.predict(X)
    known = [None if i == 0 else [order[2], order[0]] for i, order in enumerate(map(list, free))]
    pinned = [list(order) for order in model.predict(X, known=known)]
    assert pinned[0] == list(free[0])
    assert all(order.index(a) < order.index(b) for order, (a, b) in zip(pinned[1:], known[1:], strict=True))


SEQUENCES = [RNG.normal(size=(n, 2)) for n in (4, 1, 6, 3, 5) * 4]
TAGS = [np.array(["a", "b", "c"])[np.digitize(x[:, 0], [-0.4, 0.4])].tolist() for x in SEQUENCES]


@pytest.mark.parametrize("loss", ["crf", "hinge", "euclidean", "marginal"])
def test_tags(loss):
    tagger = SequenceTagger(loss=loss).fit(SEQUENCES, TAGS)
    free = tagger.predict(SEQUENCES)
    known = [[None] * len(tags) for tags in free]
    known[0][2] = others("abc", free[0])[2]
    known[2][3] = set("abc") - {free[2][3]}
    known[4] = None
    pinned = tagger.predict(SEQUENCES, known=known)
    assert pinned[0][2] == known[0][2]
    assert pinned[2][3] in known[2][3]
    assert all(np.array_equal(pinned[i], free[i]) for i in (1, 3, 4, 5))
    with pytest.raises(ValueError, match="each token needs a tag"):
        tagger.predict(SEQUENCES, known=[["a"], *known[1:]])


def test_tags_of_sequences_in_other_forms():
    tagger = SequenceTagger(loss="crf").fit(SEQUENCES, TAGS)
    wrong = [others("abc", tags) for tags in tagger.predict(SEQUENCES)]
    lengths = [len(x) for x in SEQUENCES]
    together = tagger.predict(np.concatenate(SEQUENCES), lengths=lengths, known=wrong)
    assert [tags.tolist() for tags in together] == wrong
    empty = np.empty((0, 2))
    found = tagger.predict([empty, *SEQUENCES, empty], known=[[], *wrong, None])
    assert [tags.tolist() for tags in found] == [[], *wrong, []]


def test_tags_beside_hidden_positions():
    masks = [np.arange(len(x)) % 2 == 1 for x in SEQUENCES]
    hidden = [
        [None if mask else tag for tag, mask in zip(*pair, strict=True)] for pair in zip(TAGS, masks, strict=True)
    ]
    tagger = SequenceTagger(loss="marginal", n_hidden_states=2, tolerance=0.1)
    tagger.fit(SEQUENCES, hidden, hidden=masks)
    free = tagger.predict(SEQUENCES, hidden=masks)
    known = [[None if tag is None else others("abc", [tag])[0] for tag in tags] for tags in free]
    pinned = tagger.predict(SEQUENCES, hidden=masks, known=known)
    assert [tags.tolist() for tags in pinned] == known


def test_tags_that_break_the_scheme_are_refused():
    tagger = SequenceTagger(scheme="BIO").fit(SEQUENCES[:1], [["B-x", "I-x", "O", "O"]])
    with pytest.raises(ValueError, match="breaks the tagging scheme"):
        tagger.predict(SEQUENCES[:1], known=[["O", "I-x", None, None]])


@pytest.mark.parametrize(
    "inference", [None, BeliefPropagation(), Greedy(), IteratedModes(), GraphCut(), LinearProgram()], ids=repr
)
def test_graphs(inference):
    grids = [RNG.normal(size=(3, 4, 2)) for _ in range(6)]
    labels = [np.where(grid[:, :, 0] > 0, "grass", "sky") for grid in grids]
    model = GraphLabeler(inference=inference, tables="potts", loss="perceptron").fit(grids, labels)
    free = model.predict(grids)
    known = [np.full((3, 4), None, dtype=object) for _ in grids]
    known[1][0, 0] = others(["grass", "sky"], [free[1][0, 0]])[0]
    known[2] = None
    pinned = model.predict(grids, known=known)
    assert pinned[1][0, 0] == known[1][0, 0]
    assert all(np.array_equal(pinned[i], free[i]) for i in (0, 2, 3))
    assert model.predict([], known=[]) == []


def test_graphs_with_nodes_of_several_types():
    graphs = [
        NodesAndEdges({"word": RNG.normal(size=(3, 2)), "text": RNG.normal(size=(1, 1))}, {("word", "text"): [(0, 0)]})
        for _ in range(8)
    ]
    labels = [{"word": ["up", "down", "up"], "text": ["long"] if i % 2 else ["short"]} for i in range(8)]
    model = GraphLabeler().fit(graphs, labels)
    pinned = model.predict(graphs, known=[{"text": ["long"]}, *[None] * 6, {"word": ["down", None, None]}])
    assert pinned[0]["text"].tolist() == ["long"]
    assert pinned[7]["word"][0] == "down"


def best_two(theta, instance):
    y = np.zeros(len(instance))
    y[np.argsort(-theta, kind="stable")[:2]] = 1
    return y


def test_spaces_of_ones_own():
    instances = [RNG.normal(size=(5, 3)) for _ in range(20)]
    outputs = [best_two(x @ [1.0, -2.0, 0.5], x) for x in instances]
    model = StructuredPredictor(OracleTask(best_two)).fit(instances, outputs)
    free = model.predict(instances)
    known = [np.full(5, -1.0) for _ in instances]
    known[3][np.argmin(free[3])], known[4][np.argmax(free[4])] = 1, 0
    pinned = model.predict(instances, known=known)
    assert pinned[3][np.argmin(free[3])] == 1
    assert pinned[4][np.argmax(free[4])] == 0
    known[5][:3] = 1
    with pytest.raises(ValueError, match="agrees with the annotation of example 5;"):
        model.predict(instances, known=known)


def test_searches_and_data_frames():
    frame = pd.DataFrame(X, columns=list("xyz"))
    search = RegularizationCV(MulticlassClassifier(), regularizations=[1e-2], cv=2).fit(frame, CLASSES)
    known = pd.Series(["left"] * 59 + [None])
    assert search.predict(frame, known=known)[:59].tolist() == ["left"] * 59
    assert FrozenPredictor(search).predict(frame, known=known)[0] == "left"


def test_what_cannot_be_known_is_refused():
    model = MulticlassClassifier(loss="crf").fit(X, CLASSES)
    with pytest.raises(ValueError, match="known holds shares of labels"):
        model.predict(X, known=np.full((60, 3), 1 / 3))
    with pytest.raises(ValueError, match="60 rows but y has 1 labels"):
        model.predict(X, known=["left"])
    with pytest.raises(ValueError, match="up"):
        model.predict(X[:1], known=["up"])
