"""In which order to eliminate the nodes of graphs, and what each elimination works on."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from maximand.inference.structure import Structure
from maximand.numerics.elimination import Plans
from maximand.support import Bools, Ints


class TooWide(ValueError):
    """The tables of an elimination would be too large: `entries` or more, for the graph of that number."""

    def __init__(self, entries: float, graph: int = 0):
        super().__init__(entries, graph)
        self.entries, self.graph = entries, graph


def separators_of(graph: Structure, most_entries: float, inside: Bools | None = None) -> list[tuple[int, list[int]]]:
    """Return the nodes in the order of their elimination, each with its separator.

    Those `inside` come first. Among them, and among the others, comes first the node whose neighbours lack the fewest
    edges among them; then the one of the smallest table.
    """
    states = graph.states.tolist()
    late = [False] * len(states) if inside is None else (~inside).tolist()
    around: list[set[int]] = [set() for _ in states]
    for u, v in graph.edges.tolist():
        around[u].add(v)
        around[v].add(u)

    def priority(v: int) -> tuple[bool, int, int, int]:
        neighbours = around[v]
        missing = sum(len(neighbours) - 1 - len(neighbours & around[u]) for u in neighbours)
        return late[v], missing // 2, states[v] * prod(states[u] for u in neighbours), v

    current = [priority(v) for v in range(len(states))]
    heap = list(current)
    heapq.heapify(heap)
    steps: list[tuple[int, list[int]]] = []
    gone = [False] * len(states)
    entries = 0
    while heap:
        first = heapq.heappop(heap)
        v = first[-1]
        if gone[v] or first != current[v]:
            continue
        entries += first[2]
        if entries > most_entries:
            raise TooWide(entries)
        separator = sorted(around[v])
        gone[v] = True
        steps.append((v, separator))
        for u in separator:
            around[u].discard(v)
            around[u].update(w for w in separator if w != u)
        changed = set(separator)
        if first[1]:  # new edges change what is missing further away
            changed = changed.union(*(around[u] for u in separator))
        for u in changed:
            current[u] = priority(u)
            heapq.heappush(heap, current[u])
    return steps


def plans_of(graphs: Iterable[tuple[Structure, Bools | None]], width: int, most_entries: float) -> Plans:
    """Return the steps of eliminating all nodes of each graph, those that come first being given with it."""
    first_step, room, node, message, edge, start = [0], [], [], [], [], []
    first_separator, separator, first_factor, first_stride, stride = [0], [], [0], [0], []
    for number, (graph, inside) in enumerate(graphs):
        try:
            steps, states = separators_of(graph, most_entries, inside), graph.states.tolist()
        except TooWide as error:
            raise TooWide(error.entries, number) from None
        place = {v: p for p, (v, _) in enumerate(steps)}
        # A factor belongs to the step that eliminates the first node of its scope.
        factors: list[list[tuple[int, int, dict[int, int]]]] = [[] for _ in steps]
        for e, (u, v) in enumerate(graph.edges.tolist()):
            factors[min(place[u], place[v])].append((e, 0, {u: width, v: 1}))
        offset = 0
        for v, separated in steps:
            strides: dict[int, int] = {}
            message.append(offset)
            size = 1
            for u in separated:
                strides[u] = size
                size *= states[u]
            if separated:
                factors[min(place[u] for u in separated)].append((-1, offset, strides))
            offset += size
            node.append(v)
            separator += separated
            first_separator.append(len(separator))
        for (v, separated), listed in zip(steps, factors, strict=True):
            for e, begins, strides in listed:
                edge.append(e)
                start.append(begins)
                stride += [strides.get(u, 0) for u in (v, *separated)]
                first_stride.append(len(stride))
            first_factor.append(len(edge))
        room.append(offset)
        first_step.append(len(node))
    lists = (
        first_step, room, node, message, first_separator, separator, first_factor, edge, start, first_stride, stride,
    )  # fmt: skip
    return Plans(*(_array(entries) for entries in lists))


def side_by_side(listed: Sequence[Plans]) -> Plans:
    """Return the plans of several structures as one."""
    if len(listed) == 1:
        return listed[0]
    joined = Plans(*(np.concatenate(arrays) for arrays in zip(*listed, strict=True)))
    return joined._replace(
        first_step=_offsets(listed, "first_step", "node"),
        first_separator=_offsets(listed, "first_separator", "separator"),
        first_factor=_offsets(listed, "first_factor", "edge"),
        first_stride=_offsets(listed, "first_stride", "stride"),
    )


def _offsets(listed: Sequence[Plans], firsts: str, counted: str) -> Ints:
    """Return where the runs of all plans begin, which begin from 0 in each."""
    sizes = np.array([getattr(plan, counted).size for plan in listed])
    shifts = np.cumsum(sizes) - sizes
    begins = [getattr(plan, firsts)[:-1] + shift for plan, shift in zip(listed, shifts, strict=True)]
    return np.concatenate([*begins, [sizes.sum()]])


def _array(entries: list[int]) -> Ints:
    return np.array(entries, dtype=np.int64)
