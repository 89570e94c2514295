"""What the second edition of the core set right."""

from dataclasses import dataclass

import numpy as np

from maximand import (
    BeliefPropagation,
    Cube,
    Euclidean,
    GraphLabeler,
    Guarantee,
    LinearProgram,
    MultilabelClassifier,
    NSlack,
    Pairwise,
)
from maximand.features import ChainFeatures, Examples, PerLabel, Rows
from maximand.sets import ConvexSet
from maximand.spaces import Chain, Choice, Labels, OracleSpace, Parts, Product
from maximand.support import Support


def test_a_product_of_anything_adds_up():
    rng = np.random.default_rng(0)
    chain, choice = Chain(np.array([3, 1, 2]), 2), Choice(3, 3)
    space = Product(chain, choice)
    theta, mean = rng.normal(size=space.n_parts), rng.normal(size=space.n_parts)
    cut = chain.n_parts
    expected = chain.layout.dot(theta[:cut], mean[:cut]) + choice.layout.dot(theta[cut:], mean[cut:])
    np.testing.assert_allclose(space.layout.dot(theta, mean), expected)
    np.testing.assert_allclose(
        space.argmax(theta).value, chain.argmax(theta[:cut]).value + choice.argmax(theta[cut:]).value
    )


def test_transition_scores_are_there_once_for_a_batch():
    k, lengths = 40, np.full(30, 2)
    rng = np.random.default_rng(1)
    space = Chain(lengths, k)
    examples = Examples(space, Rows(rng.normal(size=(60, 2)), np.arange(31) * 2))
    features = ChainFeatures(PerLabel(2, k))
    theta = features.scores(examples, features.expand(rng.normal(size=features.n_weights)))
    assert theta.size == space.layout.n_scores == 60 * k + k * k < space.n_parts
    once, copied = space.argmax(theta), space.argmax(space.layout.expand(theta))
    np.testing.assert_array_equal(once.value, copied.value)
    np.testing.assert_array_equal(once.mean, copied.mean)
    np.testing.assert_array_equal(space.marginals(theta).mean, space.marginals(space.layout.expand(theta)).mean)
    known = Labels(rng.integers(0, k, 60), np.arange(31) * 2, k)
    np.testing.assert_array_equal(
        space.argmax_other(theta, known).value, space.argmax_other(space.layout.expand(theta), known).value
    )


@dataclass(frozen=True)
class Box(ConvexSet):
    """The unit cube, told by its upper corner: a set that holds an array and has no hash."""

    corner: np.ndarray

    def contains(self, space):
        return space.binary

    def project(self, space, theta, geometry, state=None):
        mean = np.clip(theta, 0.0, np.tile(self.corner, space.n_examples))
        return Support(space.layout.dot(theta, mean) - space.layout.dot(mean, 0.5 * mean), mean)

    def argmax(self, space, theta):
        return space.argmax(theta)


def test_a_set_may_hold_an_array():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))
    Y = (X @ rng.normal(size=(3, 4)) > 0).astype(int)
    own = MultilabelClassifier(loss=Euclidean(Box(np.ones(4))), regularization=0.1).fit(X, Y)
    cube = MultilabelClassifier(loss=Euclidean(Cube()), regularization=0.1).fit(X, Y)
    np.testing.assert_allclose(own.weights_, cube.weights_, atol=1e-6)


def counts(theta, _):
    """The best way to put three things into three boxes: all into one."""
    return 3.0 * (np.arange(3) == np.argmax(theta))


def test_contradictions_of_counts_are_lower_bounds():
    space = OracleSpace(counts, [None], [3])
    of_counts = space.argmax_other(np.array([1.0, 0.0, 0.0]), Parts(np.array([2.0, 0.0, 0.0]), np.array([0, 3])))
    assert of_counts.guarantee is Guarantee.UNDER
    sets = OracleSpace(lambda theta, _: (theta > 0).astype(float), [None], [3])
    found = sets.argmax_other(np.array([1.0, -1.0, 2.0]), Parts(np.array([1.0, 0.0, 1.0]), np.array([0, 3])))
    assert found.guarantee is Guarantee.EXACT and found.value == [2.0]


def test_bounds_of_oracles_make_certificates():
    """Rounded programs find too little and know by how much: the gap includes it, and is one."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    Y = (X @ rng.normal(size=(4, 5)) + 0.5 * rng.normal(size=(40, 5)) > 0).astype(int)
    settings = {"regularization": 0.01, "solver": NSlack(tolerance=1e-3)}
    model = MultilabelClassifier(structure=Pairwise(LinearProgram(integral=True)), **settings).fit(X, Y)
    exact = MultilabelClassifier(structure=Pairwise(), **settings).fit(X, Y)
    assert model.guarantee_ is Guarantee.UNDER and model.gap_is_certificate_
    assert "it is a certificate" in model.guarantee_text_
    assert model.objective_ - model.gap_ <= exact.objective_ + 1e-9


def test_convergence_reaches_the_report():
    rng = np.random.default_rng(4)
    grids = [rng.normal(size=(4, 4, 2)) for _ in range(4)]
    labels = [(grid[..., 0] > 0).astype(int) for grid in grids]
    rushed = BeliefPropagation(max_iterations=1, damping=0.0)
    model = GraphLabeler(inference=rushed, regularization=0.1, tolerance=0.9).fit(grids, labels)
    assert "had not converged when they were last asked" in model.guarantee_text_
