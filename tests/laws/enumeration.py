"""Outputs of small spaces one by one: which of them agree with an annotation, and where their parts are."""

import numpy as np

from maximand.spaces import Annotations, Orders, Parts, Sizes


def scores_of(outputs, theta):
    return (outputs * np.where(outputs != 0, theta, 0.0)).sum(axis=1)


def enumerated(case, theta, keep):
    """Yield for each example its single space, slice of theta and the outputs that `keep` lets through."""
    for examples, one in case.singles():
        parts = part_places(case.space, examples)
        outputs = one.outputs()
        yield one, parts, outputs[keep(one, outputs, examples)]


def part_places(space, examples):
    """The places in a batch vector of the parts of some examples, in the order of their own batch."""
    mask = space.layout.scale(
        np.ones(space.n_parts), np.isin(np.arange(space.n_examples), np.r_[examples]).astype(float)
    )
    return np.flatnonzero(mask)


def agrees(annotation):
    def keep(one, outputs, examples):
        return agreeing(one, outputs, annotation.take(examples))

    return keep


def agreeing(one, outputs, annotation):
    """Which outputs of a batch of one agree with its annotation, read off their decoded form."""
    if isinstance(annotation, Annotations):
        parts = np.split(outputs, np.cumsum([space.n_parts for space in one.factors])[:-1], axis=1)
        found = zip(one.factors, parts, annotation.factors, strict=True)
        return np.logical_and.reduce([agreeing(space, rows, part) for space, rows, part in found])
    if isinstance(annotation, Parts):
        return ((annotation.psi < 0) | (outputs == annotation.psi)).all(axis=1)
    labels = [np.atleast_1d(one.decode(row)[0]) for row in outputs]
    allowed, slots = annotation.allowed_nodes, np.arange(annotation.codes.size)
    agree = np.array([allowed[slots, own].all() for own in labels], dtype=bool)
    if isinstance(annotation, Sizes):
        agree &= [annotation.least[0] <= own.sum() <= annotation.most[0] for own in labels]
    if isinstance(annotation, Orders):
        agree &= [in_order(own, annotation.groups[0]) for own in labels]
    return agree


def in_order(positions, groups):
    pairs = [(a, b) for a in range(groups.size) for b in range(groups.size) if 0 <= groups[a] < groups[b]]
    return all(positions[a] < positions[b] for a, b in pairs)


def contradicts(annotation):
    return lambda *arguments: ~agrees(annotation)(*arguments)


def everything(one, outputs, examples):
    return np.ones(len(outputs), dtype=bool)
