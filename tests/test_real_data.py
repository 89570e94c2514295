"""A little of the public data sets, where they are."""

import gzip

import numpy as np
import pytest

from maximand import SequenceTagger


@pytest.fixture(scope="module")
def letters(data):
    pixels, labels, ends = [], [], []
    with gzip.open(data / "ocr" / "letter.data.gz", "rt") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            pixels.append(np.array(fields[6:134], dtype=float))
            labels.append(fields[1])
            if fields[2] == "-1":
                ends.append(len(labels))
    X, Y = np.split(np.array(pixels), ends[:-1]), np.split(np.array(labels), ends[:-1])
    chosen = np.random.default_rng(0).permutation(len(X))[:500]  # the file is ordered by word
    return [X[i] for i in chosen], [Y[i] for i in chosen]


@pytest.mark.parametrize("loss", ["hinge", "crf"])
def test_handwritten_words(letters, loss):
    X, Y = letters
    model = SequenceTagger(loss=loss, regularization=1e-2, tolerance=1e-2).fit(X[:300], Y[:300])
    assert model.gap_is_certificate_
    assert model.score(X[300:], Y[300:]) > 0.7
    alone = SequenceTagger(loss=loss, regularization=1e-2, tolerance=1e-2)
    alone.fit([x[[t]] for x in X[:300] for t in range(len(x))], [[tag] for y in Y[:300] for tag in y])
    single = alone.score([x[[t]] for x in X[300:] for t in range(len(x))], [[tag] for y in Y[300:] for tag in y])
    assert model.score(X[300:], Y[300:]) > single


def test_chunking_with_legal_tags(data):
    with gzip.open(data / "sequence" / "conll2000.train.txt.gz", "rt") as file:
        blocks = file.read(400_000).split("\n\n")[:600]
    sentences = [[line.split(" ") for line in block.split("\n")] for block in blocks]
    X = [
        [{"word": w, "pos": p, "before": s[t - 1][1] if t else ""} for t, (w, p, _) in enumerate(s)] for s in sentences
    ]
    Y = [[tag for *_, tag in sentence] for sentence in sentences]
    model = SequenceTagger(scheme="BIO").fit(X[:400], Y[:400])
    assert model.score(X[400:], Y[400:]) > 0.85
    for tags in model.predict(X[400:]):
        for before, after in zip(["O", *tags], tags, strict=False):
            assert not after.startswith("I-") or before[2:] == after[2:]
