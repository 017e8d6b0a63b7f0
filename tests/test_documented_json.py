"""Every key that a command prints as JSON is named in the documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

PAGE = (Path(__file__).parent.parent / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = {
    part.partition("\n")[0]: set(re.findall(r"`([a-z_0-9]+)`", part))
    for part in PAGE.partition("\n## JSON\n")[2].split("\n### ")
}
ENVELOPE = {"command", "version", "parameters", "seed", "result"}
EVERYWHERE = {"neighbours", "notes", "verdict"} | ENVELOPE
# What they hold is named by data, parameters and theorems.
NAMED_BY_OTHERS = {
    "bounds",
    "directions",
    "group",
    "groups",
    "parameters",
    "published_bounds",
    "witness",
}
COMMANDS = [
    ("compare, best and solve", "compare adult --column age --omit poisson:0.5 --statistic mean"),
    (
        "compare, best and solve",
        "compare adult --column age --omit poisson:0.5 --statistic mean --by sex",
    ),
    ("compare, best and solve", "compare kmedian-synthetic --statistic kmedian --k 2 --runs 2"),
    ("compare, best and solve", "best beta --statistic mean --metric mse"),
    ("compare, best and solve", "solve adult --column age --error 1"),
    ("bound and calibrate", "bound outlier-score --m 0.1 --M 0.2 --epsilon 1"),
    ("bound and calibrate", "bound outlier-threshold --threshold 0.1 --epsilon 1"),
    ("bound and calibrate", "bound rule --keep 0 100 --bounds 0 200 --epsilon 1"),
    ("bound and calibrate", "bound independent --before 0.1 --after 0.2 --added 0.3 --epsilon 1"),
    ("bound and calibrate", "calibrate poisson --rate 0.1 --epsilon 1 --delta 0.2"),
    ("suppression check", "suppression check rule:0,1 --universe 0,1,2 --up-to 2 --epsilon 1"),
    ("suppression check", "suppression check poisson:0.5 --universe 0,1 --up-to 2 --epsilon 1"),
    (
        "disclose",
        "disclose adult --attributes race,sex,income --predict income --two-way race,income "
        "--within sex=Male --paper-runs 2",
    ),
    ("The others", "curve property --n 10 --p 0.3"),
    ("The others", "curve sum --n 10 --values 0:0.5,1:0.5"),
    ("The others", "curve sample --n 20 --p 0.4 --sample poisson:0.1"),
    ("The others", "partition plan --n 1000 --epsilon 0.1 --queries 2"),
    ("The others", "partition answer adult --column age --query mean --seed 1"),
    ("The others", "data"),
    ("The others", "data irish"),
    ("The others", "doctor"),
    ("The others", "verify mixture --cases 1"),
    ("The others", "verify suppression --cases 1"),
    ("The others", "verify sampling --cases 1"),
    ("The others", "verify composition --cases 1"),
    ("The others", "verify theorem-5.4 --step 0.5 --epsilon 1"),
    ("The others", "reproduce statistical-privacy --table 2 --where process"),
    ("The others", "reproduce accuracy-gains --claims --where process"),
]
SLOW = ("disclose", "reproduce", "verify composition", "verify mixture")


def _keys(content: Any) -> Iterator[str]:
    if isinstance(content, list):
        for each in content:
            yield from _keys(each)
    elif isinstance(content, dict):
        for key, value in content.items():
            yield key
            if key not in NAMED_BY_OTHERS:
                yield from _keys(value)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        pytest.param(
            *command,
            id=command[1],
            marks=[pytest.mark.slow] if command[1].startswith(SLOW) else [],
        )
        for command in COMMANDS
    ],
)
def test_every_key_is_documented(
    omit_command: Callable[[str], Run],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    section: str,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command(f"{words} --json")
    assert run.code == 0, run.err
    content = json.loads(run.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert set(_keys(content)) - SECTIONS[section] - EVERYWHERE == set()


def test_the_interval_of_one_run_is_in_the_json_without_infinity(
    omit_command: Callable[[str], Run],
) -> None:
    run = omit_command(
        "solve kmedian-synthetic --statistic kmedian --k 2 --candidates 4 --error 1e5 --runs 1 "
        "--json"
    )
    content = json.loads(run.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    content = content["result"]
    # Distances are bounded by the declared box, so even one run says something.
    assert 0.0 <= content["low"] < content["high"]
