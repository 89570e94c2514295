"""Estimators some of whose variables are never annotated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, cast

import numpy as np

from maximand.capabilities import Can
from maximand.decoding import MaxScore
from maximand.estimators.chunks import joined
from maximand.estimators.predictor import StructuredPredictor
from maximand.features import Examples
from maximand.losses import CRF
from maximand.objective import Objective
from maximand.solvers import CCCP, LBFGS, Result, Solver
from maximand.solvers.restarts import Restarts, scattered
from maximand.support import Array

ROUGH = 1e-2  # tolerance of training on states that are given to start from


@dataclass(kw_only=True, eq=False, repr=False)
class LatentPredictor(StructuredPredictor):
    """Breaks the ties between hidden states, which all weights of zero leave alike, and says what they were.

    Training begins at small random weights, `n_restarts` times, and keeps the best, or at hidden states that are given.
    """

    random_state: int = 0
    n_restarts: int = 1

    _latent_start = cast(Any, None)  # an annotation that names hidden states; with a type it would be a parameter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, least in (("random_state", 0), ("n_restarts", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}; give a whole number, at least {least}.")

    def _bind(self, X: Any, Y: Any) -> tuple[Any, Any, Examples, Any]:
        found = super()._bind(X, Y)
        if not found[-1].n_annotated.any():
            raise ValueError("Y holds nothing that is known, so there is nothing to learn.")
        return found

    def _minimized(self, X: Any, objective: Objective, solver: Solver, start: Result | None = None) -> Result:
        if Can.HIDDEN not in objective.can or start is not None:
            return super()._minimized(X, objective, solver, start)
        if isinstance(solver, CCCP) and solver.easier is None:
            solver = replace(solver, easier=True)
        if self.n_restarts > 1:
            solver = Restarts.of(solver, self.n_restarts, self.random_state)
        return super()._minimized(X, objective, solver, self._beginning(objective))

    def _beginning(self, objective: Objective) -> Result | None:
        """Return where training begins: at given states, where there are such, or at random weights."""
        states, self._latent_start = self._latent_start, None
        if states is not None:
            return taught(objective, states)
        return scattered(objective, np.random.default_rng((self.random_state, 0)))

    def _start_at(self, bound: Any, examples: Examples, Y: Any, states: Any) -> None:
        """Start the next training at given hidden states; None: at random weights."""
        if states is not None and not bound.has_hidden:
            raise ValueError("latent_start gives states of hidden variables, and nothing is hidden; leave it out.")
        self._latent_start = None if states is None else bound.completed(examples, Y, states)

    def _check_hidden(self) -> None:
        if not self._fitted.has_hidden:
            raise ValueError(f"Nothing is hidden in this {type(self).__name__}: predict() returns all there is.")

    @property
    def states_(self) -> list[tuple[Any, int]]:
        """The label of each state and its number among those; None where slots are hidden."""
        self._check_hidden()
        return list(self.task_.names.state_titles)

    def predict_latent(self, X: Any) -> list[Any]:
        """Return the likeliest states of what is hidden, given the outputs that are predicted."""
        self._check_hidden()
        return joined(self._answers(X, lambda part, theta: self._fitted.latent(part, self._decode(part, theta))))

    def predict_latent_proba(self, X: Any) -> list[Any]:
        """Return the probabilities of the states of what is hidden, given the outputs that are predicted."""
        self._check_hidden()

        def chances(part: Examples, theta: Array) -> list[Any]:
            decoder = self._chosen_decoder(self._fitted.cost)
            if not isinstance(decoder, MaxScore) or not decoder.hidden:
                raise ValueError(
                    "Predictions choose the best hidden states and know no probabilities of them; use loss='marginal' "
                    "or 'crf', or decoder=MaxScore(hidden=1.0)."
                )
            return self._fitted.latent_chances(part, decoder.found(part.space, theta).mean)

        return joined(self._answers(X, chances))


def taught(objective: Objective, annotation: Any) -> Result:
    """Return weights trained as if hidden states were known, roughly, to start from."""
    batch = replace(objective.batches[0], annotation=annotation)
    known = Objective.of(batch, objective.features, CRF, objective.regularization, objective.engine)
    return Result.start(LBFGS(tolerance=ROUGH).minimize(known).weights)
