"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

PUBLISHED_RUNS = "paper"

Source = Annotated[
    str, typer.Argument(help="A CSV or Parquet file, or the name of a registered data set.")
]
ColumnName = Annotated[str | None, typer.Option("--column", help="Which column.")]
TableName = Annotated[str | None, typer.Option("--table", help="Which table of a database.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
FigureFile = Annotated[
    Path, typer.Option(help="Where to draw it; the ending decides: .svg, .png or .pdf.")
]


def runs_asked_for(text: str) -> int | None:
    """Return how many runs are asked for; None for as many as were published.

    Raises
    ------
    InvalidInput
        If it is neither a number of runs nor the word for that.

    Examples
    --------
    >>> runs_asked_for("2000"), runs_asked_for("paper")
    (2000, None)
    """
    from omit import _validate
    from omit.errors import InvalidInput

    if text == PUBLISHED_RUNS:
        return None
    try:
        count = int(text)
    except ValueError as error:
        raise InvalidInput(
            f"Expected runs={_validate.shown(text)} to be a whole number or {PUBLISHED_RUNS}."
        ) from error
    return _validate.runs(count)
