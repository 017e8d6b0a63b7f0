"""Helping a person who mistyped a name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 20
_LONGEST = 200  # looking for what is near takes the product of the lengths


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that says which name may have been meant, or which there are.

    Examples
    --------
    >>> nearest("Agee", ["age", "wage", "sex"])
    "the nearest are 'age', 'wage'"
    >>> nearest("income", ["age", "sex"])
    "there are 'age', 'sex'"
    """
    known = list(known)
    lowered = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name[:_LONGEST].lower(), lowered, n=3)
    if near:
        return f"the nearest {'are' if len(near) > 1 else 'is'} {listed(lowered[n] for n in near)}"
    return f"there are {listed(known)}" if known else "there are none"


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, with commas, and not more than a person reads.

    Examples
    --------
    >>> listed(["age", "sex"])
    "'age', 'sex'"
    """
    names = list(names)
    rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + rest
