"""The numbers behind the tables and figures of the disclosure-control paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omit.disclosure.table import CountTable
from omit.disclosure.usefulness import GroupMap
from omit.papers import disclosure_control as paper

if TYPE_CHECKING:
    import pandas as pd

SEED = 2024
STEPS = 30
"""How often `compute` advances."""


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that the tables and figures show.

    Attributes
    ----------
    runs
        How often everything was drawn that the paper draws.
    table
        Massachusetts, on which Table 1 and Figure 2 are computed.
    table_1, figure_2, figure_3, figure_4, figure_5
        The numbers of each.
    variants
        Ways to read Table 1's swapping row.
    """

    runs: int
    table: CountTable
    table_1: pd.DataFrame
    variants: pd.DataFrame
    figure_2: pd.DataFrame
    figure_3: list[GroupMap]
    figure_4: pd.DataFrame
    figure_5: pd.DataFrame


def compute(runs: int = paper.RUNS, advance: Callable[..., None] = lambda steps=1: None) -> Results:
    """Compute everything; `advance` is told of `STEPS` steps in all."""
    rng = np.random.default_rng(SEED)
    table = paper.excerpt("nist-ma")
    first = paper.table_1(table, runs, rng)
    variants = paper.swapping_variants(table)
    advance(2)
    second = paper.figure_2(table)
    advance(2)
    third = paper.figure_3(runs, rng)
    advance()
    fifth = paper.figure_5(runs, rng)
    advance()
    # Last, because it takes the longest and tells how far it is.
    fourth = paper.figure_4(runs, rng, advance)
    return Results(runs, table, first, variants, second, third, fourth, fifth)
