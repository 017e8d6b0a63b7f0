"""`omit reproduce`: the papers' figures and tables, computed anew."""

import typer

from omit.cli.accuracy_gains import accuracy_gains

app = typer.Typer(help="Compute a paper's figures and tables anew.", no_args_is_help=True)


@app.callback()
def _reproduce() -> None:
    """Compute a paper's figures and tables anew."""


app.command("accuracy-gains")(accuracy_gains)
