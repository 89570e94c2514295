"""Maxima and projections on the budget polytope: u in [0, 1]^k with least <= sum u <= most.

Its vertices are the sets of `least` to `most` labels. By proposition 3 of blondel2019 the projection is that onto the
cube where its sum is within the bounds, and else that onto sum u = m with m the bound it passes:

    u = clip(theta - tau, 0, 1)          (Euclidean),
    u = min(1, exp(theta - 1 - tau))     (entropic),

with tau such that the sum is m. A score of -inf makes its entry 0 and one of +inf makes it 1; an entry of 1 by force
counts in the sum and in the regularisation, but its score is left out of the value. Where more are forced than may be
or fewer allowed than must be, the value is -inf and the mean 0.
"""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite
from maximand.numerics.exponential import exponentials
from maximand.numerics.selection import count_infinities, finite_scores, largest
from maximand.support import Array

HUGE = 1e308
STEPS = 12  # of Newton's method before the breakpoints are searched
CORRECTIONS = 3  # steps that make up for the rounding of tau


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _clipped(rest, tau):  # type: ignore[no-untyped-def]
    """Return the sum of clip(rest - tau, 0, 1), how many are at 1 and how many are above 0."""
    total, at_one, above_zero = 0.0, 0.0, 0.0
    for m in range(rest.size):
        gap = rest[m] - tau
        total += min(max(gap, 0.0), 1.0)
        at_one += 1.0 if gap >= 1.0 else 0.0
        above_zero += 1.0 if gap > 0.0 else 0.0
    return total, at_one, above_zero


