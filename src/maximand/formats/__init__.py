"""The field's own file formats, read and written.

| format | read | write | record |
|---|---|---|---|
| svmlight / LIBSVM | read_svmlight, stream_svmlight* | write_svmlight | LabelledRows |
| svmlight, several labels | read_multilabel_svmlight | write_multilabel_svmlight | MultilabelRows |
| LETOR | read_letor, stream_letor* | write_letor | JudgedDocuments |
| ARFF, dense and sparse | read_arff | write_arff | Arff |
| Mulan's ARFF and XML | read_mulan, read_labels_xml | write_mulan, write_labels_xml | Mulan |
| label rankings, csv | read_rankings | write_rankings | LabelRankings |
| ordinal regression, csv | read_ordinal, read_partitions | write_ordinal, write_partitions | OrdinalRows, Partition |
| CoNLL columns | read_conll* | write_conll | Sentence |
| CoNLL-U | read_conllu* | write_conllu | Tree |
| Taskar's letter.data | read_letters* | write_letters | Word |
| labelled graphs, JSON lines | read_graphs* | write_graphs | LabelledGraph |
| RNA: dot-bracket, bpseq, ct | read_dot_bracket*, read_bpseq, read_ct* | write_... | RnaStructure |
| aligned FASTA, MSF | read_aligned_fasta, read_msf | write_aligned_fasta, write_msf | Alignment |
| aligned pairs, tsv | read_alignment_pairs* | write_alignment_pairs | AlignedPair |
| tracked cells, csv | read_tracking, read_detections, read_tracks | write_... | Tracking, Detections, Tracks |
| folders of the Cell Tracking Challenge | read_challenge, read_label_images | write_challenge | TrackedCells |
| GEFF | read_geff | write_geff | TrackedCells |
| graphs of networkx, tracks of napari | from_networkx, from_napari | to_networkx, to_napari | TrackedCells |

A source or target is a path, "-" for standard input or output, or an open file, text or binary. Gzip is recognised when
reading, and written to paths that end in .gz. Readers marked * are iterators that hold one record at a time; the others
hold the file, and refuse compressed files of more than `max_bytes` when decompressed. A malformed file raises
`FormatError`, which names file, line and cure. What is written reads back equal. Folders are paths; images, GEFF and
networkx need the extra "tracking".
"""

from maximand.formats.alignments import (
    AlignedPair,
    Alignment,
    read_aligned_fasta,
    read_alignment_pairs,
    read_msf,
    write_aligned_fasta,
    write_alignment_pairs,
    write_msf,
)
from maximand.formats.arff import Arff, Attribute, read_arff, write_arff
from maximand.formats.cell_graphs import from_napari, from_networkx, read_geff, to_napari, to_networkx, write_geff
from maximand.formats.challenge import read_challenge, read_label_images, write_challenge
from maximand.formats.conll import Sentence, read_conll, write_conll
from maximand.formats.conllu import Token, Tree, read_conllu, write_conllu
from maximand.formats.errors import FormatError
from maximand.formats.graphs import LabelledGraph, read_graphs, write_graphs
from maximand.formats.letters import Word, read_letters, write_letters
from maximand.formats.mulan import Mulan, read_labels_xml, read_mulan, write_labels_xml, write_mulan
from maximand.formats.ordinal import (
    OrdinalRows,
    Partition,
    read_ordinal,
    read_partitions,
    write_ordinal,
    write_partitions,
)
from maximand.formats.rankings import LabelRankings, read_rankings, write_rankings
from maximand.formats.regions import measure_cells
from maximand.formats.rna import (
    RnaStructure,
    dot_bracket_of_partners,
    pairs_of_partners,
    partners_of_dot_bracket,
    partners_of_pairs,
    read_bpseq,
    read_ct,
    read_dot_bracket,
    write_bpseq,
    write_ct,
    write_dot_bracket,
)
from maximand.formats.sources import MAX_BYTES, Source, Target
from maximand.formats.svmlight import (
    JudgedDocuments,
    LabelledRows,
    MultilabelRows,
    read_letor,
    read_multilabel_svmlight,
    read_svmlight,
    stream_letor,
    stream_svmlight,
    write_letor,
    write_multilabel_svmlight,
    write_svmlight,
)
from maximand.formats.tracked import TrackedCells
from maximand.formats.tracking import (
    Detections,
    Tracking,
    Tracks,
    read_detections,
    read_tracking,
    read_tracks,
    write_detections,
    write_tracking,
    write_tracks,
)

__all__ = [
    "MAX_BYTES", "AlignedPair", "Alignment", "Arff", "Attribute", "Detections", "FormatError", "JudgedDocuments",
    "LabelRankings", "LabelledGraph", "LabelledRows", "Mulan", "MultilabelRows", "OrdinalRows", "Partition",
    "RnaStructure", "Sentence", "Source", "Target", "Token", "TrackedCells", "Tracking", "Tracks", "Tree", "Word",
    "dot_bracket_of_partners", "from_napari", "from_networkx", "measure_cells", "pairs_of_partners",
    "partners_of_dot_bracket", "partners_of_pairs", "read_aligned_fasta", "read_alignment_pairs", "read_arff",
    "read_bpseq", "read_challenge", "read_conll", "read_conllu", "read_ct", "read_detections", "read_dot_bracket",
    "read_geff", "read_graphs", "read_label_images", "read_labels_xml", "read_letor", "read_letters", "read_msf",
    "read_mulan", "read_multilabel_svmlight", "read_ordinal", "read_partitions", "read_rankings", "read_svmlight",
    "read_tracking", "read_tracks", "stream_letor", "stream_svmlight", "to_napari", "to_networkx",
    "write_aligned_fasta", "write_alignment_pairs", "write_arff", "write_bpseq", "write_challenge", "write_conll",
    "write_conllu", "write_ct", "write_detections", "write_dot_bracket", "write_geff", "write_graphs",
    "write_labels_xml", "write_letor", "write_letters", "write_msf", "write_mulan", "write_multilabel_svmlight",
    "write_ordinal", "write_partitions", "write_rankings", "write_svmlight", "write_tracking", "write_tracks",
]  # fmt: skip
