"""The record of a case: a small batch, with everything that the laws ask about it."""

from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from feature_maps import one_row
from python_entries import room_for, score_stencils, write_stencils

from maximand.batch import Batch
from maximand.capabilities import Can
from maximand.costs import Cost
from maximand.features import Examples
from maximand.numerics.lowering import by_label
from maximand.objective import Objective
from maximand.spaces import Annotations, Labels, OutputSpace, Parts


def offsets_of(outputs):
    return np.concatenate([[0], np.cumsum([np.size(output) for output in outputs])])


def labels(n_labels, outputs, weights=None):
    """The annotation that gives each slot its label, from a label or a list of labels for each example."""
    return Labels(np.hstack(outputs), offsets_of(outputs), n_labels, weights=weights)


def choices(n_labels, outputs, candidates):
    """The same, where -1 stands for any label, and -2 and below for one of a row of candidates."""
    return replace(labels(n_labels, outputs), candidates=np.array(candidates, dtype=bool))


def parts(outputs):
    """The annotation that says of each part of each example how often it occurs."""
    return Parts(np.hstack(outputs).astype(float), offsets_of(outputs))


def annotations(*factors):
    return Annotations(factors)


NO_SLOTS = np.arange(0)


@singledispatch
def forgotten(annotation, slots, ambiguous=NO_SLOTS):
    """An annotation that says nothing of some slots, and leaves each ambiguous one the choice between two labels."""
    raise TypeError(f"Say in record.py what is partly known of {type(annotation).__name__}.")


@forgotten.register
def _(annotation: Labels, slots, ambiguous=NO_SLOTS):
    codes, k = annotation.codes.copy(), annotation.n_labels
    own = codes[ambiguous]
    codes[slots] = -1
    codes[ambiguous] = -2 - np.arange(len(ambiguous))
    candidates = np.eye(k, dtype=bool)[own] | np.eye(k, dtype=bool)[(own + 1) % k]
    return replace(annotation, codes=codes, candidates=candidates)


@forgotten.register
def _(annotation: Parts, slots, ambiguous=NO_SLOTS):
    psi = annotation.psi.copy()
    psi[slots] = psi[ambiguous] = -1
    return replace(annotation, psi=psi)


def unknown(annotation):
    """The annotation that says nothing."""
    if isinstance(annotation, Annotations):
        return Annotations(tuple(map(unknown, annotation.factors)))
    return forgotten(annotation, np.arange(annotation.offsets[-1]))


def partly_known(annotation, all_or_nothing=False, turn=0):
    """The annotation less some slots of the second example, one of the third, all of the fourth; the first stays.

    One slot of the third keeps two candidates. In a product each factor begins one example later.
    """
    if isinstance(annotation, Annotations):
        return Annotations(tuple(partly_known(one, all_or_nothing, f) for f, one in enumerate(annotation.factors)))
    owned = [np.arange(*own) for own in zip(annotation.offsets[:-1], annotation.offsets[1:], strict=True)]
    second, third, fourth = (owned[(i + turn) % len(owned)] for i in (1, 2, 3))
    if all_or_nothing:
        return forgotten(annotation, np.concatenate([second, fourth]))
    nothing = fourth if len(owned) > 3 else NO_SLOTS
    return forgotten(annotation, np.concatenate([second[::2], third[1:2], nothing]), third[:1])


@dataclass(frozen=True, eq=False)
class Case:
    """A space, what is known of its outputs, the costs it takes and the function that makes its scores linear.

    The function takes a random generator and the case and returns inputs and a feature map. What is not given is
    derived: what is partly known unless it takes another class to say it, what is unknown, and what a space can do.
    """

    name: str
    space: OutputSpace
    full: Any
    costs: list[Cost]
    linear_map: Any = one_row
    partial: Any = None
    all_or_nothing: bool = False  # whether its costs ask for every slot of an example or for none

    def __post_init__(self):
        if self.partial is None:
            object.__setattr__(self, "partial", partly_known(self.full, self.all_or_nothing))

    @cached_property
    def unknown(self):
        return unknown(self.full)

    @cached_property
    def _linear(self):
        return self.linear_map(np.random.default_rng(0), self)

    @property
    def inputs(self):
        return self._linear[0]

    @property
    def examples(self):
        return Examples(self.space, self.inputs)

    @property
    def features(self):
        return self._linear[1]

    @property
    def soft(self):
        """Whether the space has marginals."""
        return Can.MARGINALS in self.space.can

    @property
    def kind(self):
        """Cases of one kind differ in sizes, annotations and costs alone: to a solver they are alike."""
        first, *_ = self.space.layout.kinds
        return type(self.features), self.inputs.rows(first.name).sparse, type(self.space)

    def answers(self, loss):
        """Whether the space can answer what the loss asks."""
        return not loss.needs & ~self.space.can

    def theta(self, rng):
        return rng.normal(size=self.space.n_parts) * 2

    def weights(self, rng):
        return rng.normal(size=self.features.n_weights)

    def scores(self, weights, examples=None):
        some = self.examples if examples is None else self.examples.take(examples)
        return self.features.scores(some, self.features.expand(weights))

    def part_scores(self, weights):
        """The function that scores some parts of an example, numbered among its own, from their rows alone."""
        rows = self.features.stencils(self.examples)
        ordered = by_label(rows.blocks, weights)

        def scores_of(example, own):
            scores, room = np.empty(own.size), write_stencils(rows, example, own, own.size, room_for(rows, 1))
            score_stencils(own.size, room, rows.dense, ordered, scores)
            return scores

        return scores_of

    def sums(self, mean):
        """The transpose of `scores`."""
        sums = np.zeros(self.features.n_expanded)
        self.features.add_sums(self.examples, mean, sums)
        return self.features.reduce(sums)

    def singles(self):
        """Yield each example as a slice and as a batch of its own."""
        for i in range(self.space.n_examples):
            yield slice(i, i + 1), self.space.take(slice(i, i + 1))

    def batch(self, annotation=None, cost=None, examples=None):
        annotation = self.full if annotation is None else annotation
        batch = Batch(self.examples, annotation, cost or self.costs[0], np.ones(self.space.n_examples))
        return batch if examples is None else batch.take(examples)

    def objective(self, loss, annotation=None, regularization=0.05, cost=None, examples=None, **settings):
        batch = self.batch(annotation, cost, examples)
        return Objective.of(batch, self.features, loss, regularization, **settings)
