"""Best events of a frame pair beside HiGHS itself, and a long movie tracked pair by pair.

A pair has about 5000 events. Ours solves it from scratch, and again after the scores changed a little from where it
ended; HiGHS, with the options that highspy begins with, solves the same matrix as a linear and as an integer program.
Processor seconds, all in turns, the best of several. A movie is tracked in a process of its own.
"""

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import highspy
import numpy as np

from maximand import CellTracker
from maximand.datasets import simulate_cells
from maximand.inference.highs import new_solver
from maximand.inference.partition import Partitioning
from report import save

REPEATS, CHANGE = 7, 0.02
CELLS, FRAMES = 500, (125, 250, 500)
WANTED_SECONDS, WANTED_GIB = 120.0, 2.0


def movie(n_frames, n_cells, seed=0):
    """A simulated population, as dense whatever its size."""
    shape = (24.0 * n_cells**0.5,) * 2
    return simulate_cells(n_frames, n_cells, shape=shape, missed=0.0, false=0.0, random_state=seed)


def trained():
    return CellTracker(n_threads=1).fit(*([one] for one in movie(8, 100, seed=1)))


def pair():
    """The events of two frames, and what a model that was fitted scores them."""
    model = trained()
    table, _ = movie(2, 520)
    examples = model.task_.encode([table])
    features = model.task_.features
    scores = features.scores(examples, features.prepared(model.weights_, examples.inputs))
    return examples.space.incidence.rows(0), scores


def highs(rows, scores, whole):
    """Solve the program by HiGHS itself."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    n = rows.n_columns
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_, lp.sense_ = n, rows.n_rows, highspy.ObjSense.kMaximize
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = scores, np.zeros(n), np.ones(n)
    lp.row_lower_ = lp.row_upper_ = np.ones(rows.n_rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.pointers.astype(np.int32), rows.rows.astype(np.int32)
    lp.a_matrix_.value_ = np.ones(rows.rows.size)
    if whole:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    solver.passModel(lp)
    solver.run()
    return solver.getInfo().objective_function_value


def pairs():
    """Cold and warm answers beside HiGHS."""
    rows, scores = pair()
    rng, best, ours = np.random.default_rng(0), Partitioning(), new_solver()
    before = best(ours, rows, scores)
    ways = {
        "cold": lambda theta: best(ours, rows, theta).value,
        "warm": lambda theta: best(ours, rows, theta, before.basis).value,
        "HiGHS as LP": lambda theta: highs(rows, theta, False),
        "HiGHS as MIP": lambda theta: highs(rows, theta, True),
    }
    seconds, values = {name: [] for name in ways}, {name: [] for name in ways}
    for _ in range(REPEATS):
        theta = scores + CHANGE * scores.std() * rng.normal(size=scores.size)
        for name, way in ways.items():
            began = time.process_time()
            values[name].append(way(theta))
            seconds[name].append(time.process_time() - began)
    found = {name: min(taken) for name, taken in seconds.items()}
    apart = np.abs(np.subtract(values["cold"], values["HiGHS as MIP"])).max()
    facts = {"events": rows.n_columns, "slots": rows.n_rows, "largest difference of values": float(apart)}
    return [
        {"what": name, "seconds": found[name], "peer": peer, "peer_seconds": found[peer],
         "ratio": found[peer] / found[name], "wanted": wanted, **facts}
        for name, peer, wanted in (
            ("warm", "cold", 5.0), ("cold", "HiGHS as LP", 1.0), ("cold", "HiGHS as MIP", 1.0)
        )
    ]  # fmt: skip


def tracked(n_frames):
    """Track a movie in this process."""
    model, (table, _) = trained(), movie(n_frames, CELLS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, worked = time.perf_counter(), time.process_time()
    lineage = model.predict([table])[0]
    return {
        "what": f"{n_frames} frames of {CELLS} cells", "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - worked, "detections": len(lineage.frames),
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, "peak_gib_before": before / 2**20,
        "wanted_seconds": WANTED_SECONDS, "wanted_gib": WANTED_GIB,
    }  # fmt: skip


def main():
    rows = pairs()
    for n_frames in FRAMES:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append(pool.submit(tracked, n_frames).result())
    save("tracking", rows)


if __name__ == "__main__":
    main()
