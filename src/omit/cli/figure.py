"""`omit figure`: pictures of the bounds."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Draw the bounds.", no_args_is_help=True)

FORMATS = (".svg", ".png", ".pdf")


@app.callback()
def _figures() -> None:
    """Draw the bounds."""


@app.command()
def privacy(
    output: Annotated[
        Path, typer.Option(help="Where to write it; the ending decides: .svg, .png or .pdf.")
    ] = Path("privacy.svg"),
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon of a column; repeat for several.")
    ] = None,
) -> None:
    """Outlier-score suppression: both bounds over (m, M), and where privacy is amplified."""
    from omit import _validate
    from omit.cli.writing import write_whole
    from omit.errors import InvalidInput
    from omit.report.privacy_figure import EPSILONS, privacy_figure

    if output.suffix.lower() not in FORMATS:
        raise InvalidInput(f"Expected output={str(output)!r} to end in {', '.join(FORMATS)}.")
    columns = tuple(_validate.epsilon(value) for value in epsilon or EPSILONS)
    figure = privacy_figure(columns)
    write_whole(output, lambda file: figure.savefig(file, dpi=160))
    typer.echo(f"Wrote {output}.")
