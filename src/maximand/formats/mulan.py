"""Mulan's multilabel data: an ARFF table, and an XML file that names the attributes which are labels."""

from __future__ import annotations

from dataclasses import dataclass
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from maximand.formats.arff import Arff, Attribute, read_numbered, write_arff
from maximand.formats.errors import FormatError, show
from maximand.formats.fields import one_line
from maximand.formats.records import Matrix, Record
from maximand.formats.sources import MAX_BYTES, Source, Target, name_of, open_lines, open_writer


@dataclass(frozen=True, eq=False)
class Mulan(Record):
    """Features X and labels Y (0 or 1, a column for each name in `labels`), both sparse where the file is.

    A nominal feature is stored as its position among the values that `features` lists, a missing one as nan.
    """

    relation: str
    features: tuple[Attribute, ...]
    labels: tuple[str, ...]
    X: Matrix
    Y: Matrix


def read_mulan(arff: Source, xml: Source, *, max_bytes: int = MAX_BYTES) -> Mulan:
    """Read a table and its label names."""
    labels = read_labels_xml(xml, max_bytes=max_bytes)
    with open_lines(arff, max_bytes=max_bytes) as lines:
        table, numbers = read_numbered(lines)
        column = {attribute.name: position for position, attribute in enumerate(table.attributes)}
        for label in labels:
            if label not in column:
                raise FormatError(name_of(xml), None, f"the label {show(label)} is no attribute of {lines.name}.")
            if table.attributes[column[label]].values not in (None, ("0", "1")):
                raise FormatError(lines.name, None, f"the label {show(label)} must be declared as {{0,1}}.")
        Y = table.data[:, [column[label] for label in labels]]
        wrong = ~np.isin(Y.data if issparse(Y) else Y, (0, 1))
        if wrong.any():
            first = np.argmax(wrong)
            row = np.searchsorted(Y.indptr, first, side="right") - 1 if issparse(Y) else first // len(labels)
            raise lines.error("a label is neither 0 nor 1.", numbers[int(row)])
    names = set(labels)
    kept = [position for position, attribute in enumerate(table.attributes) if attribute.name not in names]
    features = tuple(table.attributes[position] for position in kept)
    return Mulan(table.relation, features, labels, table.data[:, kept], Y.astype(np.int8))


def write_mulan(data: Mulan, arff: Target, xml: Target) -> None:
    """Write a table, features before labels, and its label names."""
    attributes = data.features + tuple(Attribute(name, ("0", "1")) for name in data.labels)
    both = csr_array(hstack([data.X, data.Y])) if issparse(data.X) else np.hstack([data.X, data.Y])
    write_arff(Arff(data.relation, attributes, both), arff)
    write_labels_xml(data.labels, xml)


def read_labels_xml(source: Source, *, max_bytes: int = MAX_BYTES) -> tuple[str, ...]:
    """Read the names of labels in order; document types are refused, so there are no entities to expand."""
    names: dict[str, None] = {}
    parser = expat.ParserCreate()

    with open_lines(source, max_bytes=max_bytes) as lines:

        def error(problem: str) -> FormatError:
            return lines.error(problem, min(parser.CurrentLineNumber, lines.number))

        def refuse(*declaration: object) -> None:
            raise error("a document type declaration; labels need none, delete it.")

        def start(element: str, attributes: dict[str, str]) -> None:
            tag = element.rpartition(":")[2]
            if tag == "label":
                name = attributes.get("name", "")
                if not name or name in names:
                    raise error(f"the label {show(name)} has no name or is there twice.")
                names[name] = None
            elif tag != "labels":
                raise error(f"the element {show(tag)} where <labels> and <label name=...> stand.")

        parser.StartDoctypeDeclHandler = refuse
        parser.StartElementHandler = start
        try:
            parser.Parse(b"".join(lines.binary()), True)  # in one piece: expat reads a long token again for each piece
        except FormatError:
            raise
        except (expat.ExpatError, LookupError, ValueError) as problem:
            raise error(f"not well-formed XML ({problem}).") from None
        if not names:
            raise error('no <label name="...">; this is not a file of label names.')
    return tuple(names)


def write_labels_xml(labels: tuple[str, ...], target: Target) -> None:
    """Write the names of labels."""
    with open_writer(target) as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n')
        for name in labels:
            file.write(f"<label name={quoteattr(one_line(name, 'A label'))}></label>\n")
        file.write("</labels>\n")
