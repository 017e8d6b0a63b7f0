"""What comparisons look like: a table for people, an object for programs, a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from omit.cli.emit import print_table, progress_bar
from omit.report.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.accuracy.compare import Comparison
    from omit.data.column import Column
    from omit.data.points import Points
    from omit.guarantee import Guarantee


def known_truth(text: str | None, statistic: str, data: "Column | Points") -> Any:
    """Return the truth that is declared, in the form that the statistic has; None if none is."""
    from omit.data.column import Column
    from omit.errors import InvalidInput

    if text is None:
        return None
    if statistic == "mode" and isinstance(data, Column) and data.is_text:
        return (text,)
    try:
        return (float(text),) if statistic == "mode" else float(text)
    except ValueError as error:
        raise InvalidInput(f"Expected truth={text!r} to be a number.") from error


def as_json(comparisons: "Sequence[Comparison]") -> dict[str, Any]:
    """Return comparisons of several mechanisms as one object, for programs."""
    first = comparisons[0].to_json()
    return {
        **first,
        "rows": [row for comparison in comparisons for row in comparison.to_records()],
        "verdict": " ".join(comparison.verdict for comparison in comparisons),
        "notes": list(dict.fromkeys(note for each in comparisons for note in each.notes)),
    }


def show(comparisons: "Sequence[Comparison]", verdict: str | None = None) -> None:
    """Print comparisons as tables, each with its verdict, and what must be said beside them."""
    from rich.console import Console
    from rich.table import Table

    from omit.accuracy.compare import NUMERIC, table_cells, table_headings

    console = Console(highlight=False, markup=False)
    for comparison in comparisons:
        title = f"{comparison.mechanism} of {comparison.data.name}, {comparison.baseline.metric}"
        table = Table(title=title, title_justify="left", box=None, title_style="bold", expand=False)
        for heading in table_headings(comparison.rows):
            right = heading in NUMERIC
            table.add_column(heading, justify="right" if right else "left", no_wrap=True)
        for cells in table_cells(comparison.rows):
            table.add_row(*cells)
        print_table(console, table)
        console.print(verdict or comparison.verdict, style="bold", soft_wrap=True)
        console.print()
    for note in dict.fromkeys(note for each in comparisons for note in each.notes):
        console.print(note, soft_wrap=True)


def write_report(
    file: Path,
    comparisons: "Sequence[Comparison]",
    target: "Guarantee",
    truth: str | None,
    quiet: bool,
) -> None:
    """Write the report, with what other omissions would do where that is defined."""
    from omit.accuracy.grids import landscape, landscape_size, usual_rates
    from omit.accuracy.report import comparison_report

    landscapes = []
    if target.neighbours == "add-remove":
        for comparison in comparisons:
            name = f"report: {comparison.mechanism}"
            total = landscape_size(rates=usual_rates(comparison.data))
            with progress_bar(name, total, not quiet) as advance:
                landscapes.append(
                    landscape(
                        comparison.data,
                        comparison.mechanism,
                        target,
                        truth=known_truth(truth, comparison.mechanism.statistic, comparison.data),
                        noise_reduction=comparison.noise_reduction,
                        rows_per_person=comparison.rows_per_person,
                        measured_on=comparison.measured_on,
                        advance=advance,
                    )
                )
    page = comparison_report(comparisons, landscapes)
    write_whole(file, lambda path: path.write_text(page, encoding="utf-8"))
    if not quiet:
        typer.echo(f"Wrote {file}.")
