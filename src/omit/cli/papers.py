"""`omit reproduce`, `omit verify` and `omit figure`: papers, theorems and their pictures."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from omit.cli import options
from omit.cli.emit import RESULTS, emit, made, progress_bar, study_progress
from omit.errors import InvalidInput, StudyInterrupted
from omit.report.files import require_figure, require_folder, write_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omit.audit.bounds import Audit, Check, Outcome
    from omit.papers.checks import Theorem
    from omit.papers.omitting_records.theorem_5_4 import Verification
    from omit.papers.reproduction import Verdict


def reproduce(
    ctx: typer.Context,
    name: options.PaperName = None,
    claims: options.Claims = False,
    figure: options.FigureNumbers = None,
    table: options.TableNumbers = None,
    exhibit: options.ExhibitNames = None,
    exact: options.Exact = True,
    runs: options.PaperRuns = "paper",
    epsilon: options.PaperEpsilons = None,
    data: options.OwnSource = None,
    column: options.ColumnName = None,
    bounds: options.DeclaredBounds = None,
    artefact: options.ArtefactFolder = None,
    where: options.Where = "cores",
    output: options.PageFolder = None,
    store: options.StoreFolder = None,
    public: options.Public = False,
    json: options.Json = False,
) -> None:
    """Reproduce a paper's figures and tables, and check its claims."""
    from omit import papers

    if claims:
        if data is not None or column is not None or bounds is not None:
            raise InvalidInput("Expected --claims without --data: they are about the paper's own.")
        asked = {"figures": figure, "tables": table, "exhibits": exhibit}
        how = {"exact": exact, "runs": options.runs_asked_for(runs), "epsilons": epsilon}
        _claims(ctx, name, asked | how, where, output, store, json)
        return
    if name is None:
        known = ", ".join(papers.names())
        raise InvalidInput(f"Expected the name of a paper, one of {known}; or --claims for all.")
    paper = papers.paper(name)
    own = _own_data(data, column, bounds)
    count = options.runs_asked_for(runs)
    folder = output or _folder(paper.name, figure, table, exhibit, own is not None)
    require_folder(folder, f"Cannot write to {folder}")
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
            artefact=artefact,
            store=store or Path(paper.name) / "study",
            where=where,
            progress=report,
        )
    if public:
        reproduction = reproduction.declared_public()
    with progress_bar("drawing", len(reproduction.exhibits), not json) as advance:
        index = reproduction.write_report(folder, made(ctx), advance)
    if json:
        emit(ctx, reproduction, json=True)
        return
    ctx.meta[RESULTS] = (reproduction,)
    for verdict in reproduction.verdicts:
        _print_verdict(verdict)
    for sentence in (
        reproduction.verdict,
        *reproduction.notes,
        f"Wrote {index}: open it in a browser.",
    ):
        typer.echo(sentence)


def _claims(
    ctx: typer.Context,
    name: str | None,
    asked: dict[str, Any],
    where: str,
    output: Path | None,
    store: Path | None,
    json: bool,
) -> None:
    """Judge the claims of a paper, or of all, and write their page."""
    from omit import papers

    if name is None and (store or any(asked[what] for what in ("figures", "tables", "exhibits"))):
        raise InvalidInput("Expected the name of the paper that figures, tables or a store are of.")
    chosen = papers.names() if name is None else (papers.paper(name).name,)
    file = (output or Path(name or "claims")) / "claims.html"
    require_folder(file.parent, f"Cannot write to {file.parent}")
    stores = {paper: store or Path(paper) / "study" for paper in chosen}
    with study_progress("computing cells", not json) as report:
        ledger = papers.judge_claims(chosen, **asked, stores=stores, where=where, progress=report)
    file.parent.mkdir(parents=True, exist_ok=True)
    ledger.write_report(file, made(ctx))
    if json:
        emit(ctx, ledger, json=True)
        return
    ctx.meta[RESULTS] = (ledger,)
    for paper, entries in ledger.by_paper():
        typer.echo(f"{paper.title}\n")
        for entry in entries:
            _print_verdict(entry)
            typer.echo(f"{'':14} {entry.command}")
        typer.echo("")
    typer.echo(ledger.tally().as_text())
    typer.echo(f"{ledger.verdict}\nWrote {file}: open it in a browser.")


def _print_verdict(verdict: "Verdict") -> None:
    """Print the standing of a claim, what it says, the evidence, and what its readings give."""
    finding, claim = verdict.finding, verdict.claim
    typer.echo(f"{finding.standing:14} {claim.where}: {claim.sentence}")
    typer.echo(f"{'':14} {finding.evidence}")
    for reading, read in verdict.readings:
        off = "" if read.distance is None else f" ({read.distance:.1%} off the print)"
        typer.echo(f"{'':14} - {read.standing} with {reading}{off}: {read.evidence}")


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
    from omit.audit import bounds

    asked = bounds.checks(_validate.seed(seed), _validate.positive_integer("cases", cases))
    _run_checks(ctx, bounds.Audit, asked, json)


