"""Claims on numbers of a test's own, and what the errata page says of claims."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from omit.papers import Claim, Computed, Finding
from omit.papers.omitting_records.better_mechanisms import compared
from omit.papers.omitting_records.cells import judged_cells
from omit.papers.reproduction import Verdict

ERRATA = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
_STATED = re.compile(r"`([a-z-]+)/([a-z0-9-]+)`\s+(holds in part|holds|fails)")


def finding(claim: Claim, numbers: object) -> Finding:
    found = claim.judge(numbers)
    assert found is not None
    return found


def standing(claim: Claim, numbers: object) -> str:
    return finding(claim, numbers).standing


def standings(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return the standings of judged claims by their names."""
    return {one.claim.name: one.finding.standing for one in verdicts}


def on_the_errata_page(name: str) -> dict[str, str]:
    """Return the standings that the page states, by the names of a paper's claims."""
    return {claim: said for paper, claim, said in _STATED.findall(ERRATA) if paper == name}


class Judged(Computed):
    """A judged table in place of what a study computed, without mechanisms beyond the paper."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._known = {(judged_cells, ()): table, (compared, ()): None}
