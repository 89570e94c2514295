"""Inference with hidden variables: mixed-product messages on grids, and exact marginal MAP on chains.

All on one thread, in processor seconds of it, the best of several turns that the ways take. Messages are those of a
round in which every node sends one along each of its edges. Where outputs are maximised, the labelling found is scored
by rounds of sum-product with outputs clamped; these are counted too, and what the rate is without them is beside it.
"""

import time

import numpy as np

from maximand import BeliefPropagation
from maximand.inference import FactorGraphs, Structure
from maximand.spaces import Chain
from report import save

REPEATS = 7
WANTED_MESSAGES = 10e6
WANTED_RATIO = 3.0
ROUNDS, GRIDS = 50, 10


def seconds(*ways):
    best = [np.inf] * len(ways)
    for repeat in range(REPEATS + 1):
        for i, way in enumerate(ways):
            began = time.thread_time()
            way()
            if repeat:
                best[i] = min(best[i], time.thread_time() - began)
    return best


def grid_rows(rng):
    graph = Structure.grid(20, 31, 5)
    graphs = FactorGraphs.of([graph] * GRIDS)
    theta = rng.normal(size=graphs.n_parts)
    messages = 2 * len(graph.edges) * GRIDS * ROUNDS
    bp = BeliefPropagation(max_iterations=ROUNDS, tolerance=0.0)
    checkerboard = np.tile((np.add.outer(np.arange(20), np.arange(31)) % 2 == 1).ravel(), GRIDS)
    masks = {f"{share:.0%} hidden at random": rng.random(checkerboard.size) < share for share in (0.1, 0.5, 0.9)}
    for what, hidden in {**masks, "checkerboard": checkerboard}.items():
        for temperatures in ((0.0, 1.0), (0.3, 0.7)):
            (taken,) = seconds(lambda t=temperatures, h=hidden: bp.mixed(graphs, theta, t, h))
            passes = 2 if temperatures[0] == 0.0 else 1
            yield {
                "what": f"mixed-product, grid 20 x 31, 5 states, {what}", "temperatures": temperatures,
                "messages_per_second": passes * messages / taken, "without_clamped_rounds": messages / taken,
                "asked_per_second": WANTED_MESSAGES,
            }  # fmt: skip


def chain_ways(chain, theta, hidden):
    ones = np.ones(chain.n_examples)
    return (
        lambda: chain.layout.total(chain.mixed(theta, (0.0, 1.0), hidden).held, ones),
        lambda: chain.layout.total(chain.argmax(theta).held, ones),
        lambda: chain.layout.total(chain.marginals(theta).held, ones),
        lambda: chain.layout.total(chain.mixed(theta, (0.3, 0.7), hidden).held, ones),
    )


def chain_rows(rng, n=200, length=25):
    for k in (3, 10, 23, 45):
        chain = Chain(np.full(n, length), k)
        theta = rng.normal(size=chain.layout.n_scores)
        for share in (0.1, 0.5, 0.9):
            ours, best, sums, soft = seconds(*chain_ways(chain, theta, rng.random(n * length) < share))
            yield {
                "what": f"marginal MAP with marginals, {n} chains of {length}", "labels": k, "hidden": share,
                "ours_ms": 1e3 * ours, "viterbi_ms": 1e3 * best, "forward_backward_ms": 1e3 * sums,
                "ours_over_both": ours / (best + sums), "asked_at_most": WANTED_RATIO,
                "at_0.3_and_0.7_over_both": soft / (best + sums),
            }  # fmt: skip


def main():
    rng = np.random.default_rng(0)
    save("hidden", [*grid_rows(rng), *chain_rows(rng)], repeats=REPEATS)


if __name__ == "__main__":
    main()
