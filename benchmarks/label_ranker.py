"""Training label rankers: against the way the paper describes, and how time grows with rows; draws a plot.

The peer follows blondel2019, section 6: L-BFGS of scipy on the weights, and for each row, in Python, L-BFGS of scipy on
the semi-dual of its projection onto the Birkhoff polytope, to a gradient of 1e-3.
"""

import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from data import folder
from maximand import Entropic, Euclidean, LabelRanker
from maximand.formats import read_rankings
from report import RESULTS, save

ROWS, LABELS, FEATURES, STRENGTH = 500, 6, 20, 1e-2
REPEATS = 5


def simulated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, LABELS)) / np.sqrt(FEATURES) + 0.5 * rng.normal(size=(ROWS, LABELS))
    return X, np.argsort(-scores, axis=1)


def rows_given_columns(shifted, euclidean):
    """Value and solution of every row's maximum over the simplex."""
    if euclidean:
        ordered = -np.sort(-shifted, axis=1)
        tops = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, shifted.shape[1] + 1)
        held = (ordered > tops).sum(axis=1)
        plan = np.maximum(shifted - tops[np.arange(len(held)), held - 1][:, None], 0.0)
        return float((shifted * plan).sum() - 0.5 * (plan**2).sum()), plan
    top = shifted.max(axis=1, keepdims=True)
    plan = np.exp(shifted - top)
    totals = plan.sum(axis=1, keepdims=True)
    return float((top + np.log(totals)).sum()), plan / totals


def projected(theta, euclidean):
    """One row's projection, by the semi-dual."""

    def semi_dual(columns):
        value, plan = rows_given_columns(theta - columns, euclidean)
        return value + columns.sum(), 1.0 - plan.sum(axis=0)

    found = minimize(
        semi_dual, np.zeros(len(theta)), jac=True, method="L-BFGS-B", options={"gtol": 1e-3, "maxiter": 1000}
    )
    return found.fun, rows_given_columns(theta - found.x, euclidean)[1]


def peer(X, psi, euclidean):
    """Weights as the paper's method finds them, and the seconds that it takes."""
    X = np.c_[X, np.ones(len(X))]
    constant = 0.5 * LABELS if euclidean else 0.0

    def objective(flat):
        weights = flat.reshape(X.shape[1], -1)
        theta = (X @ weights).reshape(-1, LABELS, LABELS)
        answers = [projected(row, euclidean) for row in theta]
        means = np.array([plan for _, plan in answers]).reshape(len(X), -1)
        value = np.mean([value for value, _ in answers]) - float((theta.reshape(len(X), -1) * psi).sum()) / len(X)
        gradient = X.T @ (means - psi) / len(X) + STRENGTH * weights
        return value + constant + 0.5 * STRENGTH * float(flat @ flat), gradient.ravel()

    began = time.perf_counter()
    with threadpool_limits(1):  # its products are small, and several threads would be in each other's way
        start = np.zeros(X.shape[1] * LABELS**2)
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return time.perf_counter() - began, found.fun, found.nfev


def against_the_paper():
    X, Y = simulated()
    psi = np.eye(LABELS)[np.argsort(Y, axis=1)].reshape(ROWS, -1)
    for projection in (Euclidean(), Entropic()):
        ours, models = [], []
        LabelRanker(projection=projection).fit(X[:50], Y[:50])  # compiles
        seconds, value, calls = peer(X, psi, isinstance(projection, Euclidean))
        for _ in range(REPEATS):
            began = time.perf_counter()
            models.append(LabelRanker(projection=projection, regularization=STRENGTH).fit(X, Y))
            ours.append(time.perf_counter() - began)
        yield {
            "projection": type(projection).__name__, "seconds": min(ours), "objective": models[0].objective_,
            "certified_gap": models[0].gap_, "iterations": models[0].n_iter_, "paper_way_seconds": seconds,
            "paper_way_objective": value, "paper_way_evaluations": calls, "ratio": seconds / min(ours),
        }  # fmt: skip


def growth():
    data = read_rankings(folder() / "labelranking" / "fried.csv.gz")
    X, Y = data.X, np.array(data.rankings)
    figure, axis = plt.subplots(figsize=(5.4, 3.6))
    sizes = [1275, 2550, 5100, 10_200, 20_400, len(X)]
    for projection in (Euclidean(), Entropic()):
        times = []
        for n in sizes:
            best = np.inf
            for _ in range(3):
                model = LabelRanker(projection=projection, regularization=1e-4)
                began = time.perf_counter()
                model.fit(X[:n], Y[:n])
                best = min(best, time.perf_counter() - began)
            times.append(best)
            yield {
                "data": "fried", "projection": type(projection).__name__, "rows": n, "seconds": best,
                "iterations": model.n_iter_, "kendalls_tau": model.score(X[:n], Y[:n]), "stop": model.stop_reason_,
            }  # fmt: skip
        slope = float(np.polyfit(np.log(sizes[2:]), np.log(times[2:]), 1)[0])  # the smallest are over at once
        yield {"data": "fried", "projection": type(projection).__name__, "exponent": slope}
        axis.loglog(sizes, times, "o-", label=f"{type(projection).__name__}: exponent {slope:.2f}")
    axis.set_xticks(sizes, labels=map(str, sizes), fontsize=8)
    axis.minorticks_off()
    axis.set_xlabel("rows of fried (9 features, 5 labels)")
    axis.set_ylabel("seconds to train")
    axis.legend()
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "label_ranker.svg", metadata={"Date": None})


def main():
    rows = [*against_the_paper(), *growth()]
    save("label_ranker", rows, n_rows=ROWS, labels=LABELS, features=FEATURES, regularization=STRENGTH, repeats=REPEATS)


if __name__ == "__main__":
    main()
