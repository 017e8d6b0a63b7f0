"""What swapping promises: the exact delta for few records, and what can be said for many.

The release is the whole data set, row by row. Under "change-quasi-identifiers" the discrepancies
are the same for both databases, so every row is swapped independently with a known law, and delta
is the hockey-stick divergence of two products. It is enumerated over all answers and data sets:

* discrepancies depend only on which rows agree in which attribute, so all patterns of agreement of
  the attributes that are not swapped are enumerated, up to the order of the rows;
* record 1 has the quasi-identifiers a, its neighbour b. A value that is neither has the same
  probabilities under both, so all such values count as one.

Where donors must have other quasi-identifiers the second point fails, and all patterns of equal
quasi-identifiers are enumerated. All data sets are enumerated, also those with more records in a
cell than are declared possible: if not all records fit into one cell, delta is an upper bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, IntArray, as_array
from omit.disclosure.protection import ExactDelta, LeastDelta, NoTableGuarantee, TableWitness
from omit.disclosure.table import Attribute, Universe, chosen
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, NoGuarantee, Relation

Donor: TypeAlias = Literal["another record", "other quasi-identifiers"]
Ties: TypeAlias = Literal["random", "first"]


@dataclass(frozen=True)
class SwapRule:
    """What is public about swapping, which is all that its guarantee depends on.

    Parameters
    ----------
    quasi_identifiers : tuple of str
        The attributes that are swapped.
    rate : float
        The probability that a record is swapped; the paper's 1 - γ.
    donor : {"another record", "other quasi-identifiers"}
        Who may be a donor; the paper says both.
    ties : {"random", "first"}
        Which of several nearest records is the donor.
    """

    quasi_identifiers: tuple[str, ...]
    rate: float = 0.25
    donor: Donor = "another record"
    ties: Ties = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _validate.probability("rate", self.rate))
        names = _validate.texts("quasi-identifiers", self.quasi_identifiers)
        if not names:
            raise InvalidInput("Expected quasi-identifiers as a sequence of attribute names.")
        object.__setattr__(self, "quasi_identifiers", names)
        _validate.one_of("donor", self.donor, get_args(Donor))
        _validate.one_of("ties", self.ties, get_args(Ties))

    def donor_chances(self, candidates: FloatArray) -> FloatArray:
        """Return the law of the donor's quasi-identifiers from candidates by level."""
        numbers = candidates.sum(axis=2)
        nearest = (numbers > 0).argmax(axis=1)
        chosen_level = candidates[np.arange(len(candidates)), nearest]
        return as_array(chosen_level / chosen_level.sum(axis=1, keepdims=True))

    def combinations(self, universe: Universe) -> int:
        """Return how many combinations of quasi-identifiers there are."""
        quasi = chosen(universe.attributes, self.quasi_identifiers, "quasi-identifier")
        return math.prod(len(universe.attributes[position]) for position in quasi)

    def kept_attributes(self, universe: Universe) -> list[Attribute]:
        """Return the attributes that are released as they are and can differ."""
        quasi = chosen(universe.attributes, self.quasi_identifiers, "quasi-identifier")
        return [
            attribute
            for position, attribute in enumerate(universe.attributes)
            if position not in quasi and len(attribute) > 1
        ]


@dataclass(frozen=True)
class SwapWitness:
    """Two data sets of which the release tells one from the other."""

    quasi_identifiers: tuple[str, ...]
    neighbour: tuple[str, ...]
    disagreements: tuple[tuple[int, ...], ...]
    seen: str

    @classmethod
    def of(
        cls, labels: tuple[int, ...], neighbour: tuple[int, ...], disagreements: IntArray
    ) -> SwapWitness:
        """Return the witness with letters for quasi-identifiers."""
        return cls(
            tuple("abcdef"[label] for label in labels),
            tuple("abcdef"[label] for label in neighbour),
            tuple(map(tuple, disagreements.tolist())),
            "disagreements are the numbers of other attributes that differ.",
        )

    def __str__(self) -> str:
        return (
            f"records with quasi-identifiers {', '.join(self.quasi_identifiers)} or "
            f"{', '.join(self.neighbour)}: {self.seen}"
        )


MOST_RECORDS = 5
_MOST_STEPS = 20_000_000


