"""The examples run without warnings and show what they promise."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"


def numbers(line):
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


def ramp_beats_hinge(lines):
    hinge, ramp = (numbers(line)[0] for line in lines)
    assert 0.8 < hinge < ramp


def candidates_suffice(lines):
    known, ambiguous = (numbers(line)[0] for line in lines[1:])
    assert 0.85 < ambiguous <= known


def spans_are_found(lines):
    assert "/B-PER" in lines[0] and "/B-LOC" in lines[0]
    assert numbers(lines[1])[0] > 0.85


def chains_help(lines):
    assert len(lines) == 3
    for line in lines:
        tagger, alone = numbers(line)
        assert tagger > alone > 0.5


def chances_and_ranks(lines):
    assert sum(numbers(lines[0])) == pytest.approx(1.0, abs=0.01)
    scores = [numbers(line)[0] for line in lines[1:4]]
    assert scores == sorted(scores, reverse=True)
    best, calibrated = (numbers(line)[0] for line in lines[4:])
    assert calibrated < best


def matchings_are_learnt(lines):
    assert "certified: True" in lines[1]
    assert numbers(lines[2])[0] > 0.6


def smaller_sets_rank_better(lines):
    hull, entropic, rows, cube, squared = (numbers(line)[0] for line in lines[:5])
    assert min(hull, entropic) > rows > cube > squared > 0.5
    assert 0.5 < numbers(lines[5])[0] < hull
    matrix = np.array([numbers(line) for line in lines[7:12]])
    np.testing.assert_allclose([matrix.sum(axis=0), matrix.sum(axis=1)], 1.0, atol=0.03)


def the_run_goes_on(lines):
    assert lines[0].startswith("interrupted")
    resumed, whole = re.findall(r"\d+", lines[1])
    assert resumed == whole
    assert lines[2].endswith("True") and lines[3].endswith("True")


def a_good_model_is_chosen(lines):
    assert "classify__loss" in lines[0]
    assert min(numbers(lines[1])) > 0.9


def pairs_of_labels_help(lines):
    apart, *together = (numbers(line)[0] for line in lines)
    assert len(together) == 4
    assert max(together) < apart
    assert [("certificate" in line) for line in lines[1:]] == [True, True, False, False]


def graphs_beat_pixels(lines):
    pixels, graphs, partly = (numbers(line)[0] for line in lines[:3])
    assert pixels < 0.85 < partly <= graphs


def missing_labels_are_no_obstacle(lines):
    assert [line.split(":")[0] for line in lines] == ["completes", "sums, large margin", "sums, likelihood"]
    assert min(min(numbers(line)) for line in lines) > 0.75


EXPECTED = {
    "label_sets": pairs_of_labels_help,
    "graph_labels": graphs_beat_pixels,
    "missing_labels": missing_labels_are_no_obstacle,
    "noisy_labels": ramp_beats_hinge,
    "candidate_labels": candidates_suffice,
    "tagging_words": spans_are_found,
    "partial_tags": chains_help,
    "probabilities": chances_and_ranks,
    "own_oracle": matchings_are_learnt,
    "rankings": smaller_sets_rank_better,
    "checkpoint_and_resume": the_run_goes_on,
    "grid_search": a_good_model_is_chosen,
}


def test_every_example_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_example(name, capsys):
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    EXPECTED[name](capsys.readouterr().out.splitlines())
