"""What multilabel classifiers refuse, each in a sentence that names the culprit."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from maximand import (
    Exhaustive,
    Hamming,
    MultilabelClassifier,
    Pairwise,
    PrecisionAt,
    Tree,
    ZeroOne,
)

X0, Y0 = np.arange(8.0).reshape(4, 2), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
S0 = [{"a"}, {"b"}, {"a", "b"}, set()]
BAD = [
    ({}, Y0 * 2, r"y\[0, 0\] is 2; it must be 1 or 0, or -1 or NaN where not known"),
    ({}, Y0 - 2, r"y\[0, 1\] is -2; it must be 1 or 0"),
    ({}, np.where(Y0, np.inf, 0), r"y\[0, 0\] is inf; it must be 1 or 0"),
    ({}, Y0[:, 0], r"y is an array of shape \(4,\); give indicators \(row, label\) or a list of sets.*Multiclass"),
    ({}, Y0[:, :, None], r"y is an array of shape \(4, 2, 1\); give indicators"),
    ({}, Y0.astype(str), r"y is a matrix of <U21; give indicators 1 and 0, or a list of sets of labels"),
    ({}, ["a", "b", "a", "b"], r"y\[0\] is 'a'; give a collection of labels for each row, such as a set"),
    ({}, [0, 1, 1, 0], r"y\[0\] is 0; give a collection of labels for each row"),
    ({}, [*S0[:3], 3], r"y\[3\] is 3; give a collection .* or None where nothing is known"),
    ({}, [["a", "a"], *S0[1:]], r"y\[0\] names the label 'a' twice; give sets of labels, or a matrix of indicators"),
    ({}, [[1, 0, 2], [1, 0, 0], [1, 0, 1], [0, 0, 0]], r"y\[1\] names the label 0 twice; .* matrix of indicators"),
    ({}, [[["a"]], *S0[1:]], r"y\[0\] is \[\['a'\]\]; labels are strings, numbers or tuples"),
    ({}, [{"a": "no"}, *S0[1:]], r"y\[0\]\['a'\] is 'no'; it must be True, False, or None where not known"),
    ({}, [set()] * 4, r"There are no labels in y; name them with classes="),
    ({}, 3, r"y is of type int; give indicators"),
    ({}, None, r"requires y to be passed"),
    ({}, Y0[:3], r"X has 4 rows but y has 3; each row needs its labels"),
    ({}, S0[:3], r"X has 4 rows but y has 3; each row needs its labels"),
    ({"classes": ["a"]}, Y0, r"y has 2 columns but there are 1 labels; each label needs a column"),
    ({"classes": ["a", "c"]}, S0, r"y\[1\] has the unknown label 'b'; the labels are 'a', 'c'"),
    ({"cost": PrecisionAt(2), "loss": "euclidean"}, Y0, r"PrecisionAt\(2\) compares sets of that size with others"),
    ({"structure": "pair"}, Y0, r"There is no structure 'pair'; choose one of independent, budget, pairwise, or give"),
    ({"structure": Pairwise}, Y0, r"There is no structure <class .*Pairwise'>; .* or Pairwise\(\)"),
    ({"structure": Pairwise("greedy")}, Y0, r"search is 'greedy'; give None or an inference such as GraphCut\(\)"),
    ({"pairs": "some"}, Y0, r"pairs is 'some'; choose one of 'all', 'seen'"),
    ({"loss": "hing"}, Y0, r"There is no loss 'hing'"),
    ({"solver": "sgd"}, Y0, r"solver is 'sgd'; give 'auto' or a Solver"),
    ({"regularization": 0.0}, Y0, r"regularization is 0.0; it must be positive"),
    ({"cost": Hamming(), "class_weight": "balanced"}, Y0, r"Give either cost or class_weight"),
    ({"cost": ZeroOne()}, Y0, r"ZeroOne is not affine in the parts of a Subset; use Hamming\(\)"),
    ({"loss": "slack_hinge"}, Y0 * [1, -1], r"slack_hinge needs full annotations and example 1 is partial"),
    ({"structure": Pairwise(Exhaustive())}, np.ones((4, 25)), r"Exhaustive\(\) would list the 2\^25 labellings"),
    (
        {"structure": Pairwise(Tree())},
        np.ones((4, 25)),
        r"Tree\(\) would need tables of 3e\+07 entries for graph 0; use Belief",
    ),
]


@pytest.mark.parametrize(("settings", "Y", "message"), BAD)
def test_bad_labels_get_one_sentence(settings, Y, message):
    with pytest.raises(ValueError, match=message):
        MultilabelClassifier(**settings).fit(X0, Y)


def test_bad_tables_get_one_sentence():
    for bad, message in (
        (np.where(X0 == 3, np.nan, X0), r"X\[1\] contains NaN in feature 1; impute it"),
        (csr_matrix(np.where(X0 == 3, np.inf, X0)), r"X\[1\] contains infinity in feature 1"),
        (X0[:0], "0 sample"),
    ):
        with pytest.raises(ValueError, match=message):
            MultilabelClassifier().fit(bad, Y0)
    model = MultilabelClassifier().fit(X0, S0)
    with pytest.raises(ValueError, match=r"X\[0\] contains NaN"):
        model.predict(X0 * np.nan)
    with pytest.raises(ValueError, match="X has 1 features, but MultilabelClassifier is expecting 2"):
        model.predict(X0[:, :1])
    for answer in (model.score, model.costs):
        with pytest.raises(ValueError, match=r"y\[0\] has the unknown label 'z'; the labels are 'a', 'b'"):
            answer(X0, [{"z"}, *S0[1:]])
        with pytest.raises(ValueError, match="X has 4 rows but y has 3"):
            answer(X0, S0[:3])
    with pytest.raises(ValueError, match="y holds no label that is known"):
        model.score(X0, [{}] * 4)
    with pytest.raises(ValueError, match=r"expected \(4,\)"):
        model.score(X0, S0, sample_weight=[1.0])


def test_it_says_that_it_is_not_fitted():
    model = MultilabelClassifier(loss="crf")
    for question in (
        lambda: model.score(X0, Y0),
        lambda: model.costs(X0, Y0),
        lambda: model.predict_proba(X0),
        lambda: model.coef_,
        lambda: model.intercept_,
        lambda: model.pair_weights_,
    ):
        with pytest.raises(NotFittedError, match="This MultilabelClassifier instance is not fitted yet"):
            question()
