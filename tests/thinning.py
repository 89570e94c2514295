"""How much of a product the tests run: enough that each member occurs in it, or everything (`make test-all`)."""

import os
from collections import Counter

import pytest
from hypothesis import settings
from sklearn.utils.estimator_checks import parametrize_with_checks

EVERYTHING = bool(os.environ.get("MAXIMAND_TEST_ALL"))


def cover(combinations, members):
    """Return few combinations in which each member of any of them occurs; all of them where everything is run.

    The combination with most members that have not occurred yet is taken next; among equals the one whose members
    have occurred least often, then the first. Out of a product the diagonal is taken before a row.
    """
    combinations = list(combinations)
    if EVERYTHING:
        return combinations
    own, occurred, taken = [members(combination) for combination in combinations], Counter(), []

    def promise(i):
        return sum(member not in occurred for member in own[i]), -sum(occurred[member] for member in own[i])

    while promise(best := max(range(len(own)), key=promise))[0]:
        taken.append(best)
        occurred.update(own[best])
    return [combinations[i] for i in sorted(taken)]


def tries(count):
    """Return settings with so many generated examples where everything is run, and a quarter of them elsewhere."""
    return settings(max_examples=count if EVERYTHING else -(-count // 4), deadline=None)


def scikit_learn_checks(estimators, **settings):
    """Return the mark that runs scikit-learn's checks: thinned, each check with one of the estimators."""

    def members(case):
        (estimator, check), marks = (case, ()) if type(case) is tuple else (case.values, case.marks)
        return {str(estimator.get_params()), (check.func.__name__, repr(check.keywords), bool(marks))}

    every = parametrize_with_checks(estimators, **settings).mark
    names, cases = every.args
    return pytest.mark.parametrize(names, cover(cases, members), **every.kwargs)
