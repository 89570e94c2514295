"""The public data sets in the form in which the benchmarks use them."""

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction import DictVectorizer


def folder() -> Path:
    if "MAXIMAND_DATA" not in os.environ:
        raise SystemExit("Set MAXIMAND_DATA to the folder of the public data sets.")
    return Path(os.environ["MAXIMAND_DATA"])


def multiclass(name):
    X, y = load_svmlight_file(folder() / "multiclass" / f"{name}.svm.gz")
    X = np.ascontiguousarray(X.toarray())
    return X / max(1.0, np.abs(X).max()), y.astype(int)


def conll2000(part="train", limit=None):
    """Sentences as lists of (word, part of speech, chunk tag)."""
    with gzip.open(folder() / "sequence" / f"conll2000.{part}.txt.gz", "rt") as file:
        blocks = file.read().strip().split("\n\n")
    return [[tuple(line.split(" ")) for line in block.split("\n")] for block in blocks[:limit]]


def chunking_features(sentence):
    """The usual window of words and parts of speech, as feature names, for every token."""
    words = ["<s>", "<s>", *(word for word, _, _ in sentence), "</s>", "</s>"]
    tags = ["<s>", "<s>", *(tag for _, tag, _ in sentence), "</s>", "</s>"]
    for t in range(2, len(sentence) + 2):
        w, p = words[t - 2 : t + 3], tags[t - 2 : t + 3]
        yield [
            *(f"w{i - 2}={word}" for i, word in enumerate(w)),
            f"w-1|w0={w[1]}|{w[2]}", f"w0|w1={w[2]}|{w[3]}",
            *(f"p{i - 2}={tag}" for i, tag in enumerate(p)),
            *(f"p{i - 2}|p{i - 1}={p[i]}|{p[i + 1]}" for i in range(4)),
            *(f"p{i - 2}|p{i - 1}|p{i}={p[i]}|{p[i + 1]}|{p[i + 2]}" for i in range(3)),
        ]  # fmt: skip


def chunking(sentences):
    """Return feature names per token, tags per sentence, a CSR matrix of all tokens and sentence lengths."""
    names = [list(chunking_features(sentence)) for sentence in sentences]
    tags = [[tag for _, _, tag in sentence] for sentence in sentences]
    vectorizer = DictVectorizer(sort=False)  # features that occur together get numbers close together
    matrix = vectorizer.fit_transform(dict.fromkeys(token, 1.0) for sentence in names for token in sentence)
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    return names, tags, matrix, np.array([len(sentence) for sentence in sentences])


def letters():
    """Words of handwritten letters: pixels per letter, letters, word lengths, fold of each word."""
    pixels, labels, lengths, folds, count = [], [], [], [], 0
    with gzip.open(folder() / "ocr" / "letter.data.gz", "rt") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            pixels.append(np.array(fields[6:134], dtype=float))
            labels.append(fields[1])
            count += 1
            if fields[2] == "-1":
                lengths.append(count)
                folds.append(int(fields[5]))
                count = 0
    ends = np.cumsum(lengths)
    X = np.split(np.array(pixels), ends[:-1])
    Y = np.split(np.array(labels), ends[:-1])
    return X, Y, np.array(folds)
