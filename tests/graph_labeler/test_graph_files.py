"""Graph labelers in files."""

import random

import numpy as np
import pytest
from graph_samples import random_graphs, smooth_grid

from fuzzing import mutate
from maximand import (
    BeliefPropagation,
    GraphCut,
    GraphLabeler,
    Hamming,
    MaxScore,
    ModelFileError,
    NodesAndEdges,
    RhoApproximate,
    Tree,
    load,
    save,
)
from maximand.models import dump


def fitted():
    rng = np.random.default_rng(0)
    X, Y = random_graphs(rng, 8)
    featured = [NodesAndEdges(x.nodes, x.edges, rng.random((len(x.edges), 2)) if x.edges else None) for x in X]
    typed = [NodesAndEdges(x.nodes, x.edges, edge_types=np.arange(len(x.edges)) % 2) for x in X]
    names = [np.array(["a", "b", "ß"])[y] for y in Y]
    found = [smooth_grid(rng, 3, 3) for _ in range(6)]
    grids, labels = [x for x, _ in found], [y for _, y in found]
    return {
        "graphs": (GraphLabeler().fit(X, names), X),
        "types": (GraphLabeler(loss="crf", inference=Tree()).fit(typed, Y), typed),
        "features": (GraphLabeler(tables="potts", associative=True).fit(featured, Y), featured),
        "matrix": (GraphLabeler(tables=np.array([[0, 1, -1], [1, 0, -1], [-1, -1, 2]])).fit(X, Y), X),
        "nested": (GraphLabeler(tables=[[0, -1, -1], [-1, 0, -1], [-1, -1, 0]], cost=Hamming()).fit(X, Y), X),
        "grids": (GraphLabeler(diagonals=True, directional=False, inference=GraphCut()).fit(grids, labels), grids),
        "rho": (GraphLabeler(inference=RhoApproximate(0.8), decoder=MaxScore(BeliefPropagation())).fit(X, Y), X),
        "none": (GraphLabeler(tables="none", class_weight="balanced").fit(X, Y), X),
    }


@pytest.fixture(scope="module")
def models():
    return fitted()


@pytest.mark.parametrize("name", ["graphs", "types", "features", "matrix", "nested", "grids", "rho", "none"])
def test_a_loaded_model_is_the_saved_one(models, name, tmp_path):
    model, X = models[name]
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for mine, theirs in zip(model.predict(X), loaded.predict(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(loaded.table_weights_, model.table_weights_)
    assert repr(loaded.get_params()) == repr(model.get_params())
    for attribute in ("guarantee_", "guarantee_text_", "shortfall_", "gap_", "history_", "stop_reason_"):
        assert getattr(loaded, attribute) == getattr(model, attribute)
    if name == "types":
        np.testing.assert_array_equal(model.predict_proba(X)[0], loaded.predict_proba(X)[0])


def test_damaged_files_are_read_or_refused(models):
    rng = random.Random(0)
    for name in ("features", "matrix", "grids"):
        model, X = models[name]
        content = dump(model)
        for damaged in [mutate(content, rng) for _ in range(100)] + [content[:n] for n in range(0, len(content), 199)]:
            try:
                loaded = load(damaged)
            except ModelFileError:
                continue
            try:
                loaded.predict(X)
            except ValueError as error:
                assert "X[" in str(error)  # the graphs are not those of the altered model
