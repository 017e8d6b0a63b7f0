"""What the disclosure-control paper states, held against what its mechanisms do on small tables.

A check is a row: what was computed, what the paper states, whether they agree, and under which
reading of the text. Tables and answers are listed where they are few, and random where they are
not; bounds that hold in floating point are compared with a tolerance for rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from omit.audit.suppression import cell_law, changing_pairs, listed_delta
from omit.disclosure.histograms import DiscreteGaussianHistogram, LaplaceHistogram
from omit.disclosure.measures import exact_measures, published_bounds
from omit.disclosure.protection import NoTableGuarantee, Protection
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping, selection_probabilities
from omit.disclosure.swapping_exact import Donor, exact_swapping_delta
from omit.disclosure.table import Attribute, CountTable, Universe
from omit.guarantee import Guarantee
from omit.study.cell import Row

CASES = 2000
SUPPRESSED, KEPT = "empty cells suppressed", "empty cells kept"
ANOTHER, OTHERS = "another record as donor", "donors of other quasi-identifiers"
_EMPTY = {SUPPRESSED: False, KEPT: True}
_DONORS: dict[str, Donor] = {ANOTHER: "another record", OTHERS: "other quasi-identifiers"}
_ROUNDING = 1 + 1e-12
_EPSILONS = (0.5, 1.0, 2.0, 4.0)
_RACE = Attribute("race", ("x", "y", "z"))
_TOWN = Attribute("town", ("A", "B"))


def checked(what: str, found: float, stated: float, holds: bool, reading: str = "") -> Row:
    """Return a check; `reading` says under which reading of the text it was made."""
    return {
        "reading": reading,
        "check": what,
        "found": float(found),
        "stated": float(stated),
        "holds": bool(holds),
    }


def _violations(what: str, count: int, of: int, reading: str = "") -> Row:
    """Return the check that something is violated in none of several cases."""
    return checked(f"{what}, of {of:,}", count, 0, count == 0, reading)


def row_of_counts(*counts: int) -> CountTable:
    """Return a table with these counts in a row."""
    kinds = Attribute("kind", tuple(f"c{index}" for index in range(len(counts))))
    return CountTable((kinds,), np.array(counts))


def _small_tables(largest: int) -> Iterator[tuple[int, ...]]:
    """Give all tables of three cells with some records and no count above the largest."""
    for counts in itertools.product(range(largest + 1), repeat=3):
        if any(counts):
            yield counts


def definition_1() -> list[Row]:
    """α is the largest difference of two biases, which are computed by listing answers."""
    rows = []
    for reading, kept in _EMPTY.items():
        suppression = RandomisedCellSuppression(4, kept, 1.0)
        biases = [
            math.fsum(answer * chance for answer, chance in cell_law(suppression, count).items())
            - count
            for count in range(9)
        ]
        off = 0.0
        for counts in _small_tables(8):
            listed = max(biases[x] - biases[y] for x in counts for y in counts)
            off = max(
                off, abs(listed - exact_measures(suppression, row_of_counts(*counts)).fairness)
            )
        rows.append(checked(f"α against all pairs of biases, {reading}", off, 0, off < 1e-12))
    return rows


def definition_2() -> list[Row]:
    """The smallest δ is the largest P(R) − e^ε Q(R) over all sets R of answers."""
    universe = Universe((Attribute("kind", ("a", "b", "c")),), records=5, largest_count=4)
    rows = []
    for reading, kept in _EMPTY.items():
        off = 0.0
        for threshold, epsilon in itertools.product((1, 2, 3, 5), _EPSILONS):
            suppression = RandomisedCellSuppression(threshold, kept, epsilon)
            worst = max(
                _over_all_sets(suppression, x, y, epsilon) for x, y in changing_pairs(3, 5, 4)
            )
            off = max(off, abs(worst - suppression.exact_delta(epsilon, universe).delta))
        rows.append(checked(f"δ against all sets of answers, {reading}", off, 0, off < 1e-12))
    return rows


def _over_all_sets(suppression: RandomisedCellSuppression, x: int, y: int, epsilon: float) -> float:
    """Return the largest P(R) − e^ε Q(R) of the answers of two cells, R by R."""
    laws = [
        {
            (a, b): p * q
            for a, p in cell_law(suppression, first).items()
            for b, q in cell_law(suppression, second).items()
        }
        for first, second in ((x, y), (x - 1, y + 1))
    ]
    answers = sorted(laws[0].keys() | laws[1].keys())
    before, after = (np.array([law.get(answer, 0.0) for answer in answers]) for law in laws)
    sets = (np.arange(2 ** len(answers))[:, None] >> np.arange(len(answers))) & 1
    return float((sets @ before - math.exp(epsilon) * (sets @ after)).max())


def definition_3() -> list[Row]:
    """What suppression shows is x from the threshold on, and ⌊k/2⌋ below."""
    rows = []
    for reading, kept in _EMPTY.items():
        wrong = sum(
            float(CellSuppression(k, kept).draw(row_of_counts(x, 1), np.random.default_rng())[0, 0])
            != (x if x >= k else k // 2)
            for k in range(2, 21)
            for x in range(31)
        )
        rows.append(_violations("counts shown as something else", wrong, 19 * 31, reading))
    return rows


def lemma_1(rng: np.random.Generator) -> list[Row]:
    """The hockey-stick divergence is at most the probability of the outputs beyond e^ε."""
    worst = -math.inf
    for _ in range(CASES):
        outputs = int(rng.integers(2, 7))
        first, second = rng.dirichlet(np.full(outputs, rng.choice([0.2, 1.0])), size=2)
        grow = math.exp(rng.uniform(0, 2))
        delta = float(first[first > grow * second].sum())
        worst = max(worst, float(np.maximum(0, first - grow * second).sum()) - delta)
    what = f"δ less the probability of outputs beyond e^ε, {CASES:,} random pairs"
    return [checked(what, worst, 0.0, worst <= 1e-12)]


def laplace_histogram() -> list[Row]:
    """The privacy loss of noise of scale 2/ε is at most ε, and ε is reached."""
    grid = np.linspace(-6, 6, 241)
    moved = np.abs(grid - 1) - np.abs(grid)
    most = float((moved[:, None] + moved[::-1][None, :]).max()) / 2
    exact = max(LaplaceHistogram(epsilon).exact_delta(epsilon).delta for epsilon in _EPSILONS)
    short = min(
        LaplaceHistogram(epsilon).exact_delta(0.99 * epsilon).delta for epsilon in _EPSILONS
    )
    return [
        checked("largest loss on a grid of answers, in ε", most, 1, abs(most - 1) < 1e-12),
        checked("δ at ε", exact, 0, exact == 0),
        checked("smallest δ at 0.99 ε", short, 0, short > 0),
    ]


def discrete_gaussian() -> list[Row]:
    """The exact δ at ½ε² + ε√(2 ln 1/δ) is at most δ."""
    rows = []
    readings: dict[str, Callable[[float], float]] = {
        "variance 4/ε²": lambda epsilon: 4 / epsilon**2,
        "standard deviation 4/ε²": lambda epsilon: 16 / epsilon**4,
    }
    deltas = (1e-1, 1e-3, 1e-6, 1e-9)
    for reading, variance in readings.items():
        above = sum(
            DiscreteGaussianHistogram(Fraction(variance(epsilon)))
            .exact_delta(epsilon**2 / 2 + epsilon * math.sqrt(2 * math.log(1 / delta)))
            .delta
            > delta
            for epsilon, delta in itertools.product(_EPSILONS, deltas)
        )
        of = len(_EPSILONS) * len(deltas)
        rows.append(_violations("(ε, δ) whose exact δ is larger", above, of, reading))
    return rows


def no_guarantee_of_originals() -> list[Row]:
    """Neither original has an (ε, δ) with δ < 1."""
    universe = Universe((_RACE, _TOWN), records=4)
    originals: list[tuple[str, Protection]] = [("cell suppression", CellSuppression(3))]
    originals += [(f"swapping, {name}", Swapping(("race",), 0.5, d)) for name, d in _DONORS.items()]
    rows = []
    for name, original in originals:
        stated = original.guarantee(universe)
        delta = stated.delta if isinstance(stated, Guarantee | NoTableGuarantee) else math.nan
        one = math.nan if delta is None else delta
        rows.append(checked(f"δ at every ε, {name}", one, 1, one == 1))
    return rows


def theorem_1() -> list[Row]:
    """By listing all tables of three cells, all neighbours and all answers."""
    settings = [
        (k, largest, epsilon)
        for k in range(1, 5)
        for largest in range(k + 1, k + 4)
        for epsilon in _EPSILONS
    ]
    rows = []
    for reading, kept in _EMPTY.items():
        above = 0
        for k, largest, epsilon in settings:
            suppression = RandomisedCellSuppression(k, kept, epsilon)
            listed = _listed(suppression, largest)
            above += listed > suppression.published_delta(largest).delta * _ROUNDING
        what = "settings whose δ, by listing, exceeds the stated one"
        rows.append(_violations(what, above, len(settings), reading))
    suppression = RandomisedCellSuppression(6, False, 1.0)
    universe = Universe((Attribute("kind", ("a", "b", "c")),), records=39, largest_count=20)
    exact, printed = suppression.exact_delta(1.0, universe), suppression.published_delta(20)
    found, stated = (math.exp(delta.log_shortfall) for delta in (exact, printed))
    what = "1 − δ for B = 20, k = 6, ε = 1"
    rows.append(checked(what, found, stated, found >= stated, SUPPRESSED))
    return rows


def _listed(suppression: RandomisedCellSuppression, largest: int) -> float:
    """Return delta of tables of three cells, two of which can be full, by listing."""
    return listed_delta(
        lambda count: cell_law(suppression, count), 3, 2 * largest, largest, suppression.epsilon
    )


def bias_of_suppression() -> list[Row]:
    """The bias is (k/2 − x) P(x + η < k)."""
    rows = []
    for parity, thresholds in (("even", range(2, 21, 2)), ("odd", range(1, 21, 2))):
        off = 0.0
        for k, epsilon in itertools.product(thresholds, _EPSILONS):
            suppression = RandomisedCellSuppression(k, False, epsilon)
            counts = np.arange(41)
            stated = (k / 2 - counts) * suppression.suppress_probability(counts)
            exact = suppression.errors(row_of_counts(*counts.tolist())).bias
            off = max(off, float(np.abs(exact - stated).max()))
        rows.append(checked(f"largest difference of a bias, {parity} k", off, 0, off < 1e-12))
    return rows


def theorem_2() -> list[Row]:
    """All tables of three cells with up to six records each."""
    triples = np.array(list(_small_tables(6)))
    rows = []
    for parity, thresholds in (("even", range(2, 9, 2)), ("odd", range(1, 9, 2))):
        above, cases = 0, 0
        for k, epsilon in itertools.product(thresholds, _EPSILONS):
            p = RandomisedCellSuppression(k, False, epsilon).suppress_probability(triples)
            biases = (np.abs(k // 2 - triples) * p).sum(axis=1)
            bounds = np.linalg.norm(k / 2 - triples, axis=1) * np.linalg.norm(p, axis=1)
            above += int((biases > bounds * _ROUNDING).sum())
            cases += len(triples)
        rows.append(_violations(f"tables with larger biases, {parity} k", above, cases))
    odd, uneven = RandomisedCellSuppression(3, False, 1.0), row_of_counts(2, 2, 2)
    bias = exact_measures(odd, uneven).bias
    bound = published_bounds(odd, uneven)["Theorem 2: sum of biases"]
    return [
        *rows,
        checked("sum of biases, counts (2, 2, 2), k = 3, ε = 1", bias, bound, bias <= bound),
    ]


def theorem_3() -> list[Row]:
    """The exact δ of few records against the stated one."""
    universe = Universe((_RACE, _TOWN), 3)
    swapping = RandomisedSwapping(("race",), 0.25)
    stated = swapping.published_delta(3)
    anything = swapping.guarantee(universe)
    one = isinstance(anything, NoTableGuarantee) and anything.delta == 1
    rows = [
        checked("δ where a record may change, 3 records", 1.0 if one else math.nan, stated, not one,
              "any change of a record, also of what is not swapped")
    ]  # fmt: skip
    settings = [
        *itertools.product((3,), (0.0, 0.25, 0.5, 0.75, 0.9), (0.1, 1.0, 4.0)),
        *itertools.product((4,), (0.0, 0.5), (1.0,)),
    ]
    for name, donor in _DONORS.items():
        above, worst = 0, (-math.inf, "", 0.0, 0.0)
        for records, gamma, epsilon in settings:
            swapping = RandomisedSwapping(("race",), 1 - gamma, donor, epsilon=epsilon)
            exact = exact_swapping_delta(swapping, Universe((_RACE, _TOWN), records), epsilon)
            assert exact is not None  # so few data sets are always listed
            stated = swapping.published_delta(records)
            above += exact.delta > stated * _ROUNDING
            where = f"{records} records, γ = {gamma:g}, ε = {epsilon:g}"
            worst = max(worst, (exact.delta - stated, where, exact.delta, stated))
        reading = f"a change of quasi-identifiers and {name}"
        _, where, found, stated = worst
        rows += [
            _violations("settings whose exact δ is larger", above, len(settings), reading),
            checked(f"δ, {where}", found, stated, found <= stated * _ROUNDING, reading),
        ]
    return rows


def _swapped_tables(rng: np.random.Generator) -> Iterator[tuple[RandomisedSwapping, CountTable]]:
    """Give random tables of three races in two towns, with a swapping under either reading."""
    for number in range(CASES // 4):
        counts = rng.integers(0, int(rng.choice([3, 8, 40])), 6)
        counts[0] += 2
        donor = tuple(_DONORS.values())[number % 2]
        rate, epsilon = float(rng.uniform(0.01, 1)), float(rng.uniform(0.1, 5))
        table = CountTable((_RACE, _TOWN), counts)
        yield RandomisedSwapping(("race",), rate, donor, epsilon=epsilon), table


def donor_chances() -> list[Row]:
    """Donors at discrepancies of a fourth to one are chosen by permute-and-flip, listed exactly."""
    discrepancies = np.array([0.25, 0.5, 0.75, 1.0])
    inverse = (1 / discrepancies) / (1 / discrepancies).sum()
    rows, falls = [], 0
    for epsilon in _EPSILONS:
        chances = selection_probabilities(-discrepancies, epsilon)
        falls += int((np.diff(chances) < 0).sum())
        rows.append(
            checked(
                f"probability of the nearest of four donors, ε = {epsilon:g}",
                chances[0],
                inverse[0],
                math.isclose(chances[0], inverse[0], rel_tol=0.01),
                "in proportion to 1/discrepancy",
            )
        )
    steps = len(_EPSILONS) * (discrepancies.size - 1)
    what = f"donors that are less likely than the next nearer one, of {steps}"
    return [*rows, checked(what, falls, steps, falls == steps, "the nearer the likelier")]


def bounds_on_swapping(rng: np.random.Generator, theorem: str) -> list[Row]:
    """Return whether random tables keep a theorem's bounds, and how loose these are."""
    above, cases, ratio = 0, 0, 0.0
    for swapping, table in _swapped_tables(rng):
        errors = swapping.errors(table)
        for bound in swapping.published_bounds(table):
            if bound.theorem != theorem:
                continue
            exact, cases = bound.exact(errors), cases + 1
            below = bound.measure == "smallest bias"
            slack = 1e-9 * max(1.0, abs(bound.value))
            above += exact < bound.value - slack if below else exact > bound.value + slack
            ratio = max(ratio, exact / bound.value)
    return [
        _violations("bounds that are violated on random tables", above, cases),
        checked("largest share of a bound that is reached", ratio, 1, ratio <= _ROUNDING),
    ]


