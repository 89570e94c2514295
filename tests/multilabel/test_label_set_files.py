"""Multilabel classifiers in files."""

import random

import numpy as np
import pytest
from label_set_samples import NAMES, as_sets
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzing import mutate
from maximand import (
    BeliefPropagation,
    Combine,
    GraphCut,
    Greedy,
    MaxScore,
    ModelFileError,
    MultilabelClassifier,
    Pairwise,
    RhoApproximate,
    load,
    save,
)
from maximand.models import dump


def fitted(table):
    X, Y, X_test, _ = table
    pairwise = Pairwise(Combine((Greedy(), BeliefPropagation())))
    return {
        "independent": (MultilabelClassifier().fit(X, Y), X_test),
        "sets": (MultilabelClassifier(structure="pairwise", loss="crf").fit(X, as_sets(Y)), X_test),
        "combined": (MultilabelClassifier(structure=pairwise, decoder=MaxScore(GraphCut())).fit(X, Y), X_test),
        "rho": (MultilabelClassifier(structure=Pairwise(RhoApproximate(0.9))).fit(X, Y), X_test),
        "seen": (MultilabelClassifier(pairs="seen", structure="pairwise").fit(csr_matrix(X), Y), csr_matrix(X_test)),
        "weighted": (MultilabelClassifier(class_weight={0: 1.0, 1: 2.0}, classes=NAMES).fit(X, Y), X_test),
        "scaled": (make_pipeline(StandardScaler(), MultilabelClassifier()).fit(X, as_sets(Y)), X_test),
    }


@pytest.fixture(scope="module")
def models(table):
    return fitted(table)


@pytest.mark.parametrize("name", ["independent", "sets", "combined", "rho", "seen", "weighted", "scaled"])
def test_a_loaded_model_is_the_saved_one(models, name, tmp_path):
    model, X = models[name]
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for mine, theirs in zip(model.predict(X), loaded.predict(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(model.decision_function(X), loaded.decision_function(X))
    assert repr(loaded.get_params()) == repr(model.get_params())
    before, after = (m[-1] if name == "scaled" else m for m in (model, loaded))
    for attribute in ("guarantee_", "guarantee_text_", "shortfall_", "gap_", "history_", "stop_reason_"):
        assert getattr(after, attribute) == getattr(before, attribute)
    if name == "sets":
        np.testing.assert_array_equal(model.predict_proba(X), loaded.predict_proba(X))


def test_damaged_files_are_read_or_refused(models):
    rng = random.Random(0)
    for name in ("sets", "combined", "seen"):
        model, X = models[name]
        content = dump(model)
        for damaged in [mutate(content, rng) for _ in range(100)] + [content[:n] for n in range(0, len(content), 199)]:
            try:
                loaded = load(damaged)
            except ModelFileError:
                continue
            loaded.predict(X)
