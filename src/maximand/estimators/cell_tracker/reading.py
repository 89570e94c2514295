"""Movies in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from maximand.cards.data import Dataset, Format, Known
from maximand.cards.options import Options
from maximand.formats import FormatError, TrackedCells, read_challenge, read_detections
from maximand.support import Ints
from maximand.tasks.tracks.known import KnownLinks, of_table
from maximand.tasks.tracks.movies import columns_of, movie_of

MOVIE = "movie"  # the column that tells movies in one table apart


def read(source: str, known: Known, options: Options) -> Dataset:
    """Read a csv of detections; a column `movie` tells several movies apart, `track` and `parent` say what is known."""
    table = dict(read_detections(source, tracked=False).table)
    if not len(table["frame"]):
        raise FormatError(source, None, "no detections; the file is empty.")
    names = np.asarray(table.pop(MOVIE, np.zeros(len(table["frame"]))))
    movies = [names == name for name in dict.fromkeys(names.tolist())]
    X = [{name: np.asarray(values)[rows] for name, values in table.items()} for rows in movies]
    return Dataset(source, X, [_known(x, source) for x in X])


def read_folder(source: str, known: Known, options: Options) -> Dataset:
    """Read a folder of the Cell Tracking Challenge: one movie."""
    cells = read_challenge(Path(source))
    return Dataset(source, [cells.table], [_known(cells, source)])


def _known(x: Any, source: str) -> KnownLinks:
    """Return what a table says; nothing where it has no column `track`."""
    columns = columns_of(x, source)
    movie = movie_of(columns, source, None, ())
    return (
        of_table(x, movie) if isinstance(x, TrackedCells) or "track" in columns else KnownLinks.of(movie.n_detections)
    )


def recognises(source: str) -> bool:
    """Say whether the first line names a column `frame`."""
    from maximand.formats.sources import open_lines

    with open_lines(source) as lines:
        return "frame" in next(lines.rows(), "").split(",")


def ids_of(table: Any) -> Ints:
    """Return the numbers of detections in their frames."""
    return movie_of(columns_of(table, "X"), "X", None, ()).ids


FORMATS = (
    Format("cells", "detections with frame and position", read, (".csv",), recognises=recognises),
    Format(
        "challenge", "a folder of the Cell Tracking Challenge", read_folder, ("_GT/TRA", "_GT/TRA/", "_RES", "_RES/")
    ),
)
