"""What holds for every card: the law that its data files go through all commands, and a small file of each format."""

import gzip
import io
import json
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from maximand import formats, load
from maximand.cli.main import main
from maximand.datasets import draw_cells, simulate_cells
from maximand.models import dump

WORDS = "The DT B-NP\ncat NN I-NP\nsat VBD O\n\nA DT B-NP\ndog NN I-NP\nran VBD O\n\n"


@dataclass(frozen=True)
class Sample:
    """A data file, the number of its examples, and options that its format needs for training."""

    path: object
    n_examples: int
    options: tuple = ()


def table(rng, n=40):
    X = rng.normal(size=(n, 3)).round(3)
    return X, X[:, :2] > 0


def conll(folder, rng):
    (folder / "d.conll").write_text(WORDS * 6)
    return Sample(folder / "d.conll", 12)


def conllu(folder, rng):
    rows = [("The", "DET"), ("dog", "NOUN"), ("ran", "VERB")]
    words = tuple(formats.Token(str(i), word, upos=tag) for i, (word, tag) in enumerate(rows, 1))
    formats.write_conllu([formats.Tree(words), formats.Tree(words[:2])] * 6, folder / "d.conllu")
    return Sample(folder / "d.conllu", 12)


def letters(folder, rng):
    shapes = {letter: rng.integers(0, 2, 128).astype(np.uint8) for letter in "abc"}
    words = ["ab", "abc", "ba", "cab"] * 3
    starts = np.cumsum([0, *map(len, words)]).tolist()
    records = [
        formats.Word(word, np.stack([shapes[letter] for letter in word]), tuple(range(a + 1, b + 1)), i, 0)
        for i, (word, a, b) in enumerate(zip(words, starts, starts[1:], strict=False))
    ]
    formats.write_letters(records, folder / "d.data")
    return Sample(folder / "d.data", 12)


def svmlight(folder, rng):
    X, above = table(rng)
    formats.write_svmlight(formats.LabelledRows(X, above.sum(axis=1).astype(float), None), folder / "d.svm")
    return Sample(folder / "d.svm", 40)


def mulan(folder, rng):
    X, above = table(rng)
    columns = tuple(map(formats.Attribute, "xyz"))
    data = formats.Mulan("sample", columns, ("sun", "rain"), X, above.astype(np.int8))
    formats.write_mulan(data, folder / "d.arff", folder / "d.xml")
    return Sample(folder / "d.arff", 40, ("--labels", str(folder / "d.xml")))


def several_labels(folder, rng):
    X, above = table(rng)
    sets = tuple(tuple((np.flatnonzero(row) + 1).tolist()) for row in above)
    formats.write_multilabel_svmlight(formats.MultilabelRows(csr_array(X), sets), folder / "d.svm")
    return Sample(folder / "d.svm", 40, ("--format", "svmlight-multilabel"))


def rankings(folder, rng):
    X, _ = table(rng)
    orders = tuple(tuple("abc"[label] for label in row) for row in np.argsort(-X, axis=1))
    formats.write_rankings(formats.LabelRankings(("x", "y", "z"), X, orders), folder / "d.csv")
    return Sample(folder / "d.csv", 40)


def ordinal(folder, rng):
    X, above = table(rng)
    formats.write_ordinal(formats.OrdinalRows(X, 1 + above.sum(axis=1)), folder / "d.csv")
    return Sample(folder / "d.csv", 40)


def graphs(folder, rng):
    records = []
    for i in range(12):
        nodes = rng.normal(size=(4, 2)).round(3)
        labels = tuple("up" if x > 0 else "down" for x in nodes[:, 0])
        edges = np.array([[0, 1], [1, 2], [3, 2]] if i % 2 else np.zeros((0, 2)), dtype=np.int64)
        records.append(formats.LabelledGraph(nodes, edges, labels=labels, grid=None if i % 2 else (2, 2)))
    formats.write_graphs(records, folder / "d.jsonl")
    return Sample(folder / "d.jsonl", 12)


