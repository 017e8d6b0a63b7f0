"""`omit figure`: pictures of the bounds."""

import contextlib
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
    from omit.errors import InvalidInput
    from omit.report.privacy_figure import EPSILONS, privacy_figure

    if output.suffix.lower() not in FORMATS:
        raise InvalidInput(f"Expected output={str(output)!r} to end in {', '.join(FORMATS)}.")
    columns = tuple(_validate.epsilon(value) for value in epsilon or EPSILONS)
    figure = privacy_figure(columns)
    # A half-written picture must not replace a whole one.
    unfinished = output.with_name(f".unfinished-{output.name}")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(unfinished, dpi=160)
        unfinished.replace(output)
    except OSError as error:
        raise InvalidInput(f"Cannot write {output}: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    typer.echo(f"Wrote {output}.")
