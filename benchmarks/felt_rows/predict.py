"""Prediction for services: seconds of a call, and tokens a second from words.

CRFsuite and ours have the same 19 features of a token (words and parts of speech in a window of 5, as CRFsuite's own
tutorial has them) and as many iterations of training. CRFsuite is asked as its users ask it: a list of names of
features for each token, made by Python from the words where strings belong to the work. Each call is for another of
200 sentences, about 23 tokens each. Seconds are of the processor, on one thread; the best of several rounds.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pycrfsuite
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from data import chunking_features, conll2000
from maximand import FrozenPredictor, MulticlassClassifier, SequenceTagger, WindowVectorizer, save

ITERATIONS = 20
SENTENCES = 200
ROUNDS = 7
THREADS = 8


def names_of(sentences):
    return [list(chunking_features(sentence)) for sentence in sentences]


def words_of(sentences):
    return [[token[:2] for token in sentence] for sentence in sentences]


@cache
def test_sentences():
    return conll2000("test")


@cache
def crfsuite():
    """A model of CRFsuite."""
    training = conll2000("train")
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, names in zip(training, names_of(training), strict=True):
        trainer.append(names, [tag for _, _, tag in sentence])
    trainer.set_params({"max_iterations": ITERATIONS})
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        tagger.open(str(Path(folder) / "model"))
    return tagger


def fitted(model, X):
    tags = [[tag for _, _, tag in sentence] for sentence in conll2000("train")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, tags)


@cache
def from_words():
    """Our model of words."""
    pipeline = make_pipeline(WindowVectorizer(), SequenceTagger(max_iterations=ITERATIONS))
    return fitted(pipeline, words_of(conll2000("train")))


@cache
def from_names():
    """Our model of names of features."""
    return fitted(SequenceTagger(max_iterations=ITERATIONS), names_of(conll2000("train")))


@cache
def rows():
    """A model of rows of a table, scikit-learn's, and single rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = X[:, :5].argmax(axis=1)
    return (
        MulticlassClassifier(loss="crf").fit(X, y),
        LogisticRegression().fit(X, y),
        np.split(X[:SENTENCES], SENTENCES),
    )


def seconds_a_call(inputs, **ways):
    """Return for each way the processor seconds of a call, the ways taken in turn."""
    best = dict.fromkeys(ways, np.inf)
    for _ in range(ROUNDS):
        for name, way in ways.items():
            given = inputs[name] if isinstance(inputs, dict) else inputs
            way(given[0])
            began = time.process_time()
            for one in given:
                way(one)
            best[name] = min(best[name], (time.process_time() - began) / len(given))
    return best


def row(work, peer, wanted, ours, theirs, met, **more):
    return {
        "work": work, "peer": peer, "peer_seconds": theirs, "our_seconds": ours, "ratio": theirs / ours,
        "wanted": wanted, "met": bool(met), **more,
    }  # fmt: skip


def one_sentence():
    sentences = test_sentences()[:SENTENCES]
    names = names_of(sentences)
    pipeline, model = from_words(), from_names()
    frozen, tagger = model.predictor(), pipeline[-1].predictor()
    vectors = [pipeline[0].transform([words]) for words in words_of(sentences)]
    vocabulary, flat = model.task_.vectorizer.vocabulary_, [list(chain.from_iterable(x)) for x in names]
    inputs = {"peer": names, "names": [[x] for x in names], "unfrozen": [[x] for x in names], "sparse": vectors}
    found = seconds_a_call(
        inputs | {"lookup": flat}, peer=crfsuite().tag, names=frozen.predict, unfrozen=model.predict,
        sparse=tagger.predict, lookup=lambda x: list(map(vocabulary.get, x)),
    )  # fmt: skip
    return row(
        "one sentence through a CoNLL-2000 chunker, from names of features", "CRFsuite", "0.15 ms", found["names"],
        found["peer"], found["names"] <= 1.5e-4, sparse_matrix_seconds=found["sparse"],
        predict_seconds=found["unfrozen"], tokens=sum(map(len, sentences)) / SENTENCES,
        why=f"Looking its {sum(map(len, flat)) // SENTENCES} names up takes "
        f"{1e3 * found['lookup']:.2g} ms of it. CRFsuite took 0.07 ms when 0.15 ms were wanted.",
    )  # fmt: skip


def one_row():
    model, peer, inputs = rows()
    frozen = model.predictor()
    found = seconds_a_call(inputs, peer=peer.predict, frozen=frozen.predict, unfrozen=model.predict)
    return row(
        "one row of a table", "LogisticRegression.predict", "50 us; predict itself no slower than the peer",
        found["frozen"], found["peer"], found["frozen"] <= 5e-5 and found["unfrozen"] <= found["peer"],
        predict_seconds=found["unfrozen"], features=20, labels=5,
    )  # fmt: skip


