"""Taking results away: pictures as PNG and SVG, data as CSV and NPZ."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

if TYPE_CHECKING:
    from .views.base import View

# The browser has the pictures, so it writes them: every figure in sight, as Bokeh itself exports.
# A notebook's page holds other cells, too: only what belongs to the button's document is ours.
EXPORT = """
const figures = [];
const walk = (view) => {
  if (view == null) return;
  if (view.model != null && view.model.type === "Figure" && view.export != null) figures.push(view);
  for (const child of (view.children != null ? Array.from(view.children()) : [])) walk(child);
};
for (const root of Array.from(Bokeh.index.roots)) {
  if (root.model.document === source.document) walk(root);
}
const seen = figures.filter((view) => view.el.getClientRects().length > 0);
for (const view of seen) {
  const marks = view.model.css_classes.map((c) => /^rfm-picture-(.+)$/.exec(c)?.[1]);
  const what = marks.find((mark) => mark != null);
  const name = seen.length > 1 && what != null ? `${stem}-${what}.${kind}` : `${stem}.${kind}`;
  const blob = await view.export(kind, true).to_blob();
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  await new Promise((resolve) => setTimeout(resolve, 150));
}
"""


def safe_name(text: str) -> str:
    """For a file: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60] or "rfm"


def export_buttons(view: View) -> pn.viewable.Viewable:
    """PNG and SVG of the pictures in sight, CSV and NPZ of their data."""
    buttons: list[pn.viewable.Viewable] = []
    for kind in ("png", "svg"):
        button = small_button(kind.upper(), f"Save the pictures in sight as {kind.upper()}")
        stem = f"rfm-{view.key}"
        # ``source`` is the button; as an argument Panel would keep it, and its page, for ever
        button.js_on_click(
            code=f"(async () => {{ const kind = '{kind}', stem = '{stem}';{EXPORT}}})()",
        )
        buttons.append(button)
    for kind, content in (("csv", view.csv), ("npz", view.npz)):
        buttons.append(
            download(
                kind.upper(), f"rfm-{view.key}.{kind}", content, "Save the numbers behind them"
            )
        )
    return pmui.FlexBox(*buttons, justify_content="flex-end", margin=(4, 10))


def small_button(label: str, why: str) -> pmui.Button:
    return pmui.Button(label=label, variant="text", size="small", description=why, margin=2)


def download(label: str, name: str, content: object, why: str) -> pmui.FileDownload:
    """From memory, made when it is asked for."""
    button = pmui.FileDownload(
        callback=content,
        filename=name,
        label=label,
        size="small",
        description=why,
        embed=False,
        auto=True,
        margin=2,
    )
    button.variant = "text"  # given at once, the library warns of a conflict of its own making
    return button
