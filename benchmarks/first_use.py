"""Processor seconds for imports, and for the first and second fit of each estimator with an empty and a filled cache.

Imports are measured beyond `import sklearn.base, numba`, which every estimator needs.
"""

import json
import os
import subprocess
import sys
import tempfile

from report import save

REPEATS = 3  # the least is taken
ESTIMATORS = {
    "SequenceTagger(loss='hinge')": "chains",
    "SequenceTagger(loss='crf')": "chains",
    "MulticlassClassifier(loss='hinge')": "tokens",
    "MulticlassClassifier(loss='crf')": "tokens",
    "MultilabelClassifier()": "label_sets",
    "OrdinalClassifier()": "tokens",
    "LabelRanker()": "rankings",
    "GraphLabeler()": "grids",
    "GraphLabeler(inference=BeliefPropagation())": "grids",
}
IMPORT = """
import time
{before}
began = time.process_time()
{what}
print(time.process_time() - began)
"""
FIT = """
import json, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from maximand import *
from maximand.datasets import simulate_chains, simulate_rankings
rng = np.random.default_rng(0)

def chains():
    return simulate_chains(50)

def tokens():
    X, Y = chains()
    return np.vstack(X), np.concatenate(Y)

def label_sets():
    X = rng.normal(size=(60, 5))
    return X, (X @ rng.normal(size=(5, 4)) > 0).astype(int)

def rankings():
    return simulate_rankings(60, rng)

def grids():
    edges = [(i, i + 1) for i in range(16) if i % 4 < 3] + [(i, i + 4) for i in range(12)]
    Y = [rng.integers(0, 3, 16) for _ in range(20)]
    return [NodesAndEdges(np.eye(3)[y] + rng.normal(size=(16, 3)), edges) for y in Y], Y

X, Y = {data}()
times = []
for _ in range(2):
    model = {estimator}.set_params(n_threads=1, max_iterations=20)
    began = time.process_time()
    model.fit(X, Y).predict(X)
    times.append(time.process_time() - began)
print(json.dumps(times))
"""


def run(code, cache=None):
    environment = os.environ | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def import_seconds(what, before=""):
    return min(run(IMPORT.format(what=what, before=before)) for _ in range(REPEATS))


def fit_seconds(estimator, data):
    code = FIT.format(estimator=estimator, data=data)
    found = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as cache:
            first, _ = run(code, cache)
            found.append((first, *run(code, cache)))
    return dict(zip(("first_fit", "first_fit_cached", "second_fit"), map(min, zip(*found, strict=True)), strict=True))


def main():
    needed = "import sklearn.base, numba"
    rows = [{"what": what, "import": import_seconds(what)} for what in (needed, "import maximand")]
    for estimator, data in ESTIMATORS.items():
        seconds = import_seconds(f"from maximand import {estimator.split('(')[0]}", needed)
        rows.append({"what": estimator, "import": seconds, **fit_seconds(estimator, data)})
        print(rows[-1], flush=True)
    save("first_use", rows)


if __name__ == "__main__":
    main()
