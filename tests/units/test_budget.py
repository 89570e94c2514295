"""Sets of bounded size: maxima against enumeration, projections by their conditions and against bisection."""

import itertools

import numpy as np
import pytest

from maximand.numerics import budget

PROJECTIONS = {"euclidean": budget.project_euclidean, "entropic": budget.project_entropic}
SCALES = {"euclidean": [1e-6, 0.1, 1.0, 30.0, 1e6], "entropic": [1e-6, 0.1, 1.0, 30.0, 700.0]}
CASES = [(kind, scale) for kind, scales in SCALES.items() for scale in scales]


def apply(kernel, scores, *arguments):
    scores = np.ascontiguousarray(scores, dtype=float)
    values, means = np.full(len(scores), np.nan), np.full(scores.shape, np.nan)
    kernel(scores, *arguments, values, means)
    return values, means


def subsets(k, least, most):
    everything = np.array(list(itertools.product([0.0, 1.0], repeat=k)))
    sizes = everything.sum(axis=1)
    return everything[(sizes >= least) & (sizes <= most)]


def regularised(kind, theta, u):
    """Return the objective and its gradient, where the regularisation of 0 is 0 and its slope is that of 1e-307."""
    if kind == "euclidean":
        return theta @ u - 0.5 * u @ u, theta - u
    logarithms = np.log(np.maximum(u, 1e-307))
    return theta @ u - u @ logarithms, theta - 1.0 - logarithms


