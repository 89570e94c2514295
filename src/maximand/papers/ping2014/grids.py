"""The paper's three methods on grids of labels some of which are missing: what is missing is hidden in training.

The paper minimises |w|^2 / 2 + C sum_i loss_i over images, with a count of wrong labels as cost. Ours is a mean over
the nodes that have a label: with n of them in all images, regularization = 1 / (C n) makes it the paper's, divided by
C n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maximand.batch import Batch
from maximand.engine import Threads
from maximand.features import Examples
from maximand.inference import BeliefPropagation, Combine, GraphCut, Inference
from maximand.losses import CRF, HINGE, MARGINAL
from maximand.objective import Objective
from maximand.spaces import Graph
from maximand.support import Array, Ints
from maximand.tasks.graphs import GraphTask

METHODS = {"MSSVM": MARGINAL, "LSSVM": HINGE, "HCRF": CRF}
ZERO, DEFAULT = "w = 0", "the hidden CRF"
TINY = 1e-16  # square of a gradient that is none
BELIEFS = BeliefPropagation(max_iterations=20, tolerance=1e-3)
MAX_PRODUCT, EXPANSION, MARGINALS = "max-product", "max-product or expansion moves", "marginals"
DECODERS: dict[str, Inference] = {
    MAX_PRODUCT: BELIEFS,
    EXPANSION: Combine((BELIEFS, GraphCut(expansion=True))),
    MARGINALS: BELIEFS,
}


class Problem:
    """Grids X, as arrays (height, width, feature) or graphs, with labels Y, -1 where they are missing.

    One table of weights, e_y x e_y', serves the edges to the right and down.
    """

    def __init__(self, X: Sequence[Any], Y: Sequence[Ints], classes: Ints, bias: bool):
        task = GraphTask(directional=False, bias=bias, classes=classes, inference=BELIEFS)
        self.bound, self.examples, self.annotation = task.bind(list(X), list(Y))
        self.n_known = int(np.count_nonzero(self.annotation.codes >= 0))

    def objective(self, method: str, C: float) -> Objective:
        """Return the objective of a method."""
        batch = Batch(self.examples, self.annotation, self.bound.cost, np.ones(self.examples.n_examples))
        return Objective.of(batch, self.bound.features, METHODS[method], 1.0 / (C * self.n_known), Threads(1))

    def descended(
        self, method: str, C: float, start: Array | None, step: float, passes: int, size: int, seed: int
    ) -> Array:
        """Return where Algorithm 1 ends, a few images at a time: the mean of the weights in the later half of it.

        Each weight has steps of its own: `step` times its gradient over the root of the sum of all its squares so far
        (AdaGrad), as words are far rarer than edges.
        """
        objective, rng = self.objective(method, C), np.random.default_rng(seed)
        weights = np.zeros(objective.n_weights) if start is None else start.copy()
        mean, squares, n = np.zeros_like(weights), np.full_like(weights, TINY), self.examples.n_examples
        order = [part for _ in range(passes) for part in np.array_split(rng.permutation(n), -(-n // size))]
        for time, images in enumerate(order):
            _, gradient = objective.sampled_gradient(weights, images)
            squares += gradient**2
            weights -= step * gradient / np.sqrt(squares)
            if time >= len(order) // 2:
                mean += weights / (len(order) - len(order) // 2)
        return mean

    def predicted(self, X: Sequence[Any], weights: Array, decoder: str) -> list[Ints]:
        """Return the number of the label of each node, grid by grid.

        Nothing is hidden in prediction, so that marginal MAP is the best labelling; by marginals, it is the likeliest
        label of each node.
        """
        examples: Examples = self.bound.encode(list(X))
        theta = self.bound.features.scores(examples, self.bound.features.expand(weights))
        assert isinstance(examples.space, Graph)
        space = examples.space.using(DECODERS[decoder])
        found = space.marginals(theta) if decoder == MARGINALS else space.argmax(theta)
        return space.decode(found.mean)
