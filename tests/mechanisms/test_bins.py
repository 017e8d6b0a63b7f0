"""Errors on a column in bins enclose those on its records, by all subsets of these."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import stats

from omit import (
    ADD_REMOVE,
    REPLACE,
    Column,
    ExpectedError,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoisyMean,
    NoisyMode,
    NoOmission,
    OutlierScoreSuppression,
    PoissonSampling,
    Refused,
    RuleSuppression,
    compare,
    expected_error,
    read,
)
from omit.accuracy.expected import Question, Setting
from omit.data.ranges import Ranges
from omit.errors import NotExact
from omit.exact.bins import NO_BLUR, Binned
from omit.laws.design import Independent
from omit.mechanisms.base import Mechanism
from omit.mechanisms.counting import NoisyCount, NoisySum
from omit.mechanisms.mean import PreparedMean
from omit.mechanisms.quantiles import GlobalQuantile
from omit.mechanisms.variance import NoisyVariance
from omit.omissions.base import Omission


@dataclass(frozen=True)
class Case:
    """A few records in bins, and what is asked about them."""

    records: Column
    bins: int
    mechanism: Mechanism
    guarantee: Guarantee
    omission: Omission

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Case:
        size = int(rng.integers(2, 8))
        upper = float(rng.choice([1.0, 10.0]))
        lower = float(rng.choice([0.0, 0.2, -3.0]))
        a, b = rng.uniform(0.3, 3, 2)
        values = lower + (upper - lower) * rng.beta(a, b, size)
        noise = str(rng.choice(["laplace", "gaussian"]))
        kind = int(rng.integers(6))
        metric = str(rng.choice(["relative", "squared"]))
        mechanism = (
            NoisySum(noise, metric),  # type: ignore[arg-type]
            NoisyCount(noise),  # type: ignore[arg-type]
            NoisyMean(noise, "two-sums", metric),  # type: ignore[arg-type]
            *(NoisyMean(noise, variant) for variant in ("two-sums", "sum-and-count", "published")),  # type: ignore[arg-type]
        )[kind]
        fixed = bool(rng.integers(2)) and kind != 1
        omission: Omission = PoissonSampling(float(rng.uniform(0.05, 0.97)))
        if fixed:
            omission = FixedSizeSampling(int(rng.integers(1, size)), size)
        elif rng.random() < 0.2:
            omission = NoOmission()
        delta = 0.0 if noise == "laplace" else 1e-6
        epsilon = float(10 ** rng.uniform(-0.5, 1.7))
        guarantee = Guarantee(epsilon, delta, REPLACE if fixed else ADD_REMOVE)
        records = Column.from_values(values, bounds=(lower, upper))
        return cls(records, int(rng.integers(1, 5)), mechanism, guarantee, omission)

    def by_subsets(self) -> float:
        """Return the error on the records themselves: an average over all that may be left."""
        setting = Question(self.records, self.mechanism, self.guarantee).setting(self.omission)
        size = self.records.size
        rows = np.array(list(itertools.product((0, 1), repeat=size)), dtype=np.int64)
        kept = rows.sum(axis=1)
        if setting.design.keeps_all:
            chances = (kept == size).astype(float)
        elif setting.design.inclusion is None:
            assert setting.design.size is not None
            chances = (kept == setting.design.size) / math.comb(size, setting.design.size)
        else:
            rate = float(setting.design.inclusion[0])
            chances = rate**kept * (1 - rate) ** (size - kept)
        rows, chances = rows[chances > 0], chances[chances > 0]
        errors = setting.prepared.integrated_errors(rows)
        assert errors is not None
        return float(chances @ errors)

    def in_bins(self) -> ExpectedError:
        return expected_error(
            self.records.in_bins(self.bins), self.mechanism, self.guarantee, self.omission, "exact"
        )


def holds(error: ExpectedError, value: float) -> bool:
    return bool(error.low - 1e-12 * value <= value <= error.high + 1e-12 * value)


def checked(seed: int, cases: int) -> tuple[set[str], list[float]]:
    """Check so many drawn cases; return what they were about, and how wide enclosures are."""
    rng = np.random.default_rng(seed)
    about, widths = set(), []
    for _ in range(cases):
        case = Case.drawn(rng)
        try:
            error, value = case.in_bins(), case.by_subsets()
        except InvalidInput:
            continue  # no engine, as for squared errors of clipped means
        assert holds(error, value), (case, error, value)
        about.add(f"{case.mechanism}, {case.omission.name}")
        widths.append((error.high - error.low) / value)
    return about, widths


@pytest.mark.slow
def test_errors_on_bins_enclose_those_on_the_records() -> None:
    about, widths = checked(seed=1, cases=100)
    assert len(widths) > 60
    assert len(about) > 12
    # And not by being as wide as one likes.
    assert np.median(widths) < 0.05


@pytest.mark.campaign
def test_errors_on_bins_enclose_those_on_the_records_of_thousands_of_columns() -> None:
    _, widths = checked(seed=7, cases=3000)
    assert len(widths) > 2000


def squared_error(setting: Setting) -> float:
    """Return the mean squared error over all subsets of the atoms' records, by quadrature."""
    prepared = setting.prepared
    assert isinstance(prepared, PreparedMean)
    assert isinstance(prepared.column, Column)
    assert setting.design.inclusion is not None
    rate, counts = float(setting.design.inclusion[0]), prepared.column.counts
    rows = np.array(list(itertools.product(*(range(n + 1) for n in counts))), dtype=np.int64)
    chances = stats.binom.pmf(rows, counts, rate).prod(axis=1)
    quotient, truth = prepared.quotient, prepared.truth - prepared.quotient.origin
    values = prepared.column.values - quotient.origin
    sums, sizes = rows @ values, rows.sum(axis=1)
    lower, upper = quotient.limits
    # E D² is the integral of 2 x P(D > x).
    nodes, weights = np.polynomial.legendre.leggauss(300)
    total = 0.0
    for side, length in ((1.0, upper - truth), (-1.0, truth - lower)):
        for node, weight in zip(0.5 * length * (nodes + 1), 0.5 * length * weights, strict=True):
            above = quotient.above(sums, sizes, truth + side * node)
            total += weight * 2 * node * float(chances @ (above if side > 0 else 1 - above))
    return total


