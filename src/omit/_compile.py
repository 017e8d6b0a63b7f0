"""Compiling loops to machine code, kept between runs and free of Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function; a quotient by 0 is as in numpy.

    Operations keep their order and are not fused, so that results are the same bit for bit whether
    the machine code is new or was kept. A sum that should vectorise is written in several lanes.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return cast(Function, njit(cache=True, **options)(function))
    except RuntimeError:
        # Neither the installation nor the home can be written to: it is compiled in every run.
        return cast(Function, njit(**options)(function))
