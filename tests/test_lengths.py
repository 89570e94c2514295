"""Files stay short enough to be read in one go: those of the library under 300 lines, those of tests under 400."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("folder", "limit"), [("src", 300), ("tests", 400)])
def test_files_are_short(folder, limit):
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.glob(f"{folder}/**/*.py")}
    assert len(lengths) > 50
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n >= limit} == {}
