"""What the errata page says of claims is what the ledger of claims computes.

The tests of every paper compare the standings that they compute anyway.
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from omit.papers import judge_claims, paper
from tests.papers.judging import ERRATA, on_the_errata_page, standings

_LINES = re.findall(r"\*In the ledger:\* ((?:[^\n]+\n)+)", ERRATA)


def test_every_erratum_names_claims_that_its_paper_has() -> None:
    assert len(_LINES) == ERRATA.count("\n### ")
    for line in _LINES:
        named = re.findall(r"`([a-z-]+)/([\w-]+)`", line)
        assert named or line == "nothing to compute.\n"
        for name, claim in named:
            assert claim in {one.name for one in paper(name).claims}, claim


@pytest.mark.campaign
@pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        (
            "accuracy-gains",
            {"figures": range(1, 15), "tables": [1], "exhibits": ["better-mechanisms"]},
        ),
        ("disclosure-control", {"figures": range(1, 6)}),
        ("omitting-records", {"figures": [10, 11], "tables": [1]}),
        ("statistical-privacy", {}),
    ],
)
def test_standings_on_the_page_are_computed_with_as_many_runs_as_in_the_papers(
    name: str, asked: dict[str, Any]
) -> None:
    ledger = judge_claims([name], **asked)
    computed, page = standings(ledger.entries), on_the_errata_page(name)
    assert page
    assert {claim: computed[claim] for claim in page} == page