def test_blur_holds_what_bins_do_to_squared_errors() -> None:
    rng = np.random.default_rng(2)
    moved = 0
    for number in range(12):
        records = Column.from_values(rng.uniform(0, 10, 5), bounds=(0, 10))
        variant = ("two-sums", "sum-and-count")[number % 2]
        mechanism = NoisyMean("laplace", variant, "squared")  # type: ignore[arg-type]
        guarantee, omission = Guarantee(float(10 ** rng.uniform(0, 1.7))), PoissonSampling(0.6)
        apart, together = (
            Question(column, mechanism, guarantee).setting(omission)
            for column in (records, records.in_bins(2))
        )
        difference = squared_error(apart) - squared_error(together)
        blur = together.prepared.blur(together.design)
        assert -blur.below - 1e-6 <= difference <= blur.above + 1e-6
        assert (
            Question(records, mechanism, guarantee).setting(omission).prepared.blur(apart.design)
            == NO_BLUR
        )
        moved += abs(difference) > 1e-4
    assert moved > 3


def test_records_at_the_ends_of_their_bins_have_the_largest_error_and_at_the_mean_the_least() -> (
    None
):
    # Six records in one bin: 0.2 and 0.6 three times, or all of them 0.4.
    bin_ends = Ranges(1, np.array([0.2]), np.array([0.6]))
    column = Column("x", np.array([0.4]), np.array([6]), (0.0, 1.0), ranges=bin_ends)
    published = NoisyMean(variant="published")
    asked = Guarantee(20.0), PoissonSampling(0.5)
    error = expected_error(column, published, *asked)
    apart, together = (
        expected_error(Column.from_values(values, bounds=(0, 1)), published, *asked)
        for values in ([0.2] * 3 + [0.6] * 3, [0.4] * 6)
    )
    assert error.low == pytest.approx(together.value, rel=1e-9)
    assert error.high == pytest.approx(apart.value, rel=1e-9)


