"""Stored results, read and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from maximand.papers.endings import final_fits
from maximand.papers.outcome import Cell, Figure, HeatMap, Row, Table
from maximand.report.fields import Fields

MOST_DIGITS = 15


@dataclass(frozen=True)
class Ending:
    """How a final fit ended; what was not written down is None."""

    cell: str
    seconds: float | None
    reason: str | None
    converged: bool | None


@dataclass(frozen=True)
class Stored:
    """What `reproduce` wrote; `source` is the file's place below the folder of the report."""

    source: str
    experiment: str
    paper: str
    title: str
    scale: str
    protocol: str
    seed: int
    seconds: float
    data: dict[str, str]
    versions: dict[str, str]
    tables: list[Table]
    figures: list[Figure]
    remarks: list[str]
    endings: list[Ending]
    heat_maps: list[HeatMap]


@dataclass(frozen=True)
class Unreadable:
    """A file that holds no result, and why."""

    source: str
    reason: str


def read_results(folder: Path) -> tuple[list[Stored], list[Unreadable]]:
    """Read every result.json below a folder, in the order of their paths."""
    results, unreadable = [], []
    for path in sorted(folder.rglob("result.json")):
        source = path.relative_to(folder).as_posix()
        try:
            results.append(_stored(source, Fields(json.loads(path.read_text(encoding="utf-8")))))
        except OSError as error:
            unreadable.append(Unreadable(source, f"It cannot be opened: {error.strerror}."))
        except json.JSONDecodeError as error:
            unreadable.append(Unreadable(source, f"It is not JSON: {error}."))
        except RecursionError:
            unreadable.append(Unreadable(source, "Its values are nested too deeply."))
        except ValueError as error:
            unreadable.append(Unreadable(source, str(error)))
    return results, unreadable


def _stored(source: str, fields: Fields) -> Stored:
    return Stored(
        source,
        experiment=fields.text("experiment"),
        paper=fields.text("paper"),
        title=fields.text("title"),
        scale=fields.text("scale"),
        protocol=fields.text("protocol"),
        seed=fields.whole("seed"),
        seconds=fields.number("seconds"),
        data=fields.named_texts("data"),
        versions=fields.named_texts("versions"),
        tables=[_table(table) for table in fields.objects("tables")],
        figures=[read_figure(figure) for figure in fields.objects("figures")],
        remarks=fields.texts("remarks"),
        endings=[ending for run in fields.objects("runs") for ending in _endings(run)],
        heat_maps=[_heat_map(heat_map) for heat_map in fields.objects("heat_maps")],
    )


def _table(fields: Fields) -> Table:
    columns, digits = fields.texts("columns"), fields.whole("digits", 1)
    if not 0 <= digits <= MOST_DIGITS:
        raise ValueError(f"{fields.place}.digits is {digits}; it should be between 0 and {MOST_DIGITS}.")
    rows = []
    for row in fields.objects("rows"):
        cells = [
            Cell(cell.number_or_none("ours"), cell.number_or_none("spread"), cell.number_or_none("paper"))
            for cell in row.objects("cells")
        ]
        if len(cells) != len(columns):
            raise ValueError(f"{row.place} has {len(cells)} cells but the table has {len(columns)} columns.")
        rows.append(Row(row.text("name"), cells))
    better = fields.yes_or_no("higher_is_better")
    return Table(fields.text("title"), columns, rows, fields.text("note", ""), digits, better)


def read_figure(fields: Fields) -> Figure:
    """Check a stored figure; each of its curves has a name, x, y and perhaps a band, lists of the same length."""
    title, x_label, y_label = (fields.text(name) for name in ("title", "x_label", "y_label"))
    curves = []
    for curve in fields.objects("curves"):
        x, y = curve.numbers("x"), curve.numbers("y")
        band = curve.numbers("band", [None] * len(x))
        if not len(x) == len(y) == len(band):
            raise ValueError(f"{curve.place} has {len(x)} x, {len(y)} y and {len(band)} band; there should be as many.")
        curves.append({"name": curve.text("name"), "x": x, "y": y, "band": band})
    return Figure(title, x_label, y_label, curves, fields.text("note", ""))


def _heat_map(fields: Fields) -> HeatMap:
    """Check that each matrix has as many rows and columns as names, and marks within."""
    title, row_label, column_label, mark_label, file = (
        fields.text(name) for name in ("title", "row_label", "column_label", "mark_label", "file")
    )
    maps = []
    for one in fields.objects("maps"):
        rows, columns = one.texts("rows"), one.texts("columns")
        values = [
            Fields({"": line}, f"{one.place}.values[{i}]").numbers("") for i, line in enumerate(one.anything("values"))
        ]
        if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
            raise ValueError(
                f"{one.place} has {len(rows)} rows and {len(columns)} columns; its values have other sizes."
            )
        marks = [
            Fields({"": mark}, f"{one.place}.marks[{i}]").numbers("") for i, mark in enumerate(one.anything("marks"))
        ]
        if not all(len(mark) == 2 and mark[0] in range(len(rows)) and mark[1] in range(len(columns)) for mark in marks):
            raise ValueError(f"{one.place}.marks should hold pairs of a row and a column.")
        maps.append({"name": one.text("name"), "rows": rows, "columns": columns, "values": values, "marks": marks})
    across = fields.whole("across", 1)
    if across < 1:
        raise ValueError(f"{fields.place}.across is {across}; it should be at least 1.")
    return HeatMap(title, row_label, column_label, mark_label, maps, across, file, fields.text("note", ""))


def _endings(run: Fields) -> list[Ending]:
    """Return how the final fits of a run ended; its seconds stand with the first."""
    cell, seconds = run.values.get("cell"), run.number_or_none("seconds")
    name = ", ".join(f"{name} {value}" for name, value in cell.items()) if isinstance(cell, dict) else ""
    fits = [Fields(fit, f"{run.place}.fits") for fit in final_fits(run.values)]
    return [
        Ending(name, None if i else seconds, fit.text("stop_reason", "") or None, fit.yes_or_no("converged"))
        for i, fit in enumerate(fits)
    ]
