"""The command line: what it prints, what it leaves behind, and how it fails."""

import gzip
import io
import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score, precision_recall_fscore_support

from maximand import MultilabelClassifier, load, save
from maximand.cli.main import main
from maximand.estimators.multilabel.scores import scores_of_labels, scores_of_sets
from maximand.estimators.tagger.answers import chunk_scores, chunks
from maximand.formats import (
    Attribute,
    LabelledRows,
    Mulan,
    MultilabelRows,
    write_mulan,
    write_multilabel_svmlight,
    write_svmlight,
)

SENTENCE = [("The", "DT"), ("cat", "NN"), ("sat", "VBD")]
CONLL = """\
The DT B-NP
cat NN I-NP
sat VBD O

A DT B-NP
big JJ I-NP
dog NN I-NP
ran VBD O

Dogs NNS B-NP
ran VBD O
"""


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text((CONLL + "\n") * 4)
    return path


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    path = tmp_path / "train.svm"
    write_svmlight(LabelledRows(X, (X[:, 0] > 0).astype(float), None), path)
    return path


WEATHER = "sun", "rain", "rainbow"


@pytest.fixture
def weather(tmp_path):
    """Rows with the labels sun (the first column is positive), rain (the second is) and rainbow (both are)."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, (X[:, :2] > 0).all(axis=1)]).astype(np.int8)
    columns = Attribute("light"), Attribute("drops"), Attribute("noise")
    arff, labels = tmp_path / "weather.arff", tmp_path / "weather.xml"
    write_mulan(Mulan("weather", columns, WEATHER, X, Y), arff, labels)
    return arff, labels


def write_sets(path, X, sets):
    write_multilabel_svmlight(MultilabelRows(csr_array(X), tuple(map(tuple, sets))), path)
    return path


def run_json(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def run_lines(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_tagger_is_trained_evaluated_and_used(text, tmp_path, capsys):
    model = tmp_path / "m"
    fitted = run_json(capsys, "fit", text, "-o", model, "--scheme", "BIO")
    assert fitted["n_classes"] == 3
    assert fitted["gap_is_certificate"]
    scores = run_json(capsys, "evaluate", model, text)
    assert scores["accuracy"] == scores["chunk F1"] == 1.0
    assert scores["labels"]["B-NP"]["count"] == 12
    assert main(["predict", str(model), str(text), "--proba"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["The", "DT", "B-NP", "B-NP"]
    assert float(lines[0].split()[4]) == pytest.approx(load(model).predict_proba([SENTENCE])[0][0, 0], abs=1e-6)
    assert lines[3] == ""
    held = run_json(capsys, "inspect", model)
    assert held["steps"] == ["WindowVectorizer", "SequenceTagger"]
    assert held["largest_weights"][0]["label"] in held["classes"]
    assert load(model).predict([[("The", "DT"), ("cat", "NN")]])[0].tolist() == ["B-NP", "I-NP"]


def test_predict_reads_standard_input_with_or_without_tags(text, tmp_path, capsys, monkeypatch):
    model = tmp_path / "m"
    run_json(capsys, "fit", text, "-o", model)
    for given in ("The DT\ncat NN\n", "The DT O\ncat NN O\n"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert main(["predict", str(model), "-", "--format", "conll"]) == 0
        assert [line.split()[-1] for line in capsys.readouterr().out.split("\n")[:2]] == ["B-NP", "I-NP"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"The DT x y\n")))
    assert main(["predict", str(model), "-", "--format", "conll"]) == 1
    assert "4 columns; the model was trained on 2" in capsys.readouterr().err


def test_a_classifier_is_trained_evaluated_and_used(rows, tmp_path, capsys):
    model, predictions = tmp_path / "m", tmp_path / "out.txt"
    run_json(capsys, "fit", rows, "-o", model, "--scale", "--loss", "crf", "--checkpoint", tmp_path / "c")
    scores = run_json(capsys, "evaluate", model, rows)
    assert scores["accuracy"] > 0.9
    assert main(["predict", str(model), str(rows), "-o", str(predictions)]) == 0
    assert set(predictions.read_text().split()) == {"0", "1"}


def test_doctor_names_culprits_and_cures(text, rows, tmp_path, capsys):
    seen = run_json(capsys, "doctor", text, "--test", text)
    assert seen["tokens"] == 36
    assert seen["estimates"]["peak bytes"] > seen["input bytes"]
    assert "12 of 12 test examples" in str(seen["findings"])
    broken = tmp_path / "broken.conll"
    broken.write_text(CONLL + "\nx NN O\ny NN I-NP\n")
    assert "BIO scheme" in str(run_json(capsys, "doctor", broken)["findings"])
    assert (main(["doctor", str(broken), "--scheme", "BIO"]), "first number 4" in capsys.readouterr().out) == (1, True)
    whole = tmp_path / "bioes.conll"
    whole.write_text("a S-X\nb O\n\na B-X\nb E-X\n\na I-X\nb O\n")
    assert "BIOES scheme, first number 3" in str(run_json(capsys, "doctor", whole)["findings"])
    uneven = tmp_path / "uneven.svm"
    uneven.write_text("".join(f"{i % 2} 1:{1e6 + i} 2:{1e-3 * i + 1e-3}\n" for i in range(20)) + "7 1:3\n")
    findings = str(run_json(capsys, "doctor", uneven)["findings"])
    for words in ("--scale", "without 2, 3, 4, 5, 6", "fewer than 5"):
        assert words in findings
    marked = tmp_path / "marked.conll"
    marked.write_text("a [/x]\nb [bold]\n\nc [/x]\n")
    assert main(["doctor", str(marked)]) == 0
    assert "[/x] 2" in capsys.readouterr().out
    single = tmp_path / "single.svm"
    single.write_text("1 1:1\n1 1:2\n")
    assert main(["doctor", str(single)]) == 1
    assert "only the label" in capsys.readouterr().out
    assert main(["doctor", str(rows)]) == 0
    assert "MB at its peak" in capsys.readouterr().out


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


def test_what_does_not_fit_together_is_refused(weather, rows, text, tmp_path, capsys):
    arff, labels, model = str(weather[0]), str(weather[1]), str(tmp_path / "m")
    run_json(capsys, "fit", arff, "--labels", labels, "-o", model)
    sets = ["fit", arff, "--labels", labels, "-o", model]
    for arguments, words in (
        (["fit", arff, "-o", model], "which of its columns are labels? Say --labels"),
        ([*sets, "--inference", "greedy"], "add --structure pairwise"),
        ([*sets, "--structure", "pairwise", "--inference", "greedy", "--loss", "crf"], "Greedy has no marginals; use"),
        (
            ["fit", str(rows), "-o", model, "--structure", "pairwise"],
            "multilabel; these are rows with one",
        ),
        (["predict", model, arff, "--proba"], "The loss hinge models no probabilities; fit with --loss crf"),
        (["evaluate", model, str(text)], "conll holds sentences with a tag for each word, but rows with a set"),
    ):
        assert main(arguments) == 1, arguments
        assert words in capsys.readouterr().err


def test_reproduce_lists_and_runs(tmp_path, capsys, monkeypatch):
    assert "do2008-table1" in run_json(capsys, "reproduce", "--list")
    assert main(["reproduce", "nonsense"]) == 1
    assert "There is no experiment 'nonsense'" in capsys.readouterr().err
    monkeypatch.delenv("MAXIMAND_DATA", raising=False)
    assert main(["reproduce", "do2008-table1", "--scale", "standard", "--out", str(tmp_path)]) == 1
    assert "--data DIR" in capsys.readouterr().err


def test_demo_prints_every_loss(capsys):
    rows = run_json(capsys, "demo", "--no-report")
    known = {"hinge", "ramp", "slack_hinge", "crf", "bridge", "euclidean", "entropic", "squared"}
    assert {row["loss"] for row in rows} == known
    assert all(row["test_cost"] >= 0.0 for row in rows)
    assert any(row["certified"] for row in rows)


def test_errors_are_one_sentence_on_stderr(tmp_path, capsys):
    (tmp_path / "bad.svm").write_text("1 5:x\n")
    for arguments, words in (
        (["fit", "nothing.conll", "-o", "m"], "nothing.conll: No such file"),
        (["fit", "data.unknown", "-o", "m"], "say --format"),
        (["fit", str(tmp_path / "bad.svm"), "-o", "m"], "bad.svm, line 1"),
        (["inspect", str(tmp_path / "bad.svm")], "no maximand file"),
    ):
        assert main(arguments) == 1
        printed = capsys.readouterr()
        assert words in printed.err
        assert printed.err.startswith("maximand: ")
        assert "Traceback" not in printed.err + printed.out
    with pytest.raises(ValueError, match="say --format"):
        main(["fit", "data.unknown", "-o", "m", "--debug"])
    with pytest.raises(SystemExit) as error:
        main(["nonsense"])
    assert error.value.code == 2
    assert "nonsense" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(text, tmp_path, capsys):
    run_json(capsys, "fit", text, "-o", tmp_path / "m")
    assert main(["predict", str(tmp_path / "m"), str(text)]) == 0  # nothing is left to compile
    long = tmp_path / "long.conll"
    long.write_text((CONLL + "\n") * 5000)
    command = f"{sys.executable} -m maximand predict {tmp_path / 'm'} {long} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "The DT B-NP B-NP"
    assert done.stderr == ""


def test_ctrl_c_saves_the_best_weights_so_far(tmp_path):
    data, model = tmp_path / "train.conll", tmp_path / "m"
    data.write_text((CONLL + "\n") * 3000)
    command = [sys.executable, "-m", "maximand", "fit", data, "-o", model, "--tolerance", "1e-15", "--debug",
               "--regularization", "1e-9"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "Record(iteration=3," in line:
                process.send_signal(signal.SIGINT)
                break
        printed, _ = process.communicate()
    assert process.returncode == 130
    assert "interrupted by the user" in printed
    assert load(model).predict([[("The", "DT")]])[0].tolist() == ["B-NP"]


def test_chunks_follow_the_conll_rules():
    assert chunks(["B-A", "I-A", "I-B", "O", "I-A", "B-A"]) == {(0, 2, "A"), (2, 3, "B"), (4, 5, "A"), (5, 6, "A")}
    scores = chunk_scores([["B-A", "O", "B-A"]], [["B-A", "B-A", "O"]])
    assert scores == {"chunk precision": 0.5, "chunk recall": 0.5, "chunk F1": 0.5}
