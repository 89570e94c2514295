"""How oracle time grows with examples and tokens, and with threads, on simulated chains; draws a plot."""

import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from maximand.batch import Batch
from maximand.costs import Hamming
from maximand.engine import Threads
from maximand.features import ChainFeatures, Examples, PerLabel, Rows
from maximand.losses import CRF, HINGE
from maximand.objective import Objective
from maximand.spaces import Chain, Labels
from report import RESULTS, save

LABELS, FEATURES, REPEATS = 25, 50, 25


def objective(n_sequences, length, loss, threads):
    rng = np.random.default_rng(0)
    tokens = n_sequences * length
    offsets = np.arange(n_sequences + 1) * length
    inputs = Rows(rng.normal(size=(tokens, FEATURES)), offsets)
    labels = Labels(rng.integers(0, LABELS, tokens), offsets, LABELS)
    space = Chain(np.full(n_sequences, length), LABELS)
    batch = Batch(Examples(space, inputs), labels, Hamming(), np.ones(n_sequences))
    return Objective.of(batch, ChainFeatures(PerLabel(FEATURES, LABELS)), loss, 1e-3, Threads(threads))


def seconds(*problems):
    """Best of several passes for each objective, interleaved."""
    weights = [np.random.default_rng(1).normal(size=problem.n_weights) * 0.1 for problem in problems]
    best = [np.inf] * len(problems)
    for repeat in range(REPEATS):
        for i, (problem, w) in enumerate(zip(problems, weights, strict=True)):
            began = time.perf_counter()
            problem.penalty(w)
            if repeat:
                best[i] = min(best[i], time.perf_counter() - began)
    return best


def main():
    rows = []
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for loss in (HINGE, CRF):
        growth = {"examples": [(n, 20) for n in (250, 500, 1000, 2000, 4000, 8000)]}
        growth["tokens per example"] = [(500, t) for t in (10, 20, 40, 80, 160, 320)]
        for axis, (kind, sizes) in zip(axes, growth.items(), strict=True):
            times = []
            for n, length in sizes:
                times += seconds(objective(n, length, loss, 1))
                rows.append({"loss": loss.name, "grows": kind, "sequences": n, "length": length, "seconds": times[-1]})
            x = [size[0] if kind == "examples" else size[1] for size in sizes]
            slope = float(np.polyfit(np.log(x), np.log(times), 1)[0])
            rows.append({"loss": loss.name, "grows": kind, "exponent": slope})
            axis.loglog(x, times, "o-", label=f"{loss.name}: exponent {slope:.2f}")
            axis.set_xlabel(kind)
            axis.set_xticks(x, labels=map(str, x))
            axis.minorticks_off()
            axis.legend()
        one, two = seconds(objective(4000, 20, loss, 1), objective(4000, 20, loss, 2))
        rows.append({"loss": loss.name, "one_thread_seconds": one, "two_threads_seconds": two, "speedup": one / two})
    axes[0].set_ylabel("seconds for one pass of the oracle")
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "scaling.svg", metadata={"Date": None})
    save("scaling", rows, labels=LABELS, features=FEATURES, repeats=REPEATS)


if __name__ == "__main__":
    main()
