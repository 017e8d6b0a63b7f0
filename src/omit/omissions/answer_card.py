"""What answers about privacy say in short on a page, and how they are asked for in Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from decimal import ROUND_DOWN
from typing import TYPE_CHECKING

import omit.omissions
from omit._text import promised, rounded_down, rounded_up
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded, Statement
from omit.omissions.base import Omission
from omit.omissions.chain import Chain
from omit.report.page import Card, Point

if TYPE_CHECKING:
    from omit.omissions.answer import BoundAnswer, CalibrationAnswer, PrivacyAnswer


def bound_card(answer: BoundAnswer) -> Card:
    """Return what a release promises, what attackers can tell, and whether to omit like this."""
    released, base = answer.released, answer.base
    if isinstance(released, NoGuarantee):
        alone = Point(
            "use all records",
            f"Run the mechanism on all records: its own ε = {promised(base.epsilon)} then is that "
            "of the release. Or leave records out at random, by a secret sample.",
        )
        fewer = Point("ask for less", "Release fewer statistics, or from fewer records per person.")
        return Card(
            Point("nothing", "The release has no guarantee."),
            Point("everything", f"Nothing limits what attackers can tell: {released.reason}"),
            alone if answer._is_plain else fewer,
        )
    mechanism = f"ε = {rounded_down(base.epsilon, 4)}"
    if not answer._is_plain:
        advice = "This is what all statistics on the sample, for all records of a person, have."
    elif released.epsilon < base.epsilon:
        advice = "Nobody may learn which records were left out: the promise rests on it."
    elif released.epsilon == base.epsilon:
        advice = "Leaving records out like this changes nothing about what is promised."
    else:
        advice = "On all records the same mechanism promises more."
    return Card(
        _promise(released, answer.rows_per_person),
        _told(released),
        Point(mechanism, f"Run the mechanism with this epsilon on what is kept. {advice}"),
    )


def calibration_card(answer: CalibrationAnswer) -> Card:
    """Return what is to be promised, what attackers can tell then, and what to run."""
    target, base = answer.target, answer.base
    if isinstance(base, NoNoiseNeeded):
        instead = Point("no noise", f"{base.reason} Mind the delta: it lets records be published.")
    else:
        each = "the mechanism" if answer.releases == 1 else "each mechanism"
        pair = base.shown(ROUND_DOWN)
        more = base.epsilon > target.epsilon
        secret = " Nobody may learn which records were left out." if more else ""
        instead = Point(f"ε = {rounded_down(base.epsilon, 4)}", f"Give {each} {pair}.{secret}")
    return Card(_promise(target, answer.rows_per_person), _told(target), instead)


def _promise(guarantee: Guarantee | Statement, rows: int) -> Point:
    return Point(f"ε = {rounded_up(guarantee.epsilon, 4)}", guarantee.meaning(rows))


def _told(guarantee: Guarantee | Statement) -> Point:
    return Point(f"{rounded_up(100 * guarantee.advantage, 3)} %", guarantee.risk())


def answer_code(
    answer: PrivacyAnswer, guarantee: Guarantee, *settings: tuple[str, object]
) -> str | None:
    """Return an answer in Python, with settings that are not as usual; None if it has no code."""
    if not dataclasses.is_dataclass(answer.omission):
        return None
    counts = {"releases": answer.releases, "rows_per_person": answer.rows_per_person}
    given = [*((name, count) for name, count in counts.items() if count > 1), *settings]
    arguments = [
        repr(answer.omission),
        f"omit.{guarantee!r}",
        *(f"{name}={value!r}" for name, value in given),
    ]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    imports = "\n".join(["import omit", *dict.fromkeys(_imports(answer.omission))])
    return f"{imports}\n\nprint(omit.omissions.{answer.command}(\n{lines}))"


def _imports(omission: Omission) -> Iterator[str]:
    """Yield the lines that import the classes of an omission, from where they are public."""
    kind = type(omission)
    public = getattr(omit.omissions, kind.__name__, None) is kind
    yield f"from {'omit.omissions' if public else kind.__module__} import {kind.__name__}"
    if isinstance(omission, Chain):
        yield from _imports(omission.first)
        yield from _imports(omission.then)
