"""Messages between the nodes of pairwise factor graphs.

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

from maximand.numerics.exponential import exponentials, logarithms
from maximand.support import Array, Ints

FORBIDDEN = -1e200
DEAD = -1e199  # nothing that is allowed scores below
LOG_TINY = -667.0  # below it a sum of products may have lost terms
LONG = 16  # rows of so many states are worth vector instructions
BLOCK = 128  # so many slots go through a step together


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


@njit(cache=True, nogil=True)
def connect(factors, s, wires):  # type: ignore[no-untyped-def]
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
def prepare(wires, scores, nodes, levels, n_levels, found, bits):  # type: ignore[no-untyped-def]
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
def send(wires, scores, room, inbox, fresh, change, plan, damping):  # type: ignore[no-untyped-def]
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
        write_cavities(nodes, begin, inbox, first, last, cavities, base, tail)
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
            logarithms(sums.reshape(sums.size)[: n * k])
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
def plan_all(wires, temperatures, plan):  # type: ignore[no-untyped-def]
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
def plan_sweep(wires, n, plan):  # type: ignore[no-untyped-def]
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
def chase(wires, scores, room, inbox, fresh, change, plan, damping, threshold, n_updates):  # type: ignore[no-untyped-def]
    """Accept the message with the largest pending change, again and again; return whether none is left."""
    n_slots = plan[-1, 3]
    send(wires, scores, room, inbox, fresh, change, plan, damping)
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
        send(wires, scores, room, inbox, fresh, change, follow[0 if damping > 0.0 else 1 :], damping)
        _place(tree, slot, change[slot])
        for j in range(start, stop):
            _place(tree, wires.mirror[j], change[wires.mirror[j]])
    return tree[1] <= threshold
