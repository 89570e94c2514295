"""Label rankings: a csv with header `A1,...,Ad,ranking`, and `b>a=d>c` for "b before a and d, which tie, before c"."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from maximand.formats.errors import show
from maximand.formats.fields import reals, shortest, trimmed, unquoted
from maximand.formats.records import Record
from maximand.formats.sources import MAX_BYTES, Source, Target, open_lines, open_writer
from maximand.orders import items_of, labels_in, order_of_text, problem_of, text_of
from maximand.support import Array


@dataclass(frozen=True, eq=False)
class LabelRankings(Record):
    """Examples and the order of their labels, the best first; a partial ranking leaves labels out.

    Labels that tie stand in a frozenset.
    """

    feature_names: tuple[str, ...]
    X: Array
    rankings: tuple[tuple[str | frozenset[str], ...], ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that occur, sorted."""
        return tuple(sorted({label for ranking in self.rankings for label in labels_in(ranking)}))


def read_rankings(
    source: Source, *, labels: Collection[str] | None = None, max_bytes: int = MAX_BYTES
) -> LabelRankings:
    """Read label rankings; where labels are given, any other is an error."""
    known = None if labels is None else set(labels)
    with open_lines(source, max_bytes=max_bytes) as lines:
        rows = lines.rows()
        *names, last = map(unquoted, next(rows, "").split(","))
        if last.lower() != "ranking":
            raise lines.error(f"the last column is {show(last)}; a header `A1,...,Ad,ranking` must come first.")
        values, rankings = array("d"), []
        for row in rows:
            *texts, order = row.split(",")
            if len(texts) != len(names):
                raise lines.error(f"{len(texts)} features but the header names {len(names)}.")
            values.extend(reals(lines, texts))
            ranking = order_of_text(unquoted(order))
            problem = problem_of(ranking)
            if problem is not None:
                raise lines.error(f"the ranking {show(order)} {problem}.")
            unknown = next(
                (label for tied in ranking for label in tied if known is not None and label not in known), None
            )
            if known is not None and unknown is not None:
                raise lines.error(f"the label {show(unknown)} is unknown; labels are {show(', '.join(sorted(known)))}.")
            rankings.append(items_of(ranking))
    return LabelRankings(tuple(names), np.array(values).reshape(len(rankings), len(names)), tuple(rankings))


def write_rankings(data: LabelRankings, target: Target) -> None:
    """Write label rankings."""
    with open_writer(target) as file:
        file.write(",".join([*(trimmed(name, "A feature name", ",") for name in data.feature_names), "ranking"]) + "\n")
        for x, ranking in zip(data.X.tolist(), data.rankings, strict=True):
            for label in labels_in(ranking):
                trimmed(label, "A label", ",>=")
            file.write(",".join([*map(shortest, x), text_of(ranking)]) + "\n")
