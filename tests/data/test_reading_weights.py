"""Columns with survey weights: read from files and frames, clamped, and held against the truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

import omit
from omit.data.datasets import dataset
from omit.mechanisms import WeightedMean
from tests.conftest import Run

VALUES, WEIGHTS = [10, 20, 20, 150, "N", 30], [1, 2, 2, 4, 3, 700]
FRAME = pandas.DataFrame({"income": VALUES, "weight": WEIGHTS})


def people(folder: Path) -> Path:
    path = folder / "people.csv"
    FRAME.to_csv(path, index=False)
    return path


def test_a_file_and_a_frame_give_the_same_pairs(tmp_path: Path) -> None:
    for source in (people(tmp_path), FRAME):
        data = omit.read(
            source,
            "income",
            bounds=(0, 100),
            missing=["N"],
            weight="weight",
            weight_bounds=(0, 500),
        )
        assert data.values.tolist() == [10, 20, 30, 100]
        assert data.weights.tolist() == [1, 2, 500, 4]
        assert data.counts.tolist() == [1, 2, 1, 1]
        assert (data.missing, data.clamped, data.largest_weight) == (1, 2, 500)


def test_the_truth_is_the_mean_before_values_and_weights_are_clamped() -> None:
    data = omit.read(
        FRAME, "income", bounds=(0, 100), missing=["N"], weight="weight", weight_bounds=(0, 500)
    )
    truth = (10 + 2 * 40 + 4 * 150 + 700 * 30) / (1 + 4 + 4 + 700)
    assert data.before_clamping.mean == pytest.approx(truth, rel=1e-14)
    prepared = WeightedMean().prepare(data, omit.Guarantee(1.0))
    assert prepared.truth == data.before_clamping.mean
    clamped = (10 + 2 * 40 + 4 * 100 + 500 * 30) / (1 + 4 + 4 + 500)
    assert data.mean == pytest.approx(clamped, rel=1e-14)
    # Hardly any noise: what is left is the bias by clamping.
    error = omit.expected_error(data, WeightedMean(), omit.Guarantee(1e9))
    assert error.value == pytest.approx(100 * abs(clamped - truth) / truth, rel=1e-5)
    assert error.parts is not None
    assert error.parts.bias == pytest.approx(100 * (clamped - truth) / truth, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weight": "weight"}, "no declared bounds"),
        ({"weight_bounds": (0, 500)}, "weight="),
        ({"weight": "weight", "weight_bounds": (1, 500)}, "to be 0"),
        ({"weight": "income", "weight_bounds": (0, 500)}, "another column"),
        ({"weight": "heavy", "weight_bounds": (0, 500)}, "no column 'heavy'"),
        ({"weight": "weight", "weight_bounds": (0, 500), "step": 1.0}, "no step"),
    ],
)
def test_odd_weights_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(omit.InvalidInput, match=said):
        omit.read(FRAME, "income", bounds=(0, 100), missing=["N"], **options)  # type: ignore[call-overload]


def test_ignored_survey_weights_are_named() -> None:
    (sentence,) = dataset("nist-tx").ignored_weights("AGEP")
    assert "PWGTP" in sentence
    assert dataset("nist-tx").ignored_weights("PWGTP") == ()
    assert dataset("adult").ignored_weights("age") == ()


def test_a_survey_is_compared_with_its_weights(
    omit_command: Callable[[str], Run], tmp_path: Path
) -> None:
    words = "--column income --bounds 0 100 --missing-value N --weight weight --weight-bounds 0 500"
    result = omit_command(f"compare {people(tmp_path)} {words} --omit poisson:0.5 --no-report")
    assert result.code == 0
    assert "weighted mean, Laplace noise of income" in result.out
    assert "simulated" not in result.out.lower()
