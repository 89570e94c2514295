"""Labelling the nodes of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.means import probabilistic
from maximand.estimators.predictor import StructuredPredictor
from maximand.estimators.scoring import class_cost, share_right
from maximand.inference import Inference
from maximand.losses import Loss
from maximand.oracles import Projection
from maximand.support import Array
from maximand.tasks.base import checked_weight
from maximand.tasks.graph_inputs import flat_labels, listed
from maximand.tasks.graphs import GraphTask


@dataclass(kw_only=True, eq=False, repr=False)
class GraphLabeler(StructuredPredictor):
    """Labels every node of a graph: scores for nodes by their features, and for the labels at the ends of edges.

    X is a list of graphs: `NodesAndEdges(nodes, edges, edge_features, edge_types)`, tuples (nodes, edges) or (nodes,
    edges, edge_features), or arrays (height, width, feature) for grids such as images. Y is a list of labels for the
    nodes of each graph, for a grid also as an array (height, width); a label is None, NaN or -1 where it is not known,
    or a set of candidates. Predictions of grids have their shape.

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    tables : "full", "symmetric", "diagonal", "potts", "none" or matrix
        Weights of an edge for every ordered pair of labels; for every unordered pair; for each label where both ends
        have it; one where both ends agree; none; or a matrix (label, label) with the number of the weight of each pair,
        -1 for none. Each edge type, or each edge feature, has weights of its own.
    associative : bool
        Keep the weights of agreement nonnegative, so that neighbours only attract; for "potts" and "diagonal".
    diagonals, directional : bool
        For grids: whether nodes have eight neighbours instead of four, and whether each direction has its own table.
    inference : Inference or None
        How to find labellings; None for an exact one where that is cheap, else GraphCut() for two labels and
        BeliefPropagation() for more.
    fit_intercept : bool
        Whether to add a bias for each label.
    cost : Cost or None
        What a mistake costs; None for the number of wrong labels.
    class_weight : dict, "balanced" or None
        Factors of the cost of missing each label; with cost=None and a loss or decoder that reads the cost: not crf.
    classes : array or None
        All labels, where some may be missing from the training data.
    decoder : Decoder or None
        How to predict; `MaxScore(inference)` takes another inference than training.
    """

    tables: str | Any = "full"
    associative: bool = False
    diagonals: bool = False
    directional: bool = True
    inference: Inference | None = None
    loss: str | Loss | Projection = "hinge"
    fit_intercept: bool = True
    cost: Cost | None = None
    class_weight: dict[Any, float] | str | None = None
    classes: Any = None
    decoder: Decoder | None = None

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Learn from graphs X and labels Y of their nodes."""
        X, bound, examples, annotation = self._bind(listed(X), Y)
        if self.class_weight is not None:
            bound.cost = class_cost(self.class_weight, self.cost, self.classes_, annotation.codes, normalized=False)
        return self._train(X, bound, examples, annotation, checked_weight(sample_weight, examples.n_examples))

    def _unbound(self) -> GraphTask:
        return GraphTask(
            self.tables, self.associative, self.diagonals, self.directional, self.fit_intercept, self.cost,
            self.classes, self.inference,
        )  # fmt: skip

    def predict(self, X: Any) -> list[np.ndarray]:
        """Return the labels of the nodes of each graph."""
        return super().predict(X) if (X := self._listed(X)) else []

    def decision_function(self, X: Any) -> list[Array]:
        """Return for each graph the scores (node, label), without those of edges."""
        return super().decision_function(X) if (X := self._listed(X)) else []

    @available_if(probabilistic)
    def predict_proba(self, X: Any) -> list[Array]:
        """Return for each graph the marginal probabilities (node, label)."""
        return super().predict_proba(X) if (X := self._listed(X)) else []

    def _listed(self, X: Any) -> list[Any]:
        check_is_fitted(self, "weights_")
        return listed(X)

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Return the share of annotated nodes whose label is right; sample_weight is per graph."""
        predicted = self.predict(X)
        true = flat_labels(Y, [labels.shape for labels in predicted], self.classes_)
        guesses = [label for labels in predicted for label in np.ravel(labels).tolist()]
        return share_right(true, guesses, [labels.size for labels in predicted], sample_weight)

    @property
    def table_weights_(self) -> Array:
        """The weights of edges, (edge type or feature, label, label)."""
        return self._fitted.features.table_weights(self.weights_)
