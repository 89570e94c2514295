"""Seconds for the import, and for the first and second fit of each estimator with an empty and a filled cache."""

import json
import os
import subprocess
import sys
import tempfile

from report import save

IMPORT = "import time; t = time.perf_counter(); import maximand; print(time.perf_counter() - t)"
FIT = """
import json, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from maximand import MulticlassClassifier, SequenceTagger
from maximand.datasets import simulate_chains
X, Y = simulate_chains(50)
fits = {{
    "MulticlassClassifier": lambda: MulticlassClassifier(loss="{loss}").fit(np.vstack(X), np.concatenate(Y)),
    "SequenceTagger": lambda: SequenceTagger(loss="{loss}").fit(X, Y),
}}
times = []
for _ in range(2):
    began = time.perf_counter()
    fits["{estimator}"]()
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""


def run(code, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def main():
    rows = [{"what": "import", "seconds": min(float(run(IMPORT, "")) for _ in range(3))}]
    for estimator in ("MulticlassClassifier", "SequenceTagger"):
        for loss in ("hinge", "crf"):
            with tempfile.TemporaryDirectory() as cache:
                code = FIT.format(estimator=estimator, loss=loss)
                first, _ = json.loads(run(code, cache))
                cached, again = json.loads(run(code, cache))
            rows.append(
                {
                    "what": estimator,
                    "loss": loss,
                    "first_fit": first,
                    "first_fit_cached": cached,
                    "second_fit": again,
                }
            )
    save("first_use", rows)


if __name__ == "__main__":
    main()
