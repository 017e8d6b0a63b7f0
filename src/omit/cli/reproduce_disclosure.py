"""`omit reproduce disclosure-control`."""

from pathlib import Path
from typing import Annotated

import typer


def disclosure_control(
    output: Annotated[Path, typer.Option(help="The folder to write to.")] = Path(
        "disclosure-control"
    ),
    runs: Annotated[int, typer.Option(help="Runs where the paper simulates.")] = 200,
) -> None:
    """Cell suppression and swapping beside noisy histograms (Das et al.)."""
    import time

    from omit import _validate
    from omit.cli.progress import progress_bar
    from omit.papers.disclosure_control.cells import PAPER, STEPS, compute
    from omit.papers.disclosure_control.claims import theorem_verdicts
    from omit.papers.disclosure_control.figures import exhibits, notes
    from omit.papers.reproduction import every_verdict, write_reproduction
    from omit.report.files import require_writable

    runs = _validate.runs(runs)
    require_writable(output / "index.html")
    start = time.perf_counter()
    with progress_bar("reproducing", STEPS) as advance:
        results = compute(runs, advance)
    made, said = exhibits(results), theorem_verdicts(results.table)
    how = notes(results, time.perf_counter() - start)
    index = write_reproduction(output, PAPER, made, said, how)
    for each in every_verdict(made, said):
        typer.echo(f"{each.standing:14} {each.where}: {each.claim}")
    typer.echo(f"Wrote {index}.")
