"""Model files: what goes in comes out, and nothing else gets in."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler

import maximand
from maximand import (
    CCCP,
    CostMatrix,
    Hamming,
    ModelFileError,
    MulticlassClassifier,
    OneSlack,
    OracleTask,
    SequenceTagger,
    StructuredPredictor,
    WindowVectorizer,
    load,
    save,
)
from maximand.datasets import simulate_chains
from maximand.files import container
from maximand.files.atomic import write_atomically
from maximand.models import dump
from mutants import fuzz, older_models
from thinning import EVERYTHING

WORDS = [[{"w": "a", "cap": True}, {"w": "ü\n"}], [{"w": "b"}, {"w": "a"}, {"w": "c"}]]
SENTENCES = [[("A", "DT"), ("b", "NN")], [("c", "NN"), ("A", "DT"), ("ü|", "VB")]]
TAGS = [["B-X", "O"], ["O", "B-X", "I-X"]]


def fitted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    chains, tags = simulate_chains(20)
    return {
        "dense": (MulticlassClassifier().fit(X, y), X),
        "names": (MulticlassClassifier(loss="crf").fit(X, np.array(["a", "b", "ß"])[y]), X),
        "mixed labels": (MulticlassClassifier(classes=["a", 1, None][:2]).fit(X, ["a" if v else 1 for v in y]), X),
        "seen pairs": (MulticlassClassifier(pairs="seen").fit(csr_array(X), y), csr_array(X)),
        "cost": (MulticlassClassifier(cost=CostMatrix(1.0 - np.eye(3)), loss="ramp", solver=CCCP()).fit(X, y), X),
        "class weights": (MulticlassClassifier(class_weight={0: 2.0, 1: 1.0, 2: 1.0}).fit(X, y), X),
        "chains": (SequenceTagger(loss="hinge", solver=OneSlack(tolerance=0.1)).fit(chains, tags), chains),
        "scaled": (make_pipeline(MinMaxScaler(), MulticlassClassifier()).fit(X, y), X),
        "windows": (make_pipeline(WindowVectorizer(affixes=2), SequenceTagger()).fit(SENTENCES, TAGS), SENTENCES),
        "words": (SequenceTagger(scheme="BIO", max_iterations=30).fit(WORDS, TAGS), WORDS),
        "weighted tags": (SequenceTagger(cost=Hamming(np.array([1.0, 2, 1]))).fit(WORDS, TAGS), WORDS),
    }


@pytest.fixture(scope="module")
def models():
    return fitted()


@pytest.mark.parametrize("name", ["dense", "names", "mixed labels", "seen pairs", "cost", "class weights", "chains",
                                  "words", "scaled", "windows", "weighted tags"])  # fmt: skip
def test_a_loaded_model_is_the_saved_one(models, name, tmp_path):
    model, X = models[name]
    path = tmp_path / "model.maximand"
    save(model, path)
    for source in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        loaded = load(source)
        assert type(loaded) is type(model)
        for mine, theirs in zip(model.predict(X), loaded.predict(X), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        before, after = (m[-1] if isinstance(m, Pipeline) else m for m in (model, loaded))
        np.testing.assert_array_equal(after.weights_, before.weights_)
        assert after.classes_.tolist() == before.classes_.tolist()
        assert after.history_ == before.history_
        assert repr(loaded.get_params()) == repr(model.get_params())
    assert os.listdir(tmp_path) == ["model.maximand"]


def test_a_loaded_model_can_be_fitted_again(models):
    model, X = models["words"]
    again = load(dump(model)).fit(X, TAGS)
    np.testing.assert_array_equal(again.weights_, model.weights_)


def test_what_cannot_be_saved_is_named(models, tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(MulticlassClassifier(), tmp_path / "x")
    model = StructuredPredictor(OracleTask(argmax=lambda theta, instance: np.ones_like(theta)))
    model.weights_ = np.zeros(2)
    with pytest.raises(ModelFileError, match="nothing that runs"):
        save(model, tmp_path / "x")

    def scheme(labels):
        return maximand.bio(labels)

    tagger = SequenceTagger(scheme=scheme, max_iterations=30).fit(WORDS, TAGS)
    with pytest.warns(UserWarning, match="scheme"):
        save(tagger, tmp_path / "x")
    loaded = load(tmp_path / "x")
    assert loaded.scheme is None
    np.testing.assert_array_equal(np.concatenate(loaded.predict(WORDS)), np.concatenate(tagger.predict(WORDS)))
    assert not [name for name in os.listdir(tmp_path) if name != "x"]


def test_bad_files_get_one_clear_error(models, tmp_path):
    content = dump(models["dense"][0])
    for bad in (b"", b"hello", content[:5], content[:100], content[:-1], b"\xff" * 100, json.dumps({}).encode()):
        with pytest.raises(ModelFileError):
            load(bad)
    with pytest.raises(ModelFileError, match="more than the limit"):
        load(content, largest=100)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    newer = header_changed(content, format=container.FORMAT + 1, library="9.9")
    with pytest.raises(ModelFileError, match=r"9\.9 in format 3.*Upgrade"):
        load(newer)
    popen = {"estimator": "Popen", "parameters": {}, "fitted": {}}
    with pytest.raises(ModelFileError, match="'Popen', which cannot be loaded"):
        load(header_changed(content, steps=[["", popen]]))
    evil = {"estimator": "MulticlassClassifier", "parameters": {"loss": {"object": ["Popen", {}]}}, "fitted": {}}
    with pytest.raises(ModelFileError, match="not allowed in files"):
        load(header_changed(content, steps=[["", evil]]))
    with pytest.raises(ModelFileError, match="not a model"):
        load(header_changed(content, kind="checkpoint"))


def header_changed(content, **changes):
    header, arrays = container.from_bytes(content, "model")
    return container.to_bytes("model", header | changes, arrays)


def test_lists_of_pairs_that_point_outside_are_refused(models):
    model, _ = models["seen pairs"]
    content = dump(model)
    header, arrays = container.from_bytes(content, "model")
    harmless = 0
    for name, array in arrays.items():
        if array.dtype.kind not in "iu" or not array.size:
            continue
        wrong = dict(arrays)
        wrong[name] = array.copy()
        wrong[name].flat[array.size // 2] = 60_000
        try:
            load(container.to_bytes("model", header, wrong))
            harmless += 1  # a class label
        except ModelFileError:
            pass
    assert harmless <= 2


def test_features_that_are_named_twice_are_refused(models):
    """Their columns would lie outside of the weights."""
    header, arrays = container.from_bytes(dump(models["words"][0]), "model")
    texts = [name for name in arrays if arrays[name].dtype == np.uint8]
    lengths = [name for name in arrays if arrays[name].dtype == np.int64 and arrays[name].ndim == 1]
    said = []
    for text, own in product(texts, lengths):
        if arrays[own].sum() == arrays[text].size:
            twice = {name: np.tile(arrays[name], 2) for name in (text, own)}
            with pytest.raises(ModelFileError) as refusal:
                load(container.to_bytes("model", header, arrays | twice))
            said.append(str(refusal.value))
    assert any("it names a feature more than once" in words for words in said)


def test_devices_are_no_files():
    with pytest.raises(ModelFileError, match=r"/dev/zero is a device; give a file"):
        load("/dev/zero")


def test_mutated_files_predict_or_are_refused(models):
    """A small version of `python tests/mutants.py 10000`, with models of our own beside those of older versions."""
    own = [(dump(model), X, ("predict", "predict_soft")) for model, X in models.values()]
    summary = fuzz([*own, *older_models()], 5000 if EVERYTHING else 400)
    assert not summary.failures, summary.failures[0]
    assert min(summary.refused, summary.predicted) > 40


@dataclass(frozen=True)
class Doubled(Hamming):
    factor: float = 2.0

    def matrix(self, n_labels):
        return self.factor * super().matrix(n_labels)


def test_classes_of_your_own_are_named_on_both_sides(models, tmp_path):
    model = SequenceTagger(cost=Doubled(), vectorizer=DictVectorizer(sort=True)).fit(WORDS, TAGS)
    with pytest.raises(ModelFileError, match="Doubled"):
        save(model, tmp_path / "m")
    save(model, tmp_path / "m", classes=[Doubled])
    with pytest.raises(ModelFileError, match="Doubled"):
        load(tmp_path / "m")
    loaded = load(tmp_path / "m", classes=[Doubled])
    assert loaded.cost == Doubled()
    assert loaded.vectorizer.sort
    np.testing.assert_array_equal(loaded.fit(WORDS, TAGS).weights_, model.weights_)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere; make it first"):
        write_atomically(tmp_path / "nowhere" / "file", b"new")


def test_a_model_is_loaded_in_another_process(models, tmp_path):
    model, _ = models["words"]
    save(model, tmp_path / "m")
    code = "import maximand, sys; m = maximand.load(sys.argv[1]); print(m.predict([[{'w': 'a', 'cap': True}]])[0][0])"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "m"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "B-X"
