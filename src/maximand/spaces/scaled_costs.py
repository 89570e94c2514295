"""The largest product of two affine functions of an output, by a search over scaled sums of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maximand.support import Array, Guarantee, Support

if TYPE_CHECKING:
    from maximand.spaces.base import OutputSpace

ROUNDS = 100


def search(space: OutputSpace, first: Array, first_constant: Array, second: Array, second_constant: Array) -> Support:
    """Maximise a(y) * b(y), where a(y) = first @ psi + first_constant >= 0 and b likewise from second.

    argmax of b + scale * a visits the upper right hull of the points (a, b). Between two neighbours on the hull
    every point lies below their segment, so where no segment reaches above the best product found, that product is
    the maximum; else it is a lower bound. mean is psi of the best output; value 0 and mean 0 where none is positive.
    """
    n, second = space.n_examples, space.layout.expand(second)
    best: Array = np.zeros(n)
    mean: Array = np.zeros(space.n_parts)
    everyone = np.arange(n)
    guarantee = Guarantee.EXACT

    def ask(scales: Array, cost_only: bool = False) -> tuple[Array, Array]:
        nonlocal mean, guarantee
        theta = first if cost_only else second + space.layout.scale(first, scales)
        support = space.argmax(theta)
        psi, guarantee = support.mean, guarantee & support.guarantee
        a = space.layout.dot(first, psi) + first_constant
        b = space.layout.dot(second, psi) + second_constant
        product = np.where(b > 0, a * b, 0.0)
        better = np.where(product > best, 1.0, 0.0)
        np.maximum(best, product, out=best)
        mean = space.layout.scale(mean, 1.0 - better) + space.layout.scale(psi, better)
        return a, b

    left, right = ask(np.zeros(n)), ask(np.zeros(n), cost_only=True)
    open_segments = [[((left[0][i], left[1][i]), (right[0][i], right[1][i]))] for i in everyone]
    certain = np.ones(n, dtype=bool)
    for _ in range(ROUNDS):
        current: list[tuple[tuple[float, float], tuple[float, float]] | None] = []
        scales = np.zeros(n)
        for i in everyone:
            current.append(None)
            while open_segments[i]:
                (a1, b1), (a2, b2) = open_segments[i].pop()
                if a2 > a1 and b1 > b2 and a2 * b1 > best[i]:
                    current[i] = ((a1, b1), (a2, b2))
                    scales[i] = (b1 - b2) / (a2 - a1)
                    break
        if not any(current):
            break
        a, b = ask(scales)
        for i in everyone:
            segment = current[i]
            if segment is None:
                continue
            (a1, b1), (a2, b2) = segment
            height = b1 + scales[i] * a1
            if b[i] + scales[i] * a[i] > height + 1e-12 * max(1.0, abs(height)):
                open_segments[i] += [((a1, b1), (a[i], b[i])), ((a[i], b[i]), (a2, b2))]
            else:  # an edge of the hull: the largest product on it
                top = min(max(height / (2.0 * scales[i]), a1), a2)
                certain[i] &= top * (height - scales[i] * top) <= best[i] * (1 + 1e-12)
    certain &= np.array([not segments for segments in open_segments])
    if guarantee is Guarantee.OVER:  # of means of several outputs: their products bound nothing
        return Support(best, mean, Guarantee.ESTIMATE)
    return Support(best, mean, guarantee if certain.all() else guarantee & Guarantee.UNDER)
