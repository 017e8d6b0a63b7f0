"""Several mechanisms for one statistic have one verdict."""

from __future__ import annotations

import itertools
import json

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    NoisyMean,
    NoisyMode,
    PoissonSampling,
    compare,
)
from omit.accuracy.ranking import Ranking, ranked
from omit.laws.intervals import judge
from omit.mechanisms import GlobalQuantile, SmoothQuantile

AGES = Column.from_values([20, 30, 30, 30, 40] * 40, bounds=(0, 100), name="age")
TARGET = Guarantee(0.5, 1e-6)
MODES = Ranking(
    tuple(
        compare(AGES, NoisyMode(noise), TARGET, PoissonSampling(0.5))
        for noise in ("laplace", "gaussian", "gumbel")
    )
)


def test_pairs_are_in_the_order_of_their_errors() -> None:
    errors = [pair.error.value for pair in MODES.pairs]
    assert len(errors) == 6
    assert all(first <= second for first, second in itertools.pairwise(errors))


def test_the_verdict_is_on_the_smallest_error_of_all() -> None:
    best = MODES.pairs[0]
    assert best.uses_all
    assert f"the best pair is {best.mechanism}" in MODES.verdict
    assert "nothing tested beats using all records" in MODES.verdict


def test_a_gain_of_a_poor_mechanism_is_no_gain_over_a_better_one() -> None:
    drawn = Column.from_values([i % 97 for i in range(1001)], bounds=(0, 100))
    target, sample = Guarantee(1.0, 1e-6, "replace"), FixedSizeSampling(501, 1001)
    poor = compare(drawn, GlobalQuantile(), target, sample)
    good = compare(drawn, SmoothQuantile("student"), target, sample, runs=200)
    assert poor.rows[1].ratio is not None
    assert poor.rows[1].ratio < 1
    ranking = Ranking((poor, good))
    assert ranking.pairs[0].mechanism == good.question.mechanism
    beats = (
        not ranking.pairs[0].uses_all and judge(ranking.pairs[0].error, good.baseline) == "better"
    )
    assert ("it beats using all records" in ranking.verdict) == beats


def test_statistics_are_ranked_apart_and_single_ones_are_comparisons() -> None:
    mean = compare(AGES, NoisyMean(), TARGET, PoissonSampling(0.5))
    results = ranked([mean, *MODES.comparisons])
    assert results == [mean, MODES]


def test_a_ranking_has_all_forms_of_a_result() -> None:
    assert MODES.to_frame().shape == (6, 7)
    content = json.loads(json.dumps(MODES.to_json()))
    assert len(content["answers"]) == 3
    assert [row["error"] for row in content["ranking"]] == [p.error.value for p in MODES.pairs]
    assert MODES.verdict in MODES.summary()
    assert "noisy mode" in MODES.to_latex(["mechanism", "error"])
    assert MODES.plot() is not None
    assert "<table" in MODES._repr_html_()
