"""Label sets on the command line."""

import gzip
import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score, precision_recall_fscore_support

from command_line import WEATHER, run_json, run_lines, write_weather
from maximand import MultilabelClassifier, load, save
from maximand.cli.main import main
from maximand.estimators.multilabel.scores import scores_of_labels, scores_of_sets
from maximand.formats import (
    Attribute,
    Mulan,
    MultilabelRows,
    write_mulan,
    write_multilabel_svmlight,
)


@pytest.fixture
def weather(tmp_path):
    return write_weather(tmp_path)


def write_sets(path, X, sets):
    write_multilabel_svmlight(MultilabelRows(csr_array(X), tuple(map(tuple, sets))), path)
    return path


def test_label_sets_are_learned_evaluated_and_predicted(weather, tmp_path, capsys):
    arff, labels = weather
    model = tmp_path / "m"
    fitted = run_json(capsys, "fit", arff, "--labels", labels, "-o", model, "--structure", "pairwise", "--loss", "crf")
    assert fitted["n_weights"] == 3 * 3 + 3 + 3
    assert "The oracles were exact; the gap is a certificate" in fitted["guarantee"]
    assert load(model).classes_.tolist() == list(WEATHER)
    scores = run_json(capsys, "evaluate", model, arff)
    assert scores == run_json(capsys, "evaluate", model, arff, "--labels", labels)
    assert scores["Hamming loss"] < 0.1
    assert scores["subset accuracy"] > 0.8
    assert list(scores["labels"]) == list(WEATHER)
    lines = run_lines(capsys, "predict", model, arff)
    assert {"", "sun", "rain", "sun,rain,rainbow"} <= set(lines)
    answers = list(map(json.loads, run_lines(capsys, "predict", model, arff, "--json")))
    assert [",".join(answer) for answer in answers] == lines
    likely = [line.split("\t") for line in run_lines(capsys, "predict", model, arff, "--proba")]
    assert [present for present, _ in likely] == lines
    chances = [dict(pair.split("=") for pair in pairs.split(",")) for _, pairs in likely]
    records = list(map(json.loads, run_lines(capsys, "predict", model, arff, "--proba", "--json")))
    assert [record["labels"] for record in records] == answers
    assert [record["probabilities"] for record in records] == [
        {label: float(chance) for label, chance in row.items()} for row in chances
    ]
    weights = run_json(capsys, "inspect", model, "--top", 15)["largest_weights"]
    named = {(row["weight"], row["label"]): row["value"] for row in weights}
    assert named["light", "sun"] > 0
    assert named["both", "sun & rainbow"] == pytest.approx(load(model).pair_weights_[0, 2])
    assert {("bias", "rain"), ("noise", "rainbow")} <= set(named)


def test_tables_to_predict_need_no_labels_but_the_columns_of_training(weather, tmp_path, capsys):
    arff, labels = weather
    model, table = tmp_path / "m", tmp_path / "new.arff"
    run_json(capsys, "fit", arff, "--labels", labels, "-o", model, "--scale")
    columns = [f"@attribute {name} numeric" for name in ("light", "drops", "noise")]
    for attributes, row in (
        (columns, "2,-2,0"),
        ([*columns, "@attribute sun {0,1}", "@attribute rain {0,1}"], "2,-2,0,?,?"),
    ):
        table.write_text("\n".join(["@relation new", *attributes, "@data", row, row]))
        assert run_lines(capsys, "predict", model, table) == ["sun", "sun"]
    for attributes, words in (
        ([columns[1], columns[0], columns[2]], "column 1 is 'drops' where training had 'light'"),
        (columns[:2], "2 columns that are no labels; training had 3"),
    ):
        table.write_text("\n".join(["@relation new", *attributes, "@data", ",".join("1" * len(attributes))]))
        assert main(["predict", str(model), str(table)]) == 1
        assert words in capsys.readouterr().err
    assert main(["evaluate", str(model), str(table)]) == 1
    assert "the model: the label 'sun' is no attribute of" in capsys.readouterr().err


