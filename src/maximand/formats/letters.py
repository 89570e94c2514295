"""Taskar's letter.data: a handwritten letter on each line, `id letter next_id word_id position fold` and 128 pixels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from maximand.formats.errors import show
from maximand.formats.fields import integer, one_line
from maximand.formats.records import Record
from maximand.formats.sources import MAX_BYTES, Lines, Source, Target, open_lines, open_writer
from maximand.support import Ints

N_PIXELS = 128


@dataclass(frozen=True, eq=False)
class Word(Record):
    """A handwritten word: its letters, their pixels (n_letters, 128; 16 rows of 8 each), their ids, its id and fold."""

    letters: str
    pixels: Ints
    ids: tuple[int, ...]
    word_id: int
    fold: int


def read_letters(source: Source, *, max_bytes: int = MAX_BYTES) -> Iterator[Word]:
    """Iterate over words. Each letter names the id of the next, the last one -1; positions count from 1."""
    with open_lines(source, max_bytes=max_bytes) as lines:
        letters, ids, pixels, awaited = list[str](), list[int](), list[bytes](), list[int]()
        for row in lines.rows():
            letter, (own, following, *place), image = _letter(lines, row)
            word_id, position, fold = place
            awaited = awaited or [own, word_id, 1, fold]
            if [own, *place] != awaited:
                raise lines.error(f"id, word_id, position, fold are {[own, *place]} where the word needs {awaited}.")
            letters.append(letter)
            ids.append(own)
            pixels.append(image)
            awaited = [following, word_id, position + 1, fold]
            if following == -1:
                images = np.frombuffer(b"".join(pixels), dtype=np.uint8).reshape(-1, N_PIXELS)
                yield Word("".join(letters), images, tuple(ids), word_id, fold)
                lines.forget()
                letters, ids, pixels, awaited = [], [], [], []
        if ids:
            raise lines.error("the file ends inside a word; the last letter of a word has next_id -1.")


def write_letters(words: Iterable[Word], target: Target) -> None:
    """Write words."""
    with open_writer(target) as file:
        for word in words:
            following = (*word.ids[1:], -1)
            for t, (letter, image) in enumerate(zip(word.letters, word.pixels.tolist(), strict=True)):
                place = (word.ids[t], one_line(letter, "A letter", "\t"), following[t], word.word_id, t + 1, word.fold)
                file.write("\t".join(map(str, (*place, *image))) + "\n")


def _letter(lines: Lines, row: str) -> tuple[str, list[int], bytes]:
    """Return the letter, its five numbers and its pixels."""
    fields = row.rstrip("\t").split("\t")
    if len(fields) != 6 + N_PIXELS or not {*fields[6:]} <= {"0", "1"}:
        raise lines.error(f"a letter needs six columns and {N_PIXELS} pixels, each 0 or 1, separated by tabs.")
    letter = fields.pop(1)
    if len(letter) != 1:
        raise lines.error(f"the letter is {show(letter)}; it must be one character.")
    names = ("id", "next_id", "word_id", "position", "fold")
    numbers = [integer(lines, text, name, -1) for text, name in zip(fields, names, strict=False)]
    return letter, numbers, bytes(map(int, fields[5:]))
