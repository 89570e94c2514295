"""A figure of a result, drawn as SVG in the colours of the page."""

from __future__ import annotations

from typing import Any

from maximand.papers.outcome import Figure
from maximand.report.axis import Axis, drawable, logarithmic
from maximand.report.markup import Markup, element, joined
from maximand.report.tables import scrolling

WIDTH, HEIGHT = 440, 280
TOP, RIGHT, BOTTOM = 12, 16, 52
CHARACTER = 6.6  # about the width of a digit
COLOURS = 8
DASHES = (None, "7 4", "2 3.5", "9 3 2 3")
MOST_DOTS = 40  # a curve with more points is a line without dots

Point = tuple[float, float, float | None]


def figure_html(figure: Figure) -> Markup:
    """Return the curves with bands, axes and a legend."""
    curves = [_segments(curve) for curve in figure.curves]
    caption = element("figcaption", element("strong", figure.title))
    note = [element("p", figure.note, class_="note")] if figure.note else []
    if not any(curves):
        return element("figure", caption, element("p", "There are no points to draw.", class_="note"), *note)
    legend = [
        element("li", _sample(number), curve["name"], style=_colour(number))
        for number, curve in enumerate(figure.curves)
    ]
    drawing = scrolling(_drawing(figure, curves), figure.title)
    return element("figure", caption, element("ul", *legend, class_="legend"), drawing, *note)


def _segments(curve: dict[str, Any]) -> list[list[Point]]:
    """Return runs of neighbouring points that can be drawn."""
    segments: list[list[Point]] = [[]]
    for x, y, band in zip(curve["x"], curve["y"], curve["band"], strict=True):
        if drawable(x) and drawable(y):
            segments[-1].append((x, y, abs(band) if drawable(band) else None))
        elif segments[-1]:
            segments.append([])
    return [segment for segment in segments if segment]


def _drawing(figure: Figure, curves: list[list[list[Point]]]) -> Markup:
    points = [point for segments in curves for segment in segments for point in segment]
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    edges = [y + (band or 0.0) for _, y, band in points]
    if not logarithmic(ys):  # on a logarithmic axis a band that reaches down to zero would have no end
        edges += [y - (band or 0.0) for _, y, band in points]
    x_axis, y_axis = Axis.around(xs, logarithmic(xs)), Axis.around([*ys, *edges], logarithmic(ys))
    frame = Frame(x_axis, y_axis)
    drawn = [
        _curve(frame, number, curve["name"], segments)
        for number, (curve, segments) in enumerate(zip(figure.curves, curves, strict=True))
    ]
    labels = [_label(figure.x_label, x_axis), _label(figure.y_label, y_axis)]
    names = ", ".join(curve["name"] for curve in figure.curves)
    return element(
        "svg",
        frame.grid(*labels),
        *drawn,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"{figure.title}. {labels[1]} against {labels[0]}: {names}.",
    )


def _label(label: str, axis: Axis) -> str:
    return f"{label} (logarithmic)" if axis.log else label


class Frame:
    """Where values lie on the page; the left margin is as wide as the names of the ticks."""

    def __init__(self, x_axis: Axis, y_axis: Axis):
        self.x_axis, self.y_axis = x_axis, y_axis
        self.x_ticks, self.y_ticks = x_axis.ticks(6), y_axis.ticks(5)
        self.left = 34.0 + CHARACTER * max((len(name) for _, name in self.y_ticks), default=0)

    def x(self, value: float) -> float:
        """Return the horizontal place of a value."""
        return round(self.left + self.x_axis.share(value) * (WIDTH - RIGHT - self.left), 2)

    def y(self, value: float) -> float:
        """Return the vertical place of a value."""
        return round(HEIGHT - BOTTOM - self.y_axis.share(value) * (HEIGHT - BOTTOM - TOP), 2)

    def grid(self, x_label: str, y_label: str) -> Markup:
        """Return the axes with ticks, names and faint lines across."""
        floor, right, middle = HEIGHT - BOTTOM, WIDTH - RIGHT, (TOP + HEIGHT - BOTTOM) / 2
        parts = []
        for value, name in self.y_ticks:
            y = self.y(value)
            parts.append(element("line", x1=self.left, x2=right, y1=y, y2=y, class_="grid"))
            parts.append(element("text", name, x=self.left - 8, y=y + 4, text_anchor="end"))
        for value, name in self.x_ticks:
            x = self.x(value)
            parts.append(element("line", x1=x, x2=x, y1=floor, y2=floor + 5, class_="axis"))
            parts.append(element("text", name, x=x, y=floor + 19, text_anchor="middle"))
        parts.append(element("line", x1=self.left, x2=right, y1=floor, y2=floor, class_="axis"))
        parts.append(element("text", x_label, x=(self.left + right) / 2, y=HEIGHT - 8, text_anchor="middle"))
        turned = f"rotate(-90 14 {middle})"
        parts.append(element("text", y_label, x=14, y=middle, text_anchor="middle", transform=turned))
        return element("g", *parts, class_="axes")


def _curve(frame: Frame, number: int, name: str, segments: list[list[Point]]) -> Markup:
    parts = []
    for segment in segments:
        banded = [(x, y, band) for x, y, band in segment if band is not None]
        if banded:
            upper = [f"{frame.x(x)},{frame.y(y + band)}" for x, y, band in banded]
            lower = [f"{frame.x(x)},{frame.y(y - band)}" for x, y, band in reversed(banded)]
            parts.append(element("polygon", points=" ".join(upper + lower), class_="band"))
        line = " ".join(f"{frame.x(x)},{frame.y(y)}" for x, y, _ in segment)
        parts.append(element("polyline", points=line, class_="curve", stroke_dasharray=_dashes(number)))
    few = sum(len(segment) for segment in segments) <= MOST_DOTS
    for x, y, band in (point for segment in segments if few or len(segment) == 1 for point in segment):
        shown = f"{name}: {x:.6g}, {y:.6g}" + (f" ± {band:.3g}" if band is not None else "")
        parts.append(element("circle", element("title", shown), cx=frame.x(x), cy=frame.y(y), r=3, class_="dot"))
    return element("g", joined(parts), style=_colour(number))


def _sample(number: int) -> Markup:
    line = element("line", x1=0, x2=28, y1=6, y2=6, class_="curve", stroke_dasharray=_dashes(number))
    return element("svg", line, viewBox="0 0 28 12", class_="sample", aria_hidden="true")


def _colour(number: int) -> str:
    return f"--curve: var(--curve-{number % COLOURS})"


def _dashes(number: int) -> str | None:
    return DASHES[number % len(DASHES)]
