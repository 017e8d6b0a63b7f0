"""One path from a question to its error: nothing is calibrated twice, no noise is no noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from omit import (
    Column,
    Guarantee,
    Mechanism,
    NoisyMean,
    NoisyMode,
    NoNoiseNeeded,
    PoissonSampling,
    best,
    compare,
    expected_error,
    solve,
)
from omit.mechanisms import (
    DPLloyd,
    ExponentialQuantile,
    GlobalQuantile,
    PrivateKMedian,
    ProposeTestRelease,
    SmoothQuantile,
)
from omit.report.result import Result
from tests.accuracy.test_compare_points import _clusters

ages = Column.from_counts([20, 30, 40, 60], [401, 800, 400, 400], bounds=(0, 100), name="age")
NONE = NoNoiseNeeded("for the test")


@pytest.mark.parametrize(
    "mechanism",
    [
        NoisyMean(),
        NoisyMean("gaussian", "published"),
        NoisyMean(metric="squared"),
        NoisyMean("laplace", "published", "squared"),
        *(NoisyMode(noise) for noise in ("laplace", "gaussian", "exponential", "gumbel")),
        GlobalQuantile(),
        SmoothQuantile(quantile=0.3),
        ExponentialQuantile(),
        ProposeTestRelease(),
    ],
    ids=repr,
)
def test_what_needs_no_noise_is_the_statistic_itself(mechanism: Mechanism) -> None:
    prepared = mechanism.prepare(ages, NONE)
    rows = np.tile(ages.counts, (20, 1))
    assert not prepared.errors(rows, np.random.default_rng(0)).any()


@pytest.mark.slow
def test_clusterings_without_noise_differ_by_their_starts_only() -> None:
    points = _clusters()
    for mechanism in (DPLloyd(3), PrivateKMedian(3, 12)):
        prepared = mechanism.prepare(points, NONE)
        first, second = (prepared.centres(None, np.random.default_rng(4)) for _ in range(2))
        assert first.tolist() == second.tolist()
        assert prepared.loss(first) < 0.5
        assert prepared.notes == ()


@pytest.mark.slow
def test_a_million_is_an_epsilon_like_any_other() -> None:
    target = Guarantee(1e6, neighbours="replace")
    error = expected_error(ages, GlobalQuantile(), target)
    # Laplace noise of scale 100/epsilon has twice its square as variance.
    assert error.value == pytest.approx(2 * 1e-4**2)
    row = compare(ages, NoisyMean(), Guarantee(1e6), PoissonSampling(0.5), runs=20).rows[1]
    assert not row.no_noise
    assert row.promise == PoissonSampling(0.5).calibrate(Guarantee(1e6))


def test_a_comparison_calibrates_and_prepares_every_row_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: dict[str, int] = {"calibrate": 0, "prepare": 0}
    calibrate, prepare = PoissonSampling.calibrate, NoisyMean.prepare

    def counted_calibrate(self: PoissonSampling, target: Guarantee) -> Guarantee | NoNoiseNeeded:
        calls["calibrate"] += 1
        return calibrate(self, target)

    def counted_prepare(self: NoisyMean, *arguments: object, **options: object) -> object:
        calls["prepare"] += 1
        return prepare(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(PoissonSampling, "calibrate", counted_calibrate)
    monkeypatch.setattr(NoisyMean, "prepare", counted_prepare)
    rates = [PoissonSampling(rate) for rate in (0.2, 0.5, 0.9)]
    compare(ages, NoisyMean(), Guarantee(1.0), *rates)
    assert calls == {"calibrate": 3, "prepare": 4}


@pytest.mark.parametrize("answer", ["compare", "best", "solve"])
def test_every_answer_presents_itself(answer: str) -> None:
    sampling, target = PoissonSampling(0.5), Guarantee(1.0)
    asked: dict[str, Callable[[], Result]] = {
        "compare": lambda: compare(ages, NoisyMean(), target, sampling),
        "best": lambda: best(ages, NoisyMean(), target, [sampling]),
        "solve": lambda: solve(ages, NoisyMean(), 1.0, sampling),
    }
    result = asked[answer]()
    assert result.command == answer
    assert result.verdict in result.summary()
    assert str(result.caution) in result.summary()
    assert len(result.to_frame()) >= 1
    assert r"\begin{tabular}" in result.to_latex(["omission", "error"])
    assert "<table" in result._repr_html_()
    content = result.to_json()
    assert content["verdict"] == result.verdict
    assert content["mechanism_has_guarantee"] is True
    assert "private" not in content
    if answer != "solve":
        assert result.plot().get_xlabel() == "relative error, %"
        other = result.plot(ax=result.plot())
        assert other.get_title()
