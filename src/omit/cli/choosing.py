"""The data and the mechanisms that the options of compare, best and solve stand for."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from omit.cli import clustering as options
from omit.cli.clustering import clustering, read_points
from omit.cli.options import ColumnName, Source, Step, TableName, pair_of_numbers
from omit.mechanisms.names import CLUSTERINGS, chosen_mechanisms, usual_relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.data.base import Data
    from omit.data.column import Column
    from omit.guarantee import Guarantee
    from omit.mechanisms.base import Mechanism


class Chosen(NamedTuple):
    """The data, what is computed from them, and under which neighbour relation and delta."""

    data: "Data"
    mechanisms: "Sequence[Mechanism]"
    neighbours: str
    delta: float

    def target(self, epsilon: float) -> "Guarantee":
        """Return the guarantee that is asked for."""
        from omit.guarantee import Guarantee

        return Guarantee(epsilon, self.delta, self.neighbours)


def choose(
    source: Source = "adult",
    column: ColumnName = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            help="LOWER UPPER as declared, or from-data, which is not private.",
            metavar="LOWER UPPER",
        ),
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="Comma-separated declared categories of a text column.")
    ] = None,
    step: Step = None,
    table: TableName = None,
    statistic: Annotated[
        str,
        typer.Option(
            help="mean, mode, median, quantile:SHARE, kmeans, kmedian, or all: mean and mode."
        ),
    ] = "mean",
    mechanism: Annotated[
        str,
        typer.Option(
            help="laplace, gaussian, for the mode also exponential and gumbel, or all; for "
            "quantiles smooth-laplace, smooth-laplace-tight, smooth-student, global-laplace, "
            "exponential, propose-test-release, smooth-laplace-unpadded (NOT private) or all.",
        ),
    ] = "laplace",
    metric: Annotated[
        str | None,
        typer.Option(
            help="mse or relative, for means and quantiles; mse for quantiles by default. For "
            "clusterings the records whose distances count: all, kept, or kept-sum."
        ),
    ] = None,
    neighbours: Annotated[
        str | None,
        typer.Option(
            help="Neighbour relation: add-remove or replace.",
            show_default="replace for quantiles and --metric mse, else add-remove",
        ),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="Delta of the release; Gaussian noise requires delta > 0.")
    ] = 0.0,
    k: options.K = None,
    columns: options.Columns = None,
    iterations: options.Iterations = 5,
    budget: options.Budget = "su",
    start: options.Start = "spread",
    candidates: options.Candidates = 100,
) -> Chosen:
    """Return what the options name: points for a clustering, one column for all else.

    Raises
    ------
    InvalidInput
        If something is unknown, missing, or does not go together.
    """
    from omit.errors import InvalidInput

    for name, value in {"column": column, "table": table, "source": source}.items():
        if value is not None and not value.strip():
            raise InvalidInput(f"Expected {name}={value!r} to be a name.")
    relation = usual_relation(statistic, metric) if neighbours is None else neighbours
    if statistic in CLUSTERINGS:
        points = read_points(source, columns, bounds, table)
        made = clustering(statistic, k, iterations, budget, start, candidates, metric)
        return Chosen(points, [made], relation, delta)
    data = read_column(source, column, bounds, categories, table, step)
    return Chosen(
        data,
        _column_mechanisms(data, statistic, mechanism, metric, delta, relation),
        relation,
        delta,
    )


def read_column(
    source: str,
    column: str | None,
    bounds: str | None,
    categories: str | None = None,
    table: str | None = None,
    step: float | None = None,
) -> "Column":
    """Return the column that the options name."""
    from omit.data.reading import read

    declared: Any = bounds if bounds in (None, "from-data") else pair_of_numbers(str(bounds))
    listed = None if categories is None else [part.strip() for part in categories.split(",")]
    return read(source, column, bounds=declared, categories=listed, table=table, step=step)


def _column_mechanisms(
    data: "Column", statistic: str, name: str, metric: str | None, delta: float, relation: str
) -> "list[Mechanism]":
    """Return the mechanisms asked for; with the statistic `all`, those of mean and mode."""
    from omit.errors import InvalidInput
    from omit.mechanisms.names import known_mechanisms, mean_and_mode

    if statistic != "all":
        return chosen_mechanisms(statistic, name, metric, delta, relation)
    statistics = mean_and_mode(data)
    named = {each: known_mechanisms(each, metric, relation) for each in statistics}
    every = sorted({kind for kinds in named.values() for kind in kinds})
    if name not in (*every, "all"):
        choices = ", ".join([*every, "all"])
        raise InvalidInput(f"Expected mechanism={name!r} to be one of: {choices}.")
    return [
        mechanism
        for each in statistics
        if name == "all" or name in named[each]
        for mechanism in chosen_mechanisms(each, name, metric, delta, relation)
    ]
