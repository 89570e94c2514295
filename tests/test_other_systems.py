"""What not every system has is not needed: `resource`, which counts a process's memory, is a module of some only."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from maximand.formats import LabelledRows, write_svmlight

WITHOUT = "import sys; sys.modules['resource'] = None; "
COMMAND = WITHOUT + "from maximand.cli.main import main; raise SystemExit(main(sys.argv[1:]))"


@pytest.fixture
def rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    path = tmp_path / "rows.svm"
    write_svmlight(LabelledRows(csr_array(X), (X[:, 0] > 0).astype(float)), path)
    return path


def run(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_run_and_the_doctor_says_what_it_does_not_know(rows, tmp_path):
    run(COMMAND, "fit", rows, "-o", tmp_path / "model")
    estimates = json.loads(run(COMMAND, "doctor", rows, "--json"))["estimates"]
    assert (estimates["peak bytes"], estimates["peak over input"]) == (None, None)
    assert estimates["weights"] == 6
    words = " ".join(run(COMMAND, "doctor", rows).split())
    assert "6 weights and takes about" in words
    assert "How much memory it takes is not known: this system does not tell what reading took." in words


def test_tests_and_benchmarks_can_be_imported():
    root = Path(__file__).resolve().parents[1]
    paths = f"sys.path[:0] = [{str(root / 'tests')!r}, {str(root / 'benchmarks')!r}]; "
    run(WITHOUT + paths + "import fuzzing, robustness")
