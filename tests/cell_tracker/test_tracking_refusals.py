"""Bad tables and annotations: one sentence that names frame and id, before training."""

import numpy as np
import pytest
from tracking_samples import movie, tiny

from maximand.estimators.cell_tracker import CellTracker
from maximand.lineage import Lineage
from maximand.tasks.tracks.known import KnownLinks

TABLE, LINEAGE = tiny()


def changed(**columns):
    return {**TABLE, **columns}


def at(column, row, value):
    values = TABLE[column].astype(float)
    values[row] = value
    return changed(**{column: values})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (at("y", 4, np.nan), r"y is nan at id 2 in frame 1 of X\[0\]; it must be finite"),
        (at("id", 4, 1), r"id 1 is there twice in frame 1 of X\[0\]; ids are unique"),
        (at("frame", 0, 0.5), r"The column 'frame' of X\[0\] must hold whole numbers"),
        (changed(frame=2 * TABLE["frame"]), r"X\[0\] has no detections in frame 1, between 0 and 2"),
        (
            changed(area=np.array([1.0, 2, 3, 0, 1, 1, 1])),
            r"area is 0 at id 1 in frame 1 of X\[0\]; it must be above 0",
        ),
        ({"frame": TABLE["frame"]}, r"X\[0\] has no columns y and x .*position="),
        ({"y": TABLE["y"], "x": TABLE["x"]}, r"X\[0\] has no column 'frame'; it has 'y', 'x'"),
        (changed(x=TABLE["x"][:3]), r"The column 'x' of X\[0\] has 3 values, but there are 7"),
        ({name: values[:0] for name, values in TABLE.items()}, r"X\[0\] holds no detections"),
        ({name: values[:3] for name, values in TABLE.items()}, "No movie of X has two frames"),
        (7, r"X\[0\] is a int; give a table"),
    ],
)
def test_tables(table, message):
    n = len(table["frame"]) if isinstance(table, dict) and "frame" in table else 0
    with pytest.raises(ValueError, match=message):
        CellTracker(radius=20.0).fit([table], [KnownLinks.of(n, fates=range(min(n, 1)))])


@pytest.mark.parametrize(
    ("known", "settings", "message"),
    [
        (
            KnownLinks.of(7, [(0, 3), (1, 3)]),
            {},
            r"id 1 in frame 1 of X\[0\] has 2 histories, id 1 in frame 0 and id 2 in",
        ),
        (KnownLinks.of(7, [(1, 3), (1, 4), (1, 5)]), {}, r"id 2 in frame 0 of X\[0\] has 3 fates"),
        (
            KnownLinks.of(7, [(0, 6)]),
            {"radius": 20.0},
            r"from id 1 in frame 0 of X\[0\] to id 4 in frame 1 is 70.71 long",
        ),
        (KnownLinks.of(7, [(3, 0)]), {}, "does not lead to a later frame"),
        (KnownLinks.of(7, [(0, 3)], false=[0]), {"false_detections": True}, "is said to be false and has a link"),
        (KnownLinks.of(7, [(0, 3)], false=[6]), {"radius": 20.0}, "give false_detections=True, or drop the detection"),
        (KnownLinks.of(6, [(0, 3)]), {}, r"Y\[0\] is about 6 detections, but X\[0\] has 7"),
        (KnownLinks.of(7), {}, "No link is known"),
        (KnownLinks.of(7), {"radius": 20.0}, "Y holds nothing that is known"),
        ([(0, 3)], {}, r"Y\[0\] is a list; give a Lineage, KnownLinks, or None"),
        (None, {"radius": 20.0}, "Y holds nothing that is known"),
    ],
)
def test_annotations(known, settings, message):
    with pytest.raises(ValueError, match=message):
        CellTracker(**settings).fit([TABLE], [known])


def test_a_cell_that_is_missed_needs_leave_to_skip():
    table = {"frame": np.arange(3), "y": np.zeros(3), "x": np.zeros(3)}
    with pytest.raises(ValueError, match=r"to id 2 in frame 2 skips 1 frames; give max_skip=1"):
        CellTracker().fit([table], [Lineage.of(table["frame"], [(0, 2)])])


def test_scores_need_links_that_are_known():
    model = CellTracker(tolerance=0.1).fit([TABLE], [LINEAGE])
    with pytest.raises(ValueError, match="Y holds no link that is known; there is nothing to compare"):
        model.score([TABLE], [None])
    assert model.score([TABLE, TABLE], [None, LINEAGE]) == model.score([TABLE], [LINEAGE])


def test_tables_without_tracks_need_annotations():
    with pytest.raises(ValueError, match=r"X\[0\] has no column 'track'"):
        CellTracker().fit([TABLE])
    with pytest.raises(ValueError, match=r"X is a single table; give a list of tables"):
        CellTracker().fit(TABLE, LINEAGE)
    with pytest.raises(ValueError, match=r"X has 1 movies but Y has 2 lineages"):
        CellTracker().fit([TABLE], [LINEAGE, LINEAGE])


@pytest.mark.parametrize("setting", [{"radius": -1}, {"n_neighbors": 0}, {"max_skip": -1}, {"window": 1}])
def test_settings(setting):
    name = next(iter(setting))
    with pytest.raises(ValueError, match=f"{name} is {setting[name]}; give a"):
        CellTracker(**setting).fit([TABLE], [LINEAGE])


def test_tables_to_predict_need_the_measures_of_training():
    table, lineage = movie(0)
    model = CellTracker(tolerance=0.1).fit([table], [lineage])
    with pytest.raises(ValueError, match=r"X\[0\] has no column 'area'"):
        model.predict([{name: values for name, values in table.items() if name != "area"}])
    with pytest.raises(ValueError, match=r"id 1 in frame 1 of X\[0\] has 2 histories"):
        CellTracker(columns=[], radius=40.0).fit([TABLE], [LINEAGE]).predict(
            [TABLE], known=[KnownLinks.of(7, [(0, 3), (1, 3)])]
        )
