"""Pictures of any omission."""

from __future__ import annotations

import numpy as np
import pytest

from omit import FixedSizeSampling, InvalidInput, OutlierScoreSuppression, PoissonSampling
from omit.omissions import StableSuppression, TopOutlierRemoval
from omit.omissions.privacy_figure import exact_losses, omission_figure


def test_every_omission_has_a_row_with_bounds_exact_losses_and_the_floor() -> None:
    figure = omission_figure([OutlierScoreSuppression(0.1, 0.6), PoissonSampling(0.3)], [1.0])
    assert len(figure.axes) == 4
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == [
        "mixture bound",
        "published bound",
        "exact, up to 3 records",
        "no bound is lower",
        "no omission",
    ]


def test_what_is_exact_for_small_databases_is_between_the_floor_and_the_bound() -> None:
    epsilons = np.array([0.0, 0.5, 2.0])
    omission = OutlierScoreSuppression(0.1, 0.6)
    exact = exact_losses(omission, epsilons)
    assert exact is not None
    assert (exact <= omission.epsilon_after(epsilons) + 1e-9).all()
    poisson = exact_losses(PoissonSampling(0.3), epsilons)
    assert poisson == pytest.approx(PoissonSampling(0.3).epsilon_after(epsilons), abs=1e-9)


def test_what_is_not_known_of_data_is_drawn_without_exact_losses() -> None:
    assert exact_losses(StableSuppression(2), np.array([1.0])) is None
    assert exact_losses(FixedSizeSampling(1, 10), np.array([1.0])) is None
    omission_figure([StableSuppression(2), FixedSizeSampling(1, 10)], [1.0])


def test_what_leaves_no_guarantee_cannot_be_drawn() -> None:
    with pytest.raises(InvalidInput, match="leaves no guarantee"):
        omission_figure([TopOutlierRemoval(0.05)])
    with pytest.raises(InvalidInput, match="one to 6"):
        omission_figure([])
