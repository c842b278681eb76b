"""The architecture as a drawing: what is read, through which units it goes, what comes out.

Blue is the state, orange the estimate of the next one, green what features make of them.
"""

from __future__ import annotations

from rfm_core import ModelSpec

from . import style
from .svg import Attribute, Sheet

STATE, ESTIMATE, FEATURES = style.TRUTH, style.FORECAST, style.GOOD
# heights, downwards: strip of the state, lines from it, inputs, boxes and their middle, lines below
STRIP, BUS, INPUTS, BOX, MIDDLE, SKIP, UNDER, NEXT = 66, 126, 152, 200, 256, 332, 352, 374
CELL = 28  # height of a strip
MOST_UNITS = 4
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def schematic(spec: ModelSpec, dimension: int, *, title: str) -> str:
    """The model as an SVG as wide as its place."""
    sketch = _Sketch(spec, dimension)
    sketch.head(title)
    sketch.state()
    sketch.units()
    sketch.next_state()
    return sketch.svg(schematic_words(spec, dimension))


def schematic_words(spec: ModelSpec, dimension: int) -> str:
    """The drawing in three sentences."""
    scheme = spec.scheme(dimension)
    return (
        f"{_seen_words(spec, dimension)} {_unit_words(spec, dimension)} "
        f"{spec.size(dimension):,} weights and biases in total"
        f"{', the same for all patches' if scheme.patches > 1 else ''}."
    )


def _seen_words(spec: ModelSpec, dimension: int) -> str:
    if not spec.choices.local:
        return f"The model sees {'all ' * (dimension > 1)}{_count(dimension, 'component')} at once."
    scheme = spec.scheme(dimension)
    left, right = (_count(side, "patch", "patches") if side else "none" for side in spec.sides)
    return (
        f"Each of the {_count(scheme.patches, 'patch', 'patches')} of "
        f"{_count(scheme.G, 'component')} sees itself, {left} on its left and {right} on its "
        f"right: {_count(scheme.inputs, 'component')}."
    )


