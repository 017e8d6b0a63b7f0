"""`omit reproduce`, `omit verify` and `omit figure`: papers, theorems and their pictures."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.emit import emit, progress_bar, study_progress
from omit.cli.options import ColumnName, FigureFile, Json, Source, runs_asked_for
from omit.errors import StudyInterrupted
from omit.report.files import require_figure, require_writable, write_figure

if TYPE_CHECKING:
    from omit.audit.bounds import Outcome
    from omit.mechanisms.base import Mechanism
    from omit.papers.omitting_records.theorem_5_4 import Verification


def reproduce(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="accuracy-gains, disclosure-control, omitting-records or statistical-privacy."
        ),
    ],
    figure: Annotated[
        list[int] | None, typer.Option(help="Number of a figure; repeat for several.")
    ] = None,
    table: Annotated[
        list[int] | None, typer.Option(help="Number of a table; repeat for several.")
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact/--simulated", help="Exact errors where possible, or all simulated."),
    ] = True,
    runs: Annotated[
        str,
        typer.Option(help='Repetitions of what is simulated, or "paper" for as many as there.'),
    ] = "paper",
    epsilon: Annotated[
        list[float] | None,
        typer.Option(help="Epsilon in place of the paper's; repeat for several."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="File or registered data set to ask the paper's question of."),
    ] = None,
    column: ColumnName = None,
    bounds: Annotated[
        str | None, typer.Option(help="Declared bounds of --data.", metavar="LOWER UPPER")
    ] = None,
    where: Annotated[
        str,
        typer.Option(
            help="Where to compute: process, cores, cores:N, local:N (a Dask cluster of N workers) "
            "or the address of a Dask scheduler."
        ),
    ] = "cores",
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the page, figures and numbers.  [default: the paper's name]"),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Folder of results to resume from.  [default: study in NAME]"),
    ] = None,
    json: Json = False,
) -> None:
    """Reproduce a paper's figures and tables, and check its claims."""
    from omit import papers

    paper = papers.paper(name)
    own = _own_data(data, column, bounds)
    count = runs_asked_for(runs)
    folder = output or _folder(paper.name, figure, table, own is not None)
    require_writable(folder / "index.html")
    with study_progress("computing cells", not json) as report:
        found = papers.reproduce(
            paper,
            figures=figure,
            tables=table,
            runs=count,
            exact=exact,
            epsilons=epsilon,
            data=own,
            store=store or Path(paper.name) / "study",
            where=where,
            progress=report,
        )
    with progress_bar("drawing", len(found.exhibits), not json) as advance:
        index = found.write_report(folder, advance)
    if json:
        emit(ctx, found, json=True)
        return
    for verdict in found.verdicts:
        standing = verdict.finding.standing
        typer.echo(f"{standing:14} {verdict.claim.where}: {verdict.claim.sentence}")
        typer.echo(f"{'':14} {verdict.finding.evidence}")
    for sentence in (found.verdict, *found.notes, f"Wrote {index}."):
        typer.echo(sentence)


def _own_data(source: str | None, column: str | None, bounds: str | None) -> Any:
    from omit.cli.options import pair_of_numbers
    from omit.errors import InvalidInput
    from omit.papers import OwnData

    if source is None:
        if column is not None or bounds is not None:
            raise InvalidInput("Expected --data with --column and --bounds.")
        return None
    return OwnData.read(source, column, None if bounds is None else pair_of_numbers(bounds))


def _folder(name: str, figures: "list[int] | None", tables: "list[int] | None", own: bool) -> Path:
    """Return where a page goes: a few figures do not take the place of all of them."""
    chosen = [
        f"{kind}-{'-'.join(str(number) for number in sorted(set(numbers)))}"
        for kind, numbers in (("figure", figures), ("table", tables))
        if numbers
    ]
    parts = [*(["own-data"] if own else []), *chosen]
    return Path(name) / "-".join(parts) if parts else Path(name)


verify_app = typer.Typer(
    help="Check the theorems by independent computation.", no_args_is_help=True
)


@verify_app.callback()
def _checks() -> None:
    """Check the theorems by independent computation."""


@verify_app.command("theorem-5.4")
def theorem_5_4(
    ctx: typer.Context,
    step: Annotated[float, typer.Option(help="Distance between values of m and of M.")] = 0.01,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon to check; repeat. Default: the paper's 371.")
    ] = None,
    largest_database: Annotated[
        float, typer.Option(help="Largest number of records to try; inf includes the limit.")
    ] = math.inf,
    workers: Annotated[int, typer.Option(help="Number of threads.")] = 2,
    json: Json = False,
) -> None:
    """Repeat the computer-assisted step of Theorem 5.4 (Remarks B.22 and B.24).

    With the limit of infinitely large databases, the formula must be attained, too; up to 1e9
    records, as in the paper, it is missed by up to 6e-6.
    """
    from dataclasses import replace

    from omit.papers.omitting_records.theorem_5_4 import EPSILONS, grid, slices

    epsilons = tuple(epsilon) if epsilon else EPSILONS
    cells = len(epsilons) * grid(step)[0].size
    found: Verification | None = None
    with progress_bar(f"{cells:,} cells", cells) as advance:
        try:
            parts = slices(epsilons, step, workers=workers, largest_database=largest_database)
            for part in parts:
                found = part if found is None else found | part
                advance(part.cells)
        except KeyboardInterrupt:
            if found is None:
                raise
    if found is None:
        raise typer.Exit(1)
    emit(ctx, replace(found, asked=cells), json=json)
    if found.cells < cells:
        raise StudyInterrupted("Interrupted: the cells above are those that were checked.")
    if not found.holds:
        raise typer.Exit(1)


