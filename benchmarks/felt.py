"""What users feel, beside what they would use instead: every row of `felt_rows`, or those named.

python benchmarks/felt.py [row ...]

Each row measures its peer in the same run, in turns with ours, and says what was wanted of it. What is not named keeps
its last measurement in results/felt.json; the table in felt.md is written from there.
"""

import importlib
import json
import os
import pkgutil
import sys
from pathlib import Path

import felt_rows
from report import RESULTS, save

TABLE = Path(__file__).parent / "felt.md"
HEAD = """# What users feel

Written by `felt.py` from `results/felt.json`, which has the sizes and versions. Seconds are of the processor, or by the
clock where it says so; a ratio is the peer's time over ours. These machines are noisy: a ratio under 2 is nearly a tie.
`load` is how many processes wanted the two processors of this machine: many make seconds longer, by different amounts.

| work | peer | peer's | ours | ratio | wanted | met | load |
|---|---|---|---|---|---|---|---|
"""
OURS = {
    "our_seconds": "{:.3g} s",
    "our_wall_seconds": "{:.3g} s by the clock",
    "our_tokens_a_second": "{:.3g} tokens/s",
}


def rows():
    """Every row by its name."""
    found = {}
    for module in pkgutil.iter_modules(felt_rows.__path__):
        found |= importlib.import_module(f"felt_rows.{module.name}").ROWS
    return found


def line(row):
    """A row of the table."""
    seconds, ratio = row.get("peer_seconds"), row.get("ratio")
    ours = next((text.format(row[key]) for key, text in OURS.items() if isinstance(row.get(key), float)), "")
    if "gap" in row:
        ours += f", gap {row['gap']:.2g}" if row["gap"] is not None else ", no gap"
    met = {True: "yes", False: "no"}.get(row.get("met"), "")
    theirs, times = "" if seconds is None else f"{seconds:.3g} s", "" if ratio is None else f"{ratio:.2g}"
    cells = row["work"], row.get("peer") or "", theirs, ours, times, row.get("wanted", ""), met, f"{row['load']:.0f}"
    return f"| {' | '.join(map(str, cells))} |\n"


def reason(row):
    """Why a row is not at what was wanted, where it knows."""
    return "" if row.get("met") or not row.get("why") else f"\n{row['work']}: {row['why']}\n"


def stored():
    """The rows as they were last measured, by their names."""
    path = RESULTS / "felt.json"
    return {row["row"]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else {}


def main():
    every = rows()
    for name in sys.argv[1:] or every:
        measured = {"row": name, **every[name](), "load": os.getloadavg()[0]}
        known = stored() | {name: measured}  # read now: another may have been measured meanwhile
        kept = [known[row] for row in every if row in known]
        save("felt", kept)
        TABLE.write_text(HEAD + "".join(map(line, kept)) + "".join(map(reason, kept)))


if __name__ == "__main__":
    main()
