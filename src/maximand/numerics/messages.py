"""Belief propagation on batches of pairwise factor graphs.

Every node v has a temperature tau_v >= 0. The message from u to v over an edge with table T is, up to a constant,

    m(x_v) = tau_u log sum_x exp((cavity(x) + T(x, x_v)) / tau_u)    where tau_u > 0,
    m(x_v) = max_x cavity(x) + T(x, x_v)                             where tau_u = tau_v = 0,
    m(x_v) = T(x*, x_v), x* the best state of u's belief             where tau_u = 0 < tau_v,

with belief(x) = theta_u(x) + the sum of the messages to u, and the cavity the same without the message from v. These
are sum-product, max-product and, where temperatures differ, the mixed-product of Liu and Ihler. The largest entry of a
message is 0.

Slots are the half edges of a graph, ordered by the node that they belong to: the slots of a node are its mailboxes.
Forbidden parts score FORBIDDEN, which swallows every finite score and needs no care with differences.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from maximand.numerics.exponential import LN2_HIGH, LN2_LOW, exponentials
from maximand.numerics.graphs import Factors, node_scores, table_scores
from maximand.support import Array, Bools, Ints

FORBIDDEN = -1e200
DEAD = -1e199  # nothing that is allowed scores below
LOG_TINY = -667.0  # below it a sum of products may have lost terms
LONG = 16  # rows of so many states are worth vector instructions
CALM = 10  # sweeps of a forest before messages are damped
BLOCK = 128  # so many slots go through a step together
# Bits of floating-point numbers: those of sqrt(1/2), of 2^52, of all fractions, and how far 1 is above sqrt(1/2).
SQRT_HALF_BITS = np.uint64(0x3FE6A09E667F3BCD)
TWO_TO_52_BITS = np.uint64(0x4330000000000000)
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
ABOVE_SQRT_HALF = np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
TWO_TO_52 = 2.0**52


class Wires(NamedTuple):
    """The slots of a structure. Slot s of u, the half of an edge to v, holds the message from v to u."""

    begin: Ints  # node u has the slots begin[u]:begin[u+1]
    other: Ints  # of each slot: the node at the other end
    mirror: Ints  # the slot of the other end
    oriented: Ints  # 2 * table where its node is on the left, 2 * table + 1 where it is on the right
    order: Ints  # nodes, parents first
    up: Ints  # of each node: its slot towards the parent, -1 at roots


class Scores(NamedTuple):
    """The scores of an example. Tables are turned to [state of sender, state of receiver]."""

    states: Ints  # of each node
    temperatures: Array
    mixed: bool  # whether the temperatures differ
    nodes: Array
    tables: Array
    factor: Ints  # of each slot: what a message from its node multiplies with
    weights: Array  # of each factor: the turned table T, or exp((T - column maxima) / temperature)
    peaks: Array  # of each factor: the column maxima


class Room(NamedTuple):
    """Scratch space for the slots of a block."""

    cavities: Array
    weights: Array
    flat: Array  # the weights in one row
    sums: Array
    tops: Array
    tail: Array
    bits: Ints


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def logarithms(rows, n):  # type: ignore[no-untyped-def]
    """Replace the positive and normal numbers of n rows by their logarithms, to the last digit; 0 becomes about -709.

    x = 2^e m with m from sqrt(1/2) to sqrt(2); log m = 2 artanh(s), s = (m - 1) / (m + 1), by its series in s^2 with
    the coefficients that minimise the largest error (Sun's fdlibm).
    """
    values = rows.reshape(rows.size)
    for i in range(n * rows.shape[1]):
        shifted = np.float64(values[i]).view(np.uint64) + ABOVE_SQRT_HALF
        power = np.uint64((shifted >> np.uint64(52)) | TWO_TO_52_BITS).view(np.float64) - (TWO_TO_52 + 1023.0)
        rest = np.uint64((shifted & MANTISSA) + SQRT_HALF_BITS).view(np.float64) - 1.0
        s = rest / (2.0 + rest)
        z = s * s
        w = z * z
        even = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
        odd = 0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)
        odd = z * (0.6666666666666735130 + w * odd)
        half = 0.5 * rest * rest
        values[i] = power * LN2_HIGH - ((half - (s * (half + (even + odd)) + power * LN2_LOW)) - rest)


@njit(cache=True, nogil=True)
def _connect(factors, s, wires):  # type: ignore[no-untyped-def]
    """Write the wires of structure s."""
    origin, n = factors.first_node[s], factors.first_node[s + 1] - factors.first_node[s]
    edges = factors.first_edge[s]
    start = factors.first_incident[origin]
    n_slots = factors.first_incident[origin + n] - start
    place = np.empty(n_slots, dtype=np.int64)
    for j in range(n_slots):
        place[factors.incident[start + j]] = j
    for u in range(n + 1):
        wires.begin[u] = factors.first_incident[origin + u] - start
    for j in range(n_slots):
        half = factors.incident[start + j]
        e, side = edges + half // 2, half % 2
        wires.other[j] = factors.left[e] if side else factors.right[e]
        wires.mirror[j] = place[half ^ 1]
        wires.oriented[j] = 2 * factors.table[e] + side
    wires.up[:n] = -2
    tail = 0
    for root in range(n):
        if wires.up[root] != -2:
            continue
        wires.up[root] = -1
        wires.order[tail] = root
        head, tail = tail, tail + 1
        while head < tail:
            u = wires.order[head]
            head += 1
            for j in range(wires.begin[u], wires.begin[u + 1]):
                v = wires.other[j]
                if wires.up[v] == -2:
                    wires.up[v] = wires.mirror[j]
                    wires.order[tail] = v
                    tail += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _prepare_factor(table, side, temperature, weights, peaks, bits):  # type: ignore[no-untyped-def]
    """Turn a table so that the sender's states come first, and exponentiate it; return its largest finite score."""
    k = peaks.size
    size = 0.0
    for l in range(k):
        for m in range(k):
            score = max(table[m, l] if side else table[l, m], FORBIDDEN)
            weights[l, m] = score
            if score > DEAD:
                size = max(size, abs(score))
    if temperature > 0.0:
        for m in range(k):
            peaks[m] = FORBIDDEN
            for l in range(k):
                peaks[m] = max(peaks[m], weights[l, m])
        for l in range(k):
            for m in range(k):
                weights[l, m] = (weights[l, m] - peaks[m]) / temperature
        exponentials(weights.reshape(k * k), bits[: k * k])
    return size


@njit(cache=True, nogil=True)
def _prepare(wires, scores, nodes, levels, n_levels, found, bits):  # type: ignore[no-untyped-def]
    """Write the scores of nodes and the factors; return the largest finite score.

    Each table is prepared once for each side and temperature that sends over it.
    """
    n, k = nodes.shape
    size, n_found = 0.0, 0
    found[: 2 * scores.tables.shape[0] * n_levels] = -1
    for u in range(n):
        for l in range(k):
            scores.nodes[u, l] = FORBIDDEN
            if l < scores.states[u] and nodes[u, l] > DEAD:
                scores.nodes[u, l] = nodes[u, l]
                size = max(size, abs(nodes[u, l]))
        for j in range(wires.begin[u], wires.begin[u + 1]):
            t = wires.oriented[j]
            key = t * n_levels + levels[u]
            if found[key] < 0:
                found[key] = n_found
                weights, peaks = scores.weights[n_found], scores.peaks[n_found]
                largest = _prepare_factor(scores.tables[t // 2], t % 2, scores.temperatures[u], weights, peaks, bits)
                size = max(size, largest)
                n_found += 1
            scores.factor[j] = found[key]
    return size


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
def _write_cavities(nodes, begin, inbox, first, last, out, shift, tail):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def _best_state(n_states, cavity, message):  # type: ignore[no-untyped-def]
    """Return the first of the best states of the belief cavity + message."""
    best = 0
    for l in range(1, n_states):
        if cavity[l] + message[l] > cavity[best] + message[best]:
            best = l
    return best


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
def _send(wires, scores, room, inbox, fresh, change, plan, damping):  # type: ignore[no-untyped-def]
    """Send the messages of a plan, whose rows (first, last, start, stop) follow each other; return the largest change.

    A row sends from the slots start:stop, which belong to the nodes first:last, all of one temperature. The messages
    arrive in `fresh` at the mirror slots, with what they change in `change`.
    """
    begin, other, mirror, oriented = wires.begin, wires.other, wires.mirror, wires.oriented
    states, temperatures, nodes = scores.states, scores.temperatures, scores.nodes
    factor, matrices, peaks = scores.factor, scores.weights, scores.peaks
    cavities, weights, sums, tops, tail = room.cavities, room.weights, room.sums, room.tops, room.tail
    k = nodes.shape[1]
    largest = 0.0
    for row in range(plan.shape[0]):
        first, last, start, stop = plan[row, 0], plan[row, 1], plan[row, 2], plan[row, 3]
        base, n = begin[first], stop - start
        shift, temperature = start - base, temperatures[first]
        _write_cavities(nodes, begin, inbox, first, last, cavities, base, tail)
        if temperature > 0.0:
            inverse = 1.0 / temperature
            for j in range(n):
                top = FORBIDDEN
                for l in range(k):
                    top = cavities[shift + j, l] if cavities[shift + j, l] > top else top
                tops[j] = top
                for l in range(k):
                    weights[j, l] = (cavities[shift + j, l] - top) * inverse
            exponentials(room.flat[: n * k], room.bits[: n * k])
            _multiply(weights, matrices, factor, start, n, sums)
            logarithms(sums, n)
            for j in range(n):
                f = factor[start + j]
                for m in range(k):
                    if sums[j, m] > LOG_TINY:
                        sums[j, m] = temperature * sums[j, m] + peaks[f, m]
                    else:
                        t = oriented[start + j]
                        table = scores.tables[t // 2]
                        sums[j, m] = _soft_sum(cavities[shift + j], tops[j], table, t % 2, m, temperature)
        else:
            tops[:n] = 0.0
            _best_sums(cavities, shift, matrices, factor, start, n, sums)
            if scores.mixed:
                for j in range(n):
                    v, u = other[start + j], other[mirror[start + j]]
                    if temperatures[v] > 0.0:
                        best = _best_state(states[u], cavities[shift + j], inbox[start + j])
                        f, top = factor[start + j], FORBIDDEN
                        for m in range(k):
                            top = max(top, matrices[f, best, m])
                        for m in range(k):
                            sums[j, m] = matrices[f, best, m] if top > DEAD else 0.0
        gap = _deliver(sums, tops, start, n, other, mirror, states, inbox, fresh, change, damping)
        largest = gap if gap > largest else largest
    return largest


@njit(cache=True, nogil=True)
def _write_row(plan, row, first, last, start, stop):  # type: ignore[no-untyped-def]
    plan[row, 0], plan[row, 1], plan[row, 2], plan[row, 3] = first, last, start, stop


@njit(cache=True, nogil=True)
def _plan_all(wires, temperatures, plan):  # type: ignore[no-untyped-def]
    """Plan to send every message once, in blocks of neighbouring nodes; return the number of rows."""
    n_rows, first, n = 0, 0, temperatures.size
    while first < n:
        last, most = first + 1, wires.begin[first] + BLOCK
        while last < n and temperatures[last] == temperatures[first] and wires.begin[last + 1] <= most:
            last += 1
        _write_row(plan, n_rows, first, last, wires.begin[first], wires.begin[last])
        n_rows, first = n_rows + 1, last
    return n_rows


@njit(cache=True, nogil=True)
def _plan_sweep(wires, n, plan):  # type: ignore[no-untyped-def]
    """Plan to send from the leaves of a forest to its roots and back; return the number of rows."""
    for i in range(n):
        u = wires.order[i]
        up = wires.up[u]
        _write_row(plan, n - 1 - i, u, u + 1, up, up + 1 if up >= 0 else up)
        _write_row(plan, n + i, u, u + 1, wires.begin[u], wires.begin[u + 1])
    return 2 * n


@njit(cache=True, nogil=True)
def _place(tree, slot, value):  # type: ignore[no-untyped-def]
    """Set a leaf of a tree in which every node holds the larger of its two children."""
    i = tree.size // 2 + slot
    tree[i] = value
    while i > 1:
        i //= 2
        larger = max(tree[2 * i], tree[2 * i + 1])
        if tree[i] == larger:
            return
        tree[i] = larger


@njit(cache=True, nogil=True)
def _chase(wires, scores, room, inbox, fresh, change, plan, damping, threshold, n_updates):  # type: ignore[no-untyped-def]
    """Accept the message with the largest pending change, again and again; return whether none is left."""
    n_slots = plan[-1, 3]
    _send(wires, scores, room, inbox, fresh, change, plan, damping)
    n_leaves = 1
    while n_leaves < n_slots:
        n_leaves *= 2
    tree = np.zeros(2 * n_leaves)
    tree[n_leaves : n_leaves + n_slots] = change[:n_slots]
    for i in range(n_leaves - 1, 0, -1):
        tree[i] = max(tree[2 * i], tree[2 * i + 1])
    # The accepted message may have more to go where it is damped; its receiver has new messages for its neighbours.
    follow = np.empty((2, 4), dtype=np.int64)
    for _ in range(n_updates):
        if tree[1] <= threshold:
            return True
        i = 1
        while i < n_leaves:
            i = 2 * i if tree[2 * i] == tree[i] else 2 * i + 1
        slot = i - n_leaves
        inbox[slot] = fresh[slot]
        back = wires.mirror[slot]
        sender, receiver = wires.other[slot], wires.other[back]
        start, stop = wires.begin[receiver], wires.begin[receiver + 1]
        _write_row(follow, 0, sender, sender + 1, back, back + 1)
        _write_row(follow, 1, receiver, receiver + 1, start, stop)
        change[slot] = 0.0
        _send(wires, scores, room, inbox, fresh, change, follow[0 if damping > 0.0 else 1 :], damping)
        _place(tree, slot, change[slot])
        for j in range(start, stop):
            _place(tree, wires.mirror[j], change[wires.mirror[j]])
    return tree[1] <= threshold


@njit(cache=True, nogil=True)
def _decode(wires, scores, inbox, codes):  # type: ignore[no-untyped-def]
    """Write the best state of every belief."""
    for u in range(codes.size):
        best, top = 0, -np.inf
        for l in range(scores.states[u]):
            belief = scores.nodes[u, l]
            for j in range(wires.begin[u], wires.begin[u + 1]):
                belief += inbox[j, l]
            if belief > top:
                best, top = l, belief
        codes[u] = best


@njit(cache=True, nogil=True)
def _decode_forest(wires, scores, inbox, codes):  # type: ignore[no-untyped-def]
    """Write the best state of every node given its parent's: among tied labellings this one fits together."""
    for i in range(codes.size):
        u = wires.order[i]
        best, top = 0, -np.inf
        for l in range(scores.states[u]):
            score = scores.nodes[u, l]
            for j in range(wires.begin[u], wires.begin[u + 1]):
                if j == wires.up[u]:
                    score += scores.weights[scores.factor[j], l, codes[wires.other[j]]]
                else:
                    score += inbox[j, l]
            if score > top:
                best, top = l, score
        codes[u] = best


@njit(cache=True, nogil=True, error_model="numpy")
def _soften(vector, temperature, code):  # type: ignore[no-untyped-def]
    """Replace scores by their softmax, or the indicator of `code` at temperature 0; return their soft maximum."""
    top = FORBIDDEN
    for m in range(vector.size):
        top = max(top, vector[m])
    if top <= DEAD or temperature == 0.0:
        vector[:] = 0.0
        vector[code] = 1.0
        return top
    total = 0.0
    for m in range(vector.size):
        vector[m] = np.exp((vector[m] - top) / temperature)
        total += vector[m]
    for m in range(vector.size):
        vector[m] /= total
    return top + temperature * np.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _soften_pair(near, far, table, turned, cold, hot, pair, outer, bits):  # type: ignore[no-untyped-def]
    """Write the belief of an edge, flat and colder end first; return its soft maximum, FORBIDDEN if nothing is left.

    The hotter end is summed out first, given the state of the colder. near and far are the cavities of the colder and
    the hotter end, cold and hot their (temperature, best state).
    """
    k = outer.size
    for l in range(k):
        top = FORBIDDEN
        for m in range(k):
            pair[l * k + m] = max(far[m] + (table[m, l] if turned else table[l, m]), FORBIDDEN)
            top = max(top, pair[l * k + m])
        outer[l] = near[l] + top
        for m in range(k):
            pair[l * k + m] -= top
    if hot[0] == 0.0:
        pair[:] = 0.0
        pair[cold[1] * k + hot[1]] = 1.0
        chosen = table[hot[1], cold[1]] if turned else table[cold[1], hot[1]]
        return outer.max() if chosen > DEAD else FORBIDDEN
    for i in range(k * k):
        pair[i] /= hot[0]
    exponentials(pair, bits)
    for l in range(k):
        total = 0.0
        for m in range(k):
            total += pair[l * k + m]
        for m in range(k):
            pair[l * k + m] /= total
        outer[l] += hot[0] * np.log(total)
    if cold[0] == 0.0 and outer[cold[1]] <= DEAD:
        return FORBIDDEN
    value = _soften(outer, cold[0], cold[1])
    for l in range(k):
        for m in range(k):
            pair[l * k + m] *= outer[l]
    return value


@njit(cache=True, nogil=True)
def _write_means(wires, scores, room, inbox, cavities, codes, node_mean, table_mean):  # type: ignore[no-untyped-def]
    """Write the beliefs of all nodes and edges and return Bethe's value, or -inf where nothing is left.

    The value is the sum over nodes of (1 - degree) F(node) + the sum over edges of F(edge), F the soft maximum of a
    belief. Sums are inside of maxima, and the hotter inside of the colder.
    """
    n, k = node_mean.shape
    _write_cavities(scores.nodes, wires.begin, inbox, 0, n, cavities, 0, room.tail)
    outer, pair, bits = np.empty(k), np.empty(k * k), room.bits[: k * k]
    value = 0.0
    for u in range(n):
        start, stop = wires.begin[u], wires.begin[u + 1]
        belief, here = node_mean[u], (scores.temperatures[u], codes[u])
        for l in range(k):
            belief[l] = scores.nodes[u, l]
            for j in range(start, stop):
                belief[l] += inbox[j, l]
        soft = _soften(belief, here[0], here[1])
        value += (1 - (stop - start)) * soft
        for j in range(start, stop):
            if wires.oriented[j] % 2 == 1 or soft <= DEAD:
                continue
            v, t = wires.other[j], wires.oriented[j] // 2
            near, far, there = cavities[j], cavities[wires.mirror[j]], (scores.temperatures[v], codes[v])
            turned = here[0] > there[0]
            if turned:
                soft = _soften_pair(far, near, scores.tables[t], True, there, here, pair, outer, bits)
            else:
                soft = _soften_pair(near, far, scores.tables[t], False, here, there, pair, outer, bits)
            value += soft
            for l in range(k):
                for m in range(k):
                    table_mean[t, l, m] += pair[m * k + l if turned else l * k + m]
        if soft <= DEAD:
            node_mean[:] = 0.0
            table_mean[:] = 0.0
            return -np.inf
    return value


@njit(cache=True, nogil=True)
def propagate(
    factors: Factors,
    theta: Array,
    temperatures: Array,
    levels: Ints,
    n_levels: int,
    forests: Bools,
    max_iterations: int,
    damping: float,
    tolerance: float,
    residual: bool,
    codes: Ints,
    values: Array,
    mean: Array,
    converged: Bools,
) -> None:
    """Propagate beliefs in every example and write the best state of every belief, and whether they converged.

    Nodes of equal temperature have equal levels, of n_levels. Where a node has a temperature above 0, also write
    Bethe's value and the beliefs; other examples have NaN and 0. A forest of one temperature is swept once, which is
    exact, and one of several temperatures until nothing changes, at most max_iterations times.
    """
    k = factors.width
    all_nodes, all_tables = node_scores(factors, theta), table_scores(factors, theta)
    mean[:] = 0.0
    node_means, table_means = node_scores(factors, mean), table_scores(factors, mean)
    most_nodes, most_slots, most_tables, block = 0, 0, 0, BLOCK
    for i in range(factors.which.size):
        s = factors.which[i]
        most_nodes = max(most_nodes, factors.first_node[s + 1] - factors.first_node[s])
        most_slots = max(most_slots, 2 * (factors.first_edge[s + 1] - factors.first_edge[s]))
        most_tables = max(most_tables, factors.table_offsets[i + 1] - factors.table_offsets[i])
        if i == 0 or s != factors.which[i - 1]:
            for v in range(factors.first_node[s], factors.first_node[s + 1]):
                block = max(block, factors.first_incident[v + 1] - factors.first_incident[v])
    wires = Wires(
        np.empty(most_nodes + 1, dtype=np.int64), np.empty(most_slots, dtype=np.int64),
        np.empty(most_slots, dtype=np.int64), np.empty(most_slots, dtype=np.int64),
        np.empty(most_nodes, dtype=np.int64), np.empty(most_nodes, dtype=np.int64),
    )  # fmt: skip
    flat, bits = np.empty(block * k), np.empty(max(block * k, k * k), dtype=np.int64)
    room = Room(
        np.empty((block, k)), flat.reshape(block, k), flat, np.empty((block, k)), np.empty(block), np.empty(k), bits
    )
    found = np.empty(2 * most_tables * n_levels, dtype=np.int64)
    n_factors = min(most_slots, found.size)
    own_nodes, factor = np.empty((most_nodes, k)), np.empty(most_slots, dtype=np.int64)
    weights, peaks = np.empty((n_factors, k, k)), np.empty((n_factors, k))
    inbox, fresh, change = np.empty((most_slots, k)), np.empty((most_slots, k)), np.empty(most_slots)
    plan = np.empty((2 * most_nodes, 4), dtype=np.int64)
    for i in range(factors.which.size):
        s = factors.which[i]
        if i == 0 or s != factors.which[i - 1]:
            _connect(factors, s, wires)
        origin, n = factors.first_node[s], factors.first_node[s + 1] - factors.first_node[s]
        nodes = slice(factors.node_offsets[i], factors.node_offsets[i + 1])
        tables = slice(factors.table_offsets[i], factors.table_offsets[i + 1])
        warmth = temperatures[nodes]
        coldest, hottest = warmth.min(), warmth.max()
        scores = Scores(
            factors.states[origin : origin + n], warmth, coldest < hottest, own_nodes, all_tables[tables], factor,
            weights, peaks,
        )  # fmt: skip
        size = _prepare(wires, scores, all_nodes[nodes], levels[nodes], n_levels, found, bits)
        threshold = tolerance * (size + hottest)
        inbox[: wires.begin[n]], fresh[: wires.begin[n]] = 0.0, 0.0
        converged[i] = False
        if not forests[i] and residual:
            rows = plan[: _plan_all(wires, warmth, plan)]
            n_updates = max_iterations * wires.begin[n]
            converged[i] = _chase(wires, scores, room, inbox, fresh, change, rows, damping, threshold, n_updates)
        elif not forests[i]:
            rows = plan[: _plan_all(wires, warmth, plan)]
            for _ in range(max_iterations):
                converged[i] = _send(wires, scores, room, inbox, fresh, change, rows, damping) <= threshold
                inbox, fresh = fresh, inbox
                if converged[i]:
                    break
        else:
            rows = plan[: _plan_sweep(wires, n, plan)]
            for sweep in range(max_iterations):
                share = damping if sweep >= CALM else 0.0
                largest = _send(wires, scores, room, inbox, inbox, change, rows, share)
                converged[i] = largest <= threshold or coldest == hottest
                if converged[i]:
                    break
        values[i] = np.nan
        if forests[i] and hottest == 0.0:
            _decode_forest(wires, scores, inbox, codes[nodes])
        else:
            _decode(wires, scores, inbox, codes[nodes])
        if hottest > 0.0:
            values[i] = _write_means(
                wires, scores, room, inbox, fresh, codes[nodes], node_means[nodes], table_means[tables]
            )
