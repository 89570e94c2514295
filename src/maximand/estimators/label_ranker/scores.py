"""Rankings of labels: how good predicted ones are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maximand.orders import order_of
from maximand.support import Array, Bools, Ints

Ranking = Sequence[str | frozenset[str]]  # labels, and sets of labels that tie


def scores_of_rankings(
    predicted: Ints, truth: Sequence[Ranking], labels: Sequence[str], unlisted: str = "anywhere"
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Compare positions (row, label), 0 for the best, with true rankings; return means over rows, and of each label.

    Kendall's tau: pairs of labels in the right order less those in the wrong one, as a share. Spearman's rho: the
    correlation of positions; its distance: the sum of their squared differences. Wrong positions: the share of listed
    labels that are not in their place; exact: the share of rows without any. Labels that tie share their places: any of
    these is right, and their mean is compared.

    A ranking that leaves labels out is compared with the order of those that it lists; where labels that are not listed
    belong below, with that of all, the others being equal. Rows without two labels in a known order are left out.
    """
    place = {label: code for code, label in enumerate(labels)}
    rows = []
    by_label: list[list[tuple[float, ...]]] = [[] for _ in labels]
    for own, ranking in zip(predicted, truth, strict=True):
        groups = [[place[label] for label in tied] for tied in order_of(ranking)]
        others = (
            [code for code in range(len(labels)) if code not in set().union(*groups)] if unlisted == "below" else []
        )
        n_listed = sum(map(len, groups))
        groups += [others] if others else []
        if len(groups) < 2:
            continue
        sizes = np.array([len(group) for group in groups])
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # of the places that a label may have
        last = first + np.repeat(sizes, sizes) - 1
        compared = np.concatenate(groups)
        right, guess = (first + last) / 2.0, np.argsort(np.argsort(own[compared])).astype(float)
        wrong = (guess < first) | (guess > last)
        rows.append(_row(right, guess, wrong[:n_listed]))
        for code, there, here, missed in zip(compared[:n_listed].tolist(), right, guess, wrong, strict=False):
            by_label[code].append((float(there), float(here), float(missed)))
    if not rows:
        raise ValueError("The data hold no two labels in a known order; there is nothing to compare predictions with.")
    values: dict[str, Any] = {"examples": len(truth)}
    if len(rows) < len(truth):
        values["examples without an order"] = len(truth) - len(rows)
    names = "Kendall's tau", "Spearman's rho", "Spearman's distance", "wrong positions", "exact"
    values |= dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))
    return values, {label: _of_label(np.array(seen)) for label, seen in zip(labels, by_label, strict=True) if seen}


def _row(right: Array, guess: Array, wrong: Bools) -> tuple[float, ...]:
    signs = np.sign(np.subtract.outer(right, right))
    agreement = signs * np.sign(np.subtract.outer(guess, guess))
    away = guess - right
    centred = right - right.mean()
    rho = centred @ (guess - guess.mean()) / (np.linalg.norm(centred) * np.linalg.norm(guess - guess.mean()))
    tau = agreement.sum() / np.abs(signs).sum()
    return float(tau), float(rho), float(away @ away), float(wrong.mean()), float(not wrong.any())


def _of_label(positions: Array) -> dict[str, Any]:
    """Return the mean positions of a label, 1 for the best, and how often it is in its place."""
    right, guess, missed = positions.T
    return {
        "position": float(right.mean()) + 1, "predicted": float(guess.mean()) + 1,
        "in place": float(1.0 - missed.mean()), "count": len(positions),
    }  # fmt: skip
