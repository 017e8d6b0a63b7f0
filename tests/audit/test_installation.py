"""An installation is checked by numbers known from elsewhere, and a wrong one is said."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from mpmath import mp

import omit
from omit.audit import installation
from omit.audit.installation import Diagnosis, KnownNumber, diagnose


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    return diagnose()


def _known(diagnosis: Diagnosis, start: str) -> float:
    (known,) = [number.known for number in diagnosis.numbers if start in number.what]
    return known


def test_all_known_numbers_come_out_right(diagnosis: Diagnosis) -> None:
    assert len(diagnosis.numbers) == 5
    assert diagnosis.works
    assert "5 of 5" in diagnosis.verdict


def test_a_sample_permits_what_its_formula_says(diagnosis: Diagnosis) -> None:
    by_hand = mpmath.log(1 + 10 * (mp.e - 1))
    assert _known(diagnosis, "10 % sample") == pytest.approx(float(by_hand), rel=1e-12)


def test_the_mixture_bound_is_the_worst_of_many_copies_and_one_far_record(
    diagnosis: Diagnosis,
) -> None:
    """N copies of one point and one at distance 1: the supremum over N, extrapolated."""
    e, m, M = np.expm1(0.25), 0.1, 0.2

    def loss(copies: int) -> float:
        before, after = m, m + (M - m) / (copies + 1)
        added = m + (M - m) * copies / (copies + 1)
        rise = np.log1p(e * after) - np.log1p(e * before)
        return float(np.log(added + np.exp(0.25) * (1 - added)) + copies * rise)

    limit = 2 * loss(2_000_000) - loss(1_000_000)  # the next term is one over N
    assert _known(diagnosis, "mixture") == pytest.approx(limit, rel=1e-9)


def test_the_gaussian_scale_spends_delta(diagnosis: Diagnosis) -> None:
    with mp.workdps(40):
        scale, epsilon = mp.mpf(_known(diagnosis, "Gaussian")), mp.mpf("0.25")
        half, shift = 1 / (2 * scale), epsilon * scale
        delta = mp.ncdf(half - shift) - mp.exp(epsilon) * mp.ncdf(-half - shift)
        assert float(delta * 32561**2) == pytest.approx(1, rel=1e-8)


def test_theorem_5_4_is_the_largest_of_its_terms(diagnosis: Diagnosis) -> None:
    """Its three terms on a fine grid of the share of far records, in the paper's notation."""
    growth, m, M = math.e, 0.5, 0.6
    p = np.linspace(0, 1, 1_000_001)
    u, v = p * M + (1 - p) * m, (M + m - p * M) / (2 - p)
    exponents = p * M / m + (1 - p) * (1 - m) / (1 - u), p * M / m + (1 - p) * (1 - v) / (1 - M)
    means = u, p * M + (1 - p) * v
    terms = [
        (np.log(growth - (growth - 1) * mean) + exponent - 1).max()
        for mean, exponent in zip(means, exponents, strict=True)
    ]
    terms.append(-np.log(1 / growth + (1 - 1 / growth) * M) + 1 - (1 - M) / (1 - m))
    assert _known(diagnosis, "Theorem 5.4") == pytest.approx(max(terms), rel=1e-11)


def test_the_wrong_mode_is_an_integral(diagnosis: Diagnosis) -> None:
    """The noisy counts are independent, so the right answer's chance is one integral."""
    ages = omit.read("adult", "age")
    _, counts = ages.domain()
    best = int(np.argmax(counts))
    others = np.delete(counts, best)
    points, step = np.linspace(counts.max() - 400.0, counts.max() + 400.0, 800_001, retstep=True)
    density = 0.125 * np.exp(-0.25 * np.abs(points - counts[best]))
    chance = np.ones_like(points)
    for count, number in zip(*np.unique(others, return_counts=True), strict=True):
        away = 0.25 * (points - count)
        below = np.where(away < 0, 0.5 * np.exp(away), 1 - 0.5 * np.exp(-np.abs(away)))
        chance *= below**number
    right = step * float(density @ chance)
    assert _known(diagnosis, "wrong mode") == pytest.approx(1 - right, rel=1e-6)


def test_a_wrong_number_is_said(diagnosis: Diagnosis) -> None:
    wrong = KnownNumber("two and two", "by hand", 4.0, 5.0)
    broken = replace(diagnosis, numbers=(*diagnosis.numbers, wrong))
    assert not broken.works
    assert "5 of 6" in broken.verdict
    assert "cannot be trusted" in broken.notes[-1]
    assert "WRONG" in str(broken)


def test_what_an_extra_lacks_is_said_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = installation._version
    monkeypatch.setattr(
        installation, "_version", lambda name: None if name == "dask" else installed(name)
    )
    found = diagnose()
    assert ("cluster", "studies on a Dask cluster", ("dask",)) in found.extras
    assert any("pip install 'omit[cluster]'" in note for note in found.notes)


def test_data_sets_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    missing = {name for name, sentence in diagnose().data if sentence is not None}
    assert missing == {"irish", "census", "nist-ma", "nist-tx", "nist-national"}
