"""Nodes of several types in one graph, each with features and labels of its own."""

from itertools import product

import numpy as np
import pytest
from graph_samples import random_graphs

from maximand import BeliefPropagation, GraphLabeler, Hamming, NodesAndEdges, RegularizationCV, load, save
from maximand.batch import Batch
from maximand.capabilities import Can
from maximand.cli.inspect import largest_weights
from maximand.estimators.independent_nodes import without_edges
from maximand.losses import HINGE
from maximand.objective import Objective

TAGS, TOPICS = np.array(["N", "V", "X"]), np.array(["fun", "X"])  # both may be X
ALIKE = {"regularization": 1e-2, "tolerance": 1e-7}


def texts(rng, n):
    """Sentences with a topic, words with a tag that depends on it; words are joined to their sentence and neighbour."""
    X, Y = [], []
    for _ in range(n):
        topics = rng.integers(0, 2, int(rng.integers(1, 3)))
        owner = np.sort(rng.integers(0, topics.size, int(rng.integers(0, 5))))
        tags = np.array([rng.choice(3, p=[[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]][topics[s]]) for s in owner], dtype=int)
        nodes = {"sentence": topics[:, None] + 1.5 * rng.normal(size=(topics.size, 1))}
        edges = {("word", "sentence"): np.stack([np.arange(owner.size), owner], axis=1)}
        features = {("word", "sentence"): np.stack([np.ones(owner.size), rng.normal(size=owner.size)], axis=1)}
        if owner.size:
            nodes["word"] = np.eye(3)[tags] + rng.normal(size=(owner.size, 3))
            same = np.flatnonzero(np.diff(owner) == 0)
            edges["word", "word"] = np.stack([same, same + 1], axis=1)
        else:
            edges, features = {}, {}
        X.append(NodesAndEdges(nodes, edges, features))
        Y.append({"sentence": TOPICS[topics], "word": TAGS[tags]} if owner.size else {"sentence": TOPICS[topics]})
    return X, Y


@pytest.fixture(scope="module")
def data():
    return texts(np.random.default_rng(0), 40)


def labellings(model, graph):
    """All labellings, and their scores by the weights that the model names."""
    classes, tables, features = model.classes_by_type_, model.table_weights_, model.task_.features
    by_type = dict(zip(model.task_.type_names, features.nodes, strict=True))
    starts = dict(zip(by_type, np.cumsum([0] + [own.n_weights for own in features.nodes]), strict=False))
    places = [(name, v) for name, rows in graph.nodes.items() for v in range(len(rows))]
    found, scores = [], []
    for states in product(*(range(classes[name].size) for name, _ in places)):
        own = dict(zip(places, states, strict=True))
        score = 0.0
        for (name, v), state in own.items():
            weights = model.weights_[starts[name] :][: by_type[name].n_weights]
            score += graph.nodes[name][v] @ by_type[name].coefficients(weights)[:, state]
            score += by_type[name].biases(weights)[state]
        for (a, b), pairs in graph.edges.items():
            for e, (u, v) in enumerate(pairs):
                table = tables[a, b][:, own[a, u], own[b, v]]
                score += table[0] if (a, b) == ("word", "word") else graph.edge_features[a, b][e] @ table
        found.append(own)
        scores.append(score)
    return found, np.array(scores)


def test_predictions_and_probabilities_equal_enumeration(data):
    X, Y = data
    for loss in ("hinge", "crf"):
        model = GraphLabeler(loss=loss, **ALIKE).fit(X, Y)
        assert model.gap_is_certificate_
        assert {ends: own.shape for ends, own in model.table_weights_.items()} == {
            ("word", "sentence"): (2, 3, 2),
            ("word", "word"): (1, 3, 3),
        }
        for graph, labels in zip(X, model.predict(X), strict=True):
            found, scores = labellings(model, graph)
            best = found[int(scores.argmax())]
            assert {(name, v): labels[name][v] for name, v in best} == {
                place: model.classes_by_type_[place[0]][state] for place, state in best.items()
            }
    for graph, chances in zip(X, model.predict_proba(X), strict=True):
        found, scores = labellings(model, graph)
        shares = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
        for name, own in chances.items():
            for v, k in np.ndindex(own.shape):
                share = sum(p for p, labelling in zip(shares, found, strict=True) if labelling[name, v] == k)
                assert own[v, k] == pytest.approx(share, abs=1e-9)


