"""The drawing of the architecture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from rfm_explorer.plots.schematic import schematic, schematic_words

from rfm_core import ARCHITECTURES, FEATURES, InvalidInput, ModelSpec

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = re.compile(r"[\d,]+ weights")


def spec_of(architecture: str, **more: object) -> ModelSpec:
    choices = ARCHITECTURES[architecture]
    sizes: dict[str, object] = {"width": 716}
    sizes |= {"depth": 3} if choices.deep else {}
    sizes |= {"G": 2, "I": 2} if choices.local else {}
    return ModelSpec(architecture, **(sizes | more))


CASES = [
    *(spec_of(name) for name in ARCHITECTURES),
    spec_of("LocalDeepSkip", exchange=1),
    spec_of("LocalDeepRFM", exchange=(0, 3), depth=9),
    spec_of("LocalDeepSkip", exchange=1, depth=1),
    spec_of("LocalSkip", I=None, left=3, right=0),
    spec_of("LocalRFM", G=1, I=6),
    spec_of("LocalSkip", G=40, I=0),
    *(spec_of("SkipRFM", features=name, degree=2) for name in FEATURES),
]


def drawn(spec: ModelSpec, dimension: int = 40, title: str = "A model") -> ElementTree.Element:
    return ElementTree.fromstring(schematic(spec, dimension, title=title))


def words_in(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("spec", CASES, ids=lambda spec: spec.label)
def test_every_architecture_shows_its_sizes(spec: ModelSpec) -> None:
    root = drawn(spec)
    words = words_in(root)
    assert f"{spec.size(40):,} weights and biases in total" in words
    shown = [n for n in range(spec.depth) if f"unit {n + 1}" in words]
    assert shown == (list(range(spec.depth)) if spec.depth <= 4 else [0, 1, spec.depth - 1])
    inputs, widths, outputs = spec.unit_inputs(40), spec.unit_widths(40), spec.scheme(40).G
    for n in shown:
        assert f"{inputs[n]:,} inputs" in words
        assert f"{widths[n]:,} {spec.kind.word.split()[-1]}s" in words
        paths = [node.get("d", "") for node in root.iter(f"{SVG}path")]
        assert sum(path.endswith(spec.kind.icon) for path in paths) == len(shown)
    assert f"{outputs} output{'s' if outputs > 1 else ''}" in words
    if spec.depth <= 4:
        sizes = [int(w.split()[0].replace(",", "")) for w in words if WEIGHTS.fullmatch(w)]
        assert sum(sizes) == spec.size(40)


@pytest.mark.parametrize("spec", CASES, ids=lambda spec: spec.label)
def test_it_is_a_picture_and_nothing_else(spec: ModelSpec) -> None:
    root = drawn(spec)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {
        "svg", "text", "rect", "path", "circle", "polygon",
    }  # fmt: skip
    names = {name for node in root.iter() for name in node.attrib}
    assert not {n for n in names if n.startswith("on") or "href" in n or n in ("id", "style")}
    assert root.get("role") == "img"
    assert root.get("aria-label") == schematic_words(spec, 40)
    assert root.get("width") == "100%"
    assert {node.get("fill") for node in root.iter(f"{SVG}text")} == {"currentColor"}


@pytest.mark.parametrize("spec", CASES, ids=lambda spec: spec.label)
def test_everything_lies_inside(spec: ModelSpec) -> None:
    root = drawn(spec)
    width, height = map(float, root.get("viewBox", "").split()[2:])
    for node in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(node.get(name, "nan")) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
    for node in root.iter(f"{SVG}text"):
        size, length = float(node.get("font-size", "nan")), len(node.text or "")
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[node.get("text-anchor", "")]
        left = float(node.get("x", "nan")) - share * 0.6 * size * length
        assert left > -10
        assert left + 0.6 * size * length < width + 10
        assert 0 < float(node.get("y", "nan")) < height


def test_a_stranger_s_title_stays_text() -> None:
    title = '</text><script>alert("x")</script>&'
    root = drawn(spec_of("RFM"), title=title)
    assert title in words_in(root)
    assert not list(root.iter(f"{SVG}script"))


def marks(spec: ModelSpec) -> tuple[int, int]:
    """How many plus signs, how many bars that read the estimate."""
    root = drawn(spec)
    pluses = sum(1 for node in root.iter(f"{SVG}circle") if node.get("r") == "11")
    return pluses, sum(1 for word in words_in(root) if word.startswith("y: "))


def test_skip_and_depth_can_be_seen() -> None:
    assert marks(spec_of("RFM")) == (0, 0)
    assert marks(spec_of("SkipRFM")) == (1, 0)
    assert marks(spec_of("DeepRFM")) == (0, 3)
    assert marks(spec_of("LocalDeepSkip")) == (3, 3)
    assert marks(spec_of("LocalDeepSkip", exchange=1)) == (3, 2)  # the first has no estimate yet


def test_the_halo_is_shaded_on_the_state_and_the_patch_on_the_next_one() -> None:
    rects = list(drawn(spec_of("LocalSkip", I=None, left=1, right=2)).iter(f"{SVG}rect"))

    def shades(top: str | None) -> list[float]:
        every = [float(r.get("fill-opacity", "nan")) for r in rects if r.get("y") == top]
        return [shade for shade in every if shade]

    assert shades(rects[0].get("y")) == [0.25, 0.65, 0.25, 0.25]
    assert shades(rects[-1].get("y")) == [0.65]


def test_exchange_shows_the_neighbours_estimates() -> None:
    words = words_in(drawn(spec_of("LocalDeepSkip", exchange=(1, 2))))
    assert "units after the first read y of 1 + 1 + 2 patches" in words
    assert words.count("y: 8") == 2
    alone = words_in(drawn(spec_of("LocalDeepSkip", exchange=1, depth=1)))
    assert not [w for w in alone if "after the first" in w]


def test_units_left_out_are_counted() -> None:
    assert "5 more" in words_in(drawn(spec_of("DeepSkip", depth=8)))
    assert not [w for w in words_in(drawn(spec_of("DeepSkip", depth=4))) if w.endswith(" more")]


def test_words() -> None:
    assert schematic_words(ModelSpec("SkipRFM", width=512), 3) == (
        "The model sees all 3 components at once. 1 unit of 512 tanh features adds a correction to "
        "the estimate of the next state. 3,584 weights and biases in total."
    )
    local = schematic_words(spec_of("LocalDeepRFM", I=None, left=1, right=0), 40)
    assert "sees itself, 1 patch on its left and none on its right: 4 components" in local
    assert "3 units of 716 tanh features each makes an estimate" in local
    assert local.endswith("the same for all patches.")
    assert "neighbouring patches" in schematic_words(spec_of("LocalDeepSkip", exchange=1), 40)
    one = schematic_words(ModelSpec("RFM", width=1, centred=False), 1)
    assert "sees 1 component at once. 1 unit of 1 tanh feature makes" in one


def test_what_does_not_fit_is_refused_by_the_engine() -> None:
    with pytest.raises(InvalidInput, match="divisor"):
        schematic(spec_of("LocalSkip", G=7), 40, title="x")
