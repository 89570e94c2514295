"""The law of threads: after a fork, nested, at once, failing or interrupted, the same answer within a time limit.

Each scene is a process of its own, since what it breaks would hang the tests.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SECONDS = 30  # of a machine with nothing else to do; a scene takes about two, most of them to import
pytestmark = pytest.mark.timeout(20 * SECONDS)

# Thousands of rows are cut into several chunks, so that every fit and prediction is shared out to threads.
STAGE = """
import os, threading, time
import numpy as np
from threadpoolctl import threadpool_info
from maximand.callbacks.base import Callback
from maximand import MulticlassClassifier, OracleTask, StructuredPredictor

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 5))
y = X[:, :4].argmax(axis=1)

def model():
    return MulticlassClassifier(loss="crf", regularization=0.1, n_threads=3)

def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

fitted = model().fit(X, y)
expected = fitted.predict(X)

class After(Callback):
    def __init__(self, call):
        self.call = call

    def on_fit_task_end(self, estimator, context):
        self.call()

before = blas()
assert set(before) == {2}

def check(fitted=fitted):
    assert (fitted.predict(X) == expected).all()
    assert (model().fit(X, y).weights_ == fitted.weights_).all()
"""

SCENES = {
    "forked": """
        from multiprocessing import get_context
        from joblib import Parallel, delayed
        Parallel(n_jobs=2, backend="multiprocessing")(delayed(check)() for _ in range(2))
        with get_context("fork").Pool(2) as pool:
            for predicted in pool.map(fitted.predict, [X, X]):
                assert (predicted == expected).all()
        child = os.fork()
        if child == 0:
            check()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        check()
    """,
    "forked during a fit": """
        going, over = threading.Event(), threading.Event()
        slow = model().set_callbacks(After(lambda: going.set() or over.wait()))
        fit = threading.Thread(daemon=True, target=slow.fit, args=(X, y))
        fit.start()
        going.wait()
        assert blas() == [1] * len(before), blas()
        child = os.fork()
        if child == 0:
            check()
            os._exit(0 if blas() == before else 1)
        assert os.waitpid(child, 0)[1] == 0
        over.set()
        fit.join()
        assert blas() == before
    """,
    "forked beside predictions": """
        threading.Thread(daemon=True, target=lambda: [fitted.predict(X) for _ in iter(int, 1)]).start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                fitted.predict(X)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    """,
    "forked while BLAS is set": """
        from maximand.engine import threads
        inside, busy, set_blas = threading.Event(), threading.Lock(), threads._set_blas

        def slowly(counts):
            with busy:  # as libraries have locks
                inside.set()
                time.sleep(0.2)
                return set_blas(counts)

        threads._set_blas = slowly
        other = threading.Thread(target=fitted.predict, args=(X,))
        other.start()
        inside.wait()
        child = os.fork()
        threads._set_blas = set_blas
        if child == 0:
            check()
            os._exit(0 if blas() == before else 1)
        assert os.waitpid(child, 0)[1] == 0
        other.join()
        assert blas() == before
    """,
    "nested": """
        def ask(theta, instance):
            answers.append(fitted.predict(X))
            if len(answers) % 16 == 0:  # from a thread of its own, while the helpers are here
                other = threading.Thread(target=lambda: answers.append(fitted.predict(X)))
                other.start()
                other.join()
            return np.eye(512)[theta.argmax()]

        answers = []
        instances = [np.ones((512, 1)) for _ in range(32)]  # several chunks
        outputs = [np.eye(512)[0]] * 32
        StructuredPredictor(OracleTask(ask), max_iterations=1, n_threads=3).fit(instances, outputs)
        assert len(answers) > 32 and all((answer == expected).all() for answer in answers)
    """,
    "at once": """
        threads = [threading.Thread(target=check) for _ in range(4)]
        failures = []
        threading.excepthook = failures.append
        for thread in threads:
            thread.start()
            time.sleep(0.003)  # so that the first to begin are not the last to end
        for thread in threads:
            thread.join()
        assert not failures, failures[0]
        assert blas() == before
    """,
    "failing": """
        def fail(theta, instance):
            raise OSError(f"example {instance[0, 0]:g}")

        instances = [np.full((512, 1), float(i)) for i in range(32)]
        for n_threads in (1, 3):
            oracle = StructuredPredictor(OracleTask(fail), n_threads=n_threads)
            try:
                oracle.fit(instances, [np.eye(512)[0]] * 32)
            except OSError as error:
                assert str(error) == "example 0", error  # the first, whoever fails first
            else:
                raise AssertionError("nothing failed")
        check()
        assert blas() == before
    """,
    "after the main thread": """
        def late():
            threading.main_thread().join()
            check()
            print("checked", flush=True)

        threading.Thread(target=late).start()
    """,
}

INTERRUPTED = """
import signal, warnings
from maximand import Decreasing, Subgradient
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in what runs in the background

def slowly(theta, instance):
    time.sleep(0.01)
    return np.eye(512)[theta.argmax()]

instances = [rng.normal(size=(512, 3)) for _ in range(64)]
outputs = [np.eye(512)[(instance @ [1.0, 2.0, 3.0]).argmax()] for instance in instances]
endless = Subgradient(steps=Decreasing(), batch_size=None, tolerance=0.0)
oracle = StructuredPredictor(OracleTask(slowly), regularization=1e-6, solver=endless, n_threads=3)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    oracle.set_callbacks(After(lambda: print("ready", flush=True))).fit(instances, outputs)
assert "interrupted" in oracle.stop_reason_, oracle.stop_reason_
assert blas() == before
check()
print("checked", flush=True)
"""


def begun(scene):
    script = STAGE + textwrap.dedent(scene)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def seconds_here():
    """Return the limit on this machine as it is now: as many times longer as a loop takes beside all else that runs."""
    began, start = time.perf_counter(), time.process_time()
    while time.process_time() < start + 0.5:
        pass
    return SECONDS * max(1.0, (time.perf_counter() - began) / 0.5)


def ended(process):
    """Return what a process printed; it may neither hang nor fail."""
    limit = seconds_here()
    try:
        printed, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with its children
        pytest.fail(f"It did not end within {limit:.0f} seconds.")
    assert process.returncode == 0, errors
    return printed, errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="scenes that fork")
@pytest.mark.parametrize("scene", SCENES)
def test_the_same_answer_within_a_time_limit(scene):
    printed, errors = ended(begun(SCENES[scene]))
    assert not errors
    assert printed == ("checked\n" if scene == "after the main thread" else "")


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_ends_a_fit_and_nothing_else():
    process = begun(INTERRUPTED)
    while "ready" not in process.stdout.readline():
        assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    printed, _ = ended(process)
    assert printed.endswith("checked\n")
