"""How the training of a model ended, for the runs of a result."""

from __future__ import annotations

from typing import Any


def ending(model: Any) -> dict[str, Any]:
    """Return objective, gap, what they are worth, and why training stopped."""
    return {
        "objective": model.objective_,
        "gap": model.gap_,
        "certified": model.gap_is_certificate_,
        "guarantee text": model.guarantee_text_,
        "iterations": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "converged": not model.stop_reason_.startswith("max_"),
    }
