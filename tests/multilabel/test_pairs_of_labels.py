"""Label sets whose pairs have weights, and the inferences that find them."""

from itertools import product

import numpy as np
import pytest
from label_set_samples import right
from sklearn.base import clone

from maximand import (
    BeliefPropagation,
    BlockFrankWolfe,
    Combine,
    Exhaustive,
    GraphCut,
    Greedy,
    Guarantee,
    IntegerProgram,
    IteratedModes,
    LinearProgram,
    MaxScore,
    MulticlassClassifier,
    MultilabelClassifier,
    Pairwise,
    RhoApproximate,
    Tree,
)


def test_pairs_learn_that_exactly_one_label_is_there(one_of_many):
    X, Y, X_test, Y_test = one_of_many
    alone = MultilabelClassifier(regularization=2.5e-3).fit(X, Y)
    pairs = MultilabelClassifier(structure="pairwise", regularization=2.5e-3).fit(X, Y)
    assert (pairs.predict(X_test).sum(axis=1) == 1).mean() > 0.9
    assert (alone.predict(X_test).sum(axis=1) == 1).mean() < 0.7
    assert pairs.score(X_test, Y_test) > alone.score(X_test, Y_test) + 0.1
    weights = pairs.pair_weights_
    np.testing.assert_array_equal(weights, weights.T)
    assert (weights[~np.eye(4, dtype=bool)] < 0).all()
    assert not np.diag(weights).any()


def test_the_parts_of_a_model_add_up_to_its_score(one_of_many):
    X, Y, X_test, _ = one_of_many
    model = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    scores = X_test @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X_test), scores)
    sets = np.array(list(product((0, 1), repeat=4)))
    together = 0.5 * np.einsum("sl,lm,sm->s", sets, model.pair_weights_, sets)
    np.testing.assert_array_equal(model.predict(X_test), sets[(scores @ sets.T + together).argmax(axis=1)])


def test_probabilities_equal_enumeration(one_of_many):
    X, Y, X_test, Y_test = one_of_many
    losses = []
    for structure in ("pairwise", "independent"):
        model = MultilabelClassifier(structure=structure, loss="crf", regularization=1e-2).fit(X, Y)
        sets = np.array(list(product((0, 1), repeat=4)))
        scores = (X_test @ model.coef_.T + model.intercept_) @ sets.T
        scores = scores + 0.5 * np.einsum("sl,lm,sm->s", sets, model.pair_weights_, sets)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X_test), chances @ sets, atol=1e-10)
        losses.append(-np.log((chances * (sets[None] == Y_test[:, None]).all(axis=2)).sum(axis=1)).mean())
    assert losses[0] < losses[1] - 0.2
    assert not hasattr(MultilabelClassifier(), "predict_proba")


INFERENCES = {
    "Exhaustive": (Exhaustive(), Guarantee.EXACT, "exact; the gap is a certificate"),
    "Tree": (Tree(), Guarantee.EXACT, "exact; the gap is a certificate"),
    "IntegerProgram": (IntegerProgram(), Guarantee.EXACT, "exact; the gap is a certificate"),
    "Greedy": (Greedy(), Guarantee.UNDER, "lower bounds: the true objective may be higher"),
    "IteratedModes": (IteratedModes(), Guarantee.UNDER, "lower bounds: the true objective may be higher"),
    "BeliefPropagation": (BeliefPropagation(), Guarantee.UNDER, "lower bounds: the true objective may be higher"),
    "Combine": (Combine((Greedy(), BeliefPropagation())), Guarantee.UNDER, "lower bounds"),
    "Combine with an exact one": (Combine((Greedy(), Tree())), Guarantee.EXACT, "exact"),
    "RhoApproximate": (RhoApproximate(0.9), Guarantee.UNDER, "intervals(rho) says how much higher"),
    "GraphCut": (GraphCut(), Guarantee.OVER, "never below the true objective; the gap is a certificate"),
    "GraphCut, expansion": (GraphCut(expansion=True), Guarantee.UNDER, "lower bounds"),
    "LinearProgram": (LinearProgram(), Guarantee.OVER, "the minimum of the relaxation is at most so much lower"),
    "LinearProgram, integral": (LinearProgram(integral=True), Guarantee.UNDER, "lower bounds"),
}


