"""maximand on the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from maximand import __version__
from maximand.cli import demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = argparse.ArgumentParser(prog="maximand", description="Structured prediction with guarantees.")
    parser.add_argument("--version", action="version", version=f"maximand {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
