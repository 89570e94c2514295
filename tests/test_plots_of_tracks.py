"""Pictures of tracks and of family trees."""

import io

import numpy as np
import pytest

from maximand.datasets import draw_cells, simulate_cells
from maximand.lineage import Lineage

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from maximand.plots import LineageDisplay, TracksDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def drawn():
    """Draw every figure that a test leaves as SVG, then close them."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).savefig(io.BytesIO(), format="svg")
    plt.close("all")


@pytest.fixture(scope="module")
def population():
    return simulate_cells(8, 15, shape=(100, 140), division=0.05)


# Row 0 moves to 1, which divides into 2 and 3; 3 divides into 4 and 5, and 2 and 6 merge into 7; row 8 is false.
SMALL = Lineage.of(
    [0, 1, 2, 2, 3, 3, 2, 3, 1], [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5), (2, 7), (6, 7)], np.arange(9) == 8
)
PLACES = {"y": np.arange(9.0), "x": np.arange(9.0) ** 2}


def test_all_tracks_in_one_plane():
    ax = plt.subplots()[1]
    display = TracksDisplay(PLACES, SMALL).plot(ax)
    assert display.axes_.tolist() == [ax] and display.figure_ is ax.figure
    lines, divisions, false = ax.collections
    assert len(lines.get_segments()) == 7
    np.testing.assert_array_equal(divisions.get_offsets(), [[1, 1], [9, 3]])
    np.testing.assert_array_equal(false.get_offsets(), [[64, 8]])
    np.testing.assert_array_equal(lines.get_segments()[0], [[0, 0], [1, 1]])
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # y points down, as in images
    np.testing.assert_allclose(lines.get_colors()[4][:3], display.colours_[SMALL.tracks[4]])


def test_frames_side_by_side_show_the_last_steps_of_what_is_there():
    display = TracksDisplay(PLACES, SMALL, frames=[0, 3]).plot()
    first, last = display.axes_
    assert [ax.get_title() for ax in display.axes_] == ["frame 0", "frame 3"]
    assert len(first.collections[0].get_offsets()) == 1 and len(first.collections[1].get_segments()) == 0
    assert len(last.collections[0].get_offsets()) == 3 and len(last.collections[1].get_segments()) == 7
    before = TracksDisplay(PLACES, SMALL, frames=[2]).plot().axes_[0]
    assert len(before.collections[1].get_segments()) == 3
    with pytest.raises(ValueError, match="There are 2 frames; give as many axes"):
        TracksDisplay(PLACES, SMALL, frames=[0, 3]).plot(plt.subplots()[1])


def test_cells_of_label_images(population):
    table, lineage = population
    images = draw_cells(table, (100, 140))
    labels = 1 + np.arange(len(lineage.frames)) - np.searchsorted(lineage.frames, lineage.frames)
    display = TracksDisplay(table, lineage, frames=[2, 5], images=images, labels=labels).plot()
    picture = display.axes_[1].images[0].get_array()
    assert picture.shape == (100, 140, 3)
    np.testing.assert_array_equal(picture[images[5] == 0], 1.0)
    row = np.flatnonzero((lineage.frames == 5) & ~lineage.false)[0]
    cell = picture[images[5] == labels[row]]
    np.testing.assert_allclose(cell, np.tile(0.35 + 0.65 * display.colours_[lineage.tracks[row]], (len(cell), 1)))
    named = TracksDisplay({**table, "label": labels}, lineage, frames=[2], images=dict(enumerate(images))).plot()
    assert named.axes_[0].get_xlim() == (-0.5, 139.5) and named.axes_[0].get_ylim() == (99.5, -0.5)
    with pytest.raises(ValueError, match="The table has 9 rows but the lineage"):
        TracksDisplay(PLACES, lineage)


def test_a_family_tree():
    display = LineageDisplay(SMALL).plot()
    parent, left, right = (int(SMALL.tracks[row]) for row in (1, 2, 3))
    places = display.places_
    assert set(places) == {*range(1, SMALL.n_tracks + 1)}
    assert places[left] < places[parent] < places[right]
    leaves = [int(SMALL.tracks[row]) for row in (4, 5)]
    assert places[right] == sum(places[leaf] for leaf in leaves) / 2
    bottom, top = display.ax_.get_ylim()
    assert bottom > top and display.ax_.get_ylabel() == "frame"
    assert sum(line.get_linestyle() == ":" for line in display.ax_.lines) == 1  # the second parent of the merge
    forks = display.ax_.lines[-1]
    assert sorted(forks.get_ydata()) == [1, 2] and sorted(forks.get_xdata()) == sorted([places[parent], places[right]])


def test_the_largest_families_only(population):
    _, lineage = population
    ax = plt.subplots()[1]
    display = LineageDisplay(lineage, families=2).plot(ax)
    assert display.ax_ is ax
    roots = [track for track in display.places_ if not lineage.parents[track - 1]]
    assert len(roots) == 2 and len(display.places_) > 4


def test_nothing_to_draw():
    nothing = Lineage.of([], [])
    assert TracksDisplay({"y": [], "x": []}, nothing).plot().axes_.shape == (1,)
    assert LineageDisplay(nothing).plot().places_ == {}
