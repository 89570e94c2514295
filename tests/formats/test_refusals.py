"""Malformed files: one FormatError each, with the right line."""

import io

import numpy as np
import pytest
from scipy.sparse import csr_array

from formats.samples import (
    CONLLU,
    DENSE_ARFF,
    DETECTIONS,
    GRAPHS,
    LABELS_XML,
    LETTERS,
    MSF,
    SAMPLES,
    SPARSE_ARFF,
    TRACKS,
)
from maximand import formats

BOMB = '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n<labels>&b;</labels>\n'

REFUSED = {
    "svmlight": [
        ("1 1:2\n\n# fine\nx 1:2\n", 4, "label 'x'"),
        ("1 1:2\n1,5 1:2\n", 2, "read_multilabel_svmlight"),
        ("1 1:2\n1 1:2 1:3\n", 2, "must increase"),
        ("1 3:2 2:3\n", 1, "index 2 is out of order"),
        ("1 1000000000000:2\n", 1, "above 2147483647"),
        ("1 0:1\n1 2147483647:2\n", 2, "beyond the 2147483647 features"),
        ("1 2:1\n1 99999999999999999999999:2\n", 2, "not index:value"),
        ("1 -3:2\n", 1, "'-3:2'"),
        ("1 1:2\n1 1:nan\n", 2, "not finite"),
        ("1 1:2\n1 2:1 3:1e999\n", 2, "not finite"),
        ("1 1:2\nnan 2:1\n", 2, "label is not finite"),
        ("1 1:2_0\n", 1, "'1:2_0'"),
        ("1 1:\n", 1, "'1:'"),
        ("1 1\n", 1, "'1'"),
        ("1 qid:1 1:2\n1 1:2\n", 1, "qid"),
        ("1 qid:x 1:2\n", 1, "qid is 'x'"),
        ("1 qid: 1:2\n", 1, "qid is ''"),
        ("1 qidx:1 1:2\n", 1, "qid"),
        ("# nothing\n", 1, "no rows"),
    ],
    "svmlight stream": [("1 1:2\n0 4:1\n", 2, "beyond the 3 features"), ("1 0:2\n", 1, "they begin at 1")],
    "svmlight, several labels": [
        ("1,2 1:1\n1,1 1:1\n", 2, "twice"),
        ("1.5 1:1\n", 1, "whole number"),
        ("1,x 1:1\n", 1, "'1,x'"),
        ("1,1000000000000 1:1\n", 1, "whole number"),
        ("3 qid:3 1:1\n", 1, "qid"),
    ],
    "LETOR": [
        ("2 1:0.5\n", 1, "qid is ''"),
        ("2 qid:1 1:1\n1.5 qid:1 1:1\n", 2, "relevance is 1.5"),
        ("2 qid:1 0:1\n", 1, "they begin at 1"),
    ],
    "dense ARFF": [
        (DENSE_ARFF.replace("5,'it", "5,5,'it"), 13, "6 values but 5 attributes"),
        (DENSE_ARFF.replace("5,'it\\'s'", "5,green"), 13, "'green'"),
        (DENSE_ARFF.replace("0.1,", "nan,"), 11, "finite number"),
        (DENSE_ARFF.replace("@ATTRIBUTE y REAL", "@attribute y string"), 7, "'string'"),
        (DENSE_ARFF.replace("@ATTRIBUTE y REAL", "@attribute x real"), 7, "twice"),
        (DENSE_ARFF.replace("{0, 1}", "{0,0}"), 8, "one twice"),
        (DENSE_ARFF.replace("red,'light", "red,light"), 5, "quote"),
        (DENSE_ARFF.replace("@data", "@date"), 10, "@date"),
        (DENSE_ARFF[: DENSE_ARFF.index("@data")], 9, "no @data"),
        (DENSE_ARFF + "{0 1}\n", 14, "one kind"),
    ],
    "sparse ARFF": [
        (SPARSE_ARFF.replace("{2 1, 3 1}", "{3 1, 2 1}"), 9, "2 after 3"),
        (SPARSE_ARFF.replace("{2 1, 3 1}", "{2 1, 2 1}"), 9, "2 after 2"),
        (SPARSE_ARFF.replace("{2 1, 3 1}", "{2 1, 1000000000000 1}"), 9, "from 0 to 3"),
        (SPARSE_ARFF.replace("{2 1, 3 1}", "{2 1, 4 1}"), 9, "from 0 to 3"),
        (SPARSE_ARFF.replace("{2 1, 3 1}", "{2 7}"), 9, "'7'"),
        (SPARSE_ARFF.replace("{2 1, 3 1}", "{2 1, 3 1"), 9, "closing }"),
    ],
    "dense Mulan": [
        (DENSE_ARFF.replace("sunny", "rainy"), None, "'sunny'"),
        (DENSE_ARFF.replace("{0, 1}", "{1,0}"), None, "{0,1}"),
        (DENSE_ARFF.replace("5,'it\\'s',1", "5,'it\\'s',?"), 13, "neither 0 nor 1"),
        (DENSE_ARFF.replace("sunny {0, 1}", "sunny numeric").replace("e300,1", "e300,0.5"), 13, "neither 0 nor 1"),
    ],
    "sparse Mulan": [(SPARSE_ARFF.replace("{2 1, 3 1}", "{2 1, 3 ?}"), 9, "neither 0 nor 1")],
    "labels XML": [
        (BOMB, 2, "document type"),
        (LABELS_XML.replace("sunny", "Brown Creeper"), 4, "twice"),
        (LABELS_XML.replace("name=", "title="), 3, "no name"),
        (LABELS_XML.replace("label ", "babel "), 3, "'babel'"),
        (LABELS_XML.replace("</labels>", ""), 5, "not well-formed"),
        (LABELS_XML.replace("utf-8", "utf-7"), 1, "not well-formed"),
        ("<labels></labels>\n", 1, "no <label"),
    ],
    "label rankings": [
        ("1,2,a>b\n", 1, "header"),
        ("A1,ranking\n1,a>b\n1,2,a>b\n", 3, "2 features but the header names 1"),
        ("A1,ranking\ninf,a>b\n", 2, "column 1 is 'inf'"),
        ("A1,ranking\n1,a>b>a\n", 2, "twice"),
        ("A1,ranking\n1,a>>b\n", 2, "empty label"),
        ("A1,ranking\n1,a\n\n\n1,b\n", 3, "blank line"),
    ],
    "ordinal rows": [
        ("1,2,1\n1,1\n", 2, "1 features but the first row has 2"),
        ("1,2,1\n1,2,0\n", 2, "class is '0'"),
        ("1,2,1000000000000\n", 1, "from 1 to 10000"),
        ("1,nan,1\n", 1, "column 2 is 'nan'"),
        ("1,2,1.5\n", 1, "'1.5'"),
    ],
    "partitions": [
        ("0 1 2\n1 3 3\n", 2, "a row twice"),
        ("0 1 2\n0 3\n", 2, "partition 0 is there twice"),
        ("0 1 -2\n", 1, "'-2'"),
        ("0 1000000000000\n", 1, "row number"),
    ],
    "CoNLL": [("a N\nb N\n\nc\n", 4, "1 columns where lines above have 2")],
    "CoNLL-U": [
        (CONLLU.replace("\taux\t_\t_", "\taux\t_"), 5, "9 columns"),
        (CONLLU.replace("2\tdid\t", "3\tdid\t"), 5, "id '3' after word 1"),
        (CONLLU.replace("2-3", "2-1000000000"), 4, "'2-1000000000'"),
        (CONLLU.replace("2-3", "3-4"), 4, "'3-4' after word 1"),
        (CONLLU.replace("4.1\tit", "4.2\tit"), 8, "'4.2'"),
        (CONLLU.replace("VBD\t_\t4", "VBD\t_\t5"), 5, "head of word 2 is '5'"),
        (CONLLU.replace("VBD\t_\t4", "VBD\t_\t2"), 5, "head of word 2 is '2'"),
    ],
    "letters": [
        (LETTERS.replace("\n3\t", "\n3\t\t"), 3, "128 pixels"),
        (LETTERS.replace("2\tm", "7\tm"), 2, "where the word needs [2, 1, 2, 0]"),
        (LETTERS.replace("\tb\t5\t2\t2", "\tb\t5\t2\t7"), 4, "where the word needs [4, 2, 2, 9]"),
        (LETTERS.replace("a\t", "ab\t"), 3, "one character"),
        (LETTERS[: LETTERS.index("5\té")], 4, "inside a word"),
        (LETTERS.replace("1\to", "1000000000000\to"), 1, "id is"),
    ],
    "graphs": [
        (GRAPHS.replace("7.25", "NaN"), 2, "NaN is no number"),
        (GRAPHS.replace("7.25", "1e999"), 2, "the feature 'Infinity'"),
        (GRAPHS.replace("7.25", "9" * 400), 2, "node 0 has the feature"),
        (GRAPHS.replace("7.25", "9" * 5000), 2, "too many digits"),
        (GRAPHS.replace("7.25", "true"), 2, "the feature 'true'"),
        (GRAPHS.replace("7.25", '"7"'), 2, "give finite numbers"),
        (GRAPHS.replace("[3, 4]]", "[3]]"), 1, "node 2 has 1 features but node 0 has 2"),
        (GRAPHS.replace("[[1, 2], [0, 0]]", "[[1], [0]]"), 4, "nodes with 1 features where graphs above have 2"),
        (GRAPHS.replace("[[1, 2], [0, 0]]", "[1, 0]"), 4, "nodes is '[1, 0]'; give a list with a list for each node"),
        (GRAPHS.replace("[2, 1]]", "[2, 3]]"), 1, "edge 1 has '3'; give whole numbers from 0 to 2"),
        (GRAPHS.replace("[2, 1]]", "[2, -1]]"), 1, "edge 1 has '-1'"),
        (GRAPHS.replace("[2, 1]]", "[2, 1.0]]"), 1, "edge 1 has '1.0'"),
        (GRAPHS.replace("[2, 1]]", "[1, 1]]"), 1, "edge 1 is '[1, 1]'; an edge joins two different nodes"),
        (GRAPHS.replace("[2, 1]]", "[2, 1, 0]]"), 1, "an edge joins two"),
        (GRAPHS.replace("[2, 1]]", "[1, 0]]"), 1, "edge 1 joins [1, 0] like edge 0; keep one"),
        (GRAPHS.replace("[0, 1], [2, 1]]", "[0, 1], 2]"), 1, "give a list with a list for each edge"),
        (GRAPHS.replace('["a", null, ', "["), 1, "1 labels but 3 nodes"),
        (GRAPHS.replace('"a"', "-1"), 1, "node 0 has the label '-1'; labels are text, or whole numbers but -1"),
        (GRAPHS.replace('"a"', "0.5"), 1, "node 0 has the label '0.5'"),
        (GRAPHS.replace('"a"', "{}"), 1, "node 0 has the label '{}'"),
        (GRAPHS.replace('"a"', '"\\ud800"'), 1, "labels are text"),
        (GRAPHS.replace('"ü"', "null"), 1, "node 2 has the label 'null'"),
        (GRAPHS.replace('["b", "ü"]', "[]"), 1, "empty list of candidates; say null"),
        (GRAPHS.replace('["a", null, ["b", "ü"]]', '"abc"'), 1, "labels '\"abc\"' but 3 nodes"),
        (GRAPHS.replace('"edge_types": [3]', '"edge_types": [3, 1]'), 2, "1 edges but 2 edge_types"),
        (GRAPHS.replace('"edge_types": [3]', '"edge_types": [1000000000000]'), 2, "from 0 to 9999"),
        (GRAPHS.replace('"edge_types": [3]', '"edge_types": 3'), 2, "edge_types is '3'; give a list"),
        (GRAPHS.replace('"edge_types": [3]', '"edge_types": [3], "edge_features": [[1]]'), 2, "add the types to"),
        (GRAPHS.replace('"edge_types": [3]', '"edge_features": [[1], [2]]'), 2, "1 edges but edge_features for 2"),
        (GRAPHS.replace('"edge_types": [3]', '"edge_features": [[]]'), 2, "edge_features without columns"),
        (GRAPHS.replace("[[1], []]", "[[2], []]"), 2, "indices of node 0 has '2'; give whole numbers from 0 to 1"),
        (GRAPHS.replace("[[7.25], []]", "[[7.25]]"), 2, "2 lists of indices but 1 of values"),
        (GRAPHS.replace("[[7.25], []]", "[[7.25], [1]]"), 2, "node 1 has 0 indices but 1 values"),
        (GRAPHS.replace("[[1], []]", "[[1, 0], []]").replace("[7.25]", "[7, 8]"), 2, "they must increase"),
        (GRAPHS.replace('"n_features": 2, ', ""), 2, "an object needs n_features, indices, values"),
        (GRAPHS.replace('"n_features": 2', '"n_features": 1000000000000'), 2, "n_features has '1000000000000'"),
        (GRAPHS.replace("[2, 2]", "[2, 3]"), 3, "the grid '[2, 3]' does not have 4 nodes"),
        (GRAPHS.replace('"grid": [2, 2]', '"grid": [2, 2], "edges": []'), 3, "a grid with edges"),
        (GRAPHS.replace('"edges": [[1, 0]], "edge_types": [3]', '"grid": [1, 2]'), 2, "give rows of numbers"),
        (GRAPHS.replace('"grid"', '"grids"'), 3, "'grids' is not known; the names are nodes, edges"),
        (GRAPHS.replace('"grid"', '"nodes"'), 3, "a name is there twice"),
        (GRAPHS.replace('"nodes": [[0, 1e300]]', '"nodes": null'), 5, "no nodes; a graph is an object"),
        (GRAPHS.replace('"nodes": [[0, 1e300]]', '"nodes": []'), 5, "a graph without nodes; delete the line"),
        (GRAPHS.replace("1e300]]}", "1e300]]"), 5, "not JSON at character"),
        (GRAPHS + "[1]\n", 6, "'[1]' is no object"),
        (GRAPHS + "[" * 100_000 + "\n", 6, "too many brackets"),
        ("\n" + GRAPHS, 1, "blank line"),
    ],
    "dot-bracket": [
        (">a\nGGCC\n(())\n>b\nGGCC\n(()\n", 6, "3 brackets and dots but 4 bases"),
        (">a\nGGCC\n((.)\n", 3, "'(' at position 1 is never closed"),
        (">a\nGGCC\n.)()\n", 3, "')' at position 2 closes nothing"),
        (">a\nGGCC\n([)x\n", 3, "'x' at position 4"),
        (">a\nGG CC\n(..)\n", 2, "letters must stand"),
        (">a\nGGCC\n", 2, "ends inside"),
        (">a\n>b\nGGCC\n(())\n", 2, "letters must stand"),
    ],
    "bpseq": [
        ("1 G 3\n2 A 0\n3 C 2\n", 1, "base 1 is paired with 3"),
        ("# x\n1 G 1\n", 2, "paired with 1"),
        ("1 G 0\n3 G 0\n", 2, "position is '3'"),
        ("1 G 0\n1 G 0\n", 2, "position is '1'"),
        ("1 G 1000000000000\n", 1, "partner is"),
        ("1 G 900000000\n", 1, "paired with 900000000"),
        ("1 GG 0\n", 1, "one letter"),
        ("1 G\n", 1, "2 fields"),
    ],
    "ct": [
        ("1000000000000 huge\n1 G 0 2 0 1\n", 1, "length is"),
        ("2000000000 huge\n1 G 0 2 0 1\n", 2, "after 1 of 2000000000"),
        ("2 x\n1 G 0 2 2 1\n2 C 1 0 0 2\n", 2, "base 1 is paired with 2"),
        ("2 x\n1 G 0 2 2 1\n\n2 C 1 0 1 2\n", 3, "0 fields"),
        ("x 2\n", 1, "length is 'x'"),
    ],
    "aligned FASTA": [
        ("ACD\n", 1, "before the first"),
        (">a\nACD\n>b\nAC\n", 3, "'b' has 2 columns and the first row 3"),
        (">a\nAC1D\n", 2, "'AC1D'"),
    ],
    "MSF": [
        (MSF.replace("Len: 12  Check: 22", "Len: 1000000000000  Check: 22"), 6, "length is"),
        (MSF.replace("Len: 12  Check: 22", "Len: 13  Check: 22"), 6, "said to have 13 columns but has 12"),
        (MSF.replace("second  L.", "third   L."), 15, "'third'"),
        (MSF.replace("second  L.", "second  L.A"), 6, "13 columns and the first row 12"),
        (MSF.replace("Name: second", "Name: first"), 6, "twice"),
        (MSF.replace("//", ""), 15, "no // line"),
    ],
    "aligned pairs": [
        ("sid1\tsid2\taln1\n", 1, "aln2"),
        ("sid1\tsid2\taln1\taln2\na\tb\tAC\tAC\na\tb\tAC\tA\n", 3, "2 and 1 columns"),
        ("sid1\tsid2\taln1\taln2\na\tb\tAC\n", 2, "3 columns but the header names 4"),
    ],
    "tracks": [
        ("1 0 2 0\n1 3 4 0\n", 2, "twice"),
        ("1 3 2 0\n", 1, "ends before it begins"),
        ("1 0 2 0\n2 2 4 1\n", 2, "parent 1"),
        ("1 0 2 9\n", 1, "parent 9"),
        ("1 0 1000000000000 0\n", 1, "end is"),
        ("-1 0 1 0\n", 1, "label is '-1'"),
    ],
    "detections": [
        (DETECTIONS.replace("frame", "time"), 1, "header"),
        (DETECTIONS.replace(",11,12,1,", ",x,12,1,"), 4, "centroid-0 is 'x'"),
        (DETECTIONS.replace(",11,12,1,", ",inf,12,1,"), 4, "centroid-0 is 'inf'"),
        (DETECTIONS.replace(",11,12,1,", ",11,12,,"), 4, "frame is ''"),
        (DETECTIONS.replace(",11,12,1,1.0", ",11,12,1,1.5"), 4, "track is '1.5'"),
        (DETECTIONS.replace(",11,12,1,", ",11,1,"), 4, "7 values but 8 columns"),
        (DETECTIONS.replace('bright"', "bright"), 3, "quotes"),
    ],
    "tracking": [
        (DETECTIONS.replace("11,12,1,1.0", "11,12,1,3.0"), 4, "track 3 is not in frame 1"),
        (DETECTIONS.replace("11,12,1,1.0", "11,12,1,99"), 4, "track 99"),
        (DETECTIONS.replace("11,12,1,1.0", "11,12,0,1.0"), None, "frame 0 has track 1 twice"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "line", "words"), [(name, *case) for name, cases in REFUSED.items() for case in cases]
)
def test_the_line_to_blame_is_named(name, text, line, words):
    with pytest.raises(formats.FormatError) as caught:
        SAMPLES[name].read(io.StringIO(text))
    assert caught.value.line == line
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300


def test_unknown_labels_and_rows_beyond_the_data():
    with pytest.raises(formats.FormatError, match="line 2: the label 'c' is unknown; labels are 'a, b'"):
        formats.read_rankings(io.StringIO("A1,ranking\n1,c>a\n"), labels=["a", "b"])
    with pytest.raises(formats.FormatError, match="line 1: a row number is '9'"):
        formats.read_partitions(io.StringIO("0 1 9\n"), n_rows=9)
    with pytest.raises(formats.FormatError, match=r"line 2: .*track 2"):
        formats.read_tracking(io.StringIO("frame,track\n0,2\n"), io.StringIO(TRACKS))


@pytest.mark.parametrize(
    ("write", "record"),
    [
        (formats.write_conll, [formats.Sentence((("New York", "LOC"),))]),
        (formats.write_conll, [formats.Sentence((("", "LOC"),))]),
        (formats.write_conll, [formats.Sentence((("a", "b\nc"),))]),
        (formats.write_conllu, [formats.Tree((formats.Token("1", "a\tb"),))]),
        (formats.write_aligned_fasta, formats.Alignment((" a",), ("ACD",))),
        (formats.write_msf, formats.Alignment(("a b",), ("ACD",))),
        (formats.write_msf, formats.Alignment(("a", "a"), ("ACD", "ACD"))),
        (formats.write_labels_xml, ("a\nb",)),
        (formats.write_graphs, [formats.LabelledGraph(np.full((1, 1), np.nan), np.zeros((0, 2), dtype=int))]),
        (formats.write_graphs, [formats.LabelledGraph(csr_array([[np.inf]]), np.zeros((0, 2), dtype=int))]),
        (formats.write_graphs, [formats.LabelledGraph(np.ones((1, 1)), np.zeros((0, 2), dtype=int), labels=(-1,))]),
        (formats.write_graphs, [formats.LabelledGraph(np.ones((1, 1)), np.zeros((0, 2), dtype=int), labels=(2.5,))]),
    ],
)
def test_what_a_format_cannot_hold_is_not_written(write, record):
    with pytest.raises(ValueError, match=r"[;:]"):
        write(record, io.StringIO())
