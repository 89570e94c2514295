"""The command line on rankings of labels, on ordered levels, and on label sets of bounded size."""

import gzip
import io
import json

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from maximand import LabelRanker, OrdinalClassifier, load, save
from maximand.cli.main import main
from maximand.estimators.label_ranker.scores import scores_of_rankings
from maximand.formats import (
    Attribute,
    LabelRankings,
    Mulan,
    OrdinalRows,
    read_rankings,
    write_mulan,
    write_ordinal,
    write_rankings,
)

DISHES = "soup", "rice", "pie"
COLUMNS = "cold", "hunger"


@pytest.fixture
def dishes(tmp_path):
    """Rows whose first column raises soup and whose second raises pie; rice stays."""
    X = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    order = np.argsort(-np.column_stack([X[:, 0], np.zeros(60), X[:, 1]]), axis=1)
    rankings = tuple(tuple(DISHES[label] for label in row) for row in order)
    path = tmp_path / "dishes.csv"
    write_rankings(LabelRankings(COLUMNS, X, rankings), path)
    return path


@pytest.fixture
def grades(tmp_path):
    """Rows with levels 1 to 4 that rise with the sum of the columns."""
    X = np.random.default_rng(1).normal(size=(80, 2)).round(3)
    y = np.searchsorted([-1.5, 0.0, 1.5], X.sum(axis=1)) + 1
    path = tmp_path / "grades.csv"
    write_ordinal(OrdinalRows(X, y), path)
    return path


