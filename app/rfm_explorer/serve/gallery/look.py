"""What all pages of the gallery share: the frame, and a style for light and dark screens."""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --soft: #55585d; --paper: #f5f6f8;
  --card: #ffffff; --line: #d9dce1; --blue: #0072B2; --on-blue: #ffffff; --code: #eef0f3; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececee; --soft: #b4b8bf; --paper: #121316;
  --card: #1d1f24; --line: #363a42; --blue: #56B4E9; --on-blue: #08131a; --code: #23262c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 17px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--blue); }
header { background: #0072B2; color: #ffffff; padding: 28px max(24px, calc(50vw - 640px)); }
header h1 { margin: 0 0 6px; font-size: 34px; line-height: 1.2; }
header p { margin: 0; max-width: 60em; font-size: 18px; }
header .chips { margin-top: 16px; }
header .chips a { color: #ffffff; border-color: rgba(255, 255, 255, 0.6); }
main { max-width: 1328px; margin: 0 auto; padding: 8px 24px 48px; }
h2 { margin: 32px 0 4px; font-size: 25px; }
main:not(.reading) h2 + p { margin: 0 0 16px; color: var(--soft); }
.cards { display: grid; gap: 18px; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); }
.cards.large { grid-template-columns: repeat(auto-fill, minmax(350px, 1fr)); }
.card { display: flex; flex-direction: column; background: var(--card); color: inherit;
  border: 1px solid var(--line); border-radius: 10px; overflow: hidden; text-decoration: none; }
a.card:hover, a.card:focus-visible { border-color: var(--blue); outline: 2px solid var(--blue); }
.card img { display: block; width: 100%; aspect-ratio: 8 / 5; object-fit: contain;
  background: #ffffff; padding: 6px; }
.card div { padding: 14px 18px 16px; display: flex; flex-direction: column; gap: 8px; flex: 1; }
.card h3 { margin: 0; font-size: 19px; line-height: 1.3; }
.card p { margin: 0; }
.card small { font-size: 14px; color: var(--soft); }
.card .end { margin-top: auto; }
.chips { display: flex; flex-wrap: wrap; gap: 8px; }
.chips > * { font-size: 15px; border: 1px solid var(--line); border-radius: 16px;
  padding: 3px 12px; text-decoration: none; }
.card .chips > * { font-size: 14px; color: var(--soft); }
.links { display: flex; flex-wrap: wrap; gap: 14px; align-items: center; }
.button { background: var(--blue); color: var(--on-blue); border-radius: 6px; padding: 7px 16px;
  text-decoration: none; }
.reading { max-width: 960px; }
.reading pre { background: var(--code); border-radius: 8px; padding: 14px 16px; overflow-x: auto;
  font-size: 14px; line-height: 1.45; }
.reading code { background: var(--code); border-radius: 4px; padding: 1px 4px; }
.reading pre code { padding: 0; }
.reading table { border-collapse: collapse; }
.reading th, .reading td { border: 1px solid var(--line); padding: 4px 10px; }
.math.block { display: block; margin: 12px 0; overflow-x: auto; }
@media (max-width: 560px) { .cards, .cards.large { grid-template-columns: 1fr; }
  header h1 { font-size: 27px; } main { padding: 4px 14px 40px; } }
"""


def page(title: str, content: str) -> str:
    """A whole document; ``content`` is HTML of ours."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        '<link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head><body>{content}</body></html>"
    )
