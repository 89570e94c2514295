import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maximand.papers import Cell, Experiment, Figure, Outcome, Row, Study, Table, reproduce
from maximand.report import write_report
from maximand.report.axis import Axis, drawable
from maximand.report.curves import figure_html
from maximand.report.numbers import duration, fixed, signed
from report_pages import NASTY, figure, page_of, result, table, write


def test_a_page_stands_on_its_own(tmp_path):
    write(tmp_path, "a", result())
    write(tmp_path, "deep/b", result(experiment="another", tables=[table(), table(higher_is_better=None)]))
    page = page_of(tmp_path)
    assert page.doctype == "DOCTYPE html"
    assert page.all("html") == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))
    assert not page.all("script") and not page.all("link") and not page.all("img")
    assert "http" not in page.inside("style") and "url(" not in page.inside("style")
    for rule in ("prefers-color-scheme: dark", "@media print", "max-width"):
        assert rule in page.inside("style")
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"] for attrs in page.all("a")}
    assert targets == {"#experiment-1", "#experiment-2"} and {target[1:] for target in targets} <= set(ids)
    assert all(attrs.get("scope") in ("row", "col", "colgroup") for attrs in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table")) == 1 + 2 + 3


def test_the_overview_comes_first(tmp_path):
    write(tmp_path, "a", result())
    write(tmp_path, "b", result(experiment="no runs", runs=[], seconds=0.04))
    rows = page_of(tmp_path).table()
    assert rows[1] == ["made-upTable 9: nothing", "quick", "1 min 15 s", "2 of 3"]
    assert rows[2] == ["no runsTable 9: nothing", "quick", "0.0 s", "–"]


def test_ours_the_papers_and_the_difference(tmp_path):
    write(tmp_path, "a", result())
    page = page_of(tmp_path)
    rows = page.table()[2:8]
    assert rows[0] == ["", "clean", "other"]
    assert rows[1] == ["", "ours", "paper", "difference", "ours"]
    assert rows[2] == ["one", "91.3 ± 0.5", "90.0", "+1.3", "3.0"]
    assert rows[3] == ["two", "88.0", "89.0", "−1.0", "–"]
    assert rows[4] == ["three", "50.0", "50.0", "0.0", "−4.0"]
    assert rows[5] == ["four", "70.0", "–", "–", "nan"]
    assert [row[3][1].get("class") for row in page.rows[4:8]] == [
        "difference better",
        "difference worse",
        "difference",
        None,
    ]
    widths = {sum(int(attrs.get("colspan") or 1) for _, attrs, _ in row) for row in page.rows[2:8]}
    assert widths == {5}
    assert "Its mean size over 3 cells is 0.76." in page.inside("p")


@pytest.mark.parametrize(("higher", "words"), [(False, ["worse", "better"]), (None, [])])
def test_the_colour_follows_what_is_better(tmp_path, higher, words):
    write(tmp_path, "a", result(tables=[table(higher_is_better=higher)]))
    classes = " ".join(attrs.get("class") or "" for attrs in page_of(tmp_path).all("td")).split()
    assert [name for name in classes if name in ("better", "worse")] == words


def test_runs_data_and_versions(tmp_path):
    write(tmp_path, "a", result())
    page = page_of(tmp_path)
    details = page.inside("details")
    assert "How the final fits ended: 2 of 3 as they should" in details
    assert ["the gap fell", "yes", "2"] in page.table() and ["max_iterations=5 was reached", "no", "1"] in page.table()
    assert "Together 1 min 15 s; the slowest run took 1 min 10 s (fold 1)." in details
    assert "0123456789ab…" in details and "0123456789abcdef0" not in details
    assert {"title": "0123456789abcdef" * 4} in page.all("code")
    assert "numpy2.0" in details and "a/result.json" in details
    assert "Seed7" in page.inside("dl") and "Two folds instead of ten." in page.inside("dl")


def test_figures_are_drawn(tmp_path):
    write(tmp_path, "a", result())
    page = page_of(tmp_path)
    assert len(page.all("polyline")) == 3  # the first curve has a hole
    assert len(page.all("polygon")) == 2
    assert len(page.all("circle")) == 4
    assert "Growth" in page.inside("figcaption") and "ours" in page.inside("li")
    assert {"steps", "height"} <= {data for opened, data in page.texts if "text" in opened}


def test_wide_ranges_are_logarithmic_and_nothing_is_said_to_be_nothing():
    steep = figure(curves=[{"name": "c", "x": [1, 2], "y": [1e-6, 1.0], "band": [1e-3, 0.1]}])
    assert "height (logarithmic)" in figure_html(Figure(**steep)) and "10⁻⁶" in figure_html(Figure(**steep))
    empty = Figure("t", "x", "y", [{"name": "c", "x": [1], "y": [None], "band": [None]}])
    assert "no points to draw" in figure_html(empty)


def test_nasty_texts_are_only_texts(tmp_path):
    stored = result(
        experiment=NASTY, paper=NASTY, title=NASTY, scale=NASTY, protocol=NASTY, remarks=[NASTY], data={NASTY: NASTY},
        versions={NASTY: NASTY}, runs=[{"stop_reason": NASTY, "cell": {NASTY: NASTY}, "seconds": 1}],
        figures=[figure(title=NASTY, x_label=NASTY, note=NASTY, curves=[{"name": NASTY, "x": [1], "y": [1]}])],
        tables=[table(title=NASTY, note=NASTY, columns=[NASTY, NASTY])],
    )  # fmt: skip
    write(tmp_path, NASTY.replace("/", "").replace("\x00", "").replace("\ud800", ""), stored)
    page = page_of(tmp_path)
    assert not page.all("script") and len(page.all("style")) == 1
    shown = NASTY.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    for tag in ("h2", "caption", "dd", "dt", "li", "figcaption", "text", "details", "th"):
        assert shown in page.inside(tag)
    addresses = [attrs[name] for _, attrs in page.elements for name in ("src", "href", "action") if name in attrs]
    assert all(address.startswith("#") for address in addresses)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("{", "It is not JSON"),
        ("[" * 100000, "nested too deeply"),
        ("[1]", "The file holds a list where an object is expected."),
        ({"accuracy": 0.9}, "experiment is missing."),
        (result(seconds="long"), "seconds holds a text where a number is expected."),
        (result(seconds=10**400), "seconds holds a number where a number that fits a float is expected."),
        (result(seed=True), "seed holds true or false where a whole number is expected."),
        (result(remarks=["fine", 3]), "remarks[1] holds a number where a text is expected."),
        (result(runs={}), "runs holds an object where a list is expected."),
        (result(tables=[table(digits=99)]), "tables[0].digits is 99"),
        (result(tables=[table(columns=["one"])]), "tables[0].rows[0] has 2 cells but the table has 1 columns."),
        (result(figures=[figure(curves=[{"name": "c", "x": [1], "y": []}])]), "figures[0].curves[0] has 1 x, 0 y"),
    ],
)
def test_what_is_no_result_is_named(tmp_path, stored, reason):
    write(tmp_path, "bad", stored)
    write(tmp_path, "good", result())
    page = page_of(tmp_path)
    assert "bad/result.json" in page.inside("li") and reason in page.inside("li")
    assert page.inside("h1") and "made-up" in page.inside("table")


