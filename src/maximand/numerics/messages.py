"""Messages between the nodes of pairwise factor graphs.

Outputs y have a temperature and hidden nodes h, which are summed out inside, have another: the soft maximum over y of
the soft maximum over h. With the Bethe approximation of the entropies of y, and of h given y, its message from u to v
over an edge with table T is, up to a constant,

    m(x_v) = tau log sum_x exp(belief(x) / tau_u + (T(x, x_v) - n(x)) / tau),

where belief(x) = theta_u(x) + the sum of the messages to u, n is the message from v among them, tau_u the temperature
of u, and tau that of the edge: of y between two outputs, of h where an end is hidden. Where tau = tau_u this is

    m(x_v) = tau log sum_x exp((cavity(x) + T(x, x_v)) / tau),    cavity = belief - n,

sum-product, or max-product where tau = 0. Only from an output to a hidden node they differ: the mixed-product of Liu
and Ihler. There an output of temperature 0 sends T(x*, x_v), x* the best state of its belief. The largest entry of a
message is 0.
"""

import numpy as np
from numba import njit

from maximand.numerics.exponential import exponentials, logarithms
from maximand.numerics.wires import DEAD, FORBIDDEN

LOG_TINY = -667.0  # below it a sum of products may have lost terms
LONG = 16  # rows of so many states are worth vector instructions
BLOCK = 128  # so many slots go through a step together


@njit(cache=True, nogil=True, fastmath={"contract"})
def _multiply(vectors, matrices, which, start, n, out):  # type: ignore[no-untyped-def]
    """out[j] = vectors[j] @ matrices[which[start + j]], j < n; four long rows at a time, or four columns."""
    k = out.shape[1]
    whole, rest = k - k % 4, k % 4
    for j in range(n):
        f = which[start + j]
        if k >= LONG:
            for m in range(k):
                out[j, m] = 0.0
            for l in range(rest):
                a = vectors[j, l]
                for m in range(k):
                    out[j, m] += a * matrices[f, l, m]
            for l in range(rest, k, 4):
                a, b, c, d = vectors[j, l], vectors[j, l + 1], vectors[j, l + 2], vectors[j, l + 3]
                for m in range(k):
                    first = a * matrices[f, l, m] + b * matrices[f, l + 1, m]
                    out[j, m] += first + (c * matrices[f, l + 2, m] + d * matrices[f, l + 3, m])
            continue
        for m in range(0, whole, 4):
            p, q, r, s = 0.0, 0.0, 0.0, 0.0
            for l in range(k):
                a = vectors[j, l]
                p += a * matrices[f, l, m]
                q += a * matrices[f, l, m + 1]
                r += a * matrices[f, l, m + 2]
                s += a * matrices[f, l, m + 3]
            out[j, m], out[j, m + 1], out[j, m + 2], out[j, m + 3] = p, q, r, s
        for m in range(whole, k):
            p = 0.0
            for l in range(k):
                p += vectors[j, l] * matrices[f, l, m]
            out[j, m] = p


@njit(cache=True, nogil=True)
def _best_sums(vectors, shift, matrices, which, start, n, out):  # type: ignore[no-untyped-def]
    """out[j, m] = max_l vectors[shift + j, l] + matrices[which[start + j], l, m], j < n, in the same way."""
    k = out.shape[1]
    whole, rest = k - k % 4, k % 2
    for j in range(n):
        f = which[start + j]
        if k >= LONG:
            for m in range(k):
                out[j, m] = vectors[shift + j, 0] + matrices[f, 0, m]
            for l in range(rest, k, 2):
                a, b = vectors[shift + j, l], vectors[shift + j, l + 1]
                for m in range(k):
                    p, q, r = a + matrices[f, l, m], b + matrices[f, l + 1, m], out[j, m]
                    p = p if p > q else q
                    out[j, m] = p if p > r else r
            continue
        for m in range(0, whole, 4):
            p, q, r, s = -np.inf, -np.inf, -np.inf, -np.inf
            for l in range(k):
                a = vectors[shift + j, l]
                b, c = a + matrices[f, l, m], a + matrices[f, l, m + 1]
                d, e = a + matrices[f, l, m + 2], a + matrices[f, l, m + 3]
                p = b if b > p else p
                q = c if c > q else q
                r = d if d > r else r
                s = e if e > s else s
            out[j, m], out[j, m + 1], out[j, m + 2], out[j, m + 3] = p, q, r, s
        for m in range(whole, k):
            p = -np.inf
            for l in range(k):
                b = vectors[shift + j, l] + matrices[f, l, m]
                p = b if b > p else p
            out[j, m] = p


