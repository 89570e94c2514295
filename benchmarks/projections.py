"""Projections of 500 rows of scores beside their peers, in one run with peers and us taking turns.

Ours run on one thread and, in chunks of rows, on two, which helps where a core is free for the second; the load when
the run began is stored. A busy machine slows what takes long more than what takes short, which favours us; the ratio of
processor time does not. jaxopt is compiled for the whole batch and chooses its own threads. fast-soft-sort no longer
installs; the figures given for it were measured separately on a machine of this kind.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np
from jaxopt.projection import projection_box_section
from scipy.optimize import isotonic_regression

from maximand.numerics import budget, order_simplex, permutahedron
from maximand.numerics.simplex import project_simplex
from report import save

BATCH = 500
REPEATS = 100
FAST_SOFT_SORT = {10: 63_000.0, 100: 54_000.0, 1000: 17_000.0}  # projections onto the permutahedron a second


def rates(**ways):
    """Call the ways in turn, several times; return how many rows each does a second, at its best, by both clocks."""
    taken = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(REPEATS):
        for name, way in ways.items():
            began = time.perf_counter(), time.process_time()
            way()
            taken[name].append((time.perf_counter() - began[0], time.process_time() - began[1]))
    return {name: BATCH / np.min(seconds, axis=0) for name, seconds in taken.items()}


def ours(pool, kernel, scores, *arguments):
    """Return the projection on one thread, that on two, and where both write it."""
    values, means = np.empty(len(scores)), np.empty(scores.shape)
    halves = [slice(0, len(scores) // 2), slice(len(scores) // 2, len(scores))]

    def one():
        kernel(scores, *arguments, values, means)

    def two():
        list(pool.map(lambda half: kernel(scores[half], *arguments, values[half], means[half]), halves))

    return one, two, means


def row(what, k, found, peer, wanted, **facts):
    one, two, theirs = found["one"], found["two"], found["peer"]
    return {
        "what": what,
        "k": k,
        "peer": peer,
        "ours_per_second": one[0],
        "ours_two_threads_per_second": two[0],
        "peer_per_second": theirs[0],
        "ratio": one[0] / theirs[0],
        "ratio_two_threads": two[0] / theirs[0],
        "ours_per_processor_second": one[1],
        "peer_per_processor_second": theirs[1],
        "ratio_of_processor_time": one[1] / theirs[1],
        "asked_ratio": wanted,
        **facts,
    }


def simplex_rows(rng, pool):
    for k in (3, 10, 100, 1000):
        scores = rng.normal(size=(BATCH, k))
        one, two, means = ours(pool, project_simplex, scores)

        def peer(scores=scores, k=k):
            ordered = -np.sort(-scores, axis=1)
            thresholds = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, k + 1)
            last = np.count_nonzero(ordered > thresholds, axis=1) - 1
            return np.maximum(scores - np.take_along_axis(thresholds, last[:, None], axis=1), 0.0)

        one()
        np.testing.assert_allclose(means, peer(), atol=1e-12)
        yield row("simplex", k, rates(one=one, two=two, peer=peer), "batched numpy, sorted", 1.0)


def budget_rows(rng, pool):
    batched = jax.jit(jax.vmap(projection_box_section, in_axes=(0, None)))
    for k, count in ((10, 3), (100, 10), (1000, 50)):
        scores = rng.normal(size=(BATCH, k))
        one, two, means = ours(pool, budget.project_euclidean, scores, count, count)
        ready = jnp.asarray(scores)
        box = (jnp.zeros(k), jnp.ones(k), jnp.ones(k), float(count))

        def peer(ready=ready, box=box):
            return batched(ready, box).block_until_ready()

        one()
        errors = [float(np.abs(point.sum(axis=1) - count).max()) for point in (means, np.asarray(peer()))]
        np.testing.assert_allclose(means, peer(), atol=1e-4)
        also_one, also_two, _ = ours(pool, budget.project_entropic, scores, count, count)
        found = rates(one=one, two=two, peer=peer, also_one=also_one, also_two=also_two)
        facts = {"our_error_of_the_sum": errors[0], "peer_error_of_the_sum": errors[1]}
        yield row(f"budget, sum = {count}", k, found, "jaxopt box section", 2.0, **facts)
        found["one"], found["two"] = found["also_one"], found["also_two"]
        yield row(f"budget, sum = {count}, entropic", k, found, "jaxopt box section (Euclidean)", None)


def permutahedron_rows(rng, pool):
    for k in (10, 100, 1000):
        weights = np.arange(k, 0.0, -1.0)
        for spread, scores in (("1", rng.normal(size=(BATCH, k))), ("k", k * rng.normal(size=(BATCH, k)))):
            one, two, means = ours(pool, permutahedron.project_euclidean, scores, weights)

            def peer(scores=scores, weights=weights):
                order = np.argsort(-scores, axis=1)
                ordered = np.take_along_axis(scores, order, axis=1)
                found = np.empty_like(scores)
                for i in range(BATCH):
                    found[i, order[i]] = ordered[i] - isotonic_regression(ordered[i] - weights, increasing=False).x
                return found

            one()
            np.testing.assert_allclose(means, peer(), atol=1e-9)
            also_one, also_two, _ = ours(pool, permutahedron.project_entropic, scores, weights)
            found = rates(one=one, two=two, peer=peer, also_one=also_one, also_two=also_two)
            what = f"permutahedron, scores of deviation {spread}, weights k ... 1"
            yield row(what, k, found, "numpy and scipy's isotonic_regression", None)
            if spread == "1":
                yield row(
                    what, k, {**found, "peer": (FAST_SOFT_SORT[k], FAST_SOFT_SORT[k])}, "fast-soft-sort (given)", 10.0
                )
            found["one"], found["two"] = found["also_one"], found["also_two"]
            yield row(f"{what}, entropic", k, found, "numpy and scipy's isotonic_regression (Euclidean)", None)


def order_rows(rng, pool):
    for k in (10, 100, 1000):
        scores = rng.normal(size=(BATCH, k))
        one, two, means = ours(pool, order_simplex.project_euclidean, scores)

        def peer(scores=scores):
            return np.clip([isotonic_regression(theta, increasing=False).x for theta in scores], 0.0, 1.0)

        one()
        np.testing.assert_allclose(means, peer(), atol=1e-12)
        yield row("order simplex", k, rates(one=one, two=two, peer=peer), "scipy's isotonic_regression", None)


def main():
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    busy = os.getloadavg()[0]
    with ThreadPoolExecutor(2) as pool:
        parts = (
            simplex_rows(rng, pool),
            budget_rows(rng, pool),
            permutahedron_rows(rng, pool),
            order_rows(rng, pool),
        )
        found = [row for part in parts for row in part]
    peers = {name: version(name) for name in ("jax", "jaxopt")}
    save("projections", found, batch=BATCH, repeats=REPEATS, peer_versions=peers, load_before=busy)


if __name__ == "__main__":
    main()
