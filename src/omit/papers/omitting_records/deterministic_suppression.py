"""Theorem 5.1, what surrounds it, and Definition 2.1, checked at small sizes.

Linear programs over all mechanisms on small databases, and enumeration; nothing here needs a cell
of the study.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from omit.omissions.pairs import SubsetPair
from omit.papers.claims import (
    Finding,
    Judge,
    agreement,
    claim,
    claims_in,
    under_every_reading,
)

# What a linear program in floating point can be trusted with.
_PROGRAM = 1e-6
_ROUNDING = 1e-9
_CASES = 60


def in_a_row(values: Iterable[object]) -> str:
    """Return values for a sentence."""
    return ", ".join(map(str, values))


def _geometric(epsilon: float, terms: int) -> float:
    return math.fsum(math.exp(epsilon * power) for power in range(terms))


@claim(
    "Definition 2.1",
    (),
    "A mechanism is (ε, δ)-DP if no set of answers is more probable on a database than e^ε times "
    "on a neighbour, plus δ.",
)
def _definition_2_1(_: object) -> Finding:
    """Hold the sum of all excesses, which the package computes, against all sets of answers."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for _case in range(_CASES):
        first, second = rng.dirichlet(np.full(6, 0.5), 2)
        growth = math.exp(rng.uniform(0, 2))
        over_sets = max(
            float(first[list(answers)].sum() - growth * second[list(answers)].sum())
            for size in range(7)
            for answers in itertools.combinations(range(6), size)
        )
        excesses = float(np.maximum(first - growth * second, 0).sum())
        worst = max(worst, abs(over_sets - excesses))
    return Finding(
        agreement(worst < _ROUNDING),
        f"Over all 64 sets of six answers the smallest δ is the sum of the excesses of single "
        f"answers, by which the package computes it, in {_CASES} random pairs of laws "
        f"(differences at most {worst:.0e}).",
    )


@claim(
    "Theorem 5.1",
    (),
    "After a deterministic suppression of sensitivity k, an (ε, δ)-DP mechanism is "
    "(kε, δ Σ e^(iε))-DP, i < k.",
)
def _theorem_5_1(_: object) -> Finding:
    """Go through all pairs of what may be left of two records, and of three."""
    pairs = [
        SubsetPair.from_distributions("ab", "c", {left: 1.0}, {left_of_larger: 1.0})
        for left in parts_of("ab")
        for left_of_larger in parts_of("abc")
    ]
    exceeded, attained = 0, 0
    for pair in pairs:
        (left,), (other,) = pair.without, pair.with_record
        steps = len(set(left) ^ set(other))
        loss = pair.exact(0.8).epsilon
        delta = pair.exact_delta(0.8, 0.01, steps * 0.8)
        stated = 0.01 * _geometric(0.8, steps)
        exceeded += loss > steps * 0.8 + _PROGRAM or delta > stated + _PROGRAM
        attained += abs(loss - steps * 0.8) < _PROGRAM and abs(delta - stated) < _PROGRAM
    return Finding(
        agreement(exceeded == 0),
        f"By linear programs over all mechanisms, with ε = 0.8 and δ = 0.01: of all {len(pairs)} "
        f"pairs of what is left of a database of two records and of its neighbour, {exceeded} "
        f"exceed the bound, and {attained} attain it.",
    )


def parts_of(records: str) -> Iterator[str]:
    """Yield every part of a database whose records are letters."""
    for size in range(len(records) + 1):
        for part in itertools.combinations(records, size):
            yield "".join(part)


@claim(
    "Example 5.2",
    (),
    "A rule that narrows the range of values lowers the sensitivity of a sum, and so ε at the same "
    "Laplace noise, by the same factor.",
)
def _example_5_2(_: object) -> Finding:
    values, kept, scale = range(5), range(3), 2.0
    databases = [
        database
        for size in range(4)
        for database in itertools.combinations_with_replacement(values, size)
    ]
    before, after = (
        max(
            abs(
                sum(x for x in (*database, y) if x in known)
                - sum(x for x in database if x in known)
            )
            for database in databases
            for y in values
        )
        for known in (values, kept)
    )
    return Finding(
        agreement(before == max(values), after == max(kept)),
        f"Over all databases of up to three values from 0 to 4 the sum moves by {before}; if only "
        f"values up to 2 are kept, by {after}: with noise of scale {scale:g} ε falls from "
        f"{before / scale:g} to {after / scale:g}.",
    )


@claim(
    "Section 5.1",
    (),
    "Every suppression that treats a record alike in all databases has sensitivity 1.",
)
def _independent_rules_are_stable(_: object) -> Finding:
    universe = (0, 1, 2)
    databases = [
        database
        for size in range(4)
        for database in itertools.combinations_with_replacement(universe, size)
    ]
    largest = 0
    for kept in itertools.chain.from_iterable(
        itertools.combinations(universe, size) for size in range(4)
    ):
        for database, y in itertools.product(databases, universe):
            left, other = (
                [x for x in records if x in kept] for records in (database, (*database, y))
            )
            largest = max(largest, len(other) - len(left))
    return Finding(
        agreement(largest == 1),
        "With all 8 rules on a universe of three records, and all databases of up to three: what "
        f"is left differs by at most {largest} record.",
    )


