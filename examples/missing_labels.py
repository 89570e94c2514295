"""A noisy image with most labels missing: three losses that differ in what they make of a missing label."""

import numpy as np

from maximand import BeliefPropagation, Calibrated, GraphLabeler, Hamming, MaxScore, Subgradient

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:10, :20]
image = np.select([columns < 7, rows + columns < 18], [1, 3], 2)  # three regions


def noisy(count):
    """Add noise to the image."""
    return [(image + 1.5 * rng.normal(size=image.shape))[:, :, None] for _ in range(count)]


pictures, tests = noisy(8), noisy(8)
labels = [np.where(rng.random(image.shape) < 0.8, -1, image) for _ in pictures]  # -1: four of five are missing
beliefs = BeliefPropagation(max_iterations=10)
for name, loss in {"completes": "hinge", "sums, large margin": "marginal", "sums, likelihood": "crf"}.items():
    solver = Subgradient(batch_size=1, tolerance=1.0)
    labeler = GraphLabeler(loss=loss, directional=False, inference=beliefs, regularization=1e-3, solver=solver)
    labeler.fit(pictures, labels)
    scores = []
    for decoder in (MaxScore(), Calibrated(Hamming())):
        labeler.decoder = decoder
        scores.append(labeler.score(tests, [image] * len(tests)))
    print(f"{name}: {scores[0]:.3f} right, {scores[1]:.3f} by marginals")
