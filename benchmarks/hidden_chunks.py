"""Chunking CoNLL-2000 where a random half of the training tags is hidden, beside full supervision: one call each.

python benchmarks/hidden_chunks.py [loss ...]

The test part has all its tags. Seconds are processor seconds of one thread, words to features included. Where nothing
is hidden, the marginal loss is the hinge. Rows of losses that are not asked for stay as they are stored.
"""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.pipeline import make_pipeline

from data import conll2000
from maximand import SequenceTagger, WindowVectorizer
from report import RESULTS, save

SHARE = 0.5
WANTED = 0.02  # at most so much below full supervision


def words_and_tags(part):
    sentences = conll2000(part)
    return [[token[:2] for token in own] for own in sentences], [[tag for *_, tag in own] for own in sentences]


def spans(tags):
    found, begin = set(), None
    for t, tag in enumerate([*tags, "O"]):
        if begin is not None and not tag.startswith("I"):
            found.add((begin, t, tags[begin][2:]))
            begin = None
        if tag != "O" and begin is None:
            begin = t
    return found


def f1(true, guesses):
    right, n = 0, 0
    for own, guess in zip(true, guesses, strict=True):
        one, other = spans(own), spans(guess)
        right, n = right + len(one & other), n + len(one) + len(other)
    return 2.0 * right / n


def stored():
    """Rows of earlier runs, by loss and whether tags were hidden."""
    path = RESULTS / "hidden_chunks.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    return {(row["loss"], row["hidden"] > 0.0): row for row in rows}


def main():
    asked = sys.argv[1:] or ["crf", "hinge", "marginal"]
    warnings.simplefilter("ignore")
    (X, Y), (X_test, Y_test) = words_and_tags("train"), words_and_tags("test")
    classes = sorted({tag for tags in Y for tag in tags})
    rng = np.random.default_rng(0)
    partly = [[None if rng.random() < SHARE else tag for tag in tags] for tags in Y]
    for loss, hides in (("crf", False), ("crf", True), ("hinge", False), ("hinge", True), ("marginal", True)):
        if loss not in asked:
            continue
        tagger = SequenceTagger(scheme="BIO", loss=loss, classes=classes, n_threads=1)
        chunker = make_pipeline(WindowVectorizer(), tagger)
        began = time.process_time()
        chunker.fit(X, partly if hides else Y)
        seconds = time.process_time() - began
        guesses = [own.tolist() for own in chunker.predict(X_test)]
        rows = stored()
        rows[loss, hides] = {
            "loss": loss, "hidden": SHARE if hides else 0.0, "accuracy": chunker.score(X_test, Y_test),
            "f1": f1(Y_test, guesses), "seconds": seconds, "rounds": tagger.n_iter_, "stop_reason": tagger.stop_reason_,
        }  # fmt: skip
        for (name, _), row in rows.items():
            full = rows.get(("hinge" if name == "marginal" else name, False))
            if full is not None:
                row |= {f"{of}_below_full": full[of] - row[of] for of in ("accuracy", "f1")}
        save("hidden_chunks", list(rows.values()), wanted_below_full=WANTED, n_sentences=len(X))


if __name__ == "__main__":
    main()
