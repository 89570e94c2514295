"""What a graph must be: edges between its nodes, and tables for the types that these have."""

from __future__ import annotations

from typing import Any

import numpy as np

from maximand.support import Ints


def whole(numbers: Any, what: str) -> Ints:
    """Return whole numbers as an array."""
    try:
        array = np.asarray(numbers)
    except ValueError:
        raise ValueError(f"{what} differ in length; give as many numbers in each row.") from None
    if array.dtype.kind not in "iu" and not (array.dtype.kind == "f" and (array == np.floor(array)).all()):
        raise ValueError(f"{what} must be whole numbers.")
    return array.astype(np.int64)


def checked_edges(edges: Any, n_nodes: tuple[int, int], where: str, apart: bool = False) -> Ints:
    """Return edges as pairs of nodes, numbered below these two numbers; apart: as nodes of different types."""
    given = whole(edges, f"{where}: the edges")
    if given.size and (given.ndim != 2 or given.shape[1] != 2):
        raise ValueError(f"{where}: the edges have shape {given.shape}; give pairs of nodes, (n_edges, 2).")
    pairs = given.reshape(-1, 2)
    outside = (pairs < 0) | (pairs >= n_nodes)
    if outside.any():
        e, end = np.argwhere(outside)[0].tolist()
        nodes = f"{('first', 'second')[end]} nodes" if apart else "nodes"
        raise ValueError(
            f"{where}: edge {e} joins {pairs[e].tolist()} but the {nodes} are numbered 0 to {n_nodes[end] - 1}."
        )
    loops = (pairs[:, 0] == pairs[:, 1]) & (not apart)
    if loops.any():
        e = int(np.argmax(loops))
        raise ValueError(
            f"{where}: edge {e} joins node {pairs[e, 0]} with itself; drop it, and give its scores or features to the "
            "node."
        )
    alike = pairs if apart else np.sort(pairs, axis=1)
    _, first, inverse = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse.ravel()] != np.arange(len(pairs)))
    if again.size:
        e = int(again[0])
        raise ValueError(
            f"{where}: edge {e} joins {pairs[e].tolist()} like edge {int(first[inverse.ravel()[e]])}; keep one, with "
            "the sum of their scores or features."
        )
    return pairs


def checked_types(
    types: Any, table_types: Any, n_nodes: int, edges: Ints, tables: Ints, n_tables: int, where: str
) -> tuple[Ints | None, Ints | None]:
    """Check the types of nodes, and those that each table joins."""
    if types is None:
        return None, None
    types = whole(types, f"{where}: the types")
    if types.shape != (n_nodes,) or (types < 0).any():
        raise ValueError(f"{where}: give each of the {n_nodes} nodes the number of its type, from 0.")
    joined = np.full((n_tables, 2), -1)
    joined[tables] = types[edges]
    if table_types is not None:
        joined = whole(table_types, f"{where}: the types of tables").reshape(-1, 2)
    if len(joined) != n_tables or (joined < 0).any():
        table = int(np.argmax((joined < 0).any(axis=1))) if len(joined) == n_tables else len(joined)
        raise ValueError(f"{where}: table {table} has no edges; say in table_types which types of nodes it joins.")
    other = (joined[tables] != types[edges]).any(axis=1)
    if other.any():
        e = int(np.argmax(other))
        raise ValueError(
            f"{where}: edge {e} joins nodes of types {types[edges[e]].tolist()}, but its table {tables[e]} is for "
            f"types {joined[tables[e]].tolist()}; give it another table."
        )
    return types, joined
