"""Every epsilon and delta that a command prints is on the private side of the number it stands for.

The number itself is what the same command prints as JSON, with all its digits.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omit.cli.main import main

pytestmark = pytest.mark.slow

PAIR = re.compile(r"\(([0-9.e+-]+), ([0-9.e+-]+)\)-DP")
NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?)"


def _said(words: str) -> str | None:
    """Return what a command prints, or None where it refuses."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            main(words.split())
    except SystemExit as end:
        if end.code:
            return None
    return out.getvalue()


def _both(words: str) -> tuple[str, Any] | None:
    text, content = _said(words), _said(f"{words} --json")
    assert (text is None) == (content is None)
    if text is None or content is None:
        return None
    said = json.loads(content)
    return text, said.get("result", said)


def _line(text: str, word: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(f"{word}  "))


def _pair(line: str) -> tuple[float, float]:
    found = PAIR.search(line)
    assert found is not None, line
    return float(found[1]), float(found[2])


def _below(shown: tuple[float, ...], numbers: tuple[float, ...]) -> bool:
    return all(one <= other for one, other in zip(shown, numbers, strict=True))


def _random(draw: random.Random, low: float, high: float) -> str:
    """Return a number with few digits or with all of them."""
    number = low * (high / low) ** draw.random()
    return draw.choice((repr(number), f"{number:.3g}"))


def _omission(draw: random.Random) -> str:
    m, M = sorted((draw.random(), draw.random()))
    return draw.choice(
        (
            "none",
            f"poisson --rate {_random(draw, 1e-6, 1)}",
            f"fixed-size --size {draw.randint(1, 999)} --population 1000",
            f"outlier-score --m {m!r} --M {M!r}",
            f"outlier-score --m {m!r} --M {M!r} --bound published",
            f"stable --sensitivity {draw.randint(1, 3)}",
            "rule --keep 0 10",
        )
    )


def _guarantee(draw: random.Random) -> str:
    words = f"--epsilon {_random(draw, 1e-9, 50)}"
    if draw.random() < 0.6:
        words += f" --delta {_random(draw, 1e-12, 0.9)}"
    return words


def _several(draw: random.Random) -> str:
    releases, rows = draw.choice((1, 1, 3, 7)), draw.choice((1, 1, 2, 3))
    return f"--releases {releases} --rows-per-person {rows}"


