"""Matrices as heat maps, drawn as SVG in the colours of the page or as a picture of their own."""

from __future__ import annotations

from typing import Any

from maximand.papers.outcome import HeatMap
from maximand.report.axis import drawable
from maximand.report.markup import Markup, element, joined
from maximand.report.tables import scrolling

TILE = 32.0  # the side of an entry
LEFT, TOP, GAP = 48.0, 58.0, 28.0  # room left of and above a matrix for names, and between two
LEGEND = 40.0
CHARACTER = 6.6  # about the width of a letter
DARK = 0.55  # from this value on, numbers are written in the colour of the page
FAINT = 0.005  # smaller values are not written
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the legend
ALONE = (  # the rules of the page, for a picture without one
    ":root{--page:#fdfdfc;--text:#1b1f24;--quiet:#59626d;--rule:#dadee3;--curve-0:#1f5fa8;--curve-1:#b8500a}"
    "@media(prefers-color-scheme:dark){:root{--page:#15181b;--text:#e5e8eb;--quiet:#a3acb6;--rule:#363d45;"
    "--curve-0:#7db4f0;--curve-1:#f2a65a}}"
    "svg{background:var(--page);font-family:system-ui,sans-serif}"
    "text{fill:var(--quiet);font-size:11.5px}"
    ".shade{fill:var(--curve-0)}.tile{fill:none;stroke:var(--rule)}"
    ".mark{fill:none;stroke:var(--curve-1);stroke-width:2.5}"
    "text.name{fill:var(--text);font-size:12.5px;font-weight:600}text.value{fill:var(--text)}"
    "text.value.dark{fill:var(--page)}"
)


def heat_map_html(heat_map: HeatMap) -> Markup:
    """Return the matrices with a caption."""
    caption = element("figcaption", element("strong", heat_map.title))
    note = [element("p", heat_map.note, class_="note")] if heat_map.note else []
    if not heat_map.maps:
        return element("figure", caption, element("p", "There is nothing to draw.", class_="note"), *note)
    return element("figure", caption, scrolling(_drawing(heat_map), heat_map.title), *note, class_="heat")


def heat_map_svg(heat_map: HeatMap) -> str:
    """Return a picture that needs no page."""
    style = element("style", Markup(ALONE))
    return str(_drawing(heat_map, style, xmlns="http://www.w3.org/2000/svg")) + "\n"


def _drawing(heat_map: HeatMap, *before: Markup, **attributes: str) -> Markup:
    """Lay the matrices out in lines of equal tiles, the legend below."""
    letters = max((len(name) for one in heat_map.maps for name in one["rows"]), default=0)
    left = LEFT + CHARACTER * max(0, letters - 1)
    wide = left + TILE * max(len(one["columns"]) for one in heat_map.maps) + GAP
    high = TOP + TILE * max(len(one["rows"]) for one in heat_map.maps) + GAP
    across = min(heat_map.across, len(heat_map.maps))
    down = -(-len(heat_map.maps) // across)
    width, height = across * wide, down * high + LEGEND
    parts = [
        element(
            "g", _matrix(heat_map, one, left), transform=f"translate({place % across * wide} {place // across * high})"
        )
        for place, one in enumerate(heat_map.maps)
    ]
    legend = element("g", _legend(heat_map), transform=f"translate({left} {down * high})")
    names = ", ".join(one["name"] for one in heat_map.maps)
    return element(
        "svg",
        *before,
        *parts,
        legend,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        aria_label=f"{heat_map.title}. {heat_map.row_label} by {heat_map.column_label}: {names}.",
        **attributes,
    )


def _matrix(heat_map: HeatMap, one: dict[str, Any], left: float) -> Markup:
    n_rows, n_columns = len(one["rows"]), len(one["columns"])
    parts = [element("text", one["name"], x=left, y=20, class_="name")]
    parts.append(element("text", heat_map.column_label, x=left + TILE * n_columns / 2, y=37, text_anchor="middle"))
    middle = TOP + TILE * n_rows / 2
    turned = f"rotate(-90 17 {middle:g})"
    parts.append(element("text", heat_map.row_label, x=17, y=middle, text_anchor="middle", transform=turned))
    for c, name in enumerate(one["columns"]):
        parts.append(element("text", name, x=left + TILE * (c + 0.5), y=TOP - 6, text_anchor="middle"))
    for r, name in enumerate(one["rows"]):
        parts.append(element("text", name, x=left - 7, y=TOP + TILE * (r + 0.5) + 4, text_anchor="end"))
        for c, value in enumerate(one["values"][r]):
            about = f"{name}, {one['columns'][c]}: {f'{value:.4g}' if drawable(value) else 'nothing'}"
            parts.append(_tile(left + TILE * c, TOP + TILE * r, value, about))
    for r, c in one["marks"]:
        parts.append(_square(left + TILE * c + 2, TOP + TILE * r + 2, TILE - 4, "mark", rx=3))
    return joined(parts)


def _tile(x: float, y: float, value: float | None, about: str) -> Markup:
    share = min(1.0, max(0.0, value)) if drawable(value) else 0.0
    parts = [
        element("title", about),
        _square(x, y, TILE, "shade", fill_opacity=f"{share:.3f}"),
        _square(x, y, TILE, "tile"),
    ]
    if drawable(value) and abs(value) >= FAINT:
        shown = f"{value:.2f}".removeprefix("0") if abs(value) < 0.995 else f"{value:.2g}"
        style = "value dark" if share >= DARK else "value"
        parts.append(element("text", shown, x=x + TILE / 2, y=y + TILE / 2 + 4, text_anchor="middle", class_=style))
    return element("g", *parts)


def _square(x: float, y: float, side: float, kind: str, **attributes: str | float) -> Markup:
    return element("rect", x=f"{x:g}", y=f"{y:g}", width=f"{side:g}", height=f"{side:g}", class_=kind, **attributes)


def _legend(heat_map: HeatMap) -> Markup:
    side, parts, x = 16.0, [], 0.0
    for value in STEPS:
        parts += [_square(x, 4, side, "shade", fill_opacity=value), _square(x, 4, side, "tile")]
        parts.append(element("text", f"{value:g}", x=x + side + 5, y=16))
        x += side + 14 + CHARACTER * len(f"{value:g}")
    x += 14
    parts.append(_square(x, 4, side, "mark", rx=3))
    parts.append(element("text", heat_map.mark_label, x=x + side + 6, y=16))
    return joined(parts)
