"""Ctrl-C while a command is loaded, or while kernels compile, ends it without a traceback."""

import os
import signal
import subprocess
import sys

import pytest
from numba.core.compiler_lock import global_compiler_lock

import maximand.numerics  # noqa: F401  from the first kernel on, interrupts are held back

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")


def interrupted(arguments, when, **environment):
    """Run a command and send SIGINT once a line on standard error says so; return its exit code and what it wrote."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | environment) as process:
        written = ""
        for line in process.stderr:
            written += line
            if when in line:
                process.send_signal(signal.SIGINT)
                break
        written += process.communicate(timeout=40)[1]
    assert when in written
    return process.returncode, written


def test_while_a_command_is_loaded():
    code, written = interrupted(["-X", "importtime", "-m", "maximand", "doctor", "--help"], " numpy.linalg")
    assert code == -signal.SIGINT  # 130 in a shell
    assert "Traceback" not in written


def test_while_kernels_compile(tmp_path):
    data = tmp_path / "train.conll"
    data.write_text("The DT B-NP\ncat NN I-NP\n\n")
    fit = ["-m", "maximand", "fit", str(data), "-o", str(tmp_path / "m")]
    code, written = interrupted(fit, "compiling, once", NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
    assert code == 130
    assert written.endswith("maximand: interrupted\n") and "Traceback" not in written


def test_it_is_held_back_inside_of_the_compiler():
    def compile_something():
        with global_compiler_lock:
            with global_compiler_lock:
                signal.raise_signal(signal.SIGINT)
            reached.append("the end of the compilation")

    reached, handler = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        compile_something()
    assert reached == ["the end of the compilation"]
    assert signal.getsignal(signal.SIGINT) is handler
    compile_quietly = global_compiler_lock(lambda: 5)
    assert compile_quietly() == 5