def cells(folder, rng):
    rows = ["movie,frame,y,x,track,parent"]
    for movie in range(12):
        y, x = 10 + 4 * rng.normal(size=2)
        for frame in range(4):
            rows.append(f"{movie},{frame},{y + frame:.2f},{x:.2f},1,")
        for frame, sign, track in ((0, 0, 3), (1, 0, 3), (2, 1, 4), (2, -1, 5), (3, 1, 4), (3, -1, 5)):
            rows.append(f"{movie},{frame},{40 + 5 * sign},{40 + frame},{track},{3 if track > 3 else ''}")
        rows += [f"{movie},{frame},80,{80 + movie},{6 + frame}," for frame in (1, 2)][: 1 + movie % 2]
    (folder / "d.csv").write_text("\n".join(rows) + "\n")
    return Sample(folder / "d.csv", 12)


def challenge(folder, rng):
    table, lineage = simulate_cells(6, 12, shape=(96, 96), missed=0.0, false=0.0, random_state=3)
    images = draw_cells(table, (96, 96), lineage.tracks)
    (folder / "01_GT").mkdir(exist_ok=True)
    formats.write_challenge(folder / "01_GT" / "TRA", lineage, images, lineage.tracks, truth=True)
    return Sample(folder / "01_GT" / "TRA", 1)


SAMPLES = {
    "conll": conll, "conllu": conllu, "letters": letters, "svmlight": svmlight, "mulan": mulan,
    "svmlight-multilabel": several_labels, "rankings": rankings, "ordinal": ordinal, "graphs": graphs,
    "cells": cells,
    "challenge": challenge,
}  # fmt: skip


def check_card(card, form, sample, folder, capsys, monkeypatch):
    """Put a data file through all commands: they agree with one another, whatever way the file comes in."""
    model = folder / "model"

    def run(*arguments, code=0):
        assert main([*map(str, arguments)]) == code, capsys.readouterr().err
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    def run_json(*arguments):
        return json.loads(run(*arguments, "--json"))

    seen = run_json("doctor", sample.path, *sample.options, "--test", sample.path, "--loss", card.soft_loss)
    fitted = run_json("fit", sample.path, *sample.options, "-o", model, "--loss", card.soft_loss)
    held = run_json("inspect", model)
    assert seen["examples"] == sample.n_examples
    assert seen[f"{card.noun}s"] == fitted["n_classes"] == held["n_classes"] == len(held["classes"])
    assert f"{sample.n_examples} of {sample.n_examples} test examples" in str(seen["findings"])
    assert seen["estimates"]["loss"] == card.soft_loss
    assert seen["estimates"]["weights"] == fitted["n_weights"] == held["n_weights"]
    assert held["steps"][-1] == card.estimator.__name__
    assert len(run_json("inspect", model, "--top", 10**6)["largest_weights"]) == fitted["n_weights"]
    assert dump(load(model)) == model.read_bytes()

    lines = run("predict", model, sample.path)
    records = run("predict", model, sample.path, "--json").splitlines()
    assert len(list(map(json.loads, records))) == sample.n_examples
    with_means = run("predict", model, sample.path, "--proba", "--json").splitlines()
    assert len(list(map(json.loads, with_means))) == sample.n_examples
    assert with_means != records
    assert run("predict", model, sample.path, "--proba") != lines
    if sample.path.is_file():
        packed = folder / (sample.path.name + ".gz")
        packed.write_bytes(gzip.compress(sample.path.read_bytes()))
        assert run("predict", model, packed) == lines
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sample.path.read_bytes())))
        assert run("predict", model, "-", "--format", form.name) == lines

    scores = run_json("evaluate", model, sample.path)
    assert scores["examples"] == sample.n_examples
    assert set(scores[f"{card.noun}s"]) == {str(label) for label in held["classes"]}
    assert card.noun in run("evaluate", model, sample.path)

    run("fit", sample.path, *sample.options, "-o", model, "--loss", "hinge")
    words = f"The loss hinge models no probabilities; fit with --loss {card.soft_loss}"
    assert words in run("predict", model, sample.path, "--proba", code=1)
