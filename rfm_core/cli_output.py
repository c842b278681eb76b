"""What the command line shows: a progress bar, a sparkline, a picture."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape

import numpy as np

from .events import Progress
from .files import write_atomically

Array = np.ndarray
BLOCKS = " ▁▂▃▄▅▆▇█"


class ProgressBar:
    """One line on the terminal that follows events; silent where the output is not a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._last = 0.0

    def __call__(self, event: Progress) -> None:
        now = time.perf_counter()
        if not self._shown or (now - self._last < 0.1 and event.done < event.total):
            return
        self._last = now
        filled = int(24 * event.fraction)
        left = event.seconds_left
        eta = "" if left is None else f"{left:6.1f} s left"
        self._stream.write(f"\r{event.stage[:28]:28} {'█' * filled:24} {event.fraction:4.0%} {eta}")
        self._stream.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._stream.write("\r" + " " * 76 + "\r")
            self._stream.flush()


def sparkline(values: Array) -> str:
    """Non-negative values as a row of blocks."""
    values = np.asarray(values, dtype=float)
    top = values.max() if values.size and values.max() > 0 else 1.0
    return "".join(BLOCKS[round(8 * max(0.0, v) / top)] for v in values)


def write_forecast_picture(
    path: Path,
    times: Array,
    truth: Array,
    forecast: Array,
    vpt: float,
    names: list[str],
    title: str,
) -> None:
    """Truth and forecast of each component over time as one standalone SVG file."""
    shown = slice(None, None, -(-len(times) // 1500))  # more points than that nobody can see
    times, truth, forecast = times[shown], truth[shown], forecast[shown]
    width, height, margin = 960, 150, 56
    rows = truth.shape[1]
    right, x_end = width - 20, float(times[-1])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {rows * height + 90}" '
        'font-family="sans-serif" font-size="14">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{rows * height + 90}" fill="#ffffff"/>',
        f'<text x="{margin}" y="26" font-size="16">{escape(title)}</text>',
    ]

    def across(t: float) -> float:
        return margin + (right - margin) * t / x_end

    for row in range(rows):
        low, high = float(truth[:, row].min()), float(truth[:, row].max())
        top, span = 44 + row * height, height - 22

        def down(v: float, low: float = low, high: float = high, end: int = top + span) -> float:
            share = (v - low) / (high - low or 1.0)
            return end - (height - 22) * min(1.2, max(-0.2, share))

        for name, series, style in (
            ("truth", truth, 'stroke="#000000" stroke-width="2"'),
            ("forecast", forecast, 'stroke="#d55e00" stroke-width="2" stroke-dasharray="6 4"'),
        ):
            good = np.isfinite(series[:, row])
            points = " ".join(
                f"{across(float(t)):.1f},{down(float(v)):.1f}"
                for t, v in zip(times[good], series[good, row], strict=True)
            )
            parts.append(f'<polyline class="{name}" fill="none" {style} points="{points}"/>')
        parts.append(f'<text x="16" y="{top + span / 2}">{escape(names[row])}</text>')
    bottom = 44 + rows * height
    if vpt < x_end:
        parts.append(
            f'<line x1="{across(vpt):.1f}" x2="{across(vpt):.1f}" y1="40" y2="{bottom - 10}" '
            'stroke="#0072b2" stroke-width="2"/>'
            f'<text x="{across(vpt) + 6:.1f}" y="{bottom - 14}" fill="#0072b2">VPT {vpt:.1f}</text>'
        )
    parts += [
        f'<text x="{across(float(t)):.1f}" y="{bottom + 6}" text-anchor="middle">{t:.0f}</text>'
        for t in np.arange(0, x_end, 5 if x_end > 12 else 1)
    ]
    parts.append(
        f'<text x="{margin}" y="{bottom + 34}">Time in Lyapunov times. Black: truth; '
        "orange, dashed: forecast.</text></svg>"
    )
    write_atomically(path, lambda temporary: _write(temporary, "\n".join(parts)))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
