"""Writing down what was measured, and where."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "maximand",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "piqp",
    "highspy",
    "python-crfsuite",
    "PyMaxflow",
    "thinqpbo",
    "jax",
    "jaxopt",
    "POT",
)


def versions():
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def save(name, rows, **facts):
    RESULTS.mkdir(exist_ok=True)
    record = {"benchmark": name, "cpu": cpu(), "versions": versions(), **facts, "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1, default=float) + "\n")
    for row in rows:
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()
            ),
            flush=True,
        )
