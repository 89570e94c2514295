"""Results that are made up, and the pages of them, read element by element."""

import json
from html.parser import HTMLParser

from maximand.report import write_report

VOID = {"meta", "link", "br", "hr", "img", "input"}
NASTY = "<script>alert('1')</script> & \"quoted\" </style> $style \x00 \ud800 http://example.org/"


class Page(HTMLParser):
    """Reads a page and refuses elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts, self.rows, self.doctype = [], [], [], [], None
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_decl(self, decl):
        self.doctype = decl

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append((tag, dict(attrs), []))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1][2].append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def inside(self, tag):
        return "".join(data for opened, data in self.texts if tag in opened)

    def table(self):
        return [["".join(words).strip() for _, _, words in row] for row in self.rows]


def result(**changes):
    stored = {
        "experiment": "made-up",
        "paper": "Nobody: Nothing (2000)",
        "title": "Table 9: nothing",
        "scale": "quick",
        "protocol": "Two folds instead of ten.",
        "seed": 7,
        "seconds": 75.2,
        "data": {"some/file.gz": "0123456789abcdef" * 4},
        "versions": {"numpy": "2.0"},
        "tables": [table()],
        "figures": [figure()],
        "remarks": ["Ours is above."],
        "runs": [
            {"cell": {"fold": 0}, "seconds": 3.0, "stop_reason": "the gap fell", "converged": True, "extra": [1]},
            {"cell": {"fold": 1}, "seconds": 70.0, "stop_reason": "max_iterations=5 was reached", "converged": False},
            {"cell": {"fold": 2}, "seconds": 2.2, "stop_reason": "the gap fell", "converged": True},
        ],
        "a key of tomorrow": {"is": "ignored"},
    }
    return {**stored, **changes}


def table(**changes):
    rows = [
        {"name": "one", "cells": [{"ours": 91.26, "spread": 0.5, "paper": 90.0}, {"ours": 3.0}]},
        {"name": "two", "cells": [{"ours": 88.0, "spread": None, "paper": 89.0}, {"ours": None}]},
        {"name": "three", "cells": [{"ours": 50.0, "paper": 50.01}, {"ours": -4.0}]},
        {"name": "four", "cells": [{"ours": 70.0, "paper": None}, {"ours": float("nan")}]},
    ]
    stored = {"title": "Accuracy", "columns": ["clean", "other"], "rows": rows, "note": "Over two folds.", "digits": 1}
    return {**stored, "higher_is_better": True, **changes}


def figure(**changes):
    curves = [
        {"name": "ours", "x": [1, 2, 3, 4], "y": [1.0, None, 3.0, float("inf")], "band": [0.1, 0.1, 0.2, 0.1]},
        {"name": "theirs", "x": [1, 4], "y": [2.0, 2.5]},
    ]
    return {"title": "Growth", "x_label": "steps", "y_label": "height", "curves": curves, "note": "A note.", **changes}


def write(folder, name, stored):
    (folder / name).mkdir(parents=True)
    (folder / name / "result.json").write_text(stored if isinstance(stored, str) else json.dumps(stored))


def page_of(folder):
    return Page(write_report(folder).read_text(encoding="utf-8"))
