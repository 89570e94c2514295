"""Projections of 500 matrices onto the doubly stochastic ones, beside their peers, in one run and taking turns.

Every way is asked for row and column sums within 1e-6 of one; where it has a tolerance of its own, the loosest of
TOLERANCES that gets there is taken, and what it reaches is stored. Ours run on one thread. jaxopt is compiled for the
whole batch and, like numpy, chooses its own threads. POT solves one matrix after another, of which a part is timed, or
the whole batch where it can (solve_batch).
"""

import os
import time
import warnings
from importlib.metadata import version

import jax
import numpy as np
import ot
from jaxopt import LBFGS
from jaxopt.projection import kl_projection_birkhoff, projection_birkhoff
from ot.batch import solve_batch
from scipy.optimize import linear_sum_assignment

from maximand.numerics.assignment import best_assignments
from maximand.numerics.transport_entropic import project_entropic
from maximand.numerics.transport_euclidean import project_euclidean
from report import save

BATCH = 500
PART = 25  # of the batch, for ways that take one matrix at a time
REPEATS = 5
TURN = 0.1
VIOLATION = 1e-6
TOLERANCES = (1e-6, 3e-7, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
MOST = 100_000


def violation(plans):
    return max(np.abs(plans.sum(axis=1) - 1.0).max(), np.abs(plans.sum(axis=2) - 1.0).max())


def ours(project):
    def solve(scores, tolerance, starts=None):
        n, k = scores.shape[:2]
        starts = np.zeros((n, k)) if starts is None else starts
        values, means, converged = np.empty(n), np.empty(scores.shape), np.empty(n, dtype=bool)
        project(scores, starts, tolerance, 200, values, means, converged)
        return means

    return solve


def with_jaxopt(project):
    compiled = {}

    def solve(scores, tolerance):
        if tolerance not in compiled:

            def solver(dual):
                return LBFGS(fun=dual, tol=tolerance, maxiter=2000, linesearch="zoom")

            compiled[tolerance] = jax.jit(jax.vmap(lambda own: project(own, make_solver=solver)))
        return np.asarray(compiled[tolerance](scores))

    return solve


def while_active(start, advance, scores, tolerance):
    """Advance all problems ten steps at a time, leaving out those that are done."""
    plans, active = np.empty(scores.shape), np.arange(len(scores))
    state = start(scores)
    for _ in range(MOST // 10):
        state, found = advance(state, 10)
        plans[active] = found
        wrong = np.maximum(np.abs(found.sum(axis=1) - 1.0).max(axis=1), np.abs(found.sum(axis=2) - 1.0).max(axis=1))
        left = wrong > tolerance
        if not left.any():
            break
        state, active = tuple(part[left] for part in state), active[left]
    return plans


def numpy_dykstra(scores, tolerance):
    k = scores.shape[1]

    def advance(state, steps):
        found, correction = state
        for _ in range(steps):
            rows, columns = found.sum(axis=2, keepdims=True), found.sum(axis=1, keepdims=True)
            even = found - rows / k - columns / k + (rows.sum(axis=1, keepdims=True) + k) / k**2 + correction
            found = np.maximum(even, 0.0)
            correction = even - found
        return (found, correction), found

    return while_active(lambda s: (s.copy(), np.zeros(s.shape)), advance, scores, tolerance)


def numpy_sinkhorn(scores, tolerance):
    def advance(state, steps):
        kernel, columns = state
        for _ in range(steps):
            rows = 1.0 / np.matmul(kernel, columns)
            columns = 1.0 / np.matmul(kernel.transpose(0, 2, 1), rows)
        return (kernel, columns), rows * kernel * columns.transpose(0, 2, 1)

    def start(s):
        return np.exp(s - s.max(axis=2, keepdims=True)), np.ones((len(s), s.shape[1], 1))

    return while_active(start, advance, scores, tolerance)


def numpy_log_sinkhorn(scores, tolerance):
    def advance(state, steps):
        (logs,) = state
        for _ in range(steps):
            for axis in (2, 1):
                top = logs.max(axis=axis, keepdims=True)
                logs = logs - top - np.log(np.exp(logs - top).sum(axis=axis, keepdims=True))
        return (logs,), np.exp(logs)

    return while_active(lambda s: (s,), advance, scores, tolerance)


def pot_semi_dual(scores, tolerance):
    ones = np.ones(scores.shape[1])
    return np.stack(
        [ot.smooth.smooth_ot_semi_dual(ones, ones, -s, 1.0, "l2", stopThr=tolerance, numItermax=10_000) for s in scores]
    )


def pot_sinkhorn(scores, tolerance):
    ones = np.ones(scores.shape[1])
    return np.stack([ot.sinkhorn(ones, ones, -s, 1.0, stopThr=tolerance, numItermax=MOST) for s in scores])


def pot_batch(scores, tolerance):
    ones = np.ones(scores.shape[:2])
    return solve_batch(
        -scores, 1.0, ones, ones, max_iter=MOST, tol=tolerance, method="sinkhorn", grad="detach"
    ).plan  # fmt: skip


CASES = {
    "euclidean": (
        ours(project_euclidean),
        {
            "jaxopt projection_birkhoff": with_jaxopt(projection_birkhoff),
            "numpy Dykstra": numpy_dykstra,
            "POT smooth_ot_semi_dual": pot_semi_dual,
        },
    ),
    "entropic": (
        ours(project_entropic),
        {
            "jaxopt kl_projection_birkhoff": with_jaxopt(kl_projection_birkhoff),
            "numpy Sinkhorn, log domain": numpy_log_sinkhorn,
            "numpy Sinkhorn, scaled": numpy_sinkhorn,
            "POT sinkhorn": pot_sinkhorn,
            "POT solve_batch": pot_batch,
        },
    ),
}
ONE_BY_ONE = {"POT smooth_ot_semi_dual", "POT sinkhorn"}


def calibrated(solve, scores):
    """Return the loosest tolerance that reaches the violation asked for, or the strictest, and what it reaches."""
    for tolerance in TOLERANCES:
        reached = violation(solve(scores, tolerance))
        if reached <= VIOLATION:
            break
    return tolerance, reached


def rates(ways):
    """Call the ways (a number of problems, a function) in turn; return how many problems each does a second.

    A turn lasts TURN seconds or one call, so that what other processes take away is taken from no way alone.
    """
    seconds = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, (_, way) in ways.items():
            turn = time.perf_counter()
            while time.perf_counter() < turn + TURN:
                began = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - began)
    return {name: count / min(seconds[name]) for name, (count, _) in ways.items()}


def projection_rows(rng, regularizer, k, scale):
    solve, peers = CASES[regularizer]
    scores = scale * rng.normal(size=(BATCH, k, k))
    near = scores + 1e-2 * rng.normal(size=scores.shape)
    starts = np.zeros((BATCH, k))
    solve(scores, 1e-10, starts)
    ways = {
        "ours": (BATCH, lambda: solve(scores, VIOLATION)),
        "ours to 1e-10": (BATCH, lambda: solve(scores, 1e-10)),
        "ours, warm": (BATCH, lambda: solve(near, VIOLATION, starts.copy())),
    }
    facts = {"ours": (VIOLATION, violation(solve(scores, VIOLATION)))}
    for name, peer in peers.items():
        own = scores[:PART] if name in ONE_BY_ONE else scores
        facts[name] = calibrated(peer, own)
        ways[name] = (len(own), lambda p=peer, s=own, t=facts[name][0]: p(s, t))
    found = rates(ways)
    best = max((name for name in peers if facts[name][1] <= VIOLATION), key=found.get)
    for name in peers:
        yield {
            "what": f"{regularizer} projection", "k": k, "scale": scale, "peer": name, "best_peer": name == best,
            "ours_per_second": found["ours"], "peer_per_second": found[name], "ratio": found["ours"] / found[name],
            "ours_violation": facts["ours"][1], "peer_violation": facts[name][1], "peer_tolerance": facts[name][0],
        }  # fmt: skip
    for name in ("ours to 1e-10", "ours, warm"):
        yield {
            "what": f"{regularizer} projection, {name}", "k": k, "scale": scale, "ours_per_second": found[name],
            "ratio_to_cold": found[name] / found["ours"],
        }  # fmt: skip


def assignment_row(rng, k):
    count = max(5, min(BATCH, 20_000_000 // k**3))
    scores = rng.normal(size=(count, k, k))
    values, means = np.empty(count), np.empty(scores.shape)

    def peer():
        for own in scores:
            linear_sum_assignment(own, maximize=True)

    best_assignments(scores, values, means)
    found = rates({"ours": (count, lambda: best_assignments(scores, values, means)), "peer": (count, peer)})
    return {
        "what": "best assignment", "k": k, "peer": "scipy linear_sum_assignment in a loop", "problems": count,
        "ours_per_second": found["ours"], "peer_per_second": found["peer"], "ratio": found["ours"] / found["peer"],
    }  # fmt: skip


def main():
    jax.config.update("jax_enable_x64", True)
    warnings.filterwarnings("ignore")
    rng = np.random.default_rng(0)
    load = os.getloadavg()[0]
    rows = [assignment_row(rng, k) for k in (3, 5, 10, 20, 50, 200)]
    for regularizer in CASES:
        for k in (5, 10, 20):
            for scale in (1.0, 3.0):
                rows += projection_rows(rng, regularizer, k, scale)
    save(
        "birkhoff", rows, batch=BATCH, one_by_one=PART, repeats=REPEATS, turn=TURN, asked_violation=VIOLATION,
        threads_of_ours=1, load_at_start=load, peers={name: version(name) for name in ("jax", "jaxopt", "POT")},
    )  # fmt: skip


if __name__ == "__main__":
    main()
