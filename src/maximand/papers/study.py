"""Running an experiment cell by cell, so that it can be stopped and taken up again."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed

from maximand.compiling import working_seconds
from maximand.files.atomic import write_atomically
from maximand.papers.outcome import markdown

if TYPE_CHECKING:
    from maximand.papers.catalogue import Experiment

logger = logging.getLogger(__name__)

STANDARD = "standard"
SCALES = ("quick", STANDARD, "paper")
PACKAGES = ("maximand", "numpy", "scipy", "numba", "scikit-learn")

Progress = Callable[[int, int, str], None]


@dataclass
class Study:
    """How an experiment is to be run: its scale, where data and results are, how many processes, the seed.

    Finished cells are files under out/cells: a run that was killed goes on with those that are missing. Results of
    another scale than standard, or of another seed than 0, go into a folder of their own, so that none replaces
    another.
    """

    name: str
    scale: str
    out: Path
    data: Path | None = None
    jobs: int = 1
    seed: int = 0
    progress: Progress | None = None
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the results go."""
        folder = self.out if self.scale == STANDARD else self.out / self.scale
        return folder / f"seed-{self.seed}" if self.seed else folder

    def file(self, name: str) -> Path:
        """Return the path of a data file, and note its hash for the results."""
        if self.data is None:
            raise FileNotFoundError(
                f"{self.name} at scale {self.scale} reads {name}: say where the data are with --data DIR or in the "
                "environment variable MAXIMAND_DATA, or run it with --scale quick."
            )
        path = self.data / name
        if name not in self.hashes:
            self.hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return path

    def map(
        self, function: Callable[..., dict[str, Any]], cells: Sequence[dict[str, Any]], **shared: Any
    ) -> list[dict[str, Any]]:
        """Return function(seed=seed, **cell, **shared) for every cell, computed now or found from an earlier run.

        The function lives in a module and its cells hold plain values, so that they can go to other processes. What
        is shared, such as where the data are, does not tell cells apart.
        """
        folder = self.out / "cells"
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{_key(cell, self.seed, self.scale)}.json" for cell in cells]
        missing = [i for i, path in enumerate(paths) if not path.exists()]
        self._report(len(cells) - len(missing), len(cells), "")
        work = (delayed(_timed)(function, cells[i], self.seed, shared, i) for i in missing)
        done = len(cells) - len(missing)
        for i, answer in Parallel(n_jobs=self.jobs, return_as="generator_unordered")(work):
            write_atomically(paths[i], json.dumps(answer).encode())
            done += 1
            self._report(done, len(cells), ", ".join(str(value) for value in cells[i].values()))
        return [json.loads(path.read_text()) for path in paths]

    def _report(self, done: int, total: int, cell: str) -> None:
        logger.info("%s: %d of %d cells %s", self.name, done, total, cell)
        if self.progress is not None:
            self.progress(done, total, cell)


def _key(cell: dict[str, Any], seed: int, scale: str) -> str:
    return hashlib.sha256(json.dumps([cell, seed, scale], sort_keys=True).encode()).hexdigest()[:20]


def _timed(
    function: Callable[..., dict[str, Any]], cell: dict[str, Any], seed: int, shared: dict[str, Any], place: int
) -> tuple[int, dict[str, Any]]:
    began = working_seconds()
    answer = function(seed=seed, **cell, **shared)
    return place, {"cell": cell, "seconds": working_seconds() - began, **answer}


def _strict(value: Any) -> Any:
    """Return the value with None for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def reproduce(experiment: Experiment, study: Study) -> dict[str, Any]:
    """Run an experiment and write result.json, result.md and its figures into its folder; return the result."""
    if study.scale not in experiment.scales:
        raise ValueError(f"{study.name} has no scale {study.scale!r}; choose one of {', '.join(experiment.scales)}.")
    study.folder.mkdir(parents=True, exist_ok=True)
    outcome = experiment.run(study)
    result = {
        "experiment": study.name,
        "paper": experiment.paper,
        "title": experiment.title,
        "scale": study.scale,
        "protocol": experiment.scales[study.scale],
        "seed": study.seed,
        "seconds": sum(run.get("seconds", 0.0) for run in outcome.runs),
        "data": study.hashes,
        "versions": {package: version(package) for package in PACKAGES},
        **outcome.as_json(),
    }
    result = _strict(result)
    write_atomically(study.folder / "result.json", (json.dumps(result, indent=1, allow_nan=False) + "\n").encode())
    write_atomically(study.folder / "result.md", markdown(result).encode())
    return result
