"""What outputs are: one file for each kind of space."""

from maximand.spaces.base import OutputSpace
from maximand.spaces.chain import Chain, Legality
from maximand.spaces.choice import Choice
from maximand.spaces.graph import Graph
from maximand.spaces.labels import Labels
from maximand.spaces.oracle import OracleSpace, Parts

__all__ = ["Chain", "Choice", "Graph", "Labels", "Legality", "OracleSpace", "OutputSpace", "Parts"]
