"""`omit reproduce`: a paper's figures and tables, computed anew, and what became of its claims."""

import typer

from omit.cli.reproduce_accuracy_gains import accuracy_gains
from omit.cli.reproduce_disclosure import disclosure_control
from omit.cli.reproduce_omitting_records import omitting_records
from omit.cli.reproduce_statistical import statistical_privacy

reproduce_app = typer.Typer(
    help="Compute a paper's figures and tables anew, and say what became of its claims.",
    no_args_is_help=True,
)


@reproduce_app.callback()
def _reproduce() -> None:
    """Compute a paper's figures and tables anew, and say what became of its claims."""


reproduce_app.command("accuracy-gains")(accuracy_gains)
reproduce_app.command("disclosure-control")(disclosure_control)
reproduce_app.command("omitting-records")(omitting_records)
reproduce_app.command("statistical-privacy")(statistical_privacy)
