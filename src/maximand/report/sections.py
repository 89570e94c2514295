"""The parts of the page: the overview, and a section for each experiment."""

from __future__ import annotations

from maximand.report.curves import figure_html
from maximand.report.endings import as_they_should, endings_html
from maximand.report.heat_maps import heat_map_html
from maximand.report.markup import Markup, element, joined
from maximand.report.numbers import duration
from maximand.report.reading import Stored, Unreadable
from maximand.report.tables import scrolling, table_html

SHOWN_OF_A_HASH = 12


def overview(results: list[Stored]) -> Markup:
    """Return one line for each experiment."""
    names = ("experiment", "scale", "computation", "fits that ended as they should")
    rows = [
        element(
            "tr",
            element(
                "th",
                element("a", result.experiment, href=f"#{place(number)}"),
                element("span", result.title, class_="below"),
                scope="row",
            ),
            element("td", result.scale),
            element("td", duration(result.seconds)),
            element("td", as_they_should(result.endings)),
        )
        for number, result in enumerate(results)
    ]
    table = element(
        "table",
        element("caption", "Overview"),
        element("thead", element("tr", *(element("th", name, scope="col") for name in names))),
        element("tbody", *rows),
        class_="overview",
    )
    return scrolling(table, "Overview")


def place(number: int) -> str:
    """Return the anchor of an experiment; names may occur twice, numbers do not."""
    return f"experiment-{number + 1}"


def unreadable_files(files: list[Unreadable]) -> Markup:
    """Return the files that hold no result, with the reasons."""
    listed = [element("li", element("code", file.source), ": ", file.reason) for file in files]
    return element(
        "section",
        element("h2", "Unreadable files", id="unreadable-heading"),
        element("p", "These files are named like results but hold none that can be shown:"),
        element("ul", *listed),
        class_="unreadable",
        aria_labelledby="unreadable-heading",
    )


def experiment(number: int, result: Stored) -> Markup:
    """Return the section of an experiment."""
    heading = f"{place(number)}-heading"
    remarks = [element("li", remark) for remark in result.remarks]
    return element(
        "section",
        element("h2", result.title, id=heading),
        *([element("p", result.paper, class_="paper")] if result.paper else []),
        _facts(
            {
                "Experiment": result.experiment,
                "Scale": result.scale,
                "Protocol": result.protocol,
                "Seed": str(result.seed),
                "Computation": duration(result.seconds),
            }
        ),
        *(table_html(table) for table in result.tables),
        *(figure_html(figure) for figure in result.figures),
        *(heat_map_html(heat_map) for heat_map in result.heat_maps),
        *([element("h3", "Remarks"), element("ul", *remarks, class_="remarks")] if remarks else []),
        *([endings_html(result.endings)] if result.endings else []),
        _provenance(result),
        id=place(number),
        aria_labelledby=heading,
    )


def _facts(facts: dict[str, str | Markup]) -> Markup:
    pairs = [joined([element("dt", name), element("dd", value)]) for name, value in facts.items()]
    return element("dl", *pairs, class_="facts")


def _provenance(result: Stored) -> Markup:
    """Return what it takes to run the experiment again: file, data and versions."""
    hashes: dict[str, str | Markup] = {
        name: element("code", f"{found[:SHOWN_OF_A_HASH]}…" if len(found) > SHOWN_OF_A_HASH else found, title=found)
        for name, found in result.data.items()
    }
    return element(
        "details",
        element("summary", "Data and versions"),
        element("h4", "Stored in"),
        element("p", element("code", result.source)),
        element("h4", "Data (SHA-256)"),
        _facts(hashes) if hashes else element("p", "No files were read."),
        element("h4", "Versions"),
        _facts(dict(result.versions)) if result.versions else element("p", "Not recorded."),
    )
