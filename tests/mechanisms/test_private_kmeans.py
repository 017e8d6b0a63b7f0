"""The estimator does what DPLloyd does, in the units of the data and by scikit-learn's rules."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import omit
from omit import Guarantee, InvalidInput
from omit._numeric import FloatArray
from omit.data.points import Points
from omit.mechanisms import PrivateKMeans
from omit.mechanisms.kmeans import DPLloyd

BOUNDS = [(0.0, 125.0), (0.0, 1000.0)]


def people(size: int = 300, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(15, 95, size), rng.uniform(0, 1000, size)])


# None is expected to fail: at scikit-learn's small tables the noise drowns everything, but what is
# checked is the interface, and that results repeat. A check that finds fault raises.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*records lie outside the bounds:UserWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        PrivateKMeans(bounds=(-1, 1), random_state=0),
        PrivateKMeans(2, bounds=(-1, 1), random_state=0),
    ]
)
def test_scikit_learn_accepts_the_estimator(
    estimator: PrivateKMeans, check: Callable[[PrivateKMeans], None]
) -> None:
    if "array_api" in str(check):
        return  # asked for only where the environment switches the array API on
    check(estimator)


def test_centres_are_those_of_dplloyd_in_the_units_of_the_data() -> None:
    guarantee = Guarantee(2.0)
    rows = people()
    model = PrivateKMeans(3, guarantee=guarantee, bounds=BOUNDS, random_state=4).fit(rows)
    points = Points.from_rows(rows, BOUNDS)
    prepared = DPLloyd(3).prepare(points, guarantee)
    centres = prepared.centres(None, np.random.default_rng(4))
    assert np.array_equal(model.cluster_centers_, points.unscaled(centres))
    assert model.noise_scale_ == 3 * 5 / 2.0
    assert model.score(rows) == pytest.approx(-prepared.loss(centres), rel=1e-12)


def test_records_belong_to_the_nearest_centre_after_scaling() -> None:
    model = PrivateKMeans(4, guarantee=Guarantee(100.0), bounds=BOUNDS, random_state=1)
    rows = people(500)
    labels = model.fit_predict(rows)
    width = np.array([125.0, 1000.0]) / 2
    apart = np.linalg.norm((rows[:, None] - model.cluster_centers_[None]) / width, axis=2)
    assert model.transform(rows) == pytest.approx(apart, rel=1e-9)
    assert np.array_equal(labels, apart.argmin(axis=1))
    assert np.array_equal(labels, model.predict(rows))
    assert model.score(rows) == pytest.approx(-np.square(apart.min(axis=1)).mean())


def test_values_outside_the_bounds_are_moved_to_the_nearest_bound() -> None:
    rows = people(50)
    wild = rows.copy()
    wild[0] = [1e9, -1e9]
    tame = rows.copy()
    tame[0] = [125, 0]
    model = PrivateKMeans(3, bounds=BOUNDS, random_state=2)
    assert np.array_equal(model.fit(wild).cluster_centers_, model.fit(tame).cluster_centers_)
    assert np.array_equal(model.predict(wild), model.predict(tame))


@pytest.mark.filterwarnings("ignore:.*records lie outside the bounds:UserWarning")
@pytest.mark.parametrize(
    "rows",
    [np.zeros((1, 2)), np.full((40, 2), 7.0), people(2), np.full((3, 2), 1e300)],
    ids=["one record", "equal records", "fewer than clusters", "all outside"],
)
def test_no_property_of_the_records_is_a_reason_to_refuse_them(rows: FloatArray) -> None:
    for epsilon in (1e-9, 1.0, 1e9):
        model = PrivateKMeans(5, guarantee=Guarantee(epsilon), bounds=BOUNDS, random_state=0)
        model.fit(rows)
        assert ((model.cluster_centers_ >= 0) & (model.cluster_centers_ <= [125, 1000])).all()
        assert np.isfinite(model.score(rows))


def test_clones_and_parameters_carry_the_guarantee() -> None:
    model = PrivateKMeans(3, guarantee=Guarantee(0.5, 1e-6), budget="composed", bounds=BOUNDS)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    copy.set_params(max_iter=2, start="uniform")
    assert (copy.max_iter, copy.guarantee) == (2, Guarantee(0.5, 1e-6))
    assert copy.fit(people()).noise_scale_ < 3 * 2 / 0.5
    assert copy.n_iter_ == 2


def test_names_of_columns_are_kept_and_checked() -> None:
    table = pd.DataFrame(people(), columns=["age", "income"])
    model = PrivateKMeans(3, bounds=BOUNDS, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == ["age", "income"]
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"age": "years"}))
    assert model.get_feature_names_out().tolist() == [f"privatekmeans{i}" for i in range(3)]


def test_it_works_in_a_pipeline() -> None:
    pipeline = make_pipeline(PrivateKMeans(3, bounds=BOUNDS, random_state=0))
    assert pipeline.fit_predict(people()).shape == (300,)


def test_noise_is_fresh_without_a_seed_and_repeats_with_one() -> None:
    def centres(random_state: object) -> FloatArray:
        model = PrivateKMeans(2, bounds=BOUNDS, random_state=random_state)
        return np.asarray(model.fit(people()).cluster_centers_)

    assert not np.array_equal(centres(None), centres(None))
    for make in (lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)):
        assert np.array_equal(centres(make()), centres(make()))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "k=0"),
        ({"max_iter": 0}, "iterations=0"),
        ({"guarantee": 1.0}, "Expected a guarantee"),
        ({"guarantee": Guarantee(1.0), "epsilon": 1.0}, "not both"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"guarantee": Guarantee(0.0)}, "epsilon > 0"),
        ({"bounds": "from-data"}, "declared bounds"),
        ({"bounds": [(0, 1), "from-data"]}, "declared bounds"),
        ({"bounds": (1.0, 1.0)}, "no width"),
        ({"bounds": [(0, 1)] * 3}, "each of the 2 columns"),
        ({"bounds": None}, "declared bounds"),
        ({"budget": "all"}, "budget"),
        ({"random_state": "chance"}, "random_state"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_parameters_without_meaning_are_refused_by_fit(
    parameters: dict[str, object], message: str
) -> None:
    model = PrivateKMeans(**{"bounds": BOUNDS} | parameters)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=message):
        model.fit(people(10))


def test_an_epsilon_is_a_guarantee_without_delta() -> None:
    by_epsilon = PrivateKMeans(3, epsilon=0.5, bounds=BOUNDS, random_state=1).fit(people())
    guarantee = Guarantee(0.5)
    model = PrivateKMeans(3, guarantee=guarantee, bounds=BOUNDS, random_state=1).fit(people())
    assert np.array_equal(by_epsilon.cluster_centers_, model.cluster_centers_)


def test_bounds_in_other_units_than_the_data_are_noticed() -> None:
    model = PrivateKMeans(3, bounds=(0.0, 1.0), random_state=1)
    with pytest.warns(UserWarning, match="300 of 300 records lie outside the bounds"):
        model.fit(100 + people(300))


def test_bounds_that_were_not_declared_are_not_made_up() -> None:
    """Scaled by (-1, 1), people of 15 to 95 years would all be moved to 1."""
    for model in (PrivateKMeans(2), PrivateKMeans(n_clusters=2, guarantee=Guarantee(1.0))):
        with pytest.raises(
            InvalidInput, match=r"Expected declared bounds, bounds=\(lower, upper\)"
        ):
            model.fit(people(10))
        assert not hasattr(model, "cluster_centers_")


def test_what_tells_nothing_of_the_records_is_the_same_for_other_records() -> None:
    names = ["noise_scale_", "n_iter_", "n_features_in_"]
    one, other = (
        PrivateKMeans(2, bounds=BOUNDS).fit(people(size, seed)) for size, seed in ((30, 1), (99, 2))
    )
    assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
    # Everything a fitted model holds is said to be private or not.
    said = {"cluster_centers_", "labels_", *names}
    assert {name for name in vars(one) if name.endswith("_")} == said
    for name in (*said, "feature_names_in_"):
        assert f"{name} :" in str(PrivateKMeans.__doc__)


def test_nothing_is_predicted_before_the_fit() -> None:
    for ask in (PrivateKMeans().predict, PrivateKMeans().score, PrivateKMeans().transform):
        with pytest.raises(NotFittedError):
            ask(people(5))


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import omit\n"
        "from omit import *\n"
        "assert 'PrivateKMeans' in dir(omit.mechanisms)\n"
        "try:\n    omit.mechanisms.PrivateKMeans\n"
        "except omit.InvalidInput as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'omit[learn]'" in run.stdout


def test_the_estimator_is_exported() -> None:
    assert omit.mechanisms.PrivateKMeans is PrivateKMeans
