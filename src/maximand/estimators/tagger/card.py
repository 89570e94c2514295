"""The card of `SequenceTagger`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from maximand.cards.card import Card
from maximand.cards.checkup import Checkup, Finding, matrix_bytes
from maximand.cards.data import Dataset
from maximand.cards.findings import of_labels
from maximand.cards.options import CLASS_WEIGHT, STATES_PER_LABEL, Option, Options
from maximand.cards.steps import first_step
from maximand.estimators.tagger.answers import lines, scores
from maximand.estimators.tagger.estimator import SCHEMES, SequenceTagger
from maximand.estimators.tagger.reading import FORMATS, TaggedSentences
from maximand.features import ChainFeatures
from maximand.spaces import LabelStates, Legality, OutputSpace
from maximand.tasks import Ragged, TaggingTask, WindowVectorizer, bio, bioes
from maximand.tasks.state_names import StateNames
from maximand.tasks.tagging import BoundTagging

PLANES = 0.6  # planes of single sequences, as a multiple of the input
OPTIONS = (
    Option("--scheme", "forbid tags that may not follow one another", choices=tuple(SCHEMES)),
    Option("--window", "neighbours to either side whose columns are features", int, 2),
    Option("--affixes", "longest prefix and suffix of words as features", int, 0),
    CLASS_WEIGHT,
    STATES_PER_LABEL,
)


def build(data: Dataset, settings: dict[str, Any], options: Options) -> Any:
    """Return a tagger, for text behind a vectoriser."""
    own = {name: options[name] for name in ("scheme", "class_weight")}
    tagger = SequenceTagger(n_states_per_label=options["states_per_label"], **own, **settings)
    if isinstance(data.X, TaggedSentences):
        return make_pipeline(WindowVectorizer(options["window"], options["affixes"]), tagger)
    return tagger


def check(task: BoundTagging) -> None:
    """Refuse features or transitions that do not fit the tags."""
    if task.names.n_states != task.features.n_labels:
        raise ValueError("The features do not fit the tags.")
    if task.legality is not None:
        task.legality.check(task.names.count)


def counts(data: Dataset) -> Counter[Any]:
    """Count how often each tag occurs."""
    return Counter(tag for tags in data.y for tag in tags)


def sizes(data: Dataset, counts: Counter[Any]) -> dict[str, Any]:
    """Say how many tokens there are."""
    return {"tokens": counts.total()}


def findings(data: Dataset, counts: Counter[Any], options: Options) -> Iterator[Finding]:
    """Look at tags, and whether those that mark spans do so consistently."""
    weighed = SequenceTagger(loss=options["loss"], class_weight=options["class_weight"])
    yield from of_labels(counts, weighed)
    names = sorted(map(str, counts))
    prefixes = {name.partition("-")[0] for name in names}
    if "I" not in prefixes or not prefixes <= set("BIOES"):
        return
    scheme = bioes if prefixes & set("ES") else bio
    legal, codes = scheme(names), {name: code for code, name in enumerate(names)}
    broken = [i for i, tags in enumerate(data.y) if legal.violation(np.array([codes[tag] for tag in tags]))]
    if broken:
        yield Finding(
            f"{len(broken)} sequences break the {scheme.__name__.upper()} scheme, first number {broken[0] + 1}.",
            "Mend them (IOB1 tags, for instance, can be converted to BIO), or do not use --scheme.",
            fatal=options["scheme"] is not None,
        )


def rows(model: Any, data: Dataset) -> tuple[Any, Any]:
    """Return the rows of tokens."""
    if isinstance(data.X, TaggedSentences):
        ragged = first_step(model).fit_transform(data.X)
    else:
        ragged = Ragged(np.vstack(data.X), [len(x) for x in data.X])
    return ragged, ragged.matrix


def digests(data: Dataset) -> Iterator[int]:
    """Yield a number for each sequence."""
    if isinstance(data.X, TaggedSentences):
        return (hash(tuple(map(tuple, tokens))) for tokens in data.X)
    return (hash(x.tobytes()) for x in data.X)


def planes(matrix: Any, space: OutputSpace, data: Dataset) -> tuple[float, float]:
    """Return the bytes of the planes of sequences."""
    return PLANES * matrix_bytes(matrix), 0.0


def part_name(predictor: Any, kind: str, part: int) -> tuple[str, str]:
    """Name a tag, or a tag and the next one."""
    tags = predictor.task_.names.part_titles
    before, after = divmod(part, len(tags))
    return (f"{tags[before]} →", tags[after]) if kind == "transitions" else ("", tags[part])


CARD = Card(
    SequenceTagger,
    TaggingTask,
    BoundTagging,
    check=check,
    formats=FORMATS,
    build=build,
    lines=lines,
    scores=scores,
    checkup=Checkup(counts, findings, sizes, rows=rows, digests=digests, planes=planes),
    stored=(ChainFeatures, Legality, StateNames, LabelStates),
    options=OPTIONS,
    part_name=part_name,
)