def _rows(text: str, heading: str) -> list[dict[str, float]]:
    """Return the numbers of the table with this column, by the headings of their columns."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if heading in line)
    headings = re.split("  +", lines[start].strip())
    rows = []
    for line in lines[start + 1 :]:
        cells = re.split("  +", line.strip())
        if not line.startswith(" ") or len(cells) < len(headings):
            break
        numbers = zip(headings, cells, strict=False)
        rows.append({name: float(cell) for name, cell in numbers if re.fullmatch(NUMBER, cell)})
    return rows


@pytest.mark.parametrize("seed", range(2))
def test_bound_never_promises_more_than_its_numbers(seed: int) -> None:
    draw, answers = random.Random(seed), 0
    for _ in range(40):
        both = _both(f"bound {_omission(draw)} {_guarantee(draw)} {_several(draw)}")
        if both is None or both[1]["epsilon"] is None:
            continue
        answers += 1
        text, content = both
        base = content["base"]["epsilon"], content["base"]["delta"]
        released = content["epsilon"], content["delta"]
        (row,) = _rows(text, "mechanism's ε")
        assert _below((row["mechanism's ε"], row["mechanism's δ"]), base)
        assert _below(released, (row["release's ε"], row["release's δ"]))
        assert _below(released, _pair(text))
        change = re.search(rf"epsilon {NUMBER} becomes {NUMBER}", text)
        if change is not None:
            assert float(change[1]) <= base[0]
            assert float(change[2]) >= released[0]
            if "amplified" in text:
                assert float(change[2]) < float(change[1])
        for name, bound in content.get("bounds", {}).items():
            assert float(_line(text, name).split()[1]) >= bound
        if "lower_bound" in content:
            floor = re.search(rf"go below epsilon = {NUMBER}", text)
            assert floor is not None
            assert float(floor[1]) <= content["lower_bound"]
    assert answers > 12


@pytest.mark.parametrize("seed", range(2))
def test_calibrate_never_allows_a_mechanism_more_than_its_numbers(seed: int) -> None:
    draw, answers = random.Random(seed), 0
    for _ in range(40):
        both = _both(f"calibrate {_omission(draw)} {_guarantee(draw)} {_several(draw)}")
        if both is None:
            continue
        text, content = both
        target = content["target"]["epsilon"], content["target"]["delta"]
        assert _below(target, _pair(text[text.index(" so that ") if " so that " in text else 0 :]))
        if content["epsilon"] is None:
            stated = re.search(rf"delta <= {NUMBER} at epsilon = {NUMBER}", text)
            assert stated is None or float(stated[2]) >= target[0] / content["rows_per_person"]
            continue
        answers += 1
        rows = _rows(text, "mechanism's ε")
        assert len(rows) == len(content["candidates"])
        for row, candidate in zip(rows, content["candidates"], strict=True):
            needed = candidate["epsilon"], candidate["delta"]
            assert _below((row["mechanism's ε"], row["mechanism's δ"]), needed)
            assert _below(target, (row["release's ε"], row["release's δ"]))
        assert _below(_pair(text), (content["epsilon"], content["delta"]))
        factor = re.search(rf"may use {NUMBER} times", text)
        if factor is not None:
            assert float(factor[1]) <= content["epsilon"] / target[0]
    assert answers > 12


def test_a_delta_that_needs_no_noise_is_not_understated() -> None:
    words = "calibrate outlier-score --m 0.5 --M 0.6 --epsilon 0.1 --delta 0.7"
    assert "delta <= 0.5008 at epsilon = 0.1" in (_said(words) or "")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    rows = zip(draw.integers(0, 9, 80), draw.choice(["F", "M"], 80), strict=True)
    file = tmp_path / "people.csv"
    file.write_text("x,sex\n" + "".join(f"{x},{sex}\n" for x, sex in rows))
    return file


def test_compare_and_best_never_allow_a_mechanism_more_than_its_numbers(people: Path) -> None:
    draw, rows = random.Random(0), 0
    for number in range(9):
        command = "compare" if number % 4 else "best"
        words = f"{command} {people} --column x --bounds 0 9 --statistic mode {_guarantee(draw)}"
        if command == "compare":
            words += (
                f" --no-report --omit poisson:{_random(draw, 0.01, 1)} --omit outlier-score:0.1,0.3"
            )
        both = _both(words)
        if both is None:
            continue
        text, content = both
        target = content["target"]["epsilon"], content["target"]["delta"]
        assert all(_below(target, (float(one), float(other))) for one, other in PAIR.findall(text))
        shown = [
            re.split("  +", line.strip())[1]
            for line in text.splitlines()
            if re.match(" (no omission|Poisson|outlier-score)", line)
        ]
        for cell, row in zip(shown, content["rows"], strict=True):
            if row["base_epsilon"] is None:
                assert cell in ("no noise", "unattainable")
            else:
                rows += 1
                assert float(cell) <= row["base_epsilon"]
    assert rows > 12


def test_the_epsilon_of_compare_does_not_amplify_to_more_than_the_target(people: Path) -> None:
    words = f"compare {people} --column x --bounds 0 9 --statistic mode --omit poisson:0.1"
    cell = re.search(rf"rate 0.1 +{NUMBER}", _said(f"{words} --no-report") or "")
    assert cell is not None
    released = json.loads(_said(f"bound poisson --rate 0.1 --epsilon {cell[1]} --json") or "")
    assert cell[1] == "2.9004"
    assert released["result"]["epsilon"] <= 1


def test_solve_states_an_epsilon_that_is_enough(people: Path) -> None:
    draw = random.Random(0)
    for _ in range(6):
        words = f"solve {people} --column x --bounds 0 9 --statistic mode"
        both = _both(f"{words} --error {_random(draw, 0.2, 0.8)}")
        assert both is not None
        shown = re.search(rf"epsilon = {NUMBER} reaches", both[0])
        assert shown is not None
        assert float(shown[1]) >= both[1]["epsilon"]


def test_disclose_never_promises_more_than_its_numbers(people: Path) -> None:
    draw = random.Random(0)
    rows = 0
    for epsilon in ("1.0000049", _random(draw, 0.1, 5), _random(draw, 0.1, 5)):
        both = _both(
            f"disclose {people} --attributes sex --domain sex=F,M --epsilon {epsilon} "
            f"--delta {_random(draw, 1e-9, 0.1)} --no-report"
        )
        assert both is not None
        text, content = both
        for row in content["rows"]:
            line = next(
                line for line in text.splitlines() if line.strip().startswith(row["protection"])
            )
            cells = re.split("  +", line.strip())
            if row["epsilon"] is not None:
                rows += 1
                assert float(cells[1]) >= row["epsilon"]
                assert float(cells[2]) >= row["delta"]
        said = re.search(rf"At epsilon = {NUMBER} the", text)
        assert said is None or float(said[1]) >= content["epsilon"]
    assert rows >= 9


def test_verify_finds_at_most_what_it_says() -> None:
    both = _both("verify theorem-5.4 --step 0.25 --epsilon 0.37 --epsilon 2")
    assert both is not None
    text, content = both
    shown = [float(each) for each in re.findall(r"(?:over the claim|below it) +(\S+)", text)]
    found = [
        content[part][side]
        for part in ("removing", "adding", "superfluous")
        for side in ("above", "below")
    ]
    assert len(shown) == 6
    assert _below(tuple(found), tuple(shown))


def test_figures_name_a_guarantee_that_is_no_smaller_and_a_mechanism_that_is_no_larger() -> None:
    from omit import Guarantee, NoisyMean, read
    from omit.accuracy.expected import Question
    from omit.accuracy.figures import gain_figure
    from omit.accuracy.grids import error_grid, sampled_at
    from omit.papers.omitting_records.privacy_figures import privacy_figure

    epsilons = (1.0000049, 0.123456789012)
    titles = [axes.get_title() for axes in privacy_figure(epsilons, 20).axes[:2]]
    shown = [float(title.rpartition(" ")[2]) for title in titles]
    assert _below(tuple(shown), epsilons)
    mean = NoisyMean("laplace", "published", "squared")
    question = Question(read("beta"), mean, Guarantee(1.0, neighbours="replace"))
    found = error_grid(question, sampled_at(question.data, (0.5,)), epsilons)
    ticks = [float(tick.get_text()) for tick in gain_figure(found).axes[0].get_yticklabels()]
    assert _below(tuple(found.epsilons), tuple(ticks))
