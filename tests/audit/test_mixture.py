"""The checks of the shift rule and the mixture bound, and that they can fail."""

from __future__ import annotations

import numpy as np
import pytest

from omit.audit import bounds as mixture
from omit.audit.bounds import checks, run
from omit.omissions import mixture_epsilon

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("index", range(6))
def test_every_claim_holds_on_random_cases(index: int) -> None:
    check = checks(seed=1, cases=20)[index]
    outcome = run(check)
    assert outcome.holds, outcome
    assert outcome.closest_ratio > 0.5


def test_every_case_that_is_announced_is_run() -> None:
    for check in checks(seed=2, cases=3):
        assert len(list(check.cases)) == check.count


def test_a_bound_that_is_too_low_by_a_thousandth_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = mixture_epsilon
    monkeypatch.setattr(mixture, "mixture_epsilon", lambda *arguments: 0.999 * honest(*arguments))
    assert not run(checks(seed=1, cases=20)[3]).holds


def test_random_metrics_are_metrics() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        d = mixture._random_metric(rng, 12)
        assert d.max() <= 1
        assert (d >= 0).all()
        np.testing.assert_allclose(d, d.T)
        np.testing.assert_allclose(np.diag(d), 0)
        assert (d[:, :, None] <= d[:, None, :] + d[None, :, :].transpose(0, 2, 1) + 1e-9).all()
