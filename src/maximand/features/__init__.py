"""Linear feature maps: theta = A_x w and its transpose."""

from maximand.features.base import FeatureMap
from maximand.features.chain import ChainFeatures
from maximand.features.graph import GraphFeatures, GraphRows
from maximand.features.part import PartFeatures
from maximand.features.per_label import PerLabel
from maximand.features.rows import Rows

__all__ = ["ChainFeatures", "FeatureMap", "GraphFeatures", "GraphRows", "PartFeatures", "PerLabel", "Rows"]
