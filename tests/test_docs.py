"""The documentation builds without warnings, and its examples run as they stand there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import maximand
from maximand.cards import all_cards
from maximand.cli.data import listed_formats
from maximand.cli.main import main
from maximand.cli.model_options import own_options
from maximand.losses import LOSSES
from pages import DOCS, fences
from thinning import EVERYTHING

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
FORMAT = "html" if EVERYTHING else "xml"  # with the same warnings, and without the work of laying out pages
SLOW = ("demo", "reproduce do2008-table1", "report")  # tested elsewhere, at a smaller scale


@pytest.mark.parametrize("page", [page for page in PAGES if fences(page, "python")])
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in fences(page, "python"):
        exec(compile(block, page, "exec"), namespace)


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    exec(fences("command_line.md", "python")[0], {})
    commands = [
        part.partition("\n")
        for block in fences("command_line.md", "console")
        for part in re.split(r"^\$ maximand ", block, flags=re.MULTILINE)[1:]
    ]
    assert len(commands) > 10
    for command, _, shown in commands:
        if command.startswith(SLOW):
            continue
        try:
            code = main(command.split())
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        assert code == (1 if shown.startswith("maximand: ") else 0), command
        missing = words(shown) - words(printed.out + printed.err)
        assert not missing, f"maximand {command} does not print {missing}"


def words(text):
    """Return the words of an output; numbers may differ from machine to machine."""
    return set(re.findall(r"[^\W\d_]{2,}", text.replace("...", "")))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx", reason="sphinx is not installed")
    pytest.importorskip("myst_parser", reason="myst-parser is not installed")
    pytest.importorskip("numpydoc", reason="numpydoc is not installed")
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples"):
        left_out = shutil.ignore_patterns("_build", "generated", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", FORMAT, "docs", "site"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=55,
    )
    assert built.returncode == 0, built.stderr
    return folder / "site"


def test_documentation_builds_without_warnings(site):
    pages = {path.with_suffix(".md").name for path in site.glob(f"*.{FORMAT}")}
    assert set(PAGES) <= pages


def test_reference_holds_every_public_name(site):
    text = "".join(path.read_text() for path in (site / "reference" / "generated").glob(f"*.{FORMAT}"))
    described = set(re.findall(r'ids?="maximand\.(\w+)"', text))
    assert set(maximand.__all__) - {"LOSSES"} <= described


def test_reference_lists_every_loss(site):
    text = (site / "reference" / f"index.{FORMAT}").read_text()
    assert all(re.search(rf">{name}</(span|literal)>", text) for name in LOSSES)


def test_command_line_lists_every_format_and_option(site):
    text = (site / f"command_line.{FORMAT}").read_text()
    formats = listed_formats().values()
    options = [*own_options(), *(option for form in formats for option in form.options)]
    named = (*(form.name for form in formats), *(option.flag for option in options))
    for name in (*named, *(card.estimator.__name__ for card in all_cards())):
        assert re.search(rf">{name}</(span|literal)>", text), name
