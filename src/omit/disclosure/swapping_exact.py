"""The exact delta of swapping for few records, and what can be said for many.

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

The compiled loops at the end run over pairs of profiles, combinations of the attributes that are
not swapped. A profile stands for all records that share it, so no matrix of pairs of records is
ever held.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, IntArray, as_array
from omit.disclosure.protection import NO_DELTA, ExactDelta, TableWitness
from omit.disclosure.table import Attribute, Universe, chosen
from omit.guarantee import REPLACE, Guarantee, NoGuarantee, Relation

if TYPE_CHECKING:
    from omit.disclosure.swapping import Swapping


MOST_RECORDS = 5
_BUDGET = 20_000_000


@dataclass(frozen=True)
class SwapWitness:
    """Two data sets of which the release tells one from the other."""

    quasi_identifiers: tuple[str, ...]
    neighbour: tuple[str, ...]
    disagreements: tuple[tuple[int, ...], ...]
    seen: str

    def __str__(self) -> str:
        return (
            f"records with quasi-identifiers {', '.join(self.quasi_identifiers)} or "
            f"{', '.join(self.neighbour)}: {self.seen}"
        )


def swapping_guarantee(
    swapping: Swapping, universe: Universe, neighbours: Relation, epsilon: float
) -> Guarantee | NoGuarantee:
    """Return what swapping promises in a universe."""
    from omit.disclosure.swapping import lower_bound_delta

    quasi = chosen(universe.attributes, swapping.quasi_identifiers, "quasi-identifier")
    combinations = math.prod(len(universe.attributes[place]) for place in quasi)
    kept = [
        each
        for place, each in enumerate(universe.attributes)
        if place not in quasi and len(each) > 1
    ]
    only_table = universe.largest_count * universe.cells == universe.records
    if only_table or (combinations < 2 and not (neighbours == REPLACE and kept)):
        return Guarantee(0.0, 0.0, neighbours)  # there are no neighbours
    if neighbours == REPLACE and kept:
        names = ", ".join(each.name for each in kept)
        unchanged = "is released as it is" if len(kept) == 1 else "are released as they are"
        return NoGuarantee(f"{NO_DELTA}: {names} {unchanged}.", _moved_record(universe, kept[0]))
    if universe.records <= MOST_RECORDS and swapping.ties == "random":
        exact = exact_swapping_delta(swapping, universe, epsilon)
        if exact is not None and (exact.delta < 1 or universe.largest_count == universe.records):
            return exact.guarantee("some release is possible for one of two only.", neighbours)
    floor = lower_bound_delta(swapping, universe)
    if floor is None:
        return NoGuarantee(
            f"no δ below 1 is proved under {neighbours} where no count is above "
            f"{universe.largest_count:,}."
        )
    alike, seen = (
        universe.records - 1,
        (
            "they differ in quasi-identifiers only, and those of the first cell are released with "
            f"probability {floor} or more in the first case and never in the second."
        ),
    )
    witness = TableWitness((1, alike), (0, alike + 1), seen)
    if not witness.fits(universe):
        witness = TableWitness((1, alike, 0), (0, alike, 1), seen)
    if floor.delta == 1:
        return NoGuarantee(f"{NO_DELTA}: some release is possible for one of two only.", witness)
    return NoGuarantee(
        f"δ is at least {floor} for every ε under {neighbours}, and no smaller number than 1 is "
        "proved for so many records.",
        witness,
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


def exact_swapping_delta(
    swapping: Swapping, universe: Universe, epsilon: float
) -> ExactDelta | None:
    """Return the smallest delta if quasi-identifiers change, by enumeration; None if too many.

    A declared largest count is not used: below the number of records, it is an upper bound, and
    there is no witness, because the worst data sets may not be possible.
    """
    from omit.disclosure.swapping import Swapping

    _validate.instance("swapping", swapping, Swapping)
    _validate.instance("universe", universe, Universe)
    epsilon = _validate.epsilon(epsilon)
    if universe.records > MOST_RECORDS:
        return None
    quasi = chosen(universe.attributes, swapping.quasi_identifiers, "quasi-identifier")
    combinations = math.prod(len(universe.attributes[place]) for place in quasi)
    rest = [len(each) for place, each in enumerate(universe.attributes) if place not in quasi]
    m = universe.records
    if combinations < 2:
        return ExactDelta.of_delta(epsilon, 0.0)
    agreements = disagreement_patterns(m, rest)
    labels = list(_labels(m, combinations, swapping.donor == "another record"))
    answers = max(max(first + second) for first, second in labels) + 1
    if agreements is None or len(agreements) * len(labels) * answers**m > _BUDGET:
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
                witness = (
                    None
                    if universe.largest_count < m
                    else SwapWitness(
                        tuple("abcdef"[each] for each in first),
                        tuple("abcdef"[each] for each in second),
                        tuple(map(tuple, matrix.tolist())),
                        "disagreements are the numbers of other attributes that differ.",
                    )
                )
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
                tuple(each[records * row + column] for row in order for column in order)
                for order in orders
            )
            for each in added
        }
        if len(known) > most:
            return None
    return sorted(known)


def _partitions(records: int, most: int) -> Iterator[tuple[int, ...]]:
    """Give every way to sort records into at most so many unnamed groups."""

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
    swapping: Swapping, disagreements: IntArray, labels: tuple[int, ...] | None, width: int
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
            chances[row] = swapping._donor_chances(candidates)[0]
    return chances


def _row_laws(rate: float, donors: FloatArray, labels: tuple[int, ...], answers: int) -> FloatArray:
    """Return for every row the law of the label it is released with."""
    own = np.eye(answers)[list(labels)]
    swapped = donors @ own
    return as_array(rate * swapped + (1 - rate * donors.sum(axis=1, keepdims=True)) * own)


@compiled
def _mismatches(profiles: IntArray, first: int, second: int) -> int:
    different = 0
    for place in range(profiles.shape[1]):
        different += profiles[first, place] != profiles[second, place]
    return different


@compiled
def donors_in_order(
    profiles: IntArray, counts: IntArray, epsilon: float, rng: np.random.Generator
) -> IntArray:
    """Return the donor of every record, for records in the order of their profiles."""
    kinds, width = profiles.shape
    levels = width + 1
    starts = np.zeros(kinds + 1, dtype=np.int64)
    for kind in range(kinds):
        starts[kind + 1] = starts[kind] + counts[kind]
    donors = np.empty(starts[kinds], dtype=np.int64)
    level_of = np.empty(kinds, dtype=np.int64)
    members = np.empty(kinds, dtype=np.int64)
    reached = np.empty(kinds, dtype=np.int64)
    first_member = np.empty(levels + 1, dtype=np.int64)
    number = np.empty(levels, dtype=np.int64)
    filled = np.empty(levels, dtype=np.int64)
    for kind in range(kinds):
        number[:] = 0
        filled[:] = 0
        for other in range(kinds):
            level = _mismatches(profiles, kind, other)
            level_of[other] = level
            number[level] += counts[other]
            filled[level] += 1
        # The profiles of each level side by side, with how many records there are up to each.
        first_member[0] = 0
        for level in range(levels):
            first_member[level + 1] = first_member[level] + filled[level]
            filled[level] = 0
        for other in range(kinds):
            level = level_of[other]
            place = first_member[level] + filled[level]
            members[place] = other
            before = reached[place - 1] if filled[level] > 0 else 0
            reached[place] = before + counts[other]
            filled[level] += 1
        number[0] -= 1  # not oneself
        for own in range(counts[kind]):
            best, best_level = -math.inf, -1
            for level in range(levels):
                if number[level] > 0:
                    # The largest of that many exponentials, in one draw.
                    log_level = math.log(1.0 - rng.random()) / number[level]
                    largest = -math.log(-math.expm1(log_level)) if log_level < 0.0 else math.inf
                    noisy = largest - 0.5 * epsilon * level / width
                    if noisy > best:
                        best, best_level = noisy, level
            pick = rng.integers(0, number[best_level])
            if best_level == 0:  # all of one's own profile
                donors[starts[kind] + own] = starts[kind] + pick + (pick >= own)
                continue
            low, high = first_member[best_level], first_member[best_level + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if reached[middle] > pick:
                    high = middle
                else:
                    low = middle + 1
            before = reached[low - 1] if low > first_member[best_level] else 0
            donors[starts[kind] + own] = starts[members[low]] + pick - before
    return donors


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
