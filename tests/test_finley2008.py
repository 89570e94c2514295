"""The study of finley2008: its parts do what the paper says, and the stored tables follow from their runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from maximand.inference import Exhaustive, GraphCut
from maximand.papers import EXPERIMENTS, Study, reproduce
from maximand.papers.finley2008.data import FILES, Part, read
from maximand.papers.finley2008.random_mrfs import METHODS, random_graphs, superior_labellings
from maximand.papers.finley2008.table1 import PAPER, oracle_losses
from maximand.papers.finley2008.training import DAMPED, EDGELESS, INFERENCES, ORACLES, chosen, fitted, losses
from maximand.papers.snakes import MODELS, _with_edge_features, _with_neighbours

RESULTS = Path(__file__).parents[1] / "results"


def stored(name):
    return json.loads((RESULTS / name / "result.json").read_text())


def test_synthetic_data_are_as_described():
    for name, n_labels, default in (("synth1", 6, 16.3), ("synth2", 10, 10.0)):
        train, test = read(name, [], seed=0)
        assert train.Y.shape[1] == test.Y.shape[1] == n_labels
        assert 100 * test.Y.mean() == pytest.approx(default, abs=0.3)
        again, _ = read(name, [], seed=0)
        np.testing.assert_array_equal(again.Y, train.Y)
        other, _ = read(name, [], seed=1)
        assert (other.Y != train.Y).any()


def test_public_data_have_the_sizes_of_the_paper(data):
    sizes = {
        "scene": (1211, 1196, 6),
        "yeast": (1500, 917, 14),
        "reuters": (2916, 2914, 10),
        "mediamill": (1424, 467, 10),
    }
    for name, (n_train, n_test, n_labels) in sizes.items():
        train, test = read(name, [str(data / "multilabel" / file) for file in FILES[name]], seed=0)
        assert (len(train.Y), len(test.Y), train.Y.shape[1]) == (n_train, n_test, n_labels)
        assert train.X.shape[0] == n_train
        if name in ("reuters", "mediamill"):
            assert train.Y.any(axis=1).all()


def test_undecided_labels_count_half():
    train, test = read("synth2", [], seed=0, share=0.1)
    model = fitted(train, Exhaustive(), 1e-4, 30)
    rows, undecided = losses(model, test, GraphCut())
    assert undecided > 0
    exact, none = losses(model, test, Exhaustive())
    assert none == 0
    whole = exact * test.Y.shape[1]
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-9)
    halves = 2 * rows * test.Y.shape[1]
    np.testing.assert_allclose(halves, np.round(halves), atol=1e-9)
    assert (np.round(halves) % 2 == 1).any()


def test_regularisation_is_chosen_by_the_held_out_loss():
    train, _ = read("synth1", [], seed=0, share=0.5)
    best, tried = chosen(train, Exhaustive(), [10.0, 1e-3], 2, 30, seed=0)
    assert best == 1e-3
    assert tried["0.001"] < tried["10"]


def test_one_cell_of_the_table():
    settings = {"regularizations": [1e-3], "folds": 2, "max_iterations": 20, "share": 0.1, "seed": 0}
    found = oracle_losses(data="synth2", oracle="LBP", files={"synth2": []}, **settings)
    assert set(found["losses"]) == set(INFERENCES)
    assert "lower bounds" in found["guarantee text"]
    assert not found["certified"]
    slack = found["intervals at rho 0.9"]["slack"]
    assert slack[0] <= slack[1]
    edgeless = oracle_losses(data="synth2", oracle=EDGELESS, files={"synth2": []}, **settings)
    assert set(edgeless["losses"]) == {"Exact"}
    assert edgeless["certified"]


def test_superior_labellings_are_counted_right():
    graphs, theta = random_graphs(5, seed=3)
    counts = superior_labellings("Relaxed, then random", 5, seed=3)["counts"]
    assert all(0 <= count < 1024 for count in counts)
    best = superior_labellings("Combine", 5, seed=3)
    scores = [one.max() for one in all_scores(graphs, theta)]
    np.testing.assert_allclose(Exhaustive().argmax(graphs, theta).value, scores)
    assert np.mean(np.array(best["counts"]) == 0) >= 0.6


def all_scores(graphs, theta):
    bits = (np.arange(1024)[:, None] >> np.arange(10)) & 1
    u, v = np.triu_indices(10, 1)
    nodes, tables = graphs.nodes(theta)[:, 1].reshape(-1, 10), graphs.tables(theta)[:, 1, 1].reshape(-1, 45)
    return [bits @ own + (bits[:, u] & bits[:, v]) @ pairs for own, pairs in zip(nodes, tables, strict=True)]


def test_quick_runs_end_with_findings(tmp_path):
    result = reproduce(EXPERIMENTS["finley2008-random-mrfs"], Study("finley2008-random-mrfs", "quick", tmp_path))
    assert len(result["figures"][0]["curves"]) == len(METHODS)
    assert all(": yes" in remark or ": no" in remark for remark in result["remarks"])


def test_the_stored_table_follows_from_its_runs():
    result = stored("finley2008-table1")
    assert result["scale"] == "standard"
    assert result["protocol"] == EXPERIMENTS["finley2008-table1"].scales["standard"]
    runs = {(run["cell"]["data"], run["cell"]["oracle"]): run for run in result["runs"]}
    assert len(runs) == len(PAPER) * (1 + len(ORACLES))
    baselines, *tables = result["tables"]
    for row in baselines["rows"]:
        run = runs[row["name"], EDGELESS]
        assert [cell["ours"] for cell in row["cells"]] == [run["losses"]["Exact"], run["default"]]
    for name, table in zip(PAPER, tables, strict=True):
        for oracle, row in zip(ORACLES, table["rows"], strict=True):
            run = runs[name, oracle]
            assert [cell["ours"] for cell in row["cells"]] == [run["losses"][column] for column in INFERENCES]
            assert (oracle == DAMPED) == (row["cells"][0]["paper"] is None)
            assert run["certified"] == (oracle in ("Exact", "Relaxed"))
    assert len(result["remarks"]) >= 4


def test_the_other_stored_results_follow_from_their_runs():
    result = stored("finley2008-rho")
    assert result["scale"] == "standard"
    for table in result["tables"]:
        name = table["title"].split(":")[0]
        runs = [run for run in result["runs"] if run["cell"]["data"] == name and "rho" in run["cell"]]
        for row in table["rows"]:
            assert [cell["ours"] for cell in row["cells"]] == [run[row["name"]] for run in runs]
    result = stored("finley2008-random-mrfs")
    for row, run in zip(result["tables"][0]["rows"], result["runs"], strict=True):
        assert row["cells"][0]["ours"] == pytest.approx(100 * np.mean(np.array(run["counts"]) == 0))
    result = stored("snakes")
    assert result["scale"] == "standard"
    assert [row["cells"][1]["ours"] for row in result["tables"][0]["rows"]] == [run["snake"] for run in result["runs"]]


def test_snakes_see_their_neighbours_and_directions():
    picture = np.eye(5)[np.arange(12).reshape(3, 4) % 5]
    surrounded = _with_neighbours(picture)
    assert surrounded.shape == (3, 4, 45)
    np.testing.assert_array_equal(surrounded[1, 1, 20:25], picture[1, 1])
    np.testing.assert_array_equal(surrounded[1, 1, :5], picture[0, 0])
    graph = _with_edge_features(picture)
    assert graph.edge_features.shape == (len(graph.edges), 2 * 11)
    assert len(MODELS) == 4
    assert isinstance(read("synth1", [], 0, 0.05)[0], Part)
