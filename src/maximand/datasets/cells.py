"""Made-up populations of cells that move, divide and die, as a microscope sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.spatial import cKDTree

from maximand.lineage import Lineage
from maximand.support import Array, Bools, Ints

AXES = ("z", "y", "x")
OF_TABLE = ("area", "intensity", "eccentricity", "orientation")


def simulate_cells(
    n_frames: int = 40,
    n_cells: int = 60,
    *,
    shape: Sequence[float] = (256, 256),
    division: float = 0.02,
    speed: float = 4.0,
    persistence: float = 0.7,
    radius: float = 8.0,
    missed: float = 0.02,
    false: float = 0.02,
    noise: float = 0.5,
    random_state: int = 0,
) -> tuple[dict[str, Ints | Array], Lineage]:
    """Return a table of detections, by column, and who becomes whom.

    The columns are frame, (z,) y, x, area (in three dimensions the volume), intensity, eccentricity and orientation,
    the angle from the axis y to the longest axis of the cell. Rows come frame by frame, within a frame in random order.

    A cell moves by a persistent random walk and pushes others away. It divides with a chance that grows with its size,
    and is round and bright in the frame before; its daughters have half of its size each, lie side by side along its
    longest axis, and grow. Cells die as often as they divide once there are as many as in the first frame. What is
    seen is a window of a larger field, so cells enter and leave it; one that comes back is new. A cell that is missed
    leaves a link over two frames or more; one that is about to divide is not missed.

    Parameters
    ----------
    n_frames, n_cells : int
        How many frames, and about how many cells in each.
    shape : (height, width) or (depth, height, width)
    division : float
        The share of the cells that divide from one frame to the next.
    speed, persistence : float
        The length of a step along each axis, and the share of the velocity that is kept from step to step.
    radius : float
        That of a cell of mean size.
    missed, false : float
        The share of cells that are not detected, and detections that are no cells for each one that is.
    noise : float
        The standard error of a position; the logarithms of area and intensity, eccentricity and orientation have a
        tenth of it.
    """
    rng = np.random.default_rng(random_state)
    size = np.array(shape, dtype=float)
    margin = 3.0 * (radius + speed)
    n_field = round(n_cells * float(np.prod(1.0 + 2.0 * margin / size)))
    cells = _Cells.random(n_field, -margin, size + margin, radius, speed, rng)
    frames: list[_Cells] = []
    links: list[Ints] = []
    wrong: list[Bools] = []
    n_rows = 0
    for frame in range(n_frames):
        if frame:
            cells = cells.moved(speed, persistence, radius, rng).inside(-margin, size + margin)
        chances = division * len(cells.area) * cells.area**2 / (cells.area**2).sum()
        dividing = rng.random(len(chances)) < chances
        seen = np.all((cells.place >= 0.0) & (cells.place <= size - 1.0), axis=1)
        cells.row[~seen] = -1
        found = np.flatnonzero(seen & (dividing | (rng.random(len(seen)) >= missed)))
        n_false = rng.poisson(false * len(found))
        others = _Cells.random(n_false, 0.0, size - 1.0, 0.7 * radius, speed, rng)
        detected = cells.mitotic(dividing).take(found).joined(others).measured(noise, rng)
        order = rng.permutation(len(found) + n_false)
        rows = n_rows + np.argsort(order)[: len(found)]
        linked = cells.row[found] >= 0
        links.append(np.stack([cells.row[found][linked], rows[linked]], axis=1))
        cells.row[found] = rows
        frames.append(detected.take(order))
        wrong.append(order >= len(found))
        n_rows += len(order)
        dying = ~dividing & (rng.random(len(dividing)) < division * len(dividing) / n_field)
        cells = cells.take(~dividing & ~dying).joined(cells.take(dividing).daughters(radius, rng))
    table: dict[str, Ints | Array] = {"frame": np.repeat(np.arange(n_frames), [len(seen.area) for seen in frames])}
    places = np.clip(np.concatenate([seen.place for seen in frames]), 0.0, size - 1.0)
    table |= dict(zip(AXES[-size.size :], places.T, strict=True))
    table |= {name: np.concatenate([getattr(seen, name) for seen in frames]) for name in OF_TABLE}
    return table, Lineage.of(table["frame"], np.concatenate(links), np.concatenate(wrong))


def draw_cells(table: Mapping[str, Ints | Array], shape: Sequence[int], labels: Ints | None = None) -> Ints:
    """Return a label image of each frame: ellipses as the table has them, 0 between them.

    A label is the number of the detection in its frame, from 1, or what `labels` has for each row; those with 0 are not
    drawn. Where cells overlap, the one whose centre is nearer, by its own axes, is in front.
    """
    frames, size = np.asarray(table["frame"]), np.array(shape)
    if labels is None:
        labels = 1 + np.arange(len(frames)) - np.searchsorted(frames, frames)
    images = np.zeros((int(frames.max(initial=-1)) + 1, *shape), dtype=np.int32)
    nearest = np.full(images.shape, 1.0, dtype=np.float32)
    places = np.stack([np.asarray(table[axis]) for axis in AXES[-size.size :]], axis=1)
    area, eccentricity, orientation = (np.asarray(table[name]) for name in ("area", "eccentricity", "orientation"))
    long, short = _half_axes(area, eccentricity, size.size)
    for row in np.flatnonzero(labels):
        place = places[row]
        low = np.clip(np.floor(place - long[row]), 0, size).astype(int)
        high = np.clip(np.ceil(place + long[row]) + 1, 0, size).astype(int)
        window = (frames[row], *map(slice, low, high))
        away = np.ogrid[tuple(map(slice, low, high))]
        *z, y, x = (axis - centre for axis, centre in zip(away, place, strict=True))
        cos, sin = np.cos(orientation[row]), np.sin(orientation[row])
        distance = ((y * cos + x * sin) / long[row]) ** 2 + ((x * cos - y * sin) / short[row]) ** 2
        distance = distance + sum((depth / short[row]) ** 2 for depth in z)
        front = distance < nearest[window]
        images[window][front] = labels[row]
        nearest[window][front] = distance[front]
    return images


def _half_axes(area: Array, eccentricity: Array, n_axes: int) -> tuple[Array, Array]:
    """Return half of the longest axis and half of the others."""
    ratio = np.sqrt(1.0 - eccentricity**2)
    long = np.sqrt(area / (np.pi * ratio)) if n_axes == 2 else np.cbrt(0.75 * area / (np.pi * ratio**2))
    return long, long * ratio


@dataclass
class _Cells:
    """Cells by column; `row` is the detection that they were last, -1 for none."""

    place: Array
    velocity: Array
    area: Array
    intensity: Array
    eccentricity: Array
    orientation: Array
    row: Ints

    @classmethod
    def random(cls, n: int, low: float, high: Array, radius: float, speed: float, rng: np.random.Generator) -> _Cells:
        place = rng.uniform(low, high, size=(n, high.size))
        return cls(
            place,
            speed * rng.normal(size=place.shape),
            _mature(radius, high.size) * np.exp(0.25 * rng.normal(size=n)),
            100.0 * np.exp(0.2 * rng.normal(size=n)),
            rng.beta(4.0, 3.0, size=n),
            rng.uniform(-np.pi / 2, np.pi / 2, size=n),
            np.full(n, -1),
        )

    def take(self, which: Ints | Bools) -> _Cells:
        return _Cells(*(getattr(self, field.name)[which] for field in fields(self)))

    def joined(self, other: _Cells) -> _Cells:
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return _Cells(*map(np.concatenate, pairs))

    def inside(self, low: float, high: Array) -> _Cells:
        """Turn those back that come to the border of the field."""
        out = (self.place < low) | (self.place >= high)
        self.velocity[out] *= -1.0
        self.place = np.clip(self.place, low, high - 1e-6)
        return self

    def moved(self, speed: float, persistence: float, radius: float, rng: np.random.Generator) -> _Cells:
        """Let cells go on, grow and turn, then push those apart that overlap."""
        push = rng.normal(size=self.velocity.shape)
        velocity = persistence * self.velocity + speed * np.sqrt(1.0 - persistence**2) * push
        place = self.place + velocity
        growing = self.area + 0.1 * (_mature(radius, place.shape[1]) * 1.3 - self.area)
        turned = self.orientation + 0.15 * rng.normal(size=len(place))
        stretched = np.clip(self.eccentricity + 0.05 * rng.normal(size=len(place)), 0.05, 0.95)
        half = np.sqrt(growing / np.pi) if place.shape[1] == 2 else np.cbrt(0.75 * growing / np.pi)
        first, second = cKDTree(place).query_pairs(2.0 * half.max(initial=0.0), output_type="ndarray").T
        apart = place[second] - place[first]
        distance = np.maximum(np.linalg.norm(apart, axis=1), 1e-6)
        overlap = np.maximum(0.0, 0.9 * (half[first] + half[second]) - distance)
        step = 0.35 * (overlap / distance)[:, None] * apart
        np.add.at(place, first, -step)
        np.add.at(place, second, step)
        return _Cells(place, velocity, growing, self.intensity, stretched, turned, self.row)

    def mitotic(self, dividing: Bools) -> _Cells:
        """Return cells as they look: smaller, brighter and round before they divide."""
        return replace(
            self,
            area=np.where(dividing, 0.85, 1.0) * self.area,
            intensity=np.where(dividing, 1.6, 1.0) * self.intensity,
            eccentricity=np.where(dividing, 0.5, 1.0) * self.eccentricity,
        )

    def daughters(self, radius: float, rng: np.random.Generator) -> _Cells:
        """Return two cells for each."""
        n_axes = self.place.shape[1]
        apart = np.zeros_like(self.place)
        apart[:, -2], apart[:, -1] = np.cos(self.orientation), np.sin(self.orientation)
        place = 0.6 * radius * np.power(self.area / _mature(radius, n_axes), 1 / n_axes)[:, None] * apart
        push = 0.3 * np.linalg.norm(self.velocity, axis=1)[:, None] * apart
        share = 0.5 + 0.04 * rng.normal(size=len(self.area))
        first, second = (
            replace(self, place=self.place + side * place, velocity=self.velocity + side * push, area=part * self.area)
            for side, part in ((1.0, share), (-1.0, 1.0 - share))
        )
        return first.joined(second)

    def measured(self, noise: float, rng: np.random.Generator) -> _Cells:
        """Return cells with the errors of a measurement."""
        errors = 0.1 * noise * rng.normal(size=(4, len(self.area)))
        return replace(
            self,
            place=self.place + noise * rng.normal(size=self.place.shape),
            area=self.area * np.exp(errors[0]),
            intensity=self.intensity * np.exp(errors[1]),
            eccentricity=np.clip(self.eccentricity + errors[2], 0.0, 0.98),
            orientation=(self.orientation + errors[3] + np.pi / 2) % np.pi - np.pi / 2,
        )


def _mature(radius: float, n_axes: int) -> float:
    """The size of a cell of this radius."""
    return np.pi * radius**2 if n_axes == 2 else 4.0 / 3.0 * np.pi * radius**3
