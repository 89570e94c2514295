"""The paper harness: cells are computed once, and stored tables follow from their runs."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from maximand.papers import EXPERIMENTS, Cell, Experiment, Outcome, Row, Study, Table, reproduce
from maximand.papers.do2008 import FILES, NOISES, fold_accuracy, shuffled
from maximand.papers.endings import early_endings
from maximand.papers.study import SCALES
from maximand.report import write_report
from maximand.report.endings import as_they_should
from maximand.report.reading import read_results

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
    assert not (tmp_path / "out" / "quick" / "result.json").exists()
    (data / "broken").unlink()
    seen = []
    study.progress = lambda done, total, cell: seen.append((done, total))
    result = reproduce(SQUARES, study)
    assert (data / "calls").read_text().split() == ["0", "1", "2", "3", "3", "4"]
    assert seen == [(3, 5), (4, 5), (5, 5)]
    assert result == json.loads((tmp_path / "out" / "quick" / "result.json").read_text())
    assert "| ours | 0.0 (0.0) | 1.0 (1.0) |" in (tmp_path / "out" / "quick" / "result.md").read_text()
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


def test_a_report_counts_the_fits_that_the_remarks_count():
    compared = 0
    for stored in read_results(RESULTS)[0]:
        for remark in stored.remarks:
            if said := re.match(r"(\d+) of (\d+) final fits ended", remark):
                early, total = int(said[1]), int(said[2])
                assert as_they_should(stored.endings) == f"{total - early} of {total}"
                compared += 1
    assert compared >= 6


def fits(*converged):
    reason = "max_iterations=5 was reached"
    return {"fits": {str(i): {"stop_reason": reason, "converged": met} for i, met in enumerate(converged)}}


def test_every_final_fit_is_counted_once():
    runs = [fits(True, False) | {"converged": True}, fits(True), {"stop_reason": "the gap fell", "converged": True}]
    assert early_endings(runs) == ["1 of 4 final fits ended at their iteration limit."]
    slow = {"stop_reason": "max_seconds=1 was reached", "converged": False}
    assert early_endings([slow]) == ["1 of 1 final fits ended before their tolerance: max_seconds=1 was reached."]
    assert early_endings(runs[1:]) == []


def with_numbers_of(paper):
    def run(study):
        return Outcome([Table("T", ["a"], [Row("r", [Cell(float(study.seed), None, paper)])])], runs=[])

    return run


def test_seeds_and_scales_do_not_replace_each_other(tmp_path):
    each = [(scale, seed) for scale in SCALES for seed in (0, 1, 2)]
    for scale, seed in each:
        experiment = Experiment("P", "E", {scale: "Less."}, with_numbers_of(1.0))
        reproduce(experiment, Study("mine", scale, tmp_path / "mine", seed=seed))
    found, unreadable = read_results(tmp_path)
    assert not unreadable
    assert {(result.scale, result.seed) for result in found} == set(each)
    assert all(result.tables[0].rows[0].cells[0].ours == result.seed for result in found)
    assert (tmp_path / "mine" / "result.json").exists()  # of the standard scale


@pytest.mark.parametrize(
    ("papers", "words"),
    [
        ([1.0, 2.0], "2 experiments, with the papers' own numbers beside ours."),
        ([1.0, None], "2 experiments, 1 of them with the papers' own numbers beside ours."),
        ([None, None], "2 experiments."),
    ],
)
def test_the_page_says_where_numbers_of_papers_stand(tmp_path, papers, words):
    for i, paper in enumerate(papers):
        experiment = Experiment("P", "E", {"quick": "Less."}, with_numbers_of(paper))
        reproduce(experiment, Study(f"mine{i}", "quick", tmp_path / f"mine{i}"))
    assert f'<p class="lead">{words.replace(chr(39), "&#x27;")}</p>' in write_report(tmp_path).read_text()
