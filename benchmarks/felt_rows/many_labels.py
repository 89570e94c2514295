"""Chains with many labels: 200 synthetic sequences of 20 tokens, 50 dense features, 1.6 MB in all.

A label is followed by one of its own in half of the cases, by any else, and three tenths of the tokens look like
another label's. Fits run in processes of their own, on two threads, until the gap is 1e-2; seconds are of the
processor, so that 15 s of both threads are 30. Memory is what is resident at most, beyond what is before the fit. Rates
of kernels are of one thread, against the products of the machine's own BLAS.
"""

import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import psutil
from threadpoolctl import threadpool_limits

from limits import Late
from maximand import Chain, SequenceTagger

SEQUENCES, LENGTH, FEATURES = 200, 20, 50
THREADS, SECONDS = 2, 15.0
TOLERANCE = 1e-2


def sequences(n_labels):
    """Return features and labels."""
    rng = np.random.default_rng(0)
    looks, following = rng.normal(size=(n_labels, FEATURES)), rng.permutation(n_labels)
    labels = rng.integers(n_labels, size=(SEQUENCES, LENGTH))
    for t in range(1, LENGTH):
        labels[:, t] = np.where(rng.random(SEQUENCES) < 0.5, following[labels[:, t - 1]], labels[:, t])
    seen = np.where(rng.random(labels.shape) < 0.3, rng.integers(n_labels, size=labels.shape), labels)
    return list(looks[seen] + rng.normal(size=(*labels.shape, FEATURES))), [row.tolist() for row in labels]


def highest(work):
    """Return what work returns, and how much resident memory it took at most."""
    process, done = psutil.Process(), threading.Event()
    before = process.memory_info().rss
    most = [before]

    def watch():
        while not done.wait(0.003):
            most[0] = max(most[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        found = work()
    finally:
        done.set()
        watcher.join()
    return found, most[0] - before


def product_seconds(n_labels, tokens, repeats=5):
    """What BLAS takes on one thread for a product as large as one step of all tokens."""
    rng = np.random.default_rng(0)
    one, other, best = rng.random((tokens, n_labels)), rng.random((n_labels, n_labels)), np.inf
    out = np.empty_like(one)
    with threadpool_limits(1):
        for _ in range(repeats):
            began = time.thread_time()
            np.matmul(one, other, out=out)
            best = min(best, time.thread_time() - began)
    return best


def fitted(loss, n_labels):
    """Fit in this process and return what it took."""
    warnings.simplefilter("ignore")
    (X, Y), tokens = sequences(n_labels), SEQUENCES * LENGTH
    some = [[label % 3 for label in labels] for labels in Y[:4]]
    SequenceTagger(loss=loss, max_iterations=3).fit(X[:4], some)  # compile
    model = SequenceTagger(loss=loss, tolerance=TOLERANCE, n_threads=THREADS)
    began, limit = time.process_time(), THREADS * SECONDS
    model, extra = highest(lambda: model.set_callbacks(Late(limit)).fit(X, Y))
    seconds, size, weights = time.process_time() - began, sum(x.nbytes for x in X), model.weights_.nbytes
    gap, allowed = model.gap_ / model.objective_, 5 * size + 30 * weights
    passes, most = model.history_[-1].oracle_calls / SEQUENCES, limit / (3.0 * product_seconds(n_labels, tokens))
    return {
        "work": f"chain {loss}, {n_labels} labels, {tokens} tokens, on {THREADS} threads",
        "our_seconds": seconds, "gap": gap, "iterations": model.n_iter_, "input_bytes": size, "weight_bytes": weights,
        "extra_bytes": extra, "allowed_bytes": allowed,
        "wanted": f"gap of 1e-2 in {limit:g} s of both threads; 5 times the input and 30 times the weights",
        "met": gap <= TOLERANCE and seconds <= limit and extra <= allowed, "passes": passes,
        "passes_by_blas": most,
        "why": f"{passes:.0f} passes over all tokens did not do. Three products by BLAS for each, which is what a soft "
        f"maximum takes, would leave room for {most:.0f} in {limit:g} s.",
    }  # fmt: skip


def fit(loss, n_labels):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(fitted, loss, n_labels).result()


def rates(n_labels, temperature=1.0, wanted=0.5, repeats=5):
    """Forward-backward with sums of means, and Viterbi, in operations a second, beside a product of matrices."""
    rng = np.random.default_rng(0)
    space = Chain(np.full(max(12, 600 // n_labels), LENGTH), n_labels)
    theta = rng.normal(size=space.layout.n_scores)
    tokens = int(space.offsets[-1])
    one, other = rng.random((tokens, n_labels)), rng.random((n_labels, n_labels))
    out = np.empty_like(one)
    works = (
        lambda: np.matmul(one, other, out=out),
        lambda: space.layout.total(space.marginals(theta, temperature).held),
        lambda: space.layout.total(space.argmax(theta).held),
    )
    best = [np.inf] * len(works)
    with threadpool_limits(1):
        for repeat in range(repeats + 1):
            for i, work in enumerate(works):
                began = time.thread_time()
                work()
                if repeat:
                    best[i] = min(best[i], time.thread_time() - began)
    product, soft, hard = best
    operations = 2.0 * tokens * n_labels**2
    return {
        "work": f"forward-backward, {n_labels} labels, temperature {temperature:g}", "peer": "three products by BLAS",
        "peer_seconds": 3.0 * product, "our_seconds": soft, "ratio": 3.0 * product / soft,
        "peer_operations": operations / product, "our_operations": 3.0 * operations / soft,
        "viterbi_operations": operations / hard, "viterbi_ratio": product / hard, "tokens_per_second": tokens / soft,
        "wanted": f"{wanted} of the rate of BLAS", "met": 3.0 * product / soft >= wanted,
    }  # fmt: skip


ROWS = {
    "many labels: hinge 500": lambda: fit("hinge", 500),
    "many labels: crf 200": lambda: fit("crf", 200),
    "many labels: crf 500": lambda: fit("crf", 500),
    "many labels: crf 1000": lambda: fit("crf", 1000),
    "many labels: rate at 200": lambda: rates(200),
    "many labels: rate at 500": lambda: rates(500),
    "many labels: rate at 1000": lambda: rates(1000),
    "many labels: rate at 500, cold": lambda: rates(500, temperature=1e-3, wanted=0.05),
}

if __name__ == "__main__":
    for name, measure in ROWS.items():
        print(name, measure(), flush=True)
