"""Pictures of models and results; they need matplotlib, which comes with the extra "plot"."""

from maximand.plots.confusion import ConfusionDisplay
from maximand.plots.convergence import ConvergenceDisplay
from maximand.plots.figure import FigureDisplay
from maximand.plots.label_maps import LabelMapsDisplay
from maximand.plots.lineage import LineageDisplay
from maximand.plots.marginals import MarginalsDisplay
from maximand.plots.tracks import TracksDisplay
from maximand.plots.transitions import TransitionsDisplay
from maximand.plots.weights import WeightsDisplay

__all__ = [
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "FigureDisplay",
    "LabelMapsDisplay",
    "LineageDisplay",
    "MarginalsDisplay",
    "TracksDisplay",
    "TransitionsDisplay",
    "WeightsDisplay",
]
