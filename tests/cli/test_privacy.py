"""`omit bound` and `omit calibrate`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

Omit = Callable[[str], Run]


def answer(run: Run) -> dict[str, Any]:
    assert run.code == 0, run.err
    content: dict[str, Any] = run.result
    assert {"epsilon", "delta", "neighbours", "verdict", "notes"} <= content.keys()
    return content


def test_a_poisson_sample_amplifies_and_is_calibrated_back(omit_command: Omit) -> None:
    assert (
        "(0.1585650788, 0)-DP under add-remove"
        in omit_command("bound poisson --rate 0.1 --epsilon 1").out
    )
    assert "(2.9004770978, 0)-DP" in omit_command("calibrate poisson --rate 0.1 --epsilon 1").out


def test_outlier_scores_show_both_bounds(omit_command: Omit) -> None:
    words = "bound outlier-score --m 0.1 --M 0.2 --epsilon 0.25"
    shown = omit_command(words).out
    assert "(0.2323698374, 0)-DP" in shown
    assert "1.2047517204" in shown
    content = answer(omit_command(f"{words} --json"))
    assert content["epsilon"] == pytest.approx(0.2323698373, abs=6e-11)
    assert content["neighbours"] == "add-remove"
    assert content["bounds"] == {
        "mixture": pytest.approx(0.2323698373, abs=6e-11),
        "published": pytest.approx(1.2047517204, abs=6e-11),
    }
    published = answer(omit_command(f"{words} --bound published --json"))
    assert published["epsilon"] == pytest.approx(1.2047517204, abs=6e-11)


def test_an_unattainable_target_says_why_and_exits_with_two(omit_command: Omit) -> None:
    words = "calibrate outlier-score --m 0.1 --M 0.3 --epsilon 1"
    run = omit_command(f"{words} --bound published")
    assert (run.code, run.out) == (2, "")
    assert "cannot be reached" in run.err
    assert answer(omit_command(f"{words} --json"))["epsilon"] == pytest.approx(0.9335350721)


def test_every_candidate_is_listed_where_delta_matters(omit_command: Omit) -> None:
    content = answer(
        omit_command("calibrate outlier-score --m 0.5 --M 0.6 --epsilon 1 --delta 1e-6 --json")
    )
    assert [candidate["epsilon"] for candidate in content["candidates"]] == [
        pytest.approx(1.4812965, abs=1e-6),
        pytest.approx(1.3619805, abs=1e-6),
    ]


@pytest.mark.parametrize(
    "omission",
    [
        "none",
        "poisson --rate 0.1,0.3",
        "form outlier-score:0.1,0.2",
        "fixed-size --size 10 --population 100",
        "rule --keep 0 100",
        "stable --sensitivity 2",
        "outlier-score --m 0.1 --M 0.2",
    ],
)
def test_every_omission_can_be_bounded_and_calibrated(omit_command: Omit, omission: str) -> None:
    base = answer(omit_command(f"calibrate {omission} --epsilon 1 --delta 1e-6 --json"))
    back = answer(
        omit_command(
            f"bound {omission} --epsilon {base['epsilon']!r} --delta {base['delta']!r} --json"
        )
    )
    assert back["epsilon"] == pytest.approx(1.0)
    assert back["delta"] == pytest.approx(1e-6)


@pytest.mark.parametrize(
    "omission",
    [
        "outlier-threshold --threshold 0.5",
        "outlier-top --share 0.1",
        "z-score --deviations 3",
        "interquartile --ranges 1.5",
    ],
)
def test_outlier_removal_answers_that_there_is_no_guarantee(
    omit_command: Omit, omission: str
) -> None:
    content = answer(omit_command(f"bound {omission} --epsilon 1 --json"))
    assert content["epsilon"] is None
    assert content["answer"] == "no guarantee"
    assert set(content["witness"]) == {"larger", "smaller", "left_of_larger", "left_of_smaller"}
    assert "records differ" in omit_command(f"bound {omission} --epsilon 1").out
    assert omit_command(f"calibrate {omission} --epsilon 1").code == 2


@pytest.mark.parametrize("name", ["with-replacement", "stratified", "cluster", "systematic"])
@pytest.mark.parametrize("command", ["bound", "calibrate"])
def test_designs_that_are_refused_say_why(omit_command: Omit, command: str, name: str) -> None:
    run = omit_command(f"{command} {name} --rate 0.1 --epsilon 1")
    assert (run.code, run.out) == (2, "")
    assert "Use poisson or fixed-size" in run.err


def test_two_statistics_on_one_sample_compose_first(omit_command: Omit) -> None:
    words = "fixed-size --size 10 --population 100"
    run = omit_command(f"bound {words} --epsilon 1 --releases 2 --json")
    assert answer(run)["epsilon"] == pytest.approx(0.494, abs=5e-4)
    each = answer(omit_command(f"calibrate {words} --epsilon 0.494028708 --releases 2 --json"))
    assert each["epsilon"] == pytest.approx(1.0, abs=1e-8)


def test_several_rows_per_person_cost_group_privacy(omit_command: Omit) -> None:
    run = omit_command("bound none --epsilon 0.5 --delta 1e-6 --rows-per-person 3")
    assert "(1.5, 5.3670031e-06)-DP" in run.out
    back = answer(omit_command("calibrate none --epsilon 1.5 --rows-per-person 3 --json"))
    assert back["epsilon"] == pytest.approx(0.5)


def test_a_rule_shows_what_is_left_of_the_bounds(omit_command: Omit) -> None:
    words = "bound rule --keep 0 100 --bounds 0 125 --epsilon 1"
    assert "noise of a sum is 0.8 times as large" in omit_command(words).out
    assert answer(omit_command(f"{words} --json"))["bounds_left"] == [0, 100]
    assert omit_command("bound rule --keep 300 400 --bounds 0 125 --epsilon 1").code == 2


def test_a_small_sample_needs_no_noise_and_says_so(omit_command: Omit) -> None:
    words = "calibrate poisson --rate 0.01 --epsilon 1 --delta 0.05"
    assert "No noise is needed" in omit_command(words).out
    assert answer(omit_command(f"{words} --json"))["answer"] == "no noise needed"


def test_one_pair_of_databases_is_not_called_a_guarantee(omit_command: Omit) -> None:
    words = "bound independent --before 0.1 --after 0.2 --added 0.3 --epsilon 1"
    assert "is not a guarantee" in omit_command(words).out
    assert "not a guarantee" in answer(omit_command(f"{words} --json"))["scope"]


def subsets_file(folder: Path, **changes: object) -> Path:
    content: dict[str, object] = {
        "database": ["a"],
        "record": "y",
        "without": [{"kept": [], "probability": 0.5}, {"kept": ["a"], "probability": 0.5}],
        "with_record": [{"kept": ["a"], "probability": 0.5}, {"kept": ["y"], "probability": 0.5}],
    }
    file = folder / "suppression.json"
    file.write_text(json.dumps({**content, **changes}))
    return file


def test_a_suppression_from_a_file_shows_the_exact_value_beside_the_theorems(
    omit_command: Omit, tmp_path: Path
) -> None:
    content = answer(omit_command(f"bound subsets {subsets_file(tmp_path)} --epsilon 1 --json"))
    bounds = content["bounds"]
    assert bounds["exact"] <= bounds["theorem-5.3"] + 1e-9
    assert bounds["exact"] >= content["lower_bound"] - 1e-9
    assert "theorem-b.6" in omit_command(f"bound subsets {subsets_file(tmp_path)} --epsilon 1").out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"without": [{"kept": ["a"], "probability": 0.9}]}, "sum to 1"),
        ({"without": [{"kept": ["b"], "probability": 1.0}]}, "part of"),
        ({"without": 3}, "lists of"),
        ({"database": None}, "lists of"),
        ({"without": [{"kept": [["a"]], "probability": 1.0}]}, "lists of"),
    ],
)
def test_a_file_that_is_no_suppression_is_a_sentence(
    omit_command: Omit, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    run = omit_command(f"bound subsets {subsets_file(tmp_path, **changes)} --epsilon 1")
    assert (run.code, run.out) == (2, "")
    assert message in run.err
    assert run.err.count("\n") == 1


def test_a_file_that_cannot_be_read_is_a_sentence(omit_command: Omit, tmp_path: Path) -> None:
    assert "Cannot read" in omit_command(f"bound subsets {tmp_path}/none.json --epsilon 1").err
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"\xff{")
    assert "JSON in UTF-8" in omit_command(f"bound subsets {broken} --epsilon 1").err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b'{"database":' * 50_000, "nested too deeply"),
        (b'{"database": [' + b"9" * 5000 + b"]}", "thousands of digits"),
        (b" " * 20_000_001, "at most 20,000,000 bytes"),
        (
            b'{"database": [], "record": 1, "with_record": [], "without": ['
            + b",".join([b"1"] * 32_769)
            + b"]}",
            "at most 32,768 subsets",
        ),
    ],
    ids=["deep list", "deep object", "long number", "large file", "many subsets"],
)
def test_a_file_that_is_too_much_is_a_sentence(
    omit_command: Omit, tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "subsets.json"
    file.write_bytes(content)
    run = omit_command(f"bound subsets {file} --epsilon 1")
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert message in run.err


def test_a_device_without_end_is_a_sentence(omit_command: Omit) -> None:
    assert "at most 20,000,000 bytes" in omit_command("bound subsets /dev/zero --epsilon 1").err


@pytest.mark.slow
def test_thousands_of_subsets_are_answered(omit_command: Omit, tmp_path: Path) -> None:
    rows = [
        {"kept": [each for each in range(12) if number >> each & 1], "probability": 2**-12}
        for number in range(2**12)
    ]
    file = subsets_file(
        tmp_path, database=list(range(12)), without=rows, with_record=rows, record=12
    )
    assert answer(omit_command(f"bound subsets {file} --epsilon 1 --json"))["epsilon"] == 0


def test_subsets_that_are_far_apart_need_a_smaller_epsilon(
    omit_command: Omit, tmp_path: Path
) -> None:
    far = [{"kept": ["a", "y"], "probability": 1.0}]
    none = [{"kept": [], "probability": 1.0}]
    file = subsets_file(tmp_path, without=none, with_record=far)
    assert "at most 350 for a closed form" in (
        omit_command(f"bound subsets {file} --epsilon 600").err
    )
    assert omit_command(f"bound subsets {file} --epsilon 300").code == 0


@pytest.mark.parametrize(
    "words", ["bound poisson --epsilon 1", "bound poisson --rate x --epsilon 1", "bound unheard-of"]
)
def test_missing_and_unknown_words_exit_with_two(omit_command: Omit, words: str) -> None:
    assert omit_command(words).code == 2


def test_rows_per_person_are_grouped_after_amplification(omit_command: Omit) -> None:
    words = "bound poisson --rate 0.5 --epsilon 1 --delta 1e-6 --rows-per-person 2 --json"
    content = answer(omit_command(words))
    one = math.log1p(0.5 * math.expm1(1.0))
    assert content["epsilon"] == pytest.approx(2 * one)
    assert content["delta"] == pytest.approx(0.5e-6 * (1 + math.exp(one)))
    words = f"calibrate poisson --rate 0.5 --epsilon {2 * one!r} --rows-per-person 2 --json"
    assert answer(omit_command(words))["epsilon"] == pytest.approx(1.0)


def test_releases_on_one_sample_share_epsilon_and_delta(omit_command: Omit) -> None:
    words = "bound poisson --rate 0.5 --epsilon 1 --delta 1e-6 --releases 3 --json"
    content = answer(omit_command(words))
    assert content["epsilon"] == pytest.approx(math.log1p(0.5 * math.expm1(3.0)))
    assert content["delta"] == pytest.approx(1.5e-6)
    target = f"--epsilon {content['epsilon']!r} --delta 1.5e-6"
    each = answer(omit_command(f"calibrate poisson --rate 0.5 {target} --releases 3 --json"))
    assert (each["epsilon"], each["delta"]) == (pytest.approx(1.0), pytest.approx(1e-6))
    assert omit_command("bound poisson --rate 0.5 --epsilon 1 --releases 1000000000").code == 0


def test_several_rates_are_separated_by_commas_or_given_one_by_one(omit_command: Omit) -> None:
    listed = omit_command("bound poisson --rate 0.1,0.3 --epsilon 1 --json")
    repeated = omit_command("bound poisson --rate 0.1 --rate 0.3 --epsilon 1 --json")
    assert listed.out == repeated.out
    assert json.loads(listed.out)["parameters"]["rate"] == [0.1, 0.3]
    assert listed.result["parameters"] == {"rate": [0.1, 0.3]}


def test_what_a_person_has_is_stated_under_the_relation_of_groups(omit_command: Omit) -> None:
    run = omit_command("bound none --epsilon 0.5 --rows-per-person 3 --json")
    assert answer(run)["neighbours"] == "add-remove of 3 records"
    assert answer(run)["base"]["neighbours"] == "add-remove"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("bound poisson --rate 1.5 --epsilon 1", "Expected --rate 1.5 in (0, 1]."),
        ("bound poisson --rate 0.5,1.5 --epsilon 1", "Expected --rate 1.5 in (0, 1]."),
        ("bound none --epsilon 1 --rows-per-person 0", "Expected --rows-per-person 0 to be"),
        (
            "bound fixed-size --size 9 --population 8 --epsilon 1",
            "Expected --size 9 to be at most --population 8.",
        ),
        (
            "bound outlier-score --m 0 --M 0.2 --epsilon 1 --bound published",
            "got --m 0 and --M 0.2",
        ),
        (
            "calibrate outlier-score --m 0.1 --M 0.3 --epsilon 1 --bound published",
            "suppression with m=0.1, M=0.3 (published bound) costs",
        ),
    ],
)
def test_errors_speak_of_options_and_names_stay(omit_command: Omit, words: str, said: str) -> None:
    run = omit_command(words)
    assert (run.code, run.out) == (2, "")
    assert said in run.err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("bound none --epsilon 1 --epsilon 2", "--epsilon"),
        ("bound rule --keep 0 1 --keep 0 2 --epsilon 1", "--keep"),
        ("calibrate outlier-score --m 0.1 --M 0.2 --m 0.1 --epsilon 1", "--m"),
        ("compare adult --column age --column sex", "--column"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_if_given_twice(
    omit_command: Omit, words: str, option: str
) -> None:
    run = omit_command(words)
    assert (run.code, run.out) == (2, "")
    assert f"'{option}': it takes one value and was given 2 times" in run.err
