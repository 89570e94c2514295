"""Trackings in folders of label images, as graphs, GEFF and napari's tracks: what is written reads back equal."""

import sys

import numpy as np
import pytest

from maximand import formats
from maximand.datasets import draw_cells, simulate_cells
from maximand.formats import FormatError, TrackedCells
from maximand.lineage import Lineage

tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
networkx = pytest.importorskip("networkx", reason="networkx is not installed")


def numbered(frames):
    """The numbers from 1 within each frame."""
    return 1 + np.arange(len(frames)) - np.searchsorted(frames, frames)


def reordered(lineage, order):
    """The lineage of rows in another order."""
    place = np.full(len(lineage.frames), -1)
    place[order] = np.arange(len(order))
    return Lineage.of(lineage.frames[order], place[lineage.links], lineage.false[order])


@pytest.fixture(scope="module", params=[(64, 64), (12, 48, 48)], ids=["plane", "space"])
def simulated(request):
    shape = request.param
    table, lineage = simulate_cells(8, 16, shape=shape, speed=2.0, division=0.05, missed=0.1, false=0.1)
    assert lineage.divisions.size and lineage.false.any() and (np.diff(lineage.frames[lineage.links], axis=1) > 1).any()
    return TrackedCells(table, lineage), draw_cells(table, shape)


@pytest.fixture
def folder(tmp_path):
    """Track 5 divides into 9 and 12; frame 2 is empty but for them, and frame 3 for nothing."""
    images = np.zeros((4, 6, 8), dtype=np.uint16)
    images[0, 1:3, 1:4], images[1, 1:3, 2:5], images[0, 5, 7] = 5, 5, 2
    images[2, 0:2, 0:2], images[2, 3:5, 4:7] = 9, 12
    for name, image in zip(("000", "001", "2", "0003"), images, strict=True):
        tifffile.imwrite(tmp_path / f"man_track{name}.tif", image)
    (tmp_path / "man_track.txt").write_text("5 0 1 0\n9 2 2 5\n12 2 2 5\n2 0 0 0\n")
    return tmp_path


def write_image(path, image):
    tifffile.imwrite(path, np.asarray(image))


def test_a_folder_is_read(folder):
    cells = formats.read_challenge(folder)
    assert list(cells.table) == ["frame", "label", "y", "x", "area", "border", "eccentricity", "orientation"]
    assert cells.table["frame"].tolist() == [0, 0, 1, 2, 2] and cells.table["label"].tolist() == [2, 5, 5, 9, 12]
    assert cells.table["area"].tolist() == [1, 6, 6, 4, 6] and cells.table["border"].tolist() == [1, 0, 0, 1, 0]
    assert cells.table["y"].tolist() == [5, 1.5, 1.5, 0.5, 3.5] and cells.table["x"].tolist() == [7, 2, 3, 0.5, 5]
    long = np.sqrt(0.625)  # the second moments of 2 x 3 pixels are 1/4 and 2/3
    assert cells.table["eccentricity"] == pytest.approx([0, long, long, 0, long])
    assert np.abs(cells.table["orientation"][[1, 2, 4]]) == pytest.approx(np.pi / 2)
    assert cells.lineage.links.tolist() == [[1, 2], [2, 3], [2, 4]] and cells.lineage.divisions.tolist() == [2]
    assert formats.measure_cells(formats.read_label_images(folder)).keys() == cells.table.keys()


def test_raw_images_give_the_intensity(folder, tmp_path_factory):
    raw = tmp_path_factory.mktemp("raw")
    for t in range(4):
        write_image(raw / f"t{t:03}.tif", np.full((6, 8), 10 * t, dtype=np.uint8) + (np.arange(8) == 7))
    assert formats.read_challenge(folder, raw).table["intensity"].tolist() == [1, 0, 10, 20, 20]
    write_image(raw / "t001.tif", np.zeros((6, 7)))
    with pytest.raises(
        FormatError, match=r"t001.tif: frame 1 has the shape \(6, 7\), but man_track001.tif has \(6, 8\)"
    ):
        formats.read_challenge(folder, raw)
    (raw / "t003.tif").unlink()
    write_image(raw / "t001.tif", np.zeros((6, 8)))
    with pytest.raises(FormatError, match="there is no image of frame 3"):
        formats.read_challenge(folder, raw)


def rename(folder, old, new):
    (folder / old).rename(folder / new)


