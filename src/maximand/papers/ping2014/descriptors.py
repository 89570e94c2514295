"""Descriptors of square patches of images: histograms of gradients and of colours, and the commonest label.

Patches have 20 x 20 pixels and begin at every tenth pixel, as far as they fit. Sums over patches are matrix products:
rows of windows times the image times columns of windows.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from maximand.support import Array, Ints

SIDE, STRIDE = 20, 10
CELLS, DIRECTIONS = 4, 8
BLUR = 1.0
FLAT = 0.5  # a mean gradient below so many levels of 256 is none
CLIP = 0.2
BINS = 16


def n_patches(length: int) -> int:
    """Return how many patches fit along a side of an image."""
    return max(0, (length - SIDE) // STRIDE + 1)


def gradient_histograms(image: Array) -> Array:
    """Return (row, column, 128): for 4 x 4 cells of each patch, how strong gradients are in each of 8 directions.

    As in SIFT without rotation: pixels count by their distance to the middle of the patch, for neighbouring cells and
    directions in proportion. A histogram has length 1, after a first scaling to length 1 in which it is cut off at 0.2;
    of a patch without gradients it is 0. The image is (height, width, 3), in 256 levels.
    """
    grey = gaussian_filter(np.asarray(image, dtype=float).mean(axis=2), BLUR, mode="nearest")
    down, right = np.gradient(grey)
    turn = np.mod(np.arctan2(down, right) / (2.0 * np.pi), 1.0) * DIRECTIONS
    low, share = np.floor(turn).astype(int) % DIRECTIONS, turn - np.floor(turn)
    strength, each = np.hypot(down, right), np.arange(DIRECTIONS)
    near = np.where(each == low[:, :, None], 1.0 - share[:, :, None], 0.0)
    near += np.where(each == (low[:, :, None] + 1) % DIRECTIONS, share[:, :, None], 0.0)
    rows, columns = (_windows(length, _cells()) for length in grey.shape)
    found = _pooled(rows, strength[:, :, None] * near, columns)  # (row, cell, column, cell, direction)
    found = found.transpose(0, 2, 1, 3, 4).reshape(found.shape[0], found.shape[2], -1)
    flat = found.sum(axis=2, keepdims=True) < FLAT * _cells().sum() ** 2
    clipped = np.minimum(_scaled(found), CLIP)
    return np.where(flat, 0.0, _scaled(clipped))


def colour_histograms(image: Array) -> Array:
    """Return (row, column, 48): of each patch, the shares of the pixels in 16 ranges of red, of green and of blue."""
    levels = np.asarray(image).astype(int) * BINS // 256
    present = (levels[:, :, :, None] == np.arange(BINS)).astype(float)
    return _counts(present.reshape(*levels.shape[:2], -1)) / SIDE**2


def commonest_labels(labels: Ints, n_labels: int) -> Ints:
    """Return (row, column): the label that most pixels of each patch have, the lowest of several."""
    return np.asarray(_counts((labels[:, :, None] == np.arange(n_labels)).astype(float)).argmax(axis=2))


def _counts(present: Array) -> Array:
    """Return the sums over each patch, (row, column, what)."""
    rows, columns = (_windows(length, np.ones((1, SIDE))) for length in present.shape[:2])
    return _pooled(rows, present, columns)[:, 0, :, 0]


def _cells() -> Array:
    """Return how much each pixel along a side counts for each cell, (cell, pixel)."""
    pixels, width = np.arange(SIDE), SIDE / CELLS
    middles = (np.arange(CELLS) + 0.5) * width - 0.5
    near = np.maximum(0.0, 1.0 - np.abs(pixels - middles[:, None]) / width)
    return np.asarray(near * np.exp(-0.5 * ((pixels - 0.5 * (SIDE - 1)) / (0.5 * SIDE)) ** 2))


def _windows(length: int, profile: Array) -> Array:
    """Return a profile (what, pixel) at the place of each patch along a side, (patch, what, pixel of the image)."""
    windows = np.zeros((n_patches(length), len(profile), length))
    for i, window in enumerate(windows):
        window[:, STRIDE * i : STRIDE * i + SIDE] = profile
    return windows


def _pooled(rows: Array, values: Array, columns: Array) -> Array:
    """Return sums of values (height, width, what) in windows, (row, of rows, column, of columns, what)."""
    down = np.tensordot(rows, values, (2, 0))
    return np.tensordot(down, columns, (2, 2)).transpose(0, 1, 3, 4, 2)


def _scaled(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    return vectors / np.maximum(lengths, np.finfo(float).tiny)
