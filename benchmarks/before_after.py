"""CPU seconds of the same work by two versions of the library, taking turns on one machine.

python benchmarks/before_after.py BEFORE [workload ...]: BEFORE is a checkout of the other version.
The best of 5 counts; what falls under 0.9 of the speed before is repeated 20 times, and its median counts. Workloads
that are named replace their rows in what is stored.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from report import RESULTS, save
from workloads import NAMES

HERE = Path(__file__).resolve().parent
REPEATS, MORE_REPEATS, SUSPECT = 5, 20, 0.9


def worker(checkout):
    environment = {**os.environ, "PYTHONPATH": str(Path(checkout).resolve() / "src")}
    return subprocess.Popen(
        [sys.executable, str(HERE / "workloads.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment, cwd=HERE,
    )  # fmt: skip


def ask(process, name):
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def compare(before, after, name):
    seconds, figures = ([], []), [None, None]
    for repeat in range(REPEATS + MORE_REPEATS):
        for side, process in enumerate((before, after)):
            taken, figures[side] = ask(process, name)
            seconds[side].append(taken)
        if repeat == REPEATS - 1 and min(seconds[0]) >= SUSPECT * min(seconds[1]):
            break
    summary = min if len(seconds[0]) == REPEATS else median
    old, new = (summary(taken) for taken in seconds)
    return {
        "workload": name, "before_cpu_seconds": old, "after_cpu_seconds": new, "speed": old / new,
        "summary": summary.__name__, "repeats": len(seconds[0]), "before_figure": figures[0],
        "after_figure": figures[1],
    }  # fmt: skip


def main():
    other, *names = sys.argv[1:]
    before, after = worker(other), worker(HERE.parent)
    rows = []
    for name in names or NAMES:
        rows.append(compare(before, after, name))
        print(rows[-1], flush=True)
    for process in (before, after):
        process.stdin.close()
        process.wait()
    stored = RESULTS / "before_after.json"
    known = {row["workload"]: row for row in json.loads(stored.read_text())["rows"]} if names else {}
    known |= {row["workload"]: row for row in rows}
    save("before_after", list(known.values()), load=os.getloadavg()[0])


if __name__ == "__main__":
    main()
