"""`omit reproduce accuracy-gains`: the paper on sampling, every figure anew."""

from pathlib import Path
from typing import Annotated

import typer


def accuracy_gains(
    output: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("accuracy-gains"),
    runs: Annotated[int, typer.Option(help="Draws of everything that is drawn.")] = 1000,
) -> None:
    """Accuracy gains from sampling: Figures 1 to 13 and Table 1, with a verdict for each claim."""
    import time

    from omit import _validate
    from omit.cli.progress import progress_bar
    from omit.errors import InvalidInput
    from omit.papers.accuracy_gains.cells import PAPER, compute, steps
    from omit.papers.accuracy_gains.page import exhibits, notes
    from omit.papers.reproduction import every_verdict, write_reproduction
    from omit.report.files import require_writable

    runs = _validate.runs(runs)
    if runs < 10:
        raise InvalidInput(f"Expected runs={runs} of at least 10: fewer draws have no shape.")
    require_writable(output / "index.html")
    start = time.perf_counter()
    with progress_bar("accuracy gains", steps()) as advance:
        results = compute(runs, advance)
    made = exhibits(results)
    said = notes(results, time.perf_counter() - start)
    index = write_reproduction(output, PAPER, made, notes=said)
    for each in every_verdict(made):
        typer.echo(f"{each.standing:14} {each.where}: {each.claim}")
    typer.echo(f"Wrote {index}.")
