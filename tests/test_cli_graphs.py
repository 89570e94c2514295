"""The command line on labelled graphs."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from maximand import GraphLabeler, NodesAndEdges, load, save
from maximand.cli.main import main
from maximand.estimators.graph_labeler import reading
from maximand.formats import LabelledGraph, read_graphs, write_graphs

EDGES = np.array([[0, 1], [1, 2], [3, 2]])
NO_EDGES = np.zeros((0, 2), dtype=np.int64)


def labelled(nodes):
    return tuple("up" if x > 0 else "down" for x in nodes[:, 0])


@pytest.fixture
def records():
    rng = np.random.default_rng(0)
    nodes = [rng.normal(size=(4, 2)).round(3) for _ in range(12)]
    return [LabelledGraph(x, EDGES, labels=labelled(x)) for x in nodes]


@pytest.fixture
def grids():
    rng = np.random.default_rng(1)
    nodes = [rng.normal(size=(6, 2)).round(3) for _ in range(8)]
    return [LabelledGraph(x, NO_EDGES, labels=labelled(x), grid=(2, 3)) for x in nodes]


@pytest.fixture
def files(records, grids, tmp_path):
    write_graphs(records, tmp_path / "graphs.jsonl")
    write_graphs(grids, tmp_path / "grids.jsonl.gz")
    return tmp_path / "graphs.jsonl", tmp_path / "grids.jsonl.gz"


def run_json(capsys, *arguments, code=0):
    assert main([*map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def run_lines(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return list(map(json.loads, capsys.readouterr().out.splitlines()))


def refused(capsys, *arguments):
    assert main([*map(str, arguments)]) == 1
    return capsys.readouterr().err


def test_predictions_are_those_of_python(files, records, tmp_path, capsys, monkeypatch):
    model = tmp_path / "m"
    assert run_json(capsys, "fit", files[0], "-o", model, "--loss", "crf")["n_weights"] == 2 * 2 + 2 + 4
    labeler = load(model)
    X = [NodesAndEdges(record.nodes, record.edges) for record in records]
    lines = run_lines(capsys, "predict", model, files[0], "--proba")
    assert lines == run_lines(capsys, "predict", model, files[0], "--proba", "--json")
    for line, labels, chances in zip(lines, labeler.predict(X), labeler.predict_proba(X), strict=True):
        assert line["labels"] == labels.tolist()
        shown = [[node["down"], node["up"]] for node in line["probabilities"]]
        assert np.allclose(shown, chances, atol=1e-6)
    monkeypatch.setattr(reading, "BATCH", 5)
    assert run_lines(capsys, "predict", model, files[0], "--proba") == lines
    scores = run_json(capsys, "evaluate", model, files[0])
    assert scores["accuracy"] == pytest.approx(labeler.score(X, [list(record.labels) for record in records]))
    named = {row["label"] for row in run_json(capsys, "inspect", model, "--top", 10)["largest_weights"]}
    assert named == {"up", "down", "up & up", "up & down", "down & up", "down & down"}


def test_grids_have_neighbours_in_every_direction(files, tmp_path, capsys):
    model = tmp_path / "m"
    for options, n_tables in (
        ([], 2),
        (["--diagonals"], 4),
        (["--undirected"], 1),
        (["--diagonals", "--undirected", "--tables", "potts", "--associative", "--inference", "graph-cut"], 1),
    ):
        run_json(capsys, "fit", files[1], "-o", model, *options)
        assert load(model).table_weights_.shape == (n_tables, 2, 2)
    labeler = load(model)
    assert (labeler.tables, labeler.associative, labeler.diagonals, labeler.directional) == ("potts", True, True, False)
    assert type(labeler.inference).__name__ == "GraphCut"
    assert [len(line["labels"]) for line in run_lines(capsys, "predict", model, files[1])] == [6] * 8
    assert run_json(capsys, "evaluate", model, files[1])["accuracy"] > 0.9


def test_labels_to_learn_from_may_be_partial(records, tmp_path, capsys):
    data, model = tmp_path / "partial.jsonl", tmp_path / "m"
    first, second, third, *rest = records
    both = frozenset({"up", "down"})
    partial = [
        LabelledGraph(first.nodes, EDGES, labels=(None, *first.labels[1:])),
        LabelledGraph(second.nodes, EDGES, labels=(both, *second.labels[1:])),
        LabelledGraph(third.nodes, EDGES),
        *rest,
    ]
    write_graphs(partial, data)
    run_json(capsys, "fit", data, "-o", model)
    scores = run_json(capsys, "evaluate", model, data)
    assert scores["nodes"] == 12 * 4 - 1 - 4
    assert sum(label["count"] for label in scores["labels"].values()) == scores["nodes"] - 1
    assert scores["accuracy"] > 0.9
    assert len(run_lines(capsys, "predict", model, data)) == 12
    write_graphs([LabelledGraph(third.nodes, EDGES)], data)
    assert "partial.jsonl holds no label that is known" in refused(capsys, "evaluate", model, data)
    write_graphs([LabelledGraph(third.nodes, EDGES, labels=(both,) * 4)], data)
    assert run_json(capsys, "evaluate", model, data)["labels"] == {}


def test_edges_may_have_features_or_types(records, tmp_path, capsys):
    data, model = tmp_path / "edges.jsonl", tmp_path / "m"
    for features, types, n_tables in ((np.ones((3, 2)), None, 2), (None, np.array([0, 2, 1]), 3)):
        write_graphs([LabelledGraph(csr_array(r.nodes), r.edges, features, types, r.labels) for r in records], data)
        run_json(capsys, "fit", data, "-o", model)
        assert load(model).table_weights_.shape == (n_tables, 2, 2)
        assert run_json(capsys, "evaluate", model, data)["accuracy"] > 0.9
    write_graphs([LabelledGraph(record.nodes[:, :1], record.edges) for record in records], data)
    assert "1 node features but 2 are expected" in refused(capsys, "predict", model, data)


def test_doctor_looks_at_nodes_and_edges(files, records, tmp_path, capsys):
    seen = run_json(capsys, "doctor", files[0], "--test", files[1])
    assert (seen["examples"], seen["nodes"], seen["edges"], seen["features"], seen["labels"]) == (12, 48, 36, 2, 2)
    assert (seen["components"], seen["isolated nodes"], seen["unlabelled nodes"]) == (12, 0, 0)
    assert not seen["findings"]
    seen = run_json(capsys, "doctor", files[1], "--test", files[1])
    assert (seen["nodes"], seen["edges"], seen["components"]) == (48, 8 * 7, 8)
    assert [finding["culprit"][:24] for finding in seen["findings"]] == ["8 of 8 test examples are"]
    first, second, third, fourth, *rest = records
    odd = [
        LabelledGraph(first.nodes, NO_EDGES, labels=first.labels),
        LabelledGraph(second.nodes, EDGES[:1], labels=second.labels),
        LabelledGraph(third.nodes, EDGES),
        LabelledGraph(1e6 * fourth.nodes, EDGES, labels=(None, "sideways", frozenset({"on", "up"}), "up")),
        *rest,
    ]
    data = tmp_path / "odd.jsonl"
    write_graphs(odd, data)
    seen = run_json(capsys, "doctor", data)
    assert (seen["components"], seen["graphs without edges"]) == (4 + 3 + 10, 1)
    assert seen["label counts"]["on"] == 0
    findings = str(seen["findings"])
    for words in (
        "1 labels occur fewer than 5 times: sideways.",
        "1 of 12 graphs have no edges, first number 1.",
        "2 of 48 nodes are at no edge, the first in graph 2.",
        "1 of 12 graphs have no label at all, first number 3.",
        "1 of 12 graphs have nodes without a label, first number 4.",
    ):
        assert words in findings
    write_graphs([LabelledGraph(first.nodes * [1, 1e6], EDGES, labels=first.labels)], data)
    assert "Scale the columns before you write the file." in str(run_json(capsys, "doctor", data)["findings"])
    write_graphs([LabelledGraph(first.nodes, EDGES, labels=("up",) * 4)], data)
    assert run_json(capsys, "doctor", data, code=1)["findings"][0]["fatal"]


def test_what_does_not_fit_is_refused(files, tmp_path, capsys):
    model, empty = tmp_path / "m", tmp_path / "empty.jsonl"
    empty.write_text("")
    for data, options, words in (
        (files[0], ["--diagonals"], "--diagonals is about the edges of grids, and"),
        (files[0], ["--undirected"], "holds none; leave it out"),
        (files[0], ["--associative"], "add --tables potts or --tables diagonal"),
        (files[0], ["--scale"], "--scale is for --format rankings or svmlight or"),
        (files[0], ["--structure", "pairwise"], "these are graphs with a label for each node"),
        (files[0], ["--loss", "crf", "--inference", "greedy"], "Greedy has no marginals"),
        (empty, [], "empty.jsonl: no graphs; the file is empty"),
    ):
        assert words in refused(capsys, "fit", data, "-o", model, *options)
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:1\n")
    save(GraphLabeler().fit([(np.eye(2), [(0, 1)])], [["a", "b"]]), model)
    assert "svmlight holds rows with one label each, but graphs with a label for each node are wanted" in refused(
        capsys, "predict", model, rows
    )
    files[0].write_text('{"nodes": [[1, 2]], "edges": [[0, 1]]}\n')
    assert "graphs.jsonl, line 1: edge 0 has '1'" in refused(capsys, "predict", model, files[0])


def test_predicted_labels_can_be_put_into_a_file(files, records, tmp_path, capsys):
    model, told = tmp_path / "m", tmp_path / "told.jsonl"
    run_json(capsys, "fit", files[0], "-o", model)
    lines = run_lines(capsys, "predict", model, files[0])
    written = [json.loads(row) | line for row, line in zip(files[0].read_text().splitlines(), lines, strict=True)]
    told.write_text("".join(json.dumps(graph) + "\n" for graph in written))
    assert [graph.nodes.tolist() for graph in read_graphs(told)] == [record.nodes.tolist() for record in records]
    assert run_json(capsys, "evaluate", model, told)["accuracy"] == 1.0
