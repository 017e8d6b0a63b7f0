"""What the paper on omitting records claims about mean and mode, by the exact engines.

Miranda-Pascual, Parra-Arnau, Strufe, "The Adverse Effects of Omitting Records in Differential
Privacy", long version, Sections 3.2 (sampling) and 6.2 (outlier-score suppression). Each test says
in its name whether a claim is true, false, or Monte Carlo noise, and holds the number.

As in the paper: epsilon in {.25, .5, 1, 2}; rates in {.01, ..., .99}; m and M in {.1, ..., .9};
delta = n^-2 for Gaussian noise, here calibrated to that delta; cells as Theorem 5.4 allows.
Full grids take minutes, so most tests take a part of the rates and say which; the counts over full
grids in the comments were found once with the same functions.
"""

from __future__ import annotations

import itertools
import math
import os
from functools import cache

import pytest
from scipy import stats

from omit import (
    Column,
    ExpectedError,
    Guarantee,
    Mechanism,
    NoisyMean,
    NoisyMode,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    Unattainable,
    expected_error,
    read,
)
from omit.mechanisms.mode import KINDS
from tests.parts import inclusion

pytestmark = pytest.mark.slow

EPSILONS = (0.25, 0.5, 1.0, 2.0)
# 14 of the 99 rates, dense where curves bend.
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
CELLS = tuple((i / 10, j / 10) for i in range(1, 10) for j in range(i, 10))
AGE, HOURS = ("adult", "age"), ("adult", "hours-per-week")
IRISH_AGE, EDUCATION = ("irish", "Age"), ("irish", "HighestEducationCompleted")
TAX, SECURITY = ("census", "FEDTAX"), ("census", "FICA")
MEAN, MODE = NoisyMean(variant="sum-and-count"), NoisyMode()

Source = tuple[str, str]
Cell = tuple[float, float]


@pytest.fixture
def _folder() -> None:
    """Skip if there is no folder with data sets; if there is one, a missing file is a failure."""
    if not os.environ.get("OMIT_DATA"):
        pytest.skip("OMIT_DATA is not set, so claims are checked on the bundled data set only.")


outside_the_package = pytest.mark.usefixtures("_folder")


@cache
def column(source: Source) -> Column:
    return read(*source)


@cache
def error(
    source: Source,
    mechanism: Mechanism,
    epsilon: float,
    omission: Omission | None = None,
    details: bool = False,
) -> ExpectedError:
    """Return the error at a guarantee, as precise as any claim here needs."""
    data = column(source)
    gaussian = "Gaussian noise" in str(mechanism)
    guarantee = Guarantee(epsilon, data.size**-2 if gaussian else 0.0)
    return expected_error(
        data, mechanism, guarantee, omission, tolerance=1e-7, details=details, runs=2000
    )


def sampled(source: Source, mechanism: Mechanism, epsilon: float, rate: float) -> ExpectedError:
    return error(source, mechanism, epsilon, PoissonSampling(rate))


def losses(
    source: Source, mechanism: Mechanism, epsilon: float, bound: str = "published"
) -> dict[Cell, float]:
    """Return what suppression adds to the error, for every (m, M) that can be calibrated."""
    found = {}
    for m, M in CELLS:
        suppression = OutlierScoreSuppression(m, M, bound=bound)  # type: ignore[arg-type]
        try:
            suppressed = error(source, mechanism, epsilon, suppression)
        except Unattainable:
            continue
        assert suppressed.method == "exact"
        found[m, M] = suppressed.value - error(source, mechanism, epsilon).value
    return found


def deviation(one: ExpectedError) -> float:
    """Return the standard deviation of a single run's error, to first order."""
    parts = one.parts
    assert parts is not None
    assert parts.bias is not None
    return math.sqrt(parts.bias**2 + parts.omission**2 + parts.noise**2 - one.value**2)


# --- Section 3.2: sampling -----------------------------------------------------------------------


def require_worse_the_more_is_left_out(source: Source, mechanism: Mechanism) -> None:
    for epsilon in EPSILONS:
        curve = [sampled(source, mechanism, epsilon, rate) for rate in RATES]
        assert {point.method for point in curve} == {"exact"}
        assert all(point.low > error(source, mechanism, epsilon).high for point in curve)
        values = [point.value for point in curve]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("noise", KINDS)
def test_true_for_the_mode_of_adult_age_sampling_is_worse_at_every_rate(noise: str) -> None:
    # "worse ... for all mechanisms, databases, privacy parameters ... and (almost all) rates".
    # At all 99 rates: 1584 of 1584 points.
    require_worse_the_more_is_left_out(AGE, NoisyMode(noise, "published"))  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("source", [AGE, HOURS], ids=str)