def test_types_help(data):
    X, Y = data
    X_test, Y_test = texts(np.random.default_rng(1), 200)
    joined, apart = (GraphLabeler(tables=tables, **ALIKE).fit(X, Y) for tables in ("full", "none"))
    assert joined.score(X_test, Y_test) > apart.score(X_test, Y_test) + 0.02
    right = [guess[name] == y[name] for guess, y in zip(joined.predict(X_test), Y_test, strict=True) for name in y]
    assert joined.score(X_test, Y_test) == pytest.approx(np.concatenate(right).mean())
    wrong = [sum((guess[name] != y[name]).sum() for name in y) for guess, y in zip(joined.predict(X), Y, strict=True)]
    np.testing.assert_array_equal(joined.costs(X, Y), wrong)


def test_one_named_type_is_no_type():
    X, Y = random_graphs(np.random.default_rng(2), 20)
    named = [NodesAndEdges({"node": x.nodes}, {("node", "node"): x.edges}) for x in map(as_graph, X)]
    for loss in ("hinge", "crf"):
        plain = GraphLabeler(loss=loss, **ALIKE).fit(X, Y)
        typed = GraphLabeler(loss=loss, **ALIKE).fit(named, [{"node": y} for y in Y])
        np.testing.assert_array_equal(typed.weights_, plain.weights_)
        for one, other in zip(typed.predict(named), plain.predict(X), strict=True):
            np.testing.assert_array_equal(one["node"], other)


def as_graph(x):
    return x if isinstance(x, NodesAndEdges) else NodesAndEdges(*x)


def test_the_order_in_which_types_come_does_not_matter(data):
    X, Y = data
    turned = [NodesAndEdges(dict(reversed(x.nodes.items())), x.edges, x.edge_features) for x in X[::-1]]
    one, other = GraphLabeler(loss="crf", **ALIKE).fit(X, Y), GraphLabeler(loss="crf", **ALIKE).fit(turned, Y[::-1])
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)
    for mine, theirs in zip(one.predict_proba(X), other.predict_proba(X), strict=True):
        for name in mine:
            np.testing.assert_allclose(mine[name], theirs[name], atol=1e-3)


def test_a_type_without_labels_is_hidden(data):
    X, Y = data
    words = [{"word": y["word"]} if "word" in y else {} for y in Y]
    for loss in ("hinge", "crf"):
        model = GraphLabeler(loss=loss, classes={"sentence": [0, 1]}, inference=BeliefPropagation(), **ALIKE)
        model.fit(X, words)
        space = model.task_.encode(X).space
        assert Can.HIDDEN | Can.MIXED in space.can
        assert space.hidden.sum() == sum(len(x.nodes["sentence"]) for x in X)
        assert set(np.concatenate([y["sentence"] for y in model.predict(X)])) <= {0, 1}
        assert model.score(X, words) > 0.6
    assert GraphLabeler(**ALIKE).fit(X, Y).task_.encode(X).space.hidden is None


def test_states_to_start_from_are_those_of_hidden_nodes(data):
    X, Y = data
    words = [{"word": y["word"]} if "word" in y else {} for y in Y]
    model = GraphLabeler(loss="marginal", classes={"sentence": [0, 1]}, **ALIKE)
    right = [{"sentence": np.zeros(len(x.nodes["sentence"]), dtype=int)} for x in X]
    model.fit(X, words, latent_start=right)
    for first, said in (
        ({}, r"latent_start\[0\] is {}; give a dict with the states of the nodes 'sentence'"),
        ([0, 1], r"latent_start\[0\] is \[0, 1\]; give a dict with the states of the nodes 'sentence'"),
        ({"sentence": [0] * 99}, r"latent_start\[0\]\['sentence'\] has shape \(99,\) but X\[0\] has"),
        ({"sentence": right[0]["sentence"] + 7}, r"latent_start\[0\]\['sentence'\] holds 7; the states are 0, 1"),
    ):
        with pytest.raises(ValueError, match=said):
            model.fit(X, words, latent_start=[first, *right[1:]])


def test_labels_may_be_unknown_or_candidates(data):
    X, Y = data
    partly = [{"sentence": [None] * len(y["sentence"]), "word": [{"N", "X"}] * len(y.get("word", ()))} for y in Y[:8]]
    model = GraphLabeler(classes={"word": TAGS.tolist()}, **ALIKE).fit(X, partly + Y[8:])
    assert model.score(X, Y) > 0.6
    annotation = model.task_.annotation(model.task_.encode(X[:8]), partly)
    assert not annotation.full.any()
    assert set(annotation.allowed_nodes.sum(axis=1)) == {2, model.classes_.size}


