"""The gallery's pages: every card leads somewhere that exists, and nothing comes from elsewhere."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from rfm_explorer.serve.gallery import ROUTES
from rfm_explorer.serve.gallery.index import front_page
from rfm_explorer.serve.gallery.reading import notebook_page, notebooks, sections, summary, title
from rfm_explorer.state.stories import BY_KEY
from rfm_explorer.views import VIEWS

from rfm_core import SYSTEMS


def links(page: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'(?:href|src)="([^"]*)"', page)]


def test_every_card_leads_somewhere() -> None:
    page = front_page("./main")
    queries = [parse_qs(urlsplit(link).query) for link in links(page) if link.startswith("./main?")]
    assert {q["story"][0] for q in queries if "story" in q} == set(BY_KEY)
    views = {kind.key for kind in VIEWS}
    assert {q["view"][0] for q in queries if "view" in q} == views
    assert all(view.about in html.unescape(page) for view in VIEWS)
    assert {q["system"][0] for q in queries if "system" in q} == set(SYSTEMS)
    served = [link for link in links(page) if link.startswith("gallery/")]
    assert len(served) == len(views) + 2 * len(notebooks())
    patterns = [re.compile(route[0]) for route in ROUTES]
    assert all(any(p.fullmatch(f"/{link}") for p in patterns) for link in served)


def test_cards_say_what_changes() -> None:
    page = html.unescape(front_page("./"))
    assert "Internal weights: gaussian (naive) → hit-and-run, bounding box (paper)" in page
    assert "Solver: normal equations (paper) → QR" in page
    assert "Noise: 0 → 0.001" in page
    assert BY_KEY["ridge"].before in page
    for story in BY_KEY.values():  # the answer comes with the runs
        assert story.after not in page


@pytest.mark.parametrize("name", list(notebooks()))
def test_notebooks_can_be_read(name: str) -> None:
    page = notebook_page(name, "once")
    assert title(name) in html.unescape(page)
    assert len(summary(name)) > 40
    assert not re.search(r"[*`$]", summary(name))
    assert sections(name)
    for script in re.findall(r"<script[^>]*>", page):
        assert 'nonce="once"' in script
    near = [link for link in links(page) if link and not link.startswith(("data:", "../"))]
    for link in near:
        assert link.removesuffix(".ipynb") in notebooks(), link


def test_nothing_comes_from_elsewhere() -> None:
    for page in (front_page("./"), *(notebook_page(name, "once") for name in notebooks())):
        assert not [link for link in links(page) if urlsplit(link).netloc]
        assert "@import" not in page


def test_markdown_lets_no_html_through(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [{"kind": "markdown", "text": "# <img src=x onerror=alert(1)>\n\nwords $a < b$"}]
    cells.append({"kind": "code", "text": "a < b  # <script>alert(1)</script>"})
    monkeypatch.setattr("rfm_explorer.serve.gallery.reading.cells", lambda name: cells)
    page = notebook_page("a-name-of-no-other", "once")
    assert "<img" not in page
    assert "<script>alert" not in page
    assert '<span class="math inline">a &lt; b</span>' in page