def suppression(
    ctx: typer.Context,
    cases: options.Cases = 300,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check delta of randomised cell suppression, and Theorem 1 of Das et al., by enumeration."""
    from omit import _validate
    from omit.audit.suppression import SuppressionAudit, checks

    asked = checks(_validate.seed(seed), _validate.positive_integer("cases", cases))
    _run_checks(ctx, SuppressionAudit, asked, json)


def sampling(
    ctx: typer.Context,
    cases: options.RandomCases = 300,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check what samples amplify by linear programs, and sensitivities by enumeration."""
    from omit.papers.accuracy_gains.theorems import TRUE, SamplingAudit

    _try_theorems(ctx, SamplingAudit, TRUE, cases, seed, json)


def composition(
    ctx: typer.Context,
    cases: options.RandomCases = 300,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check Theorems 5.1 to 5.4 of Breutigam and Reischuk, and all before, by enumeration."""
    from omit.papers.statistical_privacy.theorems import TRUE, CompositionAudit

    _try_theorems(ctx, CompositionAudit, TRUE, cases, seed, json)


def _try_theorems(
    ctx: typer.Context,
    kind: "type[Audit]",
    theorems: "Mapping[str, Theorem]",
    cases: int,
    seed: int,
    json: bool,
) -> None:
    from omit import _validate
    from omit.papers.checks import checks

    count = _validate.positive_integer("cases", cases)
    _run_checks(ctx, kind, checks(theorems, _validate.seed(seed), count), json)


def _run_checks(
    ctx: typer.Context, kind: "type[Audit]", checks: "Iterable[Check]", json: bool
) -> None:
    """Run checks, show those that were finished, and exit with 1 if one of them fails."""
    from omit.audit.bounds import run

    outcomes: list[Outcome] = []
    interrupted = False
    try:
        for check in checks:
            with progress_bar(check.claim, check.count) as advance:
                outcomes.append(run(check, advance))
    except KeyboardInterrupt:
        interrupted = True
    audit = kind(tuple(outcomes))
    emit(ctx, audit, json=json)
    if interrupted:
        raise StudyInterrupted("Interrupted: checks that were not finished are not listed.")
    if not audit.holds:
        raise typer.Exit(1)


def privacy(
    output: options.FigureFile = Path("privacy.svg"),
    epsilon: options.ColumnEpsilons = None,
    omit: options.DrawnOmissions = None,
    width: options.FigureWidth = None,
) -> None:
    """Any omission by --omit, or both bounds of outlier-score suppression over (m, M)."""
    from omit import _validate
    from omit.papers.omitting_records.privacy_figures import PRIVACY_EPSILONS, privacy_figure

    require_figure(output, width)
    if omit:
        from omit.omissions.names import parse_omission
        from omit.omissions.privacy_figure import omission_figure

        with progress_bar("drawing", None):
            figure = omission_figure(
                [parse_omission(text) for text in omit], epsilon or (0.5, 1, 2)
            )
        write_figure(output, figure, width=width)
        return
    columns = tuple(_validate.epsilon(value) for value in epsilon or PRIVACY_EPSILONS)
    write_figure(output, privacy_figure(columns), width=width)


def gains(
    source: options.Source = "lognormal",
    column: options.ColumnName = None,
    bounds: options.Bounds = None,
    missing_value: options.MissingValue = None,
    statistic: options.GainStatistic = "median",
    mechanism: options.GainMechanism = "laplace",
    delta: options.StatisticDelta = 5e-5,
    epsilon: options.RowEpsilons = None,
    rate: options.ColumnRates = None,
    runs: options.GainRuns = 300,
    public: options.Public = False,
    output: options.FigureFile = Path("gains.svg"),
    width: options.FigureWidth = None,
) -> None:
    """Where sampling pays: mean squared error of samples against all records, over both axes."""
    from omit import _validate
    from omit.accuracy import figures, grids
    from omit.accuracy.comparison import private_notes
    from omit.accuracy.expected import Question
    from omit.cli.accuracy import read_column
    from omit.guarantee import Guarantee
    from omit.mechanisms.names import chosen_mechanisms
    from omit.report.result import CURATOR, PUBLIC

    require_figure(output, width)
    data = read_column(source, column, bounds, missing=missing_value)
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
    write_figure(output, figures.gain_figure(grid), private=not public, width=width)
    for note in (*private_notes(chosen), *data.notes, PUBLIC if public else CURATOR):
        typer.echo(note)


VERIFY: options.Commands = {
    "theorem-5.4": theorem_5_4,
    "mixture": mixture,
    "suppression": suppression,
    "sampling": sampling,
    "composition": composition,
}
FIGURE: options.Commands = {"privacy": privacy, "gains": gains}
