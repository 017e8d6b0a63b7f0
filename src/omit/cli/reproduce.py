"""`omit reproduce`: a paper's figures and tables, computed anew, and what became of its claims."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Compute a paper's figures and tables anew, with verdicts.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Option("--output", help="The folder to write.")]


@app.callback()
def _papers() -> None:
    """Compute a paper's figures and tables anew, with verdicts."""


@app.command("statistical-privacy")
def statistical_privacy(output: Folder = Path("statistical-privacy")) -> None:
    """Parallel composition for statistical privacy: Tables 1 and 2, and the curves."""
    from omit.cli.reproduce_statistical import reproduce

    reproduce(output)
