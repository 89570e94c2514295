"""What is imported and compiled, when, and what is said of it."""

import io
import logging
import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core import event
from rich.console import Console

import maximand
from maximand import Callback, MulticlassClassifier, Progress, Subgradient, compiling
from maximand.cli import main, report
from maximand.compiling import ANNOUNCEMENT, Compilations, announced, working_seconds
from maximand.numerics.choice import best_columns

COMMAND_MODULES = {f"maximand.cli.{name}" for name in main.COMMANDS}
SOURCE = Path(maximand.__file__).parent
STUBS = sorted(SOURCE.rglob("*.pyi"))
OURS = {"dispatcher": best_columns}
NEVER = (
    "highspy", "matplotlib", "safetensors", "sklearn.metrics", "sklearn.model_selection", "sklearn.feature_extraction",
    "maximand.cards", "maximand.cli", "maximand.files", "maximand.formats", "maximand.models", "maximand.papers",
    "maximand.plots", "maximand.report",
)  # fmt: skip


def package_of(stub):
    return ".".join(("maximand", *stub.parent.relative_to(SOURCE).parts))


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    )


def loaded_by(code):
    return set(run(f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')").stdout.split())


def test_the_package_alone_imports_next_to_nothing():
    loaded = loaded_by("import maximand")
    assert {name for name in loaded if name.startswith("maximand")} == {"maximand", "maximand.lazy"}
    assert not loaded & {"numba", "numpy", "scipy", "sklearn"}


def test_commands_are_imported_when_they_are_asked_for():
    listed = loaded_by("from maximand.cli.main import parser_of_commands as of; assert 'predict' in of().format_help()")
    assert not listed & {"numba", "numpy", "scipy", "sklearn", "rich"}
    asked = loaded_by("from maximand.cli.main import parser_of_commands as of; of('predict', 'model', 'data')")
    assert {name for name in asked if name in COMMAND_MODULES} == {"maximand.cli.predict"}
    assert not asked & {"sklearn.datasets", "maximand.papers"}


@pytest.mark.parametrize("name", ["SequenceTagger", "MultilabelClassifier", "LabelRanker", "GraphLabeler"])
def test_an_estimator_imports_what_it_needs(name):
    loaded = loaded_by(f"from maximand import {name}")
    assert "numba" in loaded
    assert not loaded & set(NEVER)
    estimators = {name for name in loaded if name.startswith("maximand.estimators.") and name.endswith(".estimator")}
    assert len(estimators) == 1
    graphs = name in ("MultilabelClassifier", "GraphLabeler")
    assert graphs == ("maximand.spaces.graph" in loaded) == ("maximand.inference" in loaded)


@pytest.mark.parametrize("stub", STUBS, ids=package_of)
def test_every_name_of_a_stub_is_found(stub):
    package = import_module(package_of(stub))
    text, everything = stub.read_text(), {}
    for other in re.findall(r"^from (\S+) import \*", text, re.MULTILINE):
        assert set(import_module(other).__all__) <= set(package.__all__)
        text += (SOURCE.parent.joinpath(*other.split(".")) / stub.name).read_text()
    exec(f"from {package.__name__} import *", everything)
    for name in package.__all__:
        assert everything[name] is getattr(package, name)
        assert name in dir(package)
        assert text.count(f"import {name} as {name}\n") == 1  # one line makes a name public
        assert not (stub.parent / f"{name}.py").exists()  # that module would hide the name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


def test_the_version_is_a_name_too():
    assert maximand.__version__.count(".") == 2
    assert "__version__" not in maximand.__all__


@pytest.fixture
def compilations(monkeypatch):
    """A process in which nothing has compiled yet, and half a second passes quickly."""
    fresh = Compilations()
    monkeypatch.setattr(compiling, "COMPILATIONS", fresh)
    monkeypatch.setattr(compiling, "WORTH_SAYING", 0.01)
    with event.install_listener("numba:compile", fresh):
        yield fresh


def compile_slowly(seconds, data=OURS):
    with event.trigger_event("numba:compile", data=data):
        time.sleep(seconds)


def test_the_clock_stands_still_while_kernels_compile(compilations):
    began, wall = working_seconds(), time.perf_counter()
    with event.trigger_event("numba:compile", data=dict(OURS)):
        compile_slowly(0.1, dict(OURS))  # one that the other calls: its time counts once
        during = working_seconds() - began
    compile_slowly(0.1)
    assert time.perf_counter() - wall > 0.2
    assert max(during, working_seconds() - began) < 0.1
    assert 0.2 < compilations.seconds() < time.perf_counter() - wall


def test_kernels_of_others_are_training(compilations):
    other = type("Dispatcher", (), {"py_func": test_kernels_of_others_are_training})
    compile_slowly(0.05, {"dispatcher": other})
    assert compilations.seconds() == 0.0


def test_a_failed_compilation_ends_too(compilations):
    with pytest.raises(RuntimeError), event.trigger_event("numba:compile", data=OURS):
        raise RuntimeError
    before = compilations.seconds()
    time.sleep(0.02)
    assert compilations.seconds() == before


class Slow(Callback):
    def on_fit_task_end(self, estimator, context):
        compile_slowly(0.05)


@pytest.mark.filterwarnings("ignore:Training stopped early")
def test_seconds_of_a_fit_leave_compilation_out(compilations):
    X, y = np.eye(4), [0, 1, 0, 1]
    model = MulticlassClassifier(solver=Subgradient(max_iterations=8)).fit(X, y)  # the kernels are there
    wall = time.perf_counter()
    model.set_callbacks(Slow()).fit(X, y)
    wall = time.perf_counter() - wall
    assert len(model.history_) == 8
    assert model.history_[-1].seconds < wall - 8 * 0.05
    assert model.history_[-1].seconds < 7 * 0.05  # what compiled between the records


def test_it_is_said_once(compilations, caplog):
    heard, unheard = [], []
    with caplog.at_level(logging.INFO, "maximand"), announced(unheard.append), announced(heard.append):
        for _ in range(3):
            compile_slowly(0.02)
    assert heard == [ANNOUNCEMENT]
    assert not unheard
    assert [record.message for record in caplog.records] == [ANNOUNCEMENT]


def test_short_waits_are_not_worth_a_word(compilations, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "WORTH_SAYING", 10.0)
    with caplog.at_level(logging.INFO, "maximand"):
        compile_slowly(0.02)
    assert not caplog.records


def test_the_command_line_says_it_on_stderr(compilations, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(report, "run", lambda options: compile_slowly(0.02) or 0)
    assert main.main(["report", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", f"maximand: {ANNOUNCEMENT}\n")


def test_the_progress_bar_says_it(compilations):
    screen = io.StringIO()
    model = MulticlassClassifier().set_callbacks(Slow(), Progress(Console(file=screen, width=100)))
    model.fit(np.eye(4), [0, 1, 0, 1])
    assert screen.getvalue().count(ANNOUNCEMENT) == 1
    assert not compilations.audience


def test_kernels_compile_in_the_first_process_only(tmp_path):
    code = (
        "import logging, numpy as np\n"
        "logging.basicConfig(level=logging.INFO, format='%(name)s %(message)s')\n"
        "from maximand import compiling\n"
        "from maximand.numerics.choice import best_columns, soft_columns\n"
        "compiling.WORTH_SAYING = 0.0\n"
        "best_columns(np.eye(2), np.empty(2), np.empty((2, 2)))\n"
        "soft_columns(np.eye(2), 1.0, np.empty(2), np.empty((2, 2)))\n"
    )
    first, second = (run(code, NUMBA_CACHE_DIR=str(tmp_path)).stderr for _ in range(2))
    assert first == f"maximand.compiling {ANNOUNCEMENT}\n"
    assert second == ""
