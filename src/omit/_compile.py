"""Compiling loops to machine code, kept between runs and free of Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function whose operations keep their order; a quotient by 0 is as in numpy."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def compiled_sums(function: Function) -> Function:
    """Compile a function whose sums may be taken in any order, so that they vectorise.

    Infinities and NaN keep their meaning; results are the same in every run on one machine.
    """
    allowed = {"contract", "reassoc", "nsz"}
    compiler = njit(cache=True, nogil=True, error_model="numpy", fastmath=allowed)
    return cast(Function, compiler(function))
