"""A table of a result: ours, the paper's, and how far they are apart."""

from __future__ import annotations

import math

from maximand.papers.outcome import Cell, Table
from maximand.report.markup import Markup, element, joined
from maximand.report.numbers import fixed, signed

NOTHING = "\u2013"


def table_html(table: Table) -> Markup:
    """Return the table in a container of its own, so that a wide one scrolls there, and its notes below."""
    compared = [any(row.cells[c].paper is not None for row in table.rows) for c in range(len(table.columns))]
    body = [
        element(
            "tr",
            element("th", row.name, scope="row"),
            *(_cells(cell, table, both) for cell, both in zip(row.cells, compared, strict=True)),
        )
        for row in table.rows
    ]
    whole = element(
        "table",
        element("caption", table.title),
        _head(table.columns, compared),
        element("tbody", *body),
        class_="result",
    )
    return joined([scrolling(whole, table.title), *_notes(table)])


def scrolling(content: Markup, label: str) -> Markup:
    """Return a container in which wide content scrolls, by finger, mouse or keyboard."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


def _head(columns: list[str], compared: list[bool]) -> Markup:
    """Return one line of headers, or two where the paper has numbers of its own."""
    if not any(compared):
        headers = [element("th", name, scope="col") for name in columns]
        return element("thead", element("tr", element("td"), *headers))
    groups = [
        element("th", name, scope="colgroup" if both else "col", colspan=3 if both else None, class_="group")
        for name, both in zip(columns, compared, strict=True)
    ]
    parts = [
        element("th", part, scope="col", class_="first" if part == "ours" else None)
        for both in compared
        for part in (("ours", "paper", "difference") if both else ("ours",))
    ]
    first, second = element("tr", element("td"), *groups), element("tr", element("td"), *parts)
    return element("thead", first, second)


def _cells(cell: Cell, table: Table, both: bool) -> Markup:
    shown: list[str] = [NOTHING]
    if cell.ours is not None:
        shown = [fixed(cell.ours, table.digits)]
        if cell.spread is not None:
            shown.append(element("span", f" ± {fixed(cell.spread, table.digits)}", class_="spread"))
    ours = element("td", *shown, class_="first")
    if not both:
        return ours
    paper = element("td", NOTHING if cell.paper is None else fixed(cell.paper, table.digits), class_="paper")
    return joined([ours, paper, _difference(cell, table)])


def _difference(cell: Cell, table: Table) -> Markup:
    distance = difference(cell)
    if distance is None:
        return element("td", NOTHING)
    shown = signed(distance, table.digits)
    if table.higher_is_better is None or shown[0] not in "+\u2212":
        return element("td", shown, class_="difference")
    word = "better" if (distance > 0) == table.higher_is_better else "worse"
    return element("td", shown, class_=f"difference {word}", title=f"{word} than the paper")


def difference(cell: Cell) -> float | None:
    """Return ours minus the paper's where there are both."""
    if cell.ours is None or cell.paper is None or not math.isfinite(cell.ours - cell.paper):
        return None
    return cell.ours - cell.paper


def _notes(table: Table) -> list[Markup]:
    """Return the table's own note, then how to read the differences."""
    notes = [table.note] if table.note else []
    distances = [abs(found) for row in table.rows for cell in row.cells if (found := difference(cell)) is not None]
    directions = {True: "higher is better", False: "lower is better", None: "neither direction is better"}
    if distances:
        notes.append(
            f"Difference: ours minus the paper's; {directions[table.higher_is_better]}. Its mean size over "
            f"{len(distances)} cell{'s' if len(distances) > 1 else ''} is "
            f"{fixed(sum(distances) / len(distances), table.digits + 1)}."
        )
    elif table.higher_is_better is not None:
        notes.append(f"{directions[table.higher_is_better].capitalize()}.")
    return [element("p", note, class_="note") for note in notes]
