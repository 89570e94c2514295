"""Projections onto doubly stochastic matrices against their optimality conditions and slow methods."""

import numpy as np
import pytest
from scipy.optimize import minimize

from maximand.numerics.transport_entropic import project_entropic
from maximand.numerics.transport_euclidean import project_euclidean

BOTH = pytest.mark.parametrize("project", [project_euclidean, project_entropic])
SCALES = pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 3.0, 30.0, 1e3])
KINDS = ("normal", "ties", "equal", "rank one", "duplicates", "masked")


def solve(project, scores, starts=None, tolerance=1e-10, max_iterations=100):
    n, k = scores.shape[:2]
    starts = np.zeros((n, k)) if starts is None else starts.copy()
    values, means, converged = np.empty(n), np.full(scores.shape, np.nan), np.zeros(n, dtype=bool)
    project(scores, starts, tolerance, max_iterations, values, means, converged)
    return values, means, converged, starts


def random_scores(rng, kind, n, k):
    scores = rng.normal(size=(n, k, k))
    if kind == "ties":
        scores = rng.integers(0, 3, scores.shape).astype(float)
    if kind == "equal":
        scores[:] = 0.7
    if kind == "rank one":
        scores = scores[:, :, :1] * scores[:, :1, :]
    if kind == "duplicates":
        scores = np.repeat(scores, 2, axis=2)[:, :, :k].copy()
    if kind == "masked":
        scores[mixture_of_permutations(rng, n, k) == 0.0] = -np.inf
    return scores


def mixture_of_permutations(rng, n, k):
    mixture = np.zeros((n, k, k))
    for own in mixture:
        for share in rng.dirichlet(np.ones(3)):
            own[np.arange(k), rng.permutation(k)] += share
    return mixture


def products(scores, means):
    return np.where(means > 0.0, np.where(np.isfinite(scores), scores, 0.0) * means, 0.0).sum(axis=(1, 2))


def regularizer(project, means):
    if project is project_euclidean:
        return 0.5 * np.square(means).sum(axis=(1, 2))
    return np.where(means > 0.0, means * np.log(np.where(means > 0.0, means, 1.0)), 0.0).sum(axis=(1, 2))


@BOTH
@SCALES
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3, 10, 25])
def test_projections_are_feasible_and_have_the_form_of_an_optimum(project, scale, kind, k):
    rng = np.random.default_rng(k)
    scores = scale * random_scores(rng, kind, 20, k)
    values, means, converged, potentials = solve(project, scores)
    assert converged.all()
    assert np.all(means >= 0.0)
    assert np.all(means[scores == -np.inf] == 0.0)
    np.testing.assert_allclose(means.sum(axis=2), 1.0, atol=1e-13)
    np.testing.assert_allclose(means.sum(axis=1), 1.0, atol=1.1e-10)

    left = scores - potentials[:, None, :]
    rounding = 1e-15 * k * (1.0 + np.abs(potentials).max() + np.abs(scores[np.isfinite(scores)]).max())
    if project is project_euclidean:
        multipliers = (left - means).max(axis=2, keepdims=True)
        np.testing.assert_allclose(np.maximum(left - multipliers, 0.0), means, atol=1e-14 + rounding)
    else:
        left -= left.max(axis=2, keepdims=True)
        wanted = np.exp(left) / np.exp(left).sum(axis=2, keepdims=True)
        np.testing.assert_allclose(means, wanted, rtol=1e-11 + 10 * rounding, atol=1e-13 + rounding)

    objective = products(scores, means) - regularizer(project, means)
    gap = (potentials * (1.0 - means.sum(axis=1))).sum(axis=1)
    np.testing.assert_allclose(values - objective, gap, atol=1e-12 + k * rounding)


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_problems_converge(project, kind):
    rng = np.random.default_rng(3)
    for k in (3, 6, 12):
        scores = random_scores(rng, kind, 700, k) * 10.0 ** rng.uniform(-3.0, 3.0, (700, 1, 1))
        assert solve(project, scores, max_iterations=60)[2].all()


@BOTH
@pytest.mark.parametrize("scale", [0.1, 3.0, 1e3])
def test_large_matrices_converge(project, scale):
    scores = scale * np.random.default_rng(4).normal(size=(1, 200, 200))
    assert solve(project, scores)[2].all()


def dykstra(scores, sweeps=3000):
    """Project alternately onto matrices whose lines sum to one and onto those that are at least 0 (Dykstra 1983)."""
    k = scores.shape[0]
    found, correction = scores.copy(), np.zeros_like(scores)
    for _ in range(sweeps):
        rows, columns = found.sum(axis=1, keepdims=True), found.sum(axis=0, keepdims=True)
        even = found - rows / k - columns / k + (found.sum() + k) / k**2
        found = np.maximum(even + correction, 0.0)
        correction = even + correction - found
    return found


def sinkhorn(scores, sweeps=3000):
    found = scores.copy()
    for _ in range(sweeps):
        for axis in (1, 0):
            top = found.max(axis=axis, keepdims=True)
            found -= top + np.log(np.exp(found - top).sum(axis=axis, keepdims=True))
    return np.exp(found)


