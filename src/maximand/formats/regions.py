"""What a label image says of its cells: where they are, how large, how long and which way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from maximand.formats.tracked import AXES
from maximand.support import Array, Ints

Images = Mapping[int, Ints] | Sequence[Ints] | Ints  # by frame


def measure_cells(images: Images, raw: Images | None = None) -> dict[str, Array | Ints]:
    """Return a table of the cells of label images, by frame, and of the raw images where there are some.

    A row for each label but 0, by frame and label. The columns are frame, label, (z,) y, x, area (how many pixels),
    border (1 where the cell touches the border), eccentricity and orientation of the ellipse, or ellipsoid, with the
    same second moments (the angle from the axis y to its longest axis), and of raw images the mean intensity.
    """
    return joined([measure_frame(t, images[t], None if raw is None else raw[t]) for t in frames_of(images)])


def frames_of(images: Images) -> list[int]:
    """Return the frames that there are images of."""
    return sorted(images) if isinstance(images, Mapping) else list(range(len(images)))


def measure_frame(frame: int, image: Ints, raw: Array | None = None) -> dict[str, Array | Ints]:
    """Return the rows of one frame."""
    pixels = np.nonzero(image)
    labels, cells = np.unique(image[pixels], return_inverse=True)
    area = np.bincount(cells, minlength=len(labels)).astype(float)

    def mean(values: Array | Ints) -> Array:
        return np.bincount(cells, weights=values, minlength=len(labels)) / area

    centre = np.stack([mean(axis) for axis in pixels], axis=1)
    apart = np.stack(pixels, axis=1) - centre[cells]
    n = image.ndim
    moments = np.empty((len(labels), n, n))
    for i in range(n):
        for j in range(n):
            moments[:, i, j] = mean(apart[:, i] * apart[:, j])
    spread = np.maximum(np.linalg.eigvalsh(moments), 1e-12)  # of a single pixel there is none
    touching = np.any(
        [(axis == 0) | (axis == size - 1) for axis, size in zip(pixels, image.shape, strict=True)], axis=0
    )
    table: dict[str, Array | Ints] = {
        "frame": np.full(len(labels), frame),
        "label": labels.astype(np.int64),
        **dict(zip(AXES[-n:], centre.T, strict=True)),
        "area": area,
        "border": (mean(touching) > 0).astype(float),
        "eccentricity": np.sqrt(1.0 - spread[:, 0] / spread[:, -1]),
        "orientation": 0.5 * np.arctan2(2.0 * moments[:, -2, -1], moments[:, -2, -2] - moments[:, -1, -1]),
    }
    return table if raw is None else {**table, "intensity": mean(raw[pixels].astype(float))}


def joined(tables: list[dict[str, Array | Ints]]) -> dict[str, Array | Ints]:
    """Return the rows of several frames as one table."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]} if tables else {}
