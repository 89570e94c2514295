"""Writes seen.md, a page with all stored results, from results/*.json: python benchmarks/seen.py."""

import json
from pathlib import Path

from report import RESULTS

PAGE = Path(__file__).parent / "seen.md"
HEAD = """# What was seen

Written by `seen.py` from `results/*.json`, which have all digits and the versions of all packages. What users feel has
a page of its own, [felt.md](felt.md). These machines are shared and noisy: a ratio under 2 is close to a tie.
"""
ELSEWHERE = "annotating", "felt", "solver_matrix"


def shown(value):
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(shown, value)) if len(value) <= 10 else f"{len(value)} values"
    return str(value).replace("|", "\\|")


def table(rows):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns), *([shown(row.get(column)) for column in columns] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def section(result):
    versions = {name: version for name, version in result["versions"].items() if version}
    facts = {key: value for key, value in result.items() if key not in ("benchmark", "cpu", "versions", "rows")}
    about = f"{result['cpu']}; Python {versions['python']}, maximand {versions['maximand']}; {shown(facts)}".rstrip(
        "; "
    )
    return f"\n## {result['benchmark']}\n\n{about}\n\n{table(result['rows'])}"


def main():
    results = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json")) if path.stem not in ELSEWHERE]
    PAGE.write_text(HEAD + "".join(map(section, results)))


if __name__ == "__main__":
    main()