def test_weights_of_classes_are_those_of_the_labels_of_all_types(data):
    X, Y = data
    eager = GraphLabeler(class_weight={"fun": 30.0}, **ALIKE).fit(X, Y)
    weight = np.where(eager.classes_ == "fun", 30.0, 1.0)
    by_cost = GraphLabeler(cost=Hamming(weight), **ALIKE).fit(X, Y)
    np.testing.assert_array_equal(eager.weights_, by_cost.weights_)
    plain = GraphLabeler(**ALIKE).fit(X, Y)
    fun = [sum((y["sentence"] == "fun").sum() for y in model.predict(X)) for model in (plain, eager)]
    assert fun[1] > fun[0]


def test_tables_are_chosen_for_each_two_types(data):
    X, Y = data
    model = GraphLabeler(tables={("word", "word"): "potts", ("word", "sentence"): [[0, 1], [1, 0], [-1, 2]]}, **ALIKE)
    tables = model.fit(X, Y).table_weights_
    assert len(np.unique(tables["word", "word"])) == 2
    assert (tables["word", "sentence"][:, 2, 0] == 0).all()
    assert (tables["word", "sentence"][:, 0, 0] == tables["word", "sentence"][:, 1, 1]).all()


def test_without_edges_types_stay(data):
    X, Y = data
    _, bound, examples, annotation = GraphLabeler()._bind(X[:6], Y[:6])
    objective = Objective.of(Batch(examples, annotation, bound.cost, np.ones(6)), bound.features, HINGE, 0.1)
    nodes = without_edges(objective)
    weights = np.random.default_rng(0).normal(size=nodes.n_weights)
    whole = np.concatenate([weights, np.zeros(objective.n_weights - weights.size)])
    assert nodes.value(weights) == pytest.approx(objective.value(whole), rel=1e-9)


def test_files_and_searches_keep_types(data, tmp_path):
    X, Y = data
    model = GraphLabeler(loss="crf", **ALIKE).fit(X, Y)
    save(model, tmp_path / "m")
    for mine, theirs in zip(load(tmp_path / "m").predict_proba(X), model.predict_proba(X), strict=True):
        for name in theirs:
            np.testing.assert_array_equal(mine[name], theirs[name])
    rare = [*Y[:-1], Y[-1] | {"sentence": ["new"] * len(Y[-1]["sentence"])}]
    search = RegularizationCV(GraphLabeler(), regularizations=[1e-2, 1e-1], cv=2).fit(X, rare)
    assert "new" in search.best_estimator_.classes_by_type_["sentence"]


def test_weights_are_named_by_type(data):
    X, Y = data
    model = GraphLabeler(loss="crf", **ALIKE).fit(X, Y)
    shown = largest_weights(model, 10**6)
    values = {(row["weight"], row["label"]): row["value"] for row in shown}
    assert len(values) == model.weights_.size  # each has a name of its own
    within, across = model.table_weights_["word", "word"], model.table_weights_["word", "sentence"]
    assert values["word-word edge 0", "N & X"] == within[0, 0, 2]
    assert values["word-sentence edge feature 1", "V & fun"] == across[1, 1, 1]
    assert model.classes_by_type_["sentence"].tolist() == ["X", "fun"]
    assert {("sentence bias", "fun"), ("word feature 2", "X"), ("sentence feature 0", "X")} <= set(values)


W, S = np.eye(3), np.ones((1, 2))
PAIRS = {("word", "sentence"): [(0, 0), (2, 0)], ("word", "word"): [(0, 1)]}
GOOD = NodesAndEdges({"word": W, "sentence": S}, PAIRS)
LABELS = {"word": ["a", "b", "a"], "sentence": ["s"]}


def graph(**parts):
    return NodesAndEdges(**{"nodes": GOOD.nodes, "edges": GOOD.edges} | parts)


