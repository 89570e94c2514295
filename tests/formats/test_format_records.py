"""What particular formats mean."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from formats.samples import DENSE_ARFF, LABELS_XML, SAMPLES, SPARSE_ARFF
from maximand import formats


def read(name):
    return SAMPLES[name].read(io.StringIO(SAMPLES[name].text))


def test_equality_looks_into_arrays():
    rows = formats.OrdinalRows(np.array([[1.0, np.nan]]), np.array([2]))
    assert rows == formats.OrdinalRows(np.array([[1.0, np.nan]]), np.array([2]))
    assert rows != formats.OrdinalRows(np.array([[1.0, 0.0]]), np.array([2]))
    assert rows != formats.OrdinalRows(np.array([[1.0, np.nan]]), np.array([3]))
    assert rows != "rows"
    table, other = read("sparse ARFF"), read("sparse ARFF")
    other.data.data[1] = 0.5
    assert table != other
    assert read("detections") != formats.Detections({**read("detections").columns, "label": np.zeros(7)})


def test_indices_begin_at_one_unless_a_zero_occurs():
    assert formats.read_svmlight(io.StringIO("1 1:5\n2 2:7\n")).X.toarray().tolist() == [[5, 0], [0, 7]]
    assert formats.read_svmlight(io.StringIO("1 0:5\n2 1:7\n")).X.toarray().tolist() == [[5, 0], [0, 7]]
    assert formats.read_svmlight(io.StringIO("1 1:5\n"), zero_based=True).X.toarray().tolist() == [[0, 5]]
    assert formats.read_svmlight(io.StringIO("1 1:5\n"), n_features=3).X.shape == (1, 3)


def test_rankings_may_be_quoted():
    plain = formats.read_rankings(io.StringIO("A1,ranking\n1,b>a\n2,a\n"))
    assert formats.read_rankings(io.StringIO('"A1","ranking"\n1,"b>a"\n2, "a" \n')) == plain


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_numbers_are_written_exactly(values):
    data = formats.LabelledRows(np.diag(values), np.array(values))
    file = io.StringIO()
    formats.write_svmlight(data, file)
    again = formats.read_svmlight(io.StringIO(file.getvalue()), n_features=len(values))
    assert again.y.tolist() == values
    assert np.array_equal(again.X.toarray(), np.diag(values))


def test_streams_of_rows_and_queries():
    text = "".join(f"{i % 3} qid:{i // 4} 1:{i}\n" for i in range(10))
    chunks = list(formats.stream_svmlight(io.StringIO(text), 1, n_rows=4))
    assert [chunk.X.shape for chunk in chunks] == [(4, 1), (4, 1), (2, 1)]
    queries = list(formats.stream_letor(io.StringIO(text), 1))
    assert [query.queries.tolist() for query in queries] == [[0] * 4, [1] * 4, [2] * 2]
    assert np.array_equal(np.vstack([query.X.toarray() for query in queries])[:, 0], np.arange(10))


def test_labels_and_remarks():
    assert read("svmlight, several labels").labels == ((1, 5, 7), (), (2,))
    judged = read("LETOR")
    assert judged.comments == ("docid = 244338", "ü", "")
    assert judged.relevance.tolist() == [2, 0, 1]
    assert judged.X.shape == (3, 45)


def test_nominal_values_and_missing_ones():
    table = read("dense ARFF")
    assert table.attributes[1] == formats.Attribute("colour, seen", ("red", "light blue", "it's"))
    assert table.data[:, 1].tolist() == [0, 1, 2]
    assert np.isnan(table.data[1, 0])
    assert table.relation == "birds: a sample"


@pytest.mark.parametrize("text", [DENSE_ARFF, SPARSE_ARFF])
def test_labels_come_in_the_order_of_the_xml(text):
    data = formats.read_mulan(io.StringIO(text), io.StringIO(LABELS_XML))
    assert data.labels == ("Brown Creeper", "sunny")
    Y = data.Y if isinstance(data.Y, np.ndarray) else data.Y.toarray()
    assert Y.tolist() == ([[0, 1], [1, 0], [1, 1]] if text is DENSE_ARFF else [[0, 1], [0, 0], [1, 1]])
    assert data.X.shape == (3, len(data.features))


def test_rankings_and_partitions():
    assert read("label rankings").labels == ("a", "b", "c")
    assert read("label rankings").rankings == (("b", "a", "c"), ("c", "a"), ("b", frozenset("ac")))
    assert read("partitions")[1].train(6).tolist() == [1, 3, 5]
    assert formats.read_ordinal(io.StringIO("0.5 1e0 2.0\n")).y.tolist() == [2]


def test_tokens_and_comments():
    assert read("CoNLL")[0].column(0) == ("Confidence", "in", "#")
    assert read("CoNLL with tabs")[0].comments == ("# doc = 1",)
    assert next(formats.read_conll(io.StringIO("a\u00a0b N\n"))).rows == (("a\u00a0b", "N"),)
    tree = read("CoNLL-U")[0]
    assert [word.form for word in tree.words] == ["They", "did", "n't", "buy"]
    assert tree.heads.tolist() == [4, 4, 4, 0]
    assert tree.metadata == {"sent_id": "1", "text": "They didn't buy"}
    assert read("CoNLL-U")[1].heads.tolist() == [-1]


def test_words_of_letters():
    words = read("letters")
    assert [word.letters for word in words] == ["om", "abé"]
    assert words[1].pixels.shape == (3, 128)
    assert (words[1].ids, words[1].word_id, words[1].fold) == ((3, 4, 5), 2, 9)


def test_graphs_and_their_parts():
    first, sparse, grid, joined, alone = read("graphs")
    assert first.nodes.tolist() == [[0.5, 1], [-2e-7, 0], [3, 4]]
    assert (first.edges.tolist(), first.labels) == ([[0, 1], [2, 1]], ("a", None, frozenset({"b", "ü"})))
    assert sparse.nodes.toarray().tolist() == [[0, 7.25], [0, 0]]
    assert (sparse.edge_types.tolist(), sparse.labels) == ([3], None)
    assert (grid.grid, grid.edges.shape, grid.labels[:2]) == ((2, 2), (0, 2), (0, 1))
    assert joined.edge_features.toarray().tolist() == [[0, 0, 1]]
    assert (alone.edges.shape, alone.labels) == ((0, 2), None)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(exclude_categories=["Cs"])) | st.integers(-100, 100).filter(lambda n: n != -1)


@st.composite
def graphs(draw):
    n, width = draw(st.integers(1, 6)), 2
    nodes = np.array(draw(st.lists(NUMBERS, min_size=width * n, max_size=width * n))).reshape(n, width)
    labels = draw(st.none() | st.tuples(*[st.none() | NAMES | st.frozensets(NAMES, min_size=1)] * n))
    none = np.zeros((0, 2), dtype=np.int64)
    if draw(st.booleans()):
        return formats.LabelledGraph(nodes, none, labels=labels, grid=(1, n))
    pairs = draw(
        st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1]))
    )
    edges = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    nodes = csr_array(nodes) if draw(st.booleans()) else nodes
    match draw(st.sampled_from(["features", "types", "neither"])) if pairs else "neither":
        case "features":
            return formats.LabelledGraph(nodes, edges, np.arange(3.0 * len(edges)).reshape(-1, 3), labels=labels)
        case "types":
            return formats.LabelledGraph(nodes, edges, None, np.arange(len(edges)) % 3, labels)
    return formats.LabelledGraph(nodes, edges, labels=labels)


@given(st.lists(graphs(), max_size=3))
def test_graphs_are_written_exactly(records):
    file = io.StringIO()
    formats.write_graphs(records, file)
    assert list(formats.read_graphs(io.StringIO(file.getvalue()))) == records


def test_crossing_pairs():
    knot = read("dot-bracket")[1]
    assert knot.dot_bracket == "([{...)]}()"
    assert knot.pairs.tolist() == [[0, 6], [1, 7], [2, 8], [9, 10]]
    with pytest.raises(ValueError, match="crosses"):
        formats.dot_bracket_of_partners(np.roll(np.arange(10), 5))
    with pytest.raises(ValueError, match="shares a base"):
        formats.partners_of_pairs([(0, 3), (3, 4)], 5)


@given(st.permutations(range(8)), st.integers(0, 4))
def test_pairs_partners_and_brackets_agree(order, n_pairs):
    pairs = sorted((min(p), max(p)) for p in zip(order[:n_pairs], order[4 : 4 + n_pairs], strict=True))
    partners = formats.partners_of_pairs(pairs, 8)
    assert formats.pairs_of_partners(partners).tolist() == [list(pair) for pair in pairs]
    assert np.array_equal(formats.partners_of_dot_bracket(formats.dot_bracket_of_partners(partners)), partners)


def test_rna_files_agree():
    structures = read("dot-bracket")
    for write, reader in [(formats.write_ct, formats.read_ct), (formats.write_dot_bracket, formats.read_dot_bracket)]:
        file = io.StringIO()
        write(structures, file)
        assert list(reader(io.StringIO(file.getvalue()))) == structures


def test_aligned_positions():
    pair = read("aligned pairs")[0]
    assert pair.sequences == ("ACd", "CEF")
    assert pair.aligned().tolist() == [[1, 0], [2, 2]]
    assert pair.metadata == {"tm1": "0.5", "note": ""}
    assert read("MSF").rows == ("ACDEF-GHIKLM", "AC-EFGGH-KL-")


def test_tracks_and_detections():
    both = read("tracking")
    assert both.tracks.parents.tolist() == [0, 1, 1]
    assert both.detections.track.tolist() == [1, -1, 1, 1, 2, 3, 2]
    assert both.detections.numbers("centroid-0", "centroid-1")[2].tolist() == [11, 12]
    assert both.detections.columns["note"][1] == "round, bright"
    cells = both.cells
    assert cells.axes == ("y", "x") and cells.table["frame"].tolist() == [0, 0, 1, 2, 3, 3, 4]
    assert cells.lineage.links.tolist() == [[0, 2], [2, 3], [3, 4], [3, 5], [4, 6]]
    assert both.tracks.family == {2: 1, 3: 1}


def test_detections_that_are_not_tracked_yet():
    found = formats.read_detections(io.StringIO("frame,y\n0,1.5\n1,2\n"), tracked=False)
    assert found.track.tolist() == [-1, -1] and found.table["y"].tolist() == [1.5, 2.0]


def test_tracks_may_be_numbered_from_zero():
    table = io.StringIO("frame,track,centroid-0,centroid-1,centroid-2\n0,0,1,2,3\n1,0,1,2,3\n1,1,4,5,6\n")
    both = formats.read_tracking(table, io.StringIO("0 0 1 0\n1 1 1 0\n"))
    assert both.cells.lineage.links.tolist() == [[0, 1]] and both.cells.axes == ("z", "y", "x")