def from_words_to_tags():
    sentences, tagger, model = test_sentences(), crfsuite(), from_words()
    words = words_of(sentences)
    frozen = FrozenPredictor(model)
    inputs = {"peer": [sentences], "frozen": [words], "unfrozen": [words], "singly": [[x] for x in words]}
    found = seconds_a_call(
        inputs,
        peer=lambda every: [tagger.tag(list(chunking_features(one))) for one in every],
        frozen=frozen.predict, unfrozen=model.predict, singly=frozen.predict,
    )  # fmt: skip
    n_tokens = sum(map(len, sentences))
    ours = found["frozen"]
    return row(
        "tagging from words, strings included", "CRFsuite from the same strings", "3x its tokens a second", ours,
        found["peer"], found["peer"] / ours >= 3, tokens_a_second=n_tokens / ours,
        peer_tokens_a_second=n_tokens / found["peer"], predict_seconds=found["unfrozen"],
        sentence_by_sentence_seconds=found["singly"] * len(words), tokens=n_tokens,
    )  # fmt: skip


def quantiles(ask, inputs, n_threads):
    """Return the median and the 99th percentile of the milliseconds of a call, while so many threads ask."""

    def timed(_):
        taken = []
        for _ in range(5):
            for one in inputs:
                began = time.perf_counter()
                ask(one)
                taken.append(time.perf_counter() - began)
        return taken

    with ThreadPoolExecutor(n_threads) as pool:
        taken = np.concatenate(list(pool.map(timed, range(n_threads))))
    p50, p99 = 1e3 * np.quantile(taken, [0.5, 0.99])
    return {"p50_ms": float(p50), "p99_ms": float(p99)}


def latency():
    """Wall-clock milliseconds of calls; threads share Python's lock, on both sides."""
    sentences = test_sentences()[:SENTENCES]
    names, words = names_of(sentences), words_of(sentences)
    model, peer, tables = rows()
    asked = {
        "sentence, CRFsuite": (crfsuite().tag, names),
        "sentence, predictor": (from_names().predictor().predict, [[x] for x in names]),
        "sentence from words, predictor": (FrozenPredictor(from_words()).predict, [[x] for x in words]),
        "row, LogisticRegression": (peer.predict, tables),
        "row, predict": (model.predict, tables),
        "row, predictor": (model.predictor().predict, tables),
    }
    found = {
        name: {f"{n} threads": quantiles(ask, inputs, n) for n in (1, THREADS)} for name, (ask, inputs) in asked.items()
    }
    ours, theirs = (found[f"sentence, {who}"]["1 threads"]["p50_ms"] for who in ("predictor", "CRFsuite"))
    return row(
        "p50 and p99 of a call, wall clock", "CRFsuite", "figures", ours / 1e3, theirs / 1e3, True, quantiles=found
    )


def command_seconds(code, repeats=3):
    """Return the least processor seconds of a Python process, children included."""
    timed = f"import os, subprocess, sys\nsubprocess.run({code!r}, check=True, stdout=subprocess.DEVNULL)\n"
    timed += "t = os.times()\nprint(t.children_user + t.children_system)"
    return min(
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    )


FLOOR = """
import numpy as np, sklearn.base
from maximand.numerics.choice import best_columns
best_columns(np.zeros((1, 2)), np.zeros(1), np.zeros((1, 2)))
"""


def command_line():
    with tempfile.TemporaryDirectory() as folder:
        model, data = Path(folder) / "model", Path(folder) / "one.conll"
        save(from_words(), model)
        data.write_text("\n".join(" ".join(token) for token in test_sentences()[3]) + "\n\n")
        command = [sys.executable, "-m", "maximand"]
        seconds = command_seconds([*command, "predict", str(model), str(data)])
        help_seconds = command_seconds([*command, "--help"])
        floor = command_seconds([sys.executable, "-c", FLOOR])
    return row(
        "maximand predict of one sentence", "imports of scikit-learn and numba, and one kernel", "1.6 s; --help 0.3 s",
        seconds, floor, seconds <= 1.6 and help_seconds <= 0.3, help_seconds=help_seconds,
        why=f"what every command needs, the peer here, takes {floor:.3g} s of it; --help takes {help_seconds:.2g} s.",
    )  # fmt: skip


ROWS = {
    "one sentence": one_sentence,
    "one row": one_row,
    "tagging from words": from_words_to_tags,
    "latency": latency,
    "command line": command_line,
}

if __name__ == "__main__":
    for name, function in ROWS.items():
        print(name, json.dumps(function(), indent=1), flush=True)
