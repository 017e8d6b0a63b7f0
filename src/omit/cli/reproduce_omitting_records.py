"""`omit reproduce omitting-records`."""

import json as json_format
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omit.cli.options import runs_asked_for
from omit.cli.printing import print_json
from omit.cli.progress import progress_bar, study_progress
from omit.errors import InvalidInput
from omit.report.files import one_at_a_time, require_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.papers.omitting_records.cells import PaperFigure
    from omit.study.cell import Cell

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
    from omit.study.store import read_store

    chosen = figures(figure)
    wanted = cells(chosen, exact=exact, runs=runs_asked_for(runs))
    _require_data(chosen)
    folder = output or _folder(figure)
    require_writable(folder / "index.html")
    missing = len(wanted) - len(read_store(store).identities() & {each.identity for each in wanted})
    start, where = time.perf_counter(), "cores" if cluster is None else cluster
    with study_progress("computing cells", not json) as report:
        results = run_study(wanted, store, where, progress=report)
    spent = _wall_time(store, wanted, time.perf_counter() - start, missing)
    shown, verdicts = exhibits(chosen, results.to_frame())
    place = "all cores" if cluster is None else where
    notes = timing_notes(results.timings(), spent, place)
    with progress_bar("drawing", len(shown), not json) as advance:
        index = write_reproduction(folder, PAPER, shown, verdicts, notes, advance)
    if json:
        print_json(
            {
                "index": str(index),
                "cells": len(wanted),
                "seconds": sum(seconds for seconds, _ in spent),
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


def _wall_time(
    store: Path, wanted: "Sequence[Cell]", seconds: float, computed: int
) -> list[tuple[float, int]]:
    """Return wall time and new cells of all finished runs of this study, and remember this one's.

    A run that only reads what is there does not count. The times are for a note on the page: a file
    of them that is damaged or cannot be written does not keep anybody from the results.
    """
    study = sha256("".join(sorted(cell.identity for cell in wanted)).encode()).hexdigest()
    file = store / "wall-times.json"
    if not computed:
        return _known_times(file).get(study, [])
    spent = [(seconds, computed)]
    with suppress(InvalidInput, OSError), one_at_a_time(store):
        known = _known_times(file)
        spent = [*known.get(study, []), (seconds, computed)]
        text = json_format.dumps({**known, study: spent})
        write_whole(file, lambda path: path.write_text(text, encoding="utf-8"))
    return spent


def _known_times(file: Path) -> dict[str, list[tuple[float, int]]]:
    """Return the wall times in a file, as far as it has any."""
    try:
        content = json_format.loads(file.read_text(encoding="utf-8"))
        return {
            study: [(float(seconds), int(cells)) for seconds, cells in runs]
            for study, runs in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return {}


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
