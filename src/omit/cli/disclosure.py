"""`omit disclose`: what disclosure control guarantees and costs on a table."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from omit.cli.emit import emit, made, progress_bar, report_file, tell_where
from omit.cli.options import Json, MissingValue, Neighbours, Public, Source, TableName

if TYPE_CHECKING:
    from omit.disclosure.table import CountTable


class Missing(StrEnum):
    """What happens to records without a value."""

    drop = "drop"
    category = "category"


class DonorRule(StrEnum):
    """Who may be the donor of a record that is swapped."""

    another_record = "another-record"
    other_quasi_identifiers = "other-quasi-identifiers"

    @property
    def rule(self) -> str:
        """What the library calls it."""
        return self.value.replace("-", " ", 1)


class EmptyCells(StrEnum):
    """What cell suppression does to cells without records."""

    kept = "kept"
    suppressed = "suppressed"


def _option(text: str, default: str | bool = False) -> Any:
    """Return an option with its help; `default` says there what holds if nothing is given."""
    return typer.Option(help=text, show_default=default)


Texts: TypeAlias = list[str] | None
Derive = Annotated[
    Texts,
    _option("A computed attribute: 'rich = income >= 50000' or 'age5 = bins(age, 0, 100, 5)'."),
]
Domain = Annotated[Texts, _option("All categories of a column: sex=Female,Male, or sex=from-data.")]
MissingRecords = Annotated[
    Missing,
    _option("Records without a value: drop them, or count them in a category of their own.", True),
]
MissingAs = Annotated[
    Texts,
    _option("Count records without a value in one of the categories: rich=no; repeat for several."),
]
Delta = Annotated[
    float, _option("Largest delta allowed; 0 excludes discrete Gaussian noise.", True)
]
QuasiIdentifiers = Annotated[
    str | None, _option("Comma-separated attributes that are swapped.", "the first")
]
Donor = Annotated[
    DonorRule,
    typer.Option(
        help="Who gives quasi-identifiers: the nearest record (another-record), or the nearest "
        "with others: other-quasi-identifiers",
        metavar="RULE",
        show_default=True,
    ),
]
Empty = Annotated[
    EmptyCells, _option("Cells without records: kept as they are, or suppressed, too.", True)
]
Identifying = Annotated[
    str | None,
    _option("Comma-separated attributes that identify a person, for k-anonymity.", "all"),
]
Group = Annotated[
    str | None, _option("Compare the errors of this attribute's categories.", "the first swapped")
]
Margin = Annotated[
    Texts,
    _option(
        "Comma-separated attributes of a published margin; repeat for several.",
        "every attribute alone",
    ),
]
LargestCount = Annotated[
    int | None, _option("Declared largest count of a cell (B).", "all records")
]
PaperRuns = Annotated[
    int | None,
    _option("Also estimate errors from this many simulated releases (the paper used 200)."),
]
Predict = Annotated[
    str | None, _option("Train a classifier for this two-category attribute on each release.")
]
TwoWay = Annotated[
    str | None,
    _option("Attributes x,y: compare their counts, and the regression of y on x, in groups."),
]
Within = Annotated[
    Texts,
    _option(
        "A group for --two-way: race=White,sex=Male; repeat for several.",
        "the two largest of --group",
    ),
]


def count(
    source: Source,
    attributes: Annotated[
        str, typer.Option(help="Comma-separated attributes of the table: columns or derived.")
    ],
    derive: Derive = None,
    domain: Domain = None,
    missing: MissingRecords = Missing.drop,
    missing_as: MissingAs = None,
    missing_value: MissingValue = None,
    table: TableName = None,
) -> "CountTable":
    """Return the table that the options name."""
    from omit.disclosure.tabulation import parse_domains, parse_missing_as, tabulate

    return tabulate(
        source,
        _names(attributes),
        derive=derive or (),
        domains=parse_domains(domain or ()),
        without_value=missing.value,
        missing=missing_value or (),
        missing_as=parse_missing_as(missing_as or ()),
        table=table,
    )


def disclose(
    counted: "CountTable",
    ctx: typer.Context,
    epsilon: Annotated[float, typer.Option(help="Epsilon of every protection.")] = 1.0,
    delta: Delta = 1e-6,
    threshold: Annotated[int, typer.Option(help="Counts below this are suppressed (k).")] = 6,
    empty_cells: Empty = EmptyCells.kept,
    swap_rate: Annotated[float, typer.Option(help="Probability that a record is swapped.")] = 0.25,
    sample_rate: Annotated[
        float, typer.Option(help="Rate of the sample before small counts are hidden.")
    ] = 0.25,
    quasi_identifiers: QuasiIdentifiers = None,
    donor: Donor = DonorRule.another_record,
    identifying: Identifying = None,
    group: Group = None,
    margin: Margin = None,
    largest_count: LargestCount = None,
    paper_runs: PaperRuns = None,
    predict: Predict = None,
    two_way: TwoWay = None,
    within: Within = None,
    seed: Annotated[int, typer.Option(help="Seed of the simulated releases.")] = 0,
    report: Annotated[
        Path | None,
        typer.Option(help="Path of the HTML report.", show_default="omit-disclosure.html"),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    public: Public = False,
    json: Json = False,
) -> None:
    """What do cell suppression, swapping and noise guarantee on a table, and cost?"""
    from omit.disclosure.assessment import assess
    from omit.disclosure.tabulation import parse_groups

    file = report_file(report, no_report, None if json else Path("omit-disclosure.html"))
    with progress_bar("assessing", 9 if delta > 0 else 7, not json) as advance:
        assessment = assess(
            counted,
            epsilon,
            advance=advance,
            delta=delta,
            threshold=threshold,
            zeros_kept=empty_cells is EmptyCells.kept,
            rate=swap_rate,
            sample_rate=sample_rate,
            quasi_identifiers=None if quasi_identifiers is None else _names(quasi_identifiers),
            donor=donor.rule,
            identifying=None if identifying is None else _names(identifying),
            group=group,
            margins=None if margin is None else [_names(text) for text in margin],
            largest_count=largest_count,
            paper_runs=paper_runs,
            predict=predict,
            two_way=None if two_way is None else _names(two_way),
            within=parse_groups(within or ()),
            seed=seed,
        )
    if public:
        assessment = assessment.declared_public()
    emit(ctx, assessment, json=json)
    if file is not None:
        assessment.write_report(file, made(ctx))
        tell_where(ctx, file)


SampleRate = Annotated[float, _option("Probability that a record is drawn, in (0, 1].")]
ShownFrom = Annotated[int, _option("Smallest number of drawn records that is shown (k).")]
ReleaseEpsilon = Annotated[float, _option("Epsilon of the release, at least 0.")]


def bound_threshold(
    ctx: typer.Context,
    rate: SampleRate,
    threshold: ShownFrom,
    epsilon: ReleaseEpsilon,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """Sample records, publish counts from a threshold on, hide all others: no noise."""
    from omit.disclosure.sample_threshold import SampleAndThreshold
    from omit.disclosure.threshold_answer import ThresholdAnswer

    sampled = SampleAndThreshold(rate, threshold, epsilon)
    emit(ctx, ThresholdAnswer(sampled, neighbours or "add-remove"), json=json)


def calibrate_threshold(
    ctx: typer.Context,
    epsilon: ReleaseEpsilon,
    delta: Annotated[float, _option("Delta of the release, in (0, 1).")],
    rate: Annotated[float | None, _option("Rate; the smallest threshold is found.")] = None,
    threshold: Annotated[int | None, _option("Threshold; the largest rate is found.")] = None,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """Sample records and hide small counts: the threshold for a rate, or the rate for it."""
    from omit.disclosure.sample_threshold import SampleAndThreshold
    from omit.disclosure.threshold_answer import ThresholdCalibration
    from omit.guarantee import Guarantee

    target = Guarantee(epsilon, delta, neighbours or "add-remove")
    sampled = SampleAndThreshold.calibrated(target, rate=rate, threshold=threshold)
    emit(ctx, ThresholdCalibration(sampled, target.neighbours), json=json)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
