"""What a notebook has loaded already. For ``notebook.extension``, which needs no widgets."""

from __future__ import annotations

import panel as pn


def extension_loaded() -> bool:
    """Whether the notebook has called ``pn.extension``: to load twice costs megabytes."""
    return bool(pn.extension._loaded)
