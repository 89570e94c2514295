"""In which order messages are sent: all at once, from the leaves of a forest and back, or the largest change first."""

import numpy as np
from numba import njit

from maximand.numerics.copying import overwrite
from maximand.numerics.messages import BLOCK, send


@njit(cache=True, nogil=True)
def _write_row(row, first, last, start, stop):  # type: ignore[no-untyped-def]
    row[0], row[1], row[2], row[3] = first, last, start, stop


@njit(cache=True, nogil=True)
def plan_all(wires, temperatures, plan):  # type: ignore[no-untyped-def]
    """Plan to send every message once, in blocks of neighbouring nodes; return the number of rows."""
    n_rows, first, n = 0, np.int64(0), temperatures.size  # for a plain 0, _write_row would compile once more
    while first < n:
        last, most = first + 1, wires.begin[first] + BLOCK
        while last < n and temperatures[last] == temperatures[first] and wires.begin[last + 1] <= most:
            last += 1
        _write_row(plan[n_rows], first, last, wires.begin[first], wires.begin[last])
        n_rows, first = n_rows + 1, last
    return n_rows


@njit(cache=True, nogil=True)
def plan_sweep(wires, n, plan):  # type: ignore[no-untyped-def]
    """Plan to send from the leaves of a forest to its roots and back; return the number of rows."""
    for i in range(n):
        u = wires.order[i]
        up = wires.up[u]
        _write_row(plan[n - 1 - i], u, u + 1, up, up + 1 if up >= 0 else up)
        _write_row(plan[n + i], u, u + 1, wires.begin[u], wires.begin[u + 1])
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
    overwrite(tree[n_leaves : n_leaves + n_slots], change)
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
        overwrite(inbox[slot], fresh[slot])
        back = wires.mirror[slot]
        sender, receiver = wires.other[slot], wires.other[back]
        start, stop = wires.begin[receiver], wires.begin[receiver + 1]
        _write_row(follow[0], sender, sender + 1, back, back + 1)
        _write_row(follow[1], receiver, receiver + 1, start, stop)
        change[slot] = 0.0
        send(wires, scores, room, inbox, fresh, change, follow[0 if damping > 0.0 else 1 :], damping)
        _place(tree, slot, change[slot])
        for j in range(start, stop):
            _place(tree, wires.mirror[j], change[wires.mirror[j]])
    return tree[1] <= threshold
