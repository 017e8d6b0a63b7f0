"""The theorems of the paper on omitting records, as its ledger of claims judges them."""

from __future__ import annotations

import functools
import re

import pytest

from omit.papers import Finding
from omit.papers.omitting_records import CLAIMS
from tests.papers.judging import finding, on_the_errata_page

NUMBERED = ("theorem", "proposition", "lemma", "corollary", "definition", "remark", "example")
# What the published code takes for granted, and what it measures; and a slip of the text.
WRONG = {
    "exponential-mechanism-is-right",
    "gaussian-delta",
    "inverse-is-found",
    "kmedian-reports-a-cost",
    "lloyd-budget",
    "mean-is-nearest-to-all",
    "mean-percent-error-exists",
    "sum-sensitivity",
}
THEOREMS = {claim.name: claim for claim in CLAIMS if claim.needs_no_cells}


@functools.cache
def found(name: str) -> Finding:
    return finding(THEOREMS[name], None)


def test_every_figure_has_an_entry() -> None:
    numbered = {
        int(number) for claim in CLAIMS for number in re.findall(r"Figure (\d+)", claim.where)
    }
    assert numbered == set(range(1, 76))


def test_every_numbered_statement_has_an_entry() -> None:
    names = {claim.name for claim in CLAIMS if claim.kind in NUMBERED}
    appendix = {
        "proposition": (1, 2, 3, 8, 9, 10, 12, 19, 20),
        "theorem": (6, 21, 23),
        "lemma": (14, 16, 17, 18),
        "remark": (4, 7, 11, 15, 22, 24),
        "definition": (5,),
        "corollary": (13,),
    }
    expected = {f"{kind}-b-{number}" for kind, numbers in appendix.items() for number in numbers}
    assert sum(map(len, appendix.values())) == 24
    body = {"definition-2-1", "theorem-5-1", "example-5-2", "theorem-5-3", "theorem-5-4"}
    assert names == expected | body


@pytest.mark.slow
@pytest.mark.parametrize("name", THEOREMS)
def test_no_theorem_fails_as_it_stands_and_what_is_wrong_is_known(name: str) -> None:
    expected = ("fails",) if name in WRONG else ("holds", "holds in part")
    assert found(name).standing in expected


@pytest.mark.slow
def test_standings_on_the_errata_page_are_computed() -> None:
    page = on_the_errata_page("omitting-records")
    at_once = {name: standing for name, standing in page.items() if name in THEOREMS}
    assert len(at_once) > 20
    assert {name: found(name).standing for name in at_once} == at_once


@pytest.mark.slow
def test_theorem_5_3_fails_where_records_are_equal() -> None:
    readings = found("theorem-5-3").readings
    standings = {name: reading.standing for name, reading in readings.items()}
    assert standings == {
        "e^ε as the ratio, as the appendix has it": "holds",
        "ε as the ratio, as Section 5.2 prints it": "holds in part",
        "databases that hold equal records": "fails",
    }
