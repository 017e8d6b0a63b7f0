"""The data and the mechanisms that the options of compare, best and solve stand for."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from omit.cli import clustering as options
from omit.cli.clustering import CLUSTERINGS, clustering, read_points
from omit.cli.options import ColumnName, Source, TableName, pair_of_numbers
from omit.mechanisms.names import chosen_relation, integrable_mechanisms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.data.column import Column
    from omit.data.points import Points
    from omit.guarantee import Guarantee
    from omit.mechanisms.base import Clustering, Mechanism

STATISTICS = ("mean", "mode")
# Means that are not clipped to the bounds, for comparing with papers; never among "all".
PUBLISHED = ("laplace-published", "gaussian-published")
NOISES = {
    "mean": ("laplace", "gaussian", *PUBLISHED),
    "mode": ("laplace", "exponential", "gaussian", "gumbel"),
}


class Chosen(NamedTuple):
    """The data, what is computed from them, and under which neighbour relation and delta."""

    data: "Column | Points"
    mechanisms: "Sequence[Mechanism | Clustering]"
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
            help="mse or relative, for means and quantiles; mse for quantiles by default."
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
    if statistic in CLUSTERINGS:
        if metric is not None:
            raise InvalidInput(
                f"Expected --metric for means and quantiles only; {statistic} is judged by "
                "distances to its centres."
            )
        points = read_points(source, columns, bounds, table)
        made = clustering(statistic, k, iterations, budget, start, candidates)
        return Chosen(points, [made], chosen_relation(neighbours, statistic, metric), delta)
    data = read_column(source, column, bounds, categories, table)
    relation = chosen_relation(neighbours, statistic, metric)
    mechanisms: Sequence[Mechanism] | None
    mechanisms = integrable_mechanisms(statistic, mechanism, metric, delta, relation)
    if mechanisms is None:
        mechanisms = _noisy_mechanisms(data, statistic, mechanism, delta)
    return Chosen(data, mechanisms, relation, delta)


def read_column(
    source: str,
    column: str | None,
    bounds: str | None,
    categories: str | None = None,
    table: str | None = None,
) -> "Column":
    """Return the column that the options name."""
    from omit.data.reading import read

    declared: Any = bounds if bounds in (None, "from-data") else pair_of_numbers(str(bounds))
    listed = None if categories is None else [part.strip() for part in categories.split(",")]
    return read(source, column, bounds=declared, categories=listed, table=table)


def _noisy_mechanisms(
    data: "Column", statistic: str, noise: str, delta: float
) -> "list[Mechanism]":
    """Return the means and modes asked for; with `all`, those that the data and delta allow."""
    from omit.errors import InvalidInput
    from omit.mechanisms.mean import NoisyMean
    from omit.mechanisms.mode import NoisyMode

    def made(statistic: str, kind: Any) -> "Mechanism":
        if kind in PUBLISHED:
            return NoisyMean(kind.removesuffix("-published"), "published")
        return NoisyMean(kind) if statistic == "mean" else NoisyMode(kind)

    if statistic not in (*STATISTICS, "all"):
        raise InvalidInput(
            f"Expected statistic={statistic!r} to be mean, mode, all, median, quantile:SHARE, "
            "kmeans or kmedian."
        )
    wanted = STATISTICS if statistic == "all" else (statistic,)
    if statistic == "all" and not _has_both(data):
        wanted = ("mode",) if data.is_text else ("mean",)
    kinds_known = {each for statistic in wanted for each in NOISES[statistic]}
    if noise not in (*kinds_known, "all"):
        choices = ", ".join([*sorted(kinds_known), "all"])
        raise InvalidInput(f"Expected mechanism={noise!r} to be one of: {choices}.")
    return [
        made(each, kind)
        for each in wanted
        for kind in NOISES[each]
        if kind == noise
        or (noise == "all" and kind not in PUBLISHED and (kind != "gaussian" or delta > 0))
    ]


def _has_both(data: "Column") -> bool:
    """Tell whether the column has a mean and a declared domain for its mode."""
    from omit.errors import InvalidInput

    try:
        data.domain()
    except InvalidInput:
        return False
    return not data.is_text
