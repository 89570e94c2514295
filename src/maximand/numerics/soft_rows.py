"""Soft maxima of rows of scores and a table.

    out[a, m] = temperature * log sum_l exp((rows[a, l] + table[l, m]) / temperature), the maximum over l where it is 0

All rows have a multiple of `LANES` entries, -inf beyond the labels. Sums are made of products of two exponentials, of
rows and of the table, each in relation to a largest one. A sum so small that it may have lost terms is made anew, of
its own terms, so that any range of scores will do.

Kernels pass these arrays on at every step, and single arrays are passed quickly. A table is an array [SCORES, label,
label on the other side], and room for rows on their way is one [SCORES, step, row, label]; both have more of the kind.
"""

import numpy as np

from maximand.numerics.exponential import exponentials, logarithms
from maximand.numerics.inner import inner
from maximand.numerics.products import LANES, TOGETHER, add_four_products

TINY = 1e-290  # a sum of products that is not above it may have lost terms

NOTHING = 50.0  # exponentials of minus this are lost beside 1, even many of them

SCORES = 0
# Of a table: exp((scores - peaks) / temperature), and the largest score of each column, in a first row of their own.
# And the most that a row, table[GAPS, other row, row], is anywhere above another.
FACTORS, PEAKS, GAPS = 1, 2, 3
# Of rows: exp((scores - tops) / temperature); these times the factors of the table; the largest score, at label 0.
WEIGHTS, TOTALS, TOPS = 1, 2, 3


