"""Kills training at random moments and mutates model files, and counts what goes wrong: nothing should.

python benchmarks/robustness.py [kills] [mutations]
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from fuzzing import mutate
from maximand import (
    CCCP,
    LBFGS,
    BlockFrankWolfe,
    Checkpoint,
    ModelFileError,
    MulticlassClassifier,
    NSlack,
    OneSlack,
    SequenceTagger,
    Subgradient,
    WindowVectorizer,
    load,
)
from maximand.cli.estimates import peak_bytes
from maximand.datasets import simulate_chains
from maximand.files.container import from_bytes, read
from maximand.models import dump
from report import save

SOLVERS = {
    "LBFGS": ("crf", LBFGS(max_iterations=120, tolerance=1e-12, stall=0.0)),
    "BlockFrankWolfe": ("hinge", BlockFrankWolfe(max_iterations=60, tolerance=1e-9)),
    "NSlack": ("hinge", NSlack(max_iterations=60, tolerance=1e-9)),
    "OneSlack": ("hinge", OneSlack(max_iterations=150, tolerance=1e-9)),
    "Subgradient": ("hinge", Subgradient(max_iterations=60, tolerance=0.0)),
    "CCCP": ("ramp", CCCP(max_iterations=12, tolerance=0.0)),
}


def fit(loss, solver, checkpoint):
    X, Y = simulate_chains(150)
    model = SequenceTagger(loss=loss, solver=solver, n_threads=1)
    if checkpoint is not None:
        model.set_callbacks(Checkpoint(checkpoint, seconds=0.0))
    return model.fit(X, Y).weights_


def in_a_child(function, *arguments):
    """Run in a forked process; return its number."""
    child = os.fork()
    if child == 0:
        try:
            function(*arguments)
        finally:
            os._exit(0)
    return child


def kills(count, folder, rng):
    """Kill fits until there were so many kills; return what was seen."""
    seen = {"kills": 0, "runs": 0, "resumed_to_other_bits": 0, "damaged_files": 0, "checkpoints_found": 0}
    reference, seconds = {}, {}
    for name, (loss, solver) in SOLVERS.items():
        began = time.perf_counter()
        reference[name] = fit(loss, solver, None)
        seconds[name] = time.perf_counter() - began
    names = list(SOLVERS)
    while seen["kills"] < count:
        name = names[seen["runs"] % len(names)]
        loss, solver = SOLVERS[name]
        checkpoint, weights = folder / f"{seen['runs']}.ckpt", folder / f"{seen['runs']}.npy"
        while not weights.exists():
            child = in_a_child(lambda: np.save(weights, fit(loss, solver, checkpoint)))  # noqa: B023
            deadline = time.perf_counter() + rng.uniform(0.0, 1.5 * seconds[name])
            while time.perf_counter() < deadline and os.waitpid(child, os.WNOHANG) == (0, 0):
                time.sleep(0.002)
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                seen["kills"] += 1
            except (ProcessLookupError, ChildProcessError):
                pass
            if checkpoint.exists():
                seen["checkpoints_found"] += 1
                try:
                    from_bytes(read(checkpoint), "checkpoint")
                except ModelFileError:
                    seen["damaged_files"] += 1
        try:
            seen["resumed_to_other_bits"] += not np.array_equal(np.load(weights), reference[name])
        except (ValueError, EOFError):  # killed while the weights were written: not our file
            continue
        seen["runs"] += 1
    return seen


def mutations(count, rng):
    """Load mutated model files; return what was seen."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    words = [["a", "b"], ["c", "a", "d"]]
    models = [
        (MulticlassClassifier().fit(X, (X @ np.ones(3) > 0).astype(int)), X),
        (
            make_pipeline(WindowVectorizer(), SequenceTagger(scheme="BIO")).fit(
                words, [["B-X", "O"], ["O", "B-X", "I-X"]]
            ),
            words,
        ),
        (SequenceTagger(loss="hinge").fit(*simulate_chains(20)), simulate_chains(20)[0]),
    ]
    contents = [(dump(model), data) for model, data in models]
    seen = {"files": count, "read": 0, "refused": 0, "other_errors": 0, "slowest_seconds": 0.0}
    before = peak_bytes()
    for i in range(count):
        content, data = contents[i % len(contents)]
        began = time.perf_counter()
        try:
            loaded = load(mutate(content, rng))
            with contextlib.suppress(ValueError):  # it may have become a model for other data, and says so
                loaded.predict(data)
            seen["read"] += 1
        except ModelFileError:
            seen["refused"] += 1
        except Exception as error:
            seen["other_errors"] += 1
            print(type(error), error)
        seen["slowest_seconds"] = max(seen["slowest_seconds"], time.perf_counter() - began)
    after = peak_bytes()
    seen["peak_growth_bytes"] = None if before is None or after is None else after - before
    return seen


def main():
    warnings.simplefilter("ignore")
    n_kills, n_mutations = (int(x) for x in (*sys.argv[1:], 200, 10_000)[:2])
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        rows = [{"what": "kills", **kills(n_kills, Path(folder), rng)}]
    rows.append({"what": "mutated model files", **mutations(n_mutations, rng)})
    save("robustness", rows)


if __name__ == "__main__":
    main()
