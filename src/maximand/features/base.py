"""The contract of a feature map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from maximand.caching import cached_property
from maximand.features.blocks import Block
from maximand.features.inputs import Examples, Inputs
from maximand.features.row_block import RowBlock
from maximand.numerics.lowering import DENSE, Stencils, lower
from maximand.support import Array

SPREAD = 8  # inputs of an eighth of the size of the weights are scored about as soon without expanding these as with it


class FeatureMap(ABC):
    """A linear map from weights to scores of parts, theta = A_x w: a sum of blocks, whose weights follow each other.

    Sums work on the weights in an expanded form, which may have room for more: `expand` and `reduce` translate. They
    are called once a pass, the others once a chunk. Scores take weights in either form, which their number tells.
    """

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The summands."""

    @cached_property
    def n_weights(self) -> int:
        """The number of weights."""
        return sum(block.n_weights for block in self.blocks)

    @cached_property
    def n_expanded(self) -> int:
        """Their number in expanded form."""
        return sum(block.n_expanded for block in self.blocks)

    @property
    def nonnegative(self) -> slice:
        """The weights that may not be negative; by default none."""
        return slice(0, 0)

    def without_edges(self, examples: Examples) -> tuple[FeatureMap, Examples] | None:
        """Return the map whose weights are the first of these, and the examples without edges; None without any."""
        return None

    def check(self) -> None:
        """Refuse indices that point outside: the kernels trust them. Maps without indices have nothing to check."""
        return

    @cached_property
    def _slices(self) -> list[tuple[Block, slice, slice]]:
        """Each block with its weights and their expanded form."""
        found, start, expanded = [], 0, 0
        for block in self.blocks:
            stop, end = start + block.n_weights, expanded + block.n_expanded
            found.append((block, slice(start, stop), slice(expanded, end)))
            start, expanded = stop, end
        return found

    def block_of(self, weight: int) -> tuple[Block, int]:
        """Return the block that a weight belongs to, and its number there."""
        block, own, _ = next(piece for piece in self._slices if weight < piece[1].stop)
        return block, weight - own.start

    def expand(self, weights: Array) -> Array:
        """Return the weights in expanded form, by which scores are made faster."""
        if weights.size == self.n_expanded:
            return weights
        expanded = np.empty(self.n_expanded)
        for block, own, room in self._slices:
            block.expand(weights[own], expanded[room])
        return expanded

    def prepared(self, weights: Array, inputs: Inputs) -> Array:
        """Return the weights in the form in which they and the scores of these inputs are there soonest."""
        return weights if SPREAD * inputs.n_bytes < weights.nbytes else self.expand(weights)

    def reduce(self, sums: Array) -> Array:
        """Return sums in the form of the weights: the transpose of `expand`."""
        if self.n_expanded == self.n_weights:
            return sums
        reduced = np.empty(self.n_weights)
        for block, own, room in self._slices:
            block.reduce(sums[room], reduced[own])
        return reduced

    def pieces(self, weights: Array) -> list[tuple[Block, Array]]:
        """Return each block with its weights, in the form that they have."""
        expanded = weights.size == self.n_expanded
        return [(block, weights[room if expanded else own]) for block, own, room in self._slices]

    def laid_out(self, examples: Examples) -> Examples:
        """Return the same examples for many passes: the inputs as the one block of rows reads them soonest."""
        of_rows = [block for block in self.blocks if isinstance(block, RowBlock)]
        return replace(examples, inputs=of_rows[0].laid_out(examples.inputs)) if len(of_rows) == 1 else examples

    def scores(self, examples: Examples, weights: Array) -> Array:
        """Return theta = A_x w; scores of shared kinds once."""
        layout = examples.space.layout
        theta, written = np.empty(layout.n_scores), set()
        for block, own in self.pieces(weights):
            block.write_scores(examples.inputs, own, layout.view(theta, block.kind), add=block.kind in written)
            written.add(block.kind)
        for kind in layout.kinds:
            if kind.name not in written:
                layout.view(theta, kind.name)[:] = 0.0
        return theta

    def add_sums(self, examples: Examples, mean: Array, out: Array) -> None:
        """Add A_x' mean to sums in expanded form."""
        for block, _, room in self._slices:
            block.add_sums(examples.inputs, examples.space.layout.view(mean, block.kind), out[room])

    def move(self, examples: Examples, change: Array, expanded: Array) -> None:
        """Add A_x' change to expanded weights; room without a weight stays zero."""
        for block, _, room in self._slices:
            own = examples.space.layout.view(change, block.kind)
            block.add_sums(examples.inputs, own, expanded[room])
            if block.n_expanded > block.n_weights:
                block.clear(examples.inputs, own, expanded[room])

    def stencils(self, examples: Examples) -> Stencils:
        """Return what stencils are made of, one for each part: for solvers that keep planes of single examples."""
        layout, lowered, dense = examples.space.layout, [], set()
        numbers = {kind.name: number for number, kind in enumerate(layout.kinds)}
        for block, own, _ in sorted(self._slices, key=lambda piece: numbers[piece[0].kind]):
            record = block.lowered(examples.inputs, dense=block.kind not in dense)
            if record.source == DENSE:
                dense.add(block.kind)
            lowered.append((numbers[block.kind], own.start, record))
        return lower(layout.sizes, lowered)


class SumOfBlocks(FeatureMap):
    """The map made of given blocks, for spaces with any kinds of parts."""

    def __init__(self, *blocks: Block):
        self._blocks = blocks

    @property
    def blocks(self) -> tuple[Block, ...]:
        """As given."""
        return self._blocks
