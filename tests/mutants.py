"""Damaged model files: each must be refused with a clear error, or load and predict; soon, and in little memory.

`python tests/mutants.py 10000` makes that many and prints what happened.
"""

import argparse
import copy
import random
import sys
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fuzzing import limited, mutate
from maximand import ModelFileError, load
from maximand.files.container import from_bytes, to_bytes
from maximand.models import dump
from older_files import NAMES, stored

VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 7, 10**6, 10**12, 2**63, 2**64, -(2**63), 0.5, -1.0, 1e308, "", "x", "auto", "0",
    [], [0], {}, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"tuple": []}, {"set": [[]]}, {"dict": []},
    {"array": "0"}, {"scalar": ["<f8", 1.0]}, {"strings": [[1], ["0", "1"]]}, {"objects": [0, "x"]},
    {"object": ["Hamming", {"weights": None}]}, {"member": ["Guarantee", "EXACT"]},
]  # fmt: skip
NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 1, 2, 3, 7, 255, 60_000, 2**31 - 1, -(2**31), 2**62, 1e308, -1e308, 1e-308]
SECONDS = 10.0
# What a sound model says of data that are not for it: kernels of nonnegative numbers behind another scaler, numbers so
# large that products overflow, a model that has lost its vectoriser or a type of edges in all places.
OTHER_DATA = (
    "Negative values in data passed to X", "X may not contain entries smaller than", "the model was trained on numbers",
    "but training had types up to", "hold inf", "contains infinity", "contains NaN in feature",
    "has no column",
)  # fmt: skip


def places(tree, at=()):
    """Yield the way to everything in a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def value_at(tree, place):
    for key in place:
        tree = tree[key]
    return tree


def change_tree(steps, rng):
    """Change something in the description of a model."""
    found = [place for place in places(steps) if len(place) > 2 and "history_" not in place]
    if not found:
        return
    *way, last = rng.choice(found)
    parent = value_at(steps, way)
    match rng.choice(["value", "value", "value", "near", "near", "other", "other", "delete", "repeat", "rename"]):
        case "value":
            parent[last] = copy.deepcopy(rng.choice(VALUES))
        case "near" if type(parent[last]) in (int, float):
            parent[last] += rng.choice([-1, 1, 2])
        case "near" if isinstance(parent[last], str):
            parent[last] = rng.choice([parent[last][:-1], parent[last] + "0", str(rng.randrange(12))])
        case "other":
            parent[last] = copy.deepcopy(value_at(steps, rng.choice(found)))
        case "repeat" if isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        case "rename" if isinstance(parent, dict):
            parent[rng.choice(["x", "classes_", "weights_", "array", "tuple", "n_features_in_"])] = parent.pop(last)
        case _:
            del parent[last]


def change_arrays(arrays, rng):
    """Change one of the arrays."""
    if not arrays:
        return
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    match rng.choice(["number", "number", "number", "type", "shape", "shorter", "longer", "swap", "delete", "order"]):
        case "number" if array.size:
            changed = array.copy()
            with np.errstate(all="ignore"):
                changed.flat[rng.randrange(array.size)] = np.array(rng.choice(NUMBERS)).astype(array.dtype)
            arrays[name] = changed
        case "type":
            with np.errstate(all="ignore"):
                kind = rng.choice([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_])
                arrays[name] = array.astype(kind)
        case "shape":
            arrays[name] = rng.choice([array[None], array.ravel(), array.reshape(-1, 1), array[..., None]])
        case "shorter":
            arrays[name] = np.array(np.ravel(array)[: rng.randrange(array.size + 1)])
        case "longer":
            arrays[name] = np.concatenate([np.ravel(array)] * rng.choice([2, 2, 300]))
        case "swap":
            other = rng.choice(sorted(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]
        case "order":
            arrays[name] = np.array(array[::-1]) if array.ndim else array
        case _:
            del arrays[name]


def mutant(content, rng):
    """Return a damaged file: a tenth as accidents do, the others with a sound checksum, so that it is read on."""
    if rng.random() < 0.1:
        return mutate(content, rng)
    header, arrays = from_bytes(content, "model")
    header = copy.deepcopy(header)
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        if rng.random() < 0.6:
            change_tree(header["steps"], rng)
        else:
            change_arrays(arrays, rng)
    try:
        return to_bytes("model", header, arrays)
    except ValueError:  # what no file can hold
        return b""


@dataclass
class Summary:
    """What became of the damaged files."""

    refused: int = 0
    predicted: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


def try_mutant(content, X, methods):
    """Load a damaged file and use the model; return whether it was refused."""
    try:
        model = load(content)
    except ModelFileError as error:
        assert str(error)
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="sklearn")  # it multiplies by what it likes
        for method in methods:
            try:
                getattr(model, method, model.predict)(X)
            except ValueError as error:
                if not any(words in str(error) for words in OTHER_DATA):
                    raise
    return False


def fuzz(models, count, seed=0):
    """Damage models in turn; `models` are triples (content, X, names of methods)."""
    summary, rng = Summary(), random.Random(seed)
    for i in range(count):
        content, X, methods = models[i % len(models)]
        damaged = mutant(content, rng)
        start = time.process_time()
        try:
            with limited(SECONDS):
                refused = try_mutant(damaged, X, methods)
            summary.refused += refused
            summary.predicted += not refused
        except Exception:
            summary.failures.append(f"mutant {i} of model {i % len(models)}\n{traceback.format_exc(limit=-4)}")
        finally:
            summary.slowest = max(summary.slowest, time.process_time() - start)
    return summary


def older_models():
    """Return a model of every kind, as the present version writes it."""
    return [(dump(load(then.path)), then.X, tuple(then.answers)) for then in map(stored, NAMES)]


def main():
    import resource

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    models = older_models()
    for content, X, methods in models:  # so that all kernels are there
        assert not try_mutant(content, X, methods)
    base = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (base + (1 << 30),) * 2)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    summary = fuzz(models, options.count, options.seed)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    for failure in summary.failures[:200]:
        print(failure)
    print(
        f"{options.count} files in {time.perf_counter() - start:.1f} s: {summary.refused} refused, {summary.predicted} "
        f"predicted, {len(summary.failures)} failures; slowest {summary.slowest:.2f} s, peak memory grew by "
        f"{growth / 1024:.1f} MiB"
    )
    return bool(summary.failures)


if __name__ == "__main__":
    sys.exit(main())