def run_json(capsys, *arguments, code=0):
    assert main([*map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def run_lines(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def refused(capsys, *arguments):
    assert main([*map(str, arguments)]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("loss", [None, "entropic", "squared", "hinge"])
def test_rankings_are_learned_evaluated_and_predicted(loss, dishes, tmp_path, capsys):
    model = tmp_path / "m"
    fit = ["fit", dishes, "-o", model, "--scale", *(["--loss", loss] if loss else [])]
    assert run_json(capsys, *fit)["n_weights"] == 9 * 2 + 9
    ranker = load(model)[-1]
    assert isinstance(ranker, LabelRanker)
    assert ranker.projection == (loss or "euclidean")
    scores = run_json(capsys, "evaluate", model, dishes)
    assert scores["Kendall's tau"] > 0.8
    assert scores["labels"]["rice"]["count"] == scores["examples"] == 60
    lines = run_lines(capsys, "predict", model, dishes)
    assert len(lines) == 60
    assert all(sorted(line.split(">")) == sorted(DISHES) for line in lines)
    answers = list(map(json.loads, run_lines(capsys, "predict", model, dishes, "--json")))
    assert [">".join(answer) for answer in answers] == lines
    held = run_json(capsys, "inspect", model, "--top", 27)["largest_weights"]
    named = {(row["weight"], row["label"]): row["value"] for row in held}
    assert named["cold", "soup in place 1"] > 0 > named["cold", "soup in place 3"]
    assert ("bias", "pie in place 2") in named


def test_the_chances_of_positions_come_with_rankings(dishes, tmp_path, capsys):
    model = tmp_path / "m"
    run_json(capsys, "fit", dishes, "-o", model)
    records = list(map(json.loads, run_lines(capsys, "predict", model, dishes, "--proba", "--json")))
    lines = [line.split("\t") for line in run_lines(capsys, "predict", model, dishes, "--proba")]
    for record, (order, chances) in zip(records, lines, strict=True):
        assert ">".join(record["ranking"]) == order
        matrix = np.array([record["probabilities"][label] for label in sorted(DISHES)])
        assert np.allclose([matrix.sum(axis=0), matrix.sum(axis=1)], 1.0, atol=1e-5)
        assert chances.split(",")[0].startswith("pie=")
        assert [float(p) for p in chances.split(",")[0][4:].split(":")] == pytest.approx(matrix[0])
    run_json(capsys, "fit", dishes, "-o", model, "--loss", "hinge")
    assert "The loss hinge models no probabilities; fit with --loss euclidean" in refused(
        capsys, "predict", model, dishes, "--proba"
    )


def test_labels_alone_may_have_the_weights(dishes, tmp_path, capsys):
    model = tmp_path / "m"
    assert run_json(capsys, "fit", dishes, "-o", model, "--encoding", "vector")["n_weights"] == 3 * 2 + 3
    records = list(map(json.loads, run_lines(capsys, "predict", model, dishes, "--proba", "--json")))
    for record in records:
        expected = record["expected positions"]
        assert sum(expected.values()) == pytest.approx(1 + 2 + 3, abs=1e-5)
        assert sorted(expected, key=expected.get)[0] == record["ranking"][0] or len(set(expected.values())) < 3
    assert {"pie", "rice", "soup"} == {
        row["label"] for row in run_json(capsys, "inspect", model, "--top", 9)["largest_weights"]
    }
    assert run_json(capsys, "evaluate", model, dishes)["exact"] > 0.6


def test_rankings_may_leave_labels_out(dishes, tmp_path, capsys):
    partial, model = tmp_path / "partial.csv", tmp_path / "m"
    header, *rows = dishes.read_text().splitlines()
    rows = [row.rpartition(">")[0] if i % 3 == 0 else row for i, row in enumerate(rows)]
    rows[0] = rows[0].rpartition(">")[0]
    partial.write_text("\n".join([header, *rows]))
    seen = run_json(capsys, "doctor", partial)
    assert (seen["partial rankings"], seen["labels per ranking"]) == (
        20,
        pytest.approx((40 * 3 + 19 * 2 + 1) / 60, abs=1e-4),
    )
    assert "20 of 60 rankings leave labels out, first number 1." in str(seen["findings"])
    assert "1 of 60 rankings list one label only" in str(seen["findings"])
    assert not run_json(capsys, "doctor", partial, "--unlisted", "below")["findings"]
    for unlisted, n_left_out in (("anywhere", 1), ("below", None)):
        run_json(capsys, "fit", partial, "-o", model, "--unlisted", unlisted)
        scores = run_json(capsys, "evaluate", model, partial)
        assert scores.get("examples without an order") == n_left_out
        assert scores["Kendall's tau"] > 0.8
        assert run_json(capsys, "evaluate", model, dishes)["Kendall's tau"] > 0.8
    for arguments, words in (
        (["--encoding", "vector", "--loss", "hinge"], "ranking 1 leaves labels out"),
        (["--loss", "crf"], "say --loss euclidean or entropic"),
    ):
        assert words in refused(capsys, "fit", partial, "-o", model, *arguments)


def test_scores_of_rankings_are_those_of_scipy():
    rng = np.random.default_rng(0)
    labels = list("abcde")
    truth, guesses = ([rng.permutation(5) for _ in range(20)] for _ in range(2))
    rankings = [[labels[code] for code in order] for order in truth]
    positions = np.argsort(guesses, axis=1)
    scores, by_label = scores_of_rankings(positions, rankings, labels)
    both = list(zip(np.argsort(truth, axis=1), positions, strict=True))
    away = np.array([a - b for a, b in both])
    assert scores == pytest.approx(
        {
            "examples": 20,
            "Kendall's tau": np.mean([kendalltau(a, b).statistic for a, b in both]),
            "Spearman's rho": np.mean([spearmanr(a, b).statistic for a, b in both]),
            "Spearman's distance": (away**2).sum(axis=1).mean(),
            "wrong positions": (away != 0).mean(),
            "exact": (away == 0).all(axis=1).mean(),
        }
    )
    assert by_label["b"]["in place"] == pytest.approx((away[:, 1] == 0).mean())
    pairs = list(zip(both, truth, strict=True))
    cut = [ranking[:2] for ranking in rankings]
    below, _ = scores_of_rankings(positions, cut, labels, "below")
    assert below["exact"] == np.mean([(a[order[:2]] == b[order[:2]]).all() for (a, b), order in pairs])
    ties = [np.where(a < 2, a, 3.0) for a, _ in both]
    rhos = [spearmanr(tied, b).statistic for tied, (_, b) in zip(ties, both, strict=True)]
    assert below["Spearman's rho"] == pytest.approx(np.mean(rhos))
    anywhere, _ = scores_of_rankings(positions, cut, labels)
    assert anywhere["exact"] == np.mean([b[order[0]] < b[order[1]] for (_, b), order in pairs])
    with pytest.raises(ValueError, match="no two labels in a known order"):
        scores_of_rankings(positions, [ranking[:1] for ranking in rankings], labels)


def test_levels_are_learned_evaluated_and_predicted(grades, tmp_path, capsys):
    model, packed = tmp_path / "m", tmp_path / "grades.csv.gz"
    packed.write_bytes(gzip.compress(grades.read_bytes()))
    for loss, proba in ((None, True), ("entropic", True), ("crf", True), ("squared", False), ("hinge", False)):
        fit = ["fit", packed, "-o", model, "--scale", *(["--loss", loss] if loss else [])]
        assert run_json(capsys, *fit)["n_weights"] == 3 * 2 + 3
        classifier = load(model)[-1]
        assert isinstance(classifier, OrdinalClassifier)
        assert classifier.loss == (loss or "euclidean")
        scores = run_json(capsys, "evaluate", model, grades)
        assert scores["mean absolute error"] < 0.5
        assert scores["within one level"] > 0.95
        assert list(scores["levels"]) == ["1", "2", "3", "4"]
        lines = run_lines(capsys, "predict", model, grades)
        wrong = np.array(lines, dtype=int) - np.loadtxt(grades, delimiter=",")[:, -1]
        assert np.abs(wrong).mean() == pytest.approx(scores["mean absolute error"])
        if not proba:
            assert "models no probabilities" in refused(capsys, "predict", model, grades, "--proba")
            continue
        records = list(map(json.loads, run_lines(capsys, "predict", model, grades, "--proba", "--json")))
        assert [str(record["level"]) for record in records] == lines
        assert all(sum(record["probabilities"].values()) == pytest.approx(1, abs=1e-5) for record in records)
        first = run_lines(capsys, "predict", model, grades, "--proba")[0]
        assert first.startswith(f"{lines[0]}\t1={records[0]['probabilities']['1']:.6f},2=")
    weights = run_json(capsys, "inspect", model, "--top", 9)["largest_weights"]
    assert {row["label"] for row in weights} == {"above 1", "above 2", "above 3"}


def test_levels_that_training_lacks_count_as_steps(tmp_path, capsys):
    data, model = tmp_path / "holes.csv", tmp_path / "m"
    data.write_text("".join(f"{level},{level}\n" for level in (2, 3, 5) for _ in range(6)))
    seen = run_json(capsys, "doctor", data)
    assert "The levels go from 2 to 5 without 4." in str(seen["findings"])
    assert seen["level counts"] == {"2": 6, "3": 6, "5": 6}
    run_json(capsys, "fit", data, "-o", model)
    assert load(model).classes_.tolist() == [2, 3, 4, 5]
    other = tmp_path / "other.csv"
    other.write_text("5,7\n2,2\n")
    scores = run_json(capsys, "evaluate", model, other)
    assert scores["mean absolute error"] == 1.0
    assert scores["levels"]["7"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 1}


def test_csv_to_predict_needs_no_outputs_but_the_columns_of_training(dishes, grades, tmp_path, capsys, monkeypatch):
    ranker, classifier, new = tmp_path / "r", tmp_path / "c", tmp_path / "new.csv"
    run_json(capsys, "fit", dishes, "-o", ranker)
    run_json(capsys, "fit", grades, "-o", classifier)
    for text in ("cold,hunger\n3,-3\n", "cold,hunger,ranking\n3,-3,?\n", "cold, hunger, Ranking\n3,-3,\n"):
        new.write_text(text)
        assert run_lines(capsys, "predict", ranker, new) == ["soup>rice>pie"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(new.read_bytes())))
    assert run_lines(capsys, "predict", ranker, "-", "--format", "rankings") == ["soup>rice>pie"]
    for text in ("3,3\n-3,-3\n", "3 3 ?\n-3 -3 ?\n"):
        new.write_text(text)
        assert run_lines(capsys, "predict", classifier, new) == ["4", "1"]
    for model, text, words in (
        (ranker, "hunger,cold\n1,2\n", "column 1 is 'hunger' where training had 'cold'"),
        (ranker, "1,2\n1,2\n", "line 1: no header"),
        (ranker, "cold,hunger\n", "no rows to predict"),
        (ranker, "cold,hunger\n1\n", "line 2: 1 columns; training had 2"),
        (classifier, "1,2,3,4\n", "line 1: 4 columns; training had 2, and an output may follow"),
        (classifier, "1,x\n", "column 2 is 'x'"),
    ):
        new.write_text(text)
        assert words in refused(capsys, "predict", model, new)


def test_csv_files_that_are_neither_are_refused(dishes, grades, tmp_path, capsys):
    data, model = tmp_path / "data.csv", tmp_path / "m"
    for text, words in (
        ("", "the file is empty"),
        ("a,b,class\n1,2,3\n", "line 1: the last column is 'class'; name it `ranking`"),
        ("1;2;3\n", "Columns are separated by commas"),
        ("1,2,0\n", "the class is '0'; it must be a whole number from 1"),
        ("a,ranking\n", "no rows below the header"),
        ("a,ranking\n1,x>x\n", "line 2: the ranking 'x>x' lists the label 'x' twice; a label has one place"),
        ("a,ranking\n1,x\n2,x\n", "there is only the label x; training needs two"),
        ("1,2\n3,2\n", "there is only the level 2; training needs two"),
    ):
        data.write_text(text)
        assert words in refused(capsys, "fit", data, "-o", model)
    assert "a header `A1,...,Ad,ranking` must come first" in refused(
        capsys, "fit", grades, "-o", model, "--format", "rankings"
    )
    assert "If this is a header, delete it" in refused(capsys, "fit", dishes, "-o", model, "--format", "ordinal")
    for option in (["--structure", "budget"], ["--unlisted", "below"], ["--encoding", "vector"]):
        assert "these are rows with an ordered level each" in refused(capsys, "fit", grades, "-o", model, *option)
    run_json(capsys, "fit", grades, "-o", model)
    data.write_text("1,2,3,4\n")
    assert "has 3 features in a row; training had 2" in refused(capsys, "evaluate", model, data)
    run_json(capsys, "fit", dishes, "-o", model)
    data.write_text("cold,hunger,ranking\n1,2,soup>cake\n")
    assert "line 2: the label 'cake' is unknown" in refused(capsys, "evaluate", model, data)


def test_doctor_looks_at_rankings_and_levels(dishes, grades, tmp_path, capsys):
    seen = run_json(capsys, "doctor", dishes, "--test", dishes, "--loss", "entropic")
    assert (seen["examples"], seen["features"], seen["labels"], seen["estimates"]["weights"]) == (60, 2, 3, 27)
    assert sum(seen["first places"].values()) == 60
    assert [finding["culprit"][:25] for finding in seen["findings"]] == ["60 of 60 test examples are"[:25]]
    seen = run_json(capsys, "doctor", grades, "--loss", "hinge")
    assert seen["estimates"]["seconds"] > 0
    assert sum(seen["level counts"].values()) == 80
    assert "Nothing to worry about" in "\n".join(run_lines(capsys, "doctor", grades))
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b,c,d,ranking\n" + "1,1,7,0,x>y>z\n1,1,7,0,y>x>z\n2,2,7,0,x>y>z\n" * 2)
    findings = str(run_json(capsys, "doctor", odd)["findings"])
    for words in (
        "1 labels have the same place in every ranking: z.",
        "4 of 6 rows equal another one in all features but not in the ranking, first number 1.",
        "1 columns have the same value in every row: 'c'.",
        "1 columns repeat another one: 'b' = 'a'.",
        "1 columns hold zeros only.",
    ):
        assert words in findings
    odd.write_text("a,ranking\n1,x>y\n2,x>y\n")
    assert "All rankings are x>y." in str(run_json(capsys, "doctor", odd)["findings"])
    odd.write_text("".join(f"{i},{1 + i // 2}\n" for i in range(70)) + "0,1\n" * 300)
    findings = str(run_json(capsys, "doctor", odd)["findings"])
    for words in ("levels occur fewer than 5 times", "Level 1 is 151 times as frequent", "There are 35 levels."):
        assert words in findings
    for text in ("a,ranking\n1,x\n", "1,3\n2,3\n"):
        odd.write_text(text)
        assert run_json(capsys, "doctor", odd, code=1)["findings"][0]["fatal"]


def test_models_from_python_are_evaluated_by_the_names_of_labels(grades, tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(20, 2))
    save(LabelRanker().fit(X, [[1, 2] if x[0] > 0 else [2, 1] for x in X]), tmp_path / "r")
    data = tmp_path / "data.csv"
    data.write_text("a,b,ranking\n5,0,1>2\n-5,0,2>1\n")
    assert run_json(capsys, "evaluate", tmp_path / "r", data)["exact"] == 1.0
    assert run_lines(capsys, "predict", tmp_path / "r", data) == ["1>2", "2>1"]
    levels = ["low", "high"]
    save(OrdinalClassifier(classes=levels).fit(X, [levels[int(x[0] > 0)] for x in X]), tmp_path / "c")
    assert set(run_lines(capsys, "predict", tmp_path / "c", grades)) == set(levels)
    assert "evaluate it in Python" in refused(capsys, "evaluate", tmp_path / "c", grades)


@pytest.mark.parametrize("loss", ["hinge", "euclidean", "entropic", "squared", "crf"])
def test_budgets_bound_the_sizes_of_label_sets(loss, tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    Y = (X > 0.3).astype(np.int8)
    Y[~Y.any(axis=1), 0] = 1
    arff, labels, model = tmp_path / "sets.arff", tmp_path / "sets.xml", tmp_path / "m"
    write_mulan(Mulan("sets", tuple(map(Attribute, "wxyz")), tuple("abcd"), X, Y), arff, labels)
    given = [arff, "--labels", labels]
    budget = ["--structure", "budget", "--min-size", 1, "--max-size", 2, "--loss", loss]
    run_json(capsys, "fit", *given, "-o", model, *budget)
    assert load(model).task_.sizes == (1, 2)
    lines = run_lines(capsys, "predict", model, arff)
    assert {len(line.split(",")) for line in lines} <= {1, 2}
    assert "" not in lines
    assert run_json(capsys, "evaluate", model, arff)["Hamming loss"] < 0.25
    crowded = int((Y.sum(axis=1) > 2).sum())
    assert f"{crowded} of 50 rows have more than 2 labels" in str(
        run_json(capsys, "doctor", *given, *budget)["findings"]
    )
    if loss != "hinge":
        return
    for options, words in (
        (["--max-size", 2], "add --structure budget"),
        (["--structure", "budget", "--max-size", 5], "choose 0 <= min-size <= max-size <= 4"),
        (["--structure", "budget", "--min-size", 3, "--max-size", 2], "--min-size 3 and --max-size 2 cannot be met"),
        (["--structure", "budget", "--min-size", 3], "fewer than --min-size 3; lower it"),
        (["--structure", "budget", "--inference", "tree"], "add --structure pairwise"),
    ):
        assert words in refused(capsys, "fit", *given, "-o", model, *options)


def test_ties_are_read_alike_from_files_and_lists(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).round(3)
    texts = ["tea=milk>water" if x > 0 else "water>milk=tea" if y > 0 else "milk>tea" for x, y in X]
    rows = [f"{x},{y},{text}" for (x, y), text in zip(X, texts, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["x,y,ranking", *rows]) + "\n")
    assert main(["fit", str(tmp_path / "d.csv"), "-o", str(tmp_path / "m")]) == 0
    model, by_hand = load(tmp_path / "m"), LabelRanker().fit(X, texts)
    assert model.classes_.tolist() == ["milk", "tea", "water"]
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)
    read = read_rankings(tmp_path / "d.csv")
    np.testing.assert_array_equal(LabelRanker().fit(X, read.rankings).weights_, by_hand.weights_)
    capsys.readouterr()
    seen = run_json(capsys, "doctor", tmp_path / "d.csv")
    assert seen["rankings with ties"] == sum("=" in text for text in texts)
    assert seen["label counts"] == {"milk": 40, "tea": 40, "water": sum("water" in text for text in texts)}
    scores = run_json(capsys, "evaluate", tmp_path / "m", tmp_path / "d.csv")
    assert scores["Kendall's tau"] == pytest.approx(by_hand.score(X, texts))


def test_tied_labels_share_their_places():
    truth = [("a", frozenset("bc"), "d"), (frozenset("abcd"),)]
    for guess in ([0, 1, 2, 3], [0, 2, 1, 3]):
        values, by_label = scores_of_rankings(np.array([guess, guess]), truth, list("abcd"))
        assert (values["Kendall's tau"], values["wrong positions"], values["exact"]) == (1.0, 0.0, 1.0)
        assert values["examples without an order"] == 1
        assert by_label["b"]["in place"] == 1.0
    values, _ = scores_of_rankings(np.array([[1, 0, 2, 3]]), truth[:1], list("abcd"))
    assert values["Kendall's tau"] == pytest.approx((4 - 1) / 5)
    assert values["wrong positions"] == 0.5
