"""Values are told apart by what they hold, and functions by what they do."""

import functools
import logging
import subprocess
import sys
import threading
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from maximand.batch import Batch
from maximand.costs import ZeroOne
from maximand.features import Examples, PerLabel, Rows
from maximand.identity import Identifier, identity
from maximand.losses import generated
from maximand.objective import PENALTY, Objective
from maximand.oracles import Euclidean
from maximand.sets import Cube
from maximand.solvers import OneSlack
from maximand.solvers.earlier import origin
from maximand.spaces import Choice, Labels

FACTOR = 2
LONG = np.zeros(5000)
CHANGED = LONG.copy()
CHANGED[2500] = 1.0  # numpy prints neither


def closing_over(k):
    return lambda theta: theta[:k]


def by_default(k):
    def argmax(theta, size=k):
        return theta[:size]

    return argmax


def with_helper(k):
    def inner(theta):
        return theta * k

    return lambda theta: inner(theta)


def compiled(k):
    return numba.njit(closing_over(k))


def remembered(k):
    return functools.lru_cache(closing_over(k))


class Best:
    def __init__(self, k):
        self.k = k

    def __call__(self, theta):
        return theta[: self.k]


def redefined(k):
    class Best:
        factor = k

        def best(self, theta):
            return theta * self.factor

    return Best()


@dataclass(frozen=True)
class Box:
    held: object


def with_global(k):
    """A function whose global is k: a module of its own."""
    module = {"__name__": "__main__", "K": k}
    exec("def argmax(theta): return theta[:K]", module)
    return module["argmax"]


def with_global_object(k):
    """A function whose global is an object of an installed class."""
    module = {"__name__": "__main__", "settings": SimpleNamespace(k=k), "most": functools.partial(min, k)}
    exec("def argmax(theta): return most(theta[:settings.k])", module)
    return module["argmax"]


def with_module(k):
    """A function that takes k from a module of the user's."""
    helpers = ModuleType("helpers")
    helpers.__file__, helpers.k, helpers.unused = "/home/user/helpers.py", k, object()
    module = {"__name__": "__main__", "helpers": helpers}
    exec("def argmax(theta): return theta[:helpers.k]", module)
    return module["argmax"]


def with_attribute(k):
    argmax = closing_over(1)
    argmax.k = k
    return argmax


def decorated(k):
    return functools.update_wrapper(Best(k), closing_over(1))


MAKERS = [
    with_global_object, with_module, with_attribute, decorated,
    closing_over, by_default, with_helper, compiled, remembered, Best, redefined, with_global, Box,
    lambda k: functools.partial(closing_over(1), k), lambda k: Best(k).__call__, lambda k: redefined(k).best,
    lambda k: {"a": [1, {k}]}, lambda k: [[1] * k, [1] * (6 - k)], lambda k: np.arange(k), lambda k: np.float64(k),
    lambda k: csr_array(np.eye(3) * k), lambda k: np.array([k, "a"], dtype=object),
    lambda k: Box(LONG if k == 2 else CHANGED), lambda k: Box(closing_over(LONG if k == 2 else CHANGED)),
    lambda k: np.random.default_rng(k),
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_what_differs_inside_is_told_apart(make):
    assert identity(make(2)) == identity(make(2))
    assert identity(make(2)) != identity(make(4))


def test_kinds_are_told_apart():
    values = [1, 1.0, True, "1", b"1", (1,), [1], {1}, None, np.array([1]), np.array([1.0]), np.array([[1]]), Box(1)]
    assert len({identity(value) for value in values}) == len(values)
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})


def test_what_holds_itself_ends():
    loop = [1]
    loop.append(loop)
    assert identity(loop) == identity(loop)

    def endless(n):
        return n and endless(n - 1)

    assert identity(endless) == identity(endless)


def test_what_cannot_be_looked_into_is_named():
    found = Identifier()
    found.identity(Box(threading.Lock()))
    assert found.unknown == ["lock"]
    found = Identifier()
    logger = logging.getLogger("maximand")
    found.identity([Box(logger), lambda: logger, np.random.default_rng(0), range(3), slice(1)])
    assert not found.unknown


SAID = """
import numpy as np
from maximand.identity import identity
class Best:
    names = {"a", "b", "c", "d"}
    def __call__(self, theta): return len(self.names) * theta * np.sum(K)
K = np.arange(3)
print(identity([Best(), lambda theta: theta[:len({"x", "y", "z"})], Best().__call__]))
"""


def test_identities_are_the_same_in_every_process():
    said = {
        subprocess.run(
            [sys.executable, "-c", SAID], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(said) == 1


class Sloped(Cube):
    """A set of the user's that holds a long array."""

    def __init__(self, slopes):
        object.__setattr__(self, "slopes", slopes)

    def __repr__(self):
        return f"Sloped({self.slopes})"


def test_oracles_that_look_alike_share_neither_states_nor_planes(monkeypatch):
    examples = Examples(Choice(6, 3), Rows.single(np.eye(6)))
    batch = Batch(examples, Labels.single(np.arange(6) % 3, 3), ZeroOne(), np.ones(6))
    losses = [generated(Euclidean(Sloped(array)), "own") for array in (LONG, CHANGED)]
    assert len({repr(loss.penalty) for loss in losses}) == 1
    first, second = (Objective.of(batch, PerLabel(6, 3), loss, 0.1) for loss in losses)
    assert first.state_key(losses[0].penalty, PENALTY) != second.state_key(losses[1].penalty, PENALTY)
    assert origin(first)[1] != origin(second)[1]
    monkeypatch.setattr("maximand.losses.identity", lambda value: pytest.fail("it was known"))
    monkeypatch.setattr("maximand.objective.identity", lambda value: pytest.fail("it was known"))
    OneSlack(max_iterations=5).minimize(first)
