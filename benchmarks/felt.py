"""What users feel, beside what they would use instead: every row of `felt_rows`, or those named.

python benchmarks/felt.py [row ...]

Each row measures its peer in the same run, in turns with ours, and says what was wanted of it. What is not named keeps
its last measurement in results/felt.json.
"""

import importlib
import json
import os
import pkgutil
import sys

import felt_rows
from report import RESULTS, save


def rows():
    """Every row by its name."""
    found = {}
    for module in pkgutil.iter_modules(felt_rows.__path__):
        found |= importlib.import_module(f"felt_rows.{module.name}").ROWS
    return found


def main():
    every = rows()
    stored = RESULTS / "felt.json"
    known = {row["row"]: row for row in json.loads(stored.read_text())["rows"]} if stored.exists() else {}
    for name in sys.argv[1:] or every:
        known[name] = {"row": name, **every[name](), "load": os.getloadavg()[0]}
        save("felt", [known[row] for row in every if row in known])


if __name__ == "__main__":
    main()
