"""What an object says of itself where it is displayed: one line, not its numbers."""

from __future__ import annotations

from html import escape


class InOneLine:
    """``in_one_line`` gives what it is, and what there is to say about it."""

    def in_one_line(self) -> tuple[str, str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return ": ".join(self.in_one_line())

    def _repr_html_(self) -> str:
        name, words = map(escape, self.in_one_line())
        return f"<p><b>{name}</b>: {words}</p>"
