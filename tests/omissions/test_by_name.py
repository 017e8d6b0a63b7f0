"""Omissions by name."""

from __future__ import annotations

import pytest

from omit import InvalidInput, PoissonSampling, Refused, omission
from omit.omissions.by_name import REFUSED


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
