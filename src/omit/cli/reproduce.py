"""`omit reproduce`: a paper's figures and tables, computed anew, and what became of its claims."""

import typer

from omit.cli.omitting_records import omitting_records

app = typer.Typer(
    help="Compute a paper's figures and tables anew, and say what became of its claims.",
    no_args_is_help=True,
)


@app.callback()
def _reproduce() -> None:
    """Compute a paper's figures and tables anew, and say what became of its claims."""


app.command("omitting-records")(omitting_records)
