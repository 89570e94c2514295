"""Inputs: rows of a dense or CSR matrix, a run of them for each example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from maximand.caching import cached_property
from maximand.layout import take_runs
from maximand.numerics.laid_rows import LaidRows, some_rows
from maximand.support import Array, Ints


@dataclass(frozen=True)
class Rows:
    """Example i owns rows offsets[i]:offsets[i+1] of the matrix: a single row, its tokens, or its parts.

    `laid` has them as the block that reads them laid them out for many passes.
    """

    matrix: Any
    offsets: Ints
    laid: LaidRows | None = None

    @classmethod
    def single(cls, matrix: Array | csr_array) -> Rows:
        """Return inputs of one row for each example."""
        return cls(matrix, np.arange(matrix.shape[0] + 1))

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return self.offsets.size - 1

    def rows(self, kind: str) -> Rows:
        """Return these, whatever parts are to be scored."""
        return self

    @property
    def sparse(self) -> bool:
        """Whether the matrix is sparse."""
        return issparse(self.matrix)

    @property
    def n_bytes(self) -> int:
        """The memory that the matrix takes, and the rows as they are laid out."""
        matrix = self.matrix
        arrays = (matrix.data, matrix.indices, matrix.indptr) if self.sparse else (matrix,)
        return sum(array.nbytes for array in (*arrays, *(self.laid or ())))

    @cached_property
    def csr(self) -> csr_array:
        """The matrix in sparse form."""
        return self.matrix if self.sparse else csr_array(self.matrix)

    def take(self, examples: Ints | slice) -> Rows:
        """Return the inputs of some examples; a slice shares the memory, and is laid out where these are."""
        rows, offsets = take_runs(self.offsets, examples)
        laid = some_rows(self.laid, rows) if self.laid and isinstance(rows, slice) else None
        if not (self.sparse and isinstance(rows, slice)):
            return Rows(self.matrix[rows], offsets, laid)
        matrix = self.matrix
        pointers = matrix.indptr[rows.start : rows.stop + 1]
        low, high = pointers[0], pointers[-1]
        view = csr_array((rows.stop - rows.start, matrix.shape[1]))  # given arrays, the constructor would copy them
        view.indptr, view.indices, view.data = pointers - low, matrix.indices[low:high], matrix.data[low:high]
        return Rows(view, offsets, laid)

    def squared(self) -> Rows:
        """Return the rows of squares."""
        return Rows(self.matrix.power(2) if self.sparse else np.square(self.matrix), self.offsets)
