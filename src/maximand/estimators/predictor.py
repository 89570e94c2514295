"""The general estimator: any task, any loss, any solver."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.batch import Batch, require_outputs
from maximand.callbacks.contexts import CallbackSupport, with_callbacks
from maximand.costs import Cost
from maximand.decoding import Calibrated, Decoder, MaxScore, decoded, try_decoder
from maximand.engine import Threads
from maximand.estimators.chunks import chunked, held, joined
from maximand.estimators.frozen import Freezable
from maximand.estimators.independent_nodes import no_worse
from maximand.estimators.means import layer_of, probabilistic, soft
from maximand.estimators.parameters import TrainingParameters, check_target
from maximand.estimators.scoring import mean_of_known
from maximand.features import Examples
from maximand.fingerprints import fingerprint
from maximand.losses import Loss, named
from maximand.objective import Objective
from maximand.oracles import Projection, Soft
from maximand.solvers import Record, Result, Solver, automatic
from maximand.solvers.base import Run
from maximand.spaces import OutputSpace, Shares
from maximand.support import Array
from maximand.tasks import BoundTask, Task
from maximand.tasks.base import checked_weight
from maximand.tasks.label_names import LabelNames


class StructuredPredictor(Freezable, CallbackSupport, TrainingParameters, BaseEstimator):
    """Learns weights w for scores theta = A_x w of the parts of an output, and predicts the best output.

    Callbacks, such as `Progress()` or `Checkpoint(path)`, are set with `set_callbacks`, as in scikit-learn.

    Parameters
    ----------
    task : Task
        What inputs and outputs are.
    loss : str, Loss or Projection
        "hinge", "ramp", "crf", ...: see `maximand.losses`; or a projection, for the loss that it generates.
    solver : "auto" or Solver
        How to minimise; "auto" chooses one that is valid for the loss and the data.
    regularization : float
        The factor of |w|^2 / 2 next to the mean loss of a row of a table, a token or a node.
    decoder : Decoder or None
        How to predict; None for the largest score, or with the loss of a projection the least expected cost.
    tolerance, max_iterations, max_seconds : float or None, int, float
        Limits of the automatic solver, None for its own tolerance. Of these, only max_seconds limits a given solver.
    n_threads : int or None
        Threads to use, None for one per core. The answer does not depend on it.

    Attributes
    ----------
    weights_ : array
    objective_, gap_, gap_is_certificate_ : float, float or None, bool
        The objective reached, a bound on its distance to the minimum, and whether that bound is proven.
    guarantee_, guarantee_text_, shortfall_ : Guarantee, str, Shortfall or None
        What the oracles' answers were worth and what that makes of objective and gap, in words; for the hinge loss
        with oracles that return lower bounds, what `shortfall_.intervals(rho)` is computed from.
    n_iter_, stop_reason_, history_ : int, str, list of Record
    """

    _start: Result | None = None  # where training begins, see `regularization_path`
    _loss_parameter, _decoder_parameter = "loss", "decoder"
    _soft_losses = "loss='crf' or 'euclidean'"

    def __init__(
        self,
        task: Task,
        *,
        loss: str | Loss | Projection = "hinge",
        solver: str | Solver = "auto",
        regularization: float = 1e-4,
        decoder: Decoder | None = None,
        tolerance: float | None = None,
        max_iterations: int = 1000,
        max_seconds: float = np.inf,
        n_threads: int | None = None,
    ):
        self.task, self.loss, self.decoder = task, loss, decoder
        super().__init__(
            solver=solver, regularization=regularization, tolerance=tolerance, max_iterations=max_iterations,
            max_seconds=max_seconds, n_threads=n_threads,
        )  # fmt: skip

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Learn from inputs X and full, partial or ambiguous annotations Y."""
        X, bound, examples, annotation = self._bind(X, Y)
        return self._train(X, bound, examples, annotation, checked_weight(sample_weight, examples.n_examples))

    def _bind(self, X: Any, Y: Any) -> tuple[Any, Any, Examples, Any]:
        """Check parameters and data and bind the task to them; return X as checked, task, examples and annotation."""
        self._check_parameters()
        self._check_class_weight()
        check_target(self, Y, "Y")
        bound, examples, annotation = self._unbound().bind(X, Y)
        names = getattr(bound, "names", None)
        if isinstance(names, LabelNames):
            self.classes_ = names.classes
        return X, bound, examples, annotation

    def _unbound(self) -> Task:
        """Return the task, to be bound to data."""
        return self.task

    def _check_parameters(self) -> None:
        self._check_training()
        classes = getattr(self, "classes", None)
        if classes is not None and (isinstance(classes, str) or not np.iterable(classes)):
            raise ValueError(f"classes is {classes!r}; list all labels, or give None for those that occur.")
        named(self.loss)

    def _check_class_weight(self) -> None:
        """Refuse to train with weights that have no effect; models of 0.4.0 may have been."""
        if getattr(self, "class_weight", None) is not None and not self._reads_class_weight:
            raise ValueError(
                f"class_weight is part of the cost, which neither the loss {named(self.loss).name} nor the decoder "
                "reads; use loss='augmented_crf' or 'hinge'."
            )

    @property
    def _reads_class_weight(self) -> bool:
        """Whether weights of classes matter, which are part of the cost; a decoder that is given has its own cost."""
        return named(self.loss).reads_cost or self._calibrates

    @property
    def _calibrates(self) -> bool:
        """Whether predictions are those of least expected cost: where the loss projects and no decoder is given."""
        return self.decoder is None and isinstance(layer_of(self.loss), Projection)

    @with_callbacks
    def _train(self, X: Any, bound: BoundTask, examples: Examples, annotation: Any, weight: Array | None) -> Self:
        if isinstance(annotation, Shares) and not named(self.loss).penalty.smooth:
            raise ValueError(
                f"y holds shares of labels and the loss {named(self.loss).name} takes maxima; use {self._soft_losses}."
            )
        self._try_decoding(examples.space, bound.cost)
        batch = Batch(examples, annotation, bound.cost, np.ones(examples.n_examples))
        objective = Objective.of(
            batch, bound.features, named(self.loss), self.regularization, Threads(self.n_threads), sample_weight=weight
        )
        solver = self._solver(objective)
        self.task_: Any = bound
        result = no_worse(objective, solver, lambda limited: self._minimized(X, objective, limited))
        self.weights_ = result.weights
        self.objective_ = result.value
        self.gap_, self.gap_is_certificate_ = result.gap, result.certified
        self.guarantee_, self.guarantee_text_ = result.guarantee, result.guarantee_text
        self.shortfall_ = result.shortfall
        self.n_iter_ = len(result.history)
        self.stop_reason_ = result.stop_reason
        self.history_ = result.history
        if not (result.converged or result.wanted or solver.keeps_last):
            warnings.warn(
                f"Training stopped early: {result.stop_reason}. Raise the limit, the tolerance or the regularization.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _try_decoding(self, space: OutputSpace, cost: Any) -> None:
        """Refuse a cost or a decoder that would fail after training."""
        if not isinstance(cost, Cost):
            raise ValueError(f"cost is {cost!r}; give a Cost such as Hamming().")
        decoder = self._chosen_decoder(cost)
        if isinstance(decoder, type) or not callable(decoder):
            found = f"{self._decoder_parameter} is {decoder!r}"
            raise ValueError(f"{found}; give a Decoder such as MaxScore() or Calibrated().")
        if self.decoder is not None or isinstance(decoder, Calibrated):
            try_decoder(decoder, space)

    def _minimized(self, X: Any, objective: Objective, solver: Solver, start: Result | None = None) -> Result:
        """Run the solver with the callbacks, from a checkpoint where one of them has one."""
        if start is None and objective.convex and not solver.keeps_last:  # where it saves time and changes nothing
            start = self._start
        if not getattr(self, "_skl_callbacks", None):
            return solver.minimize(objective, start=start)
        from maximand.callbacks.checkpoint import Checkpoint  # files are slow to import, and few fits write any

        fit = self._init_callback_context(max_subtasks=solver.max_iterations)
        fit.call_on_fit_task_begin(estimator=self, X=X)
        tolerance = solver.tolerance

        def after(record: Record, run: Run) -> bool:
            iteration = fit.subcontext(task_name="iteration")
            iteration.call_on_fit_task_begin(estimator=self, X=X)
            return iteration.call_on_fit_task_end(
                estimator=self,
                X=X,
                metadata={"record": record, "run": run, "tolerance": tolerance},
                reconstruction_attributes=lambda: {"weights_": run.weights.copy()},
            )

        resume = None
        for callback in self._skl_callbacks:
            if isinstance(callback, Checkpoint):
                without_limits = replace(solver, max_iterations=0, max_seconds=0.0)  # a resumed run may go further
                resume = callback.resume(fingerprint(objective, without_limits, start))
        result = solver.minimize(objective, start=start, callback=after, resume=resume)
        fit.call_on_fit_task_end(estimator=self, X=X)
        return result

    def _solver(self, objective: Objective) -> Solver:
        if isinstance(self.solver, Solver):
            return replace(self.solver, max_seconds=min(self.solver.max_seconds, self.max_seconds))
        solver = automatic(objective)
        tolerance = solver.tolerance if self.tolerance is None else self.tolerance
        limit = min(self.max_iterations, solver.max_iterations) if solver.keeps_last else self.max_iterations
        return replace(solver, tolerance=tolerance, max_iterations=limit, max_seconds=self.max_seconds)

    def _answers(self, X: Any, answer: Callable[[Examples, Array], Any]) -> list[Any]:
        """Return answer(examples, theta) for consecutive chunks of the inputs, worked on side by side."""
        return self._chunked(self._encoded(X), lambda _, part, theta: answer(part, theta))

    def _encoded(self, X: Any) -> Examples:
        examples: Examples = self._fitted.encode(X)
        require_outputs(examples.space)
        return examples

    def _known(self, Y: Any) -> Any:
        """Return annotations as the task takes them after training."""
        return Y

    def _chunked(self, examples: Examples, answer: Callable[[slice, Examples, Array], Any]) -> list[Any]:
        return chunked(self.task_.features, self.weights_, examples, answer, self.n_threads)

    def _decode(self, examples: Examples, theta: Array, known: Any = None) -> Array:
        return decoded(self._chosen_decoder(self.task_.cost), examples.space, theta, known)

    def _chosen_decoder(self, cost: Cost) -> Decoder:
        if self.decoder is not None:
            return self.decoder
        layer = layer_of(self.loss)
        if layer is not None and self._calibrates:
            return Calibrated(cost, layer)
        penalty = named(self.loss).penalty
        return MaxScore(hidden=penalty.heats[1] if isinstance(penalty, Soft) else 0.0)

    def predict(self, X: Any, *, known: Any = None) -> Any:
        """Return the predicted outputs; they agree with what is known of them, in the form of Y when fitting."""
        examples = self._encoded(X)
        known_of = held(self.task_, examples, None if known is None else self._known(known))

        def outputs(chunk: slice, part: Examples, theta: Array) -> Any:
            return self.task_.outputs(part, self._decode(part, theta, known_of(chunk)))

        return joined(self._chunked(examples, outputs))

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the parts."""
        return joined(self._answers(X, lambda part, theta: self.task_.parts(part, theta)))

    @available_if(soft)
    def predict_soft(self, X: Any) -> Any:
        """Return the means that the loss makes of the scores: marginals, or what is projected onto its set."""
        layer: Any = layer_of(self.loss)
        return joined(self._answers(X, lambda part, theta: self.task_.means(part, layer(part.space, theta).held)))

    @available_if(probabilistic)
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the parts."""
        return self.predict_soft(X)

    def costs(self, X: Any, Y: Any) -> Array:
        """Return the cost of the prediction for each example; parts that are not annotated cost nothing."""
        examples = self._fitted.encode(X)
        annotation = self.task_.annotation(examples, Y)

        def chunk_costs(chunk: slice, part: Examples, theta: Array) -> Array:
            vector, constant = self.task_.cost.against(part.space, annotation.take(chunk))
            return part.space.layout.dot(vector, self._decode(part, theta)) + constant

        return np.concatenate(self._chunked(examples, chunk_costs))

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean cost of a row, token or node of which something is known, so that higher is better."""
        costs, sizes = self.costs(X, Y), self.task_.annotation(self.task_.encode(X), Y).n_annotated
        weight = sizes if sample_weight is None else sizes * checked_weight(sample_weight, costs.size)
        return -mean_of_known(costs / np.maximum(sizes, 1), sizes > 0, weight, "Y holds nothing that is known")

    @property
    def _fitted(self) -> Any:
        """The bound task of an estimator that was fitted."""
        check_is_fitted(self, "weights_")
        return self.task_
