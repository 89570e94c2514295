"""Labelling the nodes of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.latent import LatentPredictor
from maximand.estimators.means import probabilistic
from maximand.estimators.scoring import class_cost, share_right
from maximand.inference import Inference
from maximand.losses import Loss
from maximand.oracles import Projection
from maximand.tasks.base import checked_weight
from maximand.tasks.graph_inputs import flat_labels, listed
from maximand.tasks.graphs import GraphTask


@dataclass(kw_only=True, eq=False, repr=False)
class GraphLabeler(LatentPredictor):
    """Labels every node of a graph: scores for nodes by their features, and for the labels at the ends of edges.

    X is a list of graphs: `NodesAndEdges(nodes, edges, edge_features, edge_types)`, tuples (nodes, edges) or (nodes,
    edges, edge_features), or arrays (height, width, feature) for grids such as images. Y is a list of labels for the
    nodes of each graph, for a grid also as an array (height, width); a label is None, NaN or -1 where it is not known,
    or a set of candidates. Predictions of grids have their shape.

    Where nodes are of several types, each with features and labels of its own, a graph has a dict of nodes and its
    labels are a dict: see `NodesAndEdges`. So are predictions. A type that Y never mentions is hidden: `classes` says
    what its nodes may be. With loss="marginal" or "crf" hidden nodes are summed out, with "hinge" they are completed;
    `predict_latent` says what was made of them.

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    tables : "full", "symmetric", "diagonal", "potts", "none" or matrix
        Weights of an edge for every ordered pair of labels; for every unordered pair; for each label where both ends
        have it; one where both ends agree; none; or a matrix (label, label) with the number of the weight of each pair,
        -1 for none. Each edge type, or each edge feature, has weights of its own. For nodes of several types also a
        dict from pairs of types to one of these; edges between two types have "full" tables or a matrix.
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
    classes : array, dict or None
        All labels, where some may be missing from the training data; for nodes of several types a dict of those of
        some types, or of all.
    decoder : Decoder or None
        How to predict; `MaxScore(inference)` takes another inference than training. None chooses labels by the sum over
        hidden nodes where the loss sums over these; `MaxScore()` chooses labels and hidden states together.
    n_states_per_label : int or dict
        How many hidden states every label has, or some do; for nodes of one type. Tables are between states then.
    random_state, n_restarts : int
        Where something is hidden: the seed of the weights that training starts from, and how often it does; the best
        model is kept.
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
    n_states_per_label: Any = 1
    decoder: Decoder | None = None

    def fit(self, X: Any, Y: Any, sample_weight: Any = None, *, latent_start: Any = None) -> Self:
        """Learn from graphs X and labels Y of their nodes.

        latent_start, where given, has states of hidden nodes to start from, as `predict_latent` returns them.
        """
        X, bound, examples, annotation = self._bind(listed(X), Y)
        self._start_at(bound, examples, Y, latent_start)
        if self.class_weight is not None:
            codes = bound.names.label_codes(annotation)
            bound.cost = class_cost(self.class_weight, self.cost, self.classes_, codes)
        return self._train(X, bound, examples, annotation, checked_weight(sample_weight, examples.n_examples))

    def _unbound(self) -> GraphTask:
        return GraphTask(
            self.tables, self.associative, self.diagonals, self.directional, self.fit_intercept, self.cost,
            self.classes, self.inference, self.n_states_per_label,
        )  # fmt: skip

    def predict(self, X: Any, *, known: Any = None) -> list[Any]:
        """Return the labels of the nodes of each graph, by type where nodes have types; what is known holds."""
        return super().predict(X, known=known) if (X := self._listed(X)) else []

    def decision_function(self, X: Any) -> list[Any]:
        """Return for each graph the scores (node, label), without those of edges."""
        return super().decision_function(X) if (X := self._listed(X)) else []

    @available_if(probabilistic)
    def predict_proba(self, X: Any) -> list[Any]:
        """Return for each graph the marginal probabilities (node, label)."""
        return super().predict_proba(X) if (X := self._listed(X)) else []

    def _listed(self, X: Any) -> list[Any]:
        check_is_fitted(self, "weights_")
        return listed(X)

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Return the share of annotated nodes whose label is right; sample_weight is per graph."""
        predicted, types = self.predict(X), self._fitted.type_names
        by_type = [list(y.values()) if isinstance(y, dict) else [y] for y in predicted]
        shapes = [tuple(own.size for own in y) if len(types) > 1 else y[0].shape for y in by_type]
        guesses = [label for y in by_type for own in y for label in np.ravel(own).tolist()]
        sizes = [sum(own.size for own in y) for y in by_type]
        return share_right(flat_labels(Y, shapes, types, self.classes_), guesses, sizes, sample_weight)

    @property
    def classes_by_type_(self) -> dict[Any, np.ndarray]:
        """The labels of each type of nodes, in the order of its columns; of the type None where nodes have no types."""
        classes = self._fitted.all_classes
        return classes if isinstance(classes, dict) else {None: classes}

    @property
    def table_weights_(self) -> Any:
        """The weights of edges, (edge type or feature, label, label); by pairs of types where nodes have types."""
        task = self._fitted
        found = task.features.table_weights(self.weights_)
        if not task.types:
            return found[0]
        names = task.type_names
        return {
            tuple(names[t] for t in own.ends): weights for own, weights in zip(task.features.tables, found, strict=True)
        }
