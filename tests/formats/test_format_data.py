"""The public data sets, where they are: counts as published, and what is written reads back equal."""

import io
import tarfile
from itertools import islice

import numpy as np
import pytest

from maximand import formats


def rewritten(write, read, record):
    file = io.BytesIO()
    write(record, file)
    return read(io.BytesIO(file.getvalue()))


def test_multiclass(data):
    train = formats.read_svmlight(data / "multiclass" / "dna.train.svm.gz")
    assert train.X.shape == (2000, 180)
    assert [(train.y == k).sum() for k in (1, 2, 3)] == [464, 485, 1051]
    assert rewritten(formats.write_svmlight, formats.read_svmlight, train) == train


def test_learning_to_rank(data):
    part = formats.read_letor(data / "ltr" / "ohsumed.S1.txt.gz")
    assert part.X.shape == (2570, 45)
    assert [(part.relevance == k).sum() for k in (0, 1, 2)] == [1751, 451, 368]
    assert part.comments[0] == "docid = 244338"
    assert len(list(formats.stream_letor(data / "ltr" / "ohsumed.S1.txt.gz", 45))) == 21


@pytest.mark.parametrize(
    ("name", "part", "n_rows", "n_features", "n_labels", "cardinality"),
    [
        ("birds", ".train", 322, 260, 19, 1.059),
        ("cal500", "", 502, 68, 174, 26.044),
        ("mediamill-2000", ".test", 500, 120, 101, 4.264),
        ("tmc2007-500", ".test", 7077, 500, 22, 1.952),
    ],
)
def test_multilabel(data, name, part, n_rows, n_features, n_labels, cardinality):
    folder = data / "multilabel"
    found = formats.read_mulan(folder / f"{name}{part}.arff.gz", folder / f"{name}.labels.xml.gz")
    assert found.X.shape == (n_rows, n_features)
    assert found.Y.shape == (n_rows, n_labels)
    assert round(found.Y.sum() / n_rows, 3) == cardinality


def test_multilabel_svmlight(data):
    found = formats.read_multilabel_svmlight(data / "multilabel" / "rcv1subset1-top944.test.svm.gz")
    assert found.X.shape == (3000, 944)
    assert sum(map(bool, found.labels)) == 2914


def test_label_rankings(data):
    found = formats.read_rankings(data / "labelranking" / "vowel.csv.gz")
    assert found.X.shape == (528, 10)
    assert found.labels == tuple("abcdefghijk")


@pytest.mark.parametrize(
    ("name", "n_rows", "n_classes", "n_partitions"), [("toy", 300, 5, 30), ("automobile", 205, 6, 1)]
)
def test_ordinal(data, name, n_rows, n_classes, n_partitions):
    found = formats.read_ordinal(data / "ordinal" / f"{name}.csv.gz")
    assert (len(found.y), found.y.max()) == (n_rows, n_classes)
    assert len(formats.read_partitions(data / "ordinal" / f"{name}.splits.txt.gz", n_rows=n_rows)) == n_partitions


def test_sequences(data):
    chunks = list(formats.read_conll(data / "sequence" / "conll2000.test.txt.gz"))
    assert (len(chunks), sum(len(sentence.rows) for sentence in chunks)) == (2012, 47377)
    trees = list(formats.read_conllu(data / "sequence" / "en_ewt-ud-dev.conllu.gz"))
    assert (len(trees), sum(len(tree.words) for tree in trees)) == (2001, 25147)
    words = list(islice(formats.read_letters(data / "ocr" / "letter.data.gz"), 500))
    assert words[0].letters == "ommanding"
    for records, write, read in [
        (chunks, formats.write_conll, formats.read_conll),
        (trees, formats.write_conllu, formats.read_conllu),
        (words, formats.write_letters, formats.read_letters),
    ]:
        assert list(rewritten(write, read, records)) == records


def test_rna(data):
    (path,) = (data / "rna").glob("*.dbn.gz")
    structures = list(islice(formats.read_dot_bracket(path), 500))
    assert structures[0].name == "RF00001 X01556.1/3-118 pairs=31/34"
    assert len(structures[0].pairs) == 31
    with tarfile.open(data / "rna" / "S-151Rfam.tar.gz") as archive:
        families = [formats.read_bpseq(archive.extractfile(member)) for member in archive if member.isfile()]
    assert len(families) == 151
    assert all(rewritten(formats.write_bpseq, formats.read_bpseq, family) == family for family in families)


def test_alignments(data):
    pairs = list(islice(formats.read_alignment_pairs(data / "alignment" / "scop40_tmalign_pairs.tsv.gz"), 500))
    assert all(len(pair.aligned()) == int(pair.metadata["n_aligned"]) for pair in pairs)


def test_tracking(data):
    with tarfile.open(data / "tracking" / "epidermis.tar.gz") as archive:
        both = formats.read_tracking(
            archive.extractfile("epidermis/area1/regionprops.csv"),
            archive.extractfile("epidermis/area1/02_GT/TRA/man_track.txt"),
        )
    assert (len(both.detections.frame), len(both.tracks.labels)) == (4453, 1070)


def test_label_images_and_tables_of_cells_agree(data, tmp_path):
    pytest.importorskip("tifffile", reason="tifffile is not installed")
    with tarfile.open(data / "tracking" / "epidermis.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    area = tmp_path / "epidermis" / "area1"
    images = formats.read_challenge(area / "02_GT" / "TRA")
    table = formats.read_tracking(area / "regionprops.csv", area / "02_GT" / "TRA" / "man_track.txt")
    order = np.lexsort((table.detections.track, table.detections.frame))
    for name in ("y", "x"):
        np.testing.assert_allclose(images.table[name], table.cells.table[name][order], atol=1e-9)
    np.testing.assert_array_equal(images.table["label"], table.detections.track[order])
    assert (images.lineage.n_tracks, len(images.lineage.divisions)) == (1053, 335)  # 17 children are alone


def test_cells_without_a_track(data):
    with tarfile.open(data / "tracking" / "cellmigration.tar.gz") as archive:
        both = formats.read_tracking(
            archive.extractfile("cellmigration/Sparse7/regionprops.csv"),
            archive.extractfile("cellmigration/Sparse7/02_GT/TRA/man_track.txt"),
        )
    assert ((both.detections.track < 0).sum(), len(both.cells.lineage.divisions)) == (234, 98)
    assert both.cells.axes == ("y", "x") and "intensity" in both.cells.table
