"""Learning curves: annotating slots one by one, as `suggest` names them or at random, on tags and on grids.

python benchmarks/annotating.py {tags,grids} {crf,hinge}
python benchmarks/annotating.py picture

Both begin with the same few slots at random, and the model is fitted again after each round. `spread` takes the first
suggestion of each example before the second of any. Accuracy is that on all labels of a test part; the differences are
paired over seeds, as means over the rounds after the first, with intervals of 95 %. Results are stored seed by seed.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.stats import t as student

from data import conll2000
from maximand import GraphLabeler, SequenceTagger, WindowVectorizer, suggest
from report import RESULTS, save

SEEDS, START, STEP, ROUNDS = 8, 40, 40, 6
WAYS = "random", "suggest", "spread"


def tags(seed):
    """200 sentences of CoNLL-2000 to annotate, and the first 400 of its test part."""
    train = conll2000("train")
    chosen = [train[i] for i in np.random.default_rng(seed).choice(len(train), 200, replace=False)]
    pool, test = ([[token[:2] for token in own] for own in part] for part in (chosen, conll2000("test", 400)))
    labels = [[[tag for *_, tag in own] for own in part] for part in (chosen, conll2000("test", 400))]
    classes = sorted({tag for own in train for *_, tag in own})
    vectorizer = WindowVectorizer().fit(pool)
    X, X_test = vectorizer.transform(pool), vectorizer.transform(test)
    return (X, labels[0]), (X_test, labels[1]), lambda loss: SequenceTagger(loss=loss, classes=classes, **LIMITS)


def grids(seed):
    """40 grids of 3 x 10 with three labels in smooth regions, seen through noise, and 40 to test."""
    rng, fields = np.random.default_rng(seed), []
    for _ in range(80):
        fields.append(np.stack([gaussian_filter(rng.normal(size=(3, 10)), 1.0) for _ in range(3)]).argmax(axis=0))
    X = [np.eye(3)[labels] + rng.normal(size=(3, 10, 3)) for labels in fields]
    Y = [labels.ravel().tolist() for labels in fields]
    return (X[:40], Y[:40]), (X[40:], Y[40:]), lambda loss: GraphLabeler(loss=loss, classes=[0, 1, 2], **LIMITS)


LIMITS = {"max_iterations": 60, "regularization": 1e-3, "n_threads": 1}
TASKS = {"tags": tags, "grids": grids}


def following(way, model, X, known, rng):
    """The next slots to annotate, as pairs (example, slot)."""
    if way == "random":
        left = [(i, s) for i, own in enumerate(known) for s, label in enumerate(own) if label is None]
        return [left[j] for j in rng.choice(len(left), STEP, replace=False)]
    found = [(one.example, one.slot) for one in suggest(model, X, STEP if way == "suggest" else 10**6, known)]
    if way == "suggest":
        return found
    taken = np.zeros(len(known), dtype=int)
    ranks = []
    for example, _ in found:
        ranks.append(taken[example])
        taken[example] += 1
    return [found[j] for j in np.argsort(ranks, kind="stable")[:STEP]]


def curve(task, loss, way, seed):
    """The accuracies on the test part, by rounds, and the seconds that suggesting took."""
    (X, Y), (X_test, Y_test), estimator = TASKS[task](seed)
    rng, seconds, accuracies = np.random.default_rng(seed), 0.0, []
    known = [[None] * len(own) for own in Y]
    slots = [(i, s) for i, own in enumerate(Y) for s in range(len(own))]
    chosen = [slots[j] for j in rng.choice(len(slots), START, replace=False)]
    truth = np.concatenate([np.ravel(own) for own in Y_test])
    for number in range(ROUNDS):
        for example, slot in chosen:
            known[example][slot] = Y[example][slot]
        model = estimator(loss).fit(X, known)
        accuracies.append(float(np.mean(np.concatenate([np.ravel(y) for y in model.predict(X_test)]) == truth)))
        if number + 1 < ROUNDS:
            began = time.process_time()
            chosen = following(way, model, X, known, rng)
            seconds += time.process_time() - began
    return accuracies, seconds / (ROUNDS - 1)


def paired(differences):
    """The mean of differences, and half of the length of its interval of 95 %."""
    n = len(differences)
    return float(np.mean(differences)), float(student.ppf(0.975, n - 1) * np.std(differences, ddof=1) / np.sqrt(n))


def stored():
    """Rows of earlier runs."""
    path = RESULTS / "annotating.json"
    return json.loads(path.read_text())["rows"] if path.exists() else []


def summary(task, loss, curves, seconds):
    """A row for each way."""
    plain = np.array(curves["random"])[:, 1:].mean(axis=1)
    for way in WAYS:
        ahead, half = paired(np.array(curves[way])[:, 1:].mean(axis=1) - plain)
        yield {
            "task": task, "loss": loss, "way": way, "accuracy": np.mean(curves[way], axis=0).round(4).tolist(),
            "ahead_of_random": ahead, "plus_minus": half, "n_seeds": len(curves[way]),
            "seconds_to_suggest": float(np.mean(seconds[way])), "curves": curves[way],
        }  # fmt: skip


def picture(rows):
    """Draw the mean curves of each task for the page on annotating."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tasks = list(dict.fromkeys(row["task"] for row in rows))
    figure, axes = plt.subplots(1, len(tasks), figsize=(4.2 * len(tasks), 3.0), squeeze=False, layout="constrained")
    for axis, task in zip(axes[0], tasks, strict=True):
        for row in [row for row in rows if row["task"] == task]:
            axis.plot(START + STEP * np.arange(ROUNDS), row["accuracy"], marker=".", label=row["way"])
        axis.set(title=f"{task}, {rows[0]['loss']}", xlabel="annotated slots", ylabel="accuracy on the test part")
        axis.legend()
    figure.savefig(Path(__file__).parents[1] / "docs" / "pictures" / "annotating.png", dpi=110)


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["picture"]:
        picture(stored())
        return
    task, loss = sys.argv[1:]
    curves, seconds = {way: [] for way in WAYS}, {way: [] for way in WAYS}
    for seed in range(SEEDS):
        for way in WAYS:
            accuracies, taken = curve(task, loss, way, seed)
            curves[way].append(accuracies)
            seconds[way].append(taken)
            print(task, loss, seed, way, np.round(accuracies, 3).tolist(), flush=True)
        if seed:
            others = [row for row in stored() if (row["task"], row["loss"]) != (task, loss)]
            rows = [*others, *summary(task, loss, curves, seconds)]
            save("annotating", rows, slots=[START + STEP * number for number in range(ROUNDS)])


if __name__ == "__main__":
    main()
