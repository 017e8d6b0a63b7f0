"""`omit reproduce omitting-records`."""

import json as json_format
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omit.cli.progress import study_progress
from omit.cli.writing import require_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.papers.omitting_records.figures import Figure


def omitting_records(
    figure: Annotated[
        list[int] | None,
        typer.Option(help="Which figure, 1 to 75; repeat for several."),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact/--simulated", help="Exact where possible, or all simulated."),
    ] = True,
    runs: Annotated[
        str, typer.Option(help="Runs of what is simulated: a number, or paper, as published.")
    ] = "paper",
    cluster: Annotated[
        str | None,
        typer.Option(help="A Dask cluster, tcp://host:port or local:4; else all cores here."),
    ] = None,
    output: Annotated[
        Path, typer.Option(help="The folder for figures, their data and index.html.")
    ] = Path("omitting-records"),
    store: Annotated[
        Path | None,
        typer.Option(help="The folder of results; else in the output."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """The adverse effects of omitting records in differential privacy (USENIX Security)."""
    from omit.papers.omitting_records.figures import PAPER, cells, figures
    from omit.report.omission_page import exhibits, timing_notes
    from omit.report.reproduction import write_reproduction
    from omit.study.run import run_study

    chosen = figures(figure)
    wanted = cells(chosen, exact=exact, runs=_runs(runs))
    _require_data(chosen)
    require_writable(output / "index.html")
    start = time.perf_counter()
    where = cluster or "cores"
    with study_progress("computing cells", not json) as report:
        results = run_study(wanted, store or output / "study", where, progress=report)
    seconds = time.perf_counter() - start
    shown, verdicts = exhibits(chosen, results.to_frame())
    notes = timing_notes(results.timings(), seconds, "all cores" if cluster is None else where)
    index = write_reproduction(output, PAPER, shown, verdicts, notes)
    if json:
        typer.echo(
            json_format.dumps(
                {
                    "index": str(index),
                    "cells": len(wanted),
                    "seconds": seconds,
                    "verdicts": [vars(each) for each in verdicts],
                }
            )
        )
        return
    for each in verdicts:
        typer.echo(f"{each.where}: {each.claim}\n  {each.standing}. {each.finding}")
    typer.echo(f"Wrote {len(shown)} exhibits to {index}.")


def _runs(text: str) -> int | None:
    from omit import _validate
    from omit.errors import InvalidInput

    if text == "paper":
        return None
    if not text.lstrip("-").isdecimal():
        raise InvalidInput(f"Expected runs={text!r} to be a whole number or paper.")
    return _validate.positive_integer("runs", int(text))


def _require_data(chosen: "Sequence[Figure]") -> None:
    """Refuse before anything is computed if a data set is not in reach."""
    from omit.data.registry import dataset
    from omit.errors import InvalidInput
    from omit.papers.omitting_records.figures import FIGURES, needed_data

    for name in needed_data(chosen):
        known = dataset(name)
        if known.bundled or known.generate is not None:
            continue
        try:
            with known.path():
                pass
        except InvalidInput as error:
            free = [
                str(each.number)
                for each in FIGURES.values()
                if not {"irish", "census"} & {subject.data for subject in each.subjects}
            ]
            raise InvalidInput(
                f"{error} These figures need only what is bundled: {', '.join(free)}."
            ) from error
