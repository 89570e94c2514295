"""Which tags may follow one another when tags mark spans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maximand.spaces import Legality


def bio(labels: Sequence[str]) -> Legality:
    """Return the rules of BIO tags: I-X follows B-X or I-X only."""
    return _spans(labels, inside_from="BI", closing="BIO", opening="BO", must_close="")


def bioes(labels: Sequence[str]) -> Legality:
    """Return the rules of BIOES tags: B-X and I-X are followed by I-X or E-X, and E-X ends what they began."""
    return _spans(labels, inside_from="BI", closing="OES", opening="BOS", must_close="BI")


def _spans(labels: Sequence[str], inside_from: str, closing: str, opening: str, must_close: str) -> Legality:
    split = [(label.partition("-")[0], label.partition("-")[2]) for label in map(str, labels)]
    for label, (prefix, _) in zip(labels, split, strict=True):
        if prefix not in set(opening) | set(closing) | {"I"}:
            raise ValueError(f"The label {label!r} does not begin with one of the letters of the tagging scheme.")
    k = len(labels)
    between = np.zeros((k, k), dtype=bool)
    for i, (before, kind) in enumerate(split):
        for j, (after, next_kind) in enumerate(split):
            continues = after in "IE" and before in inside_from and kind == next_kind
            begins = after in opening and before not in must_close
            between[i, j] = continues or begins
    first = np.array([prefix in opening for prefix, _ in split])
    last = np.array([prefix in closing for prefix, _ in split])
    return Legality.of(first, between, last)
