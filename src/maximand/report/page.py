"""One page about all results below a folder."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from string import Template

from maximand.files.atomic import write_atomically
from maximand.report.markup import Markup, element, joined
from maximand.report.reading import Stored, Unreadable, read_results
from maximand.report.sections import experiment, overview, unreadable_files

PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Reproduced experiments</title>
<style>
$style</style>
</head>
<body>
<main>
$content
</main>
</body>
</html>
""")


def write_report(folder: str | os.PathLike[str], target: str | os.PathLike[str] | None = None) -> Path:
    """Write one HTML page about every result.json below a folder, and return its path.

    The page needs nothing but itself: no network, no scripts. Without a target it is report.html in the folder. A
    file that is named result.json but holds no result is listed with the reason.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder; give the one that holds the results.")
    results, unreadable = read_results(folder)
    if not results and not unreadable:
        raise FileNotFoundError(f"There is no result.json below {folder}; run an experiment first.")
    path = folder / "report.html" if target is None else Path(target)
    style = files("maximand.report").joinpath("style.css").read_text(encoding="utf-8")
    write_atomically(path, PAGE.substitute(style=style, content=_content(results, unreadable)).encode())
    return path


def _content(results: list[Stored], unreadable: list[Unreadable]) -> Markup:
    count = f"{len(results)} experiment{'' if len(results) == 1 else 's'}"
    lead = f"{count}{_compared(results)}."
    return joined(
        [
            element("h1", "Reproduced experiments"),
            element("p", lead, class_="lead"),
            *([overview(results)] if results else []),
            *([unreadable_files(unreadable)] if unreadable else []),
            *(experiment(number, result) for number, result in enumerate(results)),
        ]
    )


def _compared(results: list[Stored]) -> str:
    """Say where the numbers of papers stand beside ours."""
    n_compared = sum(
        any(cell.paper is not None for table in result.tables for row in table.rows for cell in row.cells)
        for result in results
    )
    which = "" if n_compared == len(results) else f"{n_compared} of them "
    return f", {which}with the papers' own numbers beside ours" if n_compared else ""
