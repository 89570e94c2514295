"""What an experiment returns, and how it is written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One number of ours, with its spread and the paper's number where there are such."""

    ours: float | None
    spread: float | None = None
    paper: float | None = None


@dataclass(frozen=True)
class Row:
    """A named row of a table."""

    name: str
    cells: list[Cell]


@dataclass(frozen=True)
class Table:
    """Rows of cells; `higher_is_better` is None where neither is."""

    title: str
    columns: list[str]
    rows: list[Row]
    note: str = ""
    digits: int = 1
    higher_is_better: bool | None = None


@dataclass(frozen=True)
class Figure:
    """Curves: for each a name and lists of x, y and where there is one the half width of a band."""

    title: str
    x_label: str
    y_label: str
    curves: list[dict[str, Any]]
    note: str = ""


@dataclass(frozen=True)
class HeatMap:
    """Matrices of numbers between 0 and 1, side by side, `across` of them in a line.

    Each has a name, names of its rows and columns, its values, and marks: pairs (row, column) to be framed. `file` is
    the picture in the folder of the result.
    """

    title: str
    row_label: str
    column_label: str
    mark_label: str
    maps: list[dict[str, Any]]
    across: int
    file: str
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """The tables and figures of an experiment, remarks on them, and how the single runs ended."""

    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    heat_maps: list[HeatMap] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def markdown(result: dict[str, Any]) -> str:
    """Return the tables of a stored result as Markdown, each cell as `ours ± spread (paper's)`."""
    lines = [
        f"# {result['experiment']}",
        "",
        result["title"],
        "",
        f"Scale: {result['scale']}. {result['protocol']}",
        "",
    ]
    for table in result["tables"]:
        lines += [f"## {table['title']}", "", "| | " + " | ".join(table["columns"]) + " |"]
        lines.append("|---|" + "---:|" * len(table["columns"]))
        for row in table["rows"]:
            shown = [_shown(cell, table["digits"]) for cell in row["cells"]]
            lines.append(f"| {row['name']} | " + " | ".join(shown) + " |")
        compared = any(cell["paper"] is not None for row in table["rows"] for cell in row["cells"])
        notes = [table["note"], "The paper's numbers in brackets." if compared else ""]
        lines += ["", *([" ".join(filter(None, notes)), ""] if any(notes) else [])]
    for heat_map in result.get("heat_maps", []):
        lines += [f"## {heat_map['title']}", "", f"![{heat_map['title']}]({heat_map['file']})", ""]
        lines += [heat_map["note"], ""] if heat_map["note"] else []
    lines += [f"- {remark}" for remark in result["remarks"]]
    lines += ["", f"{result['seconds']:.0f} seconds of computation, seed {result['seed']}.", ""]
    return "\n".join(lines)


def _shown(cell: dict[str, Any], digits: int) -> str:
    if cell["ours"] is None:
        return ""
    shown = f"{cell['ours']:.{digits}f}"
    if cell["spread"] is not None:
        shown += f" ± {cell['spread']:.{digits}f}"
    if cell["paper"] is not None:
        shown += f" ({cell['paper']:.{digits}f})"
    return shown
