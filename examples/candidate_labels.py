"""Ambiguous labels: a set of candidates in place of a label, None where nothing is known.

The reward of a loss is a maximum (hinge) or a soft maximum (crf) over the outputs that agree with the annotation, so a
set of candidates needs no other loss and no other estimator.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maximand import MulticlassClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0, stratify=y)

# An annotator names the right digit and two wrong ones; every tenth image was not looked at.
rng = np.random.default_rng(0)
candidates = []
for i, label in enumerate(y.tolist()):
    others = [other for other in range(10) if other != label]
    candidates.append(None if i % 10 == 0 else {label, *rng.choice(others, 2, replace=False).tolist()})

print("the first annotations:", candidates[:3])
known = MulticlassClassifier(loss="crf", regularization=1e-2).fit(X, y)
ambiguous = MulticlassClassifier(loss="crf", regularization=1e-2).fit(X, candidates)
print(f"every label known:   accuracy {known.score(X_test, y_test):.3f}")
print(f"three candidates:    accuracy {ambiguous.score(X_test, y_test):.3f}")
