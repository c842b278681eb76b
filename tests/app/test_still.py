"""Pictures as SVG without a browser: what is in the overlay is on the paper, at its place."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest
from rfm_explorer.compute import results as scenes
from rfm_explorer.plots import density, forecast, regions
from rfm_explorer.plots.parts import Axes
from rfm_explorer.plots.still import as_link, as_png, decades, round_values, still, track
from rfm_explorer.results.records import Info, Trajectory

import rfm_core as rfm

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def info(lorenz63: rfm.Dataset) -> Info:
    return scenes.info(lorenz63)


@pytest.fixture(scope="module")
def model(lorenz63: rfm.Dataset) -> rfm.Model:
    return rfm.fit(rfm.ModelSpec("SkipRFM", width=60), lorenz63)


@pytest.fixture(scope="module")
def shown(lorenz63: rfm.Dataset, model: rfm.Model) -> Trajectory:
    return scenes.trajectory(lorenz63, model)


def texts(svg: str) -> str:
    return " ".join("".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text"))


def test_curves_lie_where_the_axes_say() -> None:
    axes = Axes("try", "time", "value", (0.0, 10.0), (-1.0, 1.0))
    x = np.linspace(0, 10, 201)
    overlay = axes.overlay([axes.curve("line", x, np.sin(x), color="#123456", line_width=2)], 300)
    svg = still(overlay, 600)
    root = ET.fromstring(svg)
    assert root.get("viewBox") == "0 0 600 300"
    [frame] = root.findall(f"{SVG}svg")
    [path] = [p for p in frame.iter(f"{SVG}path") if p.get("stroke") == "#123456"]
    points = np.array([p.split() for p in re.findall(r"[ML]([^ML]+)", path.get("d", ""))], float)
    width, height = float(frame.get("width", 0)), float(frame.get("height", 0))
    np.testing.assert_allclose(points[0], [0, height / 2], atol=0.06)
    np.testing.assert_allclose(points[-1][0], width, atol=0.06)
    back = np.interp(np.pi / 2, points[:, 0] * 10 / width, 1 - 2 * points[:, 1] / height)
    assert abs(back - 1) < 0.01
    assert {"time", "value", "0", "10", "0.5"} <= set(texts(svg).split())


def test_every_picture_of_a_run_can_be_drawn(
    info: Info, shown: Trajectory, model: rfm.Model, lorenz63: rfm.Dataset
) -> None:
    unit = scenes.features(model, lorenz63, shown.forecast).units[0]
    pictures = [
        forecast.components(info, shown, 0),
        forecast.attractor(info, shown, "3D"),
        forecast.error_growth(info, [shown]),
        density.density([("<b>run</b>", scenes.times(lorenz63, model))], info),
        regions.tanh_zones(unit["training"], unit["naive"]),
        regions.feature_shares(unit["training"], "Features"),
    ]
    drawn = [still(picture, 480, 300) for picture in pictures]
    for svg in drawn:
        ET.fromstring(svg)
        assert " id=" not in svg
        assert len(svg) < 120_000
    assert "truth forecast" in texts(drawn[0])
    assert f"{shown.vpt:.1f}" in texts(drawn[0])
    assert "10⁻⁹" in texts(drawn[2])
    assert "<b>run</b>" in texts(drawn[3]).replace("\u00a0", " ")  # as words, not as an element


def test_images_hold_their_cells(lorenz96: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("LocalSkip", width=40, G=2, I=1), lorenz96)
    info, shown = scenes.info(lorenz96), scenes.trajectory(lorenz96, model)
    svg = still(forecast.space_time(info, shown, "truth"), 600)
    images = list(ET.fromstring(svg).iter(f"{SVG}image"))
    assert len(images) == 2  # and what the colours mean
    pngs = [base64.b64decode(image.get("href", "").split(",")[1]) for image in images]
    assert all(png.startswith(b"\x89PNG\r\n\x1a\n") for png in pngs)


def test_png_is_exact_and_clear_where_nothing_is() -> None:
    values = np.array([[0.0, 1.0, np.nan], [0.5, -3.0, 9.0]])
    colours = [f"#{k:02x}00ff" for k in range(256)]
    png = as_png(values, 0.0, 1.0, colours)
    body = png.index(b"IDAT")
    size = int.from_bytes(png[body - 4 : body], "big")
    rows = np.frombuffer(zlib.decompress(png[body + 4 : body + 4 + size]), np.uint8).reshape(2, 4)
    assert rows.tolist() == [[0, 0, 254, 255], [0, 127, 0, 254]]
    clear = png[png.index(b"tRNS") + 4 :][:256]
    assert clear == b"\xff" * 255 + b"\x00"


def test_lines_have_gaps_and_no_needless_points() -> None:
    x = np.array([0, 0.1, 0.2, 5, np.nan, 6, 7.0])
    assert track(x, np.zeros(7)) == "M0.0 0.0L5.0 0.0M6.0 0.0L7.0 0.0"


def test_ticks() -> None:
    assert round_values(-17.0, 21.0, 4) == [-10.0, 0.0, 10.0, 20.0]
    assert round_values(0.0, 0.3, 3) == pytest.approx([0, 0.1, 0.2, 0.3])
    assert decades(1e-16, 10.0, 6) == pytest.approx([1e-16, 1e-13, 1e-10, 1e-7, 1e-4, 1e-1])
    assert as_link("<svg/>") == "data:image/svg+xml;base64,PHN2Zy8+"
