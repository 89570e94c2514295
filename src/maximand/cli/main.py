"""maximand on the command line."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from maximand import __version__
from maximand.cli import demo, doctor, evaluate, fit, inspect, predict, report, reproduce
from maximand.compiling import announced

COMMANDS = (demo, fit, predict, evaluate, inspect, doctor, reproduce, report)


def parser_of_commands() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="maximand", description="Structured prediction with guarantees.")
    parser.add_argument("--version", action="version", version=f"maximand {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0 when it worked, 1 when it did not, 2 for wrong usage."""
    options = parser_of_commands().parse_args(arguments)
    logging.basicConfig(level=logging.DEBUG if options.debug else logging.WARNING)
    try:
        with announced(lambda line: print(f"maximand: {line}", file=sys.stderr)):
            return options.run(options)
    except KeyboardInterrupt:
        print("maximand: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone: nothing to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, OSError, MemoryError) as error:
        if options.debug:
            raise
        print(f"maximand: {_sentence(error)}", file=sys.stderr)
        return 1


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
