"""`omit figure`: pictures of the bounds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omit.cli.options import ColumnName, FigureFile, Source
from omit.report.files import require_figure, write_figure

if TYPE_CHECKING:
    from omit.mechanisms.base import IntegrableMechanism

figure_app = typer.Typer(help="Draw the bounds.", no_args_is_help=True)


@figure_app.callback()
def _figures() -> None:
    """Draw the bounds."""


@figure_app.command()
def privacy(
    output: FigureFile = Path("privacy.svg"),
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon of a column; repeat for several.")
    ] = None,
) -> None:
    """Outlier-score suppression: both bounds over (m, M), and where privacy is amplified."""
    from omit import _validate
    from omit.papers.omitting_records.privacy_figure import PRIVACY_EPSILONS, privacy_figure

    require_figure(output)
    columns = tuple(_validate.epsilon(value) for value in epsilon or PRIVACY_EPSILONS)
    write_figure(output, privacy_figure(columns))


@figure_app.command()
def gains(
    source: Source = "lognormal",
    column: ColumnName = None,
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
    output: FigureFile = Path("gains.svg"),
) -> None:
    """Where sampling pays: mean squared error of samples against all records, over both axes."""
    from omit import _validate
    from omit.accuracy.compare import WARNING, private_notes
    from omit.accuracy.figures import gain_figure
    from omit.accuracy.grids import GAIN_EPSILONS, GAIN_RATES, gain_map
    from omit.cli.choosing import read_column
    from omit.cli.progress import progress_bar
    from omit.guarantee import Guarantee

    require_figure(output)
    data = read_column(source, column, bounds)
    rows = tuple(_validate.epsilon(value) for value in epsilon or GAIN_EPSILONS)
    columns = tuple(_validate.positive_rate("rate", value) for value in rate or GAIN_RATES)
    chosen = _one_mechanism(statistic, mechanism, delta)
    cells = len(rows) * (len(columns) + 1)
    with progress_bar(str(chosen), cells) as advance:
        found = gain_map(
            data,
            chosen,
            Guarantee(rows[0], delta, "replace"),
            epsilons=rows,
            rates=columns,
            runs=runs,
            advance=advance,
        )
    write_figure(output, gain_figure(found))
    for note in (*private_notes(chosen), *data.notes, WARNING):
        typer.echo(note)


def _one_mechanism(statistic: str, name: str, delta: float) -> "IntegrableMechanism":
    from omit.errors import InvalidInput
    from omit.mechanisms.names import integrable_mechanisms

    chosen = integrable_mechanisms(statistic, name, "mse", delta) or []
    if len(chosen) != 1:
        raise InvalidInput("Expected one mechanism to draw; choose with --mechanism.")
    return chosen[0]
