"""What the laws run over: a space, feature map, cost or solver is enrolled by one record, a loss by its own table.

A case gives a small batch of outputs and how its scores are made; the rest is derived. `ENROLLED` in
test_inference.py holds the inferences.
"""

from itertools import product

import numpy as np
from feature_maps import (
    OWN_SPACE,
    block_for_each_kind,
    chain_with_all,
    chain_with_seen,
    chain_with_states,
    edge_features,
    one_row,
    pair_tables,
    seen_pairs,
    several_types,
    stencils,
    texts,
    tied,
    tied_states,
)
from record import Case, annotations, choices, labels, parts

from maximand.costs import (
    Absolute,
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
from maximand.inference import Exhaustive, Structure, Tree
from maximand.losses import LOSSES
from maximand.solvers import (
    CCCP,
    LBFGS,
    BlockFrankWolfe,
    Decreasing,
    NSlack,
    OneSlack,
    Polyak,
    Race,
    Smoothing,
    Subgradient,
)
from maximand.spaces import (
    Chain,
    Choice,
    Choices,
    Events,
    Graph,
    Incidence,
    LabelStates,
    Legality,
    Matching,
    NodeTypes,
    OracleSpace,
    Orders,
    Ordinal,
    Product,
    Ranking,
    Sizes,
    Subset,
    Tracking,
)  # fmt: skip
from pages import run
from thinning import cover

PAGE = run("extending.md", *OWN_SPACE)
MATRIX = CostMatrix([[0.0, 1.0, 0.3], [2.0, 0.0, 0.7], [0.5, 1.5, 0.0]])
CLASS_COSTS = [ZeroOne(), Hamming(np.array([1.0, 2.0, 0.5])), MATRIX]
TOKEN_COSTS = [Hamming(), Hamming(np.array([1.0, 2.0, 0.5]), normalized=True), MATRIX]
SET_COSTS = [Hamming(normalized=True), Hamming(np.array([1.0, 2.0])), CostMatrix([[0.0, 0.3], [1.5, 0.0]])]
CLASSES = labels(3, [0, 2, 1, 1, 0, 2, 1])
TAGS = [[0, 2, 1], [2], [1, 1, 0, 2], [2, 0]]
LEGAL_TAGS = [[1, 0, 2], [0], [1, 2, 0, 0], [1, 0]]
LEGALITY = Legality.of([True, True, False], [[True, False, True], [True, True, True], [True, True, False]],
                       [True, False, True])  # fmt: skip
SETS = labels(2, [[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
ORDERS = labels(4, [[2, 0, 3, 1], [1, 0, 2, 3], [3, 2, 0, 1], [1, 0, 2, 3]])
POSITIONS = np.array([5.0, 3.5, 1.0, 0.0])
# A triangle with a tail, an edge written backwards, a lone node; nodes of two or three states.
GRAPHS = [
    ([3, 2, 3, 3], [(0, 1), (2, 1), (0, 2), (2, 3)], [0, 1, 1, 0]),
    ([2, 3], [(1, 0)], [1]),
    ([3], [], []),
    ([3, 2, 3, 3], [(0, 1), (2, 1), (0, 2), (2, 3)], [0, 1, 1, 0]),
]
NODES = [[2, 1, 0, 0], [1, 2], [2], [0, 0, 1, 2]]
# Label 0 has two states, label 2 too; hidden positions have one.
STATES = LabelStates.of([2, 1, 2], 1)
OF_CLASSES = LabelStates.of([2, 1, 3])
HIDDEN_POSITIONS = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0, 1], dtype=bool)
STATE_LEGALITY = STATES.legality(LEGALITY)
NEVER_SEEN = np.array([0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1], dtype=bool)
# Two types of nodes, which share the label 1; the first graph is a triangle, the third has no node of the first type.
TYPES = NodeTypes.of([[0, 1, 2], [1, 3]], [(0, 0), (0, 1)])
TYPED_GRAPHS = [
    Structure.of([2, 3, 3], [(1, 0), (2, 0), (1, 2)], [1, 2, 0], types=[1, 0, 0]),
    Structure.of([3, 3, 2, 2], [(0, 1), (0, 3), (1, 2)], [0, 1, 2], types=[0, 0, 1, 1]),
    Structure.of([2], [], [], 1, types=[1], table_types=[(0, 0)]),
    Structure.of([3, 2], [(0, 1)], [1], types=[0, 1], table_types=[(0, 0), (0, 1)]),
]


# Detections of two frames: moves, divisions, appearances and disappearances, by the histories and fates that they fill.
# The third example has three frames of two detections, of which the last event makes one false.
TWO_FRAMES = Incidence.of(
    [
        [[0, 2], [0, 3], [1, 3], [1, 4], [0, 2, 3], [1, 3, 4], [2], [3], [4], [0], [1]],
        [[0, 1], [0, 2], [0, 1, 2], [1], [2], [0]],
        [
            [0, 2],
            [0, 3],
            [1, 3],
            [1, 2],
            [2, 4],
            [2, 5],
            [3, 5],
            [0, 2, 3],
            [2, 4, 5],
            [0],
            [1],
            [2],
            [3],
            [4],
            [5],
            [2, 3],
        ],
        [[0, 2], [1, 2], [0], [1], [2]],
    ],
    [5, 3, 6, 3],
)
TRACKED = np.concatenate(
    [np.isin(np.arange(n), chosen) for n, chosen in ((11, (0, 5)), (6, 2), (16, (0, 2, 13, 14)), (5, (1, 2)))]
)


def sets_of_at_most_two(n_items):
    return [np.array(bits, dtype=float) for bits in product((0, 1), repeat=n_items) if sum(bits) <= 2]


def best_set(theta, n_items):
    return max(sets_of_at_most_two(n_items), key=lambda y: sum(t for t, used in zip(theta, y, strict=True) if used))


CASES = [
    Case("choice", Choice(7, 3), CLASSES, CLASS_COSTS, one_row),
    Case("choice, seen pairs", Choice(7, 3), CLASSES, CLASS_COSTS, seen_pairs),
    Case("chain", Chain(np.array([3, 1, 4, 2]), 3), labels(3, TAGS), TOKEN_COSTS, chain_with_all),
    Case(
        "chain, seen pairs", Chain(np.array([3, 1, 4, 2]), 3), labels(3, TAGS, np.linspace(0.5, 1.5, 10)), TOKEN_COSTS,
        chain_with_seen,
    ),
    Case(
        "chain, illegal transitions", Chain(np.array([3, 1, 4, 2]), 3, LEGALITY), labels(3, LEGAL_TAGS), TOKEN_COSTS,
        chain_with_all,
    ),
    Case(
        "user oracle", OracleSpace(best_set, [4, 3, 5], [4, 3, 5], outputs=sets_of_at_most_two),
        parts([[0, 1, 0, 1], [0, 0, 1], [1, 0, 0, 0, 0]]), [DifferentParts()], stencils,
    ),
    Case(
        "tracking", Tracking(TWO_FRAMES), Events(TRACKED.astype(float), TWO_FRAMES.offsets),
        [DifferentParts()], stencils,
    ),
    Case(
        "graph, edge features", Graph([Structure.of(states, edges) for states, edges, _ in GRAPHS], Tree()),
        labels(3, NODES), TOKEN_COSTS, edge_features,
    ),
    Case(
        "graph, tied tables", Graph([Structure.of(*graph, 2) for graph in GRAPHS], Tree()),
        labels(3, NODES, np.linspace(0.5, 1.5, 11)), TOKEN_COSTS, tied,
    ),
    Case(
        "label sets", Graph([Structure.complete(3)] * 4, Exhaustive()),
        labels(2, [[1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 1]]), [Hamming(normalized=True), Hamming()], pair_tables,
    ),
    Case(
        "graph, nodes of two types", Graph(TYPED_GRAPHS, Exhaustive(), types=TYPES),
        labels(4, [[3, 2, 0], [1, 2, 1, 3], [1], [0, 3]], np.linspace(0.5, 1.5, 10)),
        [Hamming(), Hamming(np.array([1.0, 2.0, 0.5, 1.5]), normalized=True), Absolute()], several_types,
    ),
    Case("subset", Subset(5, 4), SETS, SET_COSTS),
    Case("subset, 1 to 2 of 4", Subset(5, 4, 1, 2), SETS, SET_COSTS),
    Case(
        "subset, 2 of 4", Subset(3, 4, 2, 2), labels(2, [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]]),
        [PrecisionAt(2), Hamming()],
    ),
    Case(
        "subset with sizes", Subset(5, 4, 1, 2), SETS, SET_COSTS,
        partial=Sizes(
            np.array([[1, -1, 0, 1], [0, 1, 0, -1], [-1, -1, 0, 0], [-1, -1, -1, -1], [0, 0, 0, 1]]).ravel(),
            SETS.offsets, 2, least=np.array([2, 1, 2, 0, 1]), most=np.array([2, 1, 2, 1, 4]),
        ),
    ),
    Case(
        "independent choices", Choices(4, 2, 3), labels(3, [[0, 2], [1, 1], [2, 0], [1, 0]]),
        [Hamming(), CostMatrix(MATRIX.costs, normalized=True)],
    ),
    Case(
        "matching", Matching(4, 4), ORDERS,
        [
            Hamming(normalized=True), Absolute(), Squared(), MissedTop(2), DiscountedGain(), DiscountedGain(top=2),
            DiscountedGain(gains=[5, 1], discounts=[3, 2, 2, 1]), Weighted(Absolute(), [3.0, 2.0, 1.0, 0.5]),
        ],
    ),
    Case(
        "matching in order", Matching(4, 4), labels(4, [[0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 0, 1], [1, 0, 2, 3]]),
        [Hamming()], partial=Orders.of(np.array([[0, 1, 2, 3], [1, 0, -1, -1], [-1, 1, 0, 0], [-1, 0, -1, 1]])),
    ),
    Case(
        "ranking", Ranking(4, 4, POSITIONS), ORDERS,
        [
            DiscountedGain(gains=POSITIONS, discounts=POSITIONS),
            CostMatrix(np.subtract.outer(POSITIONS, POSITIONS) ** 2),
        ],
        all_or_nothing=True,  # a cost of some positions alone would not be affine
    ),
    Case(
        "ordinal", Ordinal(6, 4), labels(4, [0, 1, 3, 2, 2, 0]),
        [Absolute(), ZeroOne(), Squared(normalized=True), Weighted(Absolute(), [1.0, 0.5, 2.0, 1.0])],
    ),
    Case(
        "product", Product(Ordinal(4, 3), Subset(4, 2, 0, 1), Choice(4, 2)),
        annotations(labels(3, [0, 2, 1, 1]), labels(2, [[1, 0], [0, 1], [0, 0], [1, 0]]), labels(2, [0, 1, 1, 0])),
        [Sum((Absolute(), Hamming(), ZeroOne()))], block_for_each_kind,
    ),
    Case(
        "product of a chain and a choice", Product(Chain(np.array([2, 2, 2, 2]), 2), Choice(4, 3)),
        annotations(labels(2, [[0, 1], [1, 1], [0, 0], [1, 0]]), labels(3, [2, 0, 1, 1])),
        [Sum((Hamming(), ZeroOne()))], block_for_each_kind,
    ),
    Case(
        "texts, of docs/extending.md", PAGE["Texts"]([2, 1, 3, 2], 2, 3),
        labels(3, [[1, 0, 2], [0, 1], [1, 2, 2, 0], [0, 1, 1]]),
        [PAGE["TopicsAndTags"](), Hamming(), CostMatrix(MATRIX.costs, normalized=True)], texts,
    ),
]  # fmt: skip
NAMES = [case.name for case in CASES]
# Spaces with slots that are never annotated, which no annotation says anything of.
HIDDEN_CASES = [
    Case(
        "graph, hidden nodes",
        Graph([Structure.of(*graph, 2) for graph in GRAPHS], Tree(), NEVER_SEEN),
        labels(3, [[2, -1, 0, -1], [1, 2], [-1], [-1, 0, -1, -1]]),
        TOKEN_COSTS,
        tied,
        partial=labels(3, [[-1, -1, 0, -1], [1, 2], [-1], [-1, -1, -1, -1]]),
    ),
    Case(
        "choice, states of labels",
        Choice(7, 6, OF_CLASSES),
        OF_CLASSES.annotation(CLASSES),
        CLASS_COSTS,
        partial=OF_CLASSES.annotation(choices(3, [0, -1, 1, -2, 0, -1, 1], [[1, 1, 0]])),
    ),
    Case(
        "chain, states of labels and of hidden positions",
        Chain(np.array([3, 1, 4, 2]), 6, STATE_LEGALITY, STATES, HIDDEN_POSITIONS),
        STATES.annotation(labels(3, [[0, -1, 2], [0], [-1, 1, 2, 0], [1, -1]])),
        TOKEN_COSTS,
        chain_with_states,
        partial=STATES.annotation(choices(3, [[0, -1, -2], [0], [-1, -1, 2, -2], [-1, -1]], [[1, 1, 0]])),
    ),
    Case(
        "graph, states of labels",
        Graph(
            [Structure.of(np.add(sizes, 1), edges, tables, 2) for sizes, edges, tables in GRAPHS],
            Tree(),
            states=LabelStates.of([1, 2, 1]),
        ),
        LabelStates.of([1, 2, 1]).annotation(labels(3, [[2, 1, 0, 0], [1, 2], [2], [0, 0, 1, 2]])),
        TOKEN_COSTS,
        tied_states,
        partial=LabelStates.of([1, 2, 1]).annotation(
            choices(3, [[2, -2, 0, -1], [1, -1], [-1], [-2, 0, -1, 2]], [[1, 1, 0]])
        ),
    ),
]

SOLVERS = {
    "OneSlack": OneSlack(tolerance=1e-6, max_iterations=3000),
    "NSlack": NSlack(tolerance=1e-6),
    "BlockFrankWolfe": BlockFrankWolfe(tolerance=1e-6, averaging=True),
    "LBFGS": LBFGS(tolerance=1e-8),
    "Smoothing": Smoothing(tolerance=1e-5),
    "Race": Race(tolerance=1e-6),
    "Subgradient, decreasing": Subgradient(steps=Decreasing(), batch_size=2, max_iterations=1500),
    "Subgradient, Polyak": Subgradient(
        steps=Polyak(), batch_size=None, averaging=False, tolerance=1e-5, max_iterations=4000
    ),
    "CCCP": CCCP(inner=OneSlack(tolerance=1e-6, max_iterations=3000), tolerance=1e-6),
}
ANSWERED = [(case, loss) for case, loss in product(CASES, LOSSES.values()) if case.answers(loss)]
PAIRS = cover(
    ANSWERED, lambda pair: {pair[0].name, pair[1].name, (pair[0].kind, type(pair[1].penalty), pair[1].penalty.smooth)}
)
PAIR_NAMES = [f"{loss.name}-{case.name}" for case, loss in PAIRS]


def valid(solver, objective):
    """Whether the solver can minimise the objective."""
    try:
        solver.check(objective)
    except ValueError:
        return False
    return True
