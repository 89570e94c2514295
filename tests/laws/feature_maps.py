"""Feature maps of the cases: each function returns inputs for a case and the map that makes scores of them."""

import numpy as np
from scipy.sparse import csr_array

from maximand.features import (
    ChainFeatures,
    GraphFeatures,
    GraphRows,
    PartFeatures,
    PerLabel,
    RowBlock,
    Rows,
    SumOfBlocks,
    TableWeights,
    TiedBlock,
)
from pages import run

OWN_SPACE = ("A space", "A feature map", "A cost")


def features_of(rng, n_rows, d=3):
    """Rows with some zeros, as sparse maps see them."""
    return rng.normal(size=(n_rows, d)) * (rng.random((n_rows, d)) < 0.7)


def one_row(rng, case):
    n = case.space.n_examples
    return Rows.single(features_of(rng, n)), PerLabel(3, case.space.n_parts // n)


def block_for_each_kind(rng, case):
    """A row for each example scores kinds with as many parts for each; transitions are tied."""
    n, blocks = case.space.n_examples, []
    for kind in case.space.layout.kinds:
        width = int(kind.offsets[1])
        if kind.shared:
            blocks.append(TiedBlock(kind.name, np.arange(width) % 5, 5))
        else:
            blocks.append(RowBlock(kind.name, 3, width, bias=True))
    return Rows.single(features_of(rng, n)), SumOfBlocks(*blocks)


def seen_pairs(rng, case):
    matrix = csr_array(features_of(rng, case.space.n_examples))
    return Rows.single(matrix), PerLabel.seen(matrix, case.full.allowed_nodes)


def chain_with_all(rng, case):
    matrix = features_of(rng, case.full.codes.size, 4)
    return Rows(matrix, case.full.offsets), ChainFeatures(PerLabel(4, 3, bias=False), None, first=True, last=True)


def chain_with_states(rng, case):
    matrix = features_of(rng, case.full.codes.size, 4)
    return Rows(matrix, case.full.offsets), ChainFeatures(PerLabel(4, 6), None, first=True, last=False)


def chain_with_seen(rng, case):
    matrix = csr_array(features_of(rng, case.full.codes.size, 4))
    emission = PerLabel.seen(matrix, case.full.allowed_nodes)
    return Rows(matrix, case.full.offsets), ChainFeatures(emission, np.array([1, 3, 4, 8]), first=False, last=True)


def stencils(rng, case):
    return Rows(rng.normal(size=(case.space.n_parts, 3)), case.space.offsets), PartFeatures(3)


def edge_features(rng, case):
    graphs, pattern = case.space.graphs, np.array([[0, 1, -1], [1, 2, 1], [-1, 1, 0]])
    tables = Rows(rng.normal(size=(graphs.table_offsets[-1], 2)), graphs.table_offsets)
    nodes = Rows(features_of(rng, case.full.codes.size), case.space.offsets)
    inputs = GraphRows({"nodes": nodes, "tables": tables})
    return inputs, GraphFeatures((PerLabel(3, 3, bias=False),), (TableWeights(pattern, n_features=2),))


def tied(rng, case):
    inputs = Rows(features_of(rng, case.full.codes.size), case.space.offsets)
    return inputs, GraphFeatures((PerLabel(3, 3),), (TableWeights(np.arange(9).reshape(3, 3), 2),))


def tied_states(rng, case):
    inputs = Rows(features_of(rng, case.full.codes.size), case.space.offsets)
    return inputs, GraphFeatures((PerLabel(3, 4),), (TableWeights(np.arange(16).reshape(4, 4), 2),))


def several_types(rng, case):
    """Nodes of each type have features of their own; tables between types have features, those within are tied."""
    layout, types = case.space.layout, case.space.types
    by_kind = {}
    for kind, width in zip(layout.kinds, (3, 2, None, 2), strict=True):
        if width is not None:
            offsets = kind.offsets // np.prod(kind.shape)
            by_kind[kind.name] = Rows(features_of(rng, offsets[-1], width), offsets)
    pattern = np.array([[0, 1], [-1, 2], [1, 0]])
    tables = TableWeights(np.arange(9).reshape(3, 3), 1), TableWeights(pattern, n_features=2, ends=(0, 1))
    nodes = tuple(PerLabel(d, own.size) for d, own in zip((3, 2), types.labels, strict=True))
    return GraphRows(by_kind), GraphFeatures(nodes, tables)


def pair_tables(rng, case):
    """Sets of three labels, each with a score of its own, each pair with a weight."""
    pattern, columns = np.array([[-1, -1], [-1, 0]]), np.array([-1, 0, -1, 1, -1, 2])
    inputs = Rows.single(features_of(rng, case.space.n_examples))
    return inputs, GraphFeatures((PerLabel(3, 3),), (TableWeights(pattern, 3),), columns=columns)


def texts(rng, case):
    """The inputs and the map of docs/extending.md: rows for texts and for words, tied pairs."""
    space, page = case.space, run("extending.md", *OWN_SPACE)
    words = Rows(features_of(rng, space.text.size, 2), space.offsets)
    inputs = page["TextInputs"](Rows.single(features_of(rng, space.n_examples)), words)
    return inputs, page["text_features"](3, 2, space.n_topics, space.n_tags)
