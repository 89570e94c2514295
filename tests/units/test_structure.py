"""Structures of graphs and batches of them."""

import pickle

import numpy as np
import pytest

from maximand.inference import FactorGraphs, Structure, Structures


def test_a_structure_holds_states_edges_and_tables():
    graph = Structure.of([2, 3, 1], [(0, 1), (2, 1)])
    assert graph.n_nodes == 3
    assert graph.tables.tolist() == [0, 1]
    assert graph.n_tables == 2
    tied = Structure.of([2, 3, 1], np.array([(0.0, 1.0), (2.0, 1.0)]), [1, 1])
    assert (tied.edges == graph.edges).all()
    assert tied.edges.dtype == np.int64
    assert tied.n_tables == 2
    assert Structure.of([2, 2], [(0, 1)], [0], 5).n_tables == 5
    for empty in ([], np.zeros((0, 2)), np.zeros(0)):
        lonely = Structure.of([2], empty)
        assert lonely.edges.shape == (0, 2)
        assert lonely.n_tables == 0
    assert Structure.of([2], [], n_tables=3).n_tables == 3


def test_complete_and_edgeless_graphs():
    complete = Structure.complete(4, 3)
    assert complete.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert complete.tables.tolist() == list(range(6))
    assert complete.states.tolist() == [3] * 4
    assert Structure.complete(1).n_tables == 0
    edgeless = Structure.edgeless(3)
    assert edgeless.states.tolist() == [2, 2, 2]
    assert not edgeless.edges.size


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 4), (3, 1), (3, 4)])
def test_grids_join_neighbours(height, width):
    row, column = np.divmod(np.arange(height * width), width)
    for diagonals, reach in ((False, 1), (True, 2)):
        grid = Structure.grid(height, width, 2, diagonals)
        found = {frozenset(edge) for edge in grid.edges.tolist()}
        near = {
            frozenset((u, v))
            for u in range(height * width)
            for v in range(u)
            if max(abs(row[u] - row[v]), abs(column[u] - column[v])) == 1
            and abs(row[u] - row[v]) + abs(column[u] - column[v]) <= reach
        }
        assert found == near
        assert len(found) == len(grid.edges)
        assert grid.n_tables == (4 if diagonals else 2)
        steps = grid.edges[:, 1] - grid.edges[:, 0]
        expected = np.array([1, width, width + 1, width - 1])
        np.testing.assert_array_equal(steps, expected[grid.tables])
        own = Structure.grid(height, width, 2, diagonals, tied=False)
        np.testing.assert_array_equal(own.edges, grid.edges)
        assert own.n_tables == len(own.edges)


def test_equal_structures_are_stored_once():
    first, second = Structure.grid(2, 2), Structure.complete(3)
    again = Structure.of([2] * 4, first.edges.copy(), first.tables.copy(), 2)
    graphs = FactorGraphs.of([first, second, again, second])
    assert len(graphs.structures.graphs) == 2
    assert graphs.which.tolist() == [0, 1, 0, 1]
    differ = [
        Structure.of([2, 2], [(0, 1)]), Structure.of([2, 3], [(0, 1)]), Structure.of([2, 2], [(1, 0)]),
        Structure.of([2, 2], [(0, 1)], [0], 2), Structure.of([2, 2], [(0, 1)], [1], 2), Structure.of([2, 2], []),
    ]  # fmt: skip
    assert len(FactorGraphs.of(differ).structures.graphs) == len(differ)


def test_a_batch_lays_nodes_and_tables_side_by_side():
    graphs = FactorGraphs.of([Structure.of([2, 3], [(1, 0)]), Structure.of([3], []), Structure.complete(3)])
    assert graphs.width == 3
    assert graphs.node_offsets.tolist() == [0, 2, 3, 6]
    assert graphs.table_offsets.tolist() == [0, 1, 1, 4]
    assert graphs.n_parts == 6 * 3 + 4 * 9
    assert graphs.states.tolist() == [2, 3, 3, 2, 2, 2]
    assert graphs.existing.sum(axis=1).tolist() == [2, 3, 3, 2, 2, 2]
    theta = np.arange(graphs.n_parts, dtype=float)
    assert graphs.nodes(theta)[3].tolist() == [9, 10, 11]
    assert graphs.tables(theta)[1, 2, 0] == 18 + 9 + 6
    some = graphs.take(np.array([2, 0]))
    assert some.states.tolist() == [2, 2, 2, 2, 3]
    assert some.structures is graphs.structures
    np.testing.assert_array_equal(some.layout.sizes, graphs.layout.sizes[:, [2, 0]])


