"""The types of the nodes of graphs: their names, and the labels of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from maximand.support import Ints
from maximand.tasks.graph_inputs import GraphArrays
from maximand.tasks.label_names import LabelNames, given_classes, named_labels, ordered
from maximand.tasks.table_patterns import Ends


@dataclass(frozen=True)
class NodeType:
    """A type of nodes: its name, which labels it may have, and whether training had none of them."""

    name: Any
    labels: Ints
    hidden: bool

    def classes(self, names: LabelNames) -> np.ndarray:
        """Return the labels by name."""
        return names.classes[self.labels]


def names_of_types(graphs: list[GraphArrays]) -> tuple[list[Any], list[Ends]]:
    """Return the types of nodes and the pairs of them that edges join, in the order in which they occur."""
    known: dict[Any, int] = {}
    joined: dict[Ends, int] = {}
    for i, graph in enumerate(graphs):
        for name in graph.nodes:
            known.setdefault(name, i)
        for ends in graph.edges:
            joined.setdefault(ends, i)
    if None in known and len(known) > 1:
        raise ValueError(
            f"X[{known[None]}] has nodes without types, and X[{min(i for name, i in known.items() if name)}] has nodes "
            "with types; give them to all graphs or to none."
        )
    for ends, i in joined.items():
        if ends[0] != ends[1] and ends[::-1] in joined:
            raise ValueError(
                f"X[{i}] joins {ends} and X[{joined[ends[::-1]]}] {ends[::-1]}; keep one of the two orders."
            )
    return list(known), list(joined)


def labels_of_types(
    tags: list[Any], shapes: list[tuple[int, ...]], known: list[Any], classes: Any
) -> tuple[LabelNames, tuple[NodeType, ...]]:
    """Return the labels of all types together, and which of them each type has: those given, or those that occur."""
    if known == [None] and isinstance(classes, Mapping):
        raise ValueError("classes is a dict, for nodes of several types, and these have none; list the labels.")
    if known != [None] and not isinstance(classes, Mapping | None):
        raise ValueError(f"classes is a {type(classes).__name__}; give a dict with the labels of each type of nodes.")
    given = {None: classes} if known == [None] else dict(classes or {})
    other = next((name for name in given if name not in known), None)
    if other is not None:
        raise ValueError(f"classes names {other!r}, and no node is of that type; leave it out.")
    own, hidden = [], []
    for t, name in enumerate(known):
        found = named_labels(tags if known == [None] else [tags[v] for v in nodes_of_type(shapes, t)])
        own.append(ordered(found) if given.get(name) is None else given_classes(given[name]))
        hidden.append(not found)
        if own[-1].size < 2:
            which, cure = ("", "classes=") if name is None else (f" of nodes {name!r}", f"classes={{{name!r}: [...]}}")
            raise ValueError(
                f"The labels{which} hold {own[-1].size or 'no'} class; labelling needs at least 2 classes. Name the "
                f"missing ones with {cure}."
            )
    together = list(dict.fromkeys(chain.from_iterable(labels.tolist() for labels in own)))
    names = LabelNames(own[0] if len(own) == 1 else given_classes(together) if given else ordered(together))
    codes = [np.sort([names.code(label, 0) for label in labels.tolist()]) for labels in own]
    return names, tuple(NodeType(*each) for each in zip(known, codes, hidden, strict=True))


def nodes_of_type(shapes: Any, t: int) -> Ints:
    """Return which nodes of a batch are of a type, given the number of nodes of each type in each graph."""
    counts = np.asarray(shapes)
    return np.flatnonzero(np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel()) == t)