def by_bisection(kind, theta, least, most):
    def point(tau):
        return np.clip(theta - tau, 0.0, 1.0) if kind == "euclidean" else np.exp(np.minimum(theta - 1.0 - tau, 0.0))

    total = point(0.0).sum()
    if least <= total <= most:
        return point(0.0)
    bound = most if total > most else least
    low, high = theta.min() - 50.0, theta.max() + 50.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if point(middle).sum() > bound else (low, middle)
    return point(high)


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_optimality_conditions(kind, scale, k):
    rng = np.random.default_rng(k)
    for least, most in itertools.combinations_with_replacement(range(k + 1), 2):
        scores = rng.normal(size=(8, k)) * scale
        scores[0] = scores[0].round()
        values, means = apply(PROJECTIONS[kind], scores, least, most)
        vertices = subsets(k, least, most)
        assert ((means >= 0.0) & (means <= 1.0)).all()
        assert (means.sum(axis=1) >= least - 1e-12).all()
        assert (means.sum(axis=1) <= most + 1e-12).all()
        for theta, value, u in zip(scores, values, means, strict=True):
            objective, gradient = regularised(kind, theta, u)
            assert value == pytest.approx(objective, rel=1e-12, abs=1e-12)
            assert ((vertices - u) @ gradient).max() <= 1e-9 * max(1.0, 1e-3 * scale)


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("k", [10, 100, 700])
def test_against_bisection(kind, scale, k):
    rng = np.random.default_rng(k)
    for least, most in [(1, 1), (k // 5, k // 5), (k - 1, k), (0, k // 3), (k // 2, k)]:
        scores = rng.normal(size=(4, k)) * scale
        scores[1] = np.round(scores[1] / scale) * scale
        _, means = apply(PROJECTIONS[kind], scores, least, most)
        sums = means.sum(axis=1)
        assert (sums >= least - 1e-12).all()
        assert (sums <= most + 1e-12).all()
        expected = [by_bisection(kind, theta, least, most) for theta in scores]
        np.testing.assert_allclose(means, expected, rtol=0.0, atol=1e-11 * max(1.0, scale))


def test_selection_of_breakpoints():
    """Scores on which Newton's method alone goes to and fro."""
    rng = np.random.default_rng(0)
    scores = np.sign(rng.normal(size=(40, 60))) * 2.0 ** rng.uniform(-30.0, 30.0, size=(40, 60))
    for count in (1, 7, 30, 59):
        _, means = apply(budget.project_euclidean, scores, count, count)
        np.testing.assert_allclose(means.sum(axis=1), count, rtol=0.0, atol=1e-12)
        for theta, u in zip(scores, means, strict=True):
            gradient = theta - u
            held, raised = gradient[u < 1.0], gradient[u > 0.0]
            assert held.max() <= raised.min() + 1e-9 * max(1.0, abs(raised.min()))


@pytest.mark.parametrize("k", [1, 3, 8])
def test_points_of_the_set_stay(k):
    rng = np.random.default_rng(k)
    for least, most in itertools.combinations_with_replacement(range(k + 1), 2):
        vertices = subsets(k, least, most)
        points = rng.dirichlet(np.ones(len(vertices)), size=5) @ vertices
        np.testing.assert_allclose(apply(budget.project_euclidean, points, least, most)[1], points, atol=1e-14)
        np.testing.assert_array_equal(apply(budget.project_euclidean, vertices, least, most)[1], vertices)


def test_known_answers():
    _, means = apply(budget.project_euclidean, [[5.0, 5.0, 5.0, 5.0], [9.0, 9.0, 0.5, 0.5]], 3, 3)
    np.testing.assert_array_equal(means, [[0.75, 0.75, 0.75, 0.75], [1.0, 1.0, 0.5, 0.5]])
    _, means = apply(budget.project_entropic, [[-600.0] * 4, [700.0, 700.0, -700.0, -700.0]], 3, 3)
    np.testing.assert_allclose(means, [[0.75, 0.75, 0.75, 0.75], [1.0, 1.0, 0.5, 0.5]], atol=1e-15)
    _, means = apply(budget.project_entropic, [[1.0, 3.0, 0.0]], 0, 3)
    np.testing.assert_allclose(means, [[1.0, 1.0, np.exp(-1.0)]])
    for kernel in PROJECTIONS.values():
        values, means = apply(kernel, [[3.0, 2.0]], 0, 0)
        assert values.tolist() == [0.0]
        assert means.tolist() == [[0.0, 0.0]]


def infinite_scores(rng, k):
    return rng.choice([-np.inf, np.inf, -1.0, 0.0, 0.5, 2.0], size=(40, k), p=[0.15, 0.15, 0.15, 0.2, 0.15, 0.2])


@pytest.mark.parametrize("kind", ["euclidean", "entropic", "best"])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_forced_and_forbidden_labels(kind, k):
    kernel = PROJECTIONS.get(kind, budget.best_subsets)
    rng = np.random.default_rng(k)
    for least, most in itertools.combinations_with_replacement(range(k + 1), 2):
        scores = infinite_scores(rng, k)
        values, means = apply(kernel, scores, least, most)
        for theta, value, u in zip(scores, values, means, strict=True):
            forced, free = np.isposinf(theta), np.isfinite(theta)
            least_free, most_free = max(least - forced.sum(), 0), min(most - forced.sum(), free.sum())
            if least_free > free.sum() or most_free < 0:
                assert value == -np.inf
                assert not u.any()
                continue
            if free.any():
                value_free, mean_free = apply(kernel, theta[None, free], int(least_free), int(most_free))
            else:
                value_free, mean_free = np.zeros(1), np.zeros((1, 0))
            np.testing.assert_allclose(u[free], mean_free[0], atol=1e-14)
            np.testing.assert_array_equal(u[~free], forced[~free])
            own = 0.5 * forced.sum() if kind == "euclidean" else 0.0
            assert value == pytest.approx(value_free[0] - own, abs=1e-13)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_best_subsets(k):
    rng = np.random.default_rng(k)
    for least, most in itertools.combinations_with_replacement(range(k + 1), 2):
        scores = np.concatenate([rng.normal(size=(10, k)), rng.integers(-2, 3, (30, k))])
        values, means = apply(budget.best_subsets, scores, least, most)
        vertices = subsets(k, least, most)
        totals = scores @ vertices.T
        np.testing.assert_allclose(values, totals.max(axis=1), atol=1e-13)
        for theta, total, u in zip(scores, totals, means, strict=True):
            # Fewest labels, then lowest places.
            best = vertices[total >= total.max() - 1e-13]
            fewest = best[best.sum(axis=1) == best.sum(axis=1).min()]
            assert u.tolist() == max(fewest.tolist()), theta


def test_best_subsets_of_many():
    rng = np.random.default_rng(3)
    scores = rng.integers(-20, 20, size=(20, 300)).astype(float)
    for least, most in [(10, 10), (0, 40), (280, 300), (150, 150)]:
        values, means = apply(budget.best_subsets, scores, least, most)
        for theta, value, u in zip(scores, values, means, strict=True):
            count = int(np.clip((theta > 0.0).sum(), least, most))
            chosen = np.sort(np.argsort(-theta, kind="stable")[:count])
            np.testing.assert_array_equal(np.flatnonzero(u), chosen)
            assert value == theta[chosen].sum()


@pytest.mark.parametrize("kernel", [*PROJECTIONS.values(), budget.best_subsets])
def test_batch_is_one_by_one(kernel):
    scores = np.random.default_rng(1).normal(size=(30, 17)) * 3.0
    values, means = apply(kernel, scores, 2, 4)
    for i in range(30):
        value, mean = apply(kernel, scores[i : i + 1], 2, 4)
        assert value[0] == values[i]
        np.testing.assert_array_equal(mean[0], means[i])
