"""Interrupt a fit, go on with it from its checkpoint, save the model and load it again.

A fit that goes on from a checkpoint ends with the same weights, bit by bit, as one that was never interrupted.
"""

import tempfile
from pathlib import Path

import numpy as np

from maximand import LBFGS, Callback, Checkpoint, SequenceTagger, load, save
from maximand.datasets import simulate_chains


class PowerCut(Callback):
    """Ends the fit at its tenth iteration, as a crash would."""

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        """Raise an error at the tenth iteration."""
        if metadata and metadata["record"].iteration == 10:
            raise RuntimeError("the power is gone")


X, Y = simulate_chains(100)
solver = LBFGS(tolerance=1e-6)
whole = SequenceTagger(loss="crf", solver=solver).fit(X, Y)

with tempfile.TemporaryDirectory() as folder:
    # seconds=0 writes at every iteration; the default of 60 costs next to nothing.
    checkpoint = Checkpoint(Path(folder) / "run.ckpt", seconds=0)
    try:
        SequenceTagger(loss="crf", solver=solver).set_callbacks(checkpoint, PowerCut()).fit(X, Y)
    except RuntimeError as error:
        print(f"interrupted: {error}")

    # The same estimator, the same data, the same path: the fit goes on at iteration 10.
    resumed = SequenceTagger(loss="crf", solver=solver).set_callbacks(checkpoint).fit(X, Y)
    print(f"iterations: {resumed.n_iter_}, without interruption: {whole.n_iter_}")
    print(f"the same weights: {np.array_equal(resumed.weights_, whole.weights_)}")

    save(resumed, Path(folder) / "tagger.maximand")
    loaded = load(Path(folder) / "tagger.maximand")
    same = all(np.array_equal(a, b) for a, b in zip(loaded.predict(X), resumed.predict(X), strict=True))
    print(f"the loaded model predicts the same: {same}")
