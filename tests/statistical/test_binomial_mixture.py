"""Mixtures of binomials that differ by one, against many digits."""

from __future__ import annotations

import mpmath
import numpy as np

from omit.laws.divergence import one_more
from omit.statistical.sampling import mixture_delta


def test_bounds_of_a_mixture_know_the_rounding_of_its_logarithm() -> None:
    """Among many entries delta falls so fast that the last digit of an epsilon shows."""
    trials, chance, share = 10**8, 0.21, 0.3
    epsilons = np.random.default_rng(5).uniform(1e-3, 1.8e-3, 12)
    bounds = mixture_delta(trials, chance, share, (0.0, 1 - share), epsilons)
    for epsilon, below, above in zip(epsilons, *bounds, strict=True):
        with mpmath.workdps(40):
            grown = mpmath.expm1(mpmath.mpf(epsilon))
            inner = float(mpmath.log1p(grown * (1 + (1 - mpmath.mpf(share)) / share)))
        # Rounded away from the truth: the divergence falls.
        before, after = np.nextafter(inner, 0), np.nextafter(inner, 1)
        truths = share * one_more(trials, chance, np.array([before, after]))
        assert above >= truths[0] * (1 - 1e-13)
        assert below <= truths[1] * (1 + 1e-13)
        assert above - below < 1e-8 * above
