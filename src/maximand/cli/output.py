"""What commands print: JSON for programs, tables for people."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command has."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def show(options: argparse.Namespace, values: dict[str, Any], people: Callable[[Console], None]) -> None:
    """Print the values as JSON, or what people want to see."""
    if options.json:
        print(json.dumps(values, indent=1, default=_plain))
    else:
        people(Console(highlight=False))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def table(title: str | None, columns: list[str], rows: list[list[str]], n_text: int = 1) -> Table:
    """Return a table whose first columns are text and whose others are numbers."""
    made = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i < n_text else "right")
    for row in rows:
        made.add_row(*map(escape, row))
    return made


def listing(values: dict[str, Any]) -> Table:
    """Return names and values side by side."""
    made = Table(show_header=False, box=None, pad_edge=False)
    for name, value in values.items():
        shown = {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
        made.add_row(f"[bold]{name}", shown or (f"{value:,}" if isinstance(value, int) else escape(str(value))))
    return made
