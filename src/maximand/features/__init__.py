"""Linear feature maps: theta = A_x w and its transpose."""

from maximand.features.base import FeatureMap, SumOfBlocks
from maximand.features.blocks import Block, EndBlock, RowBlock, TiedBlock
from maximand.features.chain import ChainFeatures
from maximand.features.graph import GraphFeatures, GraphRows
from maximand.features.inputs import Examples, Inputs
from maximand.features.part import PartFeatures
from maximand.features.per_label import PerLabel
from maximand.features.rows import Rows

__all__ = [
    "Block",
    "ChainFeatures",
    "EndBlock",
    "Examples",
    "FeatureMap",
    "GraphFeatures",
    "GraphRows",
    "Inputs",
    "PartFeatures",
    "PerLabel",
    "RowBlock",
    "Rows",
    "SumOfBlocks",
    "TiedBlock",
]
