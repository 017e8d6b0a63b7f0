"""`omit reproduce statistical-privacy`."""

from pathlib import Path
from typing import Annotated

import typer

from omit.cli.writing import require_writable


def statistical_privacy(
    output: Annotated[Path, typer.Option(help="The folder to write.")] = Path(
        "statistical-privacy"
    ),
) -> None:
    """Parallel composition for statistical privacy: Tables 1 and 2, and the curves."""
    from omit.papers.statistical_privacy import (
        TABLE_1,
        TABLE_2,
        cells,
        main_verdicts,
        table_verdicts,
    )
    from omit.report.statistical_privacy import reproduce_statistical_privacy

    require_writable(output / "index.html")
    page = reproduce_statistical_privacy(output)
    tables = [(table.name, cells(table)) for table in (TABLE_1, TABLE_2)]
    verdicts = [each for name, every in tables for each in table_verdicts(name, every)]
    for verdict in [*verdicts, *main_verdicts([cell for _, every in tables for cell in every])]:
        typer.echo(f"{verdict.standing}: {verdict.claim} ({verdict.where})")
        typer.echo(f"    {verdict.finding}")
    typer.echo(f"Wrote {page}.")
