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


@app.command()
def gains(
    source: Annotated[
        str, typer.Argument(help="A CSV or Parquet file, or the name of a registered data set.")
    ] = "lognormal",
    column: Annotated[str | None, typer.Option("--column", help="Which column.")] = None,
    bounds: Annotated[
        str | None, typer.Option(help="LOWER UPPER as declared.", metavar="LOWER UPPER")
    ] = None,
    statistic: Annotated[str, typer.Option(help="mean, median or quantile:SHARE.")] = "median",
    mechanism: Annotated[
        str, typer.Option(help="As for omit compare; smooth-laplace for quantiles by default.")
    ] = "laplace",
    delta: Annotated[float, typer.Option(help="Delta of the release.")] = 0.0,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon of a row; repeat for several.")
    ] = None,
    rate: Annotated[
        list[float] | None, typer.Option(help="Sampling rate of a column; repeat for several.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Samples for each cell where any are drawn.")] = 300,
    output: Annotated[
        Path, typer.Option(help="Where to write it; the ending decides: .svg, .png or .pdf.")
    ] = Path("gains.svg"),
) -> None:
    """Where sampling pays: mean squared error of samples against all records, over both axes."""
    from omit import _validate
    from omit.cli.choosing import read_column
    from omit.cli.progress import progress_bar
    from omit.cli.statistics import integrable_mechanisms
    from omit.cli.writing import require_writable, write_whole
    from omit.errors import InvalidInput
    from omit.guarantee import Guarantee
    from omit.mechanisms.integrable import IntegrableMechanism
    from omit.report.gain_figures import gain_figure
    from omit.utility.compare import WARNING, private_notes
    from omit.utility.gain_map import EPSILONS, RATES, gain_map

    if output.suffix.lower() not in FORMATS:
        raise InvalidInput(f"Expected output={str(output)!r} to end in {', '.join(FORMATS)}.")
    require_writable(output)
    data = read_column(source, column, bounds)
    rows = tuple(_validate.epsilon(value) for value in epsilon or EPSILONS)
    columns = tuple(_validate.positive_rate("rate", value) for value in rate or RATES)
    chosen = integrable_mechanisms(statistic, mechanism, "mse", delta) or []
    if len(chosen) != 1 or not isinstance(chosen[0], IntegrableMechanism):
        raise InvalidInput("Expected one mechanism to draw; choose with --mechanism.")
    cells = len(rows) * (len(columns) + 1)
    with progress_bar(str(chosen[0]), cells) as advance:
        found = gain_map(
            data,
            chosen[0],
            Guarantee(rows[0], delta, "replace"),
            epsilons=rows,
            rates=columns,
            runs=runs,
            advance=advance,
        )
    figure = gain_figure(found)
    write_whole(output, lambda file: figure.savefig(file, dpi=160))
    typer.echo(f"Wrote {output}.")
    for note in (*private_notes(chosen[0]), *data.notes, WARNING):
        typer.echo(note)
