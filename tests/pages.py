"""The examples of the documentation, for tests that run them or go on from them."""

import re
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def fences(page, language):
    return blocks((DOCS / page).read_text(), language)


@cache
def sections(page):
    """The text of each section of a page, by its heading."""
    parts = re.split(r"^## (.*)\n", (DOCS / page).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def run(page, *headings):
    """Run the Python blocks of some sections of a page in one namespace, and return it."""
    namespace = {"__name__": "__main__"}
    for heading in headings:
        for block in blocks(sections(page)[heading], "python"):
            exec(compile(block, f"{page}: {heading}", "exec"), namespace)
    return namespace