def test_true_for_the_means_of_adult_sampling_is_worse_at_every_rate(
    source: Source, noise: str
) -> None:
    # "it always increases with respect to the mechanism without sampling".
    # At all 99 rates: 1584 of 1584 points.
    require_worse_the_more_is_left_out(source, NoisyMean(noise, "sum-and-count"))  # type: ignore[arg-type]


@outside_the_package
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("source", [IRISH_AGE, EDUCATION, TAX, SECURITY], ids=str)
def test_true_for_the_means_of_irish_and_census_sampling_is_worse_at_every_rate(
    source: Source, noise: str
) -> None:
    # Rates of .2 and more, where Census is exact too.
    mechanism = NoisyMean(noise, "sum-and-count")  # type: ignore[arg-type]
    for epsilon in (0.25, 2.0):
        for rate in (0.2, 0.5, 0.8, 0.99):
            point = sampled(source, mechanism, epsilon, rate)
            assert point.method == "exact"
            assert point.low > error(source, mechanism, epsilon).high


@outside_the_package
@pytest.mark.parametrize("noise", KINDS)
def test_true_for_the_mode_of_irish_age_sampling_is_worse_at_every_rate(noise: str) -> None:
    # At all 99 rates: 1584 of 1584 points.
    mechanism = NoisyMode(noise, "published")  # type: ignore[arg-type]
    for epsilon in (0.25, 2.0):
        for rate in (0.01, 0.1, 0.5, 0.9, 0.99):
            point = sampled(IRISH_AGE, mechanism, epsilon, rate)
            assert point.low > error(IRISH_AGE, mechanism, epsilon).high


def test_monte_carlo_noise_the_few_rates_where_sampling_looks_better() -> None:
    # "we find a few rates where M∘S preserves utility better ... due either to issues of
    # floating-point precision, or rare beneficial random choices by the sampling algorithm".
    # There is no such rate (the tests above). Averages of 500 runs for the mean and 2000 for the
    # mode change order by chance: so often are they expected to among the rates from .9 on.
    expected = {}
    for mechanism in (MEAN, NoisyMean("gaussian", "sum-and-count"), MODE, NoisyMode("gaussian")):
        plain, chances = error(AGE, mechanism, 0.25, details=True), []
        for step in range(90, 100):
            point = error(AGE, mechanism, 0.25, PoissonSampling(step / 100), details=True)
            if mechanism.statistic == "mean":
                spread = math.hypot(deviation(plain), deviation(point)) / math.sqrt(500)
            else:
                variances = (each.value * (1 - each.value) for each in (plain, point))
                spread = math.sqrt(sum(variances) / 2000)
            chances.append(float(stats.norm.sf((point.value - plain.value) / spread)))
        expected[str(mechanism)] = round(sum(chances), 1)
    assert expected == {
        "noisy mean, Laplace noise, sum and count": 0.9,
        "noisy mean, Gaussian noise, sum and count": 4.0,
        "noisy mode, Laplace noise": 0.0,
        "noisy mode, Gaussian noise": 1.8,
    }


def test_true_in_percentage_points_the_difference_is_small_near_rate_one() -> None:
    # "The difference becomes small near a sampling rate of 1". For the mean, as a difference; as a
    # factor it is 1.02 to 1.82. For the mode, at .99 it still is 4.4 percentage points.
    gaps, factors = [], []
    for epsilon in EPSILONS:
        plain, near = error(AGE, MEAN, epsilon).value, sampled(AGE, MEAN, epsilon, 0.99).value
        gaps.append(near - plain)
        factors.append(near / plain)
    assert max(gaps) < 0.009
    assert [round(factor, 2) for factor in factors] == [1.02, 1.08, 1.27, 1.82]
    mode = sampled(AGE, MODE, 0.25, 0.99).value - error(AGE, MODE, 0.25).value
    assert round(100 * mode, 1) == 4.4


@pytest.mark.parametrize("source", [AGE, HOURS], ids=str)
def test_true_for_adult_and_laplace_noise_the_error_of_the_mean_stays_below_two_per_cent(
    source: Source,
) -> None:
    # "less than 0.25% MPE for sampling rates larger than 0.4 and less than 2% even for more
    # abrasive rates near 0". Errors fall with the rate and with epsilon, so two points suffice.
    assert sampled(source, MEAN, 0.25, 0.4).value < 0.25
    assert sampled(source, MEAN, 0.25, 0.01).value < 2
    for rate in (0.01, 0.4):
        curve = [sampled(source, MEAN, epsilon, rate).value for epsilon in EPSILONS]
        assert curve == sorted(curve, reverse=True)
    if source == AGE:
        assert round(sampled(AGE, MEAN, 0.25, 0.41).value, 4) == 0.2156
        assert round(sampled(AGE, MEAN, 0.25, 0.01).value, 4) == 1.7019