def _random_row(rng: np.random.Generator) -> CountTable:
    counts = rng.integers(0, 40, size=int(rng.integers(2, 8)))
    counts[0] += 1
    return row_of_counts(*counts.tolist())


def theorem_5(rng: np.random.Generator) -> list[Row]:
    """The exact fairness of suppression against the stated one, on random tables."""
    above = dict.fromkeys(_EMPTY, 0)
    for _ in range(CASES):
        table, epsilon = _random_row(rng), float(rng.uniform(0.1, 5))
        k = int(rng.integers(1, 20))
        for reading, kept in _EMPTY.items():
            suppression = RandomisedCellSuppression(k, kept, epsilon)
            bound = published_bounds(suppression, table)["Theorem 5: fairness"]
            above[reading] += exact_measures(suppression, table).fairness > bound * _ROUNDING
    what = "random tables with a larger exact α"
    return [_violations(what, count, CASES, reading) for reading, count in above.items()]


def theorem_7(rng: np.random.Generator) -> list[Row]:
    """The exact fairness of the Laplace histogram against the stated one, on random tables."""
    above = 0
    for _ in range(CASES):
        table, laplace = _random_row(rng), LaplaceHistogram(float(rng.uniform(0.1, 5)))
        bound = published_bounds(laplace, table)["Theorem 7: fairness"]
        above += exact_measures(laplace, table).fairness > bound * _ROUNDING
    return [_violations("random tables with a larger exact α", above, CASES)]


