"""What a mistake costs."""

from maximand.costs.base import Cost, LabelCost
from maximand.costs.labels import Absolute, CostMatrix, Hamming, PrecisionAt, Squared, Weighted, ZeroOne
from maximand.costs.parts import DifferentParts, Sum
from maximand.costs.rankings import DiscountedGain, Kendall, MissedTop

__all__ = [
    "Absolute",
    "Cost",
    "CostMatrix",
    "DifferentParts",
    "DiscountedGain",
    "Hamming",
    "Kendall",
    "LabelCost",
    "MissedTop",
    "PrecisionAt",
    "Squared",
    "Sum",
    "Weighted",
    "ZeroOne",
]
