"""Options of the command line that cards describe."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
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
    kind: Callable[[str], Any] = str
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


def class_weights(text: str) -> str | dict[str, float]:
    """Read "balanced", or a JSON object with a number for each label."""
    if text == "balanced":
        return text
    try:
        weights = json.loads(text)
    except ValueError:
        weights = None
    if not isinstance(weights, dict) or not all(type(weight) in (int, float) for weight in weights.values()):
        raise argparse.ArgumentTypeError(f'{text} is neither balanced nor a JSON object such as {{"O": 0.5}}')
    return weights


def weights_by_label(weights: str | dict[str, float] | None, labels: Iterable[Any]) -> Any:
    """Return weights of classes with labels as they are in the data, instead of their text."""
    if not isinstance(weights, dict):
        return weights
    named = {str(label): label for label in labels}
    return {named.get(label, label): weight for label, weight in weights.items()}


# The parameters of every estimator that are options, by the name of the parameter.
SHARED = {
    field.name: Option(field.metadata["flag"], field.metadata["help"], field.metadata["kind"], field.default)
    for field in fields(TrainingParameters)
    if field.metadata
}
CLASS_WEIGHT = Option(
    "--class-weight",
    "balanced, or a JSON object with weights of labels, the others 1; of label sets, of 0 (absent) and 1 (present)",
    class_weights,
    metavar="WEIGHTS",
)
STATES_PER_LABEL = Option("--states-per-label", "hidden states of every label", int, 1, metavar="N")
SCALE = Option("--scale", "scale the columns of tables to [-1, 1]", bool, False)
INFERENCE = Option(
    "--inference",
    "how to find the best labels of a graph, or the best set with pairwise weights; default: an exact way where that "
    "is cheap, else graph-cut for sets and for two labels, and belief-propagation",
    choices=tuple(INFERENCES),
)
