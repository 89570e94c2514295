"""Simulated populations of cells."""

import time

import numpy as np
import pytest
from scipy import ndimage

from maximand.datasets import draw_cells, simulate_cells

COLUMNS = ["frame", "y", "x", "area", "intensity", "eccentricity", "orientation"]


@pytest.fixture(scope="module")
def population():
    return simulate_cells(60, 100, random_state=1)


def test_cells_have_one_history_and_two_daughters_at_most(population):
    table, lineage = population
    n = len(table["frame"])
    assert list(table) == COLUMNS and all(len(column) == n for column in table.values())
    assert np.bincount(lineage.links[:, 1]).max() == 1 and np.bincount(lineage.links[:, 0]).max() == 2
    assert 0.01 < len(lineage.divisions) / n < 0.03
    assert 0.01 < lineage.false.mean() < 0.03
    steps = np.bincount(np.diff(lineage.frames[lineage.links], axis=1).ravel())
    assert steps[0] == 0 and 0.01 < steps[2:].sum() / steps.sum() < 0.04
    counts = np.bincount(table["frame"])
    assert len(counts) == 60 and counts.min() > 60 and counts.max() < 160


def test_daughters_are_half_as_large_and_near(population):
    table, lineage = population
    before = lineage.links[~lineage.plain & (np.diff(lineage.frames[lineage.links], axis=1).ravel() == 1)]
    ratio = table["area"][before[:, 1]] / table["area"][before[:, 0]]
    assert 0.6 < np.median(ratio) < 0.85  # half of the size, but the parent looks smaller and the daughters grow
    places = np.stack([table["y"], table["x"]], axis=1)
    assert np.median(np.linalg.norm(np.diff(places[before], axis=1), axis=2)) < 14
    assert table["intensity"][lineage.divisions].mean() > 1.3 * table["intensity"].mean()
    assert table["eccentricity"][lineage.divisions].mean() < 0.7 * table["eccentricity"].mean()


def test_cells_come_and_go_at_the_border(population):
    table, lineage = population
    first = np.unique(lineage.tracks, return_index=True)[1][1:]
    come = first[(lineage.parents == 0) & (lineage.begins > 0)]
    border = np.minimum.reduce([table["y"], table["x"], 255 - table["y"], 255 - table["x"]])
    assert come.size > 20 and np.median(border[come]) < 8 < np.median(border)


def test_a_seed_says_it_all():
    (one, first), (same, second), (other, _) = (simulate_cells(5, 20, random_state=seed) for seed in (3, 3, 4))
    assert first == second and all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["y"][:5], other["y"][:5])


def test_without_mistakes_nothing_is_missed_or_false():
    table, lineage = simulate_cells(20, 50, missed=0.0, false=0.0, noise=0.0, division=0.0)
    assert not lineage.false.any() and not lineage.divisions.size
    assert (np.diff(lineage.frames[lineage.links], axis=1) == 1).all()
    assert all(np.isfinite(column).all() for column in table.values())


def test_a_third_dimension():
    table, lineage = simulate_cells(10, 40, shape=(40, 128, 128))
    assert list(table) == ["frame", "z", *COLUMNS[1:]]
    assert table["z"].min() >= 0 and 30 < table["z"].max() <= 39 and len(lineage.links) > 200
    images = draw_cells(table, (40, 128, 128))
    assert images.shape == (10, 40, 128, 128)
    volumes = np.bincount(images[0].ravel())[1:]
    inside = (table["z"] > 12) & (table["z"] < 28) & (table["frame"] == 0)
    assert np.median(volumes[inside[: len(volumes)]] / table["area"][: len(volumes)][inside[: len(volumes)]]) > 0.9


def test_images_have_the_cells_of_the_table():
    table, lineage = simulate_cells(4, 30)
    images = draw_cells(table, (256, 256), lineage.tracks)
    assert set(np.unique(images)) == {*range(lineage.n_tracks + 1)}
    labels = lineage.tracks[table["frame"] == 2]
    rows = np.flatnonzero(table["frame"] == 2)[labels > 0]
    centres = np.array(ndimage.center_of_mass(images[2] > 0, images[2], labels[labels > 0]))
    inner = (np.abs(centres - 128) < 110).all(axis=1)
    apart = centres - np.stack([table["y"], table["x"]], axis=1)[rows]
    assert np.median(np.abs(apart[inner])) < 0.2
    areas = np.bincount(images[2].ravel())[labels[labels > 0]]
    assert abs(np.median(areas[inner] / table["area"][rows][inner]) - 1) < 0.05


def test_many_cells_take_seconds():
    began = time.perf_counter()
    table, _ = simulate_cells(100, 500, shape=(1024, 1024))
    assert len(table["frame"]) > 40_000 and time.perf_counter() - began < 10
