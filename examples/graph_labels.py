"""Labels of the nodes of graphs: snakes whose pixels can only be told by following them."""

import numpy as np

from maximand import BeliefPropagation, GraphLabeler, NodesAndEdges, Structure
from maximand.datasets import simulate_snakes

rng = np.random.default_rng(0)
pictures, places = simulate_snakes(25, rng, length=6)  # colours say where a snake goes on; labels count its pixels
tests, test_places = simulate_snakes(25, rng, length=6)


def grid_with_edge_features(picture):
    """Edges know their direction and the colours at both ends."""
    height, width, n_colours = picture.shape
    grid, nodes = Structure.grid(height, width), picture.reshape(-1, n_colours)
    ends = np.hstack([nodes[grid.edges[:, 0]], nodes[grid.edges[:, 1]]])
    directions = np.eye(2)[grid.tables]
    return NodesAndEdges(nodes, grid.edges, (directions[:, :, None] * ends[:, None]).reshape(len(ends), -1))


graphs, test_graphs = ([grid_with_edge_features(picture) for picture in part] for part in (pictures, tests))
pixels = GraphLabeler(tables="none", regularization=1e-3, tolerance=0.02).fit(pictures, places)
snakes = GraphLabeler(inference=BeliefPropagation(), regularization=1e-3, tolerance=0.02).fit(graphs, places)

# Half of the labels are enough here, too.
some = [np.where(rng.random(place.shape) < 0.5, place, -1) for place in places]
partly = GraphLabeler(inference=BeliefPropagation(), regularization=1e-3, tolerance=0.02).fit(graphs, some)
print(f"pixels by themselves: {pixels.score(tests, test_places):.3f} right")
print(f"graphs:               {snakes.score(test_graphs, test_places):.3f} right")
print(f"half of the labels:   {partly.score(test_graphs, test_places):.3f} right")
print(snakes.predict(test_graphs[:1])[0].reshape(tests[0].shape[:2]))
