"""Made-up pictures of snakes."""

from __future__ import annotations

import numpy as np

from maximand.support import Array, Ints

MOVES = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])


def simulate_snakes(n: int, rng: np.random.Generator, length: int = 10) -> tuple[list[Array], list[Ints]]:
    """Return pictures (height, width, colour) and labels (height, width): where each pixel is along the snake, or 0.

    A snake winds over the picture without crossing itself. Each of its pixels has the colour of the direction in which
    it goes on; a colour of its own has the background. So a pixel's place can only be told by following the snake.
    """
    pictures: list[Array] = []
    labels: list[Ints] = []
    while len(pictures) < n:
        path = _walk(rng, length)
        if path is None:
            continue
        steps = np.diff(path, axis=0)
        colours = [int(np.flatnonzero((step == MOVES).all(axis=1))[0]) for step in steps]
        colours.append(colours[-1])
        path = path - path.min(axis=0) + 1
        height, width = path.max(axis=0) + 2
        picture, label = np.zeros((height, width, 5)), np.zeros((height, width), dtype=np.int64)
        picture[:, :, 4] = 1.0
        for place, (cell, colour) in enumerate(zip(path, colours, strict=True), 1):
            picture[*cell] = np.eye(5)[colour]
            label[*cell] = place
        pictures.append(picture)
        labels.append(label)
    return pictures, labels


def _walk(rng: np.random.Generator, length: int) -> Ints | None:
    """Return a path that does not cross itself; None where it got stuck."""
    path = [(0, 0)]
    while len(path) < length:
        ahead = [(path[-1][0] + int(dy), path[-1][1] + int(dx)) for dy, dx in MOVES]
        free = [cell for cell in ahead if cell not in path]
        if not free:
            return None
        path.append(free[int(rng.integers(len(free)))])
    return np.array(path)
