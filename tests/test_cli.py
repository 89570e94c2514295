import json

import pytest

from maximand.cli.main import main


def test_demo_prints_every_loss(capsys):
    assert main(["demo", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["loss"] for row in rows} == {"hinge", "ramp", "slack_hinge", "crf", "bridge"}
    assert all(row["test_cost"] >= 0.0 for row in rows)
    assert any(row["certified"] for row in rows)


def test_unknown_commands_are_usage_errors(capsys):
    with pytest.raises(SystemExit) as error:
        main(["nonsense"])
    assert error.value.code == 2
    assert "nonsense" in capsys.readouterr().err