STATED, EXACT = "the α that the theorems state", "the exact α"


def theorem_8_suppression(rng: np.random.Generator) -> list[Row]:
    """Laplace against suppression where the smallest count is between 2 and k."""
    stated, exact = 0, 0
    for _ in range(CASES):
        k = int(rng.integers(2, 20))
        least = int(rng.integers(2, k + 1))
        others = rng.integers(least, 60, size=int(rng.integers(1, 7)))
        table, epsilon = row_of_counts(least, *others.tolist()), float(rng.uniform(0.1, 5))
        both = LaplaceHistogram(epsilon), RandomisedCellSuppression(k, False, epsilon)
        stated += _less_fair(*both, table, "Theorem 5: fairness")
        exact += _less_fair(*both, table)
    shifted, steep = row_of_counts(2, 12), RandomisedCellSuppression(4, False, 4.0)
    fair = exact_measures(LaplaceHistogram(4.0), shifted).fairness
    suppressed = exact_measures(steep, shifted).fairness
    what = "random tables where Laplace is less fair"
    return [
        _violations(what, stated, CASES, STATED),
        _violations(what, exact, CASES, EXACT),
        checked("α of Laplace and of suppression, counts (2, 12), k = 4, ε = 4", fair, suppressed,
              fair <= suppressed, EXACT),
    ]  # fmt: skip


