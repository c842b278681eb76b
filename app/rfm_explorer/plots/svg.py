"""A few strokes of SVG. All words and values are escaped; there are no ids, links or scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

Point = tuple[float, float]
Attribute = str | float


class Sheet:
    """A drawing as it grows; lines and words take the colour of the page's text unless told."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 15,
        anchor: str = "middle",
        **more: Attribute,
    ) -> None:
        look = {"font_size": size, "text_anchor": anchor, "fill": "currentColor", **more}
        self.parts.append(f"<text {_attributes(x=x, y=y, **look)}>{escape(words)}</text>")

    def rect(self, x: float, y: float, width: float, height: float, **look: Attribute) -> None:
        self.parts.append(f"<rect {_attributes(x=x, y=y, width=width, height=height, **look)}/>")

    def circle(self, x: float, y: float, r: float, **look: Attribute) -> None:
        self.parts.append(f"<circle {_attributes(cx=x, cy=y, r=r, **look)}/>")

    def path(self, d: str, color: str, **more: Attribute) -> None:
        look = {"fill": "none", "stroke": color, "stroke_width": 2.5, **more}
        self.parts.append(f"<path {_attributes(d=d, **look)}/>")

    def line(self, color: str, *points: Point, arrow: bool = True) -> None:
        """Through the points, along the axes, with a head at the end."""
        self.path("M" + " L".join(f"{x:g} {y:g}" for x, y in points), color)
        if arrow:
            (x0, y0), (x1, y1) = points[-2:]
            length = abs(x1 - x0) + abs(y1 - y0)
            self.arrowhead(x1, y1, (x1 - x0) / length, (y1 - y0) / length, color)

    def arrowhead(self, x: float, y: float, dx: float, dy: float, color: str) -> None:
        """With its tip at (x, y), pointing along (dx, dy)."""
        back = [(x - 10 * dx + 5 * s * dy, y - 10 * dy + 5 * s * dx) for s in (-1, 1)]
        points = " ".join(f"{a:g},{b:g}" for a, b in [(x, y), *back])
        self.parts.append(f"<polygon {_attributes(points=points, fill=color)}/>")

    def picture(self, x: float, y: float, width: float, height: float, png: bytes) -> None:
        """A PNG stretched to this place, its cells with sharp edges; it is part of the drawing."""
        source = "data:image/png;base64," + base64.b64encode(png).decode()
        look = {"preserveAspectRatio": "none", "style": "image-rendering:pixelated"}
        place = _attributes(x=x, y=y, width=width, height=height, href=source, **look)
        self.parts.append(f"<image {place}/>")

    def window(self, x: float, y: float, width: float, height: float, parts: Sequence[str]) -> None:
        """What was drawn elsewhere, seen through a frame that cuts off the rest."""
        place = _attributes(x=x, y=y, width=width, height=height)
        self.parts.append(f"<svg {place}>{''.join(parts)}</svg>")

    def svg(self, label: str) -> str:
        """The drawing, as wide as its place; ``label`` is what a screen reader says."""
        root = _attributes(
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width} {self.height}",
            width="100%",
            role="img",
            aria_label=label,
        )
        return f"<svg {root}>{''.join(self.parts)}</svg>"


def _attributes(**given: Attribute) -> str:
    return " ".join(f'{k.replace("_", "-")}="{escape(_plain(v))}"' for k, v in given.items())


def _plain(value: Attribute) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
