"""The studies of lou2012 run at their quick scale, and stored tables follow from their runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from maximand.papers import EXPERIMENTS, Study, reproduce
from maximand.papers.lou2012.held_out import RADIUS, by_distance
from maximand.papers.lou2012.problems import SIMULATED, UNSEEN, Problem
from maximand.solvers import OneSlack

RESULTS = Path(__file__).parents[1] / "results"
STUDIES = [f"lou2012-{name}" for name in ("figure3", "table3", "figure5", "held-out")]


@pytest.mark.parametrize("name", STUDIES)
def test_quick_studies_end_with_findings(name, tmp_path):
    result = reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))
    assert result["tables"]
    for table in result["tables"]:
        assert table["rows"]
        assert all(len(row["cells"]) == len(table["columns"]) for row in table["rows"])
    assert any(": yes" in remark or ": no" in remark for remark in result["remarks"])
    assert reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))["tables"] == result["tables"]


@pytest.fixture(scope="module")
def problem():
    return Problem(SIMULATED, UNSEEN, {})


def test_a_share_of_the_true_events_says_what_it_rules_out(problem):
    known, rows = problem.annotation, problem.examples.inputs
    less, more = (problem.partial(share, 0, 0) for share in (0.2, 0.6))
    for some in (less, more):
        there = some.psi >= 0
        assert (some.psi[there] == known.psi[there]).all()
        assert set(rows.events.kinds[some.psi > 0]) == set(rows.events.kinds[known.psi > 0])
    assert (more.psi[less.psi >= 0] == less.psi[less.psi >= 0]).all()
    assert (less.psi >= 0).sum() < (more.psi >= 0).sum()
    assert (problem.partial(1.0, 0, 0).psi == known.psi).all()


def test_training_lowers_the_task_loss(problem):
    result, seconds = problem.trained("hinge", problem.annotation, OneSlack(tolerance=1e-2))
    assert seconds > 0
    before = problem.task_loss(np.zeros_like(result.weights), problem.examples, problem.annotation)
    assert problem.task_loss(result.weights, problem.examples, problem.annotation) < before


def test_distances_link_what_is_nearest_and_leave_out_what_is_far():
    frames = np.array([0, 0, 1, 1, 1])
    positions = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, RADIUS + 1.0], [1.0, 0.0], [3.0, 0.0]])
    assert by_distance(frames, positions).links.tolist() == [[0, 3]]


def stored(name):
    result = json.loads((RESULTS / name / "result.json").read_text())
    assert result["scale"] == "standard"
    assert result["protocol"] == EXPERIMENTS[name].scales["standard"]
    return result


def test_stored_losses_follow_from_their_runs():
    result, compared = stored("lou2012-table3"), 0
    for table in result["tables"]:
        own = [run for run in result["runs"] if table["title"] == f"From {run['cell']['start']}"]
        for row in table["rows"]:
            for what, cell in zip(("losses", "times"), row["cells"], strict=True):
                assert cell["ours"] == pytest.approx(np.mean([run[what][row["name"]] for run in own]))
                compared += 1
    assert compared == 24


def test_stored_curves_follow_from_their_runs():
    result = stored("lou2012-figure3")
    for table, what in zip(result["tables"], ("losses", "times"), strict=True):
        for row in table["rows"][:-1]:
            own = [run for run in result["runs"] if row["name"] == f"{100 * (run['cell']['share'] or 0):g} %"]
            for name, cell in zip(table["columns"], row["cells"], strict=True):
                assert cell["ours"] == pytest.approx(np.mean([run[what][name] for run in own]))


def test_stored_links_follow_from_their_runs():
    result = stored("lou2012-held-out")
    for row, run in zip(result["tables"][0]["rows"], result["runs"], strict=True):
        ours, distance = (100 * np.array(run["by pair"][name]) for name in ("ours", "distance"))
        assert row["cells"][0]["ours"] == run["links"]
        assert row["cells"][3]["ours"] == pytest.approx(np.mean(ours - distance))
