"""The studies of blondel2019: their parts do what the paper says, and the stored tables follow from their runs."""

import json
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from maximand.estimators import LabelRanker
from maximand.papers import EXPERIMENTS, HeatMap, Study, reproduce
from maximand.papers.blondel2019 import label_sets, levels, rankings
from maximand.papers.blondel2019.choosing import best, path, strengths, validated
from maximand.papers.blondel2019.figure3 import _informative
from maximand.papers.blondel2019.findings import Found, findings
from maximand.papers.blondel2019.label_ranking import PAPER1, PAPER2, PROJECTIONS, ranking_losses
from maximand.papers.blondel2019.ordinal import COLUMNS, METHODS, level_errors
from maximand.papers.blondel2019.thresholds import ThresholdClassifier
from maximand.report import write_report
from maximand.report.heat_maps import heat_map_html, heat_map_svg

RESULTS = Path(__file__).parents[1] / "results"


def stored(name):
    path = RESULTS / name / "result.json"
    if not path.exists():
        pytest.skip(f"{name} has not been run at its standard scale here")
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Run an experiment once at its quick scale, in a folder of its own."""
    folder, results = tmp_path_factory.mktemp("quick"), {}

    def result(name):
        if name not in results:
            results[name] = reproduce(EXPERIMENTS[name], Study(name, "quick", folder / name)), folder / name / "quick"
        return results[name]

    return result


def yes_or_no(remark):
    return ": yes" in remark or ": no" in remark


# Label ranking


def test_embedded_rankings_are_permutations():
    X, Y = rankings.read("embedded iris", "")
    assert X.shape == (150, 4)
    assert (np.sort(Y, axis=1) == list("abc")).all()
    assert len({tuple(row) for row in Y}) > 2


def test_splits_keep_frequent_rankings_in_proportion():
    _, Y = rankings.read("embedded wine", "")
    train, test = rankings.split(Y, 0.2, [0, 1])
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))
    assert test.size == 36
    for ranking in {tuple(row) for row in Y}:
        same = (np.array(ranking) == Y).all(axis=1)
        if same.sum() >= rankings.OFTEN:
            assert same[test].sum() == pytest.approx(0.2 * same.sum(), abs=1.5)
    again, _ = rankings.split(Y, 0.2, [0, 1])
    np.testing.assert_array_equal(again, train)
    assert not np.array_equal(rankings.split(Y, 0.2, [0, 2])[0], train)


def test_losses_count_the_entries_that_differ():
    class Oracle:
        classes_ = np.array(["a", "b", "c"])

        def predict_soft(self, X):
            return np.array([[[0.9, 0.1, 0.0], [0.0, 0.4, 0.6], [0.1, 0.5, 0.4]]])

    truth = np.array([["a", "b", "c"]])
    found = rankings.losses(Oracle(), None, truth)
    assert found["Birkhoff"] == pytest.approx(100 * 4 / 9)  # a, c, b: two labels change places
    assert found["rows"] == pytest.approx(100 * 4 / 9)
    assert found["cube"] == pytest.approx(100 * 3 / 9)  # c is nowhere, b at the third place
    assert found["cube, uncalibrated"] == pytest.approx(100 * 4 / 9)  # every positive entry
    swapped = rankings.losses(Oracle(), None, np.array([["a", "c", "b"]]))
    assert swapped["Birkhoff"] == swapped["rows"] == 0


def test_permutation_losses_are_the_rankers_own_costs():
    X, Y = rankings.read("embedded iris", "")
    for projection in PROJECTIONS.values():
        model = LabelRanker(projection=projection, regularization=1e-2, n_threads=1).fit(X[::2], Y[::2])
        own = 100 * model.costs(X[1::2], Y[1::2]).mean() * 2 / 9  # a wrong label is two wrong entries of nine
        assert rankings.losses(model, X[1::2], Y[1::2])["Birkhoff"] == pytest.approx(own)


def test_regularisation_is_chosen_by_validation():
    values = strengths(4)
    assert values == [1.0, 0.01, 1e-4, 1e-6]
    assert best({1.0: 3.0, 0.1: 2.0, 0.01: 2.0}) == 0.1
    X, Y = rankings.read("embedded iris", "")
    split = rankings.split(Y, 0.25, [0])

    def fitted(X, Y, regularizations):
        return path(LabelRanker(n_threads=1), X, Y, regularizations)

    tried = validated(fitted, X, Y, [10.0, 1e-3], [split], rankings.losses)["Birkhoff"]
    assert tried[1e-3] < tried[10.0]


def test_best_and_tied():
    paper = {("cube", "Birkhoff"): (0.0,), ("Birkhoff", "Birkhoff"): (0.0,)}

    def found(own, other):
        runs = [
            {"cell": {"data": "d", "projection": projection}, "losses": {"Birkhoff": loss}, "fits": {}}
            for projection, losses in (("Birkhoff", own), ("cube", other))
            for loss in losses
        ]
        return findings(Found(runs, ("d",)), paper)[0]

    assert "is best in 1 and best or tied in 1 (d)" in found([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    assert "is best in 0 and best or tied in 1 (d)" in found([2.0, 1.0, 3.0], [1.0, 2.0, 2.5])
    assert ": no. It is best in 0 and best or tied in 0," in found([2.0, 2.0, 2.1], [1.0, 1.0, 1.0])


@pytest.mark.parametrize(("name", "paper"), [("blondel2019-table1", PAPER1), ("blondel2019-table2", PAPER2)])
def test_quick_tables(quick, name, paper):
    result, _ = quick(name)
    (table,) = result["tables"]
    assert [row["name"] for row in table["rows"]] == ["embedded iris", "embedded wine"]
    assert len(table["columns"]) == len(paper)
    assert all(0 <= cell["ours"] < 40 and cell["paper"] is None for row in table["rows"] for cell in row["cells"])
    assert all(yes_or_no(remark) for remark in result["remarks"] if "final fits ended" not in remark)
    for run in result["runs"]:
        assert {"objective", "stop_reason", "converged"} <= set(run)
        assert len(run["fits"]) == len(set(run["regularization"].values()))
        assert all(fit["stop_reason"] for fit in run["fits"].values())
        assert {"gap", "iterations", "converged"} <= set(next(iter(run["fits"].values())))
    euclidean = name == "blondel2019-table1"
    assert (len(result["remarks"]) >= 3) and ("Euclidean and KL" in result["remarks"][-1]) != euclidean


def test_a_cell_of_the_public_tables(data):
    file = {"iris": str(data / "labelranking" / "iris.csv.gz")}
    both = ranking_losses("iris", "Birkhoff", split=0, count=4, inner=1, seed=0, files=file)
    none = ranking_losses("iris", "none", split=0, count=4, inner=1, seed=0, files=file)
    assert both["losses"]["Birkhoff"] < none["losses"]["Birkhoff"]
    assert both["certified"] and both["losses"]["Birkhoff"] < 8


# Ordinal regression


def test_threshold_models_minimise_their_losses():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = 1 + np.searchsorted([-1.0, 0.0, 1.0], X[:, 0] + 0.5 * rng.normal(size=60))
    for every in (True, False):
        model = ThresholdClassifier(4, every, regularization=0.1).fit(X, y)

        def objective(parameters, every=every):
            weights, thresholds = parameters[:3], parameters[3:]
            total = 0.0
            for x, level in zip(X, y, strict=True):
                for i, threshold in enumerate(thresholds, start=1):
                    if every or i in (level - 1, level):
                        side = 1.0 if level <= i else -1.0
                        total += np.logaddexp(0.0, -side * (threshold - x @ weights))
            return total / len(y) + 0.05 * weights @ weights

        at = np.concatenate([model.weights_, model.thresholds_])
        assert model.objective_ == pytest.approx(objective(at))
        assert np.abs(approx_fprime(at, objective)).max() < 1e-3
        assert (np.diff(model.thresholds_) >= 0).all()
        assert set(model.predict(X)) <= {1, 2, 3, 4}


def test_threshold_models_find_a_direction():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = 1 + np.searchsorted([-1.0, 0.0, 1.5], X @ [1.0, -2.0, 0.0, 1.0])
    for every in (True, False):
        model = ThresholdClassifier(4, every, regularization=1e-4).fit(X, y)
        assert np.abs(model.predict(X) - y).mean() < 0.05


def test_features_are_standardised_by_the_training_part():
    data = levels.read("embedded diabetes", [], 2, seed=0)
    X, y, X_test, y_test = data.part(0)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert len(X) == len(y) and len(X_test) == len(y_test) == data.tests[0].size
    assert set(data.y.tolist()) == {1, 2, 3, 4, 5}


def test_published_partitions(data):
    paths = [str(data / "ordinal" / f"pasture.{end}") for end in ("csv.gz", "splits.txt.gz")]
    found = levels.read("pasture", paths, 10, seed=0)
    assert found.X.shape == (36, 25) and len(found.tests) == 30
    single = [str(data / "ordinal" / f"bondrate.{end}") for end in ("csv.gz", "splits.txt.gz")]
    tests = levels.read("bondrate", single, 10, seed=0).tests
    assert [test.size for test in tests] == [15] * 10 and len({tuple(test) for test in tests}) == 10
    np.testing.assert_array_equal(tests[0], levels.read("bondrate", single, 1, seed=0).tests[0])
    answer = level_errors("pasture", 3, partitions=1, count=2, folds=3, seed=0, files={"pasture": paths})
    assert set(answer["errors"]) == set(COLUMNS) and set(answer["fits"]) == set(METHODS)
    assert all(0 <= error <= 2 for error in answer["errors"].values())


def test_quick_ordinal(quick):
    result, _ = quick("blondel2019-ordinal")
    (table,) = result["tables"]
    assert [row["name"] for row in table["rows"]] == [*levels.STAND_INS, "average"]
    assert table["columns"] == list(COLUMNS)
    means = np.array([[cell["ours"] for cell in row["cells"]] for row in table["rows"]])
    np.testing.assert_allclose(means[-1], means[:-1].mean(axis=0))
    assert means.max() < 1
    assert (means[:, 0] <= means[:, 1]).all()  # clipping only brings numbers nearer to levels
    assert ": yes" in result["remarks"][0] or ": no" in result["remarks"][0]
    assert all(fit["stop_reason"] for run in result["runs"] for fit in run["fits"].values())


# Multilabel classification


def test_measures():
    true = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]])
    predicted = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]])
    found = {name: value for name, (value, _) in label_sets.measures(predicted, true).items()}
    assert list(found) == list(label_sets.MEASURES)
    assert found["subset accuracy"] == 50
    assert found["label accuracy"] == pytest.approx(100 * 10 / 12)
    assert found["example F1"] == pytest.approx(100 * (2 / 3 + 1 + 1 + 0) / 4)
    assert found["micro F1"] == pytest.approx(100 * 2 * 2 / (3 + 3))
    nothing = np.zeros((2, 3), dtype=int)
    assert label_sets.measures(nothing, nothing)["example F1"][0] == 100


def test_nominal_features_become_indicators(data):
    paths = [str(data / "multilabel" / f"birds.{end}") for end in ("labels.xml.gz", *label_sets.PARTS)]
    train, test = label_sets.read("birds", paths, seed=0)
    assert train.X.shape == (322, 271) and test.X.shape == (323, 271) and train.Y.shape[1] == 19
    assert np.abs(train.X.mean(axis=0)).max() < 1e-9


def test_quick_multilabel(quick):
    result, _ = quick("blondel2019-multilabel")
    sizes, *tables = result["tables"]
    assert [row["cells"][2]["ours"] for row in sizes["rows"]] == [2, 1]
    assert [table["title"].removesuffix(" (%)").lower() for table in tables] == [m.lower() for m in label_sets.MEASURES]
    assert all(0 <= cell["ours"] <= 100 for table in tables for row in table["rows"] for cell in row["cells"])
    directions = [cell["ours"] for cell in tables[2]["rows"][1]["cells"]]  # exactly one label: the budget says so
    assert directions[1] > directions[0] and directions[3] > directions[2]
    assert "Euclidean: the budget improves example F1 on" in result["remarks"][0]


# Soft permutation matrices


def test_the_rows_that_are_shown_are_uncertain_and_different():
    sure, unsure = np.eye(2), np.full((2, 2), 0.5)
    Y = np.array([["a", "b"], ["a", "b"], ["b", "a"]])
    assert _informative(np.array([sure, unsure, sure]), Y, 3) == [1, 2]


def test_quick_figure(quick):
    result, folder = quick("blondel2019-figure3")
    (heat_map,) = result["heat_maps"]
    assert len(heat_map["maps"]) == 6 and heat_map["across"] == 3
    for one in heat_map["maps"]:
        values = np.array(one["values"])
        np.testing.assert_allclose(values.sum(axis=0), 1, atol=1e-5)
        np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-5)
        assert one["marks"] == [[0, 0], [1, 1], [2, 2]]
    assert all(yes_or_no(remark) for remark in result["remarks"])
    assert f"({heat_map['file']})" in (folder / "result.md").read_text()
    picture = ElementTree.parse(folder / heat_map["file"]).getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(picture.findall(".//*[@class='mark']")) == 6 * 3 + 1
    page = write_report(folder, folder / "page.html").read_text(encoding="utf-8")
    assert page.count('class="mark"') == 6 * 3 + 1
    assert "Soft permutation matrices of uncertain test rows" in page


def heat_map(**changes):
    one = {
        "name": "m",
        "rows": ["a", "b"],
        "columns": ["1", "2"],
        "values": [[0.25, None], [0.001, 0.999]],
        "marks": [],
    }
    settings = {"row_label": "label", "column_label": "position", "mark_label": "true", "across": 1, "file": "m.svg"}
    return HeatMap(**{"title": "T", **settings, "maps": [{**one, **changes}]})


def test_heat_maps_show_numbers_that_can_be_seen():
    drawn = heat_map_svg(heat_map(name="<b> & c", marks=[[1, 0]]))
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert "<b> & c" in texts and ".25" in texts and "1" in texts and ".00" not in texts
    assert 'fill-opacity="0.999"' in drawn and "value dark" in drawn
    assert "nan" not in heat_map_svg(heat_map(values=[[float("nan"), float("inf")], [1e300, -2.0]]))
    assert ElementTree.fromstring(heat_map_svg(heat_map(rows=[], values=[]))) is not None
    assert "nothing to draw" in heat_map_html(HeatMap("T", "r", "c", "m", [], 1, "f.svg"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"values": [[0.5, 0.5]]}, "its values have other sizes"),
        ({"values": [[0.5, "x"], [0.0, 1.0]]}, "a number is expected"),
        ({"marks": [[2, 0]]}, "pairs of a row and a column"),
    ],
)
def test_a_heat_map_that_cannot_be_drawn_is_named(quick, tmp_path, changes, reason):
    result, _ = quick("blondel2019-figure3")
    broken = json.loads(json.dumps(result))
    broken["heat_maps"][0]["maps"] = [{**heat_map().maps[0], **changes}]
    (tmp_path / "result.json").write_text(json.dumps(broken))
    assert reason in write_report(tmp_path).read_text(encoding="utf-8")


# What is stored


@pytest.mark.parametrize(("name", "paper"), [("blondel2019-table1", PAPER1), ("blondel2019-table2", PAPER2)])
def test_the_stored_tables_follow_from_their_runs(name, paper):
    result = stored(name)
    assert result["scale"] == "standard" and result["protocol"] == EXPERIMENTS[name].scales["standard"]
    found = Found(result["runs"], rankings.NAMES)
    (table,) = result["tables"]
    for place, row in enumerate(table["rows"]):
        for column, cell in zip(paper, row["cells"], strict=True):
            losses = found.losses(row["name"], *column)
            assert losses.size == 10
            assert cell["ours"] == pytest.approx(losses.mean()) and cell["paper"] == paper[column][place]
    assert result["remarks"][: len(findings(found, paper))] == findings(found, paper)
    assert result["remarks"][0].startswith("Projecting onto the Birkhoff polytope") and ": yes" in result["remarks"][0]


def test_the_stored_ordinal_averages_follow_from_their_rows():
    result = stored("blondel2019-ordinal")
    assert result["protocol"] == EXPERIMENTS["blondel2019-ordinal"].scales["standard"]
    *rows, average, real, published = result["tables"][0]["rows"]
    assert [row["name"] for row in rows] == list(levels.NAMES)
    means = np.array([[cell["ours"] for cell in row["cells"]] for row in rows])
    np.testing.assert_allclose([cell["ours"] for cell in average["cells"]], means.mean(axis=0))
    kept = means[[name != "toy" for name in levels.NAMES]]
    np.testing.assert_allclose([cell["ours"] for cell in real["cells"]], kept.mean(axis=0))
    by_column = dict(zip(COLUMNS, means.mean(axis=0), strict=True))
    ordered = all(a > b for a, b in pairwise(by_column[name] for name in ("ridge", "squared", "cube")))
    ordered &= by_column["cube"] >= by_column["order simplex"]
    assert (": yes" in result["remarks"][0]) == ordered
    runs = [run for run in result["runs"] if run["cell"]["data"] == "ESL"]
    assert len(runs) == 10 and len(result["runs"]) == 8 * 30 + 9 * 10
    assert published["cells"][0]["ours"] != average["cells"][0]["ours"]


def test_the_stored_label_sets_follow_from_their_runs():
    result = stored("blondel2019-multilabel")
    assert result["protocol"] == EXPERIMENTS["blondel2019-multilabel"].scales["standard"]
    assert len(result["runs"]) == 4 * len(label_sets.STEMS)
    for measure, table in zip(label_sets.MEASURES, result["tables"][1:], strict=True):
        for row in table["rows"]:
            runs = [run for run in result["runs"] if run["cell"]["data"] == row["name"]]
            assert [cell["ours"] for cell in row["cells"]] == [run["measures"][measure][0] for run in runs]


def test_the_stored_figure_has_its_pictures():
    result = stored("blondel2019-figure3")
    for found in result["heat_maps"]:
        picture = (RESULTS / "blondel2019-figure3" / found["file"]).read_text()
        assert picture == heat_map_svg(HeatMap(**found))