def swapping_guarantee(
    swapping: SwapRule, universe: Universe, neighbours: Relation, epsilon: float
) -> Guarantee | NoGuarantee:
    """Return what swapping promises in a universe."""
    combinations = swapping.combinations(universe)
    kept = swapping.kept_attributes(universe)
    only_table = universe.largest_count * universe.cells == universe.records
    if only_table or (combinations < 2 and not (neighbours == REPLACE and kept)):
        return Guarantee(0.0, 0.0, neighbours)  # there are no neighbours
    if neighbours == REPLACE and kept:
        names = ", ".join(attribute.name for attribute in kept)
        unchanged = "is released as it is" if len(kept) == 1 else "are released as they are"
        return NoTableGuarantee.whatever_epsilon(
            f"{names} {unchanged}.", _moved_record(universe, kept[0])
        )
    if universe.records <= MOST_RECORDS and swapping.ties == "random":
        exact = exact_swapping_delta(swapping, universe, epsilon)
        if exact is not None and (exact.delta < 1 or universe.largest_count == universe.records):
            return exact.guarantee("some release is possible for one of two only.", neighbours)
    floor = lower_bound_delta(swapping, universe)
    if floor is None:
        return NoTableGuarantee(
            f"no δ below 1 is proved under {neighbours} where no count is above "
            f"{universe.largest_count:,}."
        )
    alike = universe.records - 1
    seen = (
        "they differ in quasi-identifiers only, and those of the first cell are released with "
        f"probability {floor} or more in the first case and never in the second."
    )
    witness = TableWitness((1, alike), (0, alike + 1), seen)
    if not witness.fits(universe):
        witness = TableWitness((1, alike, 0), (0, alike, 1), seen)
    if floor.delta == 1:
        return NoTableGuarantee.whatever_epsilon(
            "some release is possible for one of two only.", witness
        )
    return NoTableGuarantee(
        f"δ is at least {floor} for every ε under {neighbours}, and no smaller number than 1 is "
        "proved for this many records.",
        witness,
        least_delta=floor,
    )


def _moved_record(universe: Universe, kept: Attribute) -> TableWitness:
    """Return two tables in which one record has another value of an attribute that is not swapped.

    The two cells hold as few records as the others leave for them.
    """
    largest = universe.largest_count
    total = max(1, universe.records - (universe.cells - 2) * largest)
    first, second = min(total, largest), max(0, total - largest)
    seen = (
        f"they differ in {kept.name} only, so that one record has {kept.name} = "
        f"{kept.categories[0]} or {kept.name} = {kept.categories[1]}, as the release shows."
    )
    return TableWitness((first, second), (first - 1, second + 1), seen)


def lower_bound_delta(swapping: SwapRule, universe: Universe) -> LeastDelta | None:
    """Return a delta that swapping needs at every epsilon if only quasi-identifiers change.

    All records are alike but one, whose quasi-identifiers nobody else has. With other
    quasi-identifiers, that value cannot be in the release. It is in the release unless that record
    is swapped and nobody takes it as a donor. Donors of equal discrepancy are equally probable,
    unless the first is always taken (let it be that record) or donors must have other
    quasi-identifiers (only that record has).

    None where the two data sets are not possible: a cell must be able to hold all records, or all
    but one if there is a third combination of quasi-identifiers for the other to have.

    Examples
    --------
    >>> from omit.disclosure import Swapping
    >>> sex = Attribute("sex", ("F", "M"))
    >>> print(lower_bound_delta(Swapping(("sex",), rate=0.25), Universe((sex,), 7634)))
    0.8053
    """
    _validate.instance("swapping", swapping, SwapRule)
    _validate.instance("universe", universe, Universe)
    combinations = swapping.combinations(universe)
    m, rate = universe.records, swapping.rate
    alike = m - 1 if combinations > 2 else m
    if combinations < 2 or universe.largest_count < alike:
        return None
    if m < 2 or rate == 0:
        return LeastDelta(-math.inf)
    sure = swapping.donor == "other quasi-identifiers" or swapping.ties == "first"
    taken = rate if sure else rate / (m - 1)
    if taken == 1:
        return LeastDelta(-math.inf)
    log_shortfall = math.log(rate) + (m - 1) * math.log1p(-taken)
    # Larger by more than rounding can have taken: delta must not come out too large.
    return LeastDelta(log_shortfall + 1e-14 * (1 + abs(log_shortfall)))


def exact_swapping_delta(
    swapping: SwapRule, universe: Universe, epsilon: float
) -> ExactDelta | None:
    """Return the smallest delta if quasi-identifiers change, by enumeration; None if too many.

    A declared largest count is not used: below the number of records, it is an upper bound, and
    there is no witness, because the worst data sets may not be possible.
    """
    _validate.instance("swapping", swapping, SwapRule)
    _validate.instance("universe", universe, Universe)
    epsilon = _validate.epsilon(epsilon)
    if universe.records > MOST_RECORDS:
        return None
    combinations = swapping.combinations(universe)
    names = swapping.quasi_identifiers
    rest = [len(attribute) for attribute in universe.attributes if attribute.name not in names]
    m = universe.records
    if combinations < 2:
        return ExactDelta.of_delta(epsilon, 0.0)
    agreements = disagreement_patterns(m, rest)
    labels = list(_labels(m, combinations, swapping.donor == "another record"))
    answers = max(max(first + second) for first, second in labels) + 1
    if agreements is None or len(agreements) * len(labels) * answers**m > _MOST_STEPS:
        return None
    worst = ExactDelta.of_delta(epsilon, 0.0)
    # Delta falls in epsilon, so a smaller one that has an exponential is valid.
    factor = math.exp(min(epsilon, 700.0))
    for pattern in agreements:
        matrix = np.array(pattern).reshape(m, m)
        donors = neighbour_donors = _donors(swapping, matrix, None, len(rest))
        for first, second in labels:
            if swapping.donor == "other quasi-identifiers":
                donors = _donors(swapping, matrix, first, len(rest))
                neighbour_donors = _donors(swapping, matrix, second, len(rest))
            before = _row_laws(swapping.rate, donors, first, answers)
            after = _row_laws(swapping.rate, neighbour_donors, second, answers)
            delta = float(hockey_stick(before, after, factor))
            if delta > worst.delta:
                witness = None
                if universe.largest_count == m:
                    witness = SwapWitness.of(first, second, matrix)
                worst = ExactDelta.of_delta(epsilon, min(1.0, delta * (1 + 1e-12)), witness)
    if worst.delta > 1 - 1e-12:
        return ExactDelta.of_shortfall(epsilon, -math.inf, worst.witness)
    return worst


