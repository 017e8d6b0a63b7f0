"""What a map of gains says about claims on where sampling pays."""

from __future__ import annotations

from collections.abc import Sequence

from omit.papers.verdict import Standing
from omit.utility.gain_map import GainMap


def gaining(found: GainMap) -> tuple[list[float], list[float]]:
    """Return the epsilons at which every rate surely gains, and those at which none does."""
    every = [e for e, row in zip(found.epsilons, found.gains, strict=True) if (row > 0).all()]
    none = [e for e, row in zip(found.epsilons, found.gains, strict=True) if not (row > 0).any()]
    return every, none


def no_gains(found: GainMap, epsilons: Sequence[float]) -> Standing:
    """Judge that nothing gains at these epsilons: a cell that is not sure refutes nothing."""
    refuted = set(epsilons) - set(gaining(found)[1])
    if not refuted:
        return "holds"
    return "does not hold" if refuted == set(epsilons) else "holds in part"


def all_gain(found: GainMap, epsilons: Sequence[float]) -> Standing:
    """Judge that every rate gains at these epsilons: only a sure loss refutes it."""
    rows = [found.gains[found.epsilons.index(epsilon)] for epsilon in epsilons]
    lost = [bool((row < 0).any()) for row in rows]
    if all(lost):
        return "does not hold"
    return "holds in part" if any(lost) else "holds"


def exactly_up_to(found: GainMap, largest: float) -> Standing:
    """Judge that every rate gains up to an epsilon, and none beyond."""
    below = [epsilon for epsilon in found.epsilons if epsilon <= largest]
    beyond = [epsilon for epsilon in found.epsilons if epsilon > largest]
    parts = {all_gain(found, below), no_gains(found, beyond)}
    if parts == {"holds"}:
        return "holds"
    return "does not hold" if all_gain(found, below) == "does not hold" else "holds in part"


def show_gains(found: GainMap) -> str:
    """Return in words at which epsilons every rate, some or none surely gains."""
    every, none = gaining(found)
    some = [epsilon for epsilon in found.epsilons if epsilon not in (*every, *none)]
    parts = [
        f"at {what} for epsilon = {', '.join(f'{epsilon:g}' for epsilon in which)}"
        for what, which in (("every rate", every), ("some rates", some), ("none", none))
        if which
    ]
    unsure = int((found.gains == 0).sum())
    doubt = f" ({unsure} of {found.gains.size} cells are not sure)" if unsure else ""
    return f"Sure gains {'; '.join(parts)}{doubt}."


def show_rates(found: GainMap, epsilon: float) -> str:
    """Return the range of rates that surely gain at an epsilon, in words."""
    row = found.gains[found.epsilons.index(epsilon)]
    rates = [
        size / found.column.size for size, gain in zip(found.sizes, row, strict=True) if gain > 0
    ]
    return f"rates {100 * min(rates):.0f} % to {100 * max(rates):.0f} %" if rates else "no rate"
