"""`omit reproduce`, `omit verify` and `omit figure`: papers, theorems and their pictures."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from omit.cli import options
from omit.cli.emit import emit, progress_bar, study_progress
from omit.errors import InvalidInput, StudyInterrupted
from omit.report.files import require_figure, require_writable, write_figure

if TYPE_CHECKING:
    from omit.audit.bounds import Outcome
    from omit.papers.omitting_records.theorem_5_4 import Verification


def reproduce(
    ctx: typer.Context,
    name: options.PaperName,
    figure: options.FigureNumbers = None,
    table: options.TableNumbers = None,
    exhibit: options.ExhibitNames = None,
    exact: options.Exact = True,
    runs: options.PaperRuns = "paper",
    epsilon: options.PaperEpsilons = None,
    data: options.OwnSource = None,
    column: options.ColumnName = None,
    bounds: options.DeclaredBounds = None,
    where: options.Where = "cores",
    output: options.PageFolder = None,
    store: options.StoreFolder = None,
    json: options.Json = False,
) -> None:
    """Reproduce a paper's figures and tables, and check its claims."""
    from omit import papers

    paper = papers.paper(name)
    own = _own_data(data, column, bounds)
    count = options.runs_asked_for(runs)
    folder = output or _folder(paper.name, figure, table, exhibit, own is not None)
    require_writable(folder / "index.html")
    with study_progress("computing cells", not json) as report:
        reproduction = papers.reproduce(
            paper,
            figures=figure,
            tables=table,
            exhibits=exhibit,
            runs=count,
            exact=exact,
            epsilons=epsilon,
            data=own,
            store=store or Path(paper.name) / "study",
            where=where,
            progress=report,
        )
    with progress_bar("drawing", len(reproduction.exhibits), not json) as advance:
        index = reproduction.write_report(folder, advance)
    if json:
        emit(ctx, reproduction, json=True)
        return
    for verdict in reproduction.verdicts:
        standing = verdict.finding.standing
        typer.echo(f"{standing:14} {verdict.claim.where}: {verdict.claim.sentence}")
        typer.echo(f"{'':14} {verdict.finding.evidence}")
    for sentence in (reproduction.verdict, *reproduction.notes, f"Wrote {index}."):
        typer.echo(sentence)


def _own_data(source: str | None, column: str | None, bounds: str | None) -> Any:
    from omit.papers import OwnData

    if source is None:
        if column is not None or bounds is not None:
            raise InvalidInput("Expected --data with --column and --bounds.")
        return None
    declared = None if bounds is None else options.pair_of_numbers(bounds)
    return OwnData.read(source, column, declared)


def _folder(
    name: str,
    figures: "list[int] | None",
    tables: "list[int] | None",
    exhibits: "list[str] | None",
    own: bool,
) -> Path:
    """Return the folder of a page: a few figures do not replace all of them."""
    chosen = [
        f"{kind}-{'-'.join(str(number) for number in sorted(set(numbers)))}"
        for kind, numbers in (("figure", figures), ("table", tables))
        if numbers
    ]
    # What is no name of an exhibit is refused later, and must not lead out of the folder.
    named = sorted({Path(exhibit).name for exhibit in exhibits or ()})
    parts = [*(["own-data"] if own else []), *chosen, *named]
    return Path(name) / "-".join(parts) if parts else Path(name)


def theorem_5_4(
    ctx: typer.Context,
    step: options.GridStep = 0.01,
    epsilon: options.GridEpsilons = None,
    largest_database: options.LargestDatabase = math.inf,
    workers: options.Workers = 2,
    json: options.Json = False,
) -> None:
    """Repeat the computer-assisted step of Theorem 5.4 (Remarks B.22 and B.24).

    With the limit of infinitely large databases, the formula must be attained, too; up to 1e9
    records, as in the paper, it is missed by up to 6e-6.
    """
    from dataclasses import replace

    from omit.papers.omitting_records.theorem_5_4 import EPSILONS, grid, slices

    epsilons = tuple(epsilon) if epsilon else EPSILONS
    cells = len(epsilons) * grid(step)[0].size
    checked: Verification | None = None
    with progress_bar(f"{cells:,} cells", cells) as advance:
        try:
            parts = slices(epsilons, step, workers=workers, largest_database=largest_database)
            for part in parts:
                checked = part if checked is None else checked | part
                advance(part.cells)
        except KeyboardInterrupt:
            if checked is None:
                raise
    if checked is None:
        raise typer.Exit(1)
    emit(ctx, replace(checked, asked=cells), json=json)
    if checked.cells < cells:
        raise StudyInterrupted("Interrupted: the cells above are those that were checked.")
    if not checked.holds:
        raise typer.Exit(1)


def mixture(
    ctx: typer.Context,
    cases: options.Cases = 300,
    seed: options.Seed = 0,
    json: options.Json = False,
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
    audit = Audit(tuple(outcomes))
    emit(ctx, audit, json=json)
    if interrupted:
        raise StudyInterrupted("Interrupted: checks that were not finished are not listed.")
    if not audit.holds:
        raise typer.Exit(1)


def privacy(
    output: options.FigureFile = Path("privacy.svg"),
    epsilon: options.ColumnEpsilons = None,
) -> None:
    """Outlier-score suppression: both bounds over (m, M), and where privacy is amplified."""
    from omit import _validate
    from omit.papers.omitting_records.figures import PRIVACY_EPSILONS, privacy_figure

    require_figure(output)
    columns = tuple(_validate.epsilon(value) for value in epsilon or PRIVACY_EPSILONS)
    write_figure(output, privacy_figure(columns))


def gains(
    source: options.Source = "lognormal",
    column: options.ColumnName = None,
    bounds: options.Bounds = None,
    statistic: options.GainStatistic = "median",
    mechanism: options.GainMechanism = "laplace",
    delta: options.StatisticDelta = 0.0,
    epsilon: options.RowEpsilons = None,
    rate: options.ColumnRates = None,
    runs: options.GainRuns = 300,
    output: options.FigureFile = Path("gains.svg"),
) -> None:
    """Where sampling pays: mean squared error of samples against all records, over both axes."""
    from omit import _validate
    from omit.accuracy import figures, grids
    from omit.accuracy.comparison import private_notes
    from omit.accuracy.expected import Question
    from omit.cli.accuracy import read_column
    from omit.guarantee import Guarantee
    from omit.mechanisms.names import chosen_mechanisms
    from omit.report.result import CURATOR

    require_figure(output)
    data = read_column(source, column, bounds)
    rows = tuple(_validate.epsilon(value) for value in epsilon or grids.GAIN_EPSILONS)
    columns = tuple(_validate.positive_rate("rate", value) for value in rate or grids.GAIN_RATES)
    on_lattice = data.step is not None
    chosen, *others = chosen_mechanisms(statistic, mechanism, "mse", delta, "replace", on_lattice)
    if others:
        raise InvalidInput("Expected one mechanism to draw; choose with --mechanism.")
    cells = len(rows) * (len(columns) + 1)
    with progress_bar(str(chosen), cells) as advance:
        question = Question(data, chosen, Guarantee(rows[0], delta, "replace"), runs=runs)
        grid = grids.error_grid(question, grids.sampled_at(data, columns), rows, advance)
    write_figure(output, figures.gain_figure(grid))
    for note in (*private_notes(chosen), *data.notes, CURATOR):
        typer.echo(note)


VERIFY: options.Commands = {"theorem-5.4": theorem_5_4, "mixture": mixture}
FIGURE: options.Commands = {"privacy": privacy, "gains": gains}