BAD = [
    ({}, graph(edges=[(0, 1)]), LABELS, r"X\[1\]: its nodes have types and its edges do not say which these join"),
    (
        {},
        graph(edges={"word": []}),
        LABELS,
        r"X\[1\]: edges join 'word'; give pairs of the types .* 'word', 'sentence'",
    ),
    ({}, graph(edges={("word", "text"): []}), LABELS, r"X\[1\]: edges join \('word', 'text'\); give pairs"),
    (
        {},
        graph(edges={("word", "sentence"): [(0, 1)]}),
        LABELS,
        r"X\[1\] between 'word' and 'sentence': edge 0 joins \[0, 1\] but the second nodes are numbered 0 to 0",
    ),
    (
        {},
        graph(edges={("word", "sentence"): [(0, 0), (0, 0)]}),
        LABELS,
        r"X\[1\] between 'word' and 'sentence': edge 1 joins \[0, 0\] like edge 0",
    ),
    ({}, graph(edges={("word", "word"): [(1, 1)]}), LABELS, r"edge 0 joins node 1 with itself"),
    (
        {},
        graph(edges=PAIRS | {("sentence", "word"): [(0, 1)]}),
        LABELS,
        r"X\[1\]: edges join .* and .*; keep one of the two orders",
    ),
    ({}, graph(edges={("sentence", "word"): [(0, 1)]}), LABELS, r"X\[0\] joins .* and X\[1\] .*; keep one of the two"),
    ({}, graph(edge_types={("sentence", "sentence"): []}), LABELS, r"X\[1\]: something is said of edges .* none"),
    (
        {},
        graph(nodes={1: W, "word": W, "sentence": S}),
        LABELS,
        r"X\[1\]: its nodes are of type 1; name types of nodes",
    ),
    ({}, graph(nodes={"word": W[:, :2], "sentence": S}), LABELS, r"X\[1\] has 2 word node features but 3 are expected"),
    ({}, graph(nodes={"word": W * np.nan, "sentence": S}), LABELS, r"X\[1\], word node 0, contains NaN in feature 0"),
    ({}, (W, []), LABELS, r"X\[1\] has nodes without types, and X\[0\] has nodes with types"),
    ({}, GOOD, ["a", "b", "a", "s"], r"Y\[1\] is .*; give a dict with the labels of each type of nodes: 'word', 'sent"),
    ({}, GOOD, LABELS | {"text": ["x"]}, r"Y\[1\] names 'text'; give a dict"),
    ({}, GOOD, LABELS | {"word": ["a"]}, r"Y\[1\]\['word'\] has 1 labels but X\[1\] has 3 nodes 'word'"),
    (
        {"classes": {"word": ["a", "c"]}},
        GOOD,
        LABELS,
        r"Y\[0\], word node 1, has the unknown label 'b'; the labels are 'a', 'c'",
    ),
    ({"classes": ["a", "b"]}, GOOD, LABELS, r"classes is a list; give a dict with the labels of each type of nodes"),
    ({"classes": {"text": ["a"]}}, GOOD, LABELS, r"classes names 'text', and no node is of that type"),
    ({}, GOOD, LABELS | {"sentence": ["s"]}, r"The labels of nodes 'sentence' hold 1 class; .* classes=\{'sentence'"),
    ({"tables": {("word", "text"): "full"}}, GOOD, LABELS, r"tables names \('word', 'text'\), which no edges join"),
    ({"tables": "potts"}, GOOD, LABELS, r"tables='potts' compares labels of one type, and edges join \('word', 'sent"),
    ({"associative": True}, GOOD, LABELS, r"Associative tables have weights only where both ends agree"),
]


@pytest.mark.parametrize(("settings", "other", "labels", "message"), BAD)
def test_what_is_wrong_is_said(settings, other, labels, message):
    others = {} if "hold 1 class" in message else {"sentence": ["t"]}
    with pytest.raises(ValueError, match=message):
        GraphLabeler(**settings).fit([GOOD, other, GOOD], [LABELS, labels, LABELS | others])


def test_graphs_to_predict_are_described_as_in_training():
    model = GraphLabeler(regularization=0.1).fit([GOOD] * 2, [LABELS, LABELS | {"sentence": ["t"]}])
    assert list(model.predict([NodesAndEdges({"sentence": S}, {})])[0]) == ["word", "sentence"]
    wrong = {
        r"X\[0\] has nodes without types but training had 'word', 'sentence'": (W, []),
        r"X\[0\] has nodes of type 'text' but training had": NodesAndEdges({"text": W}, {}),
        r"X\[0\] joins \('sentence', 'sentence'\) but no edges in training do": graph(
            nodes={"sentence": W[:, :2]}, edges={("sentence", "sentence"): [(0, 1)]}
        ),
        r"X\[0\] between 'word' and 'word': edge 0 is of type 3": graph(edge_types={("word", "word"): [3]}),
    }
    for message, x in wrong.items():
        with pytest.raises(ValueError, match=message):
            model.predict([x])
    plain = GraphLabeler(regularization=0.1).fit([(W, [])], [["a", "b", "a"]])
    with pytest.raises(ValueError, match="has nodes of type 'word' but training had no types of nodes"):
        plain.predict([GOOD])
