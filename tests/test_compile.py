"""Compiled functions."""

from __future__ import annotations

import pytest
from numba import njit

from omit._compile import compiled


def test_where_nothing_can_be_kept_functions_are_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from numba.core import caching

    # What numba does where neither the installation nor the home can be written to.
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])

    def twice(number: float) -> float:
        return 2 * number

    with pytest.raises(RuntimeError, match="cannot cache"):
        njit(cache=True)(twice)
    assert compiled(twice)(1.5) == 3.0
