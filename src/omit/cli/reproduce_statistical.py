"""`omit reproduce statistical-privacy`."""

from pathlib import Path
from typing import Annotated

import typer

from omit.report.files import require_writable


def statistical_privacy(
    output: Annotated[Path, typer.Option(help="The folder to write.")] = Path(
        "statistical-privacy"
    ),
) -> None:
    """Parallel composition for statistical privacy: Tables 1 and 2, and the curves."""
    from omit.papers.reproduction import every_verdict, write_reproduction
    from omit.papers.statistical_privacy.claims import (
        PAPER,
        TABLE_1,
        TABLE_2,
        cells,
        main_verdicts,
    )
    from omit.papers.statistical_privacy.figures import NOTE, exhibits

    require_writable(output / "index.html")
    first, second = cells(TABLE_1), cells(TABLE_2)
    made, said = exhibits(first, second), main_verdicts([*first, *second])
    index = write_reproduction(output, PAPER, made, said, [NOTE])
    for each in [*every_verdict(made), *said]:
        typer.echo(f"{each.standing}: {each.claim} ({each.where})")
        typer.echo(f"    {each.finding}")
    typer.echo(f"Wrote {index}.")
