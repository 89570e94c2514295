"""The vocabulary of a `WindowVectorizer` as a table of integers: what sentences are looked up in when there are many.

Names are not unambiguous where values hold a `|`, which joins them: such sentences are looked up by the names.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple

import numpy as np

from maximand.numerics.windows import LONGEST, Windows, intern, window_columns
from maximand.support import Ints

HEAD = re.compile(r"(\d{1,9})\[(-?\d{1,9})(?::(-?\d{1,9}))?\]")
BEFORE, AFTER, JOINT = "<s>", "</s>", "|"
UNKNOWN = repeat(-1)


@dataclass(frozen=True, order=True)
class Head:
    """What stands before the = of a feature: a column, how many values there are, and where the first of them is."""

    column: int
    length: int
    first: int

    @classmethod
    def read(cls, text: str) -> Head | None:
        """Return the head that is written so, if any."""
        match = HEAD.fullmatch(text)
        if match is None:
            return None
        column, first = int(match[1]), int(match[2])
        head = cls(column, 1 if match[3] is None else int(match[3]) - first, first)
        return head if str(head) == text else None

    def __str__(self) -> str:
        place = f"{self.first}" if self.length == 1 else f"{self.first}:{self.first + self.length}"
        return f"{self.column}[{place}]"

    def fits(self, n_columns: int, window: int) -> bool:
        """Whether tokens have such a feature."""
        last = self.first + self.length - 1
        if self.column >= n_columns or not -window <= self.first <= last <= window:
            return False
        return self.length == 1 or (
            self.length == 2 and self.first <= 0 <= last if self.column == 0 else last - self.first < LONGEST
        )


class Numbered(NamedTuple):
    """A sentence as the numbers of its values, column by column, and the features that words have of their own."""

    length: int
    numbers: list[list[int]]
    own: list[list[int]]


@dataclass(frozen=True)
class Interned:
    """Features by the numbers of their values, and the numbers that values have: a table for each column.

    of_word(word), if given, lists the features that a word has of its own; `own` has those of words that are known.
    """

    source: tuple[Any, ...]
    numbers: tuple[dict[str, int], ...]
    window: int
    windows: Windows
    of_word: Callable[[str], list[int]] | None
    own: Mapping[str, list[int]]

    @classmethod
    def of(
        cls,
        vocabulary: Mapping[str, int],
        n_columns: int,
        window: int,
        affixes: int,
        of_word: Callable[[str], list[int]] | None,
    ) -> Interned:
        """Take the names of features apart."""
        numbers: tuple[dict[str, int], ...] = tuple({} for _ in range(n_columns))
        known: dict[str, Head | None] = {}
        listed: dict[Head, int] = {}
        rows, count = array("i"), 0
        for name, place in vocabulary.items():
            text, _, joined = name.partition("=")
            if text not in known:
                read = Head.read(text)
                known[text] = read if read is not None and read.fits(n_columns, window) else None
            head = known[text]
            if head is None:
                continue
            values = joined.split(JOINT)
            if len(values) != head.length:
                continue
            row = [listed.setdefault(head, len(listed)), place]
            own_numbers = numbers[head.column]
            for value in values:
                number = own_numbers.get(value)
                if number is None:
                    own_numbers[value] = number = count
                    count += 1
                row.append(number)
            rows.extend(row)
            rows.extend([-1] * (LONGEST - head.length))
        in_order = sorted(listed)
        slots = np.empty(len(listed), dtype=np.int32)
        slots[[listed[head] for head in in_order]] = np.arange(len(listed))
        names = np.array(rows, dtype=np.int32).reshape(-1, 2 + LONGEST)
        names[:, 0] = slots[names[:, 0]]
        windows = intern(names, count, np.array([head.first for head in in_order], dtype=np.int64))
        return cls(
            (vocabulary, len(vocabulary), n_columns, window, affixes),
            numbers,
            window,
            windows,
            of_word,
            {} if of_word is None else {word: of_word(word) for word in numbers[0]},
        )

    def is_of(self, vocabulary: Mapping[str, int], *source: int) -> bool:
        """Whether this was made of such a vocabulary, of as many names."""
        return self.source[0] is vocabulary and self.source[1:] == (len(vocabulary), *source)

    def numbered(self, sentence: Sequence[Any]) -> Numbered | None:
        """Return the numbers of values, -1 where not known; None where the names are needed."""
        kinds, width = set(map(type, sentence)), len(self.numbers)
        if kinds == {str} and width == 1:
            columns: list[Sequence[Any]] = [sentence]
        elif kinds in ({tuple}, {list}) and set(map(len, sentence)) == {width}:
            columns = list(zip(*sentence, strict=True))
        else:
            return None
        for values in columns:
            if set(map(type, values)) != {str} or JOINT in "".join(values):
                return None
        known, of_word, own = self.own, self.of_word, []
        if of_word is not None:
            own = [known[word] if word in known else of_word(word) for word in columns[0]]
        found = [list(map(each.get, values, UNKNOWN)) for values, each in zip(columns, self.numbers, strict=True)]
        return Numbered(len(sentence), found, own)

    def columns(self, sentences: list[Numbered]) -> tuple[Ints, Ints]:
        """Return the columns of the features of all tokens, and where those of each token end."""
        joined = chain.from_iterable
        numbers = np.array(
            [list(joined(s.numbers[c] for s in sentences)) for c in range(len(self.numbers))], dtype=np.int32
        )
        offsets = np.array([0, *accumulate(s.length for s in sentences)], dtype=np.int64)
        before, after = (
            np.array([known.get(mark, -1) for known in self.numbers], dtype=np.int32) for mark in (BEFORE, AFTER)
        )
        own = list(joined(s.own for s in sentences))
        starts = np.array([0, *accumulate(map(len, own))] if own else [], dtype=np.int64)
        listed = np.array(list(joined(own)), dtype=np.int32)
        return window_columns(numbers, before, after, self.window, offsets, self.windows, listed, starts)