def test_false_for_gaussian_noise_at_the_stated_delta_the_mean_errs_by_more() -> None:
    # The published noise did not depend on delta (THEORY, Section 2); at delta = n^-2 it is larger.
    gaussian = NoisyMean("gaussian", "sum-and-count")
    assert round(sampled(AGE, gaussian, 0.25, 0.41).value, 3) == 0.441
    assert round(sampled(AGE, gaussian, 0.25, 0.01).value, 2) == 2.91


@outside_the_package
def test_false_for_census_the_mean_errs_by_several_per_cent() -> None:
    found = {
        (source, rate): sampled(source, MEAN, 0.25, rate)
        for source in (TAX, SECURITY)
        for rate in (0.5, 0.1)
    }
    tenth = found.pop((TAX, 0.1))
    assert 7 < tenth.low < tenth.high < 9
    assert {error.method for error in found.values()} == {"exact"}
    assert {place: round(error.value, 1) for place, error in found.items()} == {
        (TAX, 0.5): 4.0,
        (SECURITY, 0.5): 3.7,
        (SECURITY, 0.1): 7.0,
    }
    # Near rate 0 the noisy count is often near 1.
    assert sampled(TAX, MEAN, 0.25, 0.01).low > 30


def test_false_the_mode_of_hours_per_week_is_not_over_half() -> None:
    # "the mode represents more than half the results in the database".
    hours = column(HOURS)
    assert (hours.modes, int(hours.counts.max()), hours.size) == ((40.0,), 15_217, 32_561)
    assert f"{hours.counts.max() / hours.size:.2%}" == "46.73%"


@pytest.mark.parametrize("noise", KINDS)
def test_true_the_mode_of_hours_per_week_is_never_missed(noise: str) -> None:
    # "both M and M∘S provide a perfect failure probability of 0": below 1e-10, for 40 hours are
    # five times as frequent as what comes next.
    mechanism = NoisyMode(noise, "published")  # type: ignore[arg-type]
    for epsilon in EPSILONS:
        assert error(HOURS, mechanism, epsilon).high < 1e-10
        for rate in (0.01, 0.05, 0.5, 0.99):
            assert sampled(HOURS, mechanism, epsilon, rate).high < 1e-10


@outside_the_package
def test_false_at_a_rate_of_one_per_cent_the_mode_of_education_is_missed() -> None:
    # "correct ... a perfect failure probability of 0" (Appendix A): 0.6 % at rate .01.
    assert f"{sampled(EDUCATION, MODE, 0.25, 0.01).value:.2%}" == "0.61%"
    assert sampled(EDUCATION, MODE, 0.25, 0.05).value < 1e-8
    assert error(EDUCATION, MODE, 0.25).value < 1e-10


def test_true_the_mode_of_adult_age_is_missed_by_most_samples() -> None:
    # "from under 18% to over 60% for most sampling rates": 73, 72, 72 and 71 of the 99 rates.
    assert f"{error(AGE, MODE, 0.25).value:.2%}" == "13.69%"
    assert all(error(AGE, MODE, epsilon).value < 0.18 for epsilon in EPSILONS)
    for epsilon, last in zip(EPSILONS, (73, 72, 72, 71), strict=True):
        # Errors fall with the rate, so this is the last rate with an error above 60 %.
        assert sampled(AGE, MODE, epsilon, last / 100).value > 0.6
        assert sampled(AGE, MODE, epsilon, (last + 1) / 100).value < 0.6


# --- Section 6.2: outlier-score suppression ------------------------------------------------------


def test_the_published_bound_can_be_calibrated_in_the_cells_of_the_notes() -> None:
    # THEORY, Section 1.3. The mixture bound reaches all 45 at every epsilon.
    assert [len(losses(AGE, MODE, epsilon)) for epsilon in EPSILONS] == [10, 15, 22, 31]
    assert len(losses(AGE, MODE, 0.25, "mixture")) == 45