def test_files_that_cannot_be_opened_or_decoded(tmp_path):
    (tmp_path / "folder" / "result.json").mkdir(parents=True)
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / "result.json").write_bytes(b'{"experiment": "\xe4"}')
    found = page_of(tmp_path).inside("li")
    assert "folder/result.json: It cannot be opened" in found and "latin/result.json" in found


def test_where_the_page_goes(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no result\.json below"):
        write_report(tmp_path)
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        write_report(tmp_path / "missing")
    write(tmp_path, "a", result())
    assert write_report(str(tmp_path)) == tmp_path / "report.html"
    other = write_report(tmp_path, tmp_path / "other.html")
    assert other.read_bytes() == (tmp_path / "report.html").read_bytes()


def test_a_real_experiment(tmp_path):
    def run(study):
        cells = [Cell(1.0, 0.1, 1.2), Cell(None)]
        curves = [{"name": "c", "x": [1.0, 2.0], "y": [3.0, 4.0], "band": [0.1, 0.2]}]
        return Outcome([Table("T", ["a", "b"], [Row("r", cells)])], [Figure("F", "x", "y", curves)], ["R"])

    reproduce(Experiment("P", "E", {"quick": "Less."}, run), Study("mine", "quick", tmp_path / "mine"))
    page = page_of(tmp_path)
    assert (
        "Less." in page.inside("dd") and len(page.all("polyline")) == 1 and not page.inside("section").count("Unread")
    )


def test_numbers():
    assert [fixed(-1.25, 1), fixed(-0.01, 1), fixed(float("-inf"), 1), fixed(1e30, 2)] == [
        "−1.2",
        "0.0",
        "−inf",
        "1e+30",
    ]
    assert [signed(0.04, 1), signed(0.06, 1), signed(-0.06, 1)] == ["0.0", "+0.1", "−0.1"]
    assert [duration(s) for s in (3.21, 59.6, 3599.7, 7500, float("nan"))] == [
        "3.2 s",
        "1 min 00 s",
        "1 h 00 min",
        "2 h 05 min",
        "not known",
    ]


@given(st.lists(st.floats() | st.integers(-(10**6), 10**6).map(float), max_size=8), st.booleans())
def test_axes_hold_all_that_can_be_drawn(values, log):
    values = [value for value in values if drawable(value)]
    axis = Axis.around(values, log)
    assert axis.low < axis.high
    assert all(0.0 <= axis.share(value) <= 1.0 for value in values)
    ticks = axis.ticks(5)
    assert len(ticks) <= 7 and len({name for _, name in ticks}) == len(ticks)
    assert all(0.0 <= axis.share(value) <= 1.0 for value, _ in ticks)


def test_round_ticks():
    assert [name for _, name in Axis.around([0.0, 1.0], False).ticks(5)] == ["0.0", "0.5", "1.0"]
    assert [name for _, name in Axis.around([-20, 20], False).ticks(5)] == ["−20", "−10", "0", "10", "20"]
    assert [name for _, name in Axis.around([95.0], False).ticks(5)] == ["92", "94", "96", "98"]
    assert [name for _, name in Axis.around([0.01, 100.0], True).ticks(6)] == ["0.01", "0.1", "1", "10", "100"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_change_of_a_result_is_shown_or_named(tmp_path, data):
    stored = result()
    place = stored
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
            place = place[key]
        else:
            place[key] = data.draw(JSON)
            break
    (tmp_path / "result.json").write_text(json.dumps(stored))
    page = page_of(tmp_path)
    named = any(attrs.get("class") == "unreadable" for attrs in page.all("section"))
    assert named != any(attrs.get("class") == "overview" for attrs in page.all("table"))