def _unit_words(spec: ModelSpec, dimension: int) -> str:
    features = _count(spec.unit_widths(dimension)[-1], spec.kind.word)
    does = "adds a correction to the estimate" if spec.choices.skip else "makes an estimate"
    each = "each " if spec.depth > 1 else ""
    words = f"{_count(spec.depth, 'unit')} of {features} {each}{does} of the next state"
    if spec.exchanging and spec.depth > 1:
        return f"{words}; those after the first also read the estimates of neighbouring patches."
    if spec.choices.deep and not spec.exchanging:
        return f"{words} and also reads the estimate so far."
    return f"{words}."


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class _Sketch(Sheet):
    """The drawing of one model."""

    def __init__(self, spec: ModelSpec, dimension: int) -> None:
        super().__init__(960, 452)
        self.spec, self.dimension, self.scheme = spec, dimension, spec.scheme(dimension)
        self.inputs, self.widths = spec.unit_inputs(dimension), spec.unit_widths(dimension)
        self.items = _patches(self.scheme.patches, *spec.sides)
        if spec.choices.local:
            self.patch = min(96.0, 660 / len(self.items))
        else:
            self.patch = min(660.0, max(150.0, 34.0 * dimension))
        left = (self.width - self.patch * len(self.items)) / 2
        self.places = [left + (k + 0.5) * self.patch for k in range(len(self.items))]
        self.own = self.places[self.items.index("own")]
        self.end = 0.0  # where the last unit's estimate is

    def head(self, title: str) -> None:
        self.text(20, 26, title, size=18, anchor="start", font_weight="bold")
        total = f"{self.spec.size(self.dimension):,} weights and biases in total"
        self.text(self.width - 20, 26, total, size=16, anchor="end")

    def strip(self, top: float, color: str, shades: dict[str, float]) -> None:
        """All components in patches, those shaded that matter here."""
        for x, kind in zip(self.places, self.items, strict=True):
            if kind == "gap":
                self.text(x, top + CELL / 2 + 5, "…", size=20)
            else:
                self.cells(x, top, color, shades.get(kind, 0.0))

    def cells(self, x: float, top: float, color: str, shade: float) -> None:
        """One patch: G cells, drawn singly where they are wide enough to be seen."""
        width, count = self.patch - 4, self.scheme.G
        left = x - width / 2
        ink = color if shade else "currentColor"
        faint = 1.0 if shade else 0.4
        look: dict[str, Attribute] = {
            "fill": color,
            "fill_opacity": shade,
            "stroke": ink,
            "stroke_opacity": faint,
        }
        self.rect(left, top, width, CELL, rx=4, stroke_width=1.5, **look)
        if width / count >= 7:
            lines = "".join(f"M{left + k * width / count:g} {top}v{CELL}" for k in range(1, count))
            if lines:
                self.path(lines, ink, stroke_width=1, stroke_opacity=faint)

    def state(self) -> None:
        self.text(20, STRIP + 19, "state uₙ", size=16, anchor="start")
        self.strip(STRIP, STATE, {"own": 0.65, "near": 0.25})
        seen = f"{_count(self.scheme.inputs, 'component')} seen"
        if self.spec.choices.local:
            left, right = self.spec.sides
            seen += f": {left} + 1 + {right} patches of {self.scheme.G}"
        self.text(self.width / 2, STRIP - 10, seen)

    def units(self) -> None:
        """Side by side, at most four; what is left out is counted."""
        depth = self.spec.depth
        shown = list(range(depth)) if depth <= MOST_UNITS else [0, 1, depth - 1]
        gap = 0.0 if depth <= MOST_UNITS else 120.0
        slot = min(330.0, (884 - gap) / len(shown))
        start = (self.width - slot * len(shown) - gap) / 2
        stem = self.stem(start)
        for place, number in enumerate(shown):
            at = start + place * slot
            if gap and number == depth - 1:
                self.left_out(at, at + gap, depth - len(shown))
                at += gap
            self.unit(number, at, slot, stem)
        self.end = start + slot * len(shown) + gap

    def stem(self, start: float) -> float:
        """Lines from the state: to where estimates begin, and to the units, whose place it returns.

        The latter comes from the middle of all that is seen.
        """
        places = zip(self.places, self.items, strict=True)
        seen = [x for x, kind in places if kind in ("own", "near")]
        stem = (seen[0] + seen[-1]) / 2
        if self.reads_estimate(0) or self.spec.choices.skip:
            aside = min(14.0, self.patch / 4)
            stem += aside
            self.path(
                f"M{self.own - aside:g} {STRIP + CELL}V{BUS - 16}H{start:g}V{MIDDLE}", ESTIMATE
            )
        self.line(STATE, (stem, STRIP + CELL), (stem, BUS), arrow=False)
        return stem

    def left_out(self, start: float, end: float, count: int) -> None:
        self.path(f"M{start:g} {MIDDLE}H{end:g}", ESTIMATE, stroke_dasharray="3 7")
        self.text((start + end) / 2, MIDDLE + 26, f"{count} more")
        self.text((start + end) / 2, MIDDLE + 44, "like these")

    def reads_estimate(self, number: int) -> bool:
        return self.inputs[number] > self.scheme.inputs

    def unit(self, number: int, start: float, slot: float, stem: float) -> None:
        """Inputs above, the box, and what becomes of its output."""
        skip, reads = self.spec.choices.skip, self.reads_estimate(number)
        left, width = start + 36, slot - (90 if skip else 72)
        right, end = left + width, start + slot
        self.bar(number, left, width, stem)
        self.box(number, left, width)
        if reads:
            self.line(ESTIMATE, (start, MIDDLE), (start, INPUTS + 12), (left, INPUTS + 12))
        if skip:
            plus = right + 28
            self.line(FEATURES, (right, MIDDLE), (plus - 11, MIDDLE))
            self.line(ESTIMATE, (plus + 11, MIDDLE), (end, MIDDLE), arrow=False)
            self.skip(start, plus)
        else:
            self.line(FEATURES, (right, MIDDLE), (end, MIDDLE), arrow=False)
        if skip or reads:
            self.estimate(number, start)

    def skip(self, start: float, plus: float) -> None:
        """Around the box to where its output is added."""
        around = f"V{SKIP - 16}q0 16 16 16H{plus - 16:g}q16 0 16 -16V{MIDDLE + 18}"
        self.path(f"M{start:g} {MIDDLE}{around}", ESTIMATE)
        self.arrowhead(plus, MIDDLE + 11, 0, -1, ESTIMATE)
        self.circle(plus, MIDDLE, 11, fill="none", stroke=ESTIMATE, stroke_width=2.5)
        self.path(f"M{plus - 6:g} {MIDDLE}h12M{plus:g} {MIDDLE - 6}v12", ESTIMATE)

    def estimate(self, number: int, x: float) -> None:
        """The estimate before a unit; where it is exchanged, between those of its neighbours."""
        self.text(x - 11, MIDDLE - 14, f"y{number}".translate(SUBSCRIPTS), anchor="end")
        if not (self.spec.exchanging and self.reads_estimate(number)):
            self.circle(x, MIDDLE, 5, fill=ESTIMATE)
            return
        left, right = (min(2, side) for side in self.spec.exchange)
        for k in range(-left, right + 1):
            look = {"fill": ESTIMATE, "fill_opacity": 1 if k == 0 else 0.4, "stroke": ESTIMATE}
            self.rect(x - 7, MIDDLE - 7 + 15 * k, 14, 14, rx=2, **look)

    def bar(self, number: int, left: float, width: float, stem: float) -> None:
        """What a unit reads: of the estimate, if it does, and of the state."""
        from_estimate = self.inputs[number] - self.scheme.inputs
        split = 0.45 * width if from_estimate else 0.0
        if from_estimate:
            self.input(left, split, ESTIMATE, f"y: {from_estimate:,}")
        self.input(left + split, width - split, STATE, f"u: {self.scheme.inputs:,}")
        at = left + (split + width) / 2
        self.line(STATE, (stem, BUS), (at, BUS), (at, INPUTS))
        self.line(FEATURES, (left + width / 2, INPUTS + 24), (left + width / 2, BOX))

    def input(self, x: float, width: float, color: str, words: str) -> None:
        self.rect(x, INPUTS, width, 24, fill=color, fill_opacity=0.25, stroke=color)
        self.text(x + width / 2, INPUTS + 17, words)

    def box(self, number: int, left: float, width: float) -> None:
        """A unit with its sizes."""
        look: dict[str, Attribute] = {
            "fill": FEATURES,
            "fill_opacity": 0.13,
            "stroke": FEATURES,
            "stroke_width": 2,
        }
        self.rect(left, BOX, width, 2 * (MIDDLE - BOX), rx=8, **look)
        middle, kind = left + width / 2, self.spec.kind
        self.text(middle - 20, BOX + 24, f"unit {number + 1}", size=16, font_weight="bold")
        self.path(f"M{middle + 18:g} {BOX + 18}{kind.icon}", FEATURES)
        inputs, features, outputs = self.inputs[number], self.widths[number], self.scheme.G
        lines = (
            _count(inputs, "input"),
            _count(features, kind.word.split()[-1]),
            _count(outputs, "output"),
            _count((kind.internal(inputs) + outputs) * features, "weight"),
        )
        for k, words in enumerate(lines):
            self.text(middle, BOX + 46 + 19 * k, words)

    def next_state(self) -> None:
        self.text(20, NEXT + 19, "next uₙ₊₁", size=16, anchor="start")
        self.strip(NEXT, ESTIMATE, {"own": 0.65})
        end, own = self.end, self.own
        self.line(ESTIMATE, (end, MIDDLE), (end, UNDER), (own, UNDER), (own, NEXT))
        self.circle(end, MIDDLE, 5, fill=ESTIMATE)
        words = f"{_count(self.scheme.G, 'component')} predicted"
        if self.scheme.patches > 1:
            words += f" for each of {self.scheme.patches} patches, with the same weights"
        self.text(self.width / 2, NEXT + CELL + 22, words)
        if self.spec.exchanging and self.spec.depth > 1:
            left, right = self.spec.exchange
            words = f"units after the first read y of {left} + 1 + {right} patches"
            self.text(self.width / 2, NEXT + CELL + 42, words)


def _patches(count: int, left: int, right: int) -> list[str]:
    """The patches to draw, in order: "own", "near" (seen), "far" (not seen), "gap" (left out)."""
    away = count - left - 1 - right
    before, after = min(2, (away + 1) // 2), min(2, away // 2)
    more = ["gap"] if away > before + after else []
    unseen = (more + ["far"] * before, ["far"] * after + more)
    return [*unseen[0], *_side(left), "own", *_side(right)[::-1], *unseen[1]]


def _side(count: int) -> list[str]:
    """Neighbours on the left, the furthest first."""
    return ["near"] * count if count <= 4 else ["near", "gap", "near", "near"]