def test_nothing_is_unknown_where_no_record_is_omitted_or_all_in_a_bin_are_equal() -> None:
    wages = Column.from_values(np.linspace(1, 999, 500), bounds=(0, 1000))
    heaps = Column.from_values([100.0] * 30 + [250.0] * 12 + [777.0], bounds=(0, 1000))
    for column, omission in ((wages, NoOmission()), (heaps, PoissonSampling(0.3))):
        for variant in ("two-sums", "sum-and-count", "published"):
            mechanism = NoisyMean(variant=variant)
            exact = expected_error(column, mechanism, Guarantee(1.0), omission)
            binned = expected_error(column.in_bins(20), mechanism, Guarantee(1.0), omission)
            assert binned.value == pytest.approx(exact.value, rel=1e-9)
            assert binned.high - binned.low < 1e-6 * exact.value


DATA = Path(os.environ.get("OMIT_DATA", ""))
needs_data = pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "upper", "exact", "enclosures"),
    [
        (
            "cps_tax_units.csv.gz",
            "e00200",
            5e5,
            0.6639486993,
            {1000: (0.6639473866, 0.6639515017), 100: (0.663786, 0.664231)},
        ),
        (
            "census_income_kdd_train.csv.gz",
            "dividends_from_stocks",
            1e5,
            5.7237952,
            {1000: (5.7237363, 5.7238595)},
        ),
    ],
)
def test_real_columns_in_bins_have_the_published_error_of_their_records(
    file: str, name: str, upper: float, exact: float, enclosures: dict[int, tuple[float, float]]
) -> None:
    column = read(DATA / file, name, bounds=(0, upper))
    published, asked = NoisyMean(variant="published"), (Guarantee(1.0), PoissonSampling(0.1))
    truth = column.mean  # of the clamped records
    whole = expected_error(column, published, *asked, truth=truth)
    assert whole.value == pytest.approx(exact, abs=1e-7)
    for bins, (low, high) in enclosures.items():
        error = expected_error(column.in_bins(bins), published, *asked, truth=truth)
        assert low - 1e-7 <= error.low <= whole.value <= error.high <= high + 5e-7


@needs_data
@pytest.mark.campaign
def test_bins_of_real_columns_enclose_the_exact_error_of_their_records() -> None:
    rng, widths, checked_columns = np.random.default_rng(24), [], 0
    numbers = [
        frame[name].dropna().to_numpy(dtype=float)
        for path in sorted(DATA.glob("*.csv*"))
        for frame in [pandas.read_csv(path, na_values=["N"])]
        for name in frame.select_dtypes("number")
        if frame[name].nunique() > 300
    ]
    while checked_columns < 200:
        values = rng.choice(numbers[rng.integers(len(numbers))], int(rng.integers(300, 6000)))
        lower, upper = np.quantile(values, [0.0, rng.choice([0.95, 1.0])])
        if not lower < upper:
            continue
        column = Column.from_values(values, bounds=(float(lower), float(upper)))
        noise, fixed = str(rng.choice(["laplace", "gaussian"])), rng.random() < 0.3
        variant = str(rng.choice(["two-sums", "sum-and-count", "published"]))
        mechanism = NoisyMean(noise, variant)  # type: ignore[arg-type]
        relation = REPLACE if fixed else ADD_REMOVE
        delta = 0.0 if noise == "laplace" else 1e-7
        guarantee = Guarantee(float(10 ** rng.uniform(-0.5, 1)), delta, relation)
        rate = float(rng.uniform(0.02, 0.98))
        omission: Omission = PoissonSampling(rate)
        if fixed:
            omission = FixedSizeSampling(max(int(rate * column.size), 1), column.size)
        truth = float(rng.choice([column.mean, column.before_clamping.mean]))
        in_bins = [column.in_bins(number) for number in (20, 150, 1200)]
        questions = [
            Question(data, mechanism, guarantee, truth=truth, method="exact", details=False)
            for data in (column, *in_bins)
        ]
        try:
            exact, *enclosures = (question.error(omission) for question in questions)
        except InvalidInput:
            continue  # no engine, or bounds too far from 0
        checked_columns += 1
        for error in enclosures:
            # The exact error has a precision of its own.
            assert error.low <= exact.high, (questions[0], omission, error, exact)
            assert exact.low <= error.high, (questions[0], omission, error, exact)
            widths.append((error.high - error.low) / exact.value)
    # And not by being as wide as one likes.
    assert np.median(widths[2::3]) < 1e-4


