"""maximand on the command line."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from maximand import __version__

COMMANDS = {
    "demo": "train on embedded data and write a report",
    "fit": "train a model on a data file",
    "predict": "predict with a model",
    "evaluate": "evaluate a model on labelled data",
    "inspect": "show what a model file holds",
    "doctor": "look at data before training",
    "reproduce": "run an experiment of a paper",
    "report": "write an HTML page on stored results",
}  # each is a module of its name


def parser_of_commands(*wanted: str) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the arguments of those commands that are wanted.

    Others are not imported: most commands take a while to load.
    """
    parser = argparse.ArgumentParser(prog="maximand", description="Structured prediction with guarantees.")
    parser.add_argument("--version", action="version", version=f"maximand {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose)
        if name in wanted:
            import_module(f"maximand.cli.{name}").add_to(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0 when it worked, 1 when it did not, 2 for wrong usage."""
    return run(options_of(sys.argv[1:] if arguments is None else arguments))


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options that the arguments give; loads what runs the command."""
    return parser_of_commands(*arguments).parse_args(arguments)


def run(options: argparse.Namespace) -> int:
    """Run the command that was loaded."""
    logging.basicConfig(level=logging.DEBUG if options.debug else logging.WARNING)
    from maximand.compiling import announced  # brings numba

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
