"""Snakes: pictures in which a pixel's label can only be told by following the snake."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from maximand.datasets import simulate_snakes
from maximand.estimators import GraphLabeler
from maximand.inference import BeliefPropagation, Structure
from maximand.papers.endings import early_endings, ending
from maximand.papers.outcome import Cell, Outcome, Row, Table
from maximand.papers.study import Study
from maximand.support import Array, Ints
from maximand.tasks import NodesAndEdges

MODELS = {
    "independent pixels, own colour": "none",
    "independent pixels, colours of the 3 x 3 neighbours": "none",
    "grid, a table for each direction": "full",
    "grid, tables by direction and the colours at both ends": "full",
}
SNAKES_SCALES = {
    "quick": "25 simulated snakes of six pixels for training, 25 for testing; regularisation 1e-3.",
    "standard": (
        "The 200 training and 100 test pictures; regularisation among 1e-2, 1e-3 and 1e-4 by one hold-out of a fifth."
    ),
    "paper": "As standard.",
}


def snakes(study: Study) -> Outcome:
    """Compare independent pixels with grids that have directional tables."""
    quick = study.scale == "quick"
    file = "" if quick else str(study.file("segmentation/snakes.npz"))
    grid = [1e-3] if quick else [1e-2, 1e-3, 1e-4]
    runs = study.map(accuracy, [{"model": model, "regularizations": grid} for model in MODELS], file=file)
    rows = [Row(run["cell"]["model"], [Cell(run["all"]), Cell(run["snake"])]) for run in runs]
    note = "Hinge loss; oracle and prediction by max-product belief propagation on grids, exact for independent pixels."
    table = Table("Right labels (%)", ["all pixels", "snake pixels"], rows, note, higher_is_better=True)
    independent, best = runs[1], runs[-1]
    wide = best["snake"] > independent["snake"] + 10
    remark = (
        f"A grid with directional tables beats independent pixels by a wide margin: {'yes' if wide else 'no'}. "
        f"{best['all']:.1f} against {independent['all']:.1f} % of all pixels are right, {best['snake']:.1f} against "
        f"{independent['snake']:.1f} % of those of snakes."
    )
    return Outcome([table], remarks=[remark, *early_endings(runs)], runs=runs)


def accuracy(model: str, regularizations: list[float], seed: int, file: str) -> dict[str, Any]:
    """Return the share of right labels on the test pictures."""
    (pictures, labels), (test_pictures, test_labels) = _data(file, seed)
    X, X_test = _inputs(model, pictures), _inputs(model, test_pictures)
    chosen, tried = regularizations[0], {}
    if len(regularizations) > 1:
        a, b = train_test_split(np.arange(len(X)), test_size=0.2, random_state=seed)
        for value in regularizations:
            part = _fitted(model, [X[i] for i in a], [labels[i] for i in a], value)
            tried[value] = part.score([X[i] for i in b], [labels[i] for i in b])
        chosen = max(tried, key=lambda value: tried[value])
    fitted = _fitted(model, X, labels, chosen)
    right = np.concatenate(
        [np.ravel(found) == np.ravel(true) for found, true in zip(fitted.predict(X_test), test_labels, strict=True)]
    )
    on_snake = np.concatenate([np.ravel(true) > 0 for true in test_labels])
    return {
        "all": 100.0 * float(right.mean()),
        "snake": 100.0 * float(right[on_snake].mean()),
        "regularization": chosen,
        "tried": {f"{value:g}": score for value, score in tried.items()},
        **ending(fitted),
    }


def _fitted(model: str, X: list[Any], labels: list[Ints], regularization: float) -> GraphLabeler:
    """Train with a regularisation that is next to the mean loss of a picture."""
    tables = MODELS[model]
    labeler = GraphLabeler(
        tables=tables,
        inference=None if tables == "none" else BeliefPropagation(),
        regularization=regularization / float(np.mean([own.size for own in labels])),
        tolerance=1e-2,
        max_iterations=100,
        n_threads=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the result says how the run ended
        return labeler.fit(X, labels)


def _data(file: str, seed: int) -> tuple[tuple[list[Array], list[Ints]], tuple[list[Array], list[Ints]]]:
    if not file:
        rng = np.random.default_rng(seed)
        return simulate_snakes(25, rng, length=6), simulate_snakes(25, rng, length=6)
    with np.load(file, allow_pickle=False) as arrays:
        colours = np.unique(arrays["X_train"], axis=0)
        return _pictures(arrays, "train", colours), _pictures(arrays, "test", colours)


def _pictures(arrays: Any, part: str, colours: Ints) -> tuple[list[Array], list[Ints]]:
    pixels, labels, shapes = (arrays[f"{kind}_{part}"] for kind in ("X", "Y", "shape"))
    one_hot = (pixels[:, None] == colours).all(axis=2).astype(float)
    ends = np.cumsum(shapes.prod(axis=1))[:-1]
    return (
        [rows.reshape(*shape, -1) for rows, shape in zip(np.split(one_hot, ends), shapes, strict=True)],
        [rows.reshape(shape) for rows, shape in zip(np.split(labels.astype(int), ends), shapes, strict=True)],
    )


def _inputs(model: str, pictures: list[Array]) -> list[Any]:
    if "own colour" in model:
        return pictures
    surrounded = [_with_neighbours(picture) for picture in pictures]
    return [_with_edge_features(picture) for picture in surrounded] if "both ends" in model else surrounded


def _with_neighbours(picture: Array) -> Array:
    """Give each pixel the colours of its 3 x 3 neighbours."""
    height, width, _ = picture.shape
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)))
    return np.concatenate([padded[y : y + height, x : x + width] for y in range(3) for x in range(3)], axis=2)


def _with_edge_features(picture: Array) -> NodesAndEdges:
    """Return a grid whose edges have the features of both ends, apart for each direction."""
    height, width, d = picture.shape
    grid, nodes = Structure.grid(height, width), picture.reshape(height * width, d)
    direction = np.eye(2)[grid.tables]
    ends = np.hstack([nodes[grid.edges[:, 0]], nodes[grid.edges[:, 1]], np.ones((len(grid.edges), 1))])
    return NodesAndEdges(nodes, grid.edges, (direction[:, :, None] * ends[:, None]).reshape(len(ends), -1))