@claim(
    "Proposition B.1, A.1 in the short version",
    (),
    "Theorem 5.1 cannot be improved whenever δ Σ e^(iε) < 1.",
)
def _proposition_b_1(_: object) -> Finding:
    """Solve for the largest δ' of a mechanism on databases k steps apart."""
    attained, missed = 0, []
    for k, epsilon, delta in itertools.product((1, 2, 3), (0.5, 1.0), (1e-3, 0.02, 0.25)):
        stated = delta * _geometric(epsilon, k)
        if stated >= 1:
            continue
        records = "abc"[:k]
        pair = SubsetPair.from_distributions(records[:-1], records[-1], {"": 1.0}, {records: 1.0})
        found = pair.exact_delta(epsilon, delta, k * epsilon)
        if abs(found - stated) < _PROGRAM:
            attained += 1
        else:
            missed.append((k, epsilon, delta, found, stated))
    k, epsilon, delta, found, stated = missed[0] if missed else (0, 0.0, 0.0, 0.0, 0.0)
    example = (
        f" At k = {k}, ε = {epsilon:g} and δ = {delta:g} no mechanism has a δ' above {found:.4f}, "
        f"where the theorem says {stated:.4f}. What is right is the condition δ (Σ_k + Σ_(k−1)) < "
        "1."
        if missed
        else ""
    )
    return Finding(
        agreement(attained > 0, not missed),
        f"By linear programs, of {attained + len(missed)} cases (k, ε, δ) with δ Σ_k < 1 the bound "
        f"is attained in {attained}.{example}",
    )


