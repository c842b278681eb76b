"""The scheme of order eight is one: all conditions of Butcher's theory, tree by tree."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from rfm_core.systems.dop853 import STAGES, A, B

Tree = tuple  # of the trees that hang from the root, in order


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with so many nodes."""
    return tuple(sorted({tuple(sorted(tree)) for tree in forests(order - 1, order - 1)}))


@cache
def forests(nodes: int, largest: int) -> tuple[Tree, ...]:
    """All collections of trees with so many nodes together, none larger than ``largest``."""
    if nodes == 0:
        return ((),)
    found = []
    for size in range(min(nodes, largest), 0, -1):
        for count in range(1, nodes // size + 1):
            for chosen in combinations_with_replacement(trees(size), count):
                smaller = forests(nodes - size * count, size - 1)
                found += [chosen + rest for rest in smaller]
    return tuple(found)


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree))


def density(tree: Tree) -> int:
    return size(tree) * int(np.prod([density(branch) for branch in tree], dtype=object))


def stages(tree: Tree) -> np.ndarray:
    """What the stages make of a tree."""
    return np.prod([np.ones(STAGES), *(A @ stages(branch) for branch in tree)], axis=0)


def test_the_trees_are_all_there() -> None:
    assert [len(trees(order)) for order in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("order", range(1, 9))
def test_every_condition_holds(order: int) -> None:
    for tree in trees(order):
        assert B @ stages(tree) == pytest.approx(1 / density(tree), rel=1e-10, abs=1e-14), tree


def test_the_next_order_does_not_hold() -> None:
    """So the conditions can fail."""
    left = [abs(B @ stages(tree) * density(tree) - 1) for tree in trees(9)]
    assert max(left) > 1e-3


def test_stages_use_earlier_ones_only() -> None:
    assert not np.triu(A).any()
