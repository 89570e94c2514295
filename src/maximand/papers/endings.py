"""How the training of a model ended, for the runs of a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def final_fits(run: Mapping[str, Any]) -> list[Any]:
    """Return how the final fits of a run ended: those that it lists as its `fits`, or else the one it is about."""
    fits = run.get("fits")
    return list(fits.values()) if isinstance(fits, Mapping) else [run]


def early_endings(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a remark on the final fits that ended before their tolerance; none where all did as they should."""
    fits = [fit for run in runs for fit in final_fits(run)]
    early = [fit["stop_reason"] for fit in fits if not fit["converged"]]
    if not early:
        return []
    at_limit = all(reason.startswith("max_iterations") for reason in early)
    where = "at their iteration limit" if at_limit else f"before their tolerance: {'; '.join(sorted(set(early)))}"
    return [f"{len(early)} of {len(fits)} final fits ended {where}."]
