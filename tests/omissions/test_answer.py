"""What bound and calibrate return presents itself in every form, whoever wrote the omission."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest
from numpy.typing import ArrayLike

from omit import Guarantee, OutlierScoreSuppression, PoissonSampling, Statement, WrongNeighbours
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.omissions import (
    FixedSizeSampling,
    IndependentPair,
    Omission,
    RuleSuppression,
    ThresholdOutlierRemoval,
    TopOutlierRemoval,
)
from omit.omissions.answer import PrivacyAnswer, bound, calibrate
from omit.omissions.pair_answer import pair_bound


@dataclass(frozen=True)
class Halving(Omission):
    """An omission of another package: it only says what becomes of epsilon."""

    strength: float = 0.5

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return as_array(epsilon) * self.strength


class Nameless(Omission):
    """One that is no dataclass and has two bounds."""

    def __str__(self) -> str:
        return "nameless"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return as_array(epsilon)

    def privacy_bounds(self, epsilon: float) -> dict[str, float]:
        return {"mine": epsilon, "yours": 2 * epsilon}


def test_an_omission_of_another_package_is_bounded_and_calibrated_in_every_form() -> None:
    answer = bound(Halving(), Guarantee(1.0))
    content = answer.to_json()
    assert (content["omission"], content["parameters"]) == ("Halving", {"strength": 0.5})
    assert content["epsilon"] == pytest.approx(0.5)
    assert answer.to_frame()["epsilon"].tolist() == [content["epsilon"]]
    assert "amplified" in answer._repr_html_()
    assert r"\begin{tabular}" in answer.to_latex()
    assert len(answer.plot().lines) == 3
    needed = calibrate(Halving(), Guarantee(1.0))
    assert needed.to_json()["epsilon"] == pytest.approx(2.0)
    assert needed.plot().get_xlabel() == "ε of the mechanism"


def test_several_bounds_are_listed_by_name_whoever_proved_them() -> None:
    answer = bound(Nameless(), Guarantee(1.0))
    assert answer.to_json()["bounds"] == {"mine": 1.0, "yours": 2.0}
    assert answer.to_json()["parameters"] == {}
    _, bounds = answer.tables()
    assert [row[:2] for row in bounds.rows] == [("mine", 1.0), ("yours", 2.0)]


def test_calibrate_is_the_inverse_of_bound_for_several_statistics_and_rows() -> None:
    sampling = PoissonSampling(0.3)
    answer = bound(sampling, Guarantee(0.4, 1e-7), releases=3, rows_per_person=2)
    stated = answer.released
    assert not isinstance(stated, Guarantee)
    target = Guarantee(stated.epsilon, stated.delta)  # type: ignore[union-attr]  # a statement
    base = calibrate(sampling, target, releases=3, rows_per_person=2).base
    assert isinstance(base, Guarantee)
    assert base.epsilon == pytest.approx(0.4, rel=1e-12)
    assert base.delta == pytest.approx(1e-7, rel=1e-12)
    assert "3 statistics on the same sample" in answer.verdict
    assert "a person with up to 2 records" in answer.verdict


def test_no_guarantee_and_no_noise_are_answers_in_every_form() -> None:
    removal = bound(TopOutlierRemoval(0.1), Guarantee(1.0))
    assert removal.to_json()["witness"]["left_of_smaller"]
    assert "no guarantee" in removal.summary()
    with pytest.raises(InvalidInput, match="no figure"):
        removal.plot()
    sample = calibrate(PoissonSampling(0.01), Guarantee(1.0, 0.05))
    assert sample.to_json()["answer"] == "no noise needed"
    assert "No noise is needed" in sample.summary()
    assert sample.plot() is not None


def test_a_pair_of_databases_shows_both_directions_by_every_method() -> None:
    pair = IndependentPair(before=(0.1, 0.2), after=(0.2, 0.1), added=0.3)
    loss = pair_bound(pair, 1.0).leading
    answer = pair_bound(pair.to_subsets(), 1.0, 1e-6)
    content = json.loads(json.dumps(answer.to_json()))
    assert content["directions"]["exact"]["presence"] == pytest.approx(loss.presence, abs=1e-6)
    assert content["bounds"]["exact"] >= content["lower_bound"] - 1e-9
    assert len(answer.to_frame()) == 3
    assert "not a guarantee" in answer.summary()
    assert answer.plot().get_xlabel() == "ε of this pair of databases"


@pytest.mark.parametrize(
    ("omission", "neighbours"),
    [
        (PoissonSampling(0.1), "add-remove"),
        (FixedSizeSampling(10, 100), "replace"),
        (OutlierScoreSuppression(0.1, 0.2), "add-remove"),
    ],
)
def test_answers_have_reports_and_no_infinite_numbers(
    omission: Omission, neighbours: str, tmp_path: object
) -> None:
    answer = bound(omission, Guarantee(2.0, 1e-5, neighbours))
    page = answer.write_report(f"{tmp_path}/page.html").read_text(encoding="utf-8")
    assert str(omission) in page
    assert "confidential" not in page
    assert all(map(math.isfinite, (answer.to_json()["epsilon"], answer.to_json()["delta"])))


ONE = Guarantee(1.0)
SAMPLE = PoissonSampling(0.1)
ANSWERS = [
    bound(SAMPLE, ONE),
    bound(SAMPLE >> OutlierScoreSuppression(0.1, 0.3), ONE, releases=3, rows_per_person=2),
    bound(RuleSuppression(keep=(0, 100)), ONE, declared=(0, 200)),
    bound(ThresholdOutlierRemoval(0.5), ONE),
    calibrate(SAMPLE, Guarantee(1.0, 0.1)),
    calibrate(FixedSizeSampling(100, 1000), Guarantee(1.0, 1e-6, "replace"), releases=2),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.title)
def test_the_python_on_the_page_of_an_answer_repeats_it(
    answer: PrivacyAnswer, capsys: pytest.CaptureFixture[str]
) -> None:
    code = answer.python()
    assert code is not None
    exec(code, {})
    assert capsys.readouterr().out == f"{answer}\n"


def test_what_cannot_be_promised_is_not_recommended() -> None:
    lost, found = (
        bound(way, ONE, releases=count).card
        for way, count in ((ThresholdOutlierRemoval(0.5), 1), (TopOutlierRemoval(0.1), 3))
    )
    assert lost.promised.number == found.promised.number == "nothing"
    assert lost.instead.number == "use all records"
    assert found.instead.number == "ask for less"
    assert calibrate(SAMPLE, Guarantee(1.0, 0.1)).card.instead.number == "no noise"
    assert "promises more" in bound(Halving(2.0), ONE).card.instead.sentence
    assert "Nobody may learn" in bound(SAMPLE, ONE).card.instead.sentence
    assert bound(Nameless(), ONE).python() is None


def test_a_release_is_stated_under_replace_by_conversion_with_the_sentence() -> None:
    scores = OutlierScoreSuppression(m=0.1, M=0.3)
    plain = scores.amplify(Guarantee(1.0, 1e-6))
    assert isinstance(plain, Statement)
    answer = bound(scores, Guarantee(1.0, 1e-6), stated_under="replace")
    assert isinstance(answer.released, Statement)
    assert answer.released.neighbours == "replace"
    assert answer.released.epsilon == pytest.approx(2 * plain.epsilon)
    assert answer.released.delta == pytest.approx((1 + math.exp(plain.epsilon)) * plain.delta)
    assert "To replace a record is to remove one and to add one" in answer.notes[0]
    assert not answer.bounds


def test_nothing_follows_for_a_mechanism_that_is_private_under_replace_only() -> None:
    scores = OutlierScoreSuppression(m=0.1, M=0.3)
    with pytest.raises(WrongNeighbours, match="add-remove"):
        bound(scores, Guarantee(1.0, neighbours="replace"), stated_under="replace")
    drawn = FixedSizeSampling(1, 10)
    with pytest.raises(WrongNeighbours, match="says nothing under add-remove"):
        bound(drawn, Guarantee(1.0, neighbours="replace"), stated_under="add-remove")


def test_a_group_of_records_under_replace_is_twice_as_large() -> None:
    sampling = PoissonSampling(0.5)
    one = sampling.amplify(Guarantee(1.0))
    assert isinstance(one, Statement)
    answer = bound(sampling, Guarantee(1.0), rows_per_person=3, stated_under="replace")
    assert isinstance(answer.released, Statement)
    assert answer.released.epsilon == pytest.approx(6 * one.epsilon)
