"""Minimum cuts.

A network has an excess for each node, positive where it is a source and negative where it is a sink, and arcs with
capacities. A cut splits the nodes into a source side and a sink side; it pays for every arc from the source side to the
sink side, for every source on the sink side and for every sink on the source side. Push-relabel (Goldberg and Tarjan
1988) moves excess along arcs with capacity left, always to a node that may be nearer to a sink, until none of it can
get to a sink. The smallest source side of any minimum cut is then what the sources that are left can reach.

Both kernels change the excess and the capacities; what they leave is the same problem, moved by a constant.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from maximand.support import Array, Bools, Ints

MOST_NODES = 64  # of a network whose sets of nodes are the bits of a word
PATIENCE = 3  # looks at every arc, on average, between two measurements of all distances


@intrinsic
def _lowest(context: Any, word: Any) -> Any:
    """Return the position of the lowest bit of a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def _next_to(nodes, arcs):  # type: ignore[no-untyped-def]
    """Return the union of arcs[p] over a set of nodes p."""
    reached = np.uint64(0)
    while nodes != np.uint64(0):
        reached |= arcs[_lowest(nodes)]
        nodes &= nodes - np.uint64(1)
    return reached


@njit(cache=True, nogil=True)
def cut_small(n: int, capacity: Array, excess: Array, ahead: Ints, behind: Ints, level: Ints) -> Any:
    """Return the source side of a network of at most MOST_NODES nodes, as the bits of a word.

    capacity[p, q] is that of the arc from p to q, ahead[p] the set of all q with capacity[p, q] > 0, behind[q] that of
    all p; level is for work. Other capacities are read only against an arc. Each round sorts the nodes into levels by
    their distance to the sinks; then excess goes down, from the highest level to the lowest. What is left in a node
    has used up the arcs downwards, so that the node is further away in the next round.
    """
    one, none = np.uint64(1), np.uint64(0)
    sources = none
    for p in range(n):
        if excess[p] > 0.0:
            sources |= one << np.uint64(p)
    while True:
        frontier = none
        for p in range(n):
            if excess[p] < 0.0:
                frontier |= one << np.uint64(p)
        seen, depth = frontier, 0
        while frontier != none:
            level[depth] = frontier
            depth += 1
            frontier = _next_to(frontier, behind) & ~seen
            seen |= frontier
        if sources & seen == none:
            break
        for d in range(depth - 1, 0, -1):
            down, waiting = level[d - 1], level[d] & sources
            while waiting != none:
                p = _lowest(waiting)  # type: ignore[call-arg]
                waiting &= waiting - one
                left = excess[p]
                arcs = ahead[p] & down
                while arcs != none and left > 0.0:
                    q = _lowest(arcs)
                    arcs &= arcs - one
                    room = capacity[p, q]
                    pushed = min(left, room)
                    capacity[p, q] = room - pushed
                    capacity[q, p] += pushed
                    ahead[q] |= one << p
                    behind[p] |= one << q
                    if pushed == room:
                        ahead[p] &= ~(one << q)
                        behind[q] &= ~(one << p)
                    left -= pushed
                    excess[q] += pushed
                    if excess[q] > 0.0:
                        sources |= one << q
                excess[p] = left
                if not left > 0.0:
                    sources &= ~(one << p)
    side, frontier = sources, sources
    while frontier != none:
        frontier = _next_to(frontier, ahead) & ~side
        side |= frontier
    return side


class Network(NamedTuple):
    """Memory for a network that is kept as lists of arcs; those that leave node p are first[p]:first[p+1]."""

    first: Ints
    head: Ints  # of each arc: where it leads
    twin: Ints  # and the arc back
    capacity: Array
    excess: Array
    side: Bools  # the answer: whether a node is on the source side
    level: Ints  # of each node: at most its distance to the sinks; the number of nodes where it has no way there
    at_level: Ints  # how many nodes are at a level
    queue: Ints
    order: Ints


@njit(cache=True, nogil=True)
def network(n, n_arcs):  # type: ignore[no-untyped-def]
    """Return memory for networks of at most that many nodes and arcs."""
    return Network(
        np.zeros(n + 1, np.int64), np.empty(n_arcs, np.uint32), np.empty(n_arcs, np.uint32), np.empty(n_arcs),
        np.empty(n), np.empty(n, np.bool_), np.empty(n, np.int32), np.empty(n + 1, np.int32), np.empty(n, np.uint32),
        np.empty(n + 1, np.uint32),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _measure(n, net):  # type: ignore[no-untyped-def]
    """Set every level to the distance from the sinks."""
    first, head, twin, capacity, excess, _, level, at_level, _, order = net
    count = 0
    for p in range(n):
        sink = excess[p] < 0.0
        level[p] = 0 if sink else n
        order[count] = p
        count += sink
    place = 0
    while place < count:
        q = order[place]
        place += 1
        for a in range(first[q], first[q + 1]):
            p = head[a]
            new = (level[p] == n) & (capacity[twin[a]] > 0.0)
            order[count] = p
            count += new
            level[p] = level[q] + 1 if new else level[p]
    for d in range(n + 1):
        at_level[d] = 0
    for p in range(n):
        at_level[level[p]] += 1


@njit(cache=True, nogil=True)
def _relabel(p, new, n, net):  # type: ignore[no-untyped-def]
    """Set the level of a node."""
    level, at_level = net.level, net.at_level
    old, new = level[p], min(new, n)
    level[p] = new
    at_level[old] -= 1
    at_level[new] += 1
    # Arcs go down by one level at most: above an empty level there is no way to the sinks.
    if at_level[old] == 0:
        for q in range(n):
            if old < level[q] < n:
                at_level[level[q]] -= 1
                at_level[n] += 1
                level[q] = n


@njit(cache=True, nogil=True)
def cut_large(n: int, net: Network) -> None:
    """Write the source side of a network of n nodes.

    All levels begin at 0 and nodes wait in a queue, so the work stays near the sources: few sources are cut fast.
    """
    first, head, twin, capacity, excess, side, level, at_level, queue, order = net
    front, count, work = 0, 0, 0
    for p in range(n):
        level[p] = 0
        at_level[p + 1] = 0
    at_level[0] = n
    for p in range(n):
        if excess[p] > 0.0:
            queue[count] = p
            count += 1
    while count > 0:
        if work > PATIENCE * first[n]:
            _measure(n, net)
            work = 0
        p = queue[front]
        front = front + 1 if front + 1 < n else 0
        count -= 1
        left = excess[p]
        while left > 0.0 and level[p] < n:
            work += first[p + 1] - first[p]
            down, low = level[p] - 1, n
            for a in range(first[p], first[p + 1]):
                room = capacity[a]
                if room == 0.0:
                    continue
                q = head[a]
                if level[q] != down:
                    low = min(low, level[q])
                    continue
                pushed = min(left, room)
                capacity[a] = room - pushed
                capacity[twin[a]] += pushed
                left -= pushed
                before = excess[q]
                excess[q] = before + pushed
                if before <= 0.0 and excess[q] > 0.0:
                    place = front + count
                    queue[place if place < n else place - n] = q
                    count += 1
                if left == 0.0:
                    break
            if left > 0.0:
                _relabel(p, low + 1, n, net)
        excess[p] = left

    for p in range(n):
        side[p] = excess[p] > 0.0
        if side[p]:
            order[count] = p
            count += 1
    while count > 0:
        count -= 1
        p = order[count]
        for a in range(first[p], first[p + 1]):
            q = head[a]
            if capacity[a] > 0.0 and not side[q]:
                side[q] = True
                order[count] = q
                count += 1