@njit(cache=True, nogil=True)
def write_cavities(nodes, begin, inbox, first, last, out, shift, tail):  # type: ignore[no-untyped-def]
    """Write theta + the other messages for every slot j of the nodes first:last, to out[j - shift].

    They are summed from both ends and nothing is subtracted, so that low scores take no digits from high ones.
    """
    k = nodes.shape[1]
    for u in range(first, last):
        start, stop = begin[u], begin[u + 1]
        if start == stop:
            continue
        for m in range(k):
            out[start - shift, m] = nodes[u, m]
            tail[m] = 0.0
        for j in range(start + 1, stop):
            for m in range(k):
                out[j - shift, m] = out[j - 1 - shift, m] + inbox[j - 1, m]
        for j in range(stop - 1, start, -1):
            for m in range(k):
                total = tail[m] + inbox[j, m]
                tail[m] = total
                out[j - 1 - shift, m] += total


@njit(cache=True, nogil=True, error_model="numpy")
def _soft_sum(cavity, top, table, side, m, temperature):  # type: ignore[no-untyped-def]
    """Return temperature * log sum_l exp((cavity[l] - top + T[l, m]) / temperature), the slow and safe way."""
    peak = FORBIDDEN
    for l in range(cavity.size):
        peak = max(peak, cavity[l] - top + (table[m, l] if side else table[l, m]))
    if peak <= DEAD:
        return FORBIDDEN
    total = 0.0
    for l in range(cavity.size):
        total += np.exp((cavity[l] - top + (table[m, l] if side else table[l, m]) - peak) / temperature)
    return peak + temperature * np.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _as_if_hidden(cavity, message, outer, inner):  # type: ignore[no-untyped-def]
    """Replace an output's cavity towards a hidden node by that with which a hidden node would send the same.

    This is inner * (belief / outer - message / inner), up to a constant; `outer` is the temperature of outputs, `inner`
    that of hidden nodes, both above 0, and `message` came from the hidden node.
    """
    highest = FORBIDDEN
    for l in range(cavity.size):
        highest = max(highest, cavity[l] + message[l])
    for l in range(cavity.size):
        belief = cavity[l] + message[l]
        cavity[l] = FORBIDDEN
        if belief > DEAD:
            cavity[l] = max((belief - highest) / outer * inner - message[l], FORBIDDEN)


@njit(cache=True, nogil=True)
def _send_best_row(cavity, message, table, out):  # type: ignore[no-untyped-def]
    """Write the row of the best state of an output's belief: what it sends to a hidden node where it is maximised."""
    best = 0
    for l in range(cavity.size):
        if cavity[l] + message[l] > cavity[best] + message[best]:
            best = l
    possible = cavity[best] + message[best] > DEAD
    for m in range(out.size):
        out[m] = table[best, m] if possible else FORBIDDEN