def disagreement_patterns(
    records: int, sizes: list[int], most: int = 200_000
) -> list[tuple[int, ...]] | None:
    """Return all tables of how many attributes two records disagree in, up to their order.

    Record 1 stays the first; None if there are more than `most`.

    Examples
    --------
    >>> disagreement_patterns(2, [2, 2])
    [(0, 0, 0, 0), (0, 1, 1, 0), (0, 2, 2, 0)]
    """
    orders = [(0, *order) for order in itertools.permutations(range(1, records))]
    known = {(0,) * records**2}
    for size in sizes:
        kinds = {
            tuple(int(a != b) for a in pattern for b in pattern)
            for pattern in _partitions(records, size)
        }
        if len(known) * len(kinds) > 10 * most:
            return None
        added = {
            tuple(a + b for a, b in zip(one, other, strict=True))
            for one in known
            for other in kinds
        }
        known = {
            min(
                tuple(pattern[records * row + column] for row in order for column in order)
                for order in orders
            )
            for pattern in added
        }
        if len(known) > most:
            return None
    return sorted(known)


def _partitions(records: int, most: int) -> Iterator[tuple[int, ...]]:
    """Give every way to sort records into at most that many unnamed groups."""

    def extend(pattern: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(pattern) == records:
            yield pattern
            return
        for group in range(min(most, max(pattern) + 2)):
            yield from extend((*pattern, group))

    yield from extend((0,))


def _labels(
    records: int, combinations: int, merge: bool
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Give the quasi-identifiers of both databases as labels: 0 is a, 1 is b."""
    if merge:
        for others in itertools.product(range(min(3, combinations)), repeat=records - 1):
            yield (0, *others), (1, *others)
        return
    for pattern in _partitions(records + 1, combinations):
        # Position 0 is a; the last record stands for b, which must be another value.
        if pattern[-1] != 0:
            yield pattern[:-1], (pattern[-1], *pattern[1:-1])


def _donors(
    swapping: SwapRule, disagreements: IntArray, labels: tuple[int, ...] | None, width: int
) -> FloatArray:
    """Return for every row the chances of all records to be its donor; none has itself.

    With labels, donors must have another label; a row without donors has only zeros.
    """
    records = len(disagreements)
    chances = np.zeros((records, records))
    for row in range(records):
        candidates = np.zeros((1, width + 1, records))
        for other in range(records):
            if other != row and (labels is None or labels[other] != labels[row]):
                candidates[0, disagreements[row, other], other] = 1
        if candidates.any():
            chances[row] = swapping.donor_chances(candidates)[0]
    return chances


def _row_laws(rate: float, donors: FloatArray, labels: tuple[int, ...], answers: int) -> FloatArray:
    """Return for every row the law of the label it is released with."""
    own = np.eye(answers)[list(labels)]
    swapped = donors @ own
    return as_array(rate * swapped + (1 - rate * donors.sum(axis=1, keepdims=True)) * own)


@compiled
def hockey_stick(first: FloatArray, second: FloatArray, factor: float) -> float:
    """Return the sum of max(0, P - factor Q) over all answers of independent rows.

    `first[row, answer]` and `second[row, answer]` are the rows' laws under two databases.
    """
    rows, answers = first.shape
    total: float = 0.0
    digits = np.zeros(rows, dtype=np.int64)
    p = np.ones(rows + 1)
    q = np.ones(rows + 1)
    depth = 0
    while depth >= 0:
        if depth == rows:
            total += max(0.0, float(p[rows] - factor * q[rows]))
            depth -= 1
            continue
        if digits[depth] == answers:
            digits[depth] = 0
            depth -= 1
            continue
        answer = digits[depth]
        digits[depth] += 1
        p[depth + 1] = p[depth] * first[depth, answer]
        q[depth + 1] = q[depth] * second[depth, answer]
        if p[depth + 1] > 0.0:
            depth += 1
            if depth < rows:
                digits[depth] = 0
    return total
