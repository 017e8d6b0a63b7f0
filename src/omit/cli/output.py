"""What the privacy commands print: a table for people, one JSON object for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN
from typing import Any

from rich.console import Console
from rich.table import Table

from omit._text import promised, rounded_down, rounded_up, usable
from omit.cli.emit import print_json, print_table
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded, Statement
from omit.omissions.base import Omission
from omit.omissions.names import OMISSIONS
from omit.omissions.pairs import PairLoss

REMARKS = {
    "mixture": "proved for every metric and database",
    "published": "Theorem 5.4, verified by computer on a grid",
    "lower bound": "some mechanism really loses this much",
    "exact": "no mechanism loses more",
    "theorem-5.3": "closed form, upper bound",
    "theorem-b.6": "closed form for the nearest assignment, upper bound",
}


@dataclass(frozen=True)
class Answer:
    """An answer in two forms: the object for programs, the lines and the table for people."""

    content: Mapping[str, Any]
    title: str
    lines: Sequence[str]
    rows: Sequence[tuple[str, str, str]] = ()
    heading: str = "epsilon"

    @classmethod
    def of_bound(
        cls,
        omission: Omission,
        each: Guarantee,
        result: Statement | NoGuarantee,
        releases: int,
        rows_per_person: int,
        bounds: tuple[float, float] | None = None,
    ) -> Answer:
        """Return what `omit bound` says."""
        content = {
            **_question("bound", omission, releases, rows_per_person),
            "base": _as_json(each),
            **_as_json(result),
            "neighbours": str(each.neighbours),
        }
        lines = [f"mechanism   {_needed(each)}{_times(releases)}"]
        if isinstance(result, NoGuarantee):
            return cls(content, str(omission), [*lines, f"release     {result}"])
        lines.append(f"release     {result}{_for_person(rows_per_person)}")
        alone = releases == rows_per_person == 1
        if alone:
            lines.append(f"            {_verdict(each.epsilon, result.epsilon)}")
        if bounds is not None:
            left = omission.restrict(bounds)
            content = {**content, "declared_bounds": bounds, "bounds_left": left}
            lines.append(f"values      {_narrowing(bounds, left)}")
        known = omission.bounds(each.epsilon)
        if not alone or len(known) < 2:
            return cls(content, str(omission), lines)
        floor = omission.lower_bound(each).epsilon
        content = {**content, "bounds": known, "lower_bound": floor}
        return cls(content, str(omission), lines, _bound_rows({**known, "lower bound": floor}))

    @classmethod
    def of_calibration(
        cls,
        omission: Omission,
        target: Guarantee,
        candidates: Sequence[Guarantee | NoNoiseNeeded],
        releases: int,
        rows_per_person: int,
    ) -> Answer:
        """Return what `omit calibrate` says."""
        base = candidates[0]
        content = {
            **_question("calibrate", omission, releases, rows_per_person),
            "target": _as_json(target),
            **_as_json(base),
            "neighbours": str(target.neighbours),
            "candidates": [_as_json(candidate) for candidate in candidates],
        }
        lines = [
            f"target      {target}{_for_person(rows_per_person)}",
            f"mechanism   {_needed(base)}{_times(releases)}",
        ]
        if isinstance(base, Guarantee):
            if base.epsilon > 0 and target.epsilon > 0 and releases == rows_per_person == 1:
                lines.append(f"            {_saving(target.epsilon, base.epsilon)}")
            # Off the grid of its verification, Theorem 5.4 is a conjecture for delta > 0.
            lines += [
                f"or          {_needed(other)}{_times(releases)}, by Theorem 5.4 (verified on a "
                "grid)"
                for other in candidates[1:]
            ]
        return cls(content, str(omission), lines)

    def show(self, as_json: bool) -> None:
        """Print the answer."""
        if as_json:
            print_json(self.content)
            return
        console = Console(highlight=False, markup=False, soft_wrap=True)
        console.print(self.title, style="bold")
        for line in self.lines:
            console.print("  " + line)
        if len(self.rows) > 1:
            table = Table(box=None, padding=(0, 2), show_edge=False)
            table.add_column("bound")
            table.add_column(self.heading, justify="right")
            table.add_column("")
            for row in self.rows:
                table.add_row(*row)
            console.print()
            print_table(console, table)


def show_pair(
    name: str,
    losses: Mapping[str, PairLoss],
    epsilon: float,
    delta: float,
    as_json: bool,
    floor: float | None = None,
) -> None:
    """Print what one pair of databases loses, by every method given, the first one leading."""
    leading = next(iter(losses.values()))
    bounds = {method: loss.epsilon for method, loss in losses.items()}
    content = {
        "command": "bound",
        "omission": name,
        "scope": "one pair of databases, not a guarantee",
        "base": _as_json(Guarantee(epsilon, delta)),
        "epsilon": leading.epsilon,
        "delta": leading.delta,
        "neighbours": "add-remove",
        "directions": {method: loss._asdict() for method, loss in losses.items()},
        "bounds": bounds,
    }
    if floor is not None:
        content["lower_bound"] = floor
        bounds = {**bounds, "lower bound": floor}
    lines = [
        f"mechanism   {_needed(Guarantee(epsilon, delta))}",
        f"this pair   epsilon = {promised(leading.epsilon)}, "
        f"delta = {promised(leading.delta)} (presence {promised(leading.presence)}, "
        f"absence {promised(leading.absence)})",
        "            the loss of one pair of databases is not a guarantee for all of them",
    ]
    title = "one pair of databases"
    Answer(content, title, lines, _bound_rows(bounds)).show(as_json)


def _question(
    command: str, omission: Omission, releases: int, rows_per_person: int
) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    if dataclasses.is_dataclass(omission):
        parameters = dataclasses.asdict(omission)
    return {
        "command": command,
        "omission": {kind: name for name, kind in OMISSIONS.items()}[type(omission)],
        "parameters": parameters,
        "releases": releases,
        "rows_per_person": rows_per_person,
    }


def _as_json(answer: Guarantee | Statement | NoGuarantee | NoNoiseNeeded) -> dict[str, Any]:
    if isinstance(answer, Guarantee | Statement):
        return {
            "epsilon": answer.epsilon,
            "delta": answer.delta,
            "neighbours": str(answer.neighbours),
        }
    content: dict[str, Any] = {"epsilon": None, "delta": None, "reason": answer.reason}
    if isinstance(answer, NoNoiseNeeded):
        return {**content, "answer": "no noise needed"}
    witness = answer.witness
    if dataclasses.is_dataclass(witness) and not isinstance(witness, type):
        content["witness"] = dataclasses.asdict(witness)
    return {**content, "answer": "no guarantee"}


def _bound_rows(bounds: Mapping[str, float]) -> list[tuple[str, str, str]]:
    return [
        (
            name,
            usable(value) if name == "lower bound" else promised(value),
            REMARKS.get(name, ""),
        )
        for name, value in bounds.items()
    ]


def _needed(base: Guarantee | NoNoiseNeeded) -> str:
    """Return what a mechanism needs: a larger epsilon, by rounding, would not do."""
    return base.shown(ROUND_DOWN) if isinstance(base, Guarantee) else str(base)


def _times(releases: int) -> str:
    return "" if releases == 1 else f", for each of {releases} statistics on the same sample"


def _for_person(rows: int) -> str:
    return "" if rows == 1 else f", for a person with up to {rows} records"


def _verdict(before: float, after: float) -> str:
    """Say what became of epsilon, in numbers for which that holds and that show it."""
    if after == before:
        return "privacy is unchanged"
    if after > before:
        change = f"epsilon {rounded_down(before)} becomes {rounded_up(after)}"
        return f"privacy is lost: {change}"
    for digits in (4, 10, 17):
        shown = rounded_down(before, digits), rounded_up(after, digits)
        if float(shown[1]) < float(shown[0]):
            break
    return f"privacy is amplified: epsilon {shown[0]} becomes {shown[1]}"


def _narrowing(declared: tuple[float, float], left: tuple[float, float]) -> str:
    """Say what is left of the declared bounds, and of the noise of a sum (Example 5.2)."""
    text = f"[{declared[0]:g}, {declared[1]:g}] become [{left[0]:g}, {left[1]:g}]"
    largest, largest_left = max(map(abs, declared)), max(map(abs, left))
    if largest == 0:
        return text
    return f"{text}: the noise of a sum is {largest_left / largest:.4g} times as large"


def _saving(target: float, base: float) -> str:
    if base > target:
        factor = rounded_down(base / target)
        return f"noise may be saved: epsilon {factor} times as large as without omission"
    if base < target:
        factor = rounded_down(base / target)
        return f"more noise is needed: epsilon {factor} times that without omission"
    return "neither less nor more noise than without omission"
