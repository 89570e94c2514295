"""Thinned products keep every member."""

from itertools import product

import pytest
from sklearn.dummy import DummyClassifier

import thinning
from thinning import cover, scikit_learn_checks, tries

PAIRS = list(product("abcd", range(3)))


@pytest.fixture(autouse=True)
def thinned(monkeypatch):
    monkeypatch.setattr(thinning, "EVERYTHING", False)


def test_each_member_occurs():
    taken = cover(PAIRS, set)
    assert len(taken) == 4
    assert {letter for letter, _ in taken} == set("abcd")
    assert {number for _, number in taken} == {0, 1, 2}


def test_members_may_be_pairs_and_combinations_may_have_none():
    triples = product("ab", range(3), "xy")
    taken = cover(triples, lambda triple: {triple[:2], triple[2]} if triple[0] == "a" else set())
    assert [triple[:2] for triple in taken] == [("a", 0), ("a", 1), ("a", 2)]
    assert {triple[2] for triple in taken} == {"x", "y"}


def test_everything_is_everything(monkeypatch):
    assert tries(30).max_examples == 8
    monkeypatch.setattr(thinning, "EVERYTHING", True)
    assert cover(iter(PAIRS), set) == PAIRS
    assert tries(30).max_examples == 30


def test_each_check_occurs_where_it_passes_and_where_it_fails(monkeypatch):
    estimators = [DummyClassifier(strategy="stratified"), DummyClassifier(strategy="uniform")]
    failing = {"check_fit2d_1feature": "an example"}

    def expected(estimator):
        return failing if estimator.strategy == "uniform" else {}

    def run(mark):
        cases = [(case, False) if type(case) is tuple else (case.values, True) for case in mark.args[1]]
        return {(check.func.__name__, fails) for (_, check), fails in cases}, len(cases)

    thinned, count = run(scikit_learn_checks(estimators, expected_failed_checks=expected))
    monkeypatch.setattr(thinning, "EVERYTHING", True)
    everything, whole = run(scikit_learn_checks(estimators, expected_failed_checks=expected))
    assert thinned == everything
    assert {("check_fit2d_1feature", False), ("check_fit2d_1feature", True)} <= thinned
    assert count < 0.6 * whole
