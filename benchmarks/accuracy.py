"""How fast exact errors are, as ratios to plain record-level simulation in the same run.

Run with `python benchmarks/accuracy.py`, on one core but for the report. The baseline draws for
every record whether it is kept, then adds noise, as often as the omitting-records paper did: 2,000
runs for the mode and 500 for the mean. It is timed on a few points of the curve and scaled to all
of them. Wages are those of cps_tax_units.csv.gz in the folder that OMIT_DATA names.
"""

from __future__ import annotations

import os
import resource
import tempfile
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import omit
from omit.accuracy.expected import Question
from omit.accuracy.grids import CurvesQuestion, error_grid
from omit.accuracy.report import write_report
from omit.accuracy.search import default_candidates, usual_omissions
from omit.data.column import Column
from omit.mechanisms.base import Mechanism
from omit.mechanisms.mode import KINDS
from timing import seconds

EPSILONS = (0.25, 0.5, 1.0, 2.0)
RATES = tuple(np.round(np.arange(0.01, 1.0, 0.01), 2).tolist())
BASELINE_RATES = (0.1, 0.5, 0.9)
DELTA = 1e-9


def guarantee(mechanism: Mechanism, epsilon: float) -> omit.Guarantee:
    noisy = getattr(mechanism, "noise", "laplace")
    return omit.Guarantee(epsilon, DELTA if noisy == "gaussian" else 0.0)


def exact_curve(column: Column, mechanisms: list[Mechanism], tolerance: float) -> None:
    for mechanism in mechanisms:
        for epsilon in EPSILONS:
            for rate in RATES:
                omit.expected_error(
                    column,
                    mechanism,
                    guarantee(mechanism, epsilon),
                    omit.PoissonSampling(rate=rate),
                    "exact",
                    tolerance=tolerance,
                    details=False,
                )


def simulate_mode(ages: np.ndarray, mechanism: omit.NoisyMode, rate: float, runs: int) -> float:
    rng = np.random.default_rng(0)
    base = omit.PoissonSampling(rate=rate).calibrate(guarantee(mechanism, 1.0))
    assert isinstance(base, omit.Guarantee)
    noise = mechanism.count_noise(base)
    truth = np.bincount(ages).argmax()
    wrong = 0
    for _ in range(runs):
        counts = np.bincount(ages[rng.random(len(ages)) < rate], minlength=126)
        wrong += int((counts + noise.draw(rng, (126,))).argmax() != truth)
    return wrong / runs


def simulate_mean(ages: np.ndarray, mechanism: omit.NoisyMean, rate: float, runs: int) -> float:
    rng = np.random.default_rng(0)
    base = omit.PoissonSampling(rate=rate).calibrate(guarantee(mechanism, 1.0))
    assert isinstance(base, omit.Guarantee)
    quotient = mechanism.quotient(base, (0, 125))
    truth = ages.mean()
    errors = []
    for _ in range(runs):
        kept = ages[rng.random(len(ages)) < rate]
        sums, sizes = np.array([kept.sum() - quotient.origin * len(kept)]), np.array([len(kept)])
        errors.append(abs(float(quotient.draw(sums, sizes, rng)[0]) - truth) / truth)
    return 100 * float(np.mean(errors))


def exact_share(column: Column, mechanism: Mechanism, rates: tuple[float, ...]) -> None:
    for rate in rates:
        omit.expected_error(
            column, mechanism, omit.Guarantee(1.0), omit.PoissonSampling(rate), "exact",
            details=False,
        )  # fmt: skip


def show_two_sums(column: Column) -> None:
    """Print what two sums take against sum and count, on ages and on zeros and ones."""
    two_sums, halves = omit.NoisyMean(variant="two-sums"), omit.NoisyMean(variant="sum-and-count")
    shares = Column.from_counts([0, 1], [95_000, 5_000], bounds=(0, 1))
    rates = (0.1, 0.3)
    exact_share(shares, two_sums, rates)  # compiles
    ages, old_ages = (
        seconds(partial(exact_curve, column, [mean], 1e-6), 1) for mean in (two_sums, halves)
    )
    new, old = (
        seconds(partial(exact_share, shares, mean, rates), 1) for mean in (two_sums, halves)
    )
    print(
        f"mean by two sums, 4 epsilons x 99 rates: {ages:.1f} s, sum and count {old_ages:.1f} s, "
        f"ratio {old_ages / ages:.1f} (goal 1)\n"
        f"100,000 zeros and ones: {1000 * new / len(rates):.1f} ms a point (goal 5), "
        f"sum and count {1000 * old / len(rates):.0f} ms, ratio {old / new:.0f}"
    )


def many_values() -> tuple[float, float, float, float]:
    """Return the seconds, those of the processor, the gigabytes and the precision of a curve."""
    wages = np.random.default_rng(0).random(1_000_000) ** 2 * 500_000
    start, computed = perf_counter(), process_time()
    column = omit.Column.from_values(wages, bounds=(0, 500_000))
    question = Question(
        column, omit.NoisyMean(), omit.Guarantee(1.0), tolerance=1e-6, details=False
    )
    curve = error_grid(question, [omit.PoissonSampling(rate) for rate in RATES], EPSILONS)
    assert not curve.simulated
    precision = float(((curve.high - curve.low) / (2 * curve.errors)).max())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return perf_counter() - start, process_time() - computed, memory, precision


