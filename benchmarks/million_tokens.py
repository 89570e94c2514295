"""A fit of a million-token CoNLL file from the command line: its peak memory against the CSR size of its features.

The file is CoNLL-2000's training part five times over. `maximand doctor` predicts the peak before the fit.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from data import folder
from report import save

COPIES = 5
ITERATIONS = 20


def measured(*command):
    """Run a command; return what it printed and its peak of resident memory in bytes."""
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen([sys.executable, "-m", "maximand", *command], stdout=printed)
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0, command
        printed.seek(0)
        return json.loads(printed.read()), 1024 * usage.ru_maxrss


def main():
    with gzip.open(folder() / "sequence" / "conll2000.train.txt.gz", "rt") as file:
        text = file.read().rstrip("\n") + "\n\n"
    with tempfile.TemporaryDirectory() as place:
        data, model = Path(place) / "million.conll", Path(place) / "model"
        data.write_text(text * COPIES)
        predicted, _ = measured("doctor", str(data), "--json")
        _, peak = measured("fit", str(data), "-o", str(model), "--json", "--max-iterations", str(ITERATIONS))
    csr = predicted["input bytes"]
    guess = predicted["estimates"]["peak bytes"]
    row = {
        "tokens": predicted["tokens"], "csr_bytes": csr, "peak_bytes": peak, "peak_over_csr": peak / csr,
        "predicted_bytes": guess, "predicted_over_peak": guess / peak, "weights": predicted["estimates"]["weights"],
    }  # fmt: skip
    save("million_tokens", [row], iterations=ITERATIONS, copies=COPIES)


if __name__ == "__main__":
    main()
