"""The gallery's first page: a card for each story, each single picture and each notebook."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from urllib.parse import urlencode

from rfm_core import SYSTEMS

from ...state.controls import difference, label_of, shown
from ...state.settings import Settings
from ...state.stories import STORIES, Story
from ...views import VIEWS, View
from .look import page
from .reading import notebooks, sections, summary, title


@cache
def front_page(explorer: str) -> str:
    """The page; ``explorer`` is where the explorer is, as seen from here."""
    systems = (_link(explorer, {"system": s.name}, escape(s.title)) for s in SYSTEMS.values())
    head = (
        "<header><h1>RFM Explorer: gallery</h1>"
        "<p>Learn chaotic systems with random features, in the browser. Every card opens a live "
        "page that trains on this server; its address can be copied onto a slide.</p>"
        f'<div class="chips"><a href="{explorer}"><b>Open the explorer</b></a>{"".join(systems)}'
        "</div></header>"
    )
    parts = [
        _section(
            "Stories",
            "A question to vote on, two runs that answer it, and a reading of the difference.",
            (_story(explorer, story) for story in STORIES),
        ),
        _section(
            "Single pictures",
            "One picture with its sentences and no controls, for a slide or a page of yours.",
            (_view(explorer, view) for view in VIEWS),
            "large",
        ),
    ]
    if notebooks():
        parts.append(
            _section(
                "Notebooks",
                "From the first forecast to a whole lecture; each runs in about half a minute.",
                map(_notebook, notebooks()),
            )
        )
    return page("RFM Explorer: gallery", f"{head}<main>{''.join(parts)}</main>")


def _section(name: str, what: str, cards: Iterable[str], kind: str = "") -> str:
    inner = f'<div class="cards {kind}">{"".join(cards)}</div>'
    return f"<h2>{escape(name)}</h2><p>{escape(what)}</p>{inner}"


def _address(explorer: str, query: dict[str, str]) -> str:
    return escape(f"{explorer}?{urlencode(query)}")


def _link(explorer: str, query: dict[str, str], inner: str, kind: str = "") -> str:
    return f'<a class="{kind}" href="{_address(explorer, query)}">{inner}</a>'


def _story(explorer: str, story: Story) -> str:
    changes = "".join(f"<span>{escape(change)}</span>" for change in _changes(story))
    system = SYSTEMS[story.settings["system"]].title
    inner = (
        f"<div><h3>{escape(story.title)}</h3><p>{escape(story.before)}</p>"
        f'<span class="chips end"><span>{escape(system)}</span>{changes}</span></div>'
    )
    return _link(explorer, {"story": story.key}, inner, "card")


def _changes(story: Story) -> list[str]:
    """What differs between the two runs, in the words of the controls."""
    values = []
    for given in (story.against, story.settings):
        settings = Settings()
        settings.apply(given)
        values.append(settings.effective())
    first, second = values
    both = [n for n in difference(first, second) if n in first and n in second]
    return [f"{label_of(n)}: {shown(n, first[n])} → {shown(n, second[n])}" for n in both]


def _view(explorer: str, view: type[View]) -> str:
    inner = (
        f'<img src="gallery/pictures/{view.key}.svg" alt="" loading="lazy">'
        f"<div><h3>{escape(view.title)}</h3><p>{escape(view.about)}</p></div>"
    )
    return _link(explorer, {"view": view.key}, inner, "card")


def _notebook(name: str) -> str:
    parts = sections(name)
    more = f"<small>{escape(' · '.join(parts))}</small>" if parts else ""
    return (
        f'<div class="card"><div><h3>{escape(title(name))}</h3><p>{escape(summary(name))}</p>{more}'
        f'<p class="links end"><a href="gallery/notebooks/{name}">Read</a>'
        f'<a href="gallery/notebooks/{name}.ipynb" download>Download</a></p></div></div>'
    )