@claim(
    "Proposition B.2, A.2 in the short version",
    (),
    "Removing all records whose mean distance to the others exceeds a threshold has infinite "
    "sensitivity.",
)
def _proposition_b_2(_: object) -> Finding:
    """Count what is left of two points at distance 1, as they are and without one record."""

    def kept(first: int, second: int) -> int:
        size = first + second
        return (first if Fraction(second, size) <= Fraction(1, 4) else 0) + (
            second if Fraction(first, size) <= Fraction(1, 4) else 0
        )

    sizes = (12, 120, 1200)
    as_printed, corrected = (
        [abs(kept(n // 4, 3 * n // 4) - kept(n // 4 - x, 3 * n // 4 - y)) for n in sizes]
        for x, y in ((1, 0), (0, 1))
    )
    return Finding(
        agreement(corrected == [3 * n // 4 for n in sizes]),
        f"Threshold 1/4, two points at distance 1 of which the first has a quarter of 12, 120 and "
        f"1,200 records: without a copy of the second, {in_a_row(corrected)} records less "
        f"are left. (Without a copy of the first, as printed, {in_a_row(as_printed)}: none "
        "of the others goes.)",
    )


@claim(
    "Proposition B.3, A.2 in the short version",
    (),
    "Removing the share p ≤ 1/2 of records farthest from the others, with ties, has infinite "
    "sensitivity.",
)
def _proposition_b_3(_: object) -> Finding:
    """Count what is left of two points at distance 1, with and without one record."""

    def kept(first: int, second: int) -> int:
        size = first + second
        number = size // 4
        if number == 0:
            return size
        scores = sorted([second] * first + [first] * second, reverse=True)
        return sum(score < scores[number - 1] for score in scores)

    differences = {}
    for size in range(8, 41):
        number = size // 4
        differences[size] = kept(number, size - number) - kept(number - 1, size - number)
    all_gone = [size for size, gone in differences.items() if gone == size - size // 4]
    first_failure = min((n for n in differences if n not in all_gone), default=None)
    return Finding(
        agreement(len(all_gone) > 1 and max(all_gone) > 30),
        f"p = 1/4: of the sizes 8 to 40, {len(all_gone)} lose all that is left if one record is "
        f"removed, up to {max(all_gone) - max(all_gone) // 4} records; not all sizes do, as "
        f"printed (not {first_failure}), but arbitrarily large ones.",
    )


@claim(
    "Remark B.4, A.3 in the short version",
    (),
    "To leave a database of one record as it is and any other empty has sensitivity 1, and depends "
    "on the database.",
)
def _remark_b_4(_: object) -> Finding:
    kept = [size if size == 1 else 0 for size in range(7)]
    largest = max(abs(kept[size + 1] - kept[size]) for size in range(6))
    return Finding(
        agreement(largest == 1, kept[1] != kept[2]),
        f"What is left of databases of 0 to 6 records is {in_a_row(kept)} records: "
        f"neighbours differ by at most {largest}, and the same record is kept alone and not in "
        "company.",
    )


_DATABASES = ("", "a", "b", "c", "ab", "ac", "bc", "abc")
# Which of them differ by one record, and by how many any two do.
_STEPS = np.array([[len(set(first) ^ set(other)) for other in _DATABASES] for first in _DATABASES])


@claim("Section 5", (), "The only suppression that is purely DP itself leaves no record.")
def _only_nothing_is_private(_: object) -> Finding:
    """Go through all choices of what may be left; neighbours must have the same under pure DP."""
    databases = ("", "a", "b", "ab")
    choices = [
        [
            set(possible)
            for size in range(1, 2 ** len(database) + 1)
            for possible in itertools.combinations(parts_of(database), size)
        ]
        for database in databases
    ]
    neighbours = ((0, 1), (0, 2), (1, 3), (2, 3))
    every = list(itertools.product(*choices))
    private = [known for known in every if all(known[i] == known[j] for i, j in neighbours)]
    nothing = [({""},) * 4]
    return Finding(
        agreement(private == nothing),
        f"Of all {len(every)} choices of what may be left of databases of up to two records, "
        f"neighbours have the same in {len(private)}, which "
        f"{'leaves' if private == nothing else 'do not all leave'} nothing.",
    )


def _sensitivity_within(known: Sequence[int], left: Sequence[int]) -> float:
    """Return the sensitivity of a suppression, in steps between databases that are known."""
    steps = np.full(_STEPS.shape, np.inf)
    inside = np.ix_(known, known)
    steps[inside] = np.where(_STEPS[inside] <= 1, _STEPS[inside], np.inf)
    for through in known:
        steps = np.minimum(steps, steps[:, [through]] + steps[[through], :])
    first, other = np.nonzero(_STEPS == 1)
    of = np.asarray(left)
    return float(steps[of[first], of[other]].max())


@claim(
    "Section 5.1",
    (),
    "With fewer databases that a mechanism must protect, its sensitivity cannot rise, and that of "
    "the suppression cannot fall; it is smallest with all, and with all parts of what is left.",
)
def _fewer_databases(_: object) -> Finding:
    rng = np.random.default_rng(5)
    falls = rises = compared = same = 0
    cases = 12
    for _case in range(cases):
        left = [_DATABASES.index(str(rng.choice(list(parts_of(one))))) for one in _DATABASES]
        values, needed = rng.normal(size=len(_DATABASES)), sorted(set(left))
        spare = [number for number in range(len(_DATABASES)) if number not in needed]
        found = {}
        for size in range(len(spare) + 1):
            for more in itertools.combinations(spare, size):
                known = sorted((*needed, *more))
                pairs = itertools.product(known, repeat=2)
                moves = [abs(values[i] - values[j]) for i, j in pairs if _STEPS[i, j] == 1]
                found[frozenset(known)] = _sensitivity_within(known, left), max(moves, default=0.0)
        for (small, (steps, moved)), (large, others) in itertools.product(found.items(), repeat=2):
            if small < large:
                compared += 1
                rises += others[0] > steps
                falls += others[1] < moved
        whole = found[frozenset(range(len(_DATABASES)))][0]
        closed = {part for number in left for part in parts_of(_DATABASES[number])}
        same += found[frozenset(_DATABASES.index(part) for part in closed)][0] == whole
    return Finding(
        agreement(rises == 0, falls == 0, same == cases),
        f"Of {cases} random suppressions of three records, in {compared:,} pairs of sets of "
        f"databases: with the smaller set the suppression's sensitivity is smaller in {rises}, and "
        f"that of a random function larger in {falls}. With all parts of what is left it is the "
        f"smallest in {same} of {cases}.",
    )


def _counts_within(closed: bool) -> Judge:
    """Return the judge of whether a count moves by 1 in all sets of databases, or closed ones."""

    def judge(_: object) -> Finding:
        moved, cases = [], 0
        for size in range(1, len(_DATABASES) + 1):
            for known in itertools.combinations(range(len(_DATABASES)), size):
                names = {_DATABASES[number] for number in known}
                is_closed = all(part in names for one in names for part in parts_of(one))
                if closed and not (is_closed and len(names) > 1):
                    continue
                cases += 1
                pairs = itertools.product(known, repeat=2)
                moved.append(any(_STEPS[i, j] == 1 for i, j in pairs))
        return Finding(
            agreement(all(moved)),
            f"Of {cases} sets of databases of three records the number of records moves by 1 in "
            f"{sum(moved)}, and by 0 in {cases - sum(moved)}.",
        )

    return judge


_COUNTS_GAIN_NOTHING = claim(
    "Section 5.1",
    (),
    "A counting query gains nothing from fewer databases: it moves by 1 in all of them.",
    name="counts-gain-nothing",
)(
    under_every_reading(
        {
            "databases closed by subsets, as Section 4.1 assumes": _counts_within(closed=True),
            "any set of databases": _counts_within(closed=False),
        }
    )
)


CLAIMS = claims_in(globals())
