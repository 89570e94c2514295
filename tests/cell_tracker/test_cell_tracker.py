"""Tracking cells: training, prediction, what is pinned."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from tracking_samples import movie, parted, spotted

from maximand import load, save
from maximand.costs import DifferentParts
from maximand.estimators.cell_tracker import CellTracker
from maximand.inference import Partitioning
from maximand.lineage import Lineage
from maximand.tasks.tracks.known import KnownLinks
from maximand.tracking_scores import division_rates, link_rates


def fitted(movies, **settings):
    return CellTracker(**{"tolerance": 1e-2, **settings}).fit(*movies)


def f1(model, unseen):
    return link_rates(unseen[1][0], model.predict(unseen[0])[0]).f1


def test_unseen_movies_are_tracked(movies, unseen):
    model = fitted(movies)
    (found,) = model.predict(unseen[0])
    assert model.gap_is_certificate_
    assert link_rates(unseen[1][0], found).f1 > 0.95
    assert division_rates(unseen[1][0], found).f1 > 0.7
    assert model.score(*unseen) == pytest.approx(link_rates(unseen[1][0], found).f1)


def test_cells_are_missed_and_detections_false():
    seen, later = parted([spotted(seed) for seed in range(3)]), parted([spotted(7, 30)])
    model = fitted(seen, max_skip=2, false_detections=True, window=6)
    (found,) = model.predict(later[0])
    assert link_rates(later[1][0], found).f1 > 0.93
    gaps = np.diff(later[0][0]["frame"][found.links], axis=1)
    assert set(gaps.ravel().tolist()) <= {1, 2, 3}
    assert (gaps > 1).any()
    hits = (found.false & later[1][0].false).sum()
    assert hits > 0.6 * max(found.false.sum(), later[1][0].false.sum())


@pytest.mark.parametrize("loss", ["hinge", "bridge", "ramp", "perceptron"])
def test_losses_on_a_part_of_the_links(loss):
    rng = np.random.default_rng(0)
    X, Y = parted([movie(seed, 4, 10) for seed in (0, 1)])
    known = [KnownLinks.all_of(y).subset(rng.random(len(y.frames)) < 0.6) for y in Y]
    model = fitted((X, known), loss=loss, tolerance=5e-2)
    assert f1(model, parted([movie(2, 4, 10)])) > 0.8


def test_few_scattered_links_do_not_leave_training_at_zero(movies, unseen):
    rng = np.random.default_rng(0)
    known = [KnownLinks.all_of(y).subset(rng.random(len(y.frames)) < 0.1) for y in movies[1]]
    model = fitted((movies[0], known), radius=40.0)
    assert np.abs(model.weights_).max() > 0.1
    assert f1(model, unseen) > 0.85


def test_what_is_known_holds_in_predictions(movies, unseen):
    model = fitted(movies)
    (X,), (truth,) = unseen
    (free,) = model.predict([X])
    wrong = [link for link in free.links.tolist() if link not in truth.links.tolist()]
    missed = [link for link in truth.links.tolist() if link not in free.links.tolist()]
    assert missed
    known = KnownLinks.of(len(truth.frames), links=missed[:1], absent=wrong[:1])
    (pinned,) = model.predict([X], known=[known])
    assert missed[0] in pinned.links.tolist()
    assert all(link not in pinned.links.tolist() for link in wrong[:1])
    (everything,) = model.predict([X], known=[truth])
    assert everything == truth


def test_tables_are_frames_dicts_or_columns_of_their_own(movies, unseen):
    model = fitted(movies)
    frames = [pd.DataFrame(table) for table in movies[0]]
    for frame, lineage in zip(frames, movies[1], strict=True):
        frame["track"] = lineage.tracks.astype(float)
        frame["parent"] = np.append(0, lineage.parents)[lineage.tracks]
    other = fitted((frames, None))
    np.testing.assert_allclose(other.weights_, model.weights_, rtol=1e-9)
    assert other.score(*unseen) == model.score(*unseen)


def test_weights_of_movies_are_those_of_copies(movies):
    weighted = CellTracker(tolerance=1e-4, radius=25.0).fit(*movies, sample_weight=[2.0, 1.0])
    X, Y = ([pair[0], pair[0], pair[1]] for pair in movies)
    copied = CellTracker(tolerance=1e-4, radius=25.0).fit(X, Y)
    # Features are less the mean of all events, those of copies too: the objectives differ by that alone.
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=0.05)


def test_the_answer_does_not_depend_on_threads(movies, unseen):
    one, two = (fitted(movies, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.predict(unseen[0])[0] == two.predict(unseen[0])[0]


def test_a_relaxation_trains_too(movies, unseen):
    relaxed = fitted(movies, inference=Partitioning(relaxed=True))
    assert relaxed.gap_is_certificate_
    assert f1(relaxed, unseen) > 0.95


def test_it_is_an_estimator_of_scikit_learn(movies):
    model = CellTracker(radius=30.0, cost=DifferentParts())
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(CellTracker(tolerance=0.1), {"regularization": [1e-2, 1e-4]}, cv=2)
    search.fit(movies[0], movies[1])
    assert search.best_score_ > 0.8


def test_models_are_saved(movies, unseen, tmp_path):
    model = fitted(movies)
    save(model, tmp_path / "cells.maximand")
    assert load(tmp_path / "cells.maximand").predict(unseen[0])[0] == model.predict(unseen[0])[0]


def test_weights_have_names(movies):
    weights = fitted(movies).event_weights_
    assert weights["move: distance after local flow"] < 0
    assert {name.split(":")[0] for name in weights} == {"move", "division", "appearance", "disappearance"}


def test_a_movie_of_one_frame_has_no_links(movies):
    one = {name: values[movies[0][0]["frame"] == 0] for name, values in movies[0][0].items()}
    assert fitted(movies).predict([one])[0] == Lineage.of(one["frame"], [])
