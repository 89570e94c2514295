"""Lineages: tracks, parents and divisions follow from links, and links from tracks and parents."""

import time

import numpy as np
import pytest

from maximand.lineage import Lineage

# Row 0 moves to 2 and divides into 3 and 4; row 4 skips a frame to 7; row 1 and row 5 merge into 6; row 8 is false.
FRAMES = [0, 0, 1, 2, 2, 2, 3, 4, 3]
LINKS = [(0, 2), (2, 4), (2, 3), (4, 7), (5, 6), (1, 6)]
FALSE = np.arange(9) == 8


def test_what_follows_from_links():
    lineage = Lineage.of(FRAMES, LINKS, FALSE)
    assert lineage.links.tolist() == sorted(map(list, LINKS))
    assert lineage.tracks.tolist() == [1, 2, 1, 3, 4, 5, 6, 4, 0]
    assert lineage.parents.tolist() == [0, 0, 1, 1, 0, 2]
    assert lineage.begins.tolist() == [0, 0, 2, 2, 2, 3]
    assert lineage.ends.tolist() == [1, 0, 2, 4, 2, 3]
    assert lineage.divisions.tolist() == [2]


def test_what_follows_from_tracks():
    frames, tracks = [2, 0, 1, 2, 3, 1, 0, 4], [7, 5, 5, 9, 7, 0, -1, 9]
    lineage = Lineage.of_tracks(frames, tracks, {7: 5, 9: 5, 5: 0})
    assert lineage.links.tolist() == [[0, 4], [1, 2], [2, 0], [2, 3], [3, 7]]
    assert lineage.false.tolist() == [False] * 5 + [True] + [False] * 2
    alone = Lineage.of_tracks(frames, tracks, {7: 5})
    assert alone.tracks[[0, 1, 2, 4]].tolist() == [1] * 4 and alone.parents.tolist() == [0, 0, 0]


def test_tracks_and_links_say_the_same():
    lineage = Lineage.of(FRAMES, [link for link in LINKS if link != (1, 6)], FALSE)
    parents = {k: int(parent) for k, parent in enumerate(lineage.parents, 1)}
    assert Lineage.of_tracks(lineage.frames, lineage.tracks, parents) == lineage
    assert lineage != Lineage.of(FRAMES, LINKS, FALSE) and lineage != "a lineage"


def test_detections_that_are_left_out_take_their_links_with_them():
    left = Lineage.of(FRAMES, LINKS, FALSE).without(np.isin(np.arange(9), [3, 5]))
    assert left.links.tolist() == [[0, 2], [1, 6], [2, 4], [4, 7]]
    assert left.tracks.tolist() == [1, 2, 1, 0, 1, 0, 2, 1, 0] and left.divisions.size == 0


def test_nothing():
    lineage = Lineage.of([], [])
    assert (lineage.n_tracks, lineage.parents.size, lineage.begins.size, lineage.divisions.size) == (0, 0, 0, 0)
    assert Lineage.of_tracks([3, 3], [-1, 0]).tracks.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ([(0, 9)], "row 0 to row 9 is beyond the 9 detections"),
        ([(0, 2), (1, 3), (0, 2)], "row 0 to row 2 is there twice"),
        ([(0, 2), (2, 8)], "row 2 to row 8 has a false detection"),
        ([(0, 1)], "row 0 to row 1 does not lead to a later frame"),
    ],
)
def test_links_that_cannot_be(links, words):
    with pytest.raises(ValueError, match=words):
        Lineage.of(FRAMES, links, FALSE)


@pytest.mark.parametrize(
    ("tracks", "parents", "words"),
    [
        ([1, 1, 2], {}, "Track 1 has two detections in frame 0"),
        ([1, 2, 3], {3: 4}, "Track 4 has a parent or a child but no detection"),
        ([1, 2, 3], {2: 1}, "Track 2 begins in frame 0 but its parent 1 ends in frame 0"),
    ],
)
def test_tracks_that_cannot_be(tracks, parents, words):
    with pytest.raises(ValueError, match=words):
        Lineage.of_tracks([0, 0, 1], tracks, parents)


def test_many_detections_take_milliseconds():
    rng = np.random.default_rng(0)
    frames, tracks = np.repeat(np.arange(100), 500), np.tile(np.arange(1, 501), 100)
    tracks = tracks + 500 * (frames // 10)  # each track lasts ten frames
    parents = {k: k - 500 - int(rng.integers(2)) * (k % 500 > 0) for k in range(501, 5001)}
    began = time.perf_counter()
    lineage = Lineage.of_tracks(frames, tracks, parents)
    assert lineage.divisions.size and lineage.parents.size == lineage.n_tracks
    assert time.perf_counter() - began < 1.0
