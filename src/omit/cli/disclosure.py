"""`omit disclose`: what disclosure control guarantees and costs on a table."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from omit.cli.emit import emit, progress_bar, report_file
from omit.cli.options import Json, Source, TableName


class Missing(StrEnum):
    """What happens to records without a value."""

    drop = "drop"
    category = "category"


def disclose(
    ctx: typer.Context,
    source: Source,
    attributes: Annotated[
        str,
        typer.Option(help="Attributes of the table, separated by commas: columns or derived."),
    ],
    epsilon: Annotated[float, typer.Option(help="Epsilon of every protection.")] = 1.0,
    delta: Annotated[
        float,
        typer.Option(help="Largest delta allowed; 0 leaves discrete Gaussian noise out."),
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
        Missing,
        typer.Option(help="Records without a value: leave them out, or count them on their own."),
    ] = Missing.drop,
    missing_value: Annotated[
        list[str] | None,
        typer.Option(help="A text that means a missing value; repeat for several."),
    ] = None,
    threshold: Annotated[int, typer.Option(help="Counts below this are suppressed (k).")] = 6,
    swap_rate: Annotated[float, typer.Option(help="Probability that a record is swapped.")] = 0.25,
    quasi_identifiers: Annotated[
        str | None,
        typer.Option(
            help="Attributes that are swapped, separated by commas; by default the first."
        ),
    ] = None,
    identifying: Annotated[
        str | None,
        typer.Option(
            help="Attributes by which a person may be recognised, separated by commas, for "
            "k-anonymity and uniqueness; by default all."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Compare the errors of this attribute's categories; by default the first swapped."
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            help="Attributes of a published margin, separated by commas; repeat for several. "
            "By default every attribute alone."
        ),
    ] = None,
    largest_count: Annotated[
        int | None,
        typer.Option(help="Declared largest count of a cell (B); by default all records."),
    ] = None,
    paper_runs: Annotated[
        int | None,
        typer.Option(
            help="Also estimate errors from this many simulated releases (the paper used 200)."
        ),
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(help="Train a classifier for this two-category attribute on each release."),
    ] = None,
    two_way: Annotated[
        str | None,
        typer.Option(
            help="Attributes x,y: compare their counts, and the regression of y on x, in groups."
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            help="A group for --two-way: race=White,sex=Male; repeat for several. By default the "
            "two largest of --group."
        ),
    ] = None,
    table: TableName = None,
    seed: Annotated[int, typer.Option(help="Seed of the simulated releases.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="File of the report; by default omit-disclosure.html.")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    json: Json = False,
) -> None:
    """What do cell suppression, swapping and noise guarantee on a table, and cost?"""
    from omit.disclosure.assessment import assess
    from omit.disclosure.measures import parse_groups
    from omit.disclosure.tabulation import parse_domains, tabulate

    file = report_file(report, no_report, None if json else Path("omit-disclosure.html"))
    counted = tabulate(
        source,
        _names(attributes),
        derive=derive or (),
        domains=parse_domains(domain or ()),
        missing=missing.value,
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
            margins=None if margin is None else [_names(text) for text in margin],
            largest_count=largest_count,
            paper_runs=paper_runs,
            predict=predict,
            two_way=None if two_way is None else _names(two_way),
            within=parse_groups(within or ()),
            seed=seed,
            advance=advance,
        )
    emit(ctx, assessment, json=json)
    if file is not None:
        assessment.write_report(file)
        if not json:
            typer.echo(f"Wrote {file}.")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
