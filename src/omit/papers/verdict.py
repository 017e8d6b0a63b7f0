"""What a paper says, and whether it holds."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced: its short name, its title and how to cite it."""

    name: str
    title: str
    citation: str