def theorem_8_swapping(rng: np.random.Generator) -> list[Row]:
    """Laplace against swapping, at rates that the theorem allows."""
    stated, exact, cases = 0, 0, CASES // 4
    for number in range(cases):
        counts = rng.integers(2, 30, 6)
        table, epsilon = CountTable((_RACE, _TOWN), counts), float(rng.uniform(0.1, 5))
        least = counts.max() / (2 * float(table.size) ** 3)
        rate = float(rng.uniform(least, 1))
        donor = tuple(_DONORS.values())[number % 2]
        both = (
            LaplaceHistogram(epsilon),
            RandomisedSwapping(("race",), rate, donor, epsilon=epsilon),
        )
        stated += _less_fair(*both, table, "Theorem 6: fairness")
        exact += _less_fair(*both, table)
    what = "random tables where Laplace is less fair"
    return [_violations(what, stated, cases, STATED), _violations(what, exact, cases, EXACT)]


def _less_fair(
    laplace: LaplaceHistogram, other: Protection, table: CountTable, bound: str | None = None
) -> bool:
    """Return whether Laplace has the larger α: the exact one, or that of theorems."""
    if bound is not None:
        of_laplace = published_bounds(laplace, table)["Theorem 7: fairness"]
        return of_laplace > published_bounds(other, table)[bound] * _ROUNDING
    mine, others = (exact_measures(one, table).fairness for one in (laplace, other))
    return mine > others * (1 + 1e-9) + 1e-12


def largest_gamma() -> list[Row]:
    """How near 1 the largest γ of Theorem 8 is, whatever the largest count."""
    return [
        checked(f"1 less the largest γ for {records:,} records, all in one cell",
              1 / (2 * records**2), 0, 1 / (2 * records**2) < 1e-3)
        for records in (100, 7634)
    ]  # fmt: skip
