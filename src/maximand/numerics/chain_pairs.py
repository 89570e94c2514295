"""Means of pairs, made of what forward-backward left: see chain_sums.py.

They are products of `alpha` and `ahead` with the factors of a table, or, where an example was done on logarithms,
shares of the means of nodes (chain_logarithms.py).
"""

import numpy as np
from numba import njit

from maximand.numerics.chain_logarithms import add_log_pairs
from maximand.numerics.chain_sums import SoftSums
from maximand.numerics.products import PANEL, TOGETHER, add_products
from maximand.support import Array, Bools, Ints


def add_soft_pairs(sums: SoftSums, offsets: Ints, weights: Array, out: Array) -> None:
    """Add the weighted means of pairs to `out`, which has a table for each example or one for all."""
    rows = np.flatnonzero(_pairs_of_rows(sums, offsets))
    if rows.size:
        ends = np.searchsorted(rows, offsets[1:] if len(out) > 1 else offsets[-1:])
        _add_pairs(sums.alpha, sums.ahead, rows, ends, np.repeat(weights, np.diff(offsets)), sums.factors, out)
    _add_log_pairs(sums, offsets, np.flatnonzero(~sums.scaled), weights, out)


def soft_pair_scores(sums: SoftSums, offsets: Ints, table: Array) -> Array:
    """Return what transitions score at the means of pairs of each example, where all have one table."""
    rows = np.arange(len(sums.alpha) // TOGETHER * TOGETHER)
    k, (factor,) = len(table), sums.factors
    scored, products = np.zeros_like(factor), np.zeros_like(sums.alpha)
    np.multiply(table, factor[:k, :k], out=scored[:k, :k], where=factor[:k, :k] > 0.0)
    inside = _pairs_of_rows(sums, offsets)
    add_products(sums.alpha, rows, scored, products, rows)
    by_row = np.einsum("tl,tl->t", products[: inside.size], sums.ahead[1 : inside.size + 1])
    scores = np.add.reduceat(np.where(inside, by_row, 0.0), offsets[:-1])
    for i in np.flatnonzero(~sums.scaled):
        pairs = np.zeros((1, k, k))
        _add_log_pairs(sums, offsets, np.array([i]), np.ones(scores.size), pairs)
        scores[i] = np.sum(pairs[0] * table, where=pairs[0] > 0.0)
    return scores


def _pairs_of_rows(sums: SoftSums, offsets: Ints) -> Bools:
    """Whether each row has one after it, in an example that was not done on logarithms."""
    inside = np.repeat(sums.scaled, np.diff(offsets))
    inside[offsets[1:] - 1] = False
    return inside


def _add_log_pairs(sums: SoftSums, offsets: Ints, examples: Ints, weights: Array, out: Array) -> None:
    if examples.size:
        add_log_pairs(sums.alpha, sums.units, offsets, examples, weights, sums.means, out)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_pairs(first, second, rows, ends, weights, factors, out):  # type: ignore[no-untyped-def]
    """out[i, l, m] += factors[i, l, m] * sum_j weights[j] * first[j, l] * second[j + 1, m] over some rows j.

    Those of g end at ends[i]. There may be one table of factors for all.
    """
    width, k, after = factors.shape[1], out.shape[1], 0
    products = np.empty((min(PANEL, width), width))
    for i in range(ends.size):
        before, after = after, ends[i]
        whole = after - (after - before) % 4
        for start in range(0, width, PANEL):
            length = min(PANEL, width - start)
            for o in range(length):
                p = products[o]
                for m in range(width):
                    p[m] = 0.0
            for begin in range(before, whole, PANEL):
                end = min(begin + PANEL, whole)
                for o in range(0, length, TOGETHER):
                    p, q, r, s = products[o], products[o + 1], products[o + 2], products[o + 3]
                    l = start + o
                    for j in range(begin, end, 4):
                        a, b, c, d = first[rows[j]], first[rows[j + 1]], first[rows[j + 2]], first[rows[j + 3]]
                        w, x = second[rows[j] + 1], second[rows[j + 1] + 1]
                        y, z = second[rows[j + 2] + 1], second[rows[j + 3] + 1]
                        e, f, g, h = weights[rows[j]], weights[rows[j + 1]], weights[rows[j + 2]], weights[rows[j + 3]]
                        aw, ax, ay, az = e * a[l], f * b[l], g * c[l], h * d[l]
                        bw, bx, by, bz = e * a[l + 1], f * b[l + 1], g * c[l + 1], h * d[l + 1]
                        cw, cx, cy, cz = e * a[l + 2], f * b[l + 2], g * c[l + 2], h * d[l + 2]
                        dw, dx, dy, dz = e * a[l + 3], f * b[l + 3], g * c[l + 3], h * d[l + 3]
                        for m in range(width):
                            p[m] = p[m] + aw * w[m] + ax * x[m] + ay * y[m] + az * z[m]
                            q[m] = q[m] + bw * w[m] + bx * x[m] + by * y[m] + bz * z[m]
                            r[m] = r[m] + cw * w[m] + cx * x[m] + cy * y[m] + cz * z[m]
                            s[m] = s[m] + dw * w[m] + dx * x[m] + dy * y[m] + dz * z[m]
            for j in range(whole, after):
                vector, other = first[rows[j]], second[rows[j] + 1]
                for o in range(length):
                    one, p = weights[rows[j]] * vector[start + o], products[o]
                    for m in range(width):
                        p[m] = p[m] + one * other[m]
            for l in range(start, min(start + length, k)):
                p, factor, q = products[l - start], factors[min(i, len(factors) - 1), l], out[i, l]
                for m in range(k):
                    q[m] += p[m] * factor[m]
