"""A small file of each format, with its reader and writer: what the laws and the fuzzer run over."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from maximand import formats

LABELS_XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="Brown Creeper"></label>
<label name="sunny"/>
</labels>
"""
DENSE_ARFF = """% birds and weather
@relation 'birds: a sample'

@attribute x numeric
@attribute 'colour, seen' {red,'light blue',"it\\'s"}
@attribute 'Brown Creeper' {0,1}
@ATTRIBUTE y REAL
@attribute sunny {0, 1}

@data
0.1,red,0,-3e-7,1
?,'light blue',1,2,0
5,'it\\'s',1,1e300,1
"""
SPARSE_ARFF = """@relation words
@attribute w1 {0,1}
@attribute w2 numeric
@attribute 'Brown Creeper' {0,1}
@attribute sunny {0,1}
@data
{0 1,1 0.25,3 1}
{}
{2 1, 3 1}
"""
TRACKS = "1 0 2 0\n2 3 4 1\n3 3 3 1\n"
DETECTIONS = """,label,centroid-0,centroid-1,frame,track,valid,note
0,4,1009.79945799458,325.05,0,1.0,True,
1,5,920.25,3.5,0,,,"round, bright"
2,6,11,12,1,1.0,True,
3,7,11.5,12.5,2,1.0,False,
4,8,12,13,3,2.0,True,
5,9,12,13,3,3.0,True,
6,9,12,13,4,2.0,True,
"""
LETTERS = "".join(
    f"{place}\t" + "\t".join("01"[(i * pixel) % 3 == 1] for pixel in range(128)) + "\n"
    for i, place in enumerate(
        ["1\to\t2\t1\t1\t0", "2\tm\t-1\t1\t2\t0", "3\ta\t4\t2\t1\t9", "4\tb\t5\t2\t2\t9", "5\té\t-1\t2\t3\t9"]
    )
)
CONLLU = """# sent_id = 1
# text = They didn't buy
1\tThey\tthey\tPRON\tPRP\tCase=Nom\t4\tnsubj\t4:nsubj\t_
2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdid\tdo\tAUX\tVBD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tbuy\tbuy\tVERB\tVB\t_\t0\troot\t_\t_
4.1\tit\tit\tPRON\t_\t_\t_\t_\t4:obj\t_

# sent_id = 2
1\tYes\tyes\tINTJ\tUH\t_\t_\t_\t_\t_

"""
GRAPHS = """{"nodes": [[0.5, 1], [-2e-7, 0], [3, 4]], "edges": [[0, 1], [2, 1]], "labels": ["a", null, ["b", "ü"]]}
{"nodes": {"n_features": 2, "indices": [[1], []], "values": [[7.25], []]}, "edges": [[1, 0]], "edge_types": [3]}
{"nodes": [[1, 2], [3, 4], [5, 6], [7, 8]], "grid": [2, 2], "labels": [0, 1, [2, 1], null]}
{"nodes": [[1, 2], [0, 0]], "edges": [[0, 1]], "edge_features": {"n_features": 3, "indices": [[2]], "values": [[1]]}}
{"labels": null, "nodes": [[0, 1e300]]}
"""
MSF = """PileUp

   MSF: 12  Type: P  Check: 1234  ..

 Name: first   Len: 12  Check: 11  Weight: 1.00
 Name: second  Len: 12  Check: 22  Weight: 1.00

//

        1        10
first   ACDEF.GHIK
second  AC~EFGGH.K

first   LM
second  L.
"""


@dataclass(frozen=True)
class Sample:
    """A text and how it is read (a source in, a record out; streams as lists) and written."""

    text: str
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], None]


def listed(reader: Callable[..., Any], **options: Any) -> Callable[[Any], list[Any]]:
    return lambda source: list(reader(source, **options))


def read_mulan_table(source: Any) -> Any:
    return formats.read_mulan(source, io.StringIO(LABELS_XML))


def write_mulan_table(records: Any, target: Any) -> None:
    formats.write_mulan(records, target, io.StringIO())


