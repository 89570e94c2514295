"""Callbacks: what they see, when they stop a fit, and what they leave behind."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from subprocess import PIPE

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from maximand import (
    LBFGS,
    BlockFrankWolfe,
    Callback,
    Checkpoint,
    EarlyStopping,
    History,
    ModelFileError,
    MulticlassClassifier,
    OneSlack,
    Progress,
    SequenceTagger,
)
from maximand.callbacks.contexts import SimpleContext, SimpleSupport, simply_with_callbacks
from maximand.callbacks.progress import seconds_left
from maximand.datasets import simulate_chains
from maximand.solvers import Record


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, (X @ rng.normal(size=(4, 3)) + rng.normal(size=(200, 3))).argmax(axis=1)


def test_history_sees_every_record(table, tmp_path):
    history = History(tmp_path / "log.jsonl")
    model = MulticlassClassifier(loss="crf").set_callbacks(history).fit(*table)
    assert history.records == model.history_
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["value"] for line in lines] == [record.value for record in history.records]


def test_progress_shows_value_gap_and_reason(table):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200)
    MulticlassClassifier(solver=OneSlack()).set_callbacks(Progress(console)).fit(*table)
    shown = screen.getvalue()
    for words in ("MulticlassClassifier", "iteration", "value", "gap", "oracle calls", "the gap fell to the tolerance"):
        assert words in shown


def test_time_left_follows_the_trend_of_the_gap():
    records = [Record(i, float(i), 0, 1.0, 10.0**-i) for i in range(1, 6)]
    assert seconds_left(records, 1e-8) == pytest.approx(3.0)
    assert seconds_left(records[:2], 1e-8) is None
    assert seconds_left([Record(i, float(i), 0, 1.0, 1.0) for i in range(5)], 1e-8) is None


def test_early_stopping_keeps_the_weights_that_scored_best(table):
    X, y = table
    stopping = EarlyStopping(X[100:], y[100:], patience=3)
    model = MulticlassClassifier(loss="crf", solver=LBFGS(tolerance=1e-12, stall=0.0), regularization=1e-6)
    model.set_callbacks(stopping).fit(X[:100], y[:100])  # a stop that was asked for is no reason to warn
    assert model.gap_ is None
    best = max(score for _, score in stopping.scores)
    assert model.score(X[100:], y[100:]) == pytest.approx(best)
    assert model.stop_reason_.startswith("the callback asked to stop; these are the weights that scored best")
    assert len(stopping.scores) == stopping.scores.index(max(stopping.scores, key=lambda seen: seen[1])) + 4


def test_scikit_learns_estimators_take_our_callbacks(table):
    if not hasattr(LogisticRegression, "set_callbacks"):
        pytest.skip("this version of scikit-learn has no callbacks for LogisticRegression")
    screen = io.StringIO()
    model = LogisticRegression().set_callbacks(Progress(Console(file=screen, force_terminal=True)), History())
    model.fit(*table)
    assert "LogisticRegression" in screen.getvalue()


def test_scikit_learns_progress_bar_works_on_our_estimators(table, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="this version of scikit-learn has no callbacks")
    model = MulticlassClassifier(regularization=1e-3, solver=OneSlack(max_iterations=20, tolerance=0.1)).set_callbacks(
        callback.ProgressBar()
    )
    model.fit(*table)
    assert "MulticlassClassifier" in capsys.readouterr().out


class Watcher(Callback):
    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.seen.append(("begin", context.task_name, X))

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.seen.append(("end", context.task_name, metadata and metadata["n"], getattr(fitted_estimator, "w_", None)))
        return context.task_name == "iteration" and metadata["n"] == 2

    def teardown(self, estimator, context):
        self.seen.append("teardown")


def test_callbacks_work_without_scikit_learns_machinery():
    class Estimator(SimpleSupport):
        def get_params(self, deep=True):
            return {}

        @simply_with_callbacks
        def fit(self, X):
            fit = self._init_callback_context(max_subtasks=5)
            fit.call_on_fit_task_begin(estimator=self, X=X)
            for n in range(5):
                one: SimpleContext = fit.subcontext("iteration")
                attributes = lambda n=n: {"w_": n}  # noqa: E731
                if one.call_on_fit_task_end(estimator=self, metadata={"n": n}, reconstruction_attributes=attributes):
                    break
            fit.call_on_fit_task_end(estimator=self)
            return self

    watcher = Watcher()
    Estimator().set_callbacks(watcher).fit("data")
    assert watcher.seen == [
        "setup", ("begin", "fit", "data"), ("end", "iteration", 0, 0), ("end", "iteration", 1, 1),
        ("end", "iteration", 2, 2), ("end", "fit", None, None), "teardown",
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, Y = simulate_chains(60)
    whole = SequenceTagger(solver=LBFGS(max_iterations=30, tolerance=1e-9)).fit(X, Y)
    path = tmp_path / "run.ckpt"
    (tmp_path / ".run.ckpt.0123456789ab.part").write_bytes(b"left by a crash")
    model = SequenceTagger(solver=LBFGS(max_iterations=30, tolerance=1e-9)).set_callbacks(Checkpoint(path, seconds=0))

    class Crash(Callback):
        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if metadata and metadata["record"].iteration == 10:
                raise RuntimeError("crash")

    model._skl_callbacks.append(Crash())
    with pytest.raises(RuntimeError, match="crash"):
        model.fit(X, Y)
    assert os.listdir(tmp_path) == ["run.ckpt"]
    again = SequenceTagger(solver=LBFGS(max_iterations=30, tolerance=1e-9)).set_callbacks(Checkpoint(path, seconds=0))
    again.fit(X, Y)
    np.testing.assert_array_equal(again.weights_, whole.weights_)
    assert [r.value for r in again.history_] == [r.value for r in whole.history_]


def test_a_checkpoint_of_another_problem_is_refused(tmp_path, table):
    X, y = table
    path = tmp_path / "run.ckpt"
    model = MulticlassClassifier(solver=BlockFrankWolfe(tolerance=1e-6), regularization=1e-2)
    clone(model).set_callbacks(Checkpoint(path, seconds=0)).fit(X, y)
    for settings, data in (
        ({}, (X + 1, y)),
        ({}, (X, (y + 1) % 3)),
        ({"regularization": 1.0}, (X, y)),
        ({"solver": OneSlack()}, (X, y)),
    ):
        with pytest.raises(ModelFileError, match="another problem"):
            clone(model).set_params(**settings).set_callbacks(Checkpoint(path)).fit(*data)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ModelFileError, match="damaged"):
        clone(model).set_callbacks(Checkpoint(path)).fit(X, y)


def test_a_checkpoint_knows_candidates_and_takes_longer_limits(tmp_path, table):
    X, y = table
    path = tmp_path / "run.ckpt"
    ambiguous = [{0, 1} if i % 5 == 0 else int(label) for i, label in enumerate(y)]
    settings = {"loss": "crf", "regularization": 1e-4}

    def fit(labels, limit):
        solver = LBFGS(max_iterations=limit, tolerance=1e-9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return (
                MulticlassClassifier(solver=solver, **settings)
                .set_callbacks(Checkpoint(path, seconds=0))
                .fit(X, labels)
            )

    fit(ambiguous, 5)
    with pytest.raises(ModelFileError, match="another problem"):
        fit([{0, 2} if label == {0, 1} else label for label in ambiguous], 5)
    longer = fit(ambiguous, 12)
    assert longer.n_iter_ == 12
    path.unlink()
    np.testing.assert_array_equal(longer.weights_, fit(ambiguous, 12).weights_)


KILLED = """
import sys
import numpy as np
from maximand import Checkpoint, SequenceTagger, LBFGS
from maximand.datasets import simulate_chains
X, Y = simulate_chains(150)
solver = LBFGS(max_iterations=100, tolerance=1e-12, stall=0.0)
model = SequenceTagger(solver=solver).set_callbacks(Checkpoint(sys.argv[1], seconds=0))
print("ready", flush=True)
model.fit(X, Y)
np.save(sys.argv[2], model.weights_)
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_killed_process_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    """A small version of benchmarks/kills.py."""
    whole, killed = ([tmp_path / f"{name}.ckpt", tmp_path / f"{name}.npy"] for name in ("whole", "killed"))
    monkeypatch.setattr(sys, "argv", ["", *whole])
    exec(KILLED, {})
    for attempt in range(4):
        with subprocess.Popen([sys.executable, "-W", "ignore", "-c", KILLED, *killed], stdout=PIPE) as process:
            process.stdout.readline()
            if attempt < 3:
                time.sleep(0.05 * (attempt + 1))
                process.send_signal(signal.SIGKILL)
    np.testing.assert_array_equal(np.load(whole[1]), np.load(killed[1]))
