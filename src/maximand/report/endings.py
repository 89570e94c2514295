"""How the final fits of an experiment ended."""

from __future__ import annotations

from collections import Counter

from maximand.report.markup import Markup, element
from maximand.report.numbers import duration
from maximand.report.reading import Ending
from maximand.report.tables import NOTHING, scrolling


def as_they_should(endings: list[Ending]) -> str:
    """Say how many fits met their own criterion, of those that tell."""
    told = [ending.converged for ending in endings if ending.converged is not None]
    return f"{sum(told)} of {len(told)}" if told else NOTHING


def endings_html(endings: list[Ending]) -> Markup:
    """Return the reasons, each with its number of fits, and the time that the runs took."""
    counts = Counter((ending.reason or "not recorded", ending.converged) for ending in endings)
    words = {True: "yes", False: "no", None: NOTHING}
    rows = [
        element("tr", element("th", reason, scope="row"), element("td", words[converged]), element("td", str(count)))
        for (reason, converged), count in counts.most_common()
    ]
    heads = [element("th", name, scope="col") for name in ("reason", "as it should", "fits")]
    table = element(
        "table",
        element("caption", "Why the fits ended"),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
    )
    label = f"How the final fits ended: {as_they_should(endings)} as they should"
    return element("details", element("summary", label), scrolling(table, "Why the fits ended"), _times(endings))


def _times(endings: list[Ending]) -> Markup:
    timed = [(ending.seconds, ending.cell) for ending in endings if ending.seconds is not None]
    if not timed:
        return element("p", "The times of the runs are not recorded.", class_="note")
    slowest, cell = max(timed)
    total = duration(sum(seconds for seconds, _ in timed))
    where = f" ({cell})" if cell else ""
    return element("p", f"Together {total}; the slowest run took {duration(slowest)}{where}.", class_="note")