TABLE, FIRST = "man_track.txt", "man_track000.tif"
DAMAGE = {
    r"man_track001.tif: frame 1 has the shape \(6, 9\), but man_track000.tif has \(6, 8\)": lambda folder: write_image(
        folder / "man_track001.tif", np.zeros((6, 9), dtype=int)
    ),
    "frame 0 is no label image": lambda folder: write_image(folder / FIRST, np.zeros((6, 8))),
    "no image that can be read": lambda folder: (folder / FIRST).write_bytes(b"an image"),
    "frame 0 has label 7, but man_track.txt has no such track": lambda folder: write_image(
        folder / FIRST, np.full((6, 8), 7)
    ),
    "line 1: track 5 begins or ends in frame 0, but man_track000.tif has no such label": lambda folder: write_image(
        folder / FIRST, np.zeros((6, 8), dtype=int)
    ),
    "frame 1 is missing: there is no man_track001.tif": lambda folder: (folder / "man_track001.tif").unlink(),
    "man_track2.tif: frame 2 is in man_track002.tif too": lambda folder: write_image(
        folder / "man_track002.tif", np.zeros((6, 8))
    ),
    "line 2: track 8 begins or ends in frame 9, but there is no image": lambda folder: (folder / TABLE).write_text(
        "5 0 1 0\n8 9 9 0\n9 2 2 5\n12 2 2 5\n2 0 0 0\n"
    ),
    "line 2: the parent 5 of track 9 is no track that ended before": lambda folder: (folder / TABLE).write_text(
        "5 0 2 0\n9 2 2 5\n12 2 2 5\n2 0 0 0\n"
    ),
    "line 2: track 5 is there twice": lambda folder: (folder / TABLE).write_text("5 0 1 0\n5 0 1 2\n"),
    "either man_track.txt or res_track.txt, not neither": lambda folder: (folder / TABLE).unlink(),
    "not both": lambda folder: (folder / "res_track.txt").write_text("5 0 1 0\n"),
    "there are no images mask000.tif": lambda folder: rename(folder, TABLE, "res_track.txt"),
}


@pytest.mark.parametrize("words", DAMAGE)
def test_damaged_folders_are_refused(folder, words):
    DAMAGE[words](folder)
    with pytest.raises(FormatError, match=words):
        formats.read_challenge(folder)


def test_label_images_of_two_kinds_or_none(folder, tmp_path_factory):
    with pytest.raises(FormatError, match="not neither"):
        formats.read_label_images(tmp_path_factory.mktemp("empty"))
    write_image(folder / "mask000.tif", np.zeros((6, 8), dtype=int))
    with pytest.raises(FormatError, match="not both"):
        formats.read_label_images(folder)


@pytest.mark.parametrize("truth", [False, True])
def test_folders_read_back_equal(simulated, tmp_path, truth):
    cells, images = simulated
    labels = numbered(cells.lineage.frames)
    formats.write_challenge(tmp_path / "new", cells.lineage, images, labels, truth=truth)
    again = formats.read_challenge(tmp_path / "new")
    assert (tmp_path / "new" / ("man_track007.tif" if truth else "mask007.tif")).exists()
    drawn = formats.measure_cells(images)
    cell = ~cells.lineage.false
    np.testing.assert_array_equal(np.sort(again.table["y"]), np.sort(drawn["y"][cell]))
    table = np.loadtxt(next((tmp_path / "new").glob("*.txt")), dtype=int)
    track_of = {(label, t): label for label, begin, end, _ in table.tolist() for t in range(begin, end + 1)}
    assert len(track_of) == cell.sum()  # no track skips a frame
    order = np.flatnonzero(cell)
    written = formats.read_label_images(tmp_path / "new")
    own = [
        written[t][images[t] == label][0] for t, label in zip(cells.lineage.frames[order], labels[order], strict=True)
    ]
    order = order[np.lexsort((own, cells.lineage.frames[order]))]
    assert again.lineage == reordered(cells.lineage.without(~cell), order)


def test_what_a_folder_cannot_hold(tmp_path):
    images = [np.full((2, 2), 1), np.full((2, 2), 1)]
    with pytest.raises(ValueError, match="Row 2 in frame 1 is a merge"):
        formats.write_challenge(tmp_path, Lineage.of([0, 0, 1], [(0, 2), (1, 2)]), images, np.array([1, 2, 1]))
    with pytest.raises(ValueError, match="Frame 1 has a detection with label 3, but its image does not"):
        formats.write_challenge(tmp_path / "a", Lineage.of([0, 1], [(0, 1)]), images, np.array([1, 3]))
    assert not list(tmp_path.iterdir())  # not even a part of it
    with pytest.raises(ValueError, match="Frame 2 has detections but no image"):
        formats.write_challenge(tmp_path / "b", Lineage.of([0, 2], []), images, np.array([1, 1]))
    (tmp_path / "c").write_text("")
    with pytest.raises(FileExistsError, match="give a new folder"):
        formats.write_challenge(tmp_path, Lineage.of([], []), images, np.array([]))


def test_graphs_read_back_equal(simulated):
    cells, _ = simulated
    graph = formats.to_networkx(cells)
    rows = np.flatnonzero(~cells.lineage.false)
    assert len(graph) == rows.size and all(graph.out_degree(row) == 2 for row in cells.lineage.divisions)
    again = formats.from_networkx(graph)
    assert again.lineage == reordered(cells.lineage, rows) and list(again.table) == list(cells.table)
    assert all(np.array_equal(again.table[name], cells.table[name][rows]) for name in cells.table)


