"""maximand report: one page on all stored results."""

from __future__ import annotations

import argparse

from maximand.cli.output import add_common_options, show
from maximand.report import write_report


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", help="folder with results of maximand reproduce")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: report.html in the folder")
    add_common_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page and print its path."""
    path = write_report(options.folder, options.output)
    show(options, {"report": str(path)}, lambda console: console.print(str(path), soft_wrap=True))
    return 0
