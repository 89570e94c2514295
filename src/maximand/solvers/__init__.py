"""Ways to minimise an objective."""

from maximand.solvers.base import Iterate, Record, Result, Solver, start_weights
from maximand.solvers.block_frank_wolfe import BlockFrankWolfe
from maximand.solvers.cccp import CCCP, automatic
from maximand.solvers.lbfgs import LBFGS
from maximand.solvers.n_slack import NSlack
from maximand.solvers.one_slack import OneSlack
from maximand.solvers.subgradient import Decreasing, Perceptron, Polyak, Subgradient

__all__ = [
    "CCCP",
    "LBFGS",
    "BlockFrankWolfe",
    "Decreasing",
    "Iterate",
    "NSlack",
    "OneSlack",
    "Perceptron",
    "Polyak",
    "Record",
    "Result",
    "Solver",
    "Subgradient",
    "automatic",
    "start_weights",
]
