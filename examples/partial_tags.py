"""Tag sequences of which only some tags are known: None marks the others.

The crf loss sums over the tags that are not known, together with the known ones around them. So what lies between two
known tags teaches something too, and the model still learns which tags follow which.
"""

import numpy as np

from maximand import MulticlassClassifier, SequenceTagger
from maximand.datasets import simulate_chains

X, Y = simulate_chains(400, random_state=0)
X, Y, X_test, Y_test = X[:200], Y[:200], X[200:], Y[200:]

for share in (1.0, 0.5, 0.1):
    rng = np.random.default_rng(1)
    known = [[int(tag) if rng.random() < share else None for tag in tags] for tags in Y]
    tagger = SequenceTagger(loss="crf", regularization=1e-2).fit(X, known)

    # For comparison: every token on its own, from the tokens whose tags are known.
    tokens = [(x, tag) for xs, tags in zip(X, known, strict=True) for x, tag in zip(xs, tags, strict=True)]
    rows, labels = zip(*[(x, tag) for x, tag in tokens if tag is not None], strict=True)
    alone = MulticlassClassifier(loss="crf", regularization=1e-2).fit(np.array(rows), np.array(labels))

    print(
        f"{share:4.0%} of the tags known ({len(labels):4}): right tags {tagger.score(X_test, Y_test):.3f}, "
        f"token by token {alone.score(np.vstack(X_test), np.concatenate(Y_test)):.3f}"
    )
