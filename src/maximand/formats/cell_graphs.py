"""Trackings as other programs hold them: graphs of networkx, GEFF files, and napari's tracks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import nan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from maximand.files.atomic import new_folder
from maximand.formats.errors import FormatError
from maximand.formats.extras import needed
from maximand.formats.tracked import AXES, Column, TrackedCells, checked_lineage
from maximand.lineage import Lineage
from maximand.support import Array, Ints

TIMES = ("frame", "t")


def to_networkx(cells: TrackedCells, *, frame: str = "frame") -> Any:
    """Return a DiGraph whose nodes are rows, without those that are false, with the columns as attributes.

    A cell that divides has two edges that leave it; `frame` is what its frame is called.
    """
    graph = needed("networkx").DiGraph()
    names = [frame if name == "frame" else name for name in cells.table]
    columns = [column if isinstance(column, tuple) else column.tolist() for column in cells.table.values()]
    for row in np.flatnonzero(~cells.lineage.false).tolist():
        graph.add_node(row, **{name: column[row] for name, column in zip(names, columns, strict=True)})
    graph.add_edges_from(cells.lineage.links.tolist())
    return graph


def from_networkx(graph: Any, *, frame: str | None = None, name: str = "graph") -> TrackedCells:
    """Read a DiGraph; its attribute `frame`, or else `t`, is the frame, unless `frame` says otherwise.

    Rows are nodes, in their order. Attributes are columns: numbers, nan where a node has none, or text. Messages call
    the graph by `name`.
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise FormatError(name, None, "the graph must be directed, with one edge at most between two nodes: a DiGraph.")
    nodes = list(graph.nodes)
    if frame is None:
        frame = next((time for time in TIMES if nodes and time in graph.nodes[nodes[0]]), TIMES[0])
    frames = np.empty(len(nodes), dtype=np.int64)
    for i, node in enumerate(nodes):
        value = graph.nodes[node].get(frame)
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value).is_integer():
            raise FormatError(name, None, f"node {node!r} has the {frame} {value!r}; each needs a whole number.")
        frames[i] = float(value)
    row = {node: i for i, node in enumerate(nodes)}
    links = np.array([(row[source], row[target]) for source, target in graph.edges], dtype=np.int64).reshape(-1, 2)
    for earlier, later in links[frames[links[:, 0]] >= frames[links[:, 1]]][:1]:
        raise FormatError(
            name,
            None,
            f"the edge from node {nodes[earlier]!r} in frame {frames[earlier]} to node {nodes[later]!r} in frame "
            f"{frames[later]} does not lead to a later frame.",
        )
    others = dict.fromkeys(key for node in nodes for key in graph.nodes[node] if key != frame)
    table: dict[str, Column] = {"frame": frames}
    table |= {str(key): _column([graph.nodes[node].get(key) for node in nodes]) for key in others}
    return TrackedCells(table, Lineage.of(frames, links))


def _column(values: list[Any]) -> Column:
    if all(value is None or isinstance(value, Real) for value in values):
        return np.array([nan if value is None else float(value) for value in values])
    return tuple("" if value is None else str(value) for value in values)


def write_geff(cells: TrackedCells, folder: str | os.PathLike[str]) -> None:
    """Write a GEFF folder; its axes are t and those of the centres of cells. It must be new or empty."""
    axes = cells.axes
    geff, graph = needed("geff"), to_networkx(cells, frame="t")
    with new_folder(folder) as part:
        kinds = ["time", *("space" for _ in axes)]
        geff.write(graph, os.fspath(part), axis_names=["t", *axes], axis_types=kinds, overwrite=True)


def read_geff(folder: str | os.PathLike[str]) -> TrackedCells:
    """Read a GEFF folder; the frame is the axis of time, and the axes of space are called (z,) y and x."""
    geff, name = needed("geff"), os.fspath(folder)
    try:
        graph, metadata = geff.read(name, backend="networkx")
    except (ValueError, KeyError, OSError) as problem:
        raise FormatError(name, None, f"no GEFF folder that can be read ({problem}).") from None
    axes = metadata.axes or []
    times = [axis.name for axis in axes if axis.type == "time"]
    cells = from_networkx(graph, frame=times[0] if times else None, name=name)
    places = [axis.name for axis in axes if axis.type == "space"]
    renamed = dict(zip(places, AXES[-len(places) :], strict=True)) if 0 < len(places) <= len(AXES) else {}
    return TrackedCells({renamed.get(key, key): column for key, column in cells.table.items()}, cells.lineage)


def to_napari(cells: TrackedCells) -> tuple[Array, dict[int, list[int]]]:
    """Return napari's tracks: rows of track, frame, (z,) y and x, by track and frame, and the parents of tracks."""
    lineage = cells.lineage
    places = [np.asarray(cells.table[axis], dtype=float) for axis in cells.axes]
    data = np.stack([lineage.tracks, lineage.frames, *places], axis=1)
    graph: dict[int, list[int]] = {}
    for parent, child in lineage.tracks[lineage.links[~lineage.plain]].tolist():
        graph.setdefault(child, []).append(parent)
    return data[np.lexsort((lineage.frames, lineage.tracks))][lineage.false.sum() :], graph


def from_napari(data: ArrayLike, graph: Mapping[int, int | Sequence[int]] | None = None) -> TrackedCells:
    """Read napari's tracks, and the parent or parents of tracks; the column `track` keeps their numbers."""
    data = np.asarray(data, dtype=float)
    if data.ndim != 2 or data.shape[1] not in (4, 5) or not np.isfinite(data).all():
        raise FormatError("tracks", None, "the tracks must be rows of finite numbers: track, frame, (z,) y and x.")
    for row in np.flatnonzero((data[:, :2] != np.floor(data[:, :2])).any(axis=1) | (data[:, 0] < 0))[:1]:
        raise FormatError(
            "tracks", None, f"row {row} has track {data[row, 0]:g} in frame {data[row, 1]:g}; both are whole numbers."
        )
    tracks, frames = data[:, :2].astype(np.int64).T
    places: dict[str, Ints | Array] = dict(zip(AXES[5 - data.shape[1] :], data[:, 2:].T, strict=True))
    return TrackedCells({"frame": frames, "track": tracks, **places}, checked_lineage("tracks", frames, tracks, graph))
