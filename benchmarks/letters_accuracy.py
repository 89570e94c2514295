"""OCR letters: train on one fold, test on the other nine, for each of the ten folds, against CRFsuite.

The regularisation of ours is chosen by three-fold cross-validation on the training fold; CRFsuite gets the same grid
and the same choice (and its untuned default, c2 = 1, beside it).
"""

import sys
import tempfile
import warnings

import numpy as np
import pycrfsuite
from sklearn.model_selection import KFold

from data import letters
from maximand import SequenceTagger
from report import save

GRID = (3e-3, 1e-2, 3e-2, 1e-1)


def items(X):
    return [pycrfsuite.ItemSequence([{f"p{j}": 1.0 for j in np.flatnonzero(row)} for row in x]) for x in X]


def crfsuite(X, Y, c2):
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for item, labels in zip(items(X), Y, strict=True):
        trainer.append(item, list(labels))
    trainer.set_params({"c1": 0.0, "c2": c2, "max_iterations": 200, "feature.possible_transitions": True})
    with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
        trainer.train(file.name)
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
    return lambda X: [tagger.tag(item) for item in items(X)]


def ours(loss):
    def train(X, Y, regularization):
        model = SequenceTagger(
            loss=loss, regularization=regularization * len(X) / sum(map(len, X)), tolerance=1e-2
        ).fit(X, Y)
        return model.predict

    return train


def accuracy(predict, X, Y):
    return float(np.mean(np.concatenate(predict(X)) == np.concatenate(Y)))


def take(values, chosen):
    return [values[i] for i in chosen]


def best_regularization(train, X, Y):
    scores = []
    for regularization in GRID:
        folds = KFold(3, shuffle=True, random_state=0).split(X)
        scores.append(
            np.mean([accuracy(train(take(X, a), take(Y, a), regularization), take(X, b), take(Y, b)) for a, b in folds])
        )
    return GRID[int(np.argmax(scores))]


def main():
    warnings.simplefilter("ignore")
    X, Y, folds = letters()
    methods = {
        "maximand hinge": ours("hinge"),
        "maximand crf": ours("crf"),
        "CRFsuite": lambda X, Y, regularization: crfsuite(X, Y, regularization * len(X) / 2),
    }
    rows = []
    for fold in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        train_X, train_Y, test_X, test_Y = take(X, inside), take(Y, inside), take(X, outside), take(Y, outside)
        row = {"fold": fold, "words": len(inside)}
        for name, train in methods.items():
            chosen = best_regularization(train, train_X, train_Y)
            row[f"{name} regularization"] = chosen
            row[name] = accuracy(train(train_X, train_Y, chosen), test_X, test_Y)
        row["CRFsuite untuned"] = accuracy(crfsuite(train_X, train_Y, 1.0), test_X, test_Y)
        rows.append(row)
        print(row, flush=True)
    names = [*methods, "CRFsuite untuned"]
    rows.append({"fold": "mean", **{name: float(np.mean([row[name] for row in rows])) for name in names}})
    spread = {name: float(np.std([row[name] for row in rows[:-1]], ddof=1)) for name in names}
    save("letters_accuracy", [*rows, {"fold": "standard deviation", **spread}], grid=GRID)


if __name__ == "__main__":
    main()
