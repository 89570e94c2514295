"""Law: a file that is refused costs memory in proportion to its size, whatever sizes it declares."""

import time
import tracemalloc

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from maximand import (
    GraphLabeler,
    ModelFileError,
    MulticlassClassifier,
    MultilabelClassifier,
    Pairwise,
    SequenceTagger,
    WindowVectorizer,
    load,
)
from maximand.files.container import from_bytes, to_bytes
from maximand.models import dump

MANY = 5000  # labels: their pairs take 200 MB
NAMES = [f"label{i:05}" for i in range(MANY)]
SPARE = 40 << 20


def parts(model):
    return from_bytes(dump(model), "model")


def many_labels(header, arrays):
    """Give a model many labels where it names them; its weights stay as they are."""
    text = b"".join(name.encode() for name in NAMES)
    arrays |= {"text": np.frombuffer(text, dtype=np.uint8), "lengths": np.full(MANY, 10)}
    arrays |= {"text again": arrays["text"], "lengths again": arrays["lengths"]}
    fitted = header["steps"][-1][1]["fitted"]
    fitted["classes_"] = {"strings": [[MANY], ["text", "lengths"]]}
    names = fitted["task_"]["object"][1]["names"]["object"][1]
    names["classes"] = {"strings": [[MANY], ["text again", "lengths again"]]}
    return fitted["task_"]["object"][1]["features"]["object"][1]


def pairs_of_labels():
    header, arrays = parts(MultilabelClassifier(structure=Pairwise()).fit(np.eye(4), [["a"], ["b"], ["a", "b"], []]))
    many_labels(header, arrays)
    return header, arrays


def transitions():
    X = [[{"w": "a"}, {"w": "b"}]] * 3
    header, arrays = parts(SequenceTagger().fit(X, [["x", "y"]] * 3))
    features = many_labels(header, arrays)
    emission = features["emission"]["object"][1]
    emission["n_labels"] = MANY
    return header, arrays


def tables():
    graphs = [(np.eye(2), [[0, 1]])] * 3
    header, arrays = parts(GraphLabeler().fit(graphs, [["a", "b"]] * 3))
    header["steps"][0][1]["fitted"]["task_"]["object"][1]["features"]["object"][1]["n_tables"] = 10**8
    return header, arrays


def classifier():
    return parts(MulticlassClassifier().fit(np.eye(4), ["a", "b", "a", "b"]))


def features():
    header, arrays = classifier()
    header["steps"][0][1]["fitted"]["task_"]["object"][1]["features"]["object"][1]["n_features"] = 10**9
    header["steps"][0][1]["fitted"]["n_features_in_"] = 10**9
    return header, arrays


def one_long_string():
    header, arrays = classifier()
    arrays |= {"text": np.full(20_000, 97, dtype=np.uint8), "lengths": np.eye(1, 20_000, dtype=np.int64)[0] * 20_000}
    header["steps"][0][1]["fitted"]["classes_"] = {"strings": [[20_000], ["text", "lengths"]]}
    return header, arrays


def one_array_in_many_places():
    header, arrays = classifier()
    arrays |= {"text": np.full(20_000, 97, dtype=np.uint8), "lengths": np.ones(20_000, dtype=np.int64)}
    header["steps"][0][1]["parameters"]["classes"] = [{"strings": [[20_000], ["text", "lengths"]]}] * 2000
    return header, arrays


def deep():
    header, arrays = classifier()
    tree = 0
    for _ in range(450):
        tree = {"tuple": [tree]}
    header["steps"][0][1]["fitted"]["weights_"] = tree
    return header, arrays


def wide_window():
    model = make_pipeline(WindowVectorizer(), SequenceTagger()).fit([["a", "b"]] * 3, [["x", "y"]] * 3)
    header, arrays = parts(model)
    header["steps"][0][1]["parameters"]["window"] = 10**7
    return header, arrays


def many_columns():
    header, arrays = wide_window()
    header["steps"][0][1]["parameters"]["window"] = 1
    header["steps"][0][1]["fitted"]["n_columns_"] = 10**8
    return header, arrays


BOMBS = [
    pairs_of_labels, transitions, tables, features, one_long_string, one_array_in_many_places, deep, wide_window,
    many_columns,
]  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS)
def test_refusing_a_file_takes_memory_in_proportion_to_it(bomb):
    content = to_bytes("model", *bomb())
    tracemalloc.start()
    began = time.perf_counter()
    try:
        with pytest.raises(ModelFileError):
            load(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < SPARE + 40 * len(content)
    assert time.perf_counter() - began < 5


def test_a_text_too_long_for_its_array_is_refused_when_it_is_saved():
    classes = np.array([*(f"{i}" for i in range(300)), "x" * 20_000])
    model = MulticlassClassifier(classes=classes).fit(np.eye(2), ["1", "2"])
    with pytest.raises(ModelFileError, match=r"classes.* holds a text of 20,000 letters"):
        dump(model)
