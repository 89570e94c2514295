"""Chain CRF by L-BFGS on CoNLL-2000 against CRFsuite: same features, same objective. Then Viterbi and marginals.

python benchmarks/chain_crf.py [sentences]
"""

import sys
import tempfile
import time
import warnings

import numpy as np
import pycrfsuite

from data import chunking, conll2000
from maximand import LBFGS, Callback, SequenceTagger
from maximand.tasks import Ragged
from report import save

C2 = 1.0


def crfsuite_trainer(names, tags, max_iterations):
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for tokens, labels in zip(names, tags, strict=True):
        trainer.append(pycrfsuite.ItemSequence(tokens), labels)
    trainer.set_params({"c1": 0.0, "c2": C2, "max_iterations": max_iterations, "num_memories": 6})
    return trainer


def crfsuite_marginals(tagger, items):
    label = tagger.labels()[0]
    for item in items:
        tagger.set(item)
        for t in range(len(item)):
            tagger.marginal(label, t)


def best_of_several(*functions, repeats=4):
    """Seconds of each function, the best of several interleaved calls, the first of which does not count."""
    best = [np.inf] * len(functions)
    for repeat in range(repeats):
        for i, function in enumerate(functions):
            began = time.perf_counter()
            function()
            if repeat:
                best[i] = min(best[i], time.perf_counter() - began)
    return best


class Until(Callback):
    """Stops when the objective has fallen to a value."""

    def __init__(self, value):
        self.value, self.reached = value, False

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.reached |= metadata is not None and metadata["record"].value <= self.value
        return self.reached


def main():
    warnings.simplefilter("ignore")
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    names, tags, matrix, lengths = chunking(conll2000(limit=limit))
    n, n_tokens = len(lengths), int(lengths.sum())
    print(f"{n} sentences, {n_tokens} tokens, {matrix.shape[1]} features, {matrix.nnz} nonzeros")

    trainer = crfsuite_trainer(names, tags, 1000)
    with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
        began = time.perf_counter()
        trainer.train(file.name)
        peer_seconds = time.perf_counter() - began
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        items = [pycrfsuite.ItemSequence(tokens) for tokens in names]
    peer_loss = trainer.logparser.last_iteration["loss"]
    peer_iterations = len(trainer.logparser.iterations)

    settings = {
        "loss": "crf",
        "fit_intercept": False,
        "boundaries": False,
        "pairs": "seen",
        "regularization": 2 * C2 / n_tokens,
    }
    warm = SequenceTagger(solver=LBFGS(max_iterations=2), **settings)
    warm.fit(matrix[: lengths[:20].sum()], tags[:20], lengths=lengths[:20])
    until = Until(peer_loss / n_tokens)
    ours = SequenceTagger(solver=LBFGS(tolerance=1e-9, stall=1e-9, max_iterations=2000), **settings)
    ours.set_callbacks(until)
    began = time.perf_counter()
    ours.fit(matrix, tags, lengths=lengths)
    our_seconds = time.perf_counter() - began
    X = Ragged(matrix, lengths)
    peer_viterbi, our_viterbi, peer_marginals, our_marginals = best_of_several(
        lambda: [tagger.tag(item) for item in items],
        lambda: ours.predict(X),
        lambda: crfsuite_marginals(tagger, items),
        lambda: ours.predict_proba(X),
    )
    exact = SequenceTagger(solver=LBFGS(tolerance=1e-7, stall=1e-8, max_iterations=2000), **settings)
    exact.fit(matrix, tags, lengths=lengths)
    tokens = float(n_tokens)
    rows = [
        {
            "what": "training", "peer": "CRFsuite", "peer_seconds": peer_seconds, "our_seconds": our_seconds,
            "ratio": peer_seconds / our_seconds, "peer_objective": peer_loss,
            "our_objective": ours.objective_ * n_tokens,
            "reached": until.reached, "peer_iterations": peer_iterations, "our_iterations": ours.n_iter_,
            "n_weights": int(ours.weights_.size),
        },
        {
            "what": "agreement of optima", "peer_objective": peer_loss, "our_objective": exact.objective_ * n_tokens,
            "relative_difference": abs(exact.objective_ * n_tokens - peer_loss) / peer_loss,
            "gap": exact.gap_ * n_tokens,
        },
        {
            "what": "viterbi, tokens/s", "peer": "CRFsuite", "peer_rate": tokens / peer_viterbi,
            "our_rate": tokens / our_viterbi, "ratio": peer_viterbi / our_viterbi,
        },
        {
            "what": "marginals, tokens/s", "peer": "CRFsuite", "peer_rate": tokens / peer_marginals,
            "our_rate": tokens / our_marginals, "ratio": peer_marginals / our_marginals,
        },
    ]  # fmt: skip
    save(
        "chain_crf",
        rows,
        sentences=n,
        tokens=int(tokens),
        features=int(matrix.shape[1]),
        labels=len(ours.classes_),
        c2=C2,
        threads=2,
    )


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
