"""Law: whatever is written, is written whole or not at all, and may go onto what it was made from."""

import ast
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import maximand
from maximand import Checkpoint, History, MulticlassClassifier, load
from maximand.cli.main import COMMANDS, main, parser_of_commands
from maximand.files.atomic import replacing, write_atomically
from maximand.formats import LabelledRows, write_svmlight

SOURCES = Path(maximand.__file__).parent
WRITERS = {"files/atomic.py", "callbacks/history.py"}  # the latter adds lines to a file
WRITING_CALLS = {"write_text", "write_bytes", "savefig", "savetxt", "savez", "tofile", "save_file", "to_csv", "mkstemp"}


def opens_to_write(call):
    """Say whether a call writes a file by itself."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    texts = [node.value for node in (*call.args, *(k.value for k in call.keywords)) if isinstance(node, ast.Constant)]
    modes = [text for text in texts if isinstance(text, str) and set(text) <= set("rwxabt+")]
    return name in WRITING_CALLS or (name in ("open", "fdopen") and any(set(mode) & set("wxa+") for mode in modes))


def test_one_function_writes_all_files():
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and opens_to_write(node)
    }
    assert found == WRITERS


def write_rows(folder):
    X = np.random.default_rng(0).normal(size=(30, 2)).round(2)
    write_svmlight(LabelledRows(X, (X[:, 0] > 0).astype(float)), folder / "rows.svm")
    return folder / "rows.svm"


def fit_case(folder):
    return ["fit", write_rows(folder), "-o"], [], lambda path: load(path).weights_.tolist()


def predict_case(folder):
    rows = write_rows(folder)
    assert main(["fit", str(rows), "-o", str(folder / "model"), "--json"]) == 0
    return ["predict", folder / "model", rows, "-o"], [rows], Path.read_text


def report_case(folder):
    result = {
        "experiment": "e", "paper": "p", "title": "t", "scale": "quick", "protocol": "", "seed": 0, "seconds": 1.0,
        "data": {}, "versions": {}, "tables": [], "figures": [], "remarks": [], "runs": [],
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(result))
    return ["report", folder, "-o"], [folder / "result.json"], Path.read_text


# What each command writes: a case, or None where it is a folder of files, each by `write_atomically`.
WRITES = {
    ("fit", "output"): fit_case, ("fit", "checkpoint"): None, ("predict", "output"): predict_case,
    ("report", "output"): report_case, ("reproduce", "out"): None, ("demo", "out"): None,
}  # fmt: skip
each_output = pytest.mark.parametrize("case", [*filter(None, WRITES.values())], ids=lambda case: case.__name__)


def test_every_output_of_the_command_line_is_tried_here():
    [commands] = [
        action.choices for action in parser_of_commands(*COMMANDS)._actions if isinstance(action.choices, dict)
    ]
    found = {(name, action.dest) for name, parser in commands.items() for action in parser._actions}
    assert {pair for pair in found if pair[1] in ("output", "out", "checkpoint")} == set(WRITES)


def run(*arguments):
    return main([*map(str, arguments)])


@each_output
def test_outputs_may_replace_inputs(case, tmp_path):
    command, inputs, read = case(tmp_path)
    assert run(*command, tmp_path / "elsewhere") == 0
    for source in inputs:
        before = source.read_bytes()
        assert run(*command, source) == 0
        assert read(source) == read(tmp_path / "elsewhere")
        source.write_bytes(before)


def test_models_and_training_data_are_not_replaced(tmp_path, capsys):
    rows, model = write_rows(tmp_path), tmp_path / "model"
    assert run("fit", rows, "-o", model, "--json") == 0
    link = tmp_path / "link"
    link.symlink_to(model)
    before = {path: path.read_bytes() for path in (rows, model)}
    for command, words in (
        (("fit", rows, "-o", rows), "rows.svm is the training data; give another file for the output."),
        (("predict", model, rows, "-o", model), "model is the model; give another file for the output."),
        (("predict", model, rows, "-o", link), "link is the model; give another file for the output."),
    ):
        assert run(*command) == 1
        assert words in capsys.readouterr().err
        assert {path: path.read_bytes() for path in (rows, model)} == before


def test_nor_is_a_file_that_is_read_beside_the_data(tmp_path, capsys):
    data, names = tmp_path / "sets.arff", tmp_path / "labels.xml"
    data.write_text("@relation sets\n@attribute x numeric\n@attribute a {0,1}\n@data\n0,1\n1,0\n")
    names.write_text('<labels><label name="a"></label></labels>')
    before = names.read_bytes()
    assert run("fit", data, "--labels", names, "-o", names) == 1
    assert "labels.xml is the training data; give another file for the output." in capsys.readouterr().err
    assert names.read_bytes() == before
    assert run("fit", data, "--labels", names, "-o", tmp_path / "model", "--json") == 0


def full_disk(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def ctrl_c(*arguments):
    raise KeyboardInterrupt


@each_output
def test_a_failed_write_leaves_everything_as_it_was(case, tmp_path, monkeypatch, capsys):
    command, inputs, _ = case(tmp_path)
    (tmp_path / "old").write_bytes(b"old")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    for failure, code, words in ((full_disk, 1, "old: No space left on device"), (ctrl_c, 130, "interrupted")):
        monkeypatch.setattr(os, "fsync", failure)
        for target in (tmp_path / "old", *inputs):
            assert run(*command, target) == code
            assert words.replace("old", target.name) in capsys.readouterr().err
            assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_checkpoint_never_replaces_data(tmp_path, capsys):
    rows = write_rows(tmp_path)
    before = rows.read_bytes()
    assert run("fit", rows, "-o", tmp_path / "m", "--checkpoint", rows, "--checkpoint-seconds", 0) == 1
    assert "no maximand file" in capsys.readouterr().err
    assert rows.read_bytes() == before


def test_a_missing_folder_is_found_before_training(tmp_path, capsys, monkeypatch):
    rows = write_rows(tmp_path)
    monkeypatch.setattr(MulticlassClassifier, "_train", lambda *_: pytest.fail("it was trained"))
    assert run("fit", rows, "-o", tmp_path / "nowhere" / "m") == 1
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [Checkpoint, History])
def test_a_fit_survives_a_full_disk(kind, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    plain = MulticlassClassifier(loss="crf").fit(X, y)
    with pytest.raises(FileNotFoundError, match=r"run: there is no folder .*nowhere; make it first"):
        MulticlassClassifier().set_callbacks(kind(tmp_path / "nowhere" / "run")).fit(X, y)
    path = tmp_path / "run" if kind is Checkpoint else Path("/dev/full")
    monkeypatch.setattr(os, "fsync", full_disk)
    callback = kind(path, seconds=0) if kind is Checkpoint else kind(path)
    with pytest.warns(UserWarning, match=rf"{path} could not be written \(No space left on device\); the fit goes on"):
        model = MulticlassClassifier(loss="crf").set_callbacks(callback).fit(X, y)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    assert not os.listdir(tmp_path)


STOPPED = """
import sys, time
from maximand.files.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def writing(path):
    """Start a process that writes a file and never ends."""
    process = subprocess.Popen([sys.executable, "-c", STOPPED, path], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def test_leftovers_are_removed_by_later_writers_of_the_same_file(tmp_path):
    kept = tmp_path / ".run.notes.part"
    kept.write_text("somebody's own")
    with writing(tmp_path / "run.b") as other, writing(tmp_path / "run") as same:
        try:
            alive = set(os.listdir(tmp_path))
            with writing(tmp_path / "run") as killed:
                killed.send_signal(signal.SIGKILL)
            assert len(os.listdir(tmp_path)) == len(alive) + 1 == 4
            callback = Checkpoint(tmp_path / "run", seconds=0)
            MulticlassClassifier().set_callbacks(callback).fit([[0.0], [1.0]], [0, 1])
            assert set(os.listdir(tmp_path)) == alive | {"run"}
        finally:
            other.kill()
            same.kill()
    for name in ("run", "run.b"):
        write_atomically(tmp_path / name, b"whole")
    assert set(os.listdir(tmp_path)) == {"run", "run.b", kept.name}


def test_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    contents = [bytes([letter]) * 5000 for letter in b"abcd"]

    def write_often(content):
        for _ in range(25):
            write_atomically(tmp_path / "file", content)

    threads = [threading.Thread(target=write_often, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_bytes() in contents
    assert os.listdir(tmp_path) == ["file"]


def test_pipes_are_written_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with replacing(tmp_path / "pipe") as file:
        file.write(b"through")
    reader.join()
    assert found == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