def show_many_values() -> None:
    """Print what a curve takes of a million different values, in a process of its own."""
    wages = np.random.default_rng(0).random(1_000_000) ** 2 * 500_000
    mechanism, truth = omit.NoisyMean(), float(wages.mean())
    rng, quotient = np.random.default_rng(0), mechanism.quotient(omit.Guarantee(1.0), (0, 500_000))

    def simulated_run() -> None:
        kept = wages[rng.random(len(wages)) < 0.5]
        sums, sizes = np.array([kept.sum() - quotient.origin * len(kept)]), np.array([len(kept)])
        abs(float(quotient.draw(sums, sizes, rng)[0]) - truth)

    points = len(EPSILONS) * len(RATES)
    simulated = seconds(simulated_run, 5) * 500 * points
    with get_context("spawn").Pool(1) as pool:
        wall, computed, memory, precision = min(pool.apply(many_values) for _ in range(3))
    print(
        f"mean of 1,000,000 different values, 4 epsilons x 99 rates: {wall:.1f} s, of the "
        f"processor {computed:.1f} s (goal 5), {memory:.2f} GB (goal 0.5), to {precision:.1e}, "
        f"record-level simulation {simulated:,.0f} s, ratio {simulated / wall:,.0f}"
    )


def show_searches(column: Column, wages: Column | None) -> None:
    """Print what looking for the best takes against computing the error of every candidate."""
    mechanism, target = omit.NoisyMean(), omit.Guarantee(1.0)
    candidates = tuple(default_candidates())

    def every_error() -> None:
        for omission in candidates:
            omit.expected_error(
                column, mechanism, target, omission, tolerance=1e-7, details=False, quick=True
            )

    found = seconds(lambda: omit.best(column, mechanism, target), 1)
    every = seconds(every_error, 1)
    print(
        f"best of {len(candidates)} omissions for the mean age: {found:.2f} s, all their errors "
        f"{every:.2f} s, ratio {every / found:.1f} (goal 1)"
    )
    if wages is not None:
        one = seconds(lambda: omit.expected_error(wages, mechanism, target), 1)
        found = seconds(lambda: omit.best(wages, mechanism, target), 1)
        print(
            f"best for {wages.distinct:,} different wages: {found:.1f} s (goal 20), "
            f"{found / one:.0f} times one error"
        )


def show_report(column: Column) -> None:
    """Print what a report takes against every point of its curves, one by one."""
    mechanisms: list[Mechanism] = [omit.NoisyMean(), omit.NoisyMode()]
    comparisons = [
        omit.compare(column, mechanism, omit.Guarantee(1.0), *usual_omissions("add-remove", 1))
        for mechanism in mechanisms
    ]

    def every_point() -> None:
        for comparison in comparisons:
            asked = CurvesQuestion(comparison.question)
            error_grid(asked.question, (*asked.samples, *asked.scores), asked.epsilons)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        report = seconds(lambda: write_report(file, comparisons, cores=os.cpu_count() or 1), 1)
    points = seconds(every_point, 1)
    print(
        f"report of mean and mode on all cores: {report:.1f} s, all points of its curves on one "
        f"{points:.1f} s, ratio {points / report:.1f}"
    )


def main() -> None:
    column = omit.read("adult", "age")
    ages = np.repeat(column.values.astype(int), column.counts)
    modes: list[Mechanism] = [omit.NoisyMode(noise=kind) for kind in KINDS]
    means: list[Mechanism] = [omit.NoisyMean("laplace"), omit.NoisyMean("gaussian")]
    exact_curve(column, [omit.NoisyMean()], 1e-6)  # compiles

    def mode_points() -> None:
        for rate in BASELINE_RATES:
            simulate_mode(ages, omit.NoisyMode(), rate, 2000)

    def mean_points() -> None:
        for rate in BASELINE_RATES:
            simulate_mean(ages, omit.NoisyMean(), rate, 500)

    for name, mechanisms, baseline, goal in (
        ("mode, 4 mechanisms x 4 epsilons x 99 rates", modes, mode_points, 200),
        ("mean, 2 mechanisms x 4 epsilons x 99 rates", means, mean_points, 20),
    ):
        points = len(mechanisms) * len(EPSILONS) * len(RATES)
        exact = seconds(partial(exact_curve, column, mechanisms, 1e-6), 1)
        simulated = seconds(baseline, 1) / len(BASELINE_RATES) * points
        print(
            f"{name}: exact {exact:.1f} s, record-level simulation {simulated:.0f} s, "
            f"ratio {simulated / exact:.0f} (goal {goal})"
        )
    show_two_sums(column)
    show_many_values()
    file = Path(os.environ.get("OMIT_DATA", "")) / "cps_tax_units.csv.gz"
    wages = omit.read(file, "e00200", bounds=(0, 500_000)) if file.exists() else None
    show_searches(column, wages)
    show_report(column)


if __name__ == "__main__":
    main()
