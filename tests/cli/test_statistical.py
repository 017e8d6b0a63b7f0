"""`omit curve`, `omit partition` and `omit reproduce statistical-privacy`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from omit.statistical.partition import Partition
from omit.statistical.properties import grouped_property_curve, property_curve
from tests.conftest import Run

Omit = Callable[[str], Run]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_property_curve_is_printed_and_drawn(omit_command: Omit) -> None:
    run = omit_command("curve property --n 1000000 --p 0.3 --known 500000")
    assert run.code == 0
    assert "500,000 others known" in run.out
    assert "not differential privacy" in run.out
    assert Path("curve.svg").read_text().startswith("<?xml")


def test_numbers_for_programs_are_those_of_the_library(omit_command: Omit) -> None:
    words = "curve property --n 1000 --p 0.3 --known 10 --epsilon 0.1 --epsilon 0.2 --json"
    content = omit_command(words).result
    assert content["delta"] == property_curve(1000, 0.3, [0.1, 0.2], known=10).delta.tolist()
    assert content["method"] == "exact"
    assert not list(Path().iterdir()), "programs get no picture"
    grouped = omit_command("curve property --group 50:0.2 --group 50:0.7 --epsilon 0.1 --json")
    expected = grouped_property_curve([(50, 0.2), (50, 0.7)], [0.1]).delta.tolist()
    assert grouped.result["delta"] == expected


@pytest.mark.parametrize("noise", ["laplace:2", "gaussian:2", "discrete-gaussian:2"])
def test_noise_has_a_name_and_a_scale(omit_command: Omit, noise: str) -> None:
    words = f"curve property --n 100 --p 0.3 --epsilon 0.1 --noise {noise} --no-figure"
    run = omit_command(words)
    assert run.code == 0
    assert "noise of scale 2" in run.out


def test_a_sum_takes_a_distribution_from_words_or_a_file(omit_command: Omit) -> None:
    Path("law.csv").write_text("value,probability\n0,0.5\n1,0.3\n2,0.2\n")
    words = "curve sum --n 500 --epsilon 0.1 --json"
    typed = omit_command(f"{words} --values 0:0.5,1:0.3,2:0.2")
    from_file = omit_command(f"{words} --distribution law.csv")
    assert typed.result["delta"] == from_file.result["delta"]
    drawn = omit_command("curve sum --n 500 --values 0:0.5,1:0.3,2:0.2 --output sum.png")
    assert drawn.code == 0
    assert Path("sum.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("way", ["without-replacement:20", "poisson:0.2", "with-replacement:8"])
def test_a_sample_is_shown_public_and_secret(omit_command: Omit, way: str) -> None:
    run = omit_command(f"curve sample --n 100 --p 0.3 --sample {way} --epsilon 0.1 --json")
    content = run.result
    public, secret = content["sample_public"], content["sample_secret"]
    assert secret["delta"][0] <= public["delta"][0]


def test_an_estimate_says_so(omit_command: Omit) -> None:
    run = omit_command("curve sample --n 50 --p 0.3 --sample with-replacement:40 --epsilon 0.1")
    assert "99% interval" in run.out
    assert "not a guarantee" in run.out


def test_a_plan_shows_both_deltas_and_both_ways_to_count(omit_command: Omit) -> None:
    words = "partition plan --n 32768 --queries 64 --epsilon 0.01 --same-property"
    content = omit_command(f"{words} --json").result
    assert content["block_sizes"] == [512] * 64
    assert content["delta_exact"] == pytest.approx(1.104815e-3, rel=1e-6)
    assert content["dp_at_theorem_delta"]["queries_by_the_paper"] == 5
    assert content["dp_at_exact_delta"]["queries_exactly"] == 63
    shown = omit_command(words)
    assert "4,037" in shown.out


@pytest.mark.slow
def test_a_plan_by_importance_by_probability_and_by_delta(omit_command: Omit) -> None:
    words = "partition plan --n 100 --queries 3 --epsilon 0.1 --importance 4,1,1 --json"
    assert omit_command(words).result["block_sizes"] == [50, 25, 25]
    for chances in ("0.5,0.1", "0.2,0.2", "0.2"):
        different = omit_command(f"partition plan --n 100 --queries 2 --epsilon 0.1 --p {chances}")
        assert "only the theorem holds" in different.out
        assert "exact  " not in different.out
    by_delta = "partition plan --n 32768 --delta 0.0307 --epsilon 0.01 --json"
    assert omit_command(by_delta).result["queries"] == 64


def test_a_partition_answers_each_query_on_its_block(omit_command: Omit) -> None:
    words = "partition answer adult --column age --query mean --query share:>=40 --seed 1 --json"
    content = omit_command(words).result
    assert [each["entries"] for each in content["answers"]] == [16281, 16280]
    assert content["answers"][0]["answer"] == pytest.approx(38.58, abs=0.5)
    assert content["statistical_guarantee"] is None
    declared = omit_command(
        "partition answer adult --column age --query share:>=40 --query share:<=20 "
        "--p 0.4,0.1 --epsilon 0.1 --seed 1"
    )
    assert "statistical privacy, assuming" in declared.out
    expected = Partition.by_importance(32561, [1, 1], (0.4, 0.1)).property_bound((0.4, 0.1), 0.1)
    assert f"{expected.delta[0]:.6g}"[:6] in declared.out


def test_answers_without_a_promise_are_called_not_private_in_the_first_line(
    omit_command: Omit,
) -> None:
    alone = omit_command("partition answer adult --column age --query mean")
    assert alone.out.startswith("NOT private")
    assert "the mean of age itself, of all 32,561 records" in alone.out.splitlines()[0]
    several = omit_command("partition answer adult --column age --query mean --query median")
    assert several.out.startswith("NOT private")
    declared = "partition answer adult --column age --query share:>=40 --p 0.4 --epsilon 0.1"
    assert not omit_command(declared).out.startswith("NOT private")
    nothing = omit_command(
        "partition answer adult --column age --query share:>=40 --p 1e-15 --epsilon 0"
    )
    assert nothing.out.startswith("NOT private"), "a delta of nearly 1 promises nothing"
    for words, private in (("--query mean", False), ("--query share:>=40 --p 0.4", True)):
        asked = f"partition answer adult --column age {words} --json"
        run = omit_command(asked + (" --epsilon 0.1" if private else ""))
        assert run.result["has_guarantee"] is private


def test_no_delta_is_shown_as_zero_unless_it_is(omit_command: Omit) -> None:
    tiny = omit_command("curve property --n 3000 --p 0.5 --epsilon 50 --no-figure").out
    assert re.search(r"^\s*50\s+1e-323", tiny, re.MULTILINE), "the truth is 2^-2999"
    pure = omit_command("curve property --n 50 --p 0.5 --noise laplace:1 --epsilon 2 --no-figure")
    assert re.search(r"^\s*2\s+0\s", pure.out, re.MULTILINE), "Laplace noise of scale 1 is 1-DP"


def test_epsilon_is_shown_with_its_digits(omit_command: Omit) -> None:
    for words in (
        "curve property --n 300 --p 0.5 --no-figure",
        "curve sum --n 300 --values 0:0.5,1:0.3,2:0.2 --no-figure",
        "curve sample --n 300 --p 0.5 --sample poisson:0.5",
        "partition plan --n 300 --queries 2",
    ):
        assert "1.0000049" in omit_command(f"{words} --epsilon 1.0000049").out


@pytest.mark.parametrize(
    "words",
    [
        "curve sum --n 50 --values 0:0.5,1:0.3,2:0.2 --no-figure",
        "curve sum --n 50 --values 0:0.5,1:0.3,2:0.2 --noise gaussian:0.5 --no-figure",
        "curve sample --n 6 --p 0.5 --sample with-replacement:4",
        "curve sample --n 400 --p 0.5 --sample poisson:0.3",
    ],
)
def test_curves_fall_with_epsilon(omit_command: Omit, words: str) -> None:
    asked = " ".join(f"--epsilon {each}" for each in (0, 1, 5, 20, 30, 37, 700, 1000))
    content = omit_command(f"{words.replace('--no-figure', '')} {asked} --json").result
    for curve in (content,) if "delta" in content else (content[k] for k in content if "_" in k):
        assert curve["delta"] == sorted(curve["delta"], reverse=True)
        assert (np.array(curve["delta_lower"]) <= curve["delta"]).all()
        assert curve["delta"][-1] < 0.2


def test_a_bound_is_marked_as_one(omit_command: Omit) -> None:
    asked = "curve sum --n 50 --values 0:0.5,1:0.3,2:0.2 --epsilon 0.5 --no-figure"
    exact, bound = omit_command(asked).out, omit_command(f"{asked} --noise gaussian:0.5").out
    assert re.search(r"\d  exact ", exact)
    assert "at most" not in exact
    assert re.search(r"\d  at most ", bound)
    assert re.search(r"Where δ is a bound, it is at most \S+ above the truth", bound)


@pytest.mark.slow
def test_the_paper_is_reproduced(omit_command: Omit) -> None:
    run = omit_command("reproduce statistical-privacy --where process --output there")
    assert run.code == 0
    assert "holds in part  Abstract, Section 6: For fixed privacy parameters" in run.out
    assert {"index.html", "table-1.csv", "queries.svg"} <= {p.name for p in Path("there").iterdir()}


@pytest.mark.parametrize(
    "words",
    [
        "curve property --n 50 --p 0.5 --noise gaussian:1 --epsilon 800",
        "curve sum --n 50 --values 0:0.5,1:0.2,2:0.3 --noise gaussian:1 --epsilon 800",
        "curve sum --n 50 --values 0:0.5,1:0.5 --noise gaussian:1 --epsilon 800",
        "curve property --n 50 --p 0.5 --noise laplace:7 --epsilon 0.14285714285714282",
        "curve property --n 50 --p 0.5 --noise gaussian:1e-300 --epsilon 0.1",
        "curve property --n 50 --p 0.5 --noise discrete-gaussian:1e-200 --epsilon 0.1",
    ],
)
def test_extreme_noise_and_epsilons_are_answered(omit_command: Omit, words: str) -> None:
    run = omit_command(f"{words} --json")
    assert (run.code, run.err) == (0, "")
    [delta] = run.result["delta"]
    without = omit_command(f"{re.sub('--noise [^ ]+', '', words)} --json")
    assert 0 <= delta <= without.result["delta"][0] * (1 + 1e-9) + 1e-12


def test_noise_on_one_group_is_noise_on_a_property_query(omit_command: Omit) -> None:
    asked = "--noise gaussian:1 --epsilon 0 --epsilon 0.14 --json"
    group = omit_command(f"curve property --group 200:0.5 {asked}").result
    one = omit_command(f"curve property --n 200 --p 0.5 {asked}").result
    assert group["delta"] == pytest.approx(one["delta"], rel=1e-7)


def test_one_query_is_one_query(omit_command: Omit) -> None:
    run = omit_command("partition plan --n 10 --queries 1 --epsilon 0.1")
    assert "1 query on 10 entries" in run.out


def test_a_folder_that_is_a_file_keeps_its_content(omit_command: Omit) -> None:
    Path("taken").write_text("mine")
    run = omit_command("reproduce statistical-privacy --output taken")
    assert run.code == 2
    assert Path("taken").read_text() == "mine"
