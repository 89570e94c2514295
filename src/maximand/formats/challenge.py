"""Folders of the Cell Tracking Challenge: a table of tracks, and an image of labels for each frame."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from maximand.files.atomic import new_folder
from maximand.formats.errors import FormatError
from maximand.formats.extras import needed
from maximand.formats.regions import Images, frames_of, joined, measure_frame
from maximand.formats.sources import MAX_BYTES
from maximand.formats.tracked import TrackedCells, checked_lineage
from maximand.formats.tracking import Tracks, read_tracks, write_tracks
from maximand.lineage import Lineage
from maximand.support import Array, Bools, Ints

Folder = str | os.PathLike[str]
TRUTH, RESULT = ("man_track.txt", "man_track"), ("res_track.txt", "mask")  # a table, and the images beside it


def read_challenge(folder: Folder, raw: Folder | None = None, *, max_bytes: int = MAX_BYTES) -> TrackedCells:
    """Read man_track.txt with man_track000.tif, ..., or res_track.txt with mask000.tif, ....

    Rows come by frame and label, with the columns of `measure_cells`; `raw` is a folder of images t000.tif, ... for the
    intensity. A track may be absent from frames between its first and its last one. Its label is that in the images,
    so it is 1 or more, and 0 stands for no parent.
    """
    path, stem = _only(Path(folder))
    tracks = read_tracks(path, max_bytes=max_bytes)
    files = _files(Path(folder), stem)
    bright = {} if raw is None else _files(Path(raw), "t")
    tables = []
    for frame, file, image in _images(files):
        brightness = None
        if raw is not None:
            if frame not in bright:
                raise _error(raw, f"there is no image of frame {frame}.")
            brightness = _read_image(bright[frame])
            _check_shape(bright[frame], frame, brightness, file, image)
        tables.append(measure_frame(frame, image, brightness))
        there = tracks.labels[(tracks.begins <= frame) & (frame <= tracks.ends)]
        labels = tables[-1]["label"]
        for label in labels[~np.isin(labels, there)][:1]:
            raise _error(file, f"frame {frame} has label {label}, but {path.name} has no such track in this frame.")
    table = joined(tables)
    _check_ends(path, tracks, files, table)
    return TrackedCells({**table}, checked_lineage(os.fspath(path), table["frame"], table["label"], tracks.family))


def read_label_images(folder: Folder) -> dict[int, Ints]:
    """Read the label images of a folder, by frame: man_track000.tif, ... or mask000.tif, ...."""
    found = {stem: _files(Path(folder), stem, empty=True) for _, stem in (TRUTH, RESULT)}
    kinds = [files for files in found.values() if files]
    if len(kinds) != 1:
        raise _error(folder, f"there must be either man_track*.tif or mask*.tif, not {'both' if kinds else 'neither'}.")
    return {frame: image for frame, _, image in _images(kinds[0])}


def write_challenge(folder: Folder, lineage: Lineage, images: Images, labels: Ints, *, truth: bool = False) -> None:
    """Write res_track.txt and mask000.tif, ..., or what a true tracking is called; the folder must be new or empty.

    `images` are label images by frame, and `labels` say which label each detection has in that of its frame; what is no
    cell of the lineage is left out. A track that skips a frame goes on as its own only child, as the challenge wants.
    """
    for row in np.flatnonzero(np.bincount(lineage.links[:, 1], minlength=len(lineage.frames)) > 1)[:1]:
        raise ValueError(f"Row {row} in frame {lineage.frames[row]} is a merge, which this format cannot hold.")
    kept = lineage.plain & (np.diff(lineage.frames[lineage.links], axis=1)[:, 0] == 1)
    pieces = Lineage(lineage.frames, lineage.links[kept], lineage.false)
    parents = np.zeros(pieces.n_tracks, dtype=np.int64)
    earlier, later = pieces.tracks[lineage.links[~kept]].T
    parents[later - 1] = earlier
    frames = frames_of(images)
    for frame in lineage.frames[~np.isin(lineage.frames, frames)][:1]:
        raise ValueError(f"Frame {frame} has detections but no image; give one for each frame.")
    tifffile = needed("tifffile")
    name, stem = TRUTH if truth else RESULT
    digits = max(3, len(str(max(frames, default=0))))
    depth = np.uint16 if pieces.n_tracks < 1 << 16 else np.uint32
    with new_folder(folder) as part:
        for frame in frames:
            image = _renumbered(frame, images[frame], lineage.frames == frame, labels, pieces.tracks)
            tifffile.imwrite(part / f"{stem}{frame:0{digits}}.tif", image.astype(depth))
        write_tracks(Tracks(1 + np.arange(pieces.n_tracks), pieces.begins, pieces.ends, parents), part / name)


def _renumbered(frame: int, image: Ints, rows: Bools, labels: Ints, tracks: Ints) -> Ints:
    """Return an image with the tracks of the detections in place of their labels."""
    own, tracks = labels[rows], tracks[rows]
    for label in own[(tracks > 0) & ~np.isin(own, image)][:1]:
        raise ValueError(f"Frame {frame} has a detection with label {label}, but its image does not.")
    numbers = np.zeros(1 + max(int(image.max(initial=0)), int(own.max(initial=0))), dtype=np.int64)
    numbers[own] = tracks
    numbers[0] = 0
    return numbers[image]


def _check_ends(path: Path, tracks: Tracks, files: dict[int, Path], table: dict[str, Array | Ints]) -> None:
    """Refuse tracks that are not in the images where they begin or end."""
    present = set(zip(table["label"].tolist(), table["frame"].tolist(), strict=True))
    rows = zip(tracks.labels.tolist(), tracks.begins.tolist(), tracks.ends.tolist(), strict=True)
    for line, (label, *ends) in enumerate(rows, 1):
        for frame in ends:
            if (label, frame) not in present:
                why = f"{files[frame].name} has no such label" if frame in files else "there is no image of it"
                problem = f"track {label} begins or ends in frame {frame}, but {why}."
                raise FormatError(os.fspath(path), line, problem)


def _only(folder: Path) -> tuple[Path, str]:
    """Return the one table of a folder, and how its images are called."""
    found = [(folder / name, stem) for name, stem in (TRUTH, RESULT) if (folder / name).exists()]
    if len(found) != 1:
        raise _error(
            folder, f"there must be either man_track.txt or res_track.txt, not {'both' if found else 'neither'}."
        )
    return found[0]


def _files(folder: Path, stem: str, *, empty: bool = False) -> dict[int, Path]:
    """Return the images by the number in their names, which is the frame; none may be missing between others."""
    pattern = re.compile(re.escape(stem) + r"([0-9]{1,9})\.tiff?", re.IGNORECASE)
    files: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if match := pattern.fullmatch(path.name):
            frame = int(match[1])
            if frame in files:
                raise _error(path, f"frame {frame} is in {files[frame].name} too; keep one.")
            files[frame] = path
    if not files and not empty:
        raise _error(folder, f"there are no images {stem}000.tif, ....")
    for frame in range(min(files, default=0), max(files, default=0)):
        if frame not in files:
            raise _error(folder, f"frame {frame} is missing: there is no {stem}{frame:03}.tif.")
    return dict(sorted(files.items()))


def _images(files: dict[int, Path]) -> Iterator[tuple[int, Path, Ints]]:
    """Iterate over label images that have the same shape."""
    first: tuple[Path, Ints] | None = None
    for frame, path in files.items():
        image = _read_image(path)
        if image.dtype.kind not in "iu" or image.ndim not in (2, 3) or image.min(initial=0) < 0:
            raise _error(path, f"frame {frame} is no label image: whole numbers from 0 in two or three dimensions.")
        first = first or (path, image)
        _check_shape(path, frame, image, *first)
        yield frame, path, image


def _read_image(path: Path) -> Any:
    tifffile = needed("tifffile")
    try:
        return tifffile.imread(path)
    except (tifffile.TiffFileError, ValueError) as problem:
        raise _error(path, f"no image that can be read ({problem}).") from None


def _check_shape(path: Path, frame: int, image: Array, other: Path, model: Array) -> None:
    if image.shape != model.shape:
        raise _error(path, f"frame {frame} has the shape {image.shape}, but {other.name} has {model.shape}.")


def _error(path: Folder, problem: str) -> FormatError:
    return FormatError(os.fspath(path), None, problem)
