"""Data files: their formats, what is known of them before they are read, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from maximand.cards.options import Option, Options
from maximand.formats import Attribute


@dataclass(frozen=True)
class Dataset:
    """Unlabelled and outputs as an estimator takes them, and the name of their file.

    `labels` are all that occur, where the format knows them before the estimator does; `columns` those of X, where the
    file describes them; `decided` what this file has decided for all later ones, which the model keeps.
    """

    source: str
    X: Any
    y: Any
    labels: tuple[Any, ...] = ()
    columns: tuple[Attribute, ...] = ()
    decided: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Unlabelled:
    """Inputs to predict for, and how they stood in the file where predictions repeat that."""

    X: Any
    shown: Any = None


@dataclass(frozen=True)
class Known:
    """What is known of a file before it is read: from the model that it is for, or from the training data.

    It may be in any of `formats`; none where nothing is known.
    """

    formats: tuple[Format, ...] = ()
    n_features: int | None = None
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    model: Any = None
    decided: Mapping[str, Any] = field(default_factory=dict)


NOTHING_KNOWN = Known()


def _always(_: Any) -> bool:
    return True


@dataclass(frozen=True)
class Format:
    """A file format as an estimator takes it: its name, and what it holds in the words of messages.

    read(source, known, options): a data set, with the values of the format's own options. unlabelled(source, known,
    options): inputs alone, in batches; None where files to predict for are like those to learn from.
    recognises(source): of several formats whose names end alike, the first that recognises the file is meant.
    fits(model): whether a fitted model takes such files.
    variant_of: the format that this one stands for where a model wants it; names of files do not tell them apart.
    """

    name: str
    content: str
    read: Callable[[str, Known, Options], Dataset]
    suffixes: tuple[str, ...] = ()
    unlabelled: Callable[[str, Known, Options], Iterator[Unlabelled]] | None = None
    recognises: Callable[[str], bool] = _always
    fits: Callable[[Any], bool] = _always
    variant_of: str | None = None
    options: tuple[Option, ...] = ()

    def batches(self, source: str, known: Known, options: Options) -> Iterator[Unlabelled]:
        """Read inputs alone."""
        if self.unlabelled is None:
            yield Unlabelled(self.read(source, known, options).X)
        else:
            yield from self.unlabelled(source, known, options)
