"""What the experiments of the paper rest on in its published code, and the error they estimate."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from omit.accuracy.expected import expected_error
from omit.data.reading import read
from omit.guarantee import Guarantee
from omit.laws.noise import Gaussian, Laplace
from omit.mechanisms.kmeans import DPLloyd
from omit.mechanisms.mode import NoisyMode
from omit.omissions.outlier_score import published_base_epsilon, published_epsilon
from omit.papers.claims import Finding, agreement, claim, claims_in
from omit.papers.omitting_records.as_published import (
    ModeOffByOne,
    reported_cost,
    scale_ignoring_delta,
)

_in_the_code = partial(claim, "Published code", ())


@claim(
    "Section 3.1",
    (),
    "A noisy mean has a mean percent error, which the average of its runs estimates.",
)
def _mean_percent_error_exists(_: object) -> Finding:
    """Integrate the error over noisy counts that are ever nearer to 0."""
    count, records, total = Laplace(2 / 0.25), 11, 11 * 7_545
    density = math.exp(-records / count.scale) / (2 * count.scale)
    grown = [2 * density * total * power * math.log(10) for power in (10, 100, 1000)]
    return Finding(
        agreement(grown[2] < 2 * grown[1]),
        "The noisy count has a positive density at 0. Of a 1 % sample of Census FEDTAX at ε = .25, "
        f"counts between 1 and 10^-10, 10^-100 and 10^-1000 add {grown[0]:,.0f}, {grown[1]:,.0f} "
        f"and {grown[2]:,.0f} to the mean distance, without limit: the expected error is infinite. "
        "Clamped at a count of 1 it is finite.",
    )


@_in_the_code("A sum of values in [lo, hi] moves by at most hi − lo.")
def _sum_sensitivity(_: object) -> Finding:
    values = range(1, 11)
    added = max(values)
    replaced = max(abs(x - y) for x in values for y in values)
    stated = max(values) - min(values)
    return Finding(
        agreement(added <= stated),
        "Values from 1 to 10, as the Irish education: adding a record moves the sum by up to "
        f"{added}, the code has {stated}, which is what replacing one moves it by ({replaced}).",
    )


@_in_the_code("The Gaussian noise has the δ of the paper, n^-2.")
def _gaussian_delta(_: object) -> Finding:
    delta = 32_561**-2
    scale = scale_ignoring_delta(0.25)
    exact = float(Gaussian(scale).precise_delta(0.25, 1.0))
    needed = Gaussian.calibrated(Guarantee(0.25, delta), 1.0).scale
    return Finding(
        agreement(exact <= delta),
        f"Its scale at ε = .25 is {scale:.1f} for every δ, where that of Adult needs {needed:.1f}: "
        f"its δ is {exact / delta:,.0f} times the stated one.",
    )


@_in_the_code("A round of DPLloyd must be divided among d·k + 1 noisy numbers.")
def _lloyd_budget(_: object) -> Finding:
    """Add a record to random points and look at what changes in the counts and sums."""
    rng, largest = np.random.default_rng(12), 0.0
    for _case in range(200):
        points, centres = rng.uniform(-1, 1, (30, 6)), rng.uniform(-1, 1, (5, 6))
        added = rng.choice([-1.0, 1.0], 6)
        both = np.vstack([points, added])
        nearest = ((both[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        numbers = [
            np.concatenate(
                [np.append(some[of == k].sum(axis=0), (of == k).sum()) for k in range(5)]
            )
            for some, of in ((points, nearest[:-1]), (both, nearest))
        ]
        largest = max(largest, float(np.abs(numbers[1] - numbers[0]).sum()))
    scale = DPLloyd.published(5).scale(Guarantee(1.0), dimensions=6)
    needed = DPLloyd(5, iterations=20).scale(Guarantee(1.0), dimensions=6)
    return Finding(
        agreement(largest > 7 + 1e-9),
        f"A record changes the counts and sums of all five clusters by at most {largest:g} in sum, "
        f"as clusters are disjoint (200 random cases): noise of scale {needed:g}/ε would do, the "
        f"code has {scale:g}/ε.",
    )


@_in_the_code("What is reported of k-median is an average cost.")
def _kmedian_reports_a_cost(_: object) -> Finding:
    good, bad = (reported_cost(cost, 1 / 222, 100) for cost in (0.068, 0.206))
    half = reported_cost(0.068, 1 / 222, 50)
    return Finding(
        agreement(good < bad and abs(half / good - 1) < 0.1),
        f"Centres with an average cost of .068 are reported as {good:.5f}, with .206 as {bad:.5f}: "
        f"the worse ones as less; half as many records with .068 as {half:.5f}. It is a weight, "
        "divided by the number of records.",
    )


@_in_the_code("The exponential mechanism answers with the value that it has chosen.")
def _exponential_mechanism_is_right(_: object) -> Finding:
    education = read("adult", "education-num")
    wrong = expected_error(education, ModeOffByOne(), Guarantee(1.0), details=False).value
    published = NoisyMode("gumbel", "published")
    right = expected_error(education, published, Guarantee(1.0), details=False).value
    return Finding(
        agreement(abs(wrong - right) < 1e-6),
        "With the lower bound of the domain added twice, the mode of Adult education-num (1 to 16) "
        f"is wrong with probability {wrong:.4f} at ε = 1, without it with {right:.4f}.",
    )


@_in_the_code("The inverse of ε^S is found.")
def _inverse_is_found(_: object) -> Finding:
    stuck = ((1.0, 0.6, 0.7), (0.5, 0.7, 0.8))
    right = [float(published_base_epsilon(*case)) for case in stuck]
    reached = [float(published_epsilon(*case)) for case in stuck]
    return Finding(
        agreement(*(abs(one - case[0]) < 1e-6 for one, case in zip(reached, stuck, strict=True))),
        f"In two of its 53 cells it is where the search starts: at ε = 1 and (.6, .7) it must be "
        f"{right[0]:.3f}, at ε = .5 and (.7, .8) {right[1]:.3f}; at the start the releases have "
        f"{reached[0]:.3f} and {reached[1]:.3f}.",
    )


CLAIMS = claims_in(globals())
