"""All experiments by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from maximand.papers import blondel2019, do2008, finley2008, lou2012, ping2014
from maximand.papers.outcome import Outcome
from maximand.papers.ping2014.image import FIGURE4_SCALES, figure4
from maximand.papers.ping2014.msrc import TABLE4_SCALES, table4
from maximand.papers.snakes import SNAKES_SCALES, snakes
from maximand.papers.study import Study


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper; `scales` says in words what each scale runs."""

    paper: str
    title: str
    scales: Mapping[str, str]
    run: Callable[[Study], Outcome]


BLONDEL = "Blondel: Structured prediction with projection oracles (NeurIPS 2019)"
FINLEY = "Finley, Joachims: Training structural SVMs when exact inference is intractable (ICML 2008)"
LOU = "Lou, Hamprecht: Structured learning from partial annotations (ICML 2012)"
PING = "Ping, Liu, Ihler: Marginal structured SVM with hidden variables (ICML 2014)"
EXPERIMENTS = {
    "blondel2019-table1": Experiment(
        BLONDEL,
        "Table 1: label ranking with Euclidean projections, by the sets of projection and decoding",
        blondel2019.RANKING_SCALES,
        blondel2019.table1,
    ),
    "blondel2019-table2": Experiment(
        BLONDEL,
        "Table 2: label ranking with KL projections, by the sets of projection and decoding",
        blondel2019.RANKING_SCALES,
        blondel2019.table2,
    ),
    "blondel2019-ordinal": Experiment(
        BLONDEL,
        "Ordinal regression: ridge regression, projections and threshold models",
        blondel2019.ORDINAL_SCALES,
        blondel2019.ordinal,
    ),
    "blondel2019-multilabel": Experiment(
        BLONDEL,
        "Multilabel classification: projections onto the unit cube and onto budgets of labels",
        blondel2019.MULTILABEL_SCALES,
        blondel2019.multilabel,
    ),
    "blondel2019-figure3": Experiment(
        BLONDEL,
        "Figure 3: soft permutation matrices predicted by Euclidean and KL projections",
        blondel2019.FIGURE3_SCALES,
        blondel2019.figure3,
    ),
    "do2008-table1": Experiment(
        "Do, Le, Teo, Chapelle, Smola: Tighter bounds for structured estimation (NIPS 2008)",
        "Table 1: multiclass classification with shuffled labels, convex bound against ramp loss",
        do2008.TABLE1_SCALES,
        do2008.table1,
    ),
    "finley2008-table1": Experiment(
        FINLEY,
        "Table 1: label sets by pairwise graphs, five separation oracles under five prediction inferences",
        finley2008.TABLE1_SCALES,
        finley2008.table1,
    ),
    "finley2008-random-mrfs": Experiment(
        FINLEY,
        "Figure: how many labellings of random graphs are better than the one found",
        finley2008.RANDOM_MRFS_SCALES,
        finley2008.random_mrfs,
    ),
    "finley2008-rho": Experiment(
        FINLEY, "Figure: training with rho-approximate oracles", finley2008.RHO_SCALES, finley2008.rho
    ),
    "lou2012-figure3": Experiment(
        LOU,
        "Figures 3 and 4: test loss and training time by the share of events that is annotated",
        lou2012.FIGURE3_SCALES,
        lou2012.figure3,
    ),
    "lou2012-table3": Experiment(
        LOU, "Table 3: losses of partial annotations, a quarter of the events", lou2012.TABLE3_SCALES, lou2012.table3
    ),
    "lou2012-figure5": Experiment(
        LOU,
        "Figures 5 and 6: what recycled bounds and adaptive precision save",
        lou2012.FIGURE5_SCALES,
        lou2012.figure5,
    ),
    "lou2012-held-out": Experiment(
        LOU,
        "Cell tracking on an experiment that took no part in training, beside assignment by distance",
        lou2012.HELD_OUT_SCALES,
        lou2012.held_out,
    ),
    "ping2014-table2": Experiment(
        PING,
        "Table 2: simulated hidden chains and grids, by (sub)gradient descent and by CCCP",
        ping2014.TABLE2_SCALES,
        ping2014.table2,
    ),
    "ping2014-table3": Experiment(
        PING,
        "Table 3: hidden chains by how uncertain hidden nodes are, with M3E and ModLat",
        ping2014.TABLE3_SCALES,
        ping2014.table3,
    ),
    "ping2014-figure2": Experiment(
        PING,
        "Figure 2: how (sub)gradient descent converges, and its inference steps beside those of CCCP",
        ping2014.FIGURE2_SCALES,
        ping2014.figure2,
    ),
    "ping2014-figure3": Experiment(
        PING, "Figure 3: test errors by the number of training examples", ping2014.FIGURE3_SCALES, ping2014.figure3
    ),
    "ping2014-figure5": Experiment(PING, "Figure 5: test log-likelihood", ping2014.FIGURE5_SCALES, ping2014.figure5),
    "snakes": Experiment(
        "The data of Nowozin, Rother, Bagon, Sharp, Yao, Kohli: Decision tree fields (ICCV 2011)",
        "Snakes: labels of pixels by grids with directional tables, against independent pixels",
        SNAKES_SCALES,
        snakes,
    ),
    "ping2014-figure4": Experiment(
        PING, "Figure 4: a noisy image, by the share of labels that are missing in training", FIGURE4_SCALES, figure4
    ),
    "ping2014-table4": Experiment(
        PING, "Table 4: categories of patches of the MSRC images, partly labelled", TABLE4_SCALES, table4
    ),
}
