"""The options of clusterings on the command line, and what they stand for."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.options import pairs_of_numbers

if TYPE_CHECKING:
    from omit.data.points import Points
    from omit.mechanisms.base import Mechanism

# Far beyond all use, and still no matter of days or of all the memory.
MOST_CLUSTERS = 1_000
MOST_ITERATIONS = 1_000
MOST_CANDIDATES = 10_000

_PANEL = "Clusterings"

K = Annotated[
    int | None,
    typer.Option(
        "--k",
        help="Number of clusters.",
        show_default="5 for kmeans, 4 for kmedian",
        rich_help_panel=_PANEL,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated columns.",
        show_default="all registered columns",
        rich_help_panel=_PANEL,
    ),
]
Iterations = Annotated[
    int, typer.Option(help="For kmeans: number of iterations.", rich_help_panel=_PANEL)
]
Budget = Annotated[
    str,
    typer.Option(
        help="For kmeans: su, published, or composed, which requires delta > 0.",
        rich_help_panel=_PANEL,
    ),
]
Start = Annotated[
    str,
    typer.Option(help="For kmeans: spread or uniform first centres.", rich_help_panel=_PANEL),
]
Candidates = Annotated[
    int,
    typer.Option(
        help="For kmedian: number of values per column that a centre can have.",
        rich_help_panel=_PANEL,
    ),
]


def read_points(
    source: str, columns: str | None, bounds: str | None, table: str | None
) -> "Points":
    """Return the points that the options name."""
    from omit.data.reading import read_points

    declared: Any = bounds if bounds in (None, "from-data") else pairs_of_numbers(str(bounds))
    listed = None if columns is None else [part.strip() for part in columns.split(",")]
    return read_points(source, listed, bounds=declared, table=table)


def clustering(
    statistic: str,
    k: int | None,
    iterations: int,
    budget: str,
    start: str,
    candidates: int,
    metric: str | None,
) -> "Mechanism":
    """Return the clustering that the options describe."""
    from omit import _validate
    from omit.mechanisms.names import clustering

    # Any text is handed on: the mechanisms refuse what they do not know.
    return clustering(
        statistic,
        k=None if k is None else _validate.positive_integer("k", k, most=MOST_CLUSTERS),
        iterations=_validate.positive_integer("iterations", iterations, most=MOST_ITERATIONS),
        budget=budget,
        start=start,
        candidates=_validate.positive_integer("candidates", candidates, most=MOST_CANDIDATES),
        metric=metric,
    )
