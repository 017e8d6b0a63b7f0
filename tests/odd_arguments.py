"""Values of the wrong kind or size, given to a function one argument at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omit import Guarantee
from omit.errors import OmitError

ODD: list[Any] = [
    None, True, -1, 0, 1, 2.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, 10**400, 2**70, 1 + 0j,
    np.complex128(1j), b"1", bytearray(b"12"), "", "1", "x" * 5000, "\0", [], {}, set(), {1: 2},
    [None], [1], [1, 2], [[1, 2], [3]], [(1, 2)], [(5, 0.5)], ["a"], {"a": "b"}, {"": 1.0},
    np.array(3), np.array([]), np.array([1, 2]), np.array([1.0, np.nan]), np.array([b"a"]),
    np.ma.masked, np.ma.array([1, 2, 3], mask=[False, True, False]),
    np.array([1, None, "a"], dtype=object), np.float32(0.5), np.int8(3), np.datetime64("2020"),
    Decimal("0.5"), Decimal("sNaN"), Fraction(1, 3), object(), len, float, lambda value: value,
    range(3), Path("x.csv"), "replace", "add-remove of 3 records", Guarantee(1.0),
    Guarantee(1.0, 1e-6, "replace"), np.random.RandomState(0), ...,
]  # fmt: skip


class Call(NamedTuple):
    """A function with arguments that it takes; `gives_nan` where `nan` is an answer of it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012  # never changed
    gives_nan: bool = False


def require_answers_or_sentences(call: Call, odd_values: Sequence[Any] = tuple(ODD)) -> None:
    """Fail unless every odd argument is taken, or refused with one sentence of bearable length."""
    function, arguments, options, gives_nan = call
    function(*arguments, **options)
    for slot in (*range(len(arguments)), *options):
        for odd in odd_values:
            given, named = list(arguments), dict(options)
            if isinstance(slot, int):
                given[slot] = odd
            else:
                named[slot] = odd
            try:
                answer = function(*given, **named)
            except OmitError as refusal:
                sentence = str(refusal)
                assert sentence.endswith((".", "?")), sentence
                assert "\n" not in sentence
                assert len(sentence) < 500
            else:
                # Objects such as curves, whose arrays are shown by their representation.
                assert gives_nan or "nan" not in repr(answer), (slot, odd)
