"""The studies of ping2014 run at their quick scale, and stored tables follow from their runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from maximand.papers import EXPERIMENTS, Study, reproduce
from maximand.papers.ping2014.table2 import settings_of
from maximand.papers.ping2014.table3 import BASELINES, SIGMAS
from maximand.papers.ping2014.trials import gathered

RESULTS = Path(__file__).parents[1] / "results"
STUDIES = [f"ping2014-{name}" for name in ("table2", "table3", "figure2", "figure3", "figure5")]


@pytest.mark.parametrize("name", STUDIES)
def test_quick_studies_end_with_findings(name, tmp_path):
    result = reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))
    assert result["tables"]
    for table in result["tables"]:
        assert table["rows"]
        assert all(len(row["cells"]) == len(table["columns"]) for row in table["rows"])
    assert any(": yes" in remark or ": no" in remark for remark in result["remarks"])
    again = reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))
    assert again["tables"] == result["tables"]


def stored(name):
    result = json.loads((RESULTS / name / "result.json").read_text())
    assert result["scale"] == "standard"
    assert result["protocol"] == EXPERIMENTS[name].scales["standard"]
    return result


def test_stored_accuracies_follow_from_their_runs():
    result, compared = stored("ping2014-table2"), 0
    tables = [
        table for table in result["tables"] if table["title"].startswith("Accuracy") and "true" not in table["title"]
    ]
    for (setting, count), table in zip(settings_of("standard"), tables, strict=True):
        values = gathered(result["runs"], setting)
        for row in table["rows"]:
            for method, cell in zip(table["columns"], row["cells"], strict=True):
                own = values[f"{method}, {row['name']}"]
                assert len(own) == count
                assert cell["ours"] == pytest.approx(np.mean(own))
                compared += 1
    assert compared > 50


def test_stored_baselines_follow_from_their_runs():
    result, compared = stored("ping2014-table3"), 0
    table = next(table for table in result["tables"] if "M3E, alpha 2" in table["columns"])
    for row, sigma in zip(table["rows"], SIGMAS, strict=True):
        for name, cell in zip(table["columns"], row["cells"], strict=True):
            if name not in BASELINES:
                continue
            own = gathered(result["runs"], {"shared": False, "sigma_h": sigma, "baseline": name})[name]
            assert len(own) == 20
            assert cell["ours"] == pytest.approx(np.mean(own))
            compared += 1
    assert compared == 6 * len(BASELINES)
