"""Omissions by name."""

from __future__ import annotations

import pytest

from omit import InvalidInput, OutlierScoreSuppression, PoissonSampling, Refused
from omit.omissions import omission
from omit.omissions.names import REFUSED, parse_omission


def test_an_omission_is_made_by_its_name() -> None:
    assert omission("poisson", rate=0.1) == PoissonSampling(rate=0.1)


@pytest.mark.parametrize("name", REFUSED)
def test_designs_without_a_valid_bound_are_refused_with_reason_and_citation(name: str) -> None:
    with pytest.raises(Refused, match=r"(Bun|Balle).*(arXiv|NeurIPS).*instead"):
        omission(name, rate=0.1)


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    with pytest.raises(InvalidInput, match="Did you mean poisson"):
        omission("poison", rate=0.1)


def test_parameters_that_do_not_fit_are_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="parameters of poisson"):
        omission("poisson", size=3)


@pytest.mark.parametrize("distance", ["absolute", "discrete", "euclidean", "manhattan"])
def test_a_short_form_may_carry_a_distance(distance: str) -> None:
    short = parse_omission(f"outlier-score:0.1,0.3,{distance}")
    assert short == OutlierScoreSuppression(0.1, 0.3, distance)
    assert parse_omission("outlier-score:0.1,0.3") == OutlierScoreSuppression(0.1, 0.3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("outlier-score:0.1,0.3,chebyshev", "distance='chebyshev' to be one of: absolute"),
        ("outlier-score:0.1,0.3,", "distance='' to be one of"),
        ("outlier-score:0.1,manhattan", "Expected numbers after the colon"),
        ("outlier-score:0.1", "in the form outlier-score:m,M or outlier-score:m,M,DISTANCE"),
        ("outlier-score:0.1,0.3,manhattan,euclidean", "in the form outlier-score:m,M or"),
        ("poisson:0.1,manhattan", "in the form poisson:rate"),
        ("poisson:0.1,0.2", r"in the form poisson:rate\."),
    ],
)
def test_a_short_form_that_does_not_fit_is_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_omission(text)
