"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[
    str, typer.Argument(help="A CSV or Parquet file, or the name of a registered data set.")
]
ColumnName = Annotated[str | None, typer.Option("--column", help="Which column.")]
TableName = Annotated[str | None, typer.Option("--table", help="Which table of a database.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
FigureFile = Annotated[
    Path, typer.Option(help="Where to draw it; the ending decides: .svg, .png or .pdf.")
]
