"""Independent suppression of a pair of neighbouring databases: the exact loss.

`S` deletes each record independently; the probabilities may depend on the whole database. For a
pair `D`, `D' = D + y` let `o` and `o'` be a record's deletion probabilities under `D` and `D'`, and
`o_y` that of the added record. Then the largest ratio of probabilities that any pure epsilon-DP
mechanism can show is a product over the records, one Moebius function each (documentation, "The
mixture bound"). It is exact if the mechanism can tell equal records apart, and an upper bound if
it sees a multiset.

A loss for one pair of databases is not a guarantee: that is the largest loss over all pairs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array, log_mix
from omit.errors import InvalidInput
from omit.omissions.subsets import PairLoss, SubsetPair

# Every further record doubles the number of subsets.
_MOST_SUBSET_RECORDS = 16


@dataclass(frozen=True)
class IndependentPair:
    """The deletion probabilities of a database and of its neighbour with one record more.

    Parameters
    ----------
    before : sequence of float
        For each record of `D`, the probability that it is deleted from `D`.
    after : sequence of float
        For the same records in the same order, the probability that it is deleted from `D + y`.
    added : float
        The probability that `y` is deleted from `D + y`.

    Examples
    --------
    >>> pair = IndependentPair(before=[0.1] * 5, after=[0.1 + 0.1 / 6] * 5, added=0.1 + 0.5 / 6)
    >>> round(pair.loss(1.0).epsilon, 4)
    0.9976
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    added: float

    def __post_init__(self) -> None:
        before = _validate.probabilities("before", self.before)
        after = _validate.probabilities("after", self.after)
        if len(before) != len(after):
            raise InvalidInput(
                f"Expected as many probabilities before as after, got {len(before)} and "
                f"{len(after)}."
            )
        object.__setattr__(self, "before", before)
        object.__setattr__(self, "after", after)
        object.__setattr__(self, "added", _validate.probability("added", self.added))

    def loss(self, epsilon: float, delta: float = 0.0) -> PairLoss:
        """Return the exact loss of this pair, over all (epsilon, delta)-DP mechanisms.

        For delta = 0 it is attained; with delta the shift rule gives an upper bound.
        """
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        o, o_after = as_array(self.before), as_array(self.after)
        grows = o_after >= o
        presence = _log_ratio(
            epsilon, np.where(grows, o_after, 1 - o_after), np.where(grows, o, 1 - o)
        )
        absence = _log_ratio(
            epsilon, np.where(grows, 1 - o, o), np.where(grows, 1 - o_after, o_after)
        )
        kept_presence = float(log_mix(epsilon, 1 - self.added))
        kept_absence = float(_log_ratio(epsilon, as_array(1.0), as_array(self.added)))
        return PairLoss.by_shift_rule(
            kept_presence + float(presence.sum()),
            kept_absence + float(absence.sum()),
            epsilon,
            delta,
        )

    def to_subsets(self, labels: Sequence[Hashable] | None = None) -> SubsetPair:
        """Return the distributions over subsets, with the records named by `labels`.

        Parameters
        ----------
        labels : sequence, optional
            One for each record of `D`, then one for the added record. Equal labels are equal
            records. By default all are different.

        Raises
        ------
        InvalidInput
            If the number of labels is wrong.
        """
        size = len(self.before)
        if size > _MOST_SUBSET_RECORDS:
            raise InvalidInput(
                f"Expected at most {_MOST_SUBSET_RECORDS} records to list all subsets, got {size}."
            )
        labels = range(size + 1) if labels is None else labels
        if len(labels) != size + 1:
            raise InvalidInput(f"Expected {size + 1} labels, got {len(labels)}.")
        return SubsetPair.from_distributions(
            database=labels[:size],
            record=labels[size],
            without=_subset_probabilities(labels[:size], self.before),
            with_record=_subset_probabilities(labels, (*self.after, self.added)),
        )


def _log_ratio(epsilon: float, upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Return `ln((1 + (E - 1) upper) / (1 + (E - 1) lower))` for `upper >= lower`."""
    if epsilon > 30:
        return log_mix(epsilon, upper) - log_mix(epsilon, lower)
    t, s = np.exp(-epsilon), -np.expm1(-epsilon)
    return as_array(np.log1p(s * (upper - lower) / (t + s * lower)))


def _subset_probabilities(
    labels: Sequence[Hashable], deletion: Sequence[float]
) -> dict[tuple[Hashable, ...], float]:
    """Return the distribution of what is left, by going through the records one by one."""
    distribution: dict[tuple[Hashable, ...], float] = {(): 1.0}
    for label, probability in zip(labels, deletion, strict=True):
        longer: dict[tuple[Hashable, ...], float] = {}
        for kept, weight in distribution.items():
            for outcome, chance in ((kept, probability), ((*kept, label), 1 - probability)):
                longer[outcome] = longer.get(outcome, 0.0) + weight * chance
        distribution = longer
    return distribution
