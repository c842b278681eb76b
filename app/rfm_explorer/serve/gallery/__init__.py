"""The gallery: a page of links into the explorer, for lectures. Plain HTML, made once.

Served by ``python -m rfm_explorer`` below ``/gallery``, and by Panel's own server:
``panel serve app/main.py --plugins rfm_explorer.serve.gallery``. Nothing on it comes from
elsewhere, and opening it costs no session.
"""

from __future__ import annotations

from functools import cache
from secrets import token_urlsafe
from typing import Any

from tornado.web import HTTPError, authenticated

from ...compat.pages import AuthRequestHandler
from ...views import VIEWS
from .index import front_page
from .pictures import Pictures
from .reading import notebook_page, notebooks

__all__ = ["ROUTES"]

PAGE = "gallery"
STRICT = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'"


@cache
def all_pictures() -> Pictures:
    return Pictures()


class Handler(AuthRequestHandler):
    """Whoever may see the explorer may see this."""

    def answer(self, kind: str, content: str, scripts: str = "'none'") -> None:
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Content-Security-Policy", f"{STRICT}; script-src {scripts}")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.finish(content)

    @property
    def explorer(self) -> str:
        """The explorer's address as seen from the gallery's."""
        server: Any = self.application
        paths = sorted(server.app_paths)
        return "./" if "/" in paths else f".{paths[0]}"


class IndexHandler(Handler):
    @authenticated
    async def get(self) -> None:
        self.answer("text/html", front_page(self.explorer))


class PictureHandler(Handler):
    @authenticated
    async def get(self, key: str) -> None:
        if key not in {view.key for view in VIEWS}:
            raise HTTPError(404)
        svg = await all_pictures().get(key)
        self.set_header("Cache-Control", "private, max-age=3600")
        self.answer("image/svg+xml", svg)


class NotebookHandler(Handler):
    """The file itself, to be kept."""

    @authenticated
    async def get(self, name: str) -> None:
        if name not in notebooks():
            raise HTTPError(404)
        self.set_header("Content-Disposition", f'attachment; filename="{name}.ipynb"')
        self.answer("application/x-ipynb+json", notebooks()[name].read_text(encoding="utf-8"))


class ReadingHandler(Handler):
    """Its text and code, to be read."""

    @authenticated
    async def get(self, name: str) -> None:
        if name not in notebooks():
            raise HTTPError(404)
        once = token_urlsafe(16)
        self.answer("text/html", notebook_page(name, once), f"'nonce-{once}'")


ROUTES: list[Any] = [
    (rf"/{PAGE}", IndexHandler),
    (rf"/{PAGE}/pictures/([a-z-]+)\.svg", PictureHandler),
    (rf"/{PAGE}/notebooks/([\w-]+)\.ipynb", NotebookHandler),
    (rf"/{PAGE}/notebooks/([\w-]+)", ReadingHandler),
]