@pytest.mark.parametrize("bound", ["published", "mixture"])
@pytest.mark.parametrize(
    ("source", "mechanism"),
    [(AGE, MEAN), (AGE, MODE), (HOURS, MEAN)],
    ids=str,
)
def test_true_on_adult_no_suppression_improves_utility(
    source: Source, mechanism: Mechanism, bound: str
) -> None:
    # "almost no points where outlier-score suppression improves utility": none of 78 published
    # cells, and none of all 180 with the mixture bound, which allows for less noise.
    for epsilon in EPSILONS:
        assert min(losses(source, mechanism, epsilon, bound).values()) > 0


@outside_the_package
@pytest.mark.parametrize("bound", ["published", "mixture"])
@pytest.mark.parametrize(
    ("source", "mechanism"), [(IRISH_AGE, MEAN), (EDUCATION, MEAN), (IRISH_AGE, MODE)], ids=str
)
def test_true_on_irish_no_suppression_improves_utility(
    source: Source, mechanism: Mechanism, bound: str
) -> None:
    assert min(losses(source, mechanism, 0.25, bound).values()) > 0


@outside_the_package
@pytest.mark.parametrize("source", [TAX, SECURITY], ids=str)
def test_true_on_census_no_suppression_improves_utility(source: Source) -> None:
    gaussian = NoisyMean("gaussian", "sum-and-count")
    plain = error(source, gaussian, 0.25)
    for m, M in ((0.1, 0.1), (0.1, 0.2), (0.1, 0.9), (0.5, 0.6), (0.9, 0.9)):
        assert error(source, gaussian, 0.25, OutlierScoreSuppression(m, M)).low > plain.high


@pytest.mark.parametrize("mechanism", [MEAN, MODE], ids=str)
def test_true_the_least_is_lost_where_the_least_is_suppressed(mechanism: Mechanism) -> None:
    # "The difference also becomes smaller near m = M = 0.1".
    for epsilon in EPSILONS:
        lost = losses(AGE, mechanism, epsilon)
        assert min(lost, key=lost.__getitem__) == (0.1, 0.1)


def test_true_the_most_is_lost_for_the_mode_where_the_most_is_suppressed() -> None:
    # "These large differences are observed for values of m and M closer to 1".
    for epsilon in EPSILONS:
        lost = losses(AGE, MODE, epsilon)
        assert max(lost, key=lost.__getitem__) == (0.9, 0.9)


def test_for_the_mean_the_most_is_lost_where_suppression_is_most_unequal() -> None:
    # Not a claim of the text, but what its plots would show if they were filled: at epsilon = 2
    # bias outweighs the number of records, and with the mixture bound it does at every epsilon.
    published = [losses(AGE, MEAN, epsilon) for epsilon in EPSILONS]
    assert [max(lost, key=lost.__getitem__) for lost in published] == [
        (0.9, 0.9),
        (0.9, 0.9),
        (0.9, 0.9),
        (0.6, 0.9),
    ]
    mixture = [losses(AGE, MEAN, epsilon, "mixture") for epsilon in EPSILONS]
    assert {max(lost, key=lost.__getitem__) for lost in mixture} == {(0.1, 0.9)}


def test_true_the_mean_loses_less_than_0_6_percentage_points() -> None:
    # "remains at insignificantly low levels all throughout, around less than 0.6 p.p.".
    most = {epsilon: max(losses(AGE, MEAN, epsilon).values()) for epsilon in EPSILONS}
    assert [round(most[epsilon], 3) for epsilon in EPSILONS] == [0.414, 0.440, 0.455, 0.550]
    # "Insignificant" is relative: without suppression the error is 0.0107 % at epsilon = 2.
    assert round(error(AGE, MEAN, 2.0).value, 4) == 0.0107


def test_false_beyond_the_published_cells_the_mean_loses_more() -> None:
    # At (m, M) = (.1, .9), which Theorem 5.4 cannot calibrate and the mixture bound can; and with
    # Gaussian noise at the stated delta.
    assert round(max(losses(AGE, MEAN, 2.0, "mixture").values()), 3) == 0.662
    assert round(max(losses(AGE, NoisyMean("gaussian", "sum-and-count"), 0.25).values()), 2) == 1.18


def test_monte_carlo_noise_the_smallest_loss_of_the_mean_is_not_0_021() -> None:
    # "sometimes even as low as 0.021 p.p.": 0.0177, and a difference of two averages of 500 runs
    # has a standard deviation of a quarter of that.
    smallest = min(losses(AGE, MEAN, epsilon)[0.1, 0.1] for epsilon in EPSILONS)
    assert round(smallest, 4) == 0.0177
    plain = error(AGE, MEAN, 0.25, details=True)
    suppression = OutlierScoreSuppression(0.1, 0.1, bound="published")
    suppressed = error(AGE, MEAN, 0.25, suppression, details=True)
    spread = math.hypot(deviation(plain), deviation(suppressed)) / math.sqrt(500)
    assert abs(0.021 - smallest) < spread