@pytest.mark.parametrize(("project", "reference"), [(project_euclidean, dykstra), (project_entropic, sinkhorn)])
@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 4, 7])
def test_projections_agree_with_alternating_projections(project, reference, scale, k):
    scores = scale * np.random.default_rng(5).normal(size=(3, k, k))
    means = solve(project, scores, tolerance=1e-12)[1]
    for own, mean in zip(scores, means, strict=True):
        np.testing.assert_allclose(mean, reference(own), atol=1e-8)


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_projections_agree_with_a_general_solver(project, seed):
    rng = np.random.default_rng(seed)
    scores = 2.0 * rng.normal(size=(1, 3, 3))

    def loss(flat):
        mean = flat.reshape(1, 3, 3)
        return (regularizer(project, mean) - products(scores, mean))[0]

    lines = [lambda p, i=i: p.reshape(3, 3).sum(axis=1)[i] - 1.0 for i in range(3)]
    lines += [lambda p, j=j: p.reshape(3, 3).sum(axis=0)[j] - 1.0 for j in range(2)]
    found = minimize(
        loss, np.full(9, 1 / 3), method="SLSQP", bounds=[(1e-12, 1.0)] * 9, options={"maxiter": 500, "ftol": 1e-14},
        constraints=[{"type": "eq", "fun": line} for line in lines],
    )  # fmt: skip
    values, means, _, _ = solve(project, scores)
    assert values[0] == pytest.approx(-found.fun, abs=1e-6)
    np.testing.assert_allclose(means[0].ravel(), found.x, atol=1e-3)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_doubly_stochastic_matrices_are_their_own_projection(k):
    mixture = mixture_of_permutations(np.random.default_rng(6), 10, k)
    np.testing.assert_allclose(solve(project_euclidean, mixture)[1], mixture, atol=1e-9)


@BOTH
def test_a_warm_start_gives_the_same_answer_in_fewer_iterations(project):
    rng = np.random.default_rng(7)
    scores = 3.0 * rng.normal(size=(200, 8, 8))
    starts = solve(project, scores)[3]
    near = scores + 1e-3 * rng.normal(size=scores.shape)
    cold, warm = solve(project, near), solve(project, near, starts)
    np.testing.assert_allclose(warm[1], cold[1], atol=1e-8)
    np.testing.assert_allclose(warm[0], cold[0], atol=1e-9)

    def average_iterations(begin):
        return sum((~solve(project, near, begin, max_iterations=most)[2]).mean() for most in range(30))

    assert average_iterations(starts) < 0.7 * average_iterations(None)


@BOTH
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_a_bad_start_does_no_harm(project, scale):
    rng = np.random.default_rng(8)
    scores = scale * rng.normal(size=(100, 6, 6))
    cold = solve(project, scores)
    for size in (1.0, 1e2, 1e5):
        warm = solve(project, scores, size * rng.normal(size=(100, 6)))
        assert warm[2].all()
        np.testing.assert_allclose(warm[1], cold[1], atol=1e-7)


@BOTH
def test_the_order_of_rows_and_columns_does_not_matter(project):
    rng = np.random.default_rng(9)
    scores = rng.normal(size=(20, 7, 7))
    rows, columns = rng.permutation(7), rng.permutation(7)
    moved = np.ascontiguousarray(scores[:, rows][:, :, columns])
    np.testing.assert_allclose(solve(project, moved)[1], solve(project, scores)[1][:, rows][:, :, columns], atol=1e-8)
    turned = np.ascontiguousarray(scores.transpose(0, 2, 1))
    np.testing.assert_allclose(solve(project, turned)[1], solve(project, scores)[1].transpose(0, 2, 1), atol=1e-8)


@BOTH
def test_a_row_or_a_pattern_without_permutation_has_no_value(project):
    scores = np.random.default_rng(10).normal(size=(3, 4, 4))
    scores[0, 2] = -np.inf
    scores[1, :, 1] = -np.inf
    values, means, converged, potentials = solve(project, scores)
    np.testing.assert_array_equal(values[:2], -np.inf)
    assert not means[:2].any()
    assert converged.all()
    assert np.isfinite(values[2])
    assert np.isfinite(potentials).all()


@BOTH
def test_projections_do_not_depend_on_the_batch(project):
    rng = np.random.default_rng(11)
    scores = rng.normal(size=(40, 9, 9)) * 10.0 ** rng.uniform(-2, 3, (40, 1, 1))
    together = solve(project, scores)
    for i in range(40):
        for whole, alone in zip(together, solve(project, scores[i : i + 1]), strict=True):
            np.testing.assert_array_equal(alone[0], whole[i])


@BOTH
def test_too_few_iterations_are_reported(project):
    scores = 100.0 * np.random.default_rng(12).normal(size=(20, 12, 12))
    assert not solve(project, scores, max_iterations=1)[2].any()
