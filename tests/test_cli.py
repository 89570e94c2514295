"""The command line: what it prints, what it leaves behind, and how it fails."""

import io
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from command_line import run_json, write_weather
from maximand import load
from maximand.cli.main import main
from maximand.estimators.tagger.answers import chunk_scores, chunks
from maximand.formats import (
    LabelledRows,
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


@pytest.fixture
def weather(tmp_path):
    return write_weather(tmp_path)


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


def test_evaluation_needs_the_columns_of_training_and_the_tags(text, tmp_path, capsys):
    model, untagged = tmp_path / "m", tmp_path / "untagged.conll"
    run_json(capsys, "fit", text, "-o", model)
    untagged.write_text("The DT\ncat NN\n")
    assert main(["evaluate", str(model), str(untagged)]) == 1
    assert "The data have 2 columns; the model was trained on 2 and the tags." in capsys.readouterr().err


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


@pytest.mark.parametrize("form", ["svmlight", "svmlight-multilabel"])
@pytest.mark.parametrize("zero_based", [True, False])
def test_features_are_counted_as_in_the_training_file(tmp_path, capsys, form, zero_based):
    first = 0 if zero_based else 1

    def write(name, columns):
        rows = [f"{column % 2} {first + column}:1 {first + 3}:{1 + row % 2}" for row, column in enumerate(columns)]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
        return str(tmp_path / name)

    training, others = write("train.svm", [0, 1, 2] * 10), write("test.svm", [1, 2] * 5)
    model = str(tmp_path / "m")
    assert main(["fit", training, "--format", form, "-o", model, "--scale"]) == 0
    capsys.readouterr()
    for name in (training, others):
        assert main(["evaluate", model, name, "--format", form, "--json"]) == 0
        scores = json.loads(capsys.readouterr().out)
        assert scores["accuracy" if form == "svmlight" else "subset accuracy"] == 1.0
    assert main(["doctor", training, "--format", form, "--test", others]) == 0
    (tmp_path / "shifted.svm").write_text("0 0:1 1:1\n")
    code = main(["predict", model, str(tmp_path / "shifted.svm"), "--format", form])
    assert code == (0 if zero_based else 1)
    if not zero_based:
        refusal = capsys.readouterr().err
        assert "shifted.svm, line 1: the index 0 is out of order; they begin at 1, as it seemed in the" in refusal


@pytest.mark.parametrize("form", ["svmlight", "svmlight-multilabel"])
def test_the_first_index_may_be_said(tmp_path, capsys, form):
    """A file counts from 0 and its first feature never occurs, so that nothing in it says so."""
    (tmp_path / "train.svm").write_text("0 1:1 3:1\n1 2:1 3:2\n" * 10)
    (tmp_path / "test.svm").write_text("0 0:1 1:1\n")
    (tmp_path / "from-1.svm").write_text("0 1:1 2:1\n")
    training, tests, shifted = (str(tmp_path / f"{name}.svm") for name in ("train", "test", "from-1"))
    model, form = str(tmp_path / "m"), ["--format", form]
    for said, first, width in ([], 1, 3), (["--first-index", "0"], 0, 4):
        seen = run_json(capsys, "doctor", training, *form, *said)
        assert (seen["first index"], seen["features"]) == (first, width)
        run_json(capsys, "fit", training, *form, *said, "-o", model)
        assert run_json(capsys, "inspect", model)["first index"] == first
        assert main(["predict", model, tests, *form]) == first
    answers = capsys.readouterr().out
    assert main(["predict", model, shifted, *form, "--first-index", "1"]) == 0
    assert capsys.readouterr().out == answers
    assert main(["doctor", training, *form, "--test", tests]) == 1
    assert "fit again with --first-index 0" in capsys.readouterr().err
