"""`omit compare`, `omit best` and `omit solve`: accuracy at the same privacy.

The first argument of all three is what `choose` makes of the options that they share.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer

from omit.cli import options
from omit.cli.emit import emit, made, progress_bar, report_file, tell_where, write_page
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omit.data.base import Data
    from omit.data.column import Column
    from omit.data.groups import DeclaredGroups, GroupedColumn
    from omit.data.weighted import WeightedColumn
    from omit.guarantee import Guarantee
    from omit.mechanisms.base import Mechanism
    from omit.omissions.base import Omission
    from omit.report.result import Result

    R = TypeVar("R", bound=Result)

# Far beyond all use, and still no matter of days or of all the memory.
MOST_CLUSTERS = 1_000
MOST_ITERATIONS = 1_000
MOST_CANDIDATES = 10_000


class Chosen(NamedTuple):
    """What compare, best and solve are asked: about which data, mechanisms and guarantee.

    With groups, `data` are the records of all of them. The `lattice` has the same records for
    quantiles that are chosen among multiples of a step. Several statistics share the guarantee.
    """

    context: typer.Context
    data: "Data"
    mechanisms: "Sequence[Mechanism]"
    neighbours: str
    delta: float
    truth: str | None
    runs: str
    public: bool
    json: bool
    grouped: "GroupedColumn | None" = None
    lattice: "Column | GroupedColumn | None" = None
    statistics: int = 1

    def asked_about(self, mechanism: "Mechanism") -> Any:
        """Return the data that a mechanism is asked about, in groups if there are some."""
        from omit.mechanisms.names import is_quantile

        if self.lattice is not None and is_quantile(mechanism.statistic):
            return self.lattice
        return self.data if self.grouped is None else self.grouped

    def target(self, epsilon: float) -> "Guarantee":
        """Return the guarantee that is asked for."""
        from omit.guarantee import Guarantee

        return Guarantee(epsilon, self.delta, self.neighbours)

    def cautious(self, result: "R") -> "R":
        """Return a result with the caution that its data need."""
        return result.declared_public() if self.public else result

    def settings(self, mechanism: "Mechanism") -> dict[str, Any]:
        """Return the truth and the number of runs for a mechanism, as arguments."""
        runs = options.runs_asked_for(self.runs)
        return {
            "truth": known_truth(self.truth, mechanism.statistic, self.data),
            "runs": mechanism.published_runs if runs is None else runs,
        }


def choose(
    ctx: typer.Context,
    source: options.Source = "adult",
    column: options.ColumnName = None,
    bounds: options.Bounds = None,
    categories: options.Categories = None,
    step: options.Step = None,
    bins: options.Bins = None,
    missing_value: options.MissingValue = None,
    table: options.TableName = None,
    weight: options.Weight = None,
    weight_bounds: options.WeightBounds = None,
    statistic: options.Statistic = "mean",
    mechanism: options.Mechanism = "laplace",
    metric: options.Metric = None,
    neighbours: options.StatisticNeighbours = None,
    delta: options.StatisticDelta = 0.0,
    truth: options.Truth = None,
    runs: options.Runs = "2000",
    k: options.K = None,
    columns: options.Columns = None,
    iterations: options.Iterations = 5,
    budget: options.Budget = "su",
    start: options.Start = "spread",
    candidates: options.Candidates = 100,
    public: options.Public = False,
    json: options.Json = False,
) -> Chosen:
    """Return what the options name, points for a clustering and one column for all else.

    The column is in groups if the command has an option `by`, and that was given.

    Raises
    ------
    InvalidInput
        If something is unknown, missing, or does not go together.
    """
    from omit import _validate
    from omit.mechanisms import names

    named = {"column": column, "table": table, "source": source, "weight": weight}
    for name, value in named.items():
        if value is not None and not value.strip():
            raise InvalidInput(f"Expected {name}={value!r} to be a name.")
    by = options.names(ctx.params.get("by"))
    if by is not None and (weight is not None or statistic in names.CLUSTERINGS):
        raise InvalidInput("Groups are of a column without weights; leave out --by.")
    if weight is not None or weight_bounds is not None:
        if statistic not in ("mean", "all"):
            raise InvalidInput(f"Weights are for --statistic mean, not for {statistic}.")
        if step is not None or bins is not None or categories is not None:
            raise InvalidInput("Weights are for means; leave out --step, --bins, --categories.")
        survey = read_survey(source, column, bounds, weight, weight_bounds, table, missing_value)
        relation = "add-remove" if neighbours is None else neighbours
        weighted = names.chosen_mechanisms("weighted mean", mechanism, metric, delta, relation)
        return Chosen(ctx, survey, weighted, relation, delta, truth, runs, public, json)
    if statistic not in names.CLUSTERINGS:
        kinds = names.several_statistics(statistic)
        # A mode of very many numbers is refused when they are in bins, not after reading them all.
        if bins is None and not set(kinds) <= {*names.OF_SUMS, "mode"}:
            bins = 0
        # Where a record may move to another group, both groups count their records in secret.
        moves = by is not None and not ctx.params.get("fixed_labels")
        declared = (bounds, categories, table, step, missing_value, bins)
        if by is not None:
            labels = declared_labels(by, ctx.params.get("groups"))
            grouped = read_column(source, column, *declared, by=by, groups=labels)
            _, meant = names.asked_of(grouped.whole, kinds[0])
            grouped = grouped.with_columns(lambda part: names.asked_of(part, kinds[0])[0])
            data = grouped.whole
        else:
            grouped, read = None, read_column(source, column, *declared)
            data, meant = names.asked_of(read, kinds[0])
        quantiles = [kind for kind in kinds if names.is_quantile(kind)]
        counted_in_secret = moves or neighbours == "add-remove"
        lattice = None
        if quantiles and counted_in_secret and mechanism in ("laplace", "all", *names.ON_A_LATTICE):
            lattice = _on_a_lattice(data if grouped is None else grouped)
        on_lattice = data.step is not None
        usual = [names.usual_relation(kind, metric, mechanism, on_lattice) for kind in kinds]
        # Some statistics have noise for a public number of records alone, others for both.
        common = "replace" if "replace" in usual else usual[0]
        relation = common if neighbours is None else neighbours
        within = "add-remove" if moves else relation
        mechanisms = [
            each
            for kind in (meant, *kinds[1:])
            for each in names.column_mechanisms(
                lattice[1] if lattice is not None and kind in quantiles else data,
                *(kind, mechanism, metric, delta, within),
            )
        ]
        return Chosen(
            *(ctx, data, mechanisms, relation, delta, truth, runs, public, json),
            grouped=grouped,
            lattice=None if lattice is None else lattice[0],
            statistics=len(kinds),
        )
    from omit.data.reading import read_points

    relation = names.usual_relation(statistic, metric) if neighbours is None else neighbours
    declared = options.declared(bounds, options.pairs_of_numbers)
    points = read_points(
        source, options.names(columns), bounds=declared, table=table, missing=missing_value or ()
    )
    # Any other text is handed on: the mechanisms refuse what they do not know.
    clustering = names.clustering(
        statistic,
        k=None if k is None else _validate.positive_integer("k", k, most=MOST_CLUSTERS),
        iterations=_validate.positive_integer("iterations", iterations, most=MOST_ITERATIONS),
        budget=budget,
        start=start,
        candidates=_validate.positive_integer("candidates", candidates, most=MOST_CANDIDATES),
        metric=metric,
    )
    return Chosen(ctx, points, [clustering], relation, delta, truth, runs, public, json)


def _on_a_lattice(data: "Column | GroupedColumn") -> "tuple[Any, Column] | None":
    """Return data whose quantiles have an answer under add-remove, and the column of them all.

    Without a declared step the bounds may say among which numbers to choose; None if they do not
    have to, because there is one.
    """
    from dataclasses import replace

    from omit.data.column import Column
    from omit.mechanisms import names

    whole = data if isinstance(data, Column) else data.whole
    if whole.step is not None or whole.bounds is None:
        return None
    step = names.usual_step(whole.bounds)
    if step is None:
        raise InvalidInput(
            "Under add-remove a quantile is chosen among the multiples of a step: declare one that "
            f"divides the bounds {whole.bounds[0]:g} and {whole.bounds[1]:g} (--step)."
        )

    def chosen_from(column: Column) -> Column:
        said = (
            f"quantiles are among multiples of {step:g} above the lower bound, since no step was "
            "declared (--step); values are moved by at most half of that, which is in no error."
        )
        return replace(column.in_steps(step), remarks=(*column.remarks, said))

    if isinstance(data, Column):
        made = chosen_from(data)
        return made, made
    grouped = data.with_columns(chosen_from)
    return grouped, grouped.whole


def read_column(
    source: str,
    column: str | None,
    bounds: str | None,
    categories: str | None = None,
    table: str | None = None,
    step: float | None = None,
    missing: "Sequence[str] | None" = None,
    bins: int | None = 0,
    **grouping: Any,
) -> Any:
    """Return the column that the options name, in groups if `by` and `groups` say which."""
    from omit.data.reading import read

    return read(
        source,
        column,
        bounds=options.declared(bounds),
        categories=options.names(categories),
        table=table,
        step=step,
        bins=bins,
        missing=missing or (),
        **grouping,
    )


def declared_labels(by: "Sequence[str]", groups: "Sequence[str] | None") -> "DeclaredGroups | None":
    """Return the groups that the option names: lists, a file, or a name; None if there is none.

    Examples
    --------
    >>> declared_labels(["sex", "old"], ["F,M", "yes,no"])
    {'sex': ['F', 'M'], 'old': ['yes', 'no']}
    >>> declared_labels(["PUMA"], ["nist-tx"])
    'nist-tx'
    """
    from omit.data.base import FROM_DATA
    from omit.data.datasets import DATASETS

    if not groups:
        return None
    first = groups[0]
    if len(groups) == 1 and (first == FROM_DATA or first in DATASETS):
        return first
    if len(groups) == 1 and first.endswith(".csv"):
        return _labels_in(Path(first), by)
    if len(groups) != len(by):
        raise InvalidInput(
            f"Expected --groups once for each column of --by, {', '.join(by)}, got it "
            f"{len(groups)} times."
        )
    return {name: options.names(labels) or [] for name, labels in zip(by, groups, strict=True)}


def _labels_in(file: Path, by: "Sequence[str]") -> "list[tuple[str, ...]]":
    """Return the groups that are listed in a CSV file."""
    import csv

    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeError, csv.Error) as error:
        raise InvalidInput(f"Cannot read the groups in {str(file)!r}: {error}.") from error
    for name in by:
        if not rows or rows[0].get(name) is None:
            raise InvalidInput(f"Expected a column {name!r} of labels in {str(file)!r}.")
    return list(dict.fromkeys(tuple(row[name] or "" for name in by) for row in rows))


def read_survey(
    source: str,
    column: str | None,
    bounds: str | None,
    weight: str | None,
    weight_bounds: str | None,
    table: str | None = None,
    missing: "Sequence[str] | None" = None,
) -> "WeightedColumn":
    """Return the column with weights that the options name."""
    from omit.data.reading import read

    if weight is None:
        raise InvalidInput("Expected --weight COLUMN, since --weight-bounds are given.")
    largest = None
    if weight_bounds is not None:
        largest = options.pair_of_numbers(weight_bounds, "--weight-bounds")
    return read(
        source,
        column,
        bounds=options.declared(bounds),
        table=table,
        missing=missing or (),
        weight=weight,
        weight_bounds=largest,
    )


def compare(
    chosen: Chosen,
    epsilon: options.Epsilon = 1.0,
    omit: options.Omissions = None,
    by: options.By = None,
    groups: options.GroupLabels = None,
    fixed_labels: options.FixedLabels = False,
    sampled_from: options.SampledFrom = None,
    rows_per_person: options.RowsPerPerson = 1,
    no_noise_reduction: options.NoNoiseReduction = False,
    method: options.Method = "auto",
    seed: options.Seed = 0,
    report: options.Report = None,
    no_report: options.NoReport = False,
) -> None:
    """What does an omission cost in accuracy, at the same privacy?"""
    from omit.accuracy.compare import compare as run_comparison
    from omit.accuracy.ranking import ranked
    from omit.data.weighted import WeightedColumn

    data, target, json = chosen.data, chosen.target(epsilon), chosen.json
    # With weights the curves of a report take minutes: it is written if it is asked for.
    unasked = None if json or isinstance(data, WeightedColumn) else Path("omit-report.html")
    file = report_file(report, no_report, unasked)
    asked = {
        "method": method,
        "noise_reduction": not no_noise_reduction,
        "rows_per_person": rows_per_person,
        "seed": seed,
        "early_stop": chosen.runs != options.PUBLISHED_RUNS,
        "sampled_from": sampled_from,
        "statistics": chosen.statistics,
    }
    if chosen.truth is not None and chosen.statistics > 1:
        raise InvalidInput("Expected one --statistic with --truth, which is about one.")
    if chosen.grouped is not None:
        _compare_groups(chosen, target, omit, fixed_labels, file, asked)
        return
    if groups or fixed_labels:
        raise InvalidInput("Expected --by COLUMN,..., since there are groups.")
    omissions = _omissions(omit, chosen.neighbours, data.size)
    comparisons = []
    with progress_bar("comparing", None, not json) as advance:
        for mechanism in chosen.mechanisms:
            comparison = run_comparison(
                chosen.asked_about(mechanism),
                mechanism,
                target,
                *omissions,
                **chosen.settings(mechanism),
                **asked,
            )
            comparisons.append(chosen.cautious(comparison))
            advance()
    emit(chosen.context, *map(chosen.cautious, ranked(comparisons)), json=json)
    if file is not None:
        from omit.accuracy.report import curve_steps, write_report

        told = "report, which --no-report leaves out"
        with progress_bar(told, curve_steps(comparisons), not json) as advance:
            cores = os.cpu_count() or 1
            write_report(file, comparisons, advance, cores, lambda: made(chosen.context))
        tell_where(chosen.context, file)


def _omissions(texts: "Sequence[str] | None", neighbours: str, size: int) -> "tuple[Omission, ...]":
    """Return the omissions that are named, or the usual ones, for so many records."""
    from omit.accuracy.search import usual_omissions
    from omit.omissions.names import parse_omission

    if texts is None:
        return usual_omissions(neighbours, size)
    return tuple(parse_omission(text, size) for text in texts)


def _compare_groups(
    chosen: Chosen,
    target: "Guarantee",
    texts: "Sequence[str] | None",
    fixed_labels: bool,
    file: Path | None,
    asked: "Mapping[str, Any]",
) -> None:
    """Print the comparisons of all groups, and write their report."""
    from omit.accuracy.groups import compare_groups

    assert chosen.grouped is not None
    if chosen.truth is not None:
        raise InvalidInput("Expected no --truth of groups: every group has its own.")
    relation = chosen.neighbours if fixed_labels else "add-remove"
    number = len(_omissions(texts, relation, chosen.data.size))

    def of_group(size: int, at: int) -> "Omission":
        known = _omissions(texts, relation, size)
        if len(known) < number:
            raise InvalidInput(
                f"{size} records have no samples of a tenth, a half and nine tenths."
            )
        return known[at]

    omissions = [partial(of_group, at=at) for at in range(number)]
    results = []
    steps = len(chosen.grouped) * len(chosen.mechanisms)
    with progress_bar("comparing groups", steps, not chosen.json) as advance:
        for mechanism in chosen.mechanisms:
            result = compare_groups(
                chosen.asked_about(mechanism),
                mechanism,
                target,
                *omissions,
                fixed_labels=fixed_labels,
                cores=os.cpu_count() or 1,
                advance=advance,
                runs=chosen.settings(mechanism)["runs"],
                **asked,
            )
            results.append(chosen.cautious(result))
    emit(chosen.context, *results, json=chosen.json)
    if file is not None:
        write_page(chosen.context, file, *results)


def best(
    chosen: Chosen,
    epsilon: options.Epsilon = 1.0,
    sampled_from: options.SampledFrom = None,
    seconds: options.Seconds = None,
) -> None:
    """Which omission has the smallest error at a guarantee? Often none."""
    from omit.accuracy import search

    target = chosen.target(epsilon)

    def find(mechanism: "Mechanism", **settings: Any) -> "Result":
        settings |= {"sampled_from": sampled_from, "seconds": seconds}
        return search.best(chosen.asked_about(mechanism), mechanism, target, **settings)

    _emit_answers(chosen, find)


def solve(
    chosen: Chosen,
    error: options.WantedError,
    omit: options.OneOmission = "none",
    seconds: options.Seconds = None,
) -> None:
    """Which epsilon reaches a wanted error?"""
    from omit.accuracy import search
    from omit.omissions.names import parse_omission

    data, relation = chosen.data, chosen.neighbours
    omission = parse_omission(omit, data.size)

    def find(mechanism: "Mechanism", **settings: Any) -> "Result":
        settings |= {"delta": chosen.delta, "neighbours": relation, "seconds": seconds}
        return search.solve(chosen.asked_about(mechanism), mechanism, error, omission, **settings)

    _emit_answers(chosen, find)


def _emit_answers(chosen: Chosen, find: "Callable[..., Result]") -> None:
    """Print the answers for all mechanisms, with a progress bar for every one."""
    if chosen.statistics > 1:
        raise InvalidInput("Expected one --statistic: several share a budget in omit compare.")
    answers = []
    for mechanism in chosen.mechanisms:
        with progress_bar(str(mechanism), None, not chosen.json) as advance:
            answer = find(mechanism, advance=advance, **chosen.settings(mechanism))
            answers.append(chosen.cautious(answer))
    emit(chosen.context, *answers, json=chosen.json)


def known_truth(text: str | None, statistic: str, data: "Data") -> Any:
    """Return the truth that is declared, in the form that the statistic has; None if none is."""
    if text is None:
        return None
    if statistic == "mode" and getattr(data, "is_text", False):
        return (text,)
    try:
        return (float(text),) if statistic == "mode" else float(text)
    except ValueError as error:
        raise InvalidInput(f"Expected truth={text!r} to be a number.") from error
