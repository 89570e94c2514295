"""The studies of ping2014 run at their quick scale."""

import pytest

from maximand.papers import EXPERIMENTS, Study, reproduce

STUDIES = [name for name in EXPERIMENTS if name.startswith("ping2014-") and name[9:] in (
    "table2", "table3", "figure2", "figure3", "figure5",
)]  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_quick_studies_end_with_findings(name, tmp_path):
    result = reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))
    assert result["tables"]
    for table in result["tables"]:
        assert table["rows"]
        assert all(len(row["cells"]) == len(table["columns"]) for row in table["rows"])
    assert any(": yes." in remark or ": no" in remark for remark in result["remarks"])
    again = reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))
    assert again["tables"] == result["tables"]