SAMPLES = {
    "svmlight": Sample(
        "1 1:0.5 3:2e-3\n-1 2:1 # why\n\n# all\n2.5 3:-7\n", formats.read_svmlight, formats.write_svmlight
    ),
    "svmlight with queries": Sample(
        "1 qid:3 1:0.5 3:2\n0 qid:3 1:1\n2 qid:10 2:4\n", formats.read_svmlight, formats.write_svmlight
    ),
    "svmlight stream": Sample(
        "1 1:0.5 3:2\n0 1:1\n2 2:4\n",
        listed(formats.stream_svmlight, n_features=3, n_rows=10**6),
        lambda records, target: formats.write_svmlight(records[0], target) if records else target.write(b""),
    ),
    "svmlight, several labels": Sample(
        "1,5,7 1:0.5 3:2\n 3:1\n2 1:1\n", formats.read_multilabel_svmlight, formats.write_multilabel_svmlight
    ),
    "LETOR": Sample(
        "2 qid:10 1:0.03 2:0 45:1 #docid = 244338\n0 qid:10 1:1 # ü\n1 qid:11 1:0.5\n",
        formats.read_letor,
        formats.write_letor,
    ),
    "dense ARFF": Sample(DENSE_ARFF, formats.read_arff, formats.write_arff),
    "sparse ARFF": Sample(SPARSE_ARFF, formats.read_arff, formats.write_arff),
    "dense Mulan": Sample(
        DENSE_ARFF, lambda source: formats.read_mulan(source, io.StringIO(LABELS_XML)), write_mulan_table
    ),
    "sparse Mulan": Sample(SPARSE_ARFF, read_mulan_table, write_mulan_table),
    "labels XML": Sample(LABELS_XML, formats.read_labels_xml, formats.write_labels_xml),
    "label rankings": Sample(
        "A1,A2,ranking\n-0.5,1e-5,b>a>c\n3,0.1,c>a\n1,2,b>a=c\n", formats.read_rankings, formats.write_rankings
    ),
    "ordinal rows": Sample("0.5,0.25,1\n3,-1e9,2\n0,0,10\n", formats.read_ordinal, formats.write_ordinal),
    "partitions": Sample("0 3 4 5\n1 0 2 4\n7 1\n", formats.read_partitions, formats.write_partitions),
    "CoNLL": Sample(
        "Confidence NN B-NP\nin IN B-PP\n# SYM O\n\nthe\tDT  B-NP\n\n\n",
        listed(formats.read_conll),
        formats.write_conll,
    ),
    "CoNLL with tabs": Sample(
        "# doc = 1\nNew York\tLOC\t\nis\t\tV\n\nü\tO\tX\n\n",
        listed(formats.read_conll, separator="\t", comment="#"),
        partial(formats.write_conll, separator="\t"),
    ),
    "CoNLL-U": Sample(CONLLU, listed(formats.read_conllu), formats.write_conllu),
    "letters": Sample(LETTERS, listed(formats.read_letters), formats.write_letters),
    "graphs": Sample(GRAPHS, listed(formats.read_graphs), formats.write_graphs),
    "dot-bracket": Sample(
        ">RF1 one\nGGGAAACCC\n(((...)))\n# next\n\nGGGAAACCCUU\n([{...)]}<> (-3.20)\n",
        listed(formats.read_dot_bracket),
        formats.write_dot_bracket,
    ),
    "bpseq": Sample("# RF1\n1 G 5\n2 g 0\n3 A 0\n4 N 0\n5 C 1\n", formats.read_bpseq, formats.write_bpseq),
    "ct": Sample(
        "    5  dG = -1 one\n1 G 0 2 5 1\n2 A 1 3 0 2\n3 A 2 4 0 3\n4 A 3 5 0 4\n5 C 4 0 1 5\n\n"
        "2 two\n 1 A 0 2 0 1\n 2 U 1 0 0 2\n",
        listed(formats.read_ct),
        formats.write_ct,
    ),
    "aligned FASTA": Sample(
        ">first one\nACD-\nEF\n>second\nA..DEf\n", formats.read_aligned_fasta, formats.write_aligned_fasta
    ),
    "MSF": Sample(MSF, formats.read_msf, formats.write_msf),
    "aligned pairs": Sample(
        "sid1\tsid2\ttm1\tnote\taln1\taln2\nd1\td2\t0.5\t\tAC-d\t-CEF\nd1\td3\t0.75\tx y\tACd\tAC-\n",
        listed(formats.read_alignment_pairs),
        formats.write_alignment_pairs,
    ),
    "tracks": Sample(TRACKS, formats.read_tracks, formats.write_tracks),
    "detections": Sample(DETECTIONS, formats.read_detections, formats.write_detections),
    "tracking": Sample(
        DETECTIONS,
        lambda source: formats.read_tracking(source, io.StringIO(TRACKS)),
        lambda records, target: formats.write_tracking(records, target, io.StringIO()),
    ),
}
