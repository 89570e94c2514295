"""The walks of docs/architecture.md are those that the code takes: every step, in order, and data are encoded once."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import maximand
from maximand import GraphLabeler, LabelRanker, SequenceTagger
from pages import sections
from test_layers import LAYERS

SOURCE = Path(maximand.__file__).parent
STEP = re.compile(r"^(\d+)\. `([\w/]+\.py)` `([\w.]+)`", re.MULTILINE)
ENCODES = {
    ("tasks/sequences.py", "lay_out"),
    ("tasks/tagging.py", "flat_tags"),
    ("tasks/tagging.py", "BoundTagging.annotate"),
    ("tasks/tagging.py", "BoundTagging.examples"),
    ("tasks/ranking_targets.py", "read_orders"),
    ("tasks/table.py", "BoundTable.encode"),
    ("spaces/labels.py", "Orders.of"),
    ("tasks/graphs.py", "GraphTask.graphs"),
    ("tasks/bound_graphs.py", "BoundGraphs._inputs"),
    ("tasks/bound_graphs.py", "BoundGraphs.annotate"),
    ("inference/structure.py", "FactorGraphs.of"),
    ("inference/choosing.py", "chosen_inference"),
    ("shards.py", "Shard.lanes"),
    ("features/base.py", "FeatureMap.stencils"),
}


def tagging(rng):
    X = [rng.normal(size=(length, 3)) for length in (2, 4, 3, 5)]
    return SequenceTagger(n_threads=1), X, [np.where(x[:, 0] > 0, "up", "down") for x in X]


def ranking(rng):
    X = rng.normal(size=(12, 3))
    return LabelRanker(n_threads=1, regularization=0.1), X, np.argsort(-X, axis=1)


def labelling(rng):
    X = [(rng.normal(size=(5, 12)), [(0, 1), (1, 2), (2, 3), (3, 4)]) for _ in range(8)]
    return GraphLabeler(n_threads=1, regularization=1e-4), X, [np.argmax(nodes[:, :4], axis=1) for nodes, _ in X]


WALKS = {"A tagger": tagging, "A ranker": ranking, "A graph labeler": labelling}


def calls(function):
    """The functions of the library that are called, in the order of their first call, and how often."""
    found = {}

    def note(frame, event, argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(SOURCE)):
            key = Path(path).relative_to(SOURCE).as_posix(), frame.f_code.co_qualname
            found[key] = found.get(key, 0) + 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def steps(text):
    """The lists of steps of a section: those of fit, then those of predict."""
    lists = []
    for number, file, name in STEP.findall(text):
        if number == "1":
            lists.append([])
        assert int(number) == len(lists[-1]) + 1
        lists[-1].append((file, name))
    return lists


def compiled(file, name):
    """Whether a step is a kernel, which the interpreter need not see."""
    return file.startswith("numerics/") and callable(
        getattr(import_module(f"maximand.numerics.{Path(file).stem}"), name)
    )


@pytest.mark.parametrize("section", WALKS)
def test_every_step_is_taken_in_order(section):
    estimator, X, Y = WALKS[section](np.random.default_rng(0))
    in_fit, in_predict = steps(sections("architecture.md")[section])
    for named, function in ((in_fit, lambda: estimator.fit(X, Y)), (in_predict, lambda: estimator.predict(X))):
        found = calls(function)
        seen = [step for step in named if not compiled(*step)]
        assert not [step for step in seen if step not in found]
        assert [step for step in found if step in seen] == seen
        assert {step: found[step] for step in ENCODES if step in found and found[step] > 1} == {}


def test_layers_of_the_page_are_those_of_the_test():
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", sections("architecture.md")["Layers"], re.MULTILINE)
    on_page = {name.strip("/"): int(layer) for layer, names in rows for name in re.findall(r"`([\w/]+)`", names)}
    on_page["__init__"] = on_page.pop("maximand")
    assert on_page == {name: layer for name, layer in LAYERS.items() if name != "__main__"}