@inner()
def new_table(k):  # type: ignore[no-untyped-def]
    """Return room for a table of k labels."""
    width = -(-k // LANES) * LANES
    table = np.zeros((4, width, width))
    table[SCORES] = -np.inf
    return table


@inner()
def new_room(n_steps, n_rows, k):  # type: ignore[no-untyped-def]
    """Return room for so many steps and rows."""
    room = np.zeros((4, n_steps, -(-n_rows // TOGETHER) * TOGETHER, -(-k // LANES) * LANES))
    room[SCORES] = -np.inf
    return room


@inner()
def prepare(table, transitions, between, turned, temperature):  # type: ignore[no-untyped-def]
    """Fill a table in with transitions, or with these turned round."""
    k, width = len(between), table.shape[1]
    for l in range(k):
        for m in range(k):
            table[SCORES, l, m] = transitions[m, l] + between[m, l] if turned else transitions[l, m] + between[l, m]
    if temperature == 0.0:
        return
    for m in range(k):
        peak = -np.inf
        for l in range(k):
            peak = max(peak, table[SCORES, l, m])
        table[PEAKS, 0, m] = peak if peak > -np.inf else 0.0
    for l in range(k):
        for m in range(width):
            table[FACTORS, l, m] = (table[SCORES, l, m] - table[PEAKS, 0, m]) / temperature
    exponentials(table.reshape(table.size)[width * width : (width + k) * width])


@inner()
def write_gaps(table, k):  # type: ignore[no-untyped-def]
    """Write by how much rows are above others at the most."""
    for b in range(k):
        for a in range(k):
            gap = -np.inf
            for m in range(k):
                if table[SCORES, a, m] > -np.inf:
                    gap = max(gap, table[SCORES, a, m] - table[SCORES, b, m])
            table[GAPS, b, a] = gap


@inner()
def list_rows(fronts, before, table, temperature, labels):  # type: ignore[no-untyped-def]
    """List labels a whose row table[a] + fronts[before, a] counts in a soft maximum over rows; return their number.

    None does that is everywhere so far below the row of the best label that sums do not feel it, in a maximum below it
    at all.
    """
    k, best = fronts.shape[1], 0
    for a in range(k):
        best = a if fronts[before, a] > fronts[before, best] else best
    n, top = 0, fronts[before, best]
    for a in range(k):
        one = fronts[before, a]
        labels[n] = a
        n += one > -np.inf and not one + table[GAPS, best, a] < top - NOTHING * temperature
    return n


@inner()
def keep_rows(fronts, before, rows, labels, n):  # type: ignore[no-untyped-def]
    """Move up the rows that count in a maximum of fronts[before, labels[r]] + rows[r], and return their number.

    Rows grow alike on their way, so that ever fewer do.
    """
    k, best, top, kept = fronts.shape[1], 0, -np.inf, 0
    for r in range(n):
        for m in range(k):
            one = fronts[before, labels[r]] + rows[r, m]
            if one > top:
                best, top = r, one
    front, reference = fronts[before, labels[best]], best
    for r in range(n):
        gap = -np.inf
        for m in range(k):
            if rows[r, m] > -np.inf:
                gap = max(gap, rows[r, m] - rows[reference, m])
        if r == best or not fronts[before, labels[r]] + gap < front:
            reference = kept if r == best else reference
            labels[kept] = labels[r]
            for m in range(k):
                rows[kept, m] = rows[r, m]
            kept += 1
    return kept


@inner(fastmath={"reassoc", "nnan", "nsz"})
def weigh(room, j, n, temperature):  # type: ignore[no-untyped-def]
    """Write the exponentials of the first n rows of step j."""
    if temperature == 0.0:
        return
    _, steps, height, width = room.shape
    inverse = 1.0 / temperature
    for a in range(n):
        top = -np.inf
        for l in range(width):
            top = max(top, room[SCORES, j, a, l])
        room[TOPS, j, a, 0] = top
        top = top if top > -np.inf else 0.0
        for l in range(width):
            room[WEIGHTS, j, a, l] = (room[SCORES, j, a, l] - top) * inverse
    begin = (WEIGHTS * steps + j) * height * width
    exponentials(room.reshape(room.size)[begin : begin + n * width])


@inner(fastmath={"nnan", "nsz"})
def enter(room, scores, t, table, temperature, labels, n, factors):  # type: ignore[no-untyped-def]
    """Begin with a row table[a] + scores[t] for each of n labels a: write these and their exponentials to step 0.

    All are made of those that the table has, and as many of scores.
    """
    k, width = scores.shape[1], room.shape[3]
    for r in range(n):
        a = labels[r]
        for m in range(k):
            room[SCORES, 0, r, m] = table[SCORES, a, m] + scores[t, m]
    if temperature == 0.0:
        return
    top = -np.inf
    for m in range(k):
        top = max(top, scores[t, m] + table[PEAKS, 0, m])
    for m in range(width):
        factors[m] = (scores[t, m] + table[PEAKS, 0, m] - top) / temperature if m < k and top > -np.inf else -np.inf
    exponentials(factors)
    for r in range(n):
        a = labels[r]
        room[TOPS, 0, r, 0] = top
        for m in range(width):
            room[WEIGHTS, 0, r, m] = table[FACTORS, a, m] * factors[m]


@inner()
def multiply(room, j, n, k, table, temperature):  # type: ignore[no-untyped-def]
    """Write the products of the first n rows of step j with the table; entries beyond the labels are 0."""
    if temperature > 0.0:
        _multiply(room[WEIGHTS, j], n, k, table[FACTORS], room[TOTALS, j])


@inner(fastmath={"contract"})
def _multiply(weights, n, k, factors, totals):  # type: ignore[no-untyped-def]
    width = factors.shape[1]
    if n == 1:
        a, p = weights[0], totals[0]
        for m in range(width):
            p[m] = 0.0
        for l in range(0, k, 4):
            w, x, y, z = factors[l], factors[l + 1], factors[l + 2], factors[l + 3]
            aw, ax, ay, az = a[l], a[l + 1], a[l + 2], a[l + 3]
            for m in range(width):
                p[m] = p[m] + aw * w[m] + ax * x[m] + ay * y[m] + az * z[m]
        return
    for begin in range(0, n, TOGETHER):
        a, b, c, d = weights[begin], weights[begin + 1], weights[begin + 2], weights[begin + 3]
        p, q, r, s = totals[begin], totals[begin + 1], totals[begin + 2], totals[begin + 3]
        for m in range(width):
            p[m] = q[m] = r[m] = s[m] = 0.0
        add_four_products(a, b, c, d, factors, 0, k, p, q, r, s)


@inner()
def _best_sums(row, k, table, out):  # type: ignore[no-untyped-def]
    for m in range(out.size):
        out[m] = -np.inf
    for l in range(0, k, 4):
        a, b, c, d = row[l], row[l + 1], row[l + 2], row[l + 3]
        w, x, y, z = table[l], table[l + 1], table[l + 2], table[l + 3]
        for m in range(out.size):
            p, q, r, s = a + w[m], b + x[m], c + y[m], d + z[m]
            p = p if p > q else q
            r = r if r > s else s
            p = p if p > r else r
            out[m] = p if p > out[m] else out[m]


@inner()
def soft_maximum(room, j, a, k, table, m, temperature):  # type: ignore[no-untyped-def]
    """Return one entry of the result, made of its own terms."""
    top = -np.inf
    for l in range(k):
        top = max(top, room[SCORES, j, a, l] + table[SCORES, l, m])
    if temperature == 0.0 or top == -np.inf:
        return top
    total = 0.0
    for l in range(k):
        below = (room[SCORES, j, a, l] + table[SCORES, l, m] - top) / temperature
        if below > -NOTHING:
            total += np.exp(below)
    return top + temperature * np.log(total)


@inner()
def finish(room, j, n, k, table, temperature, out):  # type: ignore[no-untyped-def]
    """Write the soft maxima of the first n rows of step j, given their products."""
    width = room.shape[3]
    if temperature == 0.0:
        for a in range(n):
            _best_sums(room[SCORES, j, a], k, table[SCORES], out[a])
        return
    least = np.inf
    for a in range(n):
        for m in range(width):
            out[a, m] = room[TOTALS, j, a, m]
        for m in range(k):
            least = min(least, out[a, m])
    logarithms(out.reshape(out.size)[: n * width])
    for a in range(n):
        top = room[TOPS, j, a, 0]
        for m in range(k):
            out[a, m] = top + table[PEAKS, 0, m] + temperature * out[a, m]
        for m in range(k, width):
            out[a, m] = -np.inf
    if not least > TINY:
        for a in range(n):
            for m in range(k):
                if not room[TOTALS, j, a, m] > TINY:
                    out[a, m] = soft_maximum(room, j, a, k, table, m, temperature)


@inner()
def best_of_rows(fronts, before, room, j, labels, n, table, temperature, factors, out):  # type: ignore[no-untyped-def]
    """out[0, m] = the largest of fronts[before, a] + the soft maximum at m of the row of label a at step j."""
    k, width = fronts.shape[1], room.shape[3]
    highest = -np.inf
    for r in range(n):
        highest = max(highest, fronts[before, labels[r]] + room[TOPS, j, r, 0])
    for m in range(width):
        out[0, m] = 0.0 if highest > -np.inf else -np.inf
    if highest == -np.inf:
        return
    for r in range(n):
        factors[r] = (fronts[before, labels[r]] + room[TOPS, j, r, 0] - highest) / temperature
    exponentials(factors[:n])
    for r in range(n):
        factor = factors[r]
        for m in range(width):
            one = factor * room[TOTALS, j, r, m]
            out[0, m] = one if one > out[0, m] else out[0, m]
    for m in range(width):
        factors[m] = out[0, m]
    logarithms(factors)
    for m in range(k):
        if out[0, m] > TINY:
            out[0, m] = highest + table[PEAKS, 0, m] + temperature * factors[m]
            continue
        out[0, m] = -np.inf
        for r in range(n):
            own = fronts[before, labels[r]] + soft_maximum(room, j, r, k, table, m, temperature)
            out[0, m] = max(out[0, m], own)