def test_statistics_that_need_the_values_say_what_works() -> None:
    wages = Column.from_values(np.linspace(1, 999, 500), bounds=(0, 1000)).in_bins(20)
    for mechanism in (NoisyMode(), NoisyVariance(), GlobalQuantile()):
        with pytest.raises(InvalidInput, match="declare a step"):
            Question(wages, mechanism, Guarantee(1.0, neighbours=mechanism.relations[0]))
        with pytest.raises(InvalidInput, match="declare a step"):
            mechanism.prepare(wages, Guarantee(1.0, neighbours=mechanism.relations[0]))
    with pytest.raises(InvalidInput, match="declare a step"):
        wages.indicator(5)
    with pytest.raises(InvalidInput, match="declare a step"):
        wages.with_bounds((0, 700))
    compared = compare(wages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    with pytest.raises(InvalidInput, match="declare a step"):
        compared.over_bounds()


def test_a_rule_that_cuts_a_bin_is_refused_and_others_are_exact() -> None:
    wages = Column.from_values(np.linspace(1, 999, 500), bounds=(0, 1000))
    with pytest.raises(Refused, match="some records of a bin"):
        RuleSuppression(keep=(0, 510)).design(wages.in_bins(20), "absolute")
    rule = RuleSuppression(keep=(0, 500))
    exact = expected_error(wages, NoisyMean(), Guarantee(1.0), rule)
    binned = expected_error(wages.in_bins(20), NoisyMean(), Guarantee(1.0), rule)
    assert binned.value == pytest.approx(exact.value, rel=1e-9)
    assert binned.high - binned.low < 1e-6 * exact.value


@pytest.mark.slow
def test_outlier_scores_on_bins_are_off_by_no_more_than_the_first_order() -> None:
    wages = Column.from_values(np.random.default_rng(0).gamma(2, 90, 4000), bounds=(0, 1000))
    omission = OutlierScoreSuppression(0.2, 0.9)
    exact = expected_error(wages, NoisyMean(), Guarantee(1.0), omission, details=False)
    for bins in (20, 100):
        error = expected_error(wages.in_bins(bins), NoisyMean(), Guarantee(1.0), omission)
        assert holds(error, exact.value)
        assert error.high - error.low > 10 * (exact.high - exact.low)
        assert (error.first_order, exact.first_order) == (True, False)


def test_rows_that_hold_to_first_order_say_so() -> None:
    wages = Column.from_values(np.linspace(1, 999, 500), bounds=(0, 1000), name="wage").in_bins(50)
    omissions = PoissonSampling(0.5), OutlierScoreSuppression(0.2, 0.9)
    comparison = compare(wages, NoisyMean(), Guarantee(1.0), *omissions)
    flags = [row.error.first_order for row in comparison.rows if row.error is not None]
    assert flags == [False, False, True]
    (note,) = [note for note in comparison.notes if "not proved" in note]
    assert note.endswith(f"not proved: {omissions[1]}.")
    assert "to first order" in comparison.tables()[0].as_text()


@pytest.mark.slow
def test_more_values_than_an_engine_takes_are_put_into_bins_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(0).gamma(2, 90, 4000)
    wages = Column.from_values(values, bounds=(0, 5000))
    asked = NoisyMean(), Guarantee(0.3), PoissonSampling(0.1)
    exact = expected_error(wages, *asked)
    monkeypatch.setattr("omit.mechanisms.mean._MOST_VALUES", 1000)
    monkeypatch.setattr("omit.mechanisms.mean.DEFAULT_BINS", 500)
    error = expected_error(wages, *asked)
    assert (error.method, wages.is_binned) == ("exact", False)
    assert error != exact
    assert error.low <= exact.value <= error.high
    assert error.high - error.low < 1e-5 * error.value


@pytest.mark.parametrize("omission", [PoissonSampling(0.3), FixedSizeSampling(1500, 5000)])
def test_a_coarser_tolerance_takes_fewer_bins_and_encloses_the_error_all_the_same(
    omission: Omission, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(3).gamma(2.0, 130.0, 5000)
    column = Column.from_values(values, bounds=(0, 1000))
    relation = REPLACE if isinstance(omission, FixedSizeSampling) else ADD_REMOVE

    def error(tolerance: float) -> ExpectedError:
        guarantee = Guarantee(1.0, neighbours=relation)
        question = Question(
            column, NoisyMean(), guarantee, method="exact", tolerance=tolerance, details=False
        )
        return question.error(omission)

    exact = error(1e-9)
    monkeypatch.setattr("omit.mechanisms.mean._MOST_VALUES", 500)
    widths = []
    for tolerance in (1e-3, 1e-5):
        found = error(tolerance)
        assert found.low <= exact.high
        assert exact.low <= found.high
        widths.append((found.high - found.low) / exact.value / tolerance)
    if relation == ADD_REMOVE:  # else the ends of bins say nothing of clipped answers
        assert max(widths) < 4
        assert min(widths) > 0.01  # and not by being as fine as it can be


def test_simulated_errors_on_bins_have_wider_intervals() -> None:
    wages = Column.from_values(np.linspace(1, 999, 500), bounds=(0, 1000))
    asked = NoisyMean(), Guarantee(1.0), PoissonSampling(0.5)
    apart = expected_error(wages.in_bins(5), *asked, method="simulated", runs=200)
    setting = Question(wages.in_bins(5), NoisyMean(), Guarantee(1.0)).setting(asked[2])
    blur = setting.prepared.blur(setting.design)
    assert blur.above > 0
    assert apart.high - apart.value > blur.above


def test_simulations_draw_from_fewer_bins() -> None:
    wages = Column.from_values(np.linspace(0.1, 999.9, 5000), bounds=(0, 1000)).in_bins(4000)
    assert wages.distinct > 3000
    asked = NoisyMean(), Guarantee(1.0), PoissonSampling(0.5)
    drawn, fewer = (
        expected_error(column, *asked, method="simulated", runs=50)
        for column in (wages, wages.in_bins(1024))
    )
    assert (drawn.value, drawn.low, drawn.high) == (fewer.value, fewer.low, fewer.high)
    assert wages.in_bins(1024).mean == pytest.approx(wages.mean, rel=1e-14)
    exact = expected_error(wages, *asked, method="exact")
    assert drawn.low < exact.value < drawn.high


def test_bins_after_a_design_that_says_nothing_of_records_have_no_exact_error() -> None:
    class Odd(Independent):
        inclusion = None  # type: ignore[assignment]
        keeps_all = False

        def __init__(self) -> None:
            pass

    ones = np.ones(2)
    with pytest.raises(NotExact, match="independently"):
        Binned.of(ones, np.array([1, 1]), ones, ones, Odd())
