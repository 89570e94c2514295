"""Options of the command line that cards describe."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from maximand.estimators.parameters import TrainingParameters
from maximand.inference import BeliefPropagation, Exhaustive, GraphCut, Greedy, LinearProgram, Tree

Options = Mapping[str, Any]  # values of options by their names
INFERENCES = {
    "exhaustive": Exhaustive(), "tree": Tree(), "greedy": Greedy(), "belief-propagation": BeliefPropagation(),
    "graph-cut": GraphCut(), "linear-program": LinearProgram(),
}  # fmt: skip


@dataclass(frozen=True)
class Option:
    """An option: a value of some kind, or a switch (bool)."""

    flag: str
    help: str | None = None
    kind: type = str
    default: Any = None
    choices: tuple[str, ...] | None = None
    metavar: str | None = None

    @property
    def name(self) -> str:
        """The name of its value among the parsed arguments."""
        return self.flag.lstrip("-").replace("-", "_")

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the option to a parser."""
        if self.kind is bool:
            parser.add_argument(self.flag, action="store_true", help=self.help)
        else:
            parser.add_argument(
                self.flag, type=self.kind, default=self.default, choices=self.choices, metavar=self.metavar,
                help=self.help,
            )  # fmt: skip


# The parameters of every estimator that are options, by the name of the parameter.
SHARED = {
    field.name: Option(field.metadata["flag"], field.metadata["help"], field.metadata["kind"], field.default)
    for field in fields(TrainingParameters)
    if field.metadata
}
SCALE = Option("--scale", "scale the columns of tables to [-1, 1]", bool, False)
INFERENCE = Option(
    "--inference",
    "how to find the best labels of a graph, or the best set with pairwise weights; default: an exact way where that "
    "is cheap, else graph-cut for sets and for two labels, and belief-propagation",
    choices=tuple(INFERENCES),
)