def test_graphs_of_others():
    graph = networkx.DiGraph([("a", "b"), ("a", "c")])
    for node, t in zip("abc", (0, 1.0, np.int64(2)), strict=True):
        graph.nodes[node]["t"] = t
    graph.nodes["b"].update(y=1.5, kind="round")
    cells = formats.from_networkx(graph)
    assert cells.lineage.links.tolist() == [[0, 1], [0, 2]] and cells.lineage.divisions.tolist() == [0]
    assert np.array_equal(cells.table["y"], [np.nan, 1.5, np.nan], equal_nan=True) and cells.table["kind"] == (
        "",
        "round",
        "",
    )
    graph.nodes["c"]["t"] = 0
    with pytest.raises(FormatError, match="from node 'a' in frame 0 to node 'c' in frame 0 does not lead"):
        formats.from_networkx(graph, name="cells")
    for bad in (None, "1", 1.5, np.nan, True):
        graph.nodes["c"]["t"] = bad
        with pytest.raises(FormatError, match="cells: node 'c' has the t"):
            formats.from_networkx(graph, name="cells")
    with pytest.raises(FormatError, match="must be directed"):
        formats.from_networkx(networkx.Graph())
    assert formats.from_networkx(networkx.DiGraph()).lineage == Lineage.of([], [])


def test_geff_reads_back_equal(simulated, tmp_path):
    geff = pytest.importorskip("geff", reason="geff is not installed")
    cells, _ = simulated
    formats.write_geff(cells, tmp_path / "cells.geff")
    again = formats.read_geff(tmp_path / "cells.geff")
    rows = np.flatnonzero(~cells.lineage.false)
    assert again.lineage == reordered(cells.lineage, rows) and set(again.table) == set(cells.table)
    assert all(np.array_equal(again.table[name], cells.table[name][rows]) for name in cells.table)
    assert [axis.name for axis in geff.read(str(tmp_path / "cells.geff"))[1].axes] == ["t", *cells.axes]
    with pytest.raises(FileExistsError, match="give a new folder"):
        formats.write_geff(cells, tmp_path / "cells.geff")
    for path in (tmp_path, tmp_path / "none", __file__):
        with pytest.raises(FormatError, match="no GEFF folder"):
            formats.read_geff(path)


def test_napari_reads_back_equal(simulated):
    cells, _ = simulated
    data, graph = formats.to_napari(cells)
    assert (
        data.shape == ((~cells.lineage.false).sum(), 2 + len(cells.axes))
        and len(graph) >= 2 * cells.lineage.divisions.size
    )
    again = formats.from_napari(data, graph)
    order = np.lexsort((cells.lineage.frames, cells.lineage.tracks))[cells.lineage.false.sum() :]
    assert again.lineage == reordered(cells.lineage, order)
    assert all(np.array_equal(again.table[axis], cells.table[axis][order]) for axis in cells.axes)


def test_napari_has_merges_and_any_numbers():
    data = [[0, 0, 1, 1], [7, 0, 5, 5], [3, 1, 3, 3], [3, 2, 3, 4]]
    cells = formats.from_napari(data, {3: [0, 7]})
    assert cells.lineage.links.tolist() == [[0, 2], [1, 2], [2, 3]] and cells.table["track"].tolist() == [0, 7, 3, 3]
    again, graph = formats.to_napari(cells)
    assert graph == {3: [1, 2]} and again[:, 2:].tolist() == np.array(data)[:, 2:].tolist()
    assert formats.from_napari(data, {3: 7}).lineage.links.tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("data", "graph", "words"),
    [
        ([[1, 0, 0, 0], [1, 0, 1, 1]], {}, "frame 0 has track 1 twice"),
        ([[1, 0, 0, 0], [2, 0, 1, 1]], {2: [1]}, "track 2 begins in frame 0, but its parent 1 ends in frame 0"),
        ([[1, 0, 0, 0], [2, 1, 1, 1]], {2: [4]}, "track 2 has the parent 4, but 4 is in no frame"),
        ([[1, 0.5, 0, 0]], {}, "row 0 has track 1 in frame 0.5"),
        ([[1, 0, 0, np.nan]], {}, "finite numbers"),
        ([[1, 0, 0]], {}, "rows of finite numbers"),
    ],
)
def test_tracks_that_cannot_be(data, graph, words):
    with pytest.raises(FormatError, match=words):
        formats.from_napari(data, graph)


@pytest.mark.parametrize("package", ["networkx", "geff", "tifffile"])
def test_a_missing_package_is_named(package, monkeypatch, folder):
    monkeypatch.setitem(sys.modules, package, None)
    cells = TrackedCells({"frame": np.zeros(0)}, Lineage.of([], []))
    use = {
        "networkx": lambda: formats.to_networkx(cells),
        "geff": lambda: formats.read_geff(folder),
        "tifffile": lambda: formats.read_challenge(folder),
    }
    with pytest.raises(ImportError, match=rf"needs {package}; install it with: pip install 'maximand\[tracking\]'"):
        use[package]()
