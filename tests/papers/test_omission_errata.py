"""What the errata say of the omitting-records paper is what its ledger computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from omit.papers.omitting_records import CLAIMS
from tests.papers.judging import finding

_PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
_PART = _PAGE.partition("## The adverse effects of omitting records")[2].partition("\n## ")[0]
_CLAIMS = {claim.name: claim for claim in CLAIMS}
_LINES = re.findall(r"\*In the ledger:\* ([^\n]*)", _PART)
_NAMED = re.compile(r"`omitting-records/([\w-]+)`")
_SAYS = re.compile(rf"{_NAMED.pattern} (holds in part|holds|fails)")
_STATED = sorted({pair for line in _LINES for pair in _SAYS.findall(line)})
_AT_ONCE = [pair for pair in _STATED if _CLAIMS[pair[0]].needs_no_cells]
_WITH_CELLS = [pair for pair in _STATED if pair not in _AT_ONCE]


def test_every_erratum_names_its_claims() -> None:
    assert len(_LINES) == _PART.count("\n### ")
    for line in _LINES:
        names = _NAMED.findall(line)
        assert names or line == "nothing to compute."
        assert set(names) <= set(_CLAIMS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "standing"), _AT_ONCE)
def test_the_standing_in_the_errata_is_the_computed_one(name: str, standing: str) -> None:
    assert finding(_CLAIMS[name], None).standing == standing


@pytest.mark.campaign
def test_the_standings_that_need_cells_are_the_computed_ones(tmp_path: Path) -> None:
    from omit.papers import judge_claims

    ledger = judge_claims(
        ["omitting-records"],
        figures=[10, 11],
        tables=[1],
        stores={"omitting-records": tmp_path / "study"},
    )
    standings = {entry.claim.name: entry.finding.standing for entry in ledger.entries}
    assert {name: standings[name] for name, _ in _WITH_CELLS} == dict(_WITH_CELLS)
