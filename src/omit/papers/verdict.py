"""What a paper says, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from omit.errors import InvalidInput

Standing: TypeAlias = Literal["holds", "holds in part", "does not hold", "not tested"]


@dataclass(frozen=True)
class Verdict:
    """One claim of a paper beside what was found.

    Parameters
    ----------
    claim : str
        What the paper says, in one sentence of our own.
    where : str
        The section, figure or theorem that says it.
    standing : {"holds", "holds in part", "does not hold", "not tested"}
        What became of it.
    finding : str
        The numbers that decide it, in one sentence.

    Examples
    --------
    >>> Verdict("Two and two are five.", "Section 1", "does not hold", "They are 4.").standing
    'does not hold'
    """

    claim: str
    where: str
    standing: Standing
    finding: str

    def __post_init__(self) -> None:
        known = get_args(Standing)
        if self.standing not in known:
            raise InvalidInput(
                f"Expected standing={self.standing!r} to be one of: {', '.join(known)}."
            )


def standing(holds: bool) -> Standing:
    """Return what became of a claim that holds or does not."""
    return "holds" if holds else "does not hold"


def agreement(parts: Sequence[bool]) -> Standing:
    """Return what became of a claim of several parts: all, some or none of them hold.

    Examples
    --------
    >>> agreement([True, True]), agreement([True, False]), agreement([False, False])
    ('holds', 'holds in part', 'does not hold')
    """
    return "holds in part" if any(parts) and not all(parts) else standing(all(parts))


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced: its short name, its title and how to cite it."""

    name: str
    title: str
    citation: str
