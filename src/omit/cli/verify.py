"""`omit verify`: repeat the checks of the theorems, with a progress bar, stoppable at any time."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from omit.cli.options import Json
from omit.cli.printing import print_json
from omit.cli.progress import progress_bar
from omit.errors import StudyInterrupted

if TYPE_CHECKING:
    from omit.audit.bounds import Outcome
    from omit.papers.omitting_records.theorem_5_4 import Verification

verify_app = typer.Typer(
    help="Check the theorems by independent computation.", no_args_is_help=True
)

# What rounding explains.
ROUNDING = 1e-9


@verify_app.callback()
def _checks() -> None:
    """Check the theorems by independent computation."""


@verify_app.command("theorem-5.4")
def theorem_5_4(
    step: Annotated[float, typer.Option(help="Distance between values of m and of M.")] = 0.01,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon to check; repeat. Default: the paper's 371.")
    ] = None,
    largest_database: Annotated[
        float, typer.Option(help="Largest number of records to try; inf includes the limit.")
    ] = math.inf,
    workers: Annotated[int, typer.Option(help="Threads.")] = 2,
    json: Json = False,
) -> None:
    """Repeat the computer-assisted step of Theorem 5.4 (Remarks B.22 and B.24).

    With the limit of infinitely large databases, the formula must be attained, too; up to 1e9
    records, as in the paper, it is missed by up to 6e-6.
    """
    from omit.papers.omitting_records.theorem_5_4 import EPSILONS, grid, slices

    epsilons = tuple(epsilon) if epsilon else EPSILONS
    cells = len(epsilons) * grid(step)[0].size
    found: Verification | None = None
    with progress_bar(f"{cells:,} cells", cells) as advance:
        try:
            parts = slices(epsilons, step, workers=workers, largest_database=largest_database)
            for part in parts:
                found = part if found is None else found | part
                advance(part.cells)
        except KeyboardInterrupt:
            if found is None:
                raise
    if found is None:
        raise typer.Exit(1)
    gap = ROUNDING if math.isinf(largest_database) else math.inf
    holds = (
        max(found.removing.above, found.adding.above, found.superfluous.above) <= ROUNDING
        and max(found.removing.below, found.adding.below) <= gap
    )
    _show_theorem_5_4(found, cells, holds, json)
    if found.cells < cells:
        raise StudyInterrupted("Interrupted: the cells above are those that were checked.")
    if not holds:
        raise typer.Exit(1)


@verify_app.command()
def mixture(
    cases: Annotated[
        int, typer.Option(help="Linear programs in each check; cheap checks take 100 times more.")
    ] = 300,
    seed: Annotated[int, typer.Option(help="Of the random cases.")] = 0,
    json: Json = False,
) -> None:
    """Check the shift rule and the mixture bound by linear programs and enumeration."""
    from omit import _validate
    from omit.audit.bounds import checks, run

    outcomes: list[Outcome] = []
    interrupted = False
    try:
        for check in checks(_validate.seed(seed), _validate.positive_integer("cases", cases)):
            with progress_bar(check.claim, check.count) as advance:
                outcomes.append(run(check, advance))
    except KeyboardInterrupt:
        interrupted = True
    _show_mixture(outcomes, json)
    if interrupted:
        raise StudyInterrupted("Interrupted: what was not finished is not listed.")
    if not all(outcome.holds for outcome in outcomes):
        raise typer.Exit(1)


def _show_theorem_5_4(found: "Verification", cells: int, holds: bool, json: bool) -> None:
    from dataclasses import asdict

    from rich.console import Console

    from omit._text import rounded_up, show_number

    if json:
        content = {"claimed_cells": cells, "cells": found.cells, "holds": holds, **asdict(found)}
        print_json(content)
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Theorem 5.4 on {found.cells:,} of {cells:,} cells (ε, m, M)", style="bold")
    for name, part in (
        ("removing a record, Remark B.22", found.removing),
        ("adding a record, Remark B.24", found.adding),
        ("the term left out of the theorem, Remark B.24", found.superfluous),
    ):
        console.print(f"  {name}")
        for direction, value, cell in (
            ("above", part.above, part.where_above),
            ("below", part.below, part.where_below),
        ):
            place = ", ".join(map(show_number, cell))
            most = rounded_up(value, 2)
            console.print(f"    found at most {most:>8} {direction} the claim, at ({place})")
    if holds:
        console.print(
            "The published formula holds on them: nothing found exceeds it by more than rounding."
        )
    else:
        console.print("The published formula FAILS on them: see the table.", style="bold red")


def _show_mixture(outcomes: "list[Outcome]", json: bool) -> None:
    from dataclasses import asdict

    from rich.console import Console

    from omit._text import rounded_up

    if json:
        print_json({"checks": [asdict(outcome) for outcome in outcomes]})
        return
    console = Console(highlight=False, soft_wrap=True)
    for outcome in outcomes:
        verdict = "holds" if outcome.holds else "[bold red]FAILS[/]"
        console.print(f"{verdict}  {outcome.claim}")
        most = rounded_up(outcome.violation, 2)
        console.print(
            f"       {outcome.count:,} cases, found at most {most} beyond the "
            f"claim, largest ratio to it {outcome.closest_ratio:.6f}"
        )
