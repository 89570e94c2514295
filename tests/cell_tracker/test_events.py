"""What may have happened, and what follows for it from links that are known."""

import numpy as np
import pytest
from tracking_samples import movie, spotted, tiny

from maximand.lineage import Lineage
from maximand.tasks.tracking import TrackingTask
from maximand.tasks.tracks.event_features import EventFeatures
from maximand.tasks.tracks.events import Candidates, Happening, in_window
from maximand.tasks.tracks.known import KnownLinks, annotated
from maximand.tasks.tracks.movies import read_movies

EVERYTHING = {"max_skip": 2, "false_detections": True, "merges": True}


def events_of(table, links=(), **settings):
    (own,) = read_movies([table], None, None)
    candidates = Candidates(**{"radius": 15.0, "n_neighbors": 3, **settings})
    pairs = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    return own, in_window(own, own.first, own.last, candidates, pairs), candidates


def named(events, psi):
    """The events that take place: their kinds and ends."""
    return {(Happening(kind).name, *(int(end) for end in ends if end >= 0))
            for kind, ends in zip(events.kinds[psi > 0], events.ends[psi > 0], strict=True)}  # fmt: skip


def test_a_lineage_says_of_every_event_whether_it_takes_place():
    table, lineage = tiny()
    _, events, _ = events_of(table)
    psi = annotated(KnownLinks.all_of(lineage), events)
    assert named(events, psi) == {
        ("MOVE", 0, 3), ("DIVISION", 1, 4, 5), ("DISAPPEARANCE", 2), ("APPEARANCE", 6),
    }  # fmt: skip
    assert not (psi < 0).any()


def test_a_link_leaves_open_whether_its_source_divides():
    table, _ = tiny()
    _, events, _ = events_of(table)
    psi = annotated(KnownLinks.of(7, [(1, 4)]), events)
    open_events = {tuple(ends) for ends in events.ends[psi < 0].tolist()}
    assert (1, -1, 4, -1) in open_events
    assert (1, -1, 4, 5) in open_events
    assert psi[(events.ends == (0, -1, 4, -1)).all(axis=1)] == 0  # its target has another source
    assert psi[(events.ends == (1, -1, 5, -1)).all(axis=1)] == 0
    assert not (psi > 0).any()


def test_a_link_that_is_absent_rules_out_every_event_that_has_it():
    table, _ = tiny()
    _, events, _ = events_of(table)
    psi = annotated(KnownLinks.of(7, absent=[(1, 4)]), events)
    has = (events.ends[:, 0] == 1) & (events.ends[:, 2:] == 4).any(axis=1)
    np.testing.assert_array_equal(psi, np.where(has, 0.0, -1.0))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [movie, spotted])
def test_known_lineages_fill_every_slot_once(seed, make):
    table, lineage = make(seed)
    settings = EVERYTHING if make is spotted else {}
    bound, examples, known = TrackingTask(**settings).bind([table], [lineage])
    psi = examples.space.argmax_given(np.zeros(examples.space.n_parts), known).mean
    for i, own in enumerate(examples.space.decode(psi)):
        np.testing.assert_array_equal(examples.space.incidence.rows(i).covered(own), 1.0)
    bounds = {frame for window in examples.inputs.windows for frame in (window.first, window.last)}
    found = {tuple(pair) for events in bound.outputs(examples, psi) for pair in events.links[1].tolist()}
    sure = KnownLinks.all_of(lineage).expressible(lineage.frames).links
    first, last = table["frame"][sure].T
    over = [any(a < bound < b for bound in bounds) for a, b in zip(first, last, strict=True)]  # are left open
    assert found >= set(map(tuple, sure[~np.array(over, dtype=bool)].tolist()))
    if make is movie:
        assert known.full.all()
        assert found == set(map(tuple, lineage.links.tolist()))


def test_links_beyond_the_nearest_detections_are_possible_where_they_are_known():
    table, _ = tiny()
    own, few, candidates = events_of(table, n_neighbors=1, radius=200.0)
    links = np.array([[0, 6]])
    more = in_window(own, 0, 1, candidates, links)
    assert not (few.ends == (0, -1, 6, -1)).all(axis=1).any()
    assert (more.ends == (0, -1, 6, -1)).all(axis=1).any()


def test_features_do_not_depend_on_the_unit_of_length():
    table, _ = movie(0)
    scaled = {**table, "y": 3.0 * table["y"], "x": 3.0 * table["x"]}
    features = EventFeatures(Candidates(1.0).kinds, ())
    matrices = []
    for one, radius in ((table, 20.0), (scaled, 60.0)):
        own, events, _ = events_of(one, radius=radius)
        matrices.append(features(own, events))
    np.testing.assert_allclose(*matrices, atol=1e-9)
    assert len(features.names) == len(set(features.names)) == matrices[0].shape[1]


def test_every_kind_of_event_has_features_of_its_own():
    table, _ = spotted(0)
    own, events, candidates = events_of(table, radius=30.0, **EVERYTHING)
    features = EventFeatures(candidates.kinds, tuple(own.columns))
    matrix = features(own, events)
    assert set(np.unique(events.kinds)) == set(map(int, Happening))
    for kind in Happening:
        places = features.places(kind)
        assert not np.delete(matrix[events.kinds == kind], places, axis=1).any()
        assert (matrix[np.ix_(events.kinds == kind, places)] != 0).any(axis=0).all()
    assert np.isfinite(matrix).all()


def test_tracks_that_are_unknown_leave_their_detections_open():
    table, lineage = tiny()
    known = KnownLinks.of_tracks(table["frame"], [1, 2, None, 1, np.nan, 3, -1], {3: 2})
    assert known.links.tolist() == [[0, 3], [1, 5]]
    assert known.fates.tolist() == [True, True, False, True, False, True, False]
    whole = KnownLinks.of_tracks(table["frame"], lineage.tracks, dict(enumerate(lineage.parents.tolist(), 1)))
    np.testing.assert_array_equal(whole.links, lineage.links)
    assert Lineage.of(table["frame"], whole.links) == lineage


def test_a_known_link_says_where_its_target_comes_from_unless_cells_merge():
    table, _ = tiny()
    known = [KnownLinks.of(7, links=[(0, 3)], fates=[0])]
    for merges, certain in ((False, 1), (True, 0)):
        task = TrackingTask(radius=30.0, merges=merges)
        _, examples, annotation = task.bind([table], known)
        assert (annotation.psi > 0).sum() == certain
        assert examples.space.possible(annotation).all()