@verify_app.command()
def mixture(
    ctx: typer.Context,
    cases: Annotated[
        int, typer.Option(help="Linear programs in each check; cheap checks take 100 times more.")
    ] = 300,
    seed: Annotated[int, typer.Option(help="Seed of the random cases.")] = 0,
    json: Json = False,
) -> None:
    """Check the shift rule and the mixture bound by linear programs and enumeration."""
    from omit import _validate
    from omit.audit.bounds import Audit, checks, run

    outcomes: list[Outcome] = []
    interrupted = False
    try:
        for check in checks(_validate.seed(seed), _validate.positive_integer("cases", cases)):
            with progress_bar(check.claim, check.count) as advance:
                outcomes.append(run(check, advance))
    except KeyboardInterrupt:
        interrupted = True
    found = Audit(tuple(outcomes))
    emit(ctx, found, json=json)
    if interrupted:
        raise StudyInterrupted("Interrupted: what was not finished is not listed.")
    if not found.holds:
        raise typer.Exit(1)


figure_app = typer.Typer(help="Draw the bounds.", no_args_is_help=True)


@figure_app.callback()
def _figures() -> None:
    """Draw the bounds."""


@figure_app.command()
def privacy(
    output: FigureFile = Path("privacy.svg"),
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon of a column; repeat for several.")
    ] = None,
) -> None:
    """Outlier-score suppression: both bounds over (m, M), and where privacy is amplified."""
    from omit import _validate
    from omit.papers.omitting_records.privacy_figure import PRIVACY_EPSILONS, privacy_figure

    require_figure(output)
    columns = tuple(_validate.epsilon(value) for value in epsilon or PRIVACY_EPSILONS)
    write_figure(output, privacy_figure(columns))


@figure_app.command()
def gains(
    source: Source = "lognormal",
    column: ColumnName = None,
    bounds: Annotated[
        str | None, typer.Option(help="LOWER UPPER as declared.", metavar="LOWER UPPER")
    ] = None,
    statistic: Annotated[str, typer.Option(help="mean, median or quantile:SHARE.")] = "median",
    mechanism: Annotated[
        str, typer.Option(help="As for omit compare; smooth-laplace for quantiles by default.")
    ] = "laplace",
    delta: Annotated[float, typer.Option(help="Delta of the release.")] = 0.0,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon of a row; repeat for several.")
    ] = None,
    rate: Annotated[
        list[float] | None, typer.Option(help="Sampling rate of a column; repeat for several.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Samples for each cell where any are drawn.")] = 300,
    output: FigureFile = Path("gains.svg"),
) -> None:
    """Where sampling pays: mean squared error of samples against all records, over both axes."""
    from omit import _validate
    from omit.accuracy.comparison import private_notes
    from omit.accuracy.expected import Question
    from omit.accuracy.figures import gain_figure
    from omit.accuracy.grids import GAIN_EPSILONS, GAIN_RATES, error_grid, sampled_at
    from omit.cli.choosing import read_column
    from omit.guarantee import Guarantee
    from omit.report.result import CURATOR

    require_figure(output)
    data = read_column(source, column, bounds)
    rows = tuple(_validate.epsilon(value) for value in epsilon or GAIN_EPSILONS)
    columns = tuple(_validate.positive_rate("rate", value) for value in rate or GAIN_RATES)
    chosen = _one_mechanism(statistic, mechanism, delta)
    cells = len(rows) * (len(columns) + 1)
    with progress_bar(str(chosen), cells) as advance:
        question = Question(data, chosen, Guarantee(rows[0], delta, "replace"), runs=runs)
        found = error_grid(question, sampled_at(data, columns), rows, advance)
    write_figure(output, gain_figure(found))
    for note in (*private_notes(chosen), *data.notes, CURATOR):
        typer.echo(note)


def _one_mechanism(statistic: str, name: str, delta: float) -> "Mechanism":
    from omit.errors import InvalidInput
    from omit.mechanisms.names import chosen_mechanisms

    chosen = chosen_mechanisms(statistic, name, "mse", delta, "replace")
    if len(chosen) != 1:
        raise InvalidInput("Expected one mechanism to draw; choose with --mechanism.")
    return chosen[0]
