"""`omit reproduce omitting-records`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omit.cli.options import runs_asked_for
from omit.cli.printing import print_json
from omit.cli.progress import progress_bar, study_progress
from omit.errors import InvalidInput
from omit.report.files import require_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.papers.omitting_records.cells import PaperFigure

FOLDER = Path("omitting-records")


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
        Path | None,
        typer.Option(help="The folder for figures, their data and index.html."),
    ] = None,
    store: Annotated[
        Path, typer.Option(help="The folder of results, which runs go on from.")
    ] = FOLDER / "study",
    json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """The adverse effects of omitting records in differential privacy (USENIX Security)."""
    from omit.papers.omitting_records.cells import PAPER, cells, figures
    from omit.papers.omitting_records.figures import exhibits, timing_notes
    from omit.papers.reproduction import write_reproduction
    from omit.study.run import run_study

    chosen = figures(figure)
    wanted = cells(chosen, exact=exact, runs=runs_asked_for(runs))
    _require_data(chosen)
    folder = output or _folder(figure)
    require_writable(folder / "index.html")
    where = "cores" if cluster is None else cluster
    with study_progress("computing cells", not json) as report:
        results = run_study(wanted, store, where, progress=report)
    shown, verdicts = exhibits(chosen, results.to_frame())
    place = "all cores" if cluster is None else where
    notes = timing_notes(results.timings(), results.wall_times, place)
    with progress_bar("drawing", len(shown), not json) as advance:
        index = write_reproduction(folder, PAPER, shown, verdicts, notes, advance)
    if json:
        print_json(
            {
                "index": str(index),
                "cells": len(wanted),
                "seconds": sum(seconds for seconds, _ in results.wall_times),
                "verdicts": [vars(each) for each in verdicts],
            }
        )
        return
    for each in verdicts:
        typer.echo(f"{each.where}: {each.claim}\n  {each.standing}. {each.finding}")
    typer.echo(f"Wrote {index}.")


def _folder(numbers: "list[int] | None") -> Path:
    """Return where a page goes: a few figures do not take the place of all of them."""
    if not numbers:
        return FOLDER
    return FOLDER / f"figure-{'-'.join(str(each) for each in sorted(set(numbers)))}"


def _require_data(chosen: "Sequence[PaperFigure]") -> None:
    """Refuse before anything is computed if a data set is not in reach."""
    from omit.data.datasets import dataset
    from omit.papers.omitting_records.cells import FIGURES, needed_data

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
