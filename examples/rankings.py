"""Rankings: soft permutation matrices, larger sets to project onto, and labels left out of the data."""

import numpy as np

from maximand import Cube, Entropic, Euclidean, LabelRanker, RegularizationCV, RowStochastic

# Five drinks, whose order depends on the row; the margins between them are noisy.
rng = np.random.default_rng(0)
drinks = np.array(["beer", "coffee", "milk", "tea", "water"])
X = rng.normal(size=(600, 8))
liking = X @ rng.normal(size=(8, 5)) + rng.normal(size=(600, 5))
Y = drinks[np.argsort(-liking, axis=1)]
X_train, Y_train, X_test, Y_test = X[:300], Y[:300], X[300:], Y[300:]

for projection in (Euclidean(), Entropic(), Euclidean(RowStochastic()), Euclidean(Cube()), "squared"):
    model = RegularizationCV(LabelRanker(projection=projection), regularizations=np.logspace(-3, 0, 4), cv=3)
    print(f"{projection}: Kendall's tau {model.fit(X_train, Y_train).score(X_test, Y_test):.3f}")

# Of each ranking keep a random half of the labels, in their order.
partial = [[drink for drink in order if rng.random() < 0.5] for order in Y_train]
model = LabelRanker(regularization=1e-2).fit(X_train, partial)
print(f"half of the labels: Kendall's tau {model.score(X_test, Y_test):.3f}")

print(", ".join(model.predict(X_test[:1])[0]))
np.set_printoptions(precision=2, floatmode="fixed")
print(model.predict_soft(X_test[:1])[0])  # rows are drinks, columns are positions
