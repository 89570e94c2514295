"""Where no output is legal, or none agrees with the annotation, that is said before training and at prediction."""

from dataclasses import replace

import numpy as np
import pytest
from cases import CASES, NAMES

from maximand import SequenceTagger, StructuredPredictor, TaggingTask, bioes
from maximand.losses import BRIDGE, CRF, EUCLIDEAN, HINGE
from maximand.spaces import Annotations, Parts, Sizes


def impossible(annotation):
    """The annotation of which the last example has a slot without any label, or more parts than an output has."""
    if isinstance(annotation, Annotations):
        return Annotations((impossible(annotation.factors[0]), *annotation.factors[1:]))
    if isinstance(annotation, Parts):
        psi = annotation.psi.copy()
        psi[annotation.offsets[-2] :] = [1, 1, 1, *[-1] * (int(np.diff(annotation.offsets)[-1]) - 3)]
        return replace(annotation, psi=psi)
    codes = annotation.codes.copy()
    codes[annotation.offsets[-2]] = -2 - len(annotation.candidates)
    nothing = np.zeros((1, annotation.n_labels), dtype=bool)
    known = annotation.candidates.reshape(-1, annotation.n_labels)
    return replace(annotation, codes=codes, candidates=np.concatenate([known, nothing]))


@pytest.mark.parametrize("loss", [HINGE, BRIDGE, CRF, EUCLIDEAN], ids=lambda loss: loss.name)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_annotations_that_no_output_agrees_with_are_refused_before_training(case, loss):
    if not case.answers(loss):
        return
    case.objective(loss, case.partial)
    n = case.space.n_examples
    with pytest.raises(ValueError, match=f"No legal output agrees with the annotation of example {n - 1};"):
        case.objective(loss, impossible(case.full))


def test_sizes_that_no_set_has_are_refused():
    case = CASES[NAMES.index("subset, 1 to 2 of 4")]
    codes = np.where(np.arange(20) < 16, case.full.codes, -1)
    sizes = Sizes(codes, case.full.offsets, 2, least=np.array([0, 0, 0, 0, 3]), most=np.full(5, 4))
    with pytest.raises(ValueError, match="No legal output agrees with the annotation of example 4;"):
        case.objective(HINGE, sizes)


X = [np.eye(2)[[0, 1, 1]], np.eye(2)[[0, 1]], np.eye(2)[[1]]]
BEGUN = [["B-x", "I-x", "E-x"], ["B-x", "E-x"]]


@pytest.mark.parametrize("loss", ["hinge", "crf", "ramp", "euclidean"])
def test_candidates_that_break_a_scheme_are_named(loss):
    Y = [["B-x", "I-x", "E-x"], [{"I-x", "E-x"}, "E-x"], ["S-x"]]
    with pytest.raises(ValueError, match="No legal output agrees with the annotation of example 1;"):
        SequenceTagger(loss=loss, scheme="BIOES").fit(X, Y)


@pytest.mark.parametrize("loss", ["hinge", "crf"])
def test_sequences_without_a_legal_path_are_named(loss):
    with pytest.raises(ValueError, match="There is no legal output for example 2: the rules of the Chain forbid all"):
        SequenceTagger(loss=loss, scheme="BIOES").fit(X, [*BEGUN, [None]])
    model = SequenceTagger(loss=loss, scheme="BIOES").fit(X[:2], BEGUN)
    with pytest.raises(ValueError, match="There is no legal output for example 2: the rules"):
        model.predict(X)
    with pytest.raises(ValueError, match="There is no legal output for example 3: the rules"):
        model.predict([np.empty((0, 2)), *X])
    general = StructuredPredictor(TaggingTask(legality=bioes), loss=loss).fit(X[:2], BEGUN)
    with pytest.raises(ValueError, match="There is no legal output for example 2: the rules"):
        general.predict(X)
