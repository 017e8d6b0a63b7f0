"""R's random numbers. All expected values were printed by R 4.2.2 (`options(digits = 17)`)."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from omit.data.r_random import RRandom, normal_quantile
from omit.errors import InvalidInput


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (123, [0.28757752012461424, 0.78830513544380665, 0.40897692181169987]),
        (42, [0.91480604349635541, 0.93707541329786181]),
        (0, [0.89669720013625920, 0.26550866314209998]),
        (-1, [0.48666717973537743, 0.19136525527574122]),
        (2147483647, [0.68966742674820125, 0.98787517822347581]),
        (-2147483647, [0.56201667874120176, 0.57561779324896634]),
    ],
)
def test_uniform_numbers_are_those_of_runif(seed: int, expected: list[float]) -> None:
    assert RRandom(seed).uniform(len(expected)).tolist() == expected


def test_normal_numbers_are_those_of_rnorm() -> None:
    expected = [
        *(-0.560475646552212603, -0.230177489483279957, 1.558708314149124030),
        *(0.070508391424576003, 0.129287735160946243, 1.715064986883281017),
    ]
    assert RRandom(123).normal(6) == pytest.approx(expected, rel=4e-16)
    assert RRandom(42).normal(2) == pytest.approx(
        [1.37095844714666848, -0.56469817139608869], rel=4e-16
    )
    assert RRandom(7).normal(2, 3, 2) == pytest.approx(
        [7.57449432268104772, 0.60645663555530094], rel=4e-16
    )


def test_a_hundred_thousand_normal_numbers_agree_far_into_both_tails() -> None:
    numbers = RRandom(11).normal(100_000)
    assert numbers.sum() == pytest.approx(487.12816362709816, rel=1e-12)
    assert (numbers.min(), numbers.max()) == pytest.approx(
        (-4.1993725367223602, 4.2284774462795705), rel=4e-16
    )


def test_lognormal_numbers_are_those_of_rlnorm() -> None:
    assert RRandom(123).lognormal(3, 5.0, 0.5) == pytest.approx(
        [112.14157961834633, 132.27872577204715, 323.55016034212957], rel=1e-15
    )


@pytest.mark.parametrize(
    ("seed", "shapes", "expected"),
    [
        (123, (2, 10), [0.10418359115539942, 0.13830055212318426, 0.50997078768392634]),
        (1, (10, 2), [0.90181259933375446, 0.80752949740142199, 0.91920876516764305]),
        (2, (2, 2), [0.25940313436912693, 0.55203702110259345, 0.20595973530666764]),
        (123, (0.5, 0.7), [0.5986685444130964706, 0.0028540049175780993, 0.3631881086902110645]),
        (1, (1, 3), [0.479740708513417324, 0.199070372167906101, 0.019147808714153971]),
        (1, (3, 0.8), [0.51245802749860747, 0.84404441335166935, 0.99237585962656538]),
        (5, (1e-3, 2e-3), [5.5626846462698611e-312, 1.1933804858538628e-49]),
        (5, (1.0000001, 1e5), [2.5033460502604298e-06, 1.1688172614026259e-06]),
    ],
)
def test_beta_numbers_are_those_of_rbeta(
    seed: int, shapes: tuple[float, float], expected: list[float]
) -> None:
    assert RRandom(seed).beta(len(expected), *shapes) == pytest.approx(expected, rel=4e-16)


def test_normal_quantiles_have_sixteen_digits() -> None:
    probabilities = [1e-300, 1e-17, 1e-10, 0.001, 0.02, 0.0749, 0.0751, 0.3, 0.5, 0.95, 0.999999]
    with mpmath.workdps(40):
        for p in probabilities:
            quantile = float(normal_quantile(np.array(p)))
            root = mpmath.findroot(lambda x, p=p: mpmath.ncdf(x) / p - 1, quantile)
            assert quantile == pytest.approx(float(root), rel=4e-16)


def test_what_is_drawn_goes_on_where_the_last_call_ended() -> None:
    one, other = RRandom(9), RRandom(9)
    together = one.uniform(5)
    assert np.concatenate([other.uniform(2), other.uniform(3)]).tolist() == together.tolist()
    assert other.normal(0).size == 0


@pytest.mark.parametrize("seed", [2**31, -(2**31), 0.5, math.nan, "1"])
def test_seeds_that_r_does_not_take_are_refused(seed: int) -> None:
    with pytest.raises(InvalidInput, match="seed"):
        RRandom(seed)
    with pytest.raises(InvalidInput, match="shape b"):
        RRandom(1).beta(1, 2.0, 0.0)
