"""``multiprocessing`` still is as ``rfm_core.run.hidden_main`` takes it."""

from __future__ import annotations

import multiprocessing.spawn
import sys
from types import ModuleType

import pytest

from rfm_core.run.hidden_main import hidden_main


@pytest.mark.parametrize("how", ["file", "module"])
def test_a_new_process_is_not_told_of_the_main_module(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = ModuleType("__main__")
    main.__file__ = "/somewhere/study.py"
    if how == "module":
        main.__spec__ = type("Spec", (), {"name": "studies.first"})()
    monkeypatch.setitem(sys.modules, "__main__", main)
    before = dict(vars(main))

    def told() -> list[str]:
        return [name for name in multiprocessing.spawn.get_preparation_data("x") if "main" in name]

    assert told(), "multiprocessing no longer imports the main module: delete hidden_main"
    with hidden_main():
        assert not told(), (
            "multiprocessing finds the main module in another way: a script without a guard for "
            "`__main__` would start its study anew in every spawned worker (rfm_core.run.launch)"
        )
    assert vars(main) == before
