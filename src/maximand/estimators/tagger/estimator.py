"""Sequence tagging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.batch import require_outputs
from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.chunks import joined
from maximand.estimators.latent import LatentPredictor
from maximand.estimators.means import probabilistic
from maximand.estimators.scoring import class_cost, share_right
from maximand.features import Examples
from maximand.losses import Loss, named
from maximand.oracles import Projection
from maximand.spaces import Chain, Legality
from maximand.support import Array, Bools, Ints
from maximand.tasks import Ragged, TaggingTask, bio, bioes
from maximand.tasks.base import checked_weight
from maximand.tasks.sequences import flat_mask, in_one, length_of, parted
from maximand.tasks.tagging import flat_tags

SCHEMES: dict[str, Callable[[Any], Legality]] = {"BIO": bio, "BIOES": bioes}


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceTagger(LatentPredictor):
    """Tags every token of a sequence by a linear chain: scores for tokens and for neighbouring tags.

    With loss="crf" this is a linear-chain conditional random field, with "hinge" a structural SVM. X is a list of
    matrices (token, feature), dense or sparse; one matrix with lengths=; or a list of lists of feature dicts, or of
    lists of feature names. Y is a list of tag sequences; a tag is a label, None, NaN or -1 where it is not known,
    or a set of candidates.

    Tags may have hidden states (`n_states_per_label`), and positions that `hidden=` marks, by a mask for each sequence,
    are never tagged but have states of their own (`n_hidden_states`). With loss="marginal" or "crf" what is hidden is
    summed out, with "hinge" completed; predictions have None at hidden positions, and `predict_latent` has states.

    The other parameters and the attributes are those of `StructuredPredictor`, and `classes_`.

    Parameters
    ----------
    fit_intercept : bool
        Whether to add a bias for each tag.
    boundaries : bool
        Whether to add weights for the first and for the last tag.
    scheme : "BIO", "BIOES", callable or None
        Which transitions are legal: a name, or a function of the list of labels that returns a `Legality`.
    pairs : "auto", "all" or "seen"
        Weights for every pair of feature and tag and of neighbouring tags, or only for those seen in training;
        "auto" is "seen" for sparse inputs.
    cost : Cost or None
        What a mistake costs; None for the number of wrong tags.
    class_weight : dict, "balanced" or None
        Factors of the cost of missing each tag; with cost=None and a loss or decoder that reads the cost: not crf.
    classes : array or None
        All tags, where some may be missing from the training data.
    vectorizer : transformer or None
        Turns feature dicts into rows; None for scikit-learn's DictVectorizer(sort=False).
    n_states_per_label : int or dict
        How many hidden states every tag has, or some do.
    n_hidden_states : int
        How many states hidden positions have.
    random_state, n_restarts : int
        Where something is hidden: the seed of the weights that training starts from, and how often it does; the best
        model is kept.
    """

    loss: str | Loss | Projection = "crf"
    fit_intercept: bool = True
    boundaries: bool = True
    scheme: str | Callable[[Any], Legality] | None = None
    pairs: str = "auto"
    cost: Cost | None = None
    class_weight: dict[Any, float] | str | None = None
    classes: Any = None
    vectorizer: Any = None
    n_states_per_label: Any = 1
    n_hidden_states: int = 0
    decoder: Decoder | None = None

    def fit(
        self,
        X: Any,
        Y: Any,
        sample_weight: Any = None,
        *,
        lengths: Any = None,
        position_weight: Any = None,
        hidden: Any = None,
        latent_start: Any = None,
    ) -> Self:
        """Learn from sequences; position_weight (like Y, numbers) multiplies the cost of a mistake at each token.

        latent_start, where given, has states to start from, as `predict_latent` returns them.
        """
        X, bound, examples, annotation = self._bind(in_one(X, lengths, hidden), Y)
        self._start_at(bound, examples, Y, latent_start)
        if self.class_weight is not None:
            codes = bound.names.label_codes(annotation)
            bound.cost = class_cost(self.class_weight, self.cost, self.classes_, codes)
        if position_weight is not None:
            self._check_position_weight()
            annotation = replace(annotation, weights=_position_weights(position_weight, np.diff(annotation.offsets)))
        return self._train(X, bound, examples, annotation, checked_weight(sample_weight, examples.n_examples))

    def _check_position_weight(self) -> None:
        if not named(self.loss).reads_cost:
            raise ValueError(
                f"position_weight is part of the cost, which the loss {named(self.loss).name} does not read; use "
                "loss='augmented_crf' or 'hinge'."
            )

    def _unbound(self) -> TaggingTask:
        return TaggingTask(
            self.fit_intercept, self.cost, self.classes, self.pairs, self.boundaries, self._legality(), self.vectorizer,
            self.n_states_per_label, self.n_hidden_states,
        )  # fmt: skip

    def _legality(self) -> Callable[[Any], Legality] | None:
        if not isinstance(self.scheme, str):
            return self.scheme
        if self.scheme not in SCHEMES:
            raise ValueError(f"There is no tagging scheme {self.scheme!r}; choose one of {', '.join(SCHEMES)}.")
        return SCHEMES[self.scheme]

    def predict(self, X: Any, lengths: Any = None, hidden: Any = None, *, known: Any = None) -> list[np.ndarray]:
        """Return the tags of each sequence, None at hidden positions; tags that are known, as in Y, hold."""
        return self._filled(super().predict, in_one(X, lengths, hidden), np.empty(0, dtype=object), known)

    def decision_function(self, X: Any, lengths: Any = None, hidden: Any = None) -> list[Array]:
        """Return for each sequence the scores (token, tag), without those of transitions.

        That of a tag is the one of its best state, and hidden positions have NaN.
        """
        return self._filled(super().decision_function, in_one(X, lengths, hidden), np.empty((0, 0)))

    @available_if(probabilistic)
    def predict_proba(self, X: Any, lengths: Any = None, hidden: Any = None) -> list[Array]:
        """Return for each sequence the marginal probabilities (token, tag); NaN at hidden positions."""
        return self._filled(super().predict_proba, in_one(X, lengths, hidden), np.empty((0, 0)))

    def predict_latent(self, X: Any, lengths: Any = None, hidden: Any = None) -> list[Ints]:
        """Return for each token the number of its state, among those of the tag predicted, or of hidden positions."""
        self._check_hidden()
        return self._filled(super().predict_latent, in_one(X, lengths, hidden), np.empty(0, dtype=np.int64))

    def predict_latent_proba(self, X: Any, lengths: Any = None, hidden: Any = None) -> list[Array]:
        """Return the probabilities (token, state) of the states in `states_`, given the tags that are predicted."""
        self._check_hidden()
        return self._filled(super().predict_latent_proba, in_one(X, lengths, hidden), np.empty((0, 0)))

    def predict_k_best(self, X: Any, k: int, lengths: Any = None) -> list[list[tuple[float, np.ndarray]]]:
        """Return for each sequence its k best tag sequences with their scores, best first."""
        check_is_fitted(self, "weights_")
        if self.task_.has_hidden:
            raise ValueError("The best few are sequences of tags, and these have hidden states; use predict().")

        def ranked(part: Examples, theta: Array) -> list[list[tuple[float, np.ndarray]]]:
            space = part.space
            assert isinstance(space, Chain)
            return [
                [(float(value), self.classes_[codes]) for value, codes in zip(*answer, strict=True)]
                for answer in space.k_best(theta, k)
            ]

        return self._filled(lambda filled: joined(self._answers(filled, ranked)), in_one(X, lengths, None), [])

    def score(self, X: Any, Y: Any, sample_weight: Any = None, *, lengths: Any = None, hidden: Any = None) -> float:
        """Return the share of annotated tags that are right; sample_weight is per sequence."""
        predicted = self.predict(X, lengths, hidden)
        sizes = np.array([len(tags) for tags in predicted])
        true = flat_tags(Y, np.concatenate([[0], np.cumsum(sizes)]), self.classes_)
        guesses = [tag for tags in predicted for tag in tags.tolist()]
        return share_right(true, guesses, sizes, sample_weight)

    def _filled(self, answer: Callable[..., list[Any]], X: Any, empty: Any, known: Any = None) -> list[Any]:
        """Answer for the sequences that have tokens and put `empty` where there are none."""
        check_is_fitted(self, "weights_")
        X, hidden = parted(X)
        X = X if isinstance(X, Ragged) else list(X)
        sizes = np.asarray(X.lengths) if isinstance(X, Ragged) else np.array([length_of(x) for x in X], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        hidden = flat_mask(hidden, offsets)
        held = {} if known is None else {"known": self._with_tokens(known, offsets)}
        if sizes.size and sizes.all():
            return answer(in_one(X, None, hidden), **held)
        self._require_tags(sizes, hidden)
        if isinstance(X, Ragged):
            filled: Any = Ragged(X.matrix, sizes[sizes > 0])
        else:
            filled = [x for x, size in zip(X, sizes, strict=True) if size]
        answers = iter(answer(in_one(filled, None, hidden), **held) if sizes.any() else [])
        return [next(answers) if size else empty for size in sizes]

    def _with_tokens(self, known: Any, offsets: Ints) -> list[list[Any]]:
        """Return what is known of each sequence that has tokens."""
        tags = flat_tags(known, offsets, self.classes_)
        return [tags[start:stop] for start, stop in pairwise(offsets.tolist()) if stop > start]

    def _require_tags(self, sizes: Ints, hidden: Bools | None) -> None:
        """Refuse sequences that are too short to be legal, counting empty ones too."""
        filled = np.flatnonzero(sizes)
        require_outputs(self.task_.chain(sizes[filled], hidden), filled)


def _position_weights(position_weight: Any, lengths: Ints) -> Array:
    for i, (weights, length) in enumerate(zip(position_weight, lengths, strict=True)):
        if len(weights) != length:
            raise ValueError(f"position_weight[{i}] has {len(weights)} entries but X[{i}] has {length} tokens.")
    flat = np.concatenate([np.asarray(weights, dtype=float) for weights in position_weight])
    if not np.isfinite(flat).all() or (flat < 0).any():
        raise ValueError("position_weight must be finite and not negative.")
    return flat
