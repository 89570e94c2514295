"""Your own space: an argmax in plain Python is all it takes. Here, matchings of two sets of n things.

Part i * n + j says that thing i of the first set goes with thing j of the second. The losses, the solvers and partial
annotations follow from the argmax.
"""

from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from maximand import OracleTask, StructuredPredictor, check_oracle


def best_matching(theta, instance):
    """Return the matching of largest score, as a 0/1 vector; forbidden parts have score -inf."""
    n = len(instance[0])
    y = np.zeros((n, n))
    y[linear_sum_assignment(np.maximum(theta, -1e9).reshape(n, n), maximize=True)] = 1
    return y.ravel()


def differences(instance):
    """Return the features of every pair, one row for each part: how far the two are apart in each coordinate."""
    first, second = instance
    return np.abs(first[:, None] - second[None]).reshape(-1, first.shape[1])


def all_matchings(instance):
    """List all matchings of a small instance, to check the oracle with."""
    return [np.eye(len(instance[0]))[list(order)].ravel() for order in permutations(range(len(instance[0])))]


rng = np.random.default_rng(0)
# The second set is the first, shuffled, with much noise in two of four coordinates.
noise = np.array([0.3, 3.0, 0.3, 3.0])
X, Y = [], []
for n in rng.integers(3, 8, size=120):
    first, order = rng.normal(size=(n, 4)), rng.permutation(n)
    X.append((first, first[order] + noise * rng.normal(size=(n, 4))))
    Y.append(np.eye(n)[order].T.ravel())

small = [instance for instance in X if len(instance[0]) <= 4]
check_oracle(best_matching, small[:3], outputs=all_matchings)
model = StructuredPredictor(OracleTask(best_matching, features=differences), loss="hinge").fit(X[:60], Y[:60])
right = np.mean([np.array_equal(guess, y) for guess, y in zip(model.predict(X[60:]), Y[60:], strict=True)])
print("weights of the four coordinates:", np.round(model.weights_, 2))
print(f"gap {model.gap_ / model.objective_:.1e} of the objective, certified: {model.gap_is_certificate_}")
print(f"matchings without a mistake: {right:.2f}")
