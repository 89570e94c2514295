"""Checks for what others write: oracles and estimators."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from maximand.spaces import OracleSpace, OutputSpace
from maximand.support import Array


class OracleError(AssertionError):
    """An oracle broke its contract; the message holds the counter-example."""


def check_oracle(
    oracle: OutputSpace | Callable[[Array, Any], Any],
    instances: Sequence[Any] = (None,),
    *,
    outputs: Callable[[Any], Iterable[Any]] | None = None,
    encode: Callable[[Any, Any], Any] | None = None,
    trials: int = 100,
    random_state: int = 0,
) -> None:
    """Compare an argmax with brute force on random scores; raise OracleError with the first counter-example.

    oracle: a space whose examples can be enumerated, or a function `argmax(theta, instance) -> y`. A function needs
    small `instances` and `outputs(instance)`, which lists all of their outputs, and `encode(y, instance)` where an
    output is not its own vector of part counts.

    Found are outputs that do not exist, outputs that are not the best (with large, tied, negative and forbidden
    scores too), and answers that change from call to call or change the scores they were given.
    """
    if isinstance(oracle, OutputSpace):
        space = oracle
    else:
        if outputs is None:
            raise ValueError("check_oracle compares with all outputs; give outputs=, a function of the instance.")
        space = _space_of(oracle, instances, outputs, encode)
    rng = np.random.default_rng(random_state)
    for i in range(space.n_examples):
        one = space.take(slice(i, i + 1))
        everything = one.outputs()
        for trial in range(trials):
            theta = _scores(rng, trial, everything)
            _compare(one, i, theta, everything)


def _space_of(argmax: Any, instances: Sequence[Any], outputs: Any, encode: Any) -> OracleSpace:
    counted = encode or (lambda y, instance: y)
    sizes = []
    for i, instance in enumerate(instances):
        first = next(iter(outputs(instance)), None)
        if first is None:
            raise ValueError(f"outputs(instances[{i}]) is empty; every instance needs at least one output.")
        sizes.append(np.asarray(counted(first, instance)).size)
    return OracleSpace(argmax, instances, sizes, encode, outputs)


def _scores(rng: np.random.Generator, trial: int, everything: Array) -> Array:
    """Return scores of several kinds: normal, large, integers with ties, all negative, some forbidden, all zero."""
    theta = np.asarray(rng.normal(size=everything.shape[1]))
    match trial % 6:
        case 1:
            theta = theta * 1e6
        case 2:
            theta = np.round(theta)
        case 3:
            theta = -np.abs(theta)
        case 4:
            spared = everything[rng.integers(len(everything))] > 0
            theta[(rng.random(theta.size) < 0.3) & ~spared] = -np.inf
        case 5 if trial == 5:
            theta[:] = 0.0
    return theta


def _compare(one: OutputSpace, i: int, theta: Array, everything: Array) -> None:
    def complain(what: str, psi: Array) -> None:
        raise OracleError(
            f"{what}\n  instance: {i}\n  scores:   {np.array2string(theta, precision=17)}\n  answer:   {psi}\n"
            f"  best:     {everything[np.argmax(values)]} with score {values.max():.17g}"
        )

    values = (everything * np.where(everything != 0, theta, 0.0)).sum(axis=1)
    given = theta.copy()
    first = one.argmax(given).mean
    again = one.argmax(theta.copy()).mean
    if not np.array_equal(given, theta):
        complain("The oracle changed the scores that it was given.", first)
    if not (everything == first).all(axis=1).any():
        complain("The oracle returned an output that is not among all outputs.", first)
    if not np.array_equal(first, again):
        complain("The oracle is not deterministic: asked again, it returned another output.", first)
    found = float((first * np.where(first != 0, theta, 0.0)).sum())
    scale = float(np.abs(np.where(np.isfinite(theta), theta, 0.0)).sum()) + 1.0
    if not found >= values.max() - 1e-9 * scale:
        complain(f"The oracle is wrong: its output has score {found:.17g}, not the best.", first)


def check_sequence_estimator(estimator: Any, random_state: int = 0) -> None:
    """Check that an estimator of tag sequences behaves as one expects of scikit-learn's; raise on the first failure.

    It must clone, keep its parameters, refuse to predict before it is fitted, refuse NaN and lengths that disagree,
    be deterministic, survive pickling, accept string, integer and unknown tags, treat a weight of two like a
    repeated sequence, ignore the order of prediction, and learn an easy problem.
    """
    rng = np.random.default_rng(random_state)
    lengths = rng.integers(1, 8, size=40)
    X = [rng.normal(size=(length, 4)) for length in lengths]
    Y = [np.where(x[:, 0] > 0, "up", "down") for x in X]

    fresh = clone(estimator)
    before = repr(fresh.get_params())
    _must_raise((NotFittedError,), lambda: fresh.predict(X), "predict before fit")
    fitted = fresh.fit(X, Y)
    _require(fitted is fresh, "fit must return self")
    _require(repr(fresh.get_params()) == before, "fit must not change parameters")
    _require(sorted(fitted.classes_) == ["down", "up"], "classes_ must hold the tags")
    predicted = fitted.predict(X)
    _require([len(tags) for tags in predicted] == lengths.tolist(), "one tag for each token")
    _require(fitted.score(X, Y) > 0.9, "an easy problem must be learnt")
    _same(clone(estimator).fit(X, Y).predict(X), predicted, "fitting twice must give the same predictions")
    _same(pickle.loads(pickle.dumps(fitted)).predict(X), predicted, "pickling must keep predictions")
    _same(fitted.predict(X[::-1])[::-1], predicted, "predictions must not depend on their order")
    _same([fitted.predict([x])[0] for x in X], predicted, "predictions must not depend on the batch")

    codes = [np.where(y == "up", 1, 0) for y in Y]
    _same(
        [np.where(t == 1, "up", "down") for t in clone(estimator).fit(X, codes).predict(X)],
        predicted,
        "integer tags",
    )
    masked = [[None if rng.random() < 0.3 else tag for tag in y] for y in Y]
    _require(clone(estimator).fit(X, masked).score(X, Y) > 0.8, "unknown tags must be accepted")

    twice = clone(estimator).fit(X + X[:10], Y + Y[:10]).predict(X)
    weighted = clone(estimator).fit(X, Y, sample_weight=np.r_[np.full(10, 2.0), np.ones(30)]).predict(X)
    agreement = np.mean(np.concatenate(twice) == np.concatenate(weighted))
    _require(agreement > 0.97, "a weight of two must act like a repeated sequence")

    broken = [x.copy() for x in X]
    broken[3][0, 0] = np.nan
    _must_raise((ValueError,), lambda: clone(estimator).fit(broken, Y), "NaN features")
    _must_raise((ValueError,), lambda: clone(estimator).fit(X, [*Y[:5], Y[5][:-1], *Y[6:]]), "lengths that disagree")
    _must_raise((ValueError,), lambda: clone(estimator).fit(X, Y[:-1]), "fewer tag sequences than inputs")
    _must_raise((ValueError,), lambda: clone(estimator).fit([], []), "no data")
    _must_raise((ValueError,), lambda: fitted.predict([np.zeros((2, 3))]), "another number of features")


def _require(condition: bool, law: str) -> None:
    if not condition:
        raise AssertionError(f"The estimator broke this rule: {law}.")


def _same(first: Sequence[Any], second: Sequence[Any], law: str) -> None:
    _require(all(np.array_equal(a, b) for a, b in zip(first, second, strict=True)), law)


def _must_raise(kinds: tuple[type[Exception], ...], action: Callable[[], Any], what: str) -> None:
    try:
        action()
    except kinds:
        return
    raise AssertionError(f"The estimator must refuse {what} with {' or '.join(kind.__name__ for kind in kinds)}.")
