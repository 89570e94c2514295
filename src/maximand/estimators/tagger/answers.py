"""Predicted tags as lines, and their scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from maximand.cards.answers import scores_by_label, share_equal
from maximand.cards.card import Scored
from maximand.cards.data import Dataset, Unlabelled


def lines(predictor: Any, unlabelled: Unlabelled, answers: Any, means: Any, as_json: bool) -> Iterator[str]:
    """Yield each sentence with its predicted tags behind its columns, and the marginal probability of each tag."""
    codes = {tag: code for code, tag in enumerate(predictor.classes_.tolist())}
    shown = [[()] * len(tags) for tags in answers] if unlabelled.shown is None else unlabelled.shown
    for rows, tags, mean in zip(shown, answers, means, strict=True):
        chances = None if mean is None else [row[codes[tag]] for row, tag in zip(mean, tags.tolist(), strict=True)]
        yield _json(rows, tags, chances) if as_json else _text(rows, tags, chances)


def _json(rows: Any, tags: Any, chances: Any) -> str:
    line: dict[str, Any] = {"tokens": [list(row) for row in rows], "tags": tags.tolist()}
    if chances is not None:
        line["probabilities"] = [round(float(chance), 6) for chance in chances]
    return json.dumps(line, ensure_ascii=False)


def _text(rows: Any, tags: Any, chances: Any) -> str:
    """Return a line for each token; an empty line follows the sentence."""
    ends = [""] * len(tags) if chances is None else [f" {chance:.6f}" for chance in chances]
    return "".join(" ".join([*row, str(tag)]) + end + "\n" for row, tag, end in zip(rows, tags, ends, strict=True))


def scores(predictor: Any, answers: Any, data: Dataset) -> Scored:
    """Return accuracy, and precision, recall and F1 of each tag, and of chunks where tags are BIO."""
    predicted, true = ([[str(tag) for tag in tags] for tags in side] for side in (answers, data.y))
    guesses, right = ([tag for tags in side for tag in tags] for side in (predicted, true))
    values: dict[str, Any] = {
        "examples": len(true), "tokens": len(right), "whole sequences right": share_equal(predicted, true),
        "accuracy": share_equal(guesses, right),
    }  # fmt: skip
    if any(tag.startswith(("B-", "I-")) for tag in right):
        values |= chunk_scores(true, predicted)
    return values, scores_by_label(right, guesses)


def chunks(tags: list[str]) -> set[tuple[int, int, str]]:
    """Return the chunks of a BIO-tagged sentence as (start, stop, kind); an I- that follows nothing starts one."""
    found, start, kind = set(), 0, None
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if kind is not None and (prefix != "I" or name != kind):
            found.add((start, t, kind))
            kind = None
        if prefix in ("B", "I") and (prefix == "B" or kind is None):
            start, kind = t, name
    return found


def chunk_scores(true: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    """Return precision, recall and F1 of whole chunks."""
    right = given = wanted = 0
    for a, b in zip(true, predicted, strict=True):
        there, guessed = chunks(a), chunks(b)
        right, wanted, given = right + len(there & guessed), wanted + len(there), given + len(guessed)
    precision, recall = right / max(given, 1), right / max(wanted, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-300)
    return {"chunk precision": precision, "chunk recall": recall, "chunk F1": f1}
