"""`omit compare`, `omit best` and `omit solve`: accuracy at the same privacy."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli import clustering as options
from omit.cli.choosing import choose
from omit.cli.progress import progress_bar
from omit.cli.writing import require_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.data.column import Column
    from omit.data.points import Points
    from omit.guarantee import Guarantee
    from omit.mechanisms.base import Mechanism
    from omit.mechanisms.clustering import Clustering
    from omit.utility.compare import Comparison

DEFAULT_OMISSIONS = (
    "poisson:0.1",
    "poisson:0.5",
    "poisson:0.9",
    "outlier-score:0.1,0.3",
    "outlier-score:0.5,0.6",
)
PUBLISHED_RUNS = "paper"

Source = Annotated[
    str, typer.Argument(help="A CSV or Parquet file, or the name of a registered data set.")
]
ColumnName = Annotated[str | None, typer.Option("--column", help="Which column.")]
Bounds = Annotated[
    str | None,
    typer.Option(
        help="LOWER UPPER as declared, or from-data, which is not private.", metavar="LOWER UPPER"
    ),
]
Categories = Annotated[
    str | None, typer.Option(help="Declared categories of a text column, with commas.")
]
TableName = Annotated[str | None, typer.Option("--table", help="Which table of a database.")]
Noise = Annotated[
    str,
    typer.Option(
        "--mechanism",
        help="laplace, gaussian, for the mode also exponential and gumbel, or all; for quantiles "
        "smooth-laplace, smooth-laplace-tight, smooth-student, global-laplace, exponential, "
        "propose-test-release, smooth-laplace-unpadded (NOT private) or all.",
    ),
]
Epsilon = Annotated[float, typer.Option(help="Epsilon of the release.")]
Delta = Annotated[float, typer.Option(help="Delta of the release; Gaussian noise needs some.")]
Neighbours = Annotated[
    str | None,
    typer.Option(
        help="Neighbour relation: add-remove or replace, which medians and --metric mse are under."
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(help="mse or relative, for means and quantiles; mse for quantiles by default."),
]
SampledFrom = Annotated[
    int | None,
    typer.Option(
        "--sampled-from",
        help="Size of the population of which the data are a secret simple random sample; the "
        "guarantee is then for the population.",
    ),
]
Truth = Annotated[
    str | None, typer.Option(help="A known value to compare with, instead of the data's own.")
]
Runs = Annotated[
    str,
    typer.Option(
        help="Runs where the error is simulated (for clusterings at most), or paper, as published."
    ),
]
Method = Annotated[str, typer.Option(help="auto, exact or simulated.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]


def compare(
    source: Source = "adult",
    column: ColumnName = None,
    statistic: Annotated[
        str,
        typer.Option(
            help="mean, mode, median, quantile:SHARE, kmeans, kmedian, or all: mean and mode."
        ),
    ] = "all",
    mechanism: Noise = "laplace",
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    omit: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A way to leave records out, such as poisson:0.1, outlier-score:0.1,0.3, "
                "rule:0,100 or fixed-size:1000; repeat for several."
            )
        ),
    ] = None,
    bounds: Bounds = None,
    categories: Categories = None,
    table: TableName = None,
    neighbours: Neighbours = None,
    metric: Metric = None,
    sampled_from: SampledFrom = None,
    rows_per_person: Annotated[int, typer.Option(help="How many records one person may have.")] = 1,
    noise_reduction: Annotated[
        bool, typer.Option(help="Use the privacy that the omission adds for less noise.")
    ] = True,
    truth: Truth = None,
    method: Method = "auto",
    runs: Runs = "2000",
    seed: Annotated[int, typer.Option(help="Of simulated rows.")] = 0,
    k: options.K = None,
    columns: options.Columns = None,
    iterations: options.Iterations = 5,
    budget: options.Budget = "su",
    start: options.Start = "spread",
    candidates: options.Candidates = 100,
    measured_on: options.MeasuredOn = "all",
    report: Annotated[
        Path | None, typer.Option(help="Where to write the HTML report; omit-report.html if bare.")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    json: Json = False,
) -> None:
    """What does leaving records out cost in accuracy, at the same privacy?"""
    from omit import _validate
    from omit.guarantee import Guarantee
    from omit.omissions.by_name import parse_omission
    from omit.utility.compare import compare as run_comparison

    data, mechanisms, relation = choose(
        source=source,
        column=column,
        columns=columns,
        bounds=bounds,
        categories=categories,
        table=table,
        statistic=statistic,
        mechanism=mechanism,
        delta=delta,
        metric=metric,
        neighbours=neighbours,
        k=k,
        iterations=iterations,
        budget=budget,
        candidates=candidates,
        start=start,
    )
    target = Guarantee(epsilon, delta, relation)
    file = report or (None if json or no_report else Path("omit-report.html"))
    if file is not None:
        require_writable(file)
    chosen = omit if omit is not None else _default_omissions(relation, data.size)
    omissions = [parse_omission(text, data.size) for text in chosen]
    checked_seed = int(_validate.epsilon(seed, "seed"))
    comparisons = []
    with progress_bar("comparing", None, not json) as advance:
        for each in mechanisms:
            comparisons.append(
                run_comparison(
                    data,
                    each,
                    target,
                    *omissions,
                    method=method,  # type: ignore[arg-type]  # any text: compare refuses the rest
                    truth=_truth(truth, each.statistic, data),
                    noise_reduction=noise_reduction,
                    rows_per_person=rows_per_person,
                    runs=_runs(runs, each),
                    seed=checked_seed,
                    early_stop=runs != PUBLISHED_RUNS,
                    measured_on=measured_on,  # type: ignore[arg-type]  # as above
                    sampled_from=sampled_from,
                )
            )
            advance()
    if json:
        typer.echo(json_format.dumps(_as_json(comparisons), allow_nan=False))
    else:
        _show(comparisons)
    if file is not None:
        _write_report(file, comparisons, target, truth, quiet=json)


def best(
    source: Source = "adult",
    column: ColumnName = None,
    statistic: Annotated[
        str, typer.Option(help="mean, mode, median, quantile:SHARE, kmeans or kmedian.")
    ] = "mean",
    mechanism: Noise = "laplace",
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    bounds: Bounds = None,
    categories: Categories = None,
    table: TableName = None,
    neighbours: Neighbours = None,
    metric: Metric = None,
    sampled_from: SampledFrom = None,
    truth: Truth = None,
    runs: Runs = "2000",
    k: options.K = None,
    columns: options.Columns = None,
    iterations: options.Iterations = 5,
    budget: options.Budget = "su",
    candidates: options.Candidates = 100,
    json: Json = False,
) -> None:
    """Which omission has the smallest error at a guarantee? Often none."""
    from omit.guarantee import Guarantee
    from omit.mechanisms.integrable import IntegrableMechanism
    from omit.utility.sampled_from import target_on_sample
    from omit.utility.search import best as find_best
    from omit.utility.search import default_candidates

    data, mechanisms, relation = choose(
        source=source,
        column=column,
        columns=columns,
        bounds=bounds,
        categories=categories,
        table=table,
        statistic=statistic,
        mechanism=mechanism,
        delta=delta,
        metric=metric,
        neighbours=neighbours,
        k=k,
        iterations=iterations,
        budget=budget,
        candidates=candidates,
    )
    target = Guarantee(epsilon, delta, relation)
    answers = []
    needed = target
    if sampled_from is not None:
        needed = target_on_sample(target, data.size, sampled_from)
    to_try = list(default_candidates(relation, data.size, needed.delta))
    for each in mechanisms:
        sizes = isinstance(each, IntegrableMechanism)
        with progress_bar(str(each), None if sizes else len(to_try), not json) as advance:
            found = find_best(
                data,
                each,
                target,
                None if sizes else to_try,
                truth=_truth(truth, each.statistic, data),
                runs=_runs(runs, each),
                sampled_from=sampled_from,
                advance=advance,
            )
        answers.append(found)
    if json:
        content = [
            {
                **_as_json([found.comparison]),
                "mechanism": str(found.comparison.mechanism),
                "best": None if found.omission is None else str(found.omission),
                "nearest": str(found.nearest),
                "tried": found.tried,
                "verdict": found.verdict,
            }
            for found in answers
        ]
        typer.echo(json_format.dumps(content[0] if len(content) == 1 else content))
        return
    for found in answers:
        _show([found.comparison], verdict=found.verdict)


def solve(
    error: Annotated[float, typer.Option(help="The expected error to reach (% for the mean).")],
    source: Source = "adult",
    column: ColumnName = None,
    statistic: Annotated[
        str, typer.Option(help="mean, mode, median, quantile:SHARE, kmeans or kmedian.")
    ] = "mean",
    mechanism: Noise = "laplace",
    delta: Delta = 0.0,
    omit: Annotated[str, typer.Option(help="A way to leave records out.")] = "none",
    bounds: Bounds = None,
    categories: Categories = None,
    table: TableName = None,
    neighbours: Neighbours = None,
    metric: Metric = None,
    truth: Truth = None,
    runs: Runs = "2000",
    k: options.K = None,
    columns: options.Columns = None,
    iterations: options.Iterations = 5,
    budget: options.Budget = "su",
    candidates: options.Candidates = 100,
    json: Json = False,
) -> None:
    """Which epsilon reaches a wanted error?"""
    from omit.guarantee import show_number
    from omit.omissions.by_name import parse_omission
    from omit.utility.compare import WARNING, private_notes
    from omit.utility.search import solve as find_epsilon

    data, mechanisms, relation = choose(
        source=source,
        column=column,
        columns=columns,
        bounds=bounds,
        categories=categories,
        table=table,
        statistic=statistic,
        mechanism=mechanism,
        delta=delta,
        metric=metric,
        neighbours=neighbours,
        k=k,
        iterations=iterations,
        budget=budget,
        candidates=candidates,
    )
    answers = []
    for each in mechanisms:
        omission = parse_omission(omit, data.size).suited_to(each.statistic)
        guarantee, reached = find_epsilon(
            data,
            each,
            error,
            omission,
            delta=delta,
            neighbours=relation,
            truth=_truth(truth, each.statistic, data),
            runs=_runs(runs, each),
        )
        if json:
            content = {
                "low": reached.low,
                "high": reached.high,
                "reason": reached.reason,
                "epsilon": guarantee.epsilon,
                "delta": guarantee.delta,
                "neighbours": str(guarantee.neighbours),
                "omission": str(omission),
                "mechanism": str(each),
                "error": reached.value,
                "method": reached.method,
                "unit": reached.unit,
                "private": each.private,
                "notes": [*private_notes(each), *data.notes, WARNING],
            }
            answers.append(content)
        else:
            typer.echo(
                f"{each} of {data.name} after {omission}: "
                f"{'' if each.private else 'noise as if for '}epsilon = "
                f"{show_number(guarantee.epsilon)} reaches an expected error of "
                f"{reached.value:.6g} {reached.unit} ({reached.method})."
            )
    if json:
        typer.echo(json_format.dumps(answers[0] if len(answers) == 1 else answers))
    else:
        unprotected = dict.fromkeys(note for each in mechanisms for note in private_notes(each))
        for note in (*unprotected, *data.notes, WARNING):
            typer.echo(note)


def _default_omissions(neighbours: str, size: int) -> "Sequence[str]":
    """Return the usual ways to leave records out that are defined for the relation."""
    if neighbours == "replace":
        # Of the parity of all records, so that the median is one record in each row, or two.
        shares = (size * share // 10 for share in (1, 5, 9))
        if size % 2:
            sizes = dict.fromkeys(each | 1 for each in shares)
        else:
            sizes = dict.fromkeys(min(max(each - each % 2, 2), size - 1) for each in shares)
        return [f"fixed-size:{each}" for each in sizes]
    return DEFAULT_OMISSIONS


def _runs(text: str, mechanism: "Mechanism | Clustering") -> int:
    """Return how many runs are asked for: a number, or as many as the paper made."""
    from omit.errors import InvalidInput

    if text == PUBLISHED_RUNS:
        return mechanism.published_runs
    try:
        return int(text)
    except ValueError as error:
        raise InvalidInput(f"Expected runs={text!r} to be a whole number or paper.") from error


def _truth(text: str | None, statistic: str, data: "Column | Points") -> Any:
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


def _as_json(comparisons: "Sequence[Comparison]") -> dict[str, Any]:
    first = comparisons[0].to_json()
    return {
        **first,
        "rows": [row for comparison in comparisons for row in comparison.to_records()],
        "verdict": " ".join(comparison.verdict for comparison in comparisons),
        "notes": list(dict.fromkeys(note for each in comparisons for note in each.notes)),
    }


def _show(comparisons: "Sequence[Comparison]", verdict: str | None = None) -> None:
    from rich.console import Console
    from rich.table import Table

    from omit.utility.compare import NUMERIC, table_cells, table_headings

    console = Console(highlight=False)
    # A cut table is worse than a long line.
    console.width = max(console.width, 160)
    for comparison in comparisons:
        title = f"{comparison.mechanism} of {comparison.data.name}, {comparison.baseline.metric}"
        table = Table(title=title, title_justify="left", box=None, title_style="bold", expand=False)
        for heading in table_headings(comparison.rows):
            right = heading in NUMERIC
            table.add_column(heading, justify="right" if right else "left", no_wrap=True)
        for cells in table_cells(comparison.rows):
            table.add_row(*cells)
        console.print(table)
        console.print(verdict or comparison.verdict, style="bold", soft_wrap=True)
        console.print()
    for note in dict.fromkeys(note for each in comparisons for note in each.notes):
        console.print(note, soft_wrap=True)


def _write_report(
    file: Path,
    comparisons: "Sequence[Comparison]",
    target: "Guarantee",
    truth: str | None,
    quiet: bool,
) -> None:
    from omit.report.comparison_report import comparison_report
    from omit.utility.landscape import landscape, landscape_size, usual_rates

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
                        truth=_truth(truth, comparison.mechanism.statistic, comparison.data),
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
