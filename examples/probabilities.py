"""Probabilities of tags, the best few tag sequences, and decoding by expected cost.

A model with a crf loss defines a distribution over tag sequences. `predict` returns its mode; `predict_proba` the
probability of each tag at each token; `predict_k_best` the best sequences with their scores.
"""

import numpy as np

from maximand import Calibrated, Hamming, SequenceTagger
from maximand.datasets import simulate_chains

X, Y = simulate_chains(400, n_labels=3, noise=2.5, random_state=0)
X, Y, X_test, Y_test = X[:200], Y[:200], X[200:], Y[200:]
model = SequenceTagger(loss="crf", regularization=1e-2).fit(X, Y)

# The tag that the model is least sure of.
chances = model.predict_proba(X_test)
sure = [p.max(axis=1).min() for p in chances]
i = int(np.argmin(sure))
t = int(chances[i].max(axis=1).argmin())
print(f"least sure: sequence {i}, token {t}, probabilities {np.round(chances[i][t], 3)}")

# Its three best taggings; the difference of two scores is the logarithm of how much likelier the first one is.
best = model.predict_k_best([X_test[i]], 3)[0]
for score, tags in best:
    print(f"{score:8.3f}  {''.join(map(str, tags))}  as likely as the best times {np.exp(score - best[0][0]):.2f}")

# Choosing each tag by its own probability makes fewer wrong tags on average than choosing the best sequence.
calibrated = SequenceTagger(loss="crf", regularization=1e-2, decoder=Calibrated(Hamming())).fit(X, Y)
for name, fitted in (("best sequence", model), ("least expected cost", calibrated)):
    print(f"{name:20} wrong tags per sequence {fitted.costs(X_test, Y_test).mean():.3f}")
