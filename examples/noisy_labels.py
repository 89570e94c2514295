"""Classes with wrong training labels: the hinge loss against the ramp loss.

A hinge grows without limit, so one wrong label can pull the weights a long way. The ramp loss is bounded by the cost:
an example that cannot be explained is given up.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maximand import MulticlassClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0, stratify=y)

# Three in ten training labels change places. The test labels stay as they are.
rng = np.random.default_rng(0)
chosen = rng.choice(y.size, 3 * y.size // 10, replace=False)
y[chosen] = y[rng.permutation(chosen)]

for loss in ("hinge", "ramp"):
    model = MulticlassClassifier(loss=loss, regularization=1e-2).fit(X, y)
    print(f"{loss:6} accuracy on clean test labels {model.score(X_test, y_test):.3f}  ({model.stop_reason_})")
