"""One protection of a table: what it guarantees, what it costs and what it still reveals."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from omit.disclosure.measures import Disclosure, Measures
from omit.disclosure.protection import (
    CellErrors,
    LeastDelta,
    NoTableGuarantee,
    Protection,
    PublishedBound,
)
from omit.disclosure.tasks import Accuracy, GroupMap
from omit.guarantee import Guarantee, NoGuarantee

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Row:
    """One protection of the table: its guarantee, its errors and what it still reveals.

    Parameters
    ----------
    protection : Protection
        How the table is protected.
    guarantee : Guarantee or NoGuarantee
        Under replace.
    errors, measures : CellErrors, Measures
        The exact errors of all cells, and of the whole table.
    bounds : tuple of PublishedBound
        What theorems say about these errors.
    revealed : Disclosure
        What releases reveal about small groups, on average.
    unique_matches : float
        The share of records, in %, that are unique and shown as unique, on average.
    groups : DataFrame
        The errors of every category of the attribute that is compared.
    guarantee_if_less_changes : Guarantee or NoGuarantee, optional
        Under a narrower relation, where the protection has one.
    estimated : Measures, optional
        The same measures from simulated releases.
    accuracy : Accuracy, optional
        How well a classifier predicts that learns from releases.
    maps : tuple of GroupMap
        What is expected of a two-way marginal.
    """

    protection: Protection
    guarantee: Guarantee | NoGuarantee
    errors: CellErrors
    measures: Measures
    bounds: tuple[PublishedBound, ...]
    revealed: Disclosure
    unique_matches: float
    groups: pd.DataFrame
    guarantee_if_less_changes: Guarantee | NoGuarantee | None = None
    estimated: Measures | None = None
    accuracy: Accuracy | None = None
    maps: tuple[GroupMap, ...] = ()

    def keeps(self, epsilon: float, delta: float) -> bool:
        """Return whether the protection promises (epsilon, delta) or more."""
        stated = self.guarantee
        return isinstance(stated, Guarantee) and stated.epsilon <= epsilon and stated.delta <= delta

    @property
    def least_delta(self) -> LeastDelta | None:
        """Without a guarantee, a delta below 1 that is needed at every epsilon, if one is known."""
        stated = self.guarantee
        return stated.least_delta if isinstance(stated, NoTableGuarantee) else None

    def epsilon_and_delta(self) -> tuple[float, float | None]:
        """Return what is promised; epsilon is nan for any, delta nan if it is not known.

        Delta is None where only a least one is known.
        """
        stated = self.guarantee
        if isinstance(stated, Guarantee):
            return stated.epsilon, stated.delta
        if isinstance(stated, NoTableGuarantee) and stated.delta is not None:
            return math.nan, stated.delta
        return math.nan, None if self.least_delta is not None else math.nan

    def reasons(self) -> list[str]:
        """Return why there is no guarantee, and what there is under a narrower relation."""
        said = []
        if isinstance(self.guarantee, NoGuarantee):
            said.append(f"{self.protection}: {self.guarantee.reason}")
        if self.guarantee_if_less_changes is not None:
            narrower = _in_words(self.guarantee_if_less_changes)
            said.append(f"  if only quasi-identifiers change: {narrower}")
        return said

    def guarantee_in_words(self) -> tuple[str, str, str | None, str | None]:
        """Return the protection, its guarantee or why there is none, the witness, and the rest."""
        narrower = self.guarantee_if_less_changes
        return (
            str(self.protection),
            _in_words(self.guarantee),
            _promise(self.guarantee)["witness"],
            None if narrower is None else _in_words(narrower),
        )

    def to_record(self) -> dict[str, Any]:
        """Return the row as plain values."""
        narrower = self.guarantee_if_less_changes
        return {
            "protection": str(self.protection),
            **_promise(self.guarantee),
            "delta_at_least": None if self.least_delta is None else self.least_delta.delta,
            "if_only_quasi_identifiers_change": None if narrower is None else str(narrower),
            "absolute_error": self.measures.absolute,
            "bias": self.measures.bias,
            "fairness": self.measures.fairness,
            "largest_variance": self.measures.variance,
            "estimated": None if self.estimated is None else asdict(self.estimated),
            "published_bounds": {str(bound): bound.value for bound in self.bounds},
            "k_anonymity": self.revealed.k_anonymity,
            "unique_cells": self.revealed.unique,
            "small_cells": self.revealed.small,
            "unique_exact_matches_percent": self.unique_matches,
            "groups": self.groups.to_dict(orient="records"),
            "accuracy_percent": None if self.accuracy is None else asdict(self.accuracy),
            "two_way": [
                {
                    "group": marginal.group,
                    "error_per_100_records": marginal.error,
                    "line_in_data": _line(marginal.true_line),
                    "line_in_release": _line(marginal.line),
                    "change": marginal.change.tolist(),
                }
                for marginal in self.maps
            ],
        }


def _in_words(stated: Guarantee | NoGuarantee) -> str:
    """Return a guarantee, or why there is none, as a sentence."""
    return stated.reason if isinstance(stated, NoGuarantee) else str(stated)


def _promise(stated: Guarantee | NoGuarantee) -> dict[str, Any]:
    """Return a guarantee as plain values, or why there is none."""
    if isinstance(stated, Guarantee):
        return {"epsilon": stated.epsilon, "delta": stated.delta, "reason": None, "witness": None}
    witness = None if stated.witness is None else str(stated.witness)
    return {"epsilon": None, "delta": None, "reason": stated.reason, "witness": witness}


def _line(ends: tuple[float, float]) -> dict[str, float]:
    """Return a line as plain values; that of a release without records is nan."""
    return dict(zip(("intercept", "slope"), ends, strict=True))