def test_every_node_sees_its_edges():
    graphs = [
        Structure.grid(2, 3),
        Structure.complete(4),
        Structure.edgeless(2),
        Structure.of([2] * 3, [(2, 0), (1, 2)]),
    ]
    first_node, states, first_edge, left, right, _, first_incident, incident = Structures(graphs).arrays
    for s, graph in enumerate(graphs):
        edges = graph.edges.tolist()
        assert list(
            zip(left[first_edge[s] : first_edge[s + 1]], right[first_edge[s] : first_edge[s + 1]], strict=True)
        ) == [tuple(edge) for edge in edges]
        for v in range(graph.n_nodes):
            node = first_node[s] + v
            assert states[node] == graph.states[v]
            halves = incident[first_incident[node] : first_incident[node + 1]]
            assert [(int(half) // 2, int(half) % 2) for half in halves] == [
                (e, side) for e, edge in enumerate(edges) for side in (0, 1) if edge[side] == v
            ]


def test_forests_are_known():
    graphs = [
        Structure.of([2] * 5, [(0, 1), (3, 1), (4, 2)]), Structure.of([2] * 3, [(0, 1), (1, 2), (2, 0)]),
        Structure.edgeless(4), Structure.grid(2, 2), Structure.grid(1, 5), Structure.complete(2), Structure.complete(3),
    ]  # fmt: skip
    assert Structures(graphs).forests.tolist() == [True, False, True, False, True, True, False]


def test_structures_pickle():
    graph = pickle.loads(pickle.dumps(Structure.grid(2, 3, diagonals=True)))
    assert graph.key == Structure.grid(2, 3, diagonals=True).key


def test_many_different_graphs_are_told_apart():
    rng = np.random.default_rng(0)
    many = [Structure.of([2] * 8, [(0, 1), (1, int(rng.integers(2, 8)))], [0, i], 3000) for i in range(3000)]
    graphs = FactorGraphs.of(many)
    assert all(graphs.structures.graphs[s] is graph for s, graph in zip(graphs.which, many, strict=True))


BAD = [
    ([2, 2], [(0, 2)], None, None, r"G: edge 0 joins \[0, 2\] but the nodes are numbered 0 to 1"),
    ([2, 2], [(0, 1), (-1, 0)], None, None, r"G: edge 1 joins \[-1, 0\] but the nodes are numbered 0 to 1"),
    ([2, 2], [(1, 1)], None, None, r"G: edge 0 joins node 1 with itself; drop it"),
    ([2, 2, 2], [(0, 1), (1, 2), (1, 0)], None, None, r"G: edge 2 joins \[1, 0\] like edge 0; keep one, with the sum"),
    ([2, 2], [(0, 1), (0, 1)], None, None, r"G: edge 1 joins \[0, 1\] like edge 0"),
    ([2, 2], [(0, 1, 1)], None, None, r"G: the edges have shape \(1, 3\); give pairs of nodes, \(n_edges, 2\)"),
    ([2, 2], [0, 1], None, None, r"G: the edges have shape \(2,\); give pairs"),
    ([2, 2], [[(0, 1)]], None, None, r"G: the edges have shape \(1, 1, 2\); give pairs"),
    ([2, 2], [(0, 1), (1,)], None, None, r"G: the edges differ in length; give as many numbers in each row"),
    ([2, 2], [(0, 0.5)], None, None, r"G: the edges must be whole numbers"),
    ([2, 2], [(0, np.nan)], None, None, r"G: the edges must be whole numbers"),
    ([2, 2], [("0", "1")], None, None, r"G: the edges must be whole numbers"),
    ([2, 2], None, None, None, r"G: the edges must be whole numbers"),
    ([], [], None, None, r"G has no nodes; drop it"),
    (3, [], None, None, r"G: the numbers of states have shape \(\); give one for each node"),
    ([2, 0], [], None, None, r"G: node 1 has 0 states; each node needs at least one"),
    ([2, 1.5], [], None, None, r"G: the numbers of states must be whole numbers"),
    ([2, 2], [(0, 1)], [0, 0], None, r"G: give each of the 1 edges the number of its table, from 0"),
    ([2, 2], [(0, 1)], [-1], None, r"G: give each of the 1 edges the number of its table, from 0"),
    ([2, 2], [(0, 1)], [0.5], None, r"G: the tables must be whole numbers"),
    ([2, 2], [(0, 1)], [2], 2, r"G: edge 0 uses table 2 but there are 2"),
]


@pytest.mark.parametrize(("states", "edges", "tables", "n_tables", "message"), BAD)
def test_bad_graphs_get_one_sentence(states, edges, tables, n_tables, message):
    with pytest.raises(ValueError, match=message):
        Structure.of(states, edges, tables, n_tables, where="G")


def test_bad_batches_get_one_sentence():
    with pytest.raises(ValueError, match="There are no graphs"):
        FactorGraphs.of([])
    with pytest.raises(ValueError, match="A node has 3 states, but there are 2"):
        FactorGraphs.of([Structure.complete(2, 3)], width=2)
    with pytest.raises(ValueError, match="A grid of 0 x 3 has no nodes; both sides must be at least 1"):
        Structure.grid(0, 3)
