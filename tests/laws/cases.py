"""What the laws run over. A new space, loss, cost, feature map or solver is enrolled here, by one line."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from maximand.batch import Batch
from maximand.costs import (
    Absolute,
    Cost,
    CostMatrix,
    DifferentParts,
    DiscountedGain,
    Hamming,
    MissedTop,
    PrecisionAt,
    Squared,
    Sum,
    Weighted,
    ZeroOne,
)  # fmt: skip
from maximand.features import ChainFeatures, FeatureMap, GraphFeatures, GraphRows, PartFeatures, PerLabel, Rows
from maximand.inference import Exhaustive, Structure, Tree
from maximand.losses import LOSSES
from maximand.objective import Objective
from maximand.oracles import Soft
from maximand.solvers import CCCP, LBFGS, BlockFrankWolfe, NSlack, OneSlack, Polyak, Subgradient
from maximand.spaces import (
    Annotations,
    Chain,
    Choice,
    Choices,
    Graph,
    Labels,
    Legality,
    Matching,
    OracleSpace,
    Orders,
    Ordinal,
    OutputSpace,
    Parts,
    Product,
    Ranking,
    Sizes,
    Subset,
)  # fmt: skip
from thinning import cover

RANDOM_MATRIX = np.array([[0.0, 1.0, 0.3], [2.0, 0.0, 0.7], [0.5, 1.5, 0.0]])


@dataclass
class Case:
    """A small batch with everything that the laws ask about it."""

    name: str
    space: OutputSpace
    inputs: Rows
    features: FeatureMap
    full: Any
    partial: Any
    unknown: Any
    costs: list[Cost]
    soft: bool = True  # whether the space has marginals

    @property
    def kind(self):
        """Cases of one kind differ in sizes, annotations and costs alone: what solvers do with them is the same."""
        return type(self.features), self.inputs.sparse, type(self.space)

    def theta(self, rng):
        return rng.normal(size=self.space.n_parts) * 2

    def singles(self):
        for i in range(self.space.n_examples):
            yield slice(i, i + 1), self.space.take(slice(i, i + 1))

    def answers(self, loss):
        """Whether the space can answer what the loss asks: not where it asks for marginals that there are none of."""
        return self.soft or not any(isinstance(side, Soft) and side.smooth for side in (loss.penalty, loss.reward))

    def objective(self, loss, annotation=None, regularization=0.05, cost=None, **settings):
        annotation = self.full if annotation is None else annotation
        n = self.space.n_examples
        batch = Batch(self.inputs, self.space, annotation, cost or self.costs[0], np.ones(n))
        return Objective.of(batch, self.features, loss, regularization, **settings)


def choice(rng, sparse=False):
    n, k, d = 7, 3, 4
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    codes = rng.integers(0, k, n)
    matrix = csr_array(X) if sparse else X
    candidates = np.array([[True, True, False], [False, True, True]])
    mixed = codes.copy()
    mixed[:3] = [-1, -2, -3]
    full = Labels.single(codes, k)
    features = PerLabel.seen(matrix, full.allowed_nodes) if sparse else PerLabel(d, k)
    return Case(
        "choice, seen pairs" if sparse else "choice", Choice(n, k), Rows.single(matrix), features, full,
        Labels.single(mixed, k, candidates), Labels.single(np.full(n, -1), k),
        [ZeroOne(), Hamming(np.array([1.0, 2.0, 0.5])), CostMatrix(RANDOM_MATRIX)],
    )  # fmt: skip


def chain(rng, sparse=False, legal=False):
    lengths, k, d = np.array([3, 1, 4, 2]), 3, 4
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = rng.normal(size=(10, d)) * (rng.random((10, d)) < 0.7)
    legality = None
    codes = rng.integers(0, k, 10)
    if legal:
        between = np.ones((k, k), dtype=bool)
        between[0, 1] = between[2, 2] = False
        legality = Legality.of(np.array([True, True, False]), between, np.array([True, False, True]))
        codes = np.array([1, 0, 2, 0, 1, 2, 0, 0, 1, 0])
    full = Labels(codes, offsets, k)
    mixed = codes.copy()
    mixed[[1, 3, 5]] = [-1, -1, -2]
    candidates = np.eye(k, dtype=bool)[[codes[5]]] | np.array([[True, False, False]])
    matrix = csr_array(X) if sparse else X
    emission = PerLabel.seen(matrix, full.allowed_nodes) if sparse else PerLabel(d, k, bias=False)
    features = ChainFeatures(emission, np.array([1, 3, 4, 8]) if sparse else None, start=not sparse, end=True)
    name = "chain" + (", seen pairs" if sparse else "") + (", illegal transitions" if legal else "")
    position_weights = rng.random(10) + 0.5
    return Case(
        name, Chain(lengths, k, legality), Rows(matrix, offsets), features,
        Labels(codes, offsets, k, weights=position_weights if sparse else None),
        Labels(mixed, offsets, k, candidates), Labels(np.full(10, -1), offsets, k),
        [Hamming(), Hamming(np.array([1.0, 2.0, 0.5]), normalized=True), CostMatrix(RANDOM_MATRIX)],
    )  # fmt: skip


def graph(rng, tied=False):
    """A triangle with a tail, an edge written backwards, a lone node; nodes of two or three states."""
    d, k = 3, 3
    shapes = [
        ([3, 2, 3, 3], [(0, 1), (2, 1), (0, 2), (2, 3)], [0, 1, 1, 0]),
        ([2, 3], [(1, 0)], [1]),
        ([3], [], []),
        ([3, 2, 3, 3], [(0, 1), (2, 1), (0, 2), (2, 3)], [0, 1, 1, 0]),
    ]
    structures = [Structure.of(n, edges, types if tied else None, 2 if tied else None) for n, edges, types in shapes]
    space = Graph(structures, Tree())
    states = space.graphs.states
    codes = rng.integers(0, states)
    n_edges = int(space.graphs.table_offsets[-1])
    offsets = space.offsets
    nodes = rng.normal(size=(codes.size, d)) * (rng.random((codes.size, d)) < 0.7)
    mixed = codes.copy()
    mixed[[0, 4]] = -1
    mixed[2] = -2
    candidates = np.eye(k, dtype=bool)[[codes[2]]] | np.array([[True, False, False]])
    if tied:
        inputs, features = (
            Rows(nodes, offsets),
            GraphFeatures(PerLabel(d, k), np.arange(k * k).reshape(k, k), n_tables=2),
        )
    else:
        tables = Rows(rng.normal(size=(n_edges, 2)), space.graphs.table_offsets)
        inputs = GraphRows(nodes, offsets, tables)
        pattern = np.array([[0, 1, -1], [1, 2, 1], [-1, 1, 0]])
        features = GraphFeatures(PerLabel(d, k, bias=False), pattern, n_table_features=2)
    return Case(
        "graph, tied tables" if tied else "graph, edge features", space, inputs, features,
        Labels(codes, offsets, k, weights=rng.random(codes.size) + 0.5 if tied else None),
        Labels(mixed, offsets, k, candidates), Labels(np.full(codes.size, -1), offsets, k),
        [Hamming(), Hamming(np.array([1.0, 2.0, 0.5]), normalized=True), CostMatrix(RANDOM_MATRIX)],
    )  # fmt: skip


def label_sets(rng):
    """Sets of three labels, each with a score of its own, each pair with a weight: complete graphs of two states."""
    n, n_labels, d = 4, 3, 3
    space = Graph([Structure.complete(n_labels)] * n, Exhaustive())
    codes = rng.integers(0, 2, n * n_labels)
    mixed = codes.copy()
    mixed[[1, 5, 6]] = -1
    pattern = np.array([[-1, -1], [-1, 0]])
    features = GraphFeatures(PerLabel(d, n_labels), pattern, n_tables=3, columns=np.array([-1, 0, -1, 1, -1, 2]))
    return Case(
        "label sets", space, Rows.single(rng.normal(size=(n, d))), features, Labels(codes, space.offsets, 2),
        Labels(mixed, space.offsets, 2), Labels(np.full(codes.size, -1), space.offsets, 2),
        [Hamming(normalized=True), Hamming()],
    )  # fmt: skip


def table(rng, name, space, codes, mixed, costs, candidates=None, soft=True):
    """A case of a space in which all examples have the same parts; codes and mixed are matrices (example, slot)."""
    n, d = space.n_examples, 3
    offsets = np.arange(n + 1) * space.n_slots
    k = space.n_labels
    partial = Labels(mixed.ravel(), offsets, k, np.zeros((0, k), dtype=bool) if candidates is None else candidates)
    return Case(
        name, space, Rows.single(rng.normal(size=(n, d))), PerLabel(d, space.width), Labels(codes.ravel(), offsets, k),
        partial, Labels(np.full(codes.size, -1), offsets, k), costs, soft,
    )  # fmt: skip


def subset(rng, budget=False):
    n, k = 5, 4
    codes = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    mixed = codes.copy()
    mixed[0, 1] = mixed[1, 3] = mixed[2, 0] = mixed[2, 1] = -1
    mixed[3] = -1
    space = Subset(n, k, 1, 2) if budget else Subset(n, k)
    costs = [Hamming(normalized=True), Hamming(np.array([1.0, 2.0])), CostMatrix([[0.0, 0.3], [1.5, 0.0]])]
    return table(rng, "subset, 1 to 2 of 4" if budget else "subset", space, codes, mixed, costs)


def sets_of_two(rng):
    codes = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]])
    mixed = codes.copy()
    mixed[0, :2] = -1
    return table(rng, "subset, 2 of 4", Subset(3, 4, 2, 2), codes, mixed, [PrecisionAt(2), Hamming()])


def sets_with_sizes(rng):
    """Annotations say how many items there are at least and at most, besides which ones."""
    case = subset(rng, budget=True)
    least, most = np.array([2, 1, 2, 0, 1]), np.array([2, 1, 2, 1, 4])
    labels = case.partial
    partial = Sizes(labels.codes, labels.offsets, 2, least=least, most=most)
    return replace(case, name="subset with sizes", partial=partial)


def choices(rng):
    codes = rng.integers(0, 3, (4, 2))
    mixed = codes.copy()
    mixed[0, 1] = mixed[2, 0] = -1
    mixed[1, 1] = -2
    candidates = np.eye(3, dtype=bool)[[codes[1, 1]]] | np.array([[False, True, False]])
    costs = [Hamming(), CostMatrix(RANDOM_MATRIX, normalized=True)]
    return table(rng, "independent choices", Choices(4, 2, 3), codes, mixed, costs, candidates)


def matching(rng):
    codes = np.array([rng.permutation(4) for _ in range(4)])
    mixed = codes.copy()
    mixed[0, [0, 2]] = mixed[1, 3] = -1
    mixed[2, 1] = -2
    candidates = np.eye(4, dtype=bool)[[codes[2, 1]]] | np.array([[True, False, True, False]])
    costs = [
        Hamming(normalized=True), Absolute(), Squared(), MissedTop(2), DiscountedGain(), DiscountedGain(top=2),
        DiscountedGain(gains=[5, 1], discounts=[3, 2, 2, 1]), Weighted(Absolute(), [3.0, 2.0, 1.0, 0.5]),
    ]  # fmt: skip
    return table(rng, "matching", Matching(4, 4), codes, mixed, costs, candidates, soft=False)


def ranking(rng):
    codes = np.array([rng.permutation(4) for _ in range(4)])
    mixed = codes.copy()
    mixed[1] = mixed[3] = -1  # a cost of some positions alone would not be affine
    weights = np.array([5.0, 3.5, 1.0, 0.0])
    costs = [DiscountedGain(gains=weights, discounts=weights), CostMatrix(np.subtract.outer(weights, weights) ** 2)]
    return table(rng, "ranking", Ranking(4, 4, weights), codes, mixed, costs, soft=False)


def orders(rng):
    """Matchings of which an order of some items is known."""
    groups = np.array([[0, 1, 2, 3], [1, 0, -1, -1], [-1, 1, 0, 0], [-1, 0, -1, 1]])
    codes = np.array([[0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 0, 1], [1, 0, 2, 3]])
    case = table(rng, "matching in order", Matching(4, 4), codes, codes, [Hamming()], soft=False)
    return replace(case, partial=Orders.of(groups))


def ordinal(rng):
    codes = rng.integers(0, 4, (6, 1))
    codes[1] = 1
    mixed = codes.copy()
    mixed[0], mixed[1] = -1, -2
    candidates = np.array([[False, True, False, True]])
    costs = [Absolute(), ZeroOne(), Squared(normalized=True), Weighted(Absolute(), [1.0, 0.5, 2.0, 1.0])]
    return table(rng, "ordinal", Ordinal(6, 4), codes, mixed, costs, candidates)


def products(rng):
    n, d = 4, 3
    factors = [table_of(rng, n) for table_of in (_levels, _sets, _labels)]
    space = Product(*(factor.space for factor in factors))
    return Case(
        "product", space, Rows.single(rng.normal(size=(n, d))), PerLabel(d, space.n_parts // n),
        Annotations(tuple(factor.full for factor in factors)), Annotations(tuple(factor.partial for factor in factors)),
        Annotations(tuple(factor.unknown for factor in factors)), [Sum((Absolute(), Hamming(), ZeroOne()))],
    )  # fmt: skip


def _levels(rng, n):
    codes = rng.integers(0, 3, (n, 1))
    return table(rng, "", Ordinal(n, 3), codes, np.where(np.arange(n)[:, None] < 2, -1, codes), [])


def _sets(rng, n):
    codes = np.array([[1, 0], [0, 1], [0, 0], [1, 0]])
    return table(rng, "", Subset(n, 2, 0, 1), codes, np.where(np.arange(n)[:, None] == 2, -1, codes), [])


def _labels(rng, n):
    codes = rng.integers(0, 2, (n, 1))
    return table(rng, "", Choice(n, 2), codes, np.where(np.arange(n)[:, None] == 1, -1, codes), [])


def subsets_of_two(instance):
    return [np.array(bits, dtype=float) for bits in product((0, 1), repeat=instance) if sum(bits) <= 2]


def best_subset(theta, instance):
    return max(subsets_of_two(instance), key=lambda y: sum(t for t, used in zip(theta, y, strict=True) if used))


def user_oracle(rng):
    sizes = [4, 3, 5]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    space = OracleSpace(best_subset, sizes, sizes, outputs=subsets_of_two)
    psi = np.concatenate([subsets_of_two(size)[rng.integers(5)] for size in sizes])
    partial = psi.copy()
    partial[[0, 2, 5, 6, 10]] = -1
    return Case(
        "user oracle", space, Rows(rng.normal(size=(12, 3)), offsets), PartFeatures(3), Parts(psi, offsets),
        Parts(partial, offsets), Parts(np.full(12, -1.0), offsets), [DifferentParts()],
    )  # fmt: skip


def cases(seed=0):
    rng = np.random.default_rng(seed)
    return [
        choice(rng), choice(rng, sparse=True), chain(rng), chain(rng, sparse=True), chain(rng, legal=True),
        user_oracle(rng), graph(rng), graph(rng, tied=True), label_sets(rng), subset(rng), subset(rng, budget=True),
        sets_of_two(rng), choices(rng), matching(rng), ranking(rng), ordinal(rng), products(rng), sets_with_sizes(rng),
        orders(rng),
    ]  # fmt: skip


CASES = cases()
NAMES = [case.name for case in CASES]

SOLVERS = {
    "OneSlack": OneSlack(tolerance=1e-6, max_iterations=3000),
    "NSlack": NSlack(tolerance=1e-6),
    "BlockFrankWolfe": BlockFrankWolfe(tolerance=1e-6, averaging=True),
    "LBFGS": LBFGS(tolerance=1e-8),
    "Subgradient, decreasing": Subgradient(batch_size=2, tolerance=1e-5, max_iterations=1500),
    "Subgradient, Polyak": Subgradient(
        steps=Polyak(), batch_size=None, averaging=False, tolerance=1e-5, max_iterations=4000
    ),
    "CCCP": CCCP(inner=OneSlack(tolerance=1e-6, max_iterations=3000), tolerance=1e-6),
}
ALL_LOSSES = list(LOSSES.values())
ANSWERED = [(case, loss) for case in CASES for loss in ALL_LOSSES if case.answers(loss)]
PAIRS = cover(
    ANSWERED, lambda pair: {pair[0].name, pair[1].name, (pair[0].kind, type(pair[1].penalty), pair[1].penalty.smooth)}
)
PAIR_NAMES = [f"{loss.name}-{case.name}" for case, loss in PAIRS]
