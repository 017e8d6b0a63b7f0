"""The command `data`: which data sets are known by name?"""

import typer

from omit.cli import options
from omit.cli.emit import emit


def data(ctx: typer.Context, name: options.DatasetName = None, json: options.Json = False) -> None:
    """List the registered data sets, or the columns of one and what is declared about them."""
    from omit.data.catalogue import Catalogue

    emit(ctx, Catalogue.of(name), json=json)
