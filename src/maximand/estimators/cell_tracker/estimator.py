"""Tracking dividing cells by assignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maximand.costs import Cost
from maximand.decoding import Decoder
from maximand.estimators.chunks import joined
from maximand.estimators.means import layer_of, soft
from maximand.estimators.predictor import StructuredPredictor
from maximand.estimators.scoring import mean_of_known
from maximand.features import Examples
from maximand.inference.partition import Partitioning
from maximand.lineage import Lineage
from maximand.losses import Loss
from maximand.oracles import Projection
from maximand.spaces.tracking import Events as KnownEvents
from maximand.support import Array
from maximand.tasks.base import checked_weight
from maximand.tasks.tracking import BoundTracking, TrackingTask
from maximand.tasks.tracks.events import Events
from maximand.tasks.tracks.known import KnownLinks, check_known, read_known
from maximand.tasks.tracks.movies import Movie
from maximand.tasks.tracks.pieces import Progress
from maximand.tracking_scores import link_rates


@dataclass(kw_only=True, eq=False, repr=False)
class CellTracker(StructuredPredictor):
    """Links the detections of movies to lineages: every detection has one history and one fate.

    X is a list of movies. A movie is a table of detections, as a data frame, a dict of columns or what
    `maximand.formats` reads: `frame`, where it is (y and x, or z, y and x; `centroid-0`, `centroid-1`), `id` or `label`
    where detections have numbers, and measurements such as area and intensity. Y has for each movie a `Lineage`,
    `KnownLinks` where only some links are known, or None where nothing is. Without Y, columns `track` and `parent` say
    so: a track that is missing or -1 is unknown, 0 is a false detection. Predictions are lineages.

    The scores of events are linear in features of theirs (docs/tracking.md has the table). The other parameters and
    the attributes are those of `StructuredPredictor`, and `radius_`.

    Parameters
    ----------
    radius : float or None
        How far a cell may move from frame to frame, in units of the positions; None: a fifth more than the longest
        link that is known.
    n_neighbors : int
        Links lead to one of so many nearest detections, or from one of these.
    merges, false_detections : bool
        Whether two cells may become one detection, and whether a detection may be none.
    max_skip : int
        For how many frames in a row a cell may be missed.
    window : int
        Where cells are missed or detections may be false: how many frames are looked at together.
    position, columns : list of str or None
        The columns of positions and of measurements; None for those of the usual names that all movies have.
    cost : Cost or None
        What a mistake costs; None for the number of wrong events.
    inference : Partitioning or None
        How to find events; None for the best. `Partitioning(relaxed=True)` trains on upper bounds.
    """

    radius: float | None = None
    n_neighbors: int = 6
    merges: bool = False
    false_detections: bool = False
    max_skip: int = 0
    window: int = 8
    position: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    loss: str | Loss | Projection = "hinge"
    cost: Cost | None = None
    inference: Partitioning | None = None
    decoder: Decoder | None = None

    _soft_losses = "loss='euclidean'"

    def fit(self, X: Any, Y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from movies and what is known of their lineages; sample_weight is per movie."""
        X, bound, examples, annotation = self._bind(X, Y)
        if not annotation.n_annotated.any():
            raise ValueError("Y holds nothing that is known, so there is nothing to learn.")
        self.radius_ = bound.candidates.radius
        rows: Any = examples.inputs
        owners = [window.movie for window in rows.windows]
        weight = checked_weight(sample_weight, len(X))
        return self._train(X, bound, examples, annotation, None if weight is None else weight[owners])

    def _bind(self, X: Any, Y: Any) -> tuple[Any, Any, Examples, Any]:
        self._check_parameters()
        bound, examples, annotation = self._unbound().bind(X, Y)
        self.classes_ = bound.names.classes
        return X, bound, examples, annotation

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.radius is not None and not (isinstance(self.radius, Real) and 0 < self.radius < np.inf):
            raise ValueError(f"radius is {self.radius!r}; give a positive number, or None.")
        for name, least in (("n_neighbors", 1), ("max_skip", 0), ("window", 2)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}; give a whole number, at least {least}.")

    def _unbound(self) -> TrackingTask:
        return TrackingTask(
            self.radius, self.n_neighbors, self.merges, self.false_detections, self.max_skip, self.window,
            self.position, self.columns, self.cost, self.inference,
        )  # fmt: skip

    def predict(self, X: Any, *, known: Any = None) -> list[Lineage]:
        """Return the lineage of each movie; `known`, as Y when fitting, holds in it."""
        movies, pinned = self._movies(X, known)
        return [self._tracked(movie, links) for movie, links in zip(movies, pinned, strict=True)]

    def _movies(self, X: Any, known: Any) -> tuple[list[Movie], list[KnownLinks]]:
        check_is_fitted(self, "weights_")
        bound: BoundTracking = self.task_
        movies = bound.movies(X)
        if known is None:
            return movies, [KnownLinks.of(movie.n_detections) for movie in movies]
        pinned = read_known(X, known, movies)
        for movie, links in zip(movies, pinned, strict=True):
            check_known(movie, links, bound.candidates)
        return movies, pinned

    def _tracked(self, movie: Movie, known: KnownLinks) -> Lineage:
        """Go through a movie piece by piece."""
        bound: BoundTracking = self.task_
        progress = Progress(movie, bound.candidates)
        for windows in progress.pieces():
            examples = bound.some(movie, windows, known.links, progress.filled)
            progress.commit(self._events(examples, bound.annotation(examples, [known])))
        return progress.lineage

    def _events(self, examples: Examples, known: KnownEvents) -> list[Events]:
        def events(chunk: slice, part: Examples, theta: Array) -> list[Events]:
            return list(self.task_.outputs(part, self._decode(part, theta, known.take(chunk))))

        return list(joined(self._chunked(examples, events)))

    @available_if(soft)
    def predict_soft(self, X: Any) -> list[Array]:
        """Return for each movie the rows (earlier, later, share) of the links that projections give a share to."""
        layer: Any = layer_of(self.loss)
        X = list(X)
        answers = joined(self._answers(X, lambda part, theta: self.task_.shares(part, layer(part.space, theta).mean)))
        return [
            np.concatenate([np.empty((0, 3)), *(rows for i, rows in answers if i == movie)]) for movie in range(len(X))
        ]

    def decision_function(self, X: Any) -> list[Array]:
        """Return the scores of the events of each window."""
        return list(super().decision_function(X))

    def score(self, X: Any, Y: Any = None, sample_weight: Any = None) -> float:
        """Return F1 of the links between detections that are annotated, a mean over movies."""
        movies, _ = self._movies(X, None)
        known = read_known(X, Y, movies)
        found = []
        for movie, own, lineage in zip(movies, known, self.predict(X), strict=True):
            truth = Lineage.of(movie.frames, own.links, own.false)
            found.append(link_rates(truth, lineage, known=own.fates | own.histories).f1)
        f1 = np.array(found)  # nan where no link is known or found
        return mean_of_known(f1, ~np.isnan(f1), checked_weight(sample_weight, f1.size), "Y holds no link that is known")

    @property
    def event_weights_(self) -> dict[str, float]:
        """The weight of each feature of each kind of events, in units of the feature."""
        bound: BoundTracking = self._fitted
        return dict(zip(bound.event_features.names, (self.weights_ / bound.spread).tolist(), strict=True))
