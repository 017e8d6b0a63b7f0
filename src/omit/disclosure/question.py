"""What is asked about the protections of a table, and the answer for one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from omit import _validate
from omit.disclosure import histograms, measures, suppression, swapping
from omit.disclosure.classification import Accuracy, released_accuracy
from omit.disclosure.measures import Disclosure, GroupMap, Measures
from omit.disclosure.protection import (
    CellErrors,
    NoTableGuarantee,
    Protection,
    PublishedBound,
    require_runs,
)
from omit.disclosure.sample_threshold import SampleAndThreshold
from omit.disclosure.swapping_exact import Donor
from omit.disclosure.table import CountTable, Universe, largest_groups, require_table, two_way
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import REPLACE, Guarantee, NoGuarantee

if TYPE_CHECKING:
    import pandas as pd

_MATCH_RUNS = 50
_FITS = 20
_MOST_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked about a table: one value for the assessment, its rows and its report.

    What the table does not have is refused, and so is a table that is too large.

    Parameters
    ----------
    table : CountTable
        The table.
    epsilon, delta : float
        The guarantee that is asked for; a protection with a larger delta is not recommended.
        Discrete Gaussian noise is calibrated to delta, and there is none if delta is 0.
    threshold, zeros_kept : int, bool
        For cell suppression: counts below are suppressed, and whether empty cells are shown as
        empty all the same.
    rate, quasi_identifiers, donor : float, sequence of str, str
        For swapping, as of `omit.disclosure.Swapping`; by default a quarter of the records, the
        first attribute and another record.
    sample_rate : float
        Of sample and threshold, whose threshold is the smallest that keeps the promise.
    identifying : sequence of str, optional
        The attributes by which a person may be recognised, for k-anonymity and uniqueness; by
        default all.
    group : str, optional
        The attribute whose categories are compared; by default the first quasi-identifier.
    margins : sequence of sequences of str, optional
        Published margins, for the intervals of suppressed cells; by default one per attribute.
    largest_count : int, optional
        The largest count a cell can have, declared; by default the number of records.
    paper_runs : int, optional
        Also estimate the errors from this many simulated releases; the paper used 200.
    predict : str, optional
        An attribute with two categories that is predicted from all others by a logistic regression
        which learns from releases and is scored on the data.
    two_way : sequence of two str, optional
        Attributes x and y whose two-way marginal, and regression of y on x, is compared for groups.
    within : mapping, optional
        The groups by name, such as ``{"white men": {"race": "White", "sex": "Male"}}``; by default
        the two largest of `group`.
    seed : int
        Of the simulated releases.

    Examples
    --------
    >>> from omit.disclosure import tabulate
    >>> Question(tabulate("adult", ["race", "sex"]), epsilon=1.0).identified_by
    ('race', 'sex')
    """

    table: CountTable
    epsilon: float
    delta: float = 1e-6
    threshold: int = 6
    zeros_kept: bool = True
    rate: float = 0.25
    sample_rate: float = 0.25
    quasi_identifiers: Sequence[str] | None = None
    donor: Donor = "another record"
    identifying: Sequence[str] | None = None
    group: str | None = None
    margins: Sequence[Sequence[str]] | None = None
    largest_count: int | None = None
    paper_runs: int | None = None
    predict: str | None = None
    two_way: Sequence[str] | None = None
    within: Mapping[str, dict[str, str]] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        cells = require_table(self.table).cells
        if cells > _MOST_CELLS:
            raise InvalidInput(
                f"The table has {cells:,} cells, and up to {_MOST_CELLS:,} can be assessed; use "
                "fewer attributes, or bins."
            )
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        object.__setattr__(self, "delta", _validate.delta(self.delta))
        object.__setattr__(self, "threshold", _validate.positive_integer("k", self.threshold))
        object.__setattr__(self, "zeros_kept", _validate.flag("zeros_kept", self.zeros_kept))
        sample_rate = _validate.positive_rate("sample_rate", self.sample_rate)
        object.__setattr__(self, "sample_rate", sample_rate)
        object.__setattr__(self, "seed", _validate.seed(self.seed))
        _validate.one_of("donor", self.donor, get_args(Donor))
        if self.paper_runs is not None:
            runs = require_runs(self.table, self.paper_runs)
            object.__setattr__(self, "paper_runs", runs)
        # Refuse what the table does not have.
        _ = self.identified_by, self.compared, self.published, self.universe, self.groups

    @cached_property
    def swapped(self) -> tuple[str, ...]:
        """The attributes that are swapped."""
        return self._named(self.quasi_identifiers, self.table.names[:1], "quasi-identifier")

    @cached_property
    def identified_by(self) -> tuple[str, ...]:
        """The attributes by which a person may be recognised."""
        return self._named(self.identifying, self.table.names, "identifying attribute")

    @cached_property
    def compared(self) -> str:
        """The attribute whose categories are compared."""
        group = self.swapped[0] if self.group is None else self.group
        return self.table.names_of([group], "group")[0]

    @cached_property
    def published(self) -> tuple[tuple[str, ...], ...]:
        """The published margins by their attributes; that of none is the total."""
        margins = [[name] for name in self.table.names] if self.margins is None else self.margins
        return tuple(
            self.table.names_of(margin, "margin's attribute")
            for margin in _validate.several("margins", margins)
        )

    @cached_property
    def universe(self) -> Universe:
        """What is public about the table."""
        return self.table.universe(self.largest_count)

    @cached_property
    def pair(self) -> tuple[str, str] | None:
        """The attributes of the two-way marginal, if one is asked for."""
        if self.two_way is None:
            return None
        names = self.table.names_of(self.two_way, "two-way attribute")
        if len(names) != 2:
            raise InvalidInput(
                f"Expected two attributes for a two-way marginal, got {', '.join(names) or 'none'}."
            )
        return names[0], names[1]

    @cached_property
    def groups(self) -> Mapping[str, dict[str, str]]:
        """The groups whose two-way marginals are compared, by name."""
        if self.within is not None:
            _validate.mapping("within", self.within, "from names to groups")
        if self.pair is None and self.within:
            raise InvalidInput("Expected two attributes for the two-way marginal of these groups.")
        if self.pair is None:
            return {}
        groups = self.within or largest_groups(self.table, self.compared)
        for where in groups.values():  # refuses a group that does not exist
            two_way(self.table, self.table.flat, *self.pair, where)
        return groups

    def _named(
        self, names: Sequence[str] | None, default: tuple[str, ...], what: str
    ) -> tuple[str, ...]:
        named = default if names is None else self.table.names_of(names, what)
        if not named:
            raise InvalidInput(f"Expected at least one {what}.")
        return named

    def protections(self) -> list[Protection]:
        """Return all protections at the same epsilon."""
        epsilon, below = self.epsilon, (self.threshold, self.zeros_kept)
        swap = self.swapped, self.rate, self.donor
        noisy: list[Protection] = [
            histograms.LaplaceHistogram(epsilon),
            histograms.GeometricHistogram(epsilon),
        ]
        sampled: list[Protection] = []
        if self.delta > 0:
            target = Guarantee(epsilon, self.delta, REPLACE)
            noisy.append(histograms.DiscreteGaussianHistogram.calibrated(target))
            with suppress(Unattainable):  # such as a sample of all records
                sampled.append(SampleAndThreshold.calibrated(target, rate=self.sample_rate))
        return [
            *noisy,
            suppression.CellSuppression(*below),
            suppression.RandomisedCellSuppression(*below, epsilon=epsilon),
            swapping.Swapping(*swap),
            swapping.RandomisedSwapping(*swap, epsilon=epsilon),
            *sampled,
        ]

    def disclosed(self, counts: Any) -> Disclosure:
        """Return what counts of the cells reveal about small groups."""
        return measures.disclosure_of(self.table, counts, self.threshold, self.identified_by)

    def row(self, protection: Protection, rng: np.random.Generator) -> Row:
        """Return the answer for one protection; all that is simulated is drawn from `rng`."""
        table = self.table
        errors = protection.errors(table)
        revealed, matches = [], []
        for block in protection.simulate_in_blocks(table, rng, _MATCH_RUNS):
            revealed += [self.disclosed(draw) for draw in block]
            matches += measures.unique_exact_matches(table, block).tolist()
        estimated = accuracy = None
        if self.paper_runs is not None:
            estimated = measures.simulated_measures(protection, table, rng, self.paper_runs)
        if self.predict is not None:
            accuracy = released_accuracy(protection, table, self.predict, rng, _FITS, errors)
        maps: list[GroupMap] = []
        if self.pair is not None:
            maps = measures.group_maps(protection, table, *self.pair, self.groups, errors=errors)
        return Row(
            protection=protection,
            guarantee=protection.guarantee(self.universe),
            errors=errors,
            measures=measures.measures_of(errors),
            bounds=protection.published_bounds(table),
            revealed=measures.mean_disclosure(revealed),
            unique_matches=float(np.mean(matches)),
            groups=measures.group_errors(protection, table, self.compared, errors),
            guarantee_if_less_changes=protection.guarantee_if_less_changes(self.universe),
            estimated=estimated,
            accuracy=accuracy,
            maps=tuple(maps),
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed, and which numbers are not exact."""
        simulated = [
            "k-anonymity, unique cells and unique matches are averages over "
            f"{_MATCH_RUNS} simulated releases"
        ]
        if self.paper_runs is not None:
            simulated.append(f"errors are estimated from {self.paper_runs:,} more")
        if self.predict is not None:
            simulated.append(f"a classifier is trained on {_FITS} more")
        shown = "With a sample, counts that are shown are all that is published, without margins."
        return (
            *self.table.notes,
            *([shown] if self.delta > 0 else []),
            f"Guarantees are under {REPLACE} for {self.universe.records:,} records; no count is "
            f"above {self.universe.largest_count:,}, which is declared and not observed.",
            f"{', '.join(simulated)}; all other numbers are exact.",
        )


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

    @property
    def name(self) -> str:
        """What the protection is called."""
        return str(self.protection)

    def keeps(self, epsilon: float, delta: float) -> bool:
        """Return whether the protection promises (epsilon, delta) or more."""
        stated = self.guarantee
        return isinstance(stated, Guarantee) and stated.epsilon <= epsilon and stated.delta <= delta

    @property
    def epsilon(self) -> float:
        """What is promised; nan for any."""
        return self.guarantee.epsilon if isinstance(self.guarantee, Guarantee) else math.nan

    @property
    def delta(self) -> float | None:
        """What is promised; nan if it is not known, None where only a least one is known."""
        stated = self.guarantee
        delta = stated.delta if isinstance(stated, Guarantee | NoTableGuarantee) else None
        if delta is not None:
            return delta
        return math.nan if self.delta_at_least is None else None

    @property
    def delta_at_least(self) -> float | None:
        """Without a guarantee, a delta below 1 that is needed at every epsilon, if one is known."""
        stated = self.guarantee
        least = stated.least_delta if isinstance(stated, NoTableGuarantee) else None
        return None if least is None else least.delta

    def reasons(self) -> list[str]:
        """Return why there is no guarantee, and what there is under a narrower relation."""
        _, stated, _, narrower = self.guarantee_in_words()
        reasons = [f"{self.name}: {stated}"] if isinstance(self.guarantee, NoGuarantee) else []
        if narrower is not None:
            reasons.append(f"  if only quasi-identifiers change: {narrower}")
        return reasons

    def guarantee_in_words(self) -> tuple[str, str, str | None, str | None]:
        """Return the protection, its guarantee or why there is none, the witness, and the rest."""
        narrower = self.guarantee_if_less_changes
        return (
            self.name,
            _in_words(self.guarantee),
            self._promise()["witness"],
            None if narrower is None else _in_words(narrower),
        )

    def _promise(self) -> dict[str, Any]:
        """Return the guarantee as plain values, or why there is none."""
        stated = self.guarantee
        if isinstance(stated, Guarantee):
            pair = {"epsilon": stated.epsilon, "delta": stated.delta}
            return {**pair, "reason": None, "witness": None}
        witness = None if stated.witness is None else str(stated.witness)
        return {"epsilon": None, "delta": None, "reason": stated.reason, "witness": witness}

    def to_record(self) -> dict[str, Any]:
        """Return the row as plain values."""
        narrower = self.guarantee_if_less_changes
        return {
            "protection": self.name,
            **self._promise(),
            "delta_at_least": self.delta_at_least,
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
            "two_way": [marginal.to_record() for marginal in self.maps],
        }


def _in_words(stated: Guarantee | NoGuarantee) -> str:
    """Return a guarantee, or why there is none, as a sentence."""
    return stated.reason if isinstance(stated, NoGuarantee) else str(stated)