@njit(cache=True, nogil=True)
def _select_multiplier(rest, total):  # type: ignore[no-untyped-def]
    """Return tau with sum clip(rest - tau, 0, 1) = total, where 0 < total < size. Overwrites rest.

    The sum is linear in tau but at the breakpoints rest and rest - 1, around which the interval that holds tau closes.
    What is at 1, at 0 or strictly between throughout that interval is summed up and left out, so that each step sees
    the rest alone: linear time, as a selection takes.
    """
    low, high, tau = -np.inf, np.inf, 0.0
    size, at_one, between, sum_between = rest.size, 0.0, 0.0, 0.0
    while size > 0:
        x = rest[size // 2]
        tau = x if low < x < high else x - 1.0
        found, _, _ = _clipped(rest[:size], tau)
        found += at_one + (sum_between - between * tau)
        if found == total:
            return tau
        if found > total:
            low = tau
        else:
            high = tau
        kept = 0
        for m in range(size):
            x = rest[m]
            rest[kept] = x
            if x - 1.0 >= high:
                at_one += 1.0
            elif x >= high and x - 1.0 <= low:
                between += 1.0
                sum_between += x
            elif x > low:
                kept += 1
        size = kept
    return (at_one + sum_between - total) / between if between > 0.0 else tau


@njit(cache=True, nogil=True)
def _multiplier(scores, total, forced, allowed, rest):  # type: ignore[no-untyped-def]
    """Return tau with sum clip(scores - tau, 0, 1) = total.

    Newton's method solves the present piece of the sum, and has ended when it comes to one with as many at 1 and at 0;
    a few steps nearly always do. Else the breakpoints are searched.
    """
    if total == forced:
        return HUGE
    if total == allowed:
        return -HUGE
    tau, last_ones, last_positives = 0.0, -1.0, -1.0
    for _ in range(STEPS):
        found, ones, positives = _clipped(scores, tau)
        if found == total or (ones == last_ones and positives == last_positives):
            return tau
        if ones == positives:
            break
        tau += (found - total) / (positives - ones)
        last_ones, last_positives = ones, positives
    size, _ = finite_scores(scores, rest)
    return _select_multiplier(rest[:size], total - forced)


@njit(cache=True, nogil=True)
def _correction(gaps, total):  # type: ignore[no-untyped-def]
    """Return the small number to subtract so that sum clip(gaps, 0, 1) = total to rounding."""
    correction = 0.0
    for _ in range(CORRECTIONS):
        found, ones, positives = _clipped(gaps, correction)
        if abs(found - total) <= 1e-15 * total:
            break
        if found < total:  # those at 0 may rise, as those at 1 may fall
            positives = 0.0
            for l in range(gaps.size):
                positives += 1.0 if gaps[l] >= correction else 0.0
        else:
            ones = 0.0
            for l in range(gaps.size):
                ones += 1.0 if gaps[l] - correction > 1.0 else 0.0
        if positives == ones:
            break
        correction += (found - total) / (positives - ones)
    return correction


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _value(scores, point):  # type: ignore[no-untyped-def]
    total = 0.0
    for l in range(scores.size):
        total += point[l] * ((scores[l] if abs(scores[l]) < np.inf else 0.0) - 0.5 * point[l])
    return total


@njit(cache=True, nogil=True)
def project_euclidean(scores: Array, least: int, most: int, values: Array, means: Array) -> None:
    """Write to means[i] the u of largest scores[i] @ u - |u|^2 / 2, and to values[i] that maximum."""
    n, k = scores.shape
    rest = np.empty(k)
    for i in range(n):
        forced, allowed = count_infinities(scores[i])
        if forced > most or allowed < least:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        total, _, _ = _clipped(scores[i], 0.0)
        overwrite(means[i], scores[i])
        correction = 0.0
        if total > most or total < least:
            bound = most if total > most else least
            tau = _multiplier(scores[i], bound, forced, allowed, rest)
            for l in range(k):
                means[i, l] = scores[i, l] - tau
            correction = _correction(means[i], bound)
        for l in range(k):
            means[i, l] = min(max(means[i, l] - correction, 0.0), 1.0)
        values[i] = _value(scores[i], means[i])


@njit(cache=True, nogil=True)
def _entropic_threshold(rest, total, spare):  # type: ignore[no-untyped-def]
    """Return the largest score whose entry is not held at 1, where sum u = total. Overwrites rest.

    If it is x, with j above, then u = (total - j) exp(rest - x) / sum_{rest <= x} exp(rest - x) for the others. So x is
    not held if that sum is at least total - j, and then nor are those below: it is found by partitions around pivots.
    What is below those in question is kept as a sum of exponentials relative to the largest of them.
    """
    if total == 0:
        return HUGE
    if total == rest.size:
        return -HUGE
    size, above, staying, below = rest.size, 0, -np.inf, 0.0
    while size > 0:
        pivot = rest[size // 2]
        greater, less, equal = 0, 0, 0
        for m in range(size):
            x = rest[m]
            rest[greater] = x
            spare[less] = x
            greater += x > pivot
            less += x < pivot
            equal += x == pivot
        exponents = rest[greater : greater + less]
        for m in range(less):
            exponents[m] = spare[m] - pivot
        exponentials(exponents)
        weight = equal + exponents.sum() + (below * np.exp(staying - pivot) if below > 0.0 else 0.0)
        if total - above - greater <= weight:
            staying, below, size = pivot, weight, greater
        else:
            above += greater + equal
            overwrite(rest[:less], spare)
            size = less
    return staying


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _split(scores, top, exponents):  # type: ignore[no-untyped-def]
    """Return how many scores are above the top, and the sum of the exponents of the others."""
    above, total = 0, 0.0
    for l in range(scores.size):
        above += scores[l] > top
        total += 0.0 if scores[l] > top else exponents[l]
    return above, total


@njit(cache=True, nogil=True)
def _exponentiate(scores, top, exponents):  # type: ignore[no-untyped-def]
    """Write exp(min(scores - top, 0)); return how many scores are above the top, and the sum of the others."""
    for l in range(scores.size):
        exponents[l] = min(scores[l] - top, 0.0)
    exponentials(exponents)
    return _split(scores, top, exponents)


@njit(cache=True, nogil=True)
def project_entropic(scores: Array, least: int, most: int, values: Array, means: Array) -> None:
    """Write to means[i] the u of largest scores[i] @ u - sum u log u, and to values[i] that maximum."""
    n, k = scores.shape
    rest, spare = np.empty(k), np.empty(k)
    for i in range(n):
        size, forced = finite_scores(scores[i], rest)
        if forced > most or forced + size < least:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        top = 1.0
        above, total = _exponentiate(scores[i], top, means[i])
        room = total
        if above + total > most or above + total < least:
            bound = most if above + total > most else least
            top = _entropic_threshold(rest[:size], bound - forced, spare)
            above, total = _exponentiate(scores[i], top, means[i])
            room = np.float64(bound - above)
        value = room * (top + np.log(total / room)) if room > 0.0 else 0.0
        scale = room / total if room > 0.0 else 0.0
        for l in range(k):
            means[i, l] = 1.0 if scores[i, l] > top else scale * means[i, l]
            value += scores[i, l] if top < scores[i, l] < np.inf else 0.0
        values[i] = value


@njit(cache=True, nogil=True)
def best_subsets(scores: Array, least: int, most: int, values: Array, means: Array) -> None:
    """Write the set of largest score and that score: the labels of positive score, or the best `least` or `most`.

    Among labels of equal score the first are taken.
    """
    n, k = scores.shape
    rest = np.empty(k)
    for i in range(n):
        forced, allowed = count_infinities(scores[i])
        if forced > most or allowed < least:
            values[i] = -np.inf
            means[i, :] = 0.0
            continue
        positive = 0
        for l in range(k):
            positive += scores[i, l] > 0.0
        count = min(max(positive, least), most)
        threshold, ties = 0.0, 0
        if count == 0:
            threshold = np.inf
        elif count != positive:
            overwrite(rest, scores[i])
            threshold, ties = largest(rest, count), count
            for l in range(k):
                ties -= scores[i, l] > threshold
        value = 0.0
        for l in range(k):
            taken = scores[i, l] > threshold
            if ties > 0 and scores[i, l] == threshold:
                taken = True
                ties -= 1
            means[i, l] = 1.0 if taken else 0.0
            value += scores[i, l] if taken and scores[i, l] < np.inf else 0.0
        values[i] = value
