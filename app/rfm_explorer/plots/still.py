"""A picture of ``plots`` as SVG, where no browser draws it: exported notebooks, the gallery.

It draws what the overlay says (elements, looks, limits, ticks, legend) and knows nothing of what
the picture means. An SVG of its own may stand on any page, so it brings its white paper with it.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import Any

import holoviews as hv
import numpy as np
from holoviews.plotting.util import process_cmap

from .svg import Attribute, Sheet

Array = np.ndarray
Options = dict[str, Any]  # of HoloViews: whatever each of them takes

INK, FAINT = "#222222", "#8a8a8a"
LETTERS, SMALL = 15, 13  # pixels
LETTER_WIDTH = 0.54  # of a letter's height, on average
DASHES = {"dotted": "2 5", "dashed": "9 6", "dotdash": "2 5 9 5"}
NEAR = 0.7  # pixels: points closer than this to the last one do not show
FAR = 4.0  # frames: what lies further outside than this is drawn there
PLUS_MINUS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def still(overlay: hv.Overlay, width: int, height: int | None = None) -> str:
    """The overlay as an SVG of that size in pixels; its own height by default."""
    given = _options(overlay, "plot")
    drawing = _Drawing(overlay, given, width, height or int(given["height"]))
    drawing.axes()
    for element in overlay:
        drawing.element(element)
    drawing.legend()
    return drawing.finish()


def _options(element: hv.Element, kind: str) -> Options:
    return dict(element.opts.get(kind, backend="bokeh").kwargs)


def _columns(element: hv.Element) -> list[Array]:
    return [np.asarray(element.dimension_values(d), dtype=float) for d in element.dimensions()]


class _Drawing(Sheet):
    """One picture as it grows: paper, axes, then whatever lies inside of the frame."""

    def __init__(self, overlay: hv.Overlay, given: Options, width: int, height: int) -> None:
        super().__init__(width, height)
        self.given = given
        self.logs = bool(given.get("logx")), bool(given.get("logy"))
        self.limits = given["xlim"], given["ylim"]
        self.named = [e for e in overlay if self._in_legend(e)]
        bar = any(isinstance(e, hv.Image) and len(e.data) for e in overlay)
        bare = "xaxis" in given and given["xaxis"] is None
        above = 10 + (26 if self.named else 0) + (26 if given.get("title") else 0)
        self.left, self.top = (10 if bare else 74), above
        self.across = width - self.left - (76 if bar else 20)
        self.down = height - above - (10 if bare else 54)
        self.bare = bare
        self.inner: list[str] = []  # what the frame cuts off
        self.outer: list[str] = []  # what stands beside it
        self.rect(0, 0, width, height, rx=6, fill="#ffffff")

    def _in_legend(self, element: hv.Element) -> bool:
        """Curves and areas with something to see, unless they or the picture say no."""
        if self.given.get("show_legend") is False or not isinstance(element, (hv.Curve, hv.Area)):
            return False
        wanted = _options(element, "plot").get("show_legend", True)
        return bool(wanted) and len(element) > 0 and "legend_position" in self.given

    # --- axes -----------------------------------------------------------------------------

    def place(self, axis: int, values: Array) -> Array:
        """Pixels inside of the frame, and not too far outside."""
        low, high = self.limits[axis]
        length = (self.across, self.down)[axis]
        if self.logs[axis]:
            low, high = math.log(low), math.log(high)
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log(values)
        share = (values - low) / (high - low)
        share = np.clip(1 - share if axis else share, -FAR, 1 + FAR)
        return np.asarray(share * length)

    def axes(self) -> None:
        """Title, frame, ticks, and what they count."""
        if title := self.given.get("title"):
            self.text(self.left, 26, str(title), size=16, anchor="start", fill=INK)
        if self.bare:
            return
        self.rect(self.left, self.top, self.across, self.down, fill="none", stroke=FAINT)
        bottom = self.top + self.down
        for value, words in self.ticks(0, 7):
            x = self.left + float(self.place(0, np.array(value)))
            self.path(f"M{x:.1f} {bottom:g}v6", FAINT, stroke_width=1)
            self.text(x, bottom + 21, words, size=SMALL, fill=INK)
        for value, words in self.ticks(1, max(2, self.down // 45)):
            y = self.top + float(self.place(1, np.array(value)))
            self.path(f"M{self.left:g} {y:.1f}h-6", FAINT, stroke_width=1)
            self.text(self.left - 10, y + 5, words, size=SMALL, anchor="end", fill=INK)
        middle = self.left + self.across / 2
        self.text(middle, bottom + 44, str(self.given["xlabel"]), size=LETTERS, fill=INK)
        x, y = 18, self.top + self.down / 2
        turned = {"transform": f"rotate(-90 {x} {y:g})", "fill": INK}
        self.text(x, y + 4, str(self.given["ylabel"]), size=LETTERS, **turned)

    def ticks(self, axis: int, most: int) -> list[tuple[float, str]]:
        """Values with a mark, and how they are written."""
        low, high = self.limits[axis]
        given = self.given.get("yticks") if axis else None
        if isinstance(given, list):
            values = [float(v) for v in given if low <= v <= high]
        elif self.logs[axis]:
            values = decades(low, high, most)
        else:
            values = round_values(low, high, given or most)
        if self.logs[axis]:
            return [(v, f"10{str(round(math.log10(v))).translate(PLUS_MINUS)}") for v in values]
        return [(v, f"{v:.10g}".replace("-", "−")) for v in values]

    # --- elements -------------------------------------------------------------------------

    def element(self, element: hv.Element) -> None:
        look = _options(element, "style")
        kinds = {
            hv.Image: self.image_of,
            hv.Area: self.area,
            hv.Curve: self.curve,
            hv.Scatter: self.scatter,
            hv.Segments: self.segments,
            hv.Rectangles: self.rectangles,
            hv.Labels: self.labels,
        }
        draw = next(draw for kind, draw in kinds.items() if isinstance(element, kind))
        if len(element):
            outside, self.parts = self.parts, self.inner
            draw(element, look)
            self.parts = outside

    def curve(self, element: hv.Element, look: Options) -> None:
        x, y = _columns(element)[:2]
        self.path(track(self.place(0, x), self.place(1, y)), look["color"], **stroke(look))

    def area(self, element: hv.Element, look: Options) -> None:
        x, y, *base = _columns(element)
        floor = base[0] if base else np.zeros(len(y))
        around = np.concatenate([x, x[::-1]]), np.concatenate([y, floor[::-1]])
        fill = look.get("fill_color") or look["color"]
        edge = {"fill": fill, "fill_opacity": look.get("fill_alpha", 1), "stroke_width": 1.5}
        seen = look.get("line_alpha", 1)
        line = look.get("line_color") or fill
        path = track(*(self.place(k, values) for k, values in enumerate(around)))
        self.path(path + "Z", line, **edge, stroke_opacity=seen)

    def scatter(self, element: hv.Element, look: Options) -> None:
        """Points as strokes of no length with round ends: short, also for thousands of them."""
        x, y = (self.place(k, values) for k, values in enumerate(_columns(element)[:2]))
        size = float(look.get("size", 4))
        if look.get("fill_alpha") == 0:
            for a, b in zip(x, y, strict=True):
                line = {"stroke": look["line_color"], "stroke_width": look["line_width"]}
                self.circle(float(a), float(b), size / 2, fill="none", **line)
            return
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x, y, strict=True))
        round_ends: dict[str, Attribute] = {"stroke_linecap": "round", "stroke_width": size}
        self.path(dots, look["color"], **round_ends, stroke_opacity=look.get("alpha", 1))

    def segments(self, element: hv.Element, look: Options) -> None:
        x, y, x2, y2 = (self.place(k % 2, v) for k, v in enumerate(_columns(element)[:4]))
        rows = zip(x, y, x2, y2, strict=True)
        lines = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in rows)
        self.path(lines, look["color"], **stroke(look))

    def rectangles(self, element: hv.Element, look: Options) -> None:
        x, y, x2, y2 = (self.place(k % 2, v) for k, v in enumerate(_columns(element)[:4]))
        fill = look.get("fill_color") or look["color"]
        seen = look["fill_alpha"] if "fill_alpha" in look else look.get("alpha", 1)
        for a, b, c, d in zip(x, y, x2, y2, strict=True):
            corner = float(min(a, c)), float(min(b, d))
            self.rect(*corner, float(abs(c - a)), float(abs(d - b)), fill=fill, fill_opacity=seen)

    def labels(self, element: hv.Element, look: Options) -> None:
        x, y = (element.dimension_values(k) for k in (0, 1))
        words = element.dimension_values(2)
        points = float(str(look["text_font_size"]).removesuffix("pt"))
        anchor = {"left": "start", "right": "end"}.get(look["text_align"], "middle")
        size = round(4 / 3 * points)
        # grey serves dark and light pages alike; on white paper it may be darker
        color = "#666666" if look["text_color"] == "#808080" else look["text_color"]
        for a, b, text in zip(x, y, words, strict=True):
            place = (float(self.place(k, np.array(float(v)))) for k, v in enumerate((a, b)))
            across, down = place
            kept = str(text).replace(" ", "\u00a0")  # also those at its ends
            look = {"anchor": anchor, "fill": color}
            self.text(across, down + 0.35 * size, kept, size=size, **look)

    def image_of(self, element: hv.Element, look: Options) -> None:
        """Cells as a picture inside of the picture, and what their colours mean beside it."""
        values = element.dimension_values(2, flat=False)[::-1]  # the first row is the top one
        low, high = map(float, _options(element, "plot")["clim"])
        colours = process_cmap(look["cmap"], 256)
        left, bottom, right, top = element.bounds.lbrt()
        x, x2 = self.place(0, np.array([left, right]))
        y, y2 = self.place(1, np.array([top, bottom]))
        cells = as_png(values, low, high, colours)
        self.picture(float(x), float(y), float(x2 - x), float(y2 - y), cells)
        self.colour_bar(low, high, colours)

    def colour_bar(self, low: float, high: float, colours: list[str]) -> None:
        inside, self.parts = self.parts, []
        ramp = as_png(np.linspace(1, 0, 64)[:, None], 0.0, 1.0, colours)
        x = self.left + self.across + 10
        self.picture(x, self.top, 12, self.down, ramp)
        for value in round_values(low, high, 4):
            y = self.top + self.down * (high - value) / (high - low)
            words = f"{value:.10g}".replace("-", "−")
            self.text(x + 18, y + 5, words, size=SMALL, anchor="start", fill=INK)
        self.outer, self.parts = self.parts, inside

    # --- the rest -------------------------------------------------------------------------

    def legend(self) -> None:
        """A stroke and a name for each, in a row above the frame."""
        looks = {e.label: _options(e, "style") for e in self.named}
        wanted = sum(54 + LETTER_WIDTH * LETTERS * len(name) for name in looks)
        scale = min(1.0, (self.width - self.left - 10) / max(1.0, wanted))
        x, y, size = float(self.left), self.top - 14, LETTERS * scale
        for name, look in looks.items():
            line = {**stroke(look), "stroke_width": min(4, look.get("line_width", 6))}
            self.path(f"M{x:g} {y}h{26 * scale:g}", look.get("fill_color") or look["color"], **line)
            self.text(x + 33 * scale, y + 5, name, size=round(size), anchor="start", fill=INK)
            x += 54 * scale + LETTER_WIDTH * size * len(name)

    def finish(self) -> str:
        self.parts += self.outer
        self.window(self.left, self.top, self.across, self.down, self.inner)
        return self.svg(str(self.given.get("title") or self.given.get("ylabel") or "picture"))


def stroke(look: Options) -> Options:
    """How a line is drawn."""
    dash = look.get("line_dash")
    pattern = DASHES.get(dash) if isinstance(dash, str) else " ".join(map(str, dash or []))
    found = {"stroke_width": look.get("line_width", 1.5), "stroke_linejoin": "round"}
    if pattern:
        found["stroke_dasharray"] = pattern
    if "alpha" in look:
        found["stroke_opacity"] = look["alpha"]
    return found


def track(x: Array, y: Array) -> str:
    """A line through these pixels, with gaps where there are none, without points that add none."""
    out: list[str] = []
    last: tuple[float, float] | None = None
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    for k, (a, b) in enumerate(points):
        if not (math.isfinite(a) and math.isfinite(b)):
            last = None
            continue
        ends = k + 1 == len(points) or not math.isfinite(sum(points[k + 1]))
        if last is None:
            out.append(f"M{a:.1f} {b:.1f}")
        elif ends or abs(a - last[0]) + abs(b - last[1]) >= NEAR:
            out.append(f"L{a:.1f} {b:.1f}")
        else:
            continue
        last = a, b
    return "".join(out)


def round_values(low: float, high: float, most: int) -> list[float]:
    """Up to about so many multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next((m for m in (1, 2, 5) if m * power >= 0.999 * rough), 10)
    first = math.ceil(low / step - 1e-9)
    values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return [0.0 if abs(v) < step / 1000 else v for v in values]


def decades(low: float, high: float, most: int) -> list[float]:
    """Powers of ten, evenly, up to about so many."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, -(-(last - first + 1) // max(1, most)))
    return [10.0**k for k in range(first, last + 1, step)]


def as_png(values: Array, low: float, high: float, colours: list[str]) -> bytes:
    """An image (rows from the top, columns) in these colours; clear where a value is missing."""
    palette = bytes(int(c[k : k + 2], 16) for c in colours[:255] for k in (1, 3, 5))
    share = (np.nan_to_num(values, nan=low) - low) / (high - low)
    cells = (np.clip(share, 0, 1) * 254).round().astype(np.uint8)
    cells[~np.isfinite(values)] = 255
    rows, columns = cells.shape
    lines = np.zeros((rows, columns + 1), np.uint8)  # each begins with the number of its filter
    lines[:, 1:] = cells
    clear = b"\xff" * 255 + b"\x00"
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0),
        b"PLTE": palette + b"\xff\xff\xff",
        b"tRNS": clear,
        b"IDAT": zlib.compress(lines.tobytes(), 9),
        b"IEND": b"",
    }
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def as_link(svg: str) -> str:
    """An SVG as the source of an image element."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