def test_svmlight_rows_may_have_several_labels(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(40, 2))
    sets = [[label for label, there in ((3, x[0] > 0), (12, x[1] > 0)) if there] for x in X]
    plain = write_sets(tmp_path / "sets.svm", X, sets)
    packed, model = tmp_path / "sets.svm.gz", tmp_path / "m"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    run_json(capsys, "fit", packed, "--format", "svmlight-multilabel", "-o", model)
    assert load(model).classes_.tolist() == [3, 12]
    assert {"", "3", "12", "3,12"} == set(run_lines(capsys, "predict", model, plain))
    assert json.loads(run_lines(capsys, "predict", model, plain, "--json")[sets.index([3, 12])]) == [3, 12]
    scores = run_json(capsys, "evaluate", model, write_sets(tmp_path / "more.svm", X, [[*row, 99] for row in sets]))
    assert scores["labels"]["99"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 40}
    assert scores["Hamming loss"] >= 1 / 3
    assert main(["evaluate", str(model), str(write_sets(tmp_path / "other.svm", X, [[7]] * 40))]) == 1
    assert "no label of the data: 3, 12; but 7" in capsys.readouterr().err
    (tmp_path / "sets.svm").write_text("1,2 1:0.5\n")
    assert main(["fit", str(plain), "-o", str(model)]) == 1
    assert (
        "sets.svm, line 1: the label '1,2' is not a number; say --format svmlight-multilabel" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exhaustive", "exact"),
        ("tree", "exact"),
        ("greedy", "lower bounds"),
        ("belief-propagation", "lower bounds"),
        ("graph-cut", "upper bounds"),
        ("linear-program", "upper bounds"),
    ],
)
def test_inferences_go_by_name_and_say_what_they_guarantee(name, words, weather, tmp_path, capsys):
    model = tmp_path / "m"
    fit = ["fit", weather[0], "--labels", weather[1], "-o", model, "--structure", "pairwise", "--max-iterations", 30]
    assert words in " ".join(run_lines(capsys, *fit, "--inference", name)[5:9])
    assert name.replace("-", "") in repr(load(model).structure.search).lower()
    assert len(run_lines(capsys, "predict", model, weather[0])) == 60


def test_models_of_sets_take_what_their_labels_were_in_python(weather, tmp_path, capsys):
    X = np.random.default_rng(1).normal(size=(30, 3))
    sets = [{WEATHER[int(x[0] > 0)]} for x in X]
    save(MultilabelClassifier().fit(X, sets), tmp_path / "m")
    given = [tmp_path / "m", weather[0], "--labels", weather[1]]
    assert set(run_lines(capsys, "predict", *given)) == {"sun", "rain"}
    assert run_json(capsys, "evaluate", *given)["labels"]["rainbow"]["recall"] == 0.0


def test_scores_of_sets_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, guesses = rng.random((2, 50, 4)) < 0.3
    guesses[:, 3] = truth[:, 2] = False
    scores = scores_of_sets(guesses, truth)
    assert scores == pytest.approx(
        {
            "Hamming loss": hamming_loss(truth, guesses),
            "subset accuracy": accuracy_score(truth, guesses),
            "Jaccard accuracy": jaccard_score(truth, guesses, average="samples", zero_division=1.0),
            "micro F1": f1_score(truth, guesses, average="micro"),
            "macro F1": f1_score(truth, guesses, average="macro", zero_division=0.0),
        }
    )
    by_label = np.array([list(score.values()) for score in scores_of_labels(guesses, truth)]).T
    assert np.allclose(by_label, precision_recall_fscore_support(truth, guesses, zero_division=0.0))


def test_doctor_looks_at_label_sets(weather, tmp_path, capsys):
    arff, labels = weather
    seen = run_json(capsys, "doctor", arff, "--labels", labels, "--test", arff, "--structure", "pairwise")
    assert (seen["examples"], seen["features"], seen["labels"], seen["estimates"]["weights"]) == (60, 3, 3, 15)
    assert seen["labels per row"] == pytest.approx(sum(seen["label counts"].values()) / 60, abs=1e-4)
    assert f"{seen['rows without labels']} of 60 rows have no label" in str(seen["findings"])
    assert "60 of 60 test examples" in str(seen["findings"])
    X = np.ones((9, 2))
    X[:, 1] = np.arange(9) % 3
    Y = np.zeros((9, 4), dtype=np.int8)
    Y[:, 0], Y[0, 1] = 1, 1
    odd, names = tmp_path / "odd.arff", tmp_path / "odd.xml"
    columns = Attribute("size"), Attribute("colour", ("red", "green", "blue"))
    write_mulan(Mulan("odd", columns, ("always", "rare", "never", "nor"), csr_array(X), csr_array(Y)), odd, names)
    printed = "\n".join(run_lines(capsys, "doctor", odd, "--labels", names))
    for words in (
        "2 labels are never present: never, nor.",
        "1 labels are present in every row: always.",
        "1 labels occur fewer than 5 times: rare.",
        "two nominal values: colour.",
        "MB at its peak",
    ):
        assert words in printed
    X[4, 0] = np.nan
    write_mulan(Mulan("odd", columns, ("always", "rare", "never", "nor"), X, Y), odd, names)
    assert main(["doctor", str(odd), "--labels", str(names)]) == 1
    assert "Some feature values are missing" in capsys.readouterr().out
    sparse = write_sets(tmp_path / "sets.svm", X[:4], [[1], [1, 2], [4], []])
    other = write_sets(tmp_path / "other.svm", 2 * X[:4], [[5]] * 4)
    seen = run_json(capsys, "doctor", sparse, "--format", "svmlight-multilabel", "--test", other)
    assert "from 1 to 4 without 3" in str(seen["findings"])
    assert "labels that training does not know: 5" in str(seen["findings"])
