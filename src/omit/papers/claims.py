"""Claims of papers: what a paper says, how it is judged, and what its words may mean.

A standing follows from numbers; it is never written down. Where the text of a paper allows several
readings, a claim is judged under all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from omit import _validate

if TYPE_CHECKING:
    from omit.papers.base import Computed

Standing: TypeAlias = Literal["holds", "holds in part", "fails", "not tested"]

KINDS = (
    "theorem",
    "proposition",
    "lemma",
    "corollary",
    "definition",
    "remark",
    "example",
    "table",
    "figure",
)
"""What is numbered in papers; everything else is a sentence."""


@dataclass(frozen=True)
class Finding:
    """The standing of a claim, and the numbers that decide it, in a sentence.

    Parameters
    ----------
    standing : {"holds", "holds in part", "fails", "not tested"}
        What the numbers say.
    evidence : str
        The numbers, in a sentence.
    distance : float, optional
        Under one of several readings: how far its numbers are from the printed ones, as a share of
        these.
    readings : mapping of str to Finding
        What was found under every reading, by its name; see `under_every_reading`.

    Examples
    --------
    >>> Finding("fails", "Two and two are 4.").standing
    'fails'
    """

    standing: Standing
    evidence: str
    distance: float | None = None
    readings: Mapping[str, Finding] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _validate.one_of("standing", self.standing, get_args(Standing))


def agreement(*parts: object) -> Standing:
    """Return the standing of a claim of one or several parts: all, some or none of them are true.

    Examples
    --------
    >>> agreement(True), agreement(True, False), agreement(False, False)
    ('holds', 'holds in part', 'fails')
    """
    return "holds" if all(parts) else "holds in part" if any(parts) else "fails"


Judge: TypeAlias = Callable[[Any], Finding | None]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and how it is judged.

    Parameters
    ----------
    where : str
        The theorem, table, figure or section that says it.
    sentence : str
        What the paper says, in one sentence of our own.
    exhibits : tuple of str
        The names of the exhibits it is about: it is judged if one of them is reproduced. Without
        any it is about the whole paper, or about nothing that is computed in cells.
    judge : callable
        Returns the finding from the numbers, or None if they say nothing about the claim.
    numbers : callable, optional
        Returns what the judge is given of what was computed, or None if it is not there; by
        default the judge is given everything.
    name : str
        What other pages call it by, unique in its paper; by default where it is.

    Examples
    --------
    >>> from omit.papers import paper
    >>> paper("statistical-privacy").claims[0].where
    'Definition 2.1'
    """

    where: str
    sentence: str
    exhibits: tuple[str, ...]
    judge: Judge
    numbers: Callable[[Computed], Any] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            words = re.findall(r"[a-z0-9]+", self.where.lower())
            object.__setattr__(self, "name", "-".join(words))

    @property
    def kind(self) -> str:
        """What says it: a theorem, a table or another of `KINDS`, or a sentence.

        Examples
        --------
        >>> [Claim(where, "", (), lambda _: None).kind for where in ("Figures 1 to 3", "Abstract")]
        ['figure', 'sentence']
        """
        first = self.where.split(" ")[0].lower().removesuffix("s")
        return first if first in KINDS else "sentence"

    @property
    def needs_no_cells(self) -> bool:
        """Whether its judge computes all that it needs."""
        return not self.exhibits and self.numbers is None

    def judged(self, computed: Computed) -> Finding | None:
        """Return the finding, or None if what was computed says nothing about the claim."""
        numbers = computed if self.numbers is None else self.numbers(computed)
        return None if numbers is None else self.judge(numbers)


def claim(
    where: str,
    exhibits: str | tuple[str, ...],
    sentence: str,
    *,
    of: Callable[[Computed], Any] | None = None,
    name: str = "",
) -> Callable[[Judge], Claim]:
    """Return a decorator that makes a claim of its judge; `of` are the claim's `numbers`.

    The claim is called as its judge is, if it has no other name.

    Examples
    --------
    >>> @claim("Section 1", "table-1", "Two and two are 4.")
    ... def _two_and_two(computed):
    ...     return Finding(agreement(2 + 2 == 4), f"They are {2 + 2}.")
    >>> _two_and_two.judge(None).standing, _two_and_two.name
    ('holds', 'two-and-two')
    """
    names = (exhibits,) if isinstance(exhibits, str) else exhibits

    def of_judge(judge: Judge) -> Claim:
        own = getattr(judge, "__name__", "").strip("_").replace("_", "-")
        return Claim(where, sentence, names, judge, of, name or own)

    return of_judge


def claims_in(names: Mapping[str, object]) -> tuple[Claim, ...]:
    """Return the claims among the names of a module, in the order in which they are defined."""
    return tuple(value for value in names.values() if isinstance(value, Claim))


def under_every_reading(readings: Mapping[str, Judge]) -> Judge:
    """Return the judge of a sentence that may mean several things, from one judge per reading.

    What is found under every reading is kept. The sentence holds if it does under all; those whose
    findings have a `distance` come first, the nearest to the print at the top.

    Examples
    --------
    >>> judge = under_every_reading(
    ...     {
    ...         "a dozen of 12": lambda printed: Finding("fails", "It is 12.", distance=1 / 13),
    ...         "a baker's dozen": lambda printed: Finding("holds", "It is 13.", distance=0.0),
    ...     }
    ... )
    >>> print(judge(13).standing, "-", judge(13).evidence)
    holds in part - It holds with a baker's dozen (the nearest to the print) and fails with a dozen
    of 12.
    >>> list(judge(13).readings)
    ["a baker's dozen", 'a dozen of 12']
    """

    def judge(numbers: Any) -> Finding | None:
        read = {name: judge(numbers) for name, judge in readings.items()}
        findings = {name: finding for name, finding in read.items() if finding is not None}
        if not findings:
            return None
        ranked = dict(sorted(findings.items(), key=_by_distance))
        return Finding(_together(ranked), _in_words(ranked), readings=ranked)

    return judge


def _by_distance(named: tuple[str, Finding]) -> tuple[bool, float]:
    distance = named[1].distance
    return distance is None, distance or 0.0


def _together(findings: Mapping[str, Finding]) -> Standing:
    """Return the standing of a sentence from those under its readings."""
    standings = {finding.standing for finding in findings.values()}
    if len(standings) == 1:
        return standings.pop()
    return "not tested" if standings == {"fails", "not tested"} else "holds in part"


def _in_words(findings: Mapping[str, Finding]) -> str:
    """Return under which readings a sentence holds, and which is nearest to the print."""
    nearest = next(iter(findings))
    is_ranked = len(findings) > 1 and findings[nearest].distance is not None
    parts = []
    for standing in get_args(Standing):
        names = [
            f"{name} (the nearest to the print)" if is_ranked and name == nearest else name
            for name, finding in findings.items()
            if finding.standing == standing
        ]
        if names:
            verb = "is not tested" if standing == "not tested" else standing
            parts.append(f"{verb} with {', with '.join(names)}")
    return f"It {' and '.join(parts)}."