@njit(cache=True, nogil=True)
def _deliver(messages, tops, start, n, other, mirror, states, old, fresh, change, damping):  # type: ignore[no-untyped-def]
    """Write the n messages of the slots from start on, normalised and mixed with the old; return the largest change.

    A forbidden entry is not mixed. Where all entries are forbidden, they stay so.
    """
    keep, largest = 1.0 - damping, 0.0
    for j in range(n):
        n_states, at = states[other[start + j]], mirror[start + j]
        top = FORBIDDEN
        for m in range(n_states):
            top = messages[j, m] if messages[j, m] > top else top
        top = np.inf if tops[j] <= DEAD or top <= DEAD else top
        gap, peak = 0.0, FORBIDDEN
        for m in range(n_states):
            entry, before = messages[j, m] - top, old[at, m]
            entry = entry if entry > FORBIDDEN else FORBIDDEN
            one = abs(entry - before)
            gap = one if one > gap else gap
            mixed = keep * entry + damping * before
            entry = mixed if entry > DEAD and before > DEAD else entry
            peak = entry if entry > peak else peak
            fresh[at, m] = entry
        if damping > 0.0 and peak > DEAD:
            for m in range(n_states):
                fresh[at, m] = max(fresh[at, m] - peak, FORBIDDEN)
        change[at] = gap
        largest = gap if gap > largest else largest
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def send(wires, scores, room, inbox, fresh, change, plan, damping):  # type: ignore[no-untyped-def]
    """Send the messages of a plan, whose rows (first, last, start, stop) follow each other; return the largest change.

    A row sends from the slots start:stop, which belong to the nodes first:last, all of one temperature. The messages
    arrive in `fresh` at the mirror slots, with what they change in `change`.
    """
    begin, other, mirror, oriented = wires.begin, wires.other, wires.mirror, wires.oriented
    states, temperatures, hidden, nodes = scores.states, scores.temperatures, scores.hidden, scores.nodes
    factor, matrices, peaks = scores.factor, scores.weights, scores.peaks
    cavities, weights, sums, tail = room.cavities, room.weights, room.sums, room.tail
    tops, heats = room.tops, room.heats
    k = nodes.shape[1]
    largest = 0.0
    for row in range(plan.shape[0]):
        first, last, start, stop = plan[row, 0], plan[row, 1], plan[row, 2], plan[row, 3]
        base, n = begin[first], stop - start
        shift, own = start - base, temperatures[first]
        outputs = scores.mixed and not hidden[first]
        write_cavities(nodes, begin, inbox, first, last, cavities, base, tail)
        if own > 0.0:
            heats[:n] = own
            if outputs:
                for j in range(n):
                    v = other[start + j]
                    if hidden[v]:
                        heats[j] = temperatures[v]
                        _as_if_hidden(cavities[shift + j], inbox[start + j], own, heats[j])
            for j in range(n):
                top, inverse = FORBIDDEN, 1.0 / heats[j]
                for l in range(k):
                    top = cavities[shift + j, l] if cavities[shift + j, l] > top else top
                tops[j] = top
                for l in range(k):
                    weights[j, l] = (cavities[shift + j, l] - top) * inverse
            exponentials(room.flat[: n * k])
            _multiply(weights, matrices, factor, start, n, sums)
            logarithms(sums.reshape(sums.size)[: n * k])
            for j in range(n):
                f, heat = factor[start + j], heats[j]
                for m in range(k):
                    if sums[j, m] > LOG_TINY:
                        sums[j, m] = heat * sums[j, m] + peaks[f, m]
                    else:
                        t = oriented[start + j]
                        table = scores.tables[t // 2]
                        sums[j, m] = _soft_sum(cavities[shift + j], tops[j], table, t % 2, m, heat)
        else:
            tops[:n] = 0.0
            _best_sums(cavities, shift, matrices, factor, start, n, sums)
            if outputs:
                for j in range(n):
                    if hidden[other[start + j]]:
                        _send_best_row(cavities[shift + j], inbox[start + j], matrices[factor[start + j]], sums[j])
        gap = _deliver(sums, tops, start, n, other, mirror, states, inbox, fresh, change, damping)
        largest = gap if gap > largest else largest
    return largest
