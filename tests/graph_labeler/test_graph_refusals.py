"""What graph labelers refuse, each in a sentence that names the culprit."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from maximand import (
    Exhaustive,
    GraphCut,
    GraphLabeler,
    Hamming,
    NodesAndEdges,
    Tree,
)

N = np.arange(6.0).reshape(3, 2)
PATH = [(0, 1), (1, 2)]
X0 = [NodesAndEdges(N, PATH), (N, PATH), (N[:2], [(0, 1)])]
Y0 = [["a", "b", "a"], ["b", "b", "a"], ["a", "b"]]
F = [[1.0, 0.0], [0.5, 2.0]]
XF = [NodesAndEdges(N, PATH, F), NodesAndEdges(N, PATH, F), NodesAndEdges(N[:2], [(0, 1)], F[:1])]
NAN = np.where(N == 2, np.nan, N)


def second(graph, like=X0):
    return [like[0], graph, like[2]]


BAD = [
    ({}, second((N, [(0, 1), (1, 3)])), Y0, r"X\[1\]: edge 1 joins \[1, 3\] but the nodes are numbered 0 to 2"),
    ({}, second((N, [(0, 1), (1, -1)])), Y0, r"X\[1\]: edge 1 joins \[1, -1\] but the nodes are numbered 0 to 2"),
    ({}, second((N, [(0, 1), (1, 1)])), Y0, r"X\[1\]: edge 1 joins node 1 with itself; drop it, and give"),
    ({}, second((N, [*PATH, (1, 0)])), Y0, r"X\[1\]: edge 2 joins \[1, 0\] like edge 0; keep one"),
    ({}, second((N, [(0, 1, 2)])), Y0, r"X\[1\]: the edges have shape \(1, 3\); give pairs of nodes"),
    ({}, second((N, np.ones((3, 3), int))), Y0, r"X\[1\]: the edges have shape \(3, 3\); give pairs of nodes"),
    ({}, second((N, [0, 1, 2])), Y0, r"X\[1\]: the edges have shape \(3,\); give pairs of nodes"),
    ({}, second((N, [(0, 1), (1,)])), Y0, r"X\[1\]: its edges differ in length; each is a pair of nodes"),
    ({}, second((N, [(0, 1.5)])), Y0, r"X\[1\]: the edges must be whole numbers"),
    ({}, second((N, [("a", "b")])), Y0, r"X\[1\]: the edges must be whole numbers"),
    (
        {},
        second((N, None)),
        Y0,
        r"X\[1\]: its edges are of type NoneType; give a list or array of pairs .*\[\] for none",
    ),
    ({}, second((N, csr_matrix(np.eye(3)))), Y0, r"X\[1\]: its edges are of type csr_matrix; give a list or array"),
    ({}, second((N[:, 0], PATH)), Y0, r"X\[1\]: its nodes have shape \(3,\); give a matrix with a row for each node"),
    ({}, second((N[:, :1], PATH)), Y0, r"X\[1\] has 1 node features but 2 are expected, as in training"),
    ({}, second((N.astype(str), PATH)), Y0, r"X\[1\]: its nodes are not numbers; give a row of numbers for each node"),
    ({}, second(([[1, 2], [3]], PATH)), Y0, r"X\[1\]: its nodes are not numbers; give a row of numbers"),
    ({}, second((NAN, PATH)), Y0, r"X\[1\], node 1, contains NaN in feature 0; impute it or drop the example"),
    ({}, second((csr_matrix(NAN), PATH)), Y0, r"X\[1\], node 1, contains NaN in feature 0"),
    ({}, second((N[:0], [])), [Y0[0], [], Y0[2]], r"X\[1\] has no nodes; drop it"),
    ({"tables": "none"}, second((N[:0], [])), [Y0[0], [], Y0[2]], r"X\[1\] has no nodes; drop it"),
    ({}, second(np.ones((0, 3, 2))), [Y0[0], [], Y0[2]], r"X\[1\] is a grid of 0 x 3, without nodes; drop it"),
    ({}, second(N), Y0, r"X\[1\] is a ndarray of shape \(3, 2\); a graph is NodesAndEdges\(nodes, edges\), a tuple"),
    ({}, second((N,)), Y0, r"X\[1\] is a tuple of 1; a graph is NodesAndEdges"),
    ({}, second((N, PATH, None, None)), Y0, r"X\[1\] is a tuple of 4; a graph is NodesAndEdges"),
    ({}, second({}), Y0, r"X\[1\] is a dict; a graph is NodesAndEdges"),
    ({}, X0[0], Y0[0], r"X is of type NodesAndEdges; give a list of graphs"),
    ({}, None, Y0, r"X is of type NoneType; give a list of graphs"),
    ({}, [], [], r"X holds no graphs; give at least one"),
    ({}, X0, None, r"requires Y to be passed"),
    ({}, X0, Y0[:2], r"X has 3 graphs but Y has 2; each graph needs its labels"),
    ({}, X0, second(["a", "b"], Y0), r"Y\[1\] has 2 labels but X\[1\] has 3 nodes; each node needs one \(None where"),
    ({}, X0, second(3, Y0), r"Y\[1\] is 3; give a label for each of the 3 nodes"),
    ({}, X0, second(["a", "b", set()], Y0), r"Y\[1\], node 2, is an empty set; give its candidates, or None"),
    ({}, X0, [["a"] * 3, ["a"] * 3, ["a"] * 2], r"The labels hold 1 class; .* at least 2 classes.*classes="),
    ({}, X0, [[-1] * 3, [None] * 3, [-1] * 2], r"The labels hold no class; .* at least 2 classes.*classes="),
    ({"classes": ["a", "c"]}, X0, Y0, r"Y\[0\], node 1, has the unknown label 'b'; the labels are 'a', 'c'"),
    (
        {},
        [np.ones((2, 3, 1))],
        [np.zeros((3, 2), int)],
        r"Y\[0\] has shape \(3, 2\) but X\[0\] is a grid of shape \(2, 3\)",
    ),
    ({}, second((N, PATH), XF), Y0, r"X\[1\] has no edge features but graphs in training have; every edge needs them"),
    ({}, [X0[0], *XF[1:]], Y0, r"X\[0\] has no edge features but graphs in training have"),
    ({}, second((N, PATH, F[:1]), XF), Y0, r"X\[1\] has 2 edges but edge features for 1; give a row each"),
    ({}, second((N, PATH, [1.0, 2.0]), XF), Y0, r"X\[1\]: its edge features have shape \(2,\); give a matrix"),
    ({}, second((N, PATH, [[1.0], [2.0]]), XF), Y0, r"X\[1\] has 1 edge features but 2 are expected"),
    ({}, [(N, PATH, np.ones((2, 0)))], Y0[:1], r"X\[0\]: its edge features have no columns; leave them out"),
    ({}, second((N, PATH, [["a", "b"]] * 2), XF), Y0, r"X\[1\]: its edge features are not numbers"),
    ({}, second((N, PATH, [[1, np.inf], [0, 0]]), XF), Y0, r"X\[1\], edge 0, contains infinity in feature 1"),
    (
        {"tables": "potts", "associative": True},
        second((N, PATH, [[1, 0], [0, -1]]), XF),
        Y0,
        r"X\[1\], edge 1, has a negative feature; associative tables need features that are not negative: shift them",
    ),
    (
        {"tables": "potts", "associative": True},
        second((N, PATH, csr_matrix([[1, 0], [0, -1]])), XF),
        Y0,
        r"X\[1\], edge 1, has a negative feature",
    ),
    ({}, second(NodesAndEdges(N, PATH, F, [0, 1])), Y0, r"X\[1\] has edge features and edge types; add the types to"),
    (
        {},
        second(NodesAndEdges(N, PATH, None, [0])),
        Y0,
        r"X\[1\]: give each of its 2 edges a type, a whole number from 0",
    ),
    ({}, second(NodesAndEdges(N, PATH, None, [0, -1])), Y0, r"X\[1\]: give each of its 2 edges a type"),
    ({}, second(NodesAndEdges(N, PATH, None, [0, 0.5])), Y0, r"X\[1\]: give each of its 2 edges a type"),
    ({}, second(NodesAndEdges(N, PATH, None, ["x", "y"])), Y0, r"X\[1\]: give each of its 2 edges a type"),
    ({"tables": "pots"}, X0, Y0, r"There are no tables 'pots'; choose full, symmetric, diagonal, potts or none"),
    (
        {"tables": np.zeros((3, 3), int)},
        X0,
        Y0,
        r"tables has shape \(3, 3\) and there are 2 labels; give a matrix \(2, 2",
    ),
    ({"tables": np.zeros((2, 2))}, X0, Y0, r"tables holds something else than whole numbers from 0, or -1"),
    ({"tables": [[0, 2], [2, 0]]}, X0, Y0, r"tables skips the number 1; number the weights 0, 1, ... without gaps"),
    ({"associative": True}, X0, Y0, r"Associative tables have weights only where both ends agree; use tables='potts'"),
    ({"inference": "tree"}, X0, Y0, r"inference is 'tree'; give None or an inference such as BeliefPropagation\(\)"),
    ({"inference": Tree}, X0, Y0, r"inference is <class .*Tree'>; give None or an inference"),
    ({"cost": Hamming(), "class_weight": "balanced"}, X0, Y0, r"Give either cost or class_weight"),
    ({"loss": "slack_hinge"}, X0, second([None, "b", "a"], Y0), r"slack_hinge needs full annotations and example 1"),
    (
        {"inference": GraphCut(), "classes": ["a", "b", "c"]},
        X0,
        Y0,
        r"GraphCut\(\) relaxes graphs of two states and node 0 of graph 0 has 3; use GraphCut\(expansion=True\)",
    ),
    (
        {"inference": Exhaustive()},
        [np.ones((12, 12, 1))],
        [np.eye(12, dtype=int)],
        r"Exhaustive\(\) would list the 2\^144 labellings of graph 0; use Tree\(\)",
    ),
    (
        {"inference": Tree()},
        [np.ones((40, 40, 1))],
        [np.eye(40, dtype=int)],
        r"Tree\(\) would need tables of 2e\+07 entries for graph 0; use BeliefPropagation\(\)",
    ),
]


@pytest.mark.parametrize(("settings", "X", "Y", "message"), BAD)
def test_bad_training_data_get_one_sentence(settings, X, Y, message):
    with pytest.raises(ValueError, match=message):
        GraphLabeler(**settings).fit(X, Y)


def test_bad_data_at_prediction_get_one_sentence():
    model, featured = GraphLabeler().fit(X0, Y0), GraphLabeler().fit(XF, Y0)
    assert model.predict([]) == []
    for bad, message in (
        ([(N[:, :1], PATH)], r"X\[0\] has 1 node features but 2 are expected, as in training"),
        ([X0[0], (NAN, PATH)], r"X\[1\], node 1, contains NaN"),
        ([X0[0], (N, [(0, 9)])], r"X\[1\]: edge 0 joins \[0, 9\]"),
        ([NodesAndEdges(N, PATH, None, [0, 1])], r"X\[0\]: edge 1 is of type 1 but training had types up to 0"),
        (XF, r"X\[0\] has edge features but the model was trained without; leave them out"),
        ([(N[:0], [])], r"X\[0\] has no nodes; drop it"),
        (X0[0], "X is of type NodesAndEdges; give a list of graphs"),
    ):
        for answer in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match=message):
                answer(bad)
    with pytest.raises(ValueError, match=r"X\[0\] has no edge features but graphs in training have"):
        featured.predict(X0)
    with pytest.raises(ValueError, match=r"Y\[0\], node 1, has the unknown label 'z'; the labels are 'a', 'b'"):
        model.costs(X0, [["a", "z", "a"], *Y0[1:]])
    unseen = model.score(X0, [["a", "z", "a"], *Y0[1:]])
    assert unseen == pytest.approx(model.score(X0, [["a", None, "a"], *Y0[1:]]) * 7 / 8)
    with pytest.raises(ValueError, match=r"Y\[1\] has 2 labels but X\[1\] has 3 nodes"):
        model.score(X0, second(["a", "b"], Y0))
    with pytest.raises(ValueError, match="Y holds no label that is known"):
        model.score(X0, [[None] * 3, [None] * 3, [None] * 2])
    with pytest.raises(ValueError, match=r"expected \(3,\)"):
        model.score(X0, Y0, sample_weight=[1.0])
