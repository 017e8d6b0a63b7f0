"""The standings that the errata page names are those of the ledger of claims."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from omit.papers import judge_claims, paper

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
_STATED = re.compile(r"`([a-z-]+)/([a-z0-9-]+)`\s+(holds in part|holds|fails)")


def stated() -> dict[tuple[str, str], str]:
    """Return the standings of the page by paper and claim."""
    return {(name, claim): standing for name, claim, standing in _STATED.findall(PAGE.read_text())}


def test_the_page_names_claims_that_papers_have() -> None:
    assert len(stated()) > 15
    for name, claim in stated():
        assert claim in {one.name for one in paper(name).claims}, claim


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")
@pytest.mark.parametrize(
    ("name", "figures", "runs"),
    # Figures whose standings on the page do not depend on how often something is drawn.
    [("disclosure-control", (4, 5), 20), ("statistical-privacy", (), None)],
)
def test_standings_on_the_page_are_computed(
    name: str, figures: tuple[int, ...], runs: int | None
) -> None:
    ledger = judge_claims([name], figures=figures, runs=runs)
    computed = {entry.claim.name: entry.finding.standing for entry in ledger.entries}
    page = {claim: standing for (of, claim), standing in stated().items() if of == name}
    assert page
    assert {claim: computed[claim] for claim in page} == page
