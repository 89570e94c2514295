"""The paper harness: cells are computed once, and stored tables follow from their runs."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from maximand.papers import EXPERIMENTS, Cell, Experiment, Outcome, Row, Study, Table, reproduce
from maximand.papers.do2008 import FILES, NOISES, fold_accuracy, shuffled

RESULTS = Path(__file__).parents[1] / "results"


def squared(number, seed, folder):
    with (Path(folder) / "calls").open("a") as file:
        file.write(f"{number}\n")
    if number == 3 and (Path(folder) / "broken").exists():
        raise RuntimeError("killed")
    return {"square": number**2 + seed}


def squares(study):
    runs = study.map(squared, [{"number": n} for n in range(5)], folder=str(study.data))
    cells = [Cell(run["square"], None, run["cell"]["number"] ** 2) for run in runs]
    return Outcome([Table("Squares", [str(n) for n in range(5)], [Row("ours", cells)])], runs=runs)


SQUARES = Experiment("nobody 1900", "Squares", {"quick": "Five of them.", "paper": "All."}, squares)


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "broken").touch()
    study = Study("squares", "quick", tmp_path / "out", data, seed=0)
    with pytest.raises(RuntimeError, match="killed"):
        reproduce(SQUARES, study)
    assert not (tmp_path / "out" / "result.json").exists()
    (data / "broken").unlink()
    seen = []
    study.progress = lambda done, total, cell: seen.append((done, total))
    result = reproduce(SQUARES, study)
    assert (data / "calls").read_text().split() == ["0", "1", "2", "3", "3", "4"]
    assert seen == [(3, 5), (4, 5), (5, 5)]
    assert result == json.loads((tmp_path / "out" / "result.json").read_text())
    assert "| ours | 0.0 (0.0) | 1.0 (1.0) |" in (tmp_path / "out" / "result.md").read_text()
    reproduce(SQUARES, Study("squares", "quick", tmp_path / "out", data, seed=1))
    assert len((data / "calls").read_text().split()) == 11
    with pytest.raises(ValueError, match="no scale 'standard'"):
        reproduce(SQUARES, Study("squares", "standard", tmp_path / "out", data))


def test_labels_are_shuffled_within_a_stratified_sample():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    noisy = shuffled(y, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(noisy), np.bincount(y))
    changed = np.mean(noisy != y)
    assert changed == pytest.approx(0.2 * (1 - 0.6**2 - 0.3**2 - 0.1**2), abs=0.02)
    np.testing.assert_array_equal(shuffled(y, 0, np.random.default_rng(0)), y)


def test_one_fold_of_embedded_data():
    settings = {"data": "wine", "noise": 10, "fold": 0, "inner": 1, "weakest": 1e-3, "seed": 0, "files": {"wine": []}}
    for method in ("convex", "ramp"):
        found = fold_accuracy(method=method, **settings)
        assert found["clean"] > 80
        assert found["noisy"] <= 100
        assert found["converged"]


def stored(name):
    path = RESULTS / name / "result.json"
    return json.loads(path.read_text())


def test_the_stored_table_follows_from_its_runs():
    result = stored("do2008-table1")
    assert result["scale"] == "standard"
    assert result["protocol"] == EXPERIMENTS["do2008-table1"].scales["standard"]
    for table, kind in zip(result["tables"], ("noisy", "clean"), strict=True):
        for row in table["rows"]:
            data, method = row["name"].split(", ")
            for noise, cell in zip(NOISES, row["cells"], strict=True):
                wanted = {"data": data, "noise": noise, "method": method}
                found = [run[kind] for run in result["runs"] if wanted.items() <= run["cell"].items()]
                assert len(found) == 10
                assert cell["ours"] == pytest.approx(np.mean(found))
                assert cell["spread"] == pytest.approx(np.std(found, ddof=1))


def test_a_stored_run_can_be_repeated():
    data = os.environ.get("MAXIMAND_DATA")
    if not data:
        pytest.skip("needs the data sets: set MAXIMAND_DATA")
    run = next(run for run in stored("do2008-table1")["runs"] if run["cell"]["data"] == "DNA")
    files = {"DNA": [f"{data}/multiclass/{name}.svm.gz" for name in FILES["DNA"]]}
    found = fold_accuracy(**run["cell"], seed=0, files=files)
    assert found["noisy"] == pytest.approx(run["noisy"], abs=0.5)  # other processors round differently
    assert found["regularization"] == run["regularization"]
