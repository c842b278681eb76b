"""What the launcher's server tells browsers to refuse."""

from __future__ import annotations

from collections.abc import Sequence

from tornado.httputil import HTTPHeaders
from tornado.web import OutputTransform


def protected(hosts: Sequence[str]) -> type[OutputTransform]:
    """No foreign page may frame this one but those of ``hosts``, and no file is taken for code."""
    ancestors = " ".join(["'self'", *hosts])

    class Protected(OutputTransform):
        def transform_first_chunk(
            self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            # added: a page's own policy, as the gallery has one, stays in force
            headers.add("Content-Security-Policy", f"frame-ancestors {ancestors}")
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "same-origin"  # the address is a visitor's experiment
            return status_code, headers, chunk

    return Protected
