"""`omit disclose`: what disclosure control guarantees and costs on a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omit.cli.options import Json, Source, TableName
from omit.cli.printing import print_json
from omit.cli.progress import progress_bar
from omit.report.files import require_writable, write_whole

if TYPE_CHECKING:
    from omit.disclosure.assessment import Assessment


def disclose(
    source: Source,
    attributes: Annotated[
        str, typer.Option(help="The attributes of the table, with commas: columns or derived.")
    ],
    epsilon: Annotated[float, typer.Option(help="Epsilon of every mechanism.")] = 1.0,
    delta: Annotated[
        float,
        typer.Option(help="The largest delta allowed; 0 leaves discrete Gaussian noise out."),
    ] = 1e-6,
    derive: Annotated[
        list[str] | None,
        typer.Option(
            help="A computed attribute: 'rich = income >= 50000' or 'age5 = bins(age, 0, 100, 5)'."
        ),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="All categories of a column: sex=Female,Male, or sex=from-data."),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Records without a value: drop, or category (of its own).")
    ] = "drop",
    missing_value: Annotated[
        list[str] | None, typer.Option(help="A text that stands for a missing value.")
    ] = None,
    threshold: Annotated[int, typer.Option(help="Counts below are suppressed (k).")] = 6,
    swap_rate: Annotated[float, typer.Option(help="Share of records that are swapped.")] = 0.25,
    quasi_identifiers: Annotated[
        str | None,
        typer.Option(help="Attributes that are swapped, with commas; by default the first."),
    ] = None,
    identifying: Annotated[
        str | None,
        typer.Option(
            help="Attributes by which a person may be recognised, with commas, for k-anonymity and "
            "uniqueness; by default all."
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Compare errors of this attribute's categories.")
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(help="A published margin, with commas; by default each attribute alone."),
    ] = None,
    largest_count: Annotated[
        int | None, typer.Option(help="Declared largest count of a cell (B).")
    ] = None,
    paper_runs: Annotated[
        int | None, typer.Option(help="Also estimate errors from so many runs (the paper: 200).")
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(help="Learn this attribute, of two categories, from the others' releases."),
    ] = None,
    two_way: Annotated[
        str | None,
        typer.Option(help="Attributes x,y: map their counts and draw y over x for two groups."),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            help="A group for --two-way: race=White,sex=Male; else the two largest of --group."
        ),
    ] = None,
    table: TableName = None,
    seed: Annotated[int, typer.Option(help="Of the releases that are drawn.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Where to write the report; omit-disclosure.html if bare.")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    json: Json = False,
) -> None:
    """What do cell suppression, swapping and noise guarantee on a table, and cost?"""
    from omit import _validate
    from omit.disclosure.assessment import assess
    from omit.disclosure.tabulation import parse_domains, tabulate
    from omit.disclosure.tasks import parse_groups

    file = report or (None if json or no_report else Path("omit-disclosure.html"))
    if file is not None:
        require_writable(file)
    counted = tabulate(
        source,
        _names(attributes),
        derive=derive or (),
        domains=parse_domains(domain or ()),
        missing=missing,  # type: ignore[arg-type]  # any text: tabulate refuses the rest
        missing_values=missing_value or (),
        table=table,
    )
    with progress_bar("assessing", 8 if delta > 0 else 7, not json) as advance:
        assessment = assess(
            counted,
            epsilon,
            delta=delta,
            threshold=threshold,
            rate=swap_rate,
            quasi_identifiers=None if quasi_identifiers is None else _names(quasi_identifiers),
            identifying=None if identifying is None else _names(identifying),
            group=group,
            margins=None if margin is None else [_names(each) for each in margin],
            largest_count=largest_count,
            paper_runs=paper_runs,
            predict=predict,
            two_way=None if two_way is None else _names(two_way),
            within=parse_groups(within or ()),
            seed=int(_validate.epsilon(seed, "seed")),
            advance=advance,
        )
    if json:
        print_json(assessment.to_json())
    else:
        _show(assessment)
    if file is not None:
        from omit.disclosure.report import disclosure_report

        text = disclosure_report(assessment)
        write_whole(file, lambda path: path.write_text(text, encoding="utf-8"))
        if not json:
            typer.echo(f"Wrote {file}.")


def _names(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _show(assessment: "Assessment") -> None:
    from rich.console import Console
    from rich.table import Table

    from omit.disclosure.assessment import HEADINGS

    console = Console(highlight=False, markup=False)
    console.width = max(console.width, 140)
    counted = assessment.table
    title = (
        f"{' x '.join(counted.names)}: {counted.size:,} records in {counted.cells:,} cells, "
        f"{assessment.original.unique:,} unique, {assessment.original.small:,} not empty but below "
        f"{assessment.threshold}"
    )
    table = Table(title=title, title_justify="left", box=None, title_style="bold", expand=False)
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in assessment.rows:
        table.add_row(*row.cells())
    console.print(table)
    console.print(assessment.verdict, style="bold", soft_wrap=True)
    console.print()
    for line in (*_guarantees(assessment), *_learnt(assessment), *_recovered(assessment)):
        console.print(line, soft_wrap=True)
    for note in assessment.notes:
        console.print(note, soft_wrap=True)


def _guarantees(assessment: "Assessment") -> list[str]:
    """Return why mechanisms have no guarantee, and what swapping has under a narrower relation."""
    from omit.guarantee import NoGuarantee

    lines = []
    for row in assessment.rows:
        if isinstance(row.guarantee, NoGuarantee):
            lines.append(f"{row.mechanism}: {row.guarantee.reason}")
        restricted = row.quasi_identifiers_only
        if restricted is not None:
            said = restricted.reason if isinstance(restricted, NoGuarantee) else str(restricted)
            lines.append(f"  if only quasi-identifiers change: {said}")
    return lines


def _recovered(assessment: "Assessment") -> list[str]:
    """Return the line on suppressed cells, if there are any."""
    found = assessment.intervals
    if found is None or not len(found):
        return []
    return [
        f"Of {len(found):,} suppressed cells, {int(found['recovered'].sum()):,} can be computed "
        "from the published margins."
    ]


def _learnt(assessment: "Assessment") -> list[str]:
    """Return the lines on classification."""
    task = assessment.prediction
    if task is None:
        return []
    lines = [
        f"Predicting {task.target}: {task.unprotected:.2f} % of the records right without "
        f"protection, {task.constant:.2f} % by always guessing the commonest."
    ]
    for row in assessment.rows:
        if row.accuracy is not None:
            got = row.accuracy
            lines.append(f"  {row.mechanism}: {got.value:.2f} % [{got.low:.2f}, {got.high:.2f}]")
    return lines
