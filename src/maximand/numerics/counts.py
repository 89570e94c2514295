"""Soft maxima over the sets of `least` to `most` labels, and over those of them that contradict an annotation.

The sum over sets of exp(score / temperature) is built label by label from the last to the first: what the labels from l
on add, given how many have been taken before and, where contradictions are asked for, whether there has been one. In
logarithms this is log(exp(taken) + exp(left)), and the chance that label l is taken in that state is its derivative,
1 / (1 + exp(left - taken)). The chances of the states, from the first label on, then give the marginals. O(k most).

A set of c labels scores sum_l max(score_l - tau, 0) + tau c less |score_l - tau| for each label that is on the wrong
side of tau. With tau 0, or where a bound decides the size of the best set the score of its last label, nothing is added
to that sum: the program runs on the losses, and those of the sets that matter are small whatever the scores.

A score of -inf forbids a label and one of +inf forces it; its score is left out of the value. Where no set is left the
value is -inf and the mean 0.
"""

import numpy as np
from numba import njit

from maximand.numerics.budget import count_infinities, finite_scores, largest
from maximand.numerics.exponential import exponentials, logarithms
from maximand.support import Array, Ints

IMPOSSIBLE = -1e300  # in place of -inf, so that no difference is undefined


@njit(cache=True, nogil=True)
def _soft_cube(scores, temperature, values, means):  # type: ignore[no-untyped-def]
    n, k = scores.shape
    for i in range(n):
        value = 0.0
        for l in range(k):
            x = scores[i, l]
            small = np.exp(-abs(x) / temperature)
            means[i, l] = (1.0 if x > 0.0 else small) / (1.0 + small)
            if x < np.inf:
                value += max(x, 0.0) + temperature * np.log1p(small)
        values[i] = value


@njit(cache=True, nogil=True)
def _tilt(scores, least, most, rest):  # type: ignore[no-untyped-def]
    """Return tau, the size of the best set, and its score without that of the forced labels."""
    size, forced = finite_scores(scores, rest)
    positive = 0
    for m in range(size):
        positive += rest[m] > 0.0
    count = min(max(positive, least - forced), most - forced)
    tau = largest(rest[:size], max(count, 1)) if count != positive else 0.0
    best = tau * count
    for m in range(size):
        best += max(rest[m] - tau, 0.0)
    return tau, forced + count, best


@njit(cache=True, nogil=True, error_model="numpy")
def _join(taken, left, joined, chances):  # type: ignore[no-untyped-def]
    """Write log(exp(taken) + exp(left)) and the share that exp(taken) has in it. Overwrites taken and left."""
    size = taken.size
    for c in range(size):
        chances[c] = -abs(taken[c] - left[c])
    exponentials(chances)
    for c in range(size):
        small, larger = chances[c], max(taken[c], left[c])
        chances[c] = (1.0 if taken[c] == larger else small) / (1.0 + small)
        taken[c] = larger
        left[c] = 1.0 + small
    logarithms(left)
    for c in range(size):
        joined[c] = taken[c] + left[c]


@njit(cache=True, nogil=True)
def _soft(scores, known, contradict, least, most, temperature, values, means):  # type: ignore[no-untyped-def]
    n, k = scores.shape
    step = 0 if least <= 0 and most >= k else 1
    top = step * min(most, k)
    rest = np.empty(k)
    taken, left = np.empty(top + 1), np.empty(top + 1)
    agreeing, differing = np.empty(top + 2), np.empty(top + 2)
    chances_agreeing, chances_differing = np.empty((k, top + 1)), np.empty((k, top + 1))
    for i in range(n):
        forced, allowed = count_infinities(scores[i])
        means[i, :] = 0.0
        if forced > most or allowed < least:
            values[i] = -np.inf
            continue
        tau, count, best = _tilt(scores[i], least, most, rest)
        agreeing[:] = IMPOSSIBLE
        differing[:] = IMPOSSIBLE
        for c in range(step * max(least, 0), top + 1):
            differing[c] = step * tau * (c - count) / temperature
        for l in range(k - 1, -1, -1):
            loss = (scores[i, l] - tau) / temperature
            take, leave = max(min(loss, 0.0), IMPOSSIBLE), max(min(-loss, 0.0), IMPOSSIBLE)
            size = min(step * l, top) + 1
            if contradict:
                after_taken = differing if known[i, l] == 0 else agreeing
                after_left = differing if known[i, l] == 1 else agreeing
                for c in range(size):
                    taken[c] = after_taken[c + step] + take
                    left[c] = after_left[c] + leave
                _join(taken[:size], left[:size], agreeing, chances_agreeing[l])
            for c in range(size):
                taken[c] = differing[c + step] + take
                left[c] = differing[c] + leave
            _join(taken[:size], left[:size], differing, chances_differing[l])
        total = agreeing[0] if contradict else differing[0]
        if total < 0.5 * IMPOSSIBLE:
            values[i] = -np.inf
            continue
        values[i] = best + temperature * total
        agreeing[:] = 0.0
        differing[:] = 0.0
        (agreeing if contradict else differing)[0] = 1.0
        for l in range(k):
            mean = 0.0
            for c in range(min(step * l, top), -1, -1):
                chance = differing[c] * chances_differing[l, c]
                mean += chance
                differing[c] -= chance
                differing[c + step] += chance
                if contradict:
                    chance = agreeing[c] * chances_agreeing[l, c]
                    other = agreeing[c] - chance
                    mean += chance
                    agreeing[c] = 0.0
                    (differing if known[i, l] == 1 else agreeing)[c] += other
                    (differing if known[i, l] == 0 else agreeing)[c + step] += chance
            means[i, l] = mean


@njit(cache=True, nogil=True)
def soft_subsets(scores: Array, least: int, most: int, temperature: float, values: Array, means: Array) -> None:
    """Write temperature * log sum over the sets of exp(score / temperature), and the chance of each label."""
    if least <= 0 and most >= scores.shape[1]:
        _soft_cube(scores, temperature, values, means)
    else:
        _soft(scores, np.empty((0, 0), dtype=np.int64), False, least, most, temperature, values, means)


@njit(cache=True, nogil=True)
def soft_contradictions(
    scores: Array, known: Ints, least: int, most: int, temperature: float, values: Array, means: Array
) -> None:
    """Write the soft maximum over the sets that contradict known[i] in at least one label, and the chances.

    A label is known to be present (1), to be absent (0), or not known (-1).
    """
    _soft(scores, known, True, least, most, temperature, values, means)