def test_monte_carlo_noise_the_mode_loses_87_25_and_not_87_9_percentage_points() -> None:
    # "there is up to an 87.9 p.p. difference ... for RNM with Laplace noise on the age column".
    most = max(max(losses(AGE, MODE, epsilon).values()) for epsilon in EPSILONS)
    assert f"{100 * most:.2f}" == "87.25"
    # 87.9 is within one standard deviation of 2000 runs.
    assert 0.879 - most < math.sqrt(most * (1 - most) / 2000)


def equal_shares(source: Source, mechanism: Mechanism, bound: str) -> tuple[int, int, float]:
    """Count the cells in which suppression is worse than sampling that leaves as many records.

    Returns how many are, of how many, and the largest difference where it is not.
    """
    worse, cells, best = 0, 0, 0.0
    data = column(source)
    for epsilon in EPSILONS:
        for m, M in CELLS:
            suppression = OutlierScoreSuppression(m, M, bound=bound)  # type: ignore[arg-type]
            try:
                suppressed = error(source, mechanism, epsilon, suppression)
            except Unattainable:
                continue
            if m == M:
                continue
            share = (
                float(inclusion(suppression, data, mechanism.distance) @ data.counts) / data.size
            )
            gain = sampled(source, mechanism, epsilon, share).value - suppressed.value
            worse, cells, best = worse + (gain < 0), cells + 1, max(best, gain)
    return worse, cells, best


def test_true_for_the_mean_sampling_loses_less_than_suppressing_as_many() -> None:
    # "the values of m and M that show the least utility loss are those on the diagonal ... (when
    # comparing similar proportions of suppressed records)".
    assert equal_shares(AGE, MEAN, "published")[:2] == (42, 42)
    assert equal_shares(AGE, MEAN, "mixture")[:2] == (144, 144)


def test_false_for_the_mode_suppressing_as_many_mostly_loses_less_than_sampling() -> None:
    # For the mode it is the other way round in 37 of the 42 published cells, by up to 0.7
    # percentage points: the mode's own records are kept more often, as the paper expected.
    # Averages of 2000 runs, right to one percentage point, could not show it.
    worse, cells, gain = equal_shares(AGE, MODE, "published")
    assert (worse, cells) == (5, 42)
    assert 0.001 < gain < 0.01


@outside_the_package
def test_false_for_the_mode_of_irish_age_too() -> None:
    assert equal_shares(IRISH_AGE, MODE, "published")[:2] == (5, 42)


def steps_that_worsen(source: Source, mechanism: Mechanism) -> tuple[int, int]:
    """Count the steps from one epsilon to the next at which a cell's loss grows, and all steps."""
    growing, steps = 0, 0
    by_epsilon = [losses(source, mechanism, epsilon) for epsilon in EPSILONS]
    for before, after in itertools.pairwise(by_epsilon):
        for cell in before:
            growing, steps = growing + (after[cell] > before[cell]), steps + 1
    return growing, steps


def test_true_for_the_mean_of_adult_the_loss_nearly_always_grows_with_epsilon() -> None:
    # "nearly always show that the utility difference under suppression worsens as ε increases".
    assert steps_that_worsen(AGE, MEAN) == (44, 47)


def test_false_for_the_mode_the_loss_grows_with_epsilon_in_just_over_half_of_the_steps() -> None:
    # From epsilon = 1 to 2 there is no noise left to lose, and less of it is suppressed with.
    assert steps_that_worsen(AGE, MODE) == (27, 47)


@outside_the_package
def test_false_for_census_with_gaussian_noise_the_loss_mostly_shrinks_with_epsilon() -> None:
    # On 1,080 records noise is most of the error: on FEDTAX the loss grows in 16 of the 47 steps.
    # Here two cells, in which it never does.
    gaussian = NoisyMean("gaussian", "sum-and-count")
    cells = [OutlierScoreSuppression(m, M, bound="published") for m, M in ((0.5, 0.6), (0.9, 0.9))]
    for cell in cells:
        curve = [
            error(TAX, gaussian, epsilon, cell).value - error(TAX, gaussian, epsilon).value
            for epsilon in EPSILONS
        ]
        assert curve == sorted(curve, reverse=True)
