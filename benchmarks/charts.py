"""The charts of the README as plain SVG: lines(...) on two logarithmic axes, and bars(...) on one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

WIDTH = 760
OURS, OTHERS, INK, FAINT = "#0969da", ["#8c959f", "#bf8700", "#cf222e", "#8250df", "#1a7f37"], "#24292f", "#d0d7de"


def _document(height: int, title: str, body: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            f'font-size="12" fill="{INK}" role="img" aria-label="{title}">',
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
            f'<text x="20" y="26" font-size="15" font-weight="bold">{title}</text>',
            *body,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, text: str, anchor: str = "start", fill: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{text}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = FAINT) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _seconds(value: float) -> str:
    for limit, unit in ((1e-6, "ns"), (1e-3, "µs"), (1.0, "ms")):
        if value < limit * 0.9999:
            return f"{value / limit * 1000:.3g} {unit}"
    return f"{value:.3g} s"


def _characters(value: float) -> str:
    return f"{value / 2**20:.3g} M" if value >= 2**20 else f"{value / 1024:.3g} K"


def lines(title: str, series: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """Seconds by number of characters; the first series is ours."""
    left, right, top, bottom = 80, WIDTH - 200, 50, 350
    points = [point for row in series.values() for point in row]
    x_low, x_high = (math.log2(f(x for x, _ in points)) for f in (min, max))
    y_low, y_high = math.floor(math.log10(min(y for _, y in points))), math.ceil(math.log10(max(y for _, y in points)))

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            left + (math.log2(x) - x_low) / (x_high - x_low) * (right - left),
            bottom - (math.log10(y) - y_low) / (y_high - y_low) * (bottom - top),
        )

    body = []
    for power in range(y_low, y_high + 1):
        y = place(points[0][0], 10.0**power)[1]
        body += [_line(left, y, right, y), _text(left - 8, y + 4, _seconds(10.0**power), "end")]
    for size in sorted({x for x, _ in points}):
        body.append(_text(place(size, 10.0**y_low)[0], bottom + 20, _characters(size), "middle"))
    body.append(_text((left + right) / 2, bottom + 42, "characters of arguments", "middle"))
    ends: list[float] = []
    for (name, row), colour in zip(series.items(), [OURS, *OTHERS], strict=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in row))
        width = 3 if colour == OURS else 1.8
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        x, y = place(*row[-1])
        while any(abs(y - other) < 14 for other in ends):
            y += 14
        ends.append(y)
        body.append(_text(x + 8, y + 4, name, fill=colour))
    return _document(bottom + 60, title, body)


def bars(title: str, panels: Mapping[str, Mapping[str, tuple[float, bool]]], ours: str) -> str:
    """Nanoseconds a character and whether that is a lower bound, by panel and peer, on one logarithmic axis."""
    left, right, y = 230, WIDTH - 90, 56
    costs = [cost for row in panels.values() for cost, _ in row.values()]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    body = []
    for panel, row in panels.items():
        body.append(f'<text x="20" y="{y}" font-weight="bold">{panel}</text>')
        y += 8
        for peer, (cost, bound) in sorted(row.items(), key=lambda item: item[1]):
            width = max(2.0, (math.log10(cost) - low) / (high - low) * (right - left))
            fill = OURS if peer == ours else FAINT
            body.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="16" fill="{fill}"/>')
            body.append(_text(left - 8, y + 12, peer, "end"))
            body.append(_text(left + width + 6, y + 12, f"{'&gt; ' if bound else ''}{cost:,.0f} ns"))
            y += 20
        y += 24
    return _document(y, title, body)
