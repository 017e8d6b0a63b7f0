"""`omit reproduce statistical-privacy`: compute, write, and say what became of the claims."""

from __future__ import annotations

from pathlib import Path

import typer

from omit.cli.writing import require_writable
from omit.errors import InvalidInput


def reproduce(output: Path) -> None:
    """Write the folder and print the verdicts."""
    from omit.papers.statistical_privacy import (
        TABLE_1,
        TABLE_2,
        cells,
        main_verdicts,
        table_verdicts,
    )
    from omit.report.statistical_privacy import reproduce_statistical_privacy

    require_writable(output / "index.html")
    try:
        page = reproduce_statistical_privacy(output)
    except OSError as error:
        raise InvalidInput(f"Cannot write {output}: {error.strerror}.") from error
    tables = [(table.name, cells(table)) for table in (TABLE_1, TABLE_2)]
    verdicts = [each for name, every in tables for each in table_verdicts(name, every)]
    for verdict in [*verdicts, *main_verdicts([cell for _, every in tables for cell in every])]:
        typer.echo(f"{verdict.standing}: {verdict.claim} ({verdict.where})")
        typer.echo(f"    {verdict.finding}")
    typer.echo(f"Wrote {page}.")
