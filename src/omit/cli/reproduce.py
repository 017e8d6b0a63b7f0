"""`omit reproduce`: a paper's figures and tables, computed anew, with verdicts."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Compute a paper's figures and tables anew, and say which claims hold.",
    no_args_is_help=True,
)


@app.command("disclosure-control")
def disclosure_control(
    output: Annotated[Path, typer.Option(help="The folder to write to.")] = Path(
        "disclosure-control"
    ),
    runs: Annotated[int, typer.Option(help="Runs where the paper simulates.")] = 200,
) -> None:
    """Cell suppression and swapping beside noisy histograms (Das et al.)."""
    from omit.cli.reproduce_disclosure import reproduce_disclosure_control

    reproduce_disclosure_control(output, runs)