@pytest.mark.parametrize("name", INFERENCES)
def test_every_inference_trains_and_says_what_it_is_worth(one_of_many, name):
    X, Y, X_test, Y_test = one_of_many
    inference, guarantee, words = INFERENCES[name]
    solver = BlockFrankWolfe(tolerance=0.03)
    model = MultilabelClassifier(structure=Pairwise(inference), regularization=0.05, solver=solver).fit(X[:40], Y[:40])
    assert model.guarantee_ is guarantee
    assert words in model.guarantee_text_
    bounded = inference == LinearProgram(integral=True)  # it knows how far off its labellings may be
    assert model.gap_is_certificate_ == (bounded or guarantee in (Guarantee.EXACT, Guarantee.OVER))
    assert (model.shortfall_ is not None) == (guarantee is Guarantee.UNDER)
    assert right(model, X_test, Y_test) > 0.75
    assert set(np.unique(model.predict(X_test))) <= {0, 1}


def test_another_inference_predicts(one_of_many):
    X, Y, X_test, _ = one_of_many
    exact = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    frustrated = np.concatenate([np.eye(4).ravel(), np.full(4, 1.0), np.full(6, -2.0)])
    agreement = {}
    for inference in (GraphCut(), LinearProgram(), Greedy(), IntegerProgram(), RhoApproximate(0.3)):
        other = clone(exact).set_params(decoder=MaxScore(inference)).fit(X, Y)
        np.testing.assert_array_equal(other.weights_, exact.weights_)
        exact.weights_, fitted, other.weights_ = frustrated, exact.weights_, frustrated
        same = (exact.predict(X_test) == other.predict(X_test)).all(axis=1)
        exact.weights_ = fitted
        agreement[type(inference).__name__] = same.mean()
        assert set(np.unique(other.predict(X_test))) == {0, 1}
    assert agreement["IntegerProgram"] == 1.0
    assert agreement["RhoApproximate"] < 0.3
    assert agreement["Greedy"] > 0.9
    assert 0.2 < agreement["GraphCut"] == agreement["LinearProgram"] < 0.6  # many labels are half there, rounded to not


def test_many_labels_are_relaxed_by_default():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 3))
    Y = (X @ rng.normal(size=(3, 18)) > 0).astype(int)
    few = MultilabelClassifier(structure="pairwise", regularization=1.0, tolerance=0.1).fit(X, Y[:, :4])
    many = MultilabelClassifier(structure="pairwise", regularization=1.0, tolerance=0.1).fit(X, Y)
    assert few.guarantee_ is Guarantee.EXACT
    assert many.guarantee_ in (Guarantee.EXACT, Guarantee.OVER)
    assert many.gap_is_certificate_
    assert right(many, X, Y) > 0.8


def test_an_upper_bound_cannot_be_combined(one_of_many):
    X, Y, *_ = one_of_many
    with pytest.raises(ValueError, match=r"GraphCut\(\) returns an upper bound, which is no labelling; Combine takes"):
        MultilabelClassifier(structure=Pairwise(Combine((Greedy(), GraphCut())))).fit(X, Y)


def test_probabilities_need_marginals(table):
    X, Y, *_ = table
    with pytest.raises(ValueError, match=r"Greedy has no marginals; use Tree\(\), Exhaustive\(\)"):
        MultilabelClassifier(structure=Pairwise(Greedy()), loss="crf").fit(X, Y)


def test_one_of_many_is_a_choice(one_of_many):
    """Where exactly one label is there, the pairwise machine comes close to the multiclass one."""
    X, Y, X_test, Y_test = one_of_many
    choice = MulticlassClassifier(regularization=1e-2).fit(X, Y.argmax(axis=1))
    pairs = MultilabelClassifier(structure="pairwise", regularization=1e-2).fit(X, Y)
    assert pairs.score(X_test, Y_test) > choice.score(X_test, Y_test.argmax(axis=1)) - 0.1
