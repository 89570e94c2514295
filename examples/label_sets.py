"""Label sets: weights for pairs of labels, several inferences, and what each proves about training."""

import numpy as np

from maximand import BeliefPropagation, Exhaustive, GraphCut, Greedy, MaxScore, MultilabelClassifier, Pairwise
from maximand.datasets import one_of_many

# Six labels, of which exactly one is there: no label can be told by itself.
rng = np.random.default_rng(0)
directions = rng.normal(size=(6, 20))
X, Y = one_of_many(400, rng, directions)
X_test, Y_test = one_of_many(1000, rng, directions)

apart = MultilabelClassifier(regularization=1e-3).fit(X, Y)
print(f"labels by themselves: {100 * np.mean(apart.predict(X_test) != Y_test):.1f} % wrong")
for inference in (Exhaustive(), GraphCut(), Greedy(), BeliefPropagation()):
    model = MultilabelClassifier(structure=Pairwise(inference), regularization=1e-3, tolerance=0.02).fit(X, Y)
    wrong = 100 * np.mean(model.set_params(decoder=MaxScore(Exhaustive())).predict(X_test) != Y_test)
    print(f"trained with {inference}: {wrong:.1f} % wrong. {model.guarantee_text_}")
