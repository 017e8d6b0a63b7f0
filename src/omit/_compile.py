"""Compiling loops to machine code, kept between runs and free of Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from numba import njit
from numba.np import linalg

Function = TypeVar("Function", bound=Callable[..., Any])


def _load_quickly() -> None:
    """Let numba take for granted that SciPy has a BLAS, which it asks once, when it is loaded.

    The question alone imports scipy.linalg, a seventh of all the time of a short command. Whoever
    compiles something with linear algebra asks again, and gets a true answer.
    """
    asked = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = asked


with suppress(AttributeError, ImportError):  # a numba that asks otherwise
    _load_quickly()


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
