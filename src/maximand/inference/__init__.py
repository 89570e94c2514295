"""Algorithms on pairwise factor graphs, one file each, and what their answers are worth."""

from maximand.inference.automatic import automatic
from maximand.inference.base import Inference, labelled
from maximand.inference.belief_propagation import BeliefPropagation
from maximand.inference.combine import Combine
from maximand.inference.exhaustive import Exhaustive
from maximand.inference.graph_cut import GraphCut
from maximand.inference.greedy import Greedy
from maximand.inference.icm import IteratedModes
from maximand.inference.integer_program import IntegerProgram
from maximand.inference.linear_program import LinearProgram
from maximand.inference.rho_approximate import RhoApproximate
from maximand.inference.structure import FactorGraphs, Structure, Structures
from maximand.inference.tree import Tree

__all__ = [
    "BeliefPropagation",
    "Combine",
    "Exhaustive",
    "FactorGraphs",
    "GraphCut",
    "Greedy",
    "Inference",
    "IntegerProgram",
    "IteratedModes",
    "LinearProgram",
    "RhoApproximate",
    "Structure",
    "Structures",
    "Tree",
    "automatic",
    "labelled",
]
