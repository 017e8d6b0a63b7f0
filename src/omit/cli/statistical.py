"""What the commands on statistical privacy share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from numpy.random import Generator

WARNING = "Statistical privacy is not differential privacy: it rests on the assumption above."

Size = Annotated[int, typer.Option("--n", help="Entries of the database.")]


def seeded(seed: int | None) -> "Generator":
    """Return a generator; without a seed, one that nobody can repeat."""
    import numpy as np

    from omit.errors import InvalidInput

    if seed is not None and seed < 0:
        raise InvalidInput(f"Expected seed={seed} to be at least 0.")
    return np.random.default_rng(seed)


def print_columns(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, its first column to the left and numbers to the right."""
    from rich.console import Console
    from rich.table import Table

    from omit.cli.printing import print_table

    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(title, style="bold")
    table = Table(box=None, padding=(0, 2), show_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*row)
    print_table(console, table)
