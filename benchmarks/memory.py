"""Peak memory of a fit on CoNLL-2000 beyond what the process holds before it, as a multiple of the CSR input."""

import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import psutil

from data import chunking, conll2000
from maximand import SequenceTagger
from report import save


class Peak:
    """Watches the resident memory of this process."""

    def __enter__(self):
        self.process = psutil.Process()
        self.before = self.highest = self.process.memory_info().rss
        self.running = True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while self.running:
            self.highest = max(self.highest, self.process.memory_info().rss)
            time.sleep(0.005)

    def __exit__(self, *_):
        self.running = False
        self.thread.join()


def measured(loss):
    """Fit in this process and return what it took."""
    warnings.simplefilter("ignore")
    _, tags, matrix, lengths = chunking(conll2000())
    csr = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    first = int(lengths[:50].sum())
    SequenceTagger(loss=loss, max_iterations=3).fit(matrix[:first], tags[:50], lengths=lengths[:50])  # compile
    with Peak() as peak:
        model = SequenceTagger(loss=loss, max_iterations=20).fit(matrix, tags, lengths=lengths)
    return {
        "loss": loss, "csr_bytes": csr, "extra_bytes": peak.highest - peak.before,
        "peak_over_input": (csr + peak.highest - peak.before) / csr, "n_weights": int(model.weights_.size),
        "tokens": int(lengths.sum()), "nonzeros": int(matrix.nnz),
    }  # fmt: skip


def main():
    rows = []
    for loss in ("crf", "hinge"):  # each in a process of its own: memory that was freed is not always given back
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append(pool.submit(measured, loss).result())
    save("memory", rows)


if __name__ == "__main__":
    main()
