"""What outputs are: one file for each kind of space."""

from maximand.spaces.base import OutputSpace
from maximand.spaces.chain import Chain, Legality
from maximand.spaces.choice import Choice
from maximand.spaces.choices import Choices
from maximand.spaces.graph import Graph
from maximand.spaces.labelled import LabelledSpace
from maximand.spaces.labels import Labels, Orders, Sizes
from maximand.spaces.matching import Matching
from maximand.spaces.mixtures import ActiveSet, AwaySteps, Mixture
from maximand.spaces.oracle import OracleSpace, Parts
from maximand.spaces.ordinal import Ordinal
from maximand.spaces.product import Annotations, Product
from maximand.spaces.ranking import Ranking
from maximand.spaces.subset import Subset
from maximand.spaces.table import TableSpace

__all__ = [
    "ActiveSet",
    "Annotations",
    "AwaySteps",
    "Chain",
    "Choice",
    "Choices",
    "Graph",
    "LabelledSpace",
    "Labels",
    "Legality",
    "Matching",
    "Mixture",
    "OracleSpace",
    "Orders",
    "Ordinal",
    "OutputSpace",
    "Parts",
    "Product",
    "Ranking",
    "Sizes",
    "Subset",
    "TableSpace",
]
