"""The ledger of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from omit.errors import InvalidInput
from omit.papers import Claim, Computed, Exhibit, Finding, Ledger, Paper, judge_claims, names, paper
from omit.study import Computation


def _cube(parameters: Mapping[str, Any], prepared: object, rng: object) -> dict[str, float]:
    return {"cube": parameters["x"] ** 3}


CUBES = Computation("cubes of a test", 1, _cube)


def _paper() -> Paper:
    """Return a paper with a quick exhibit, one that takes long, and a theorem."""

    def table(name: str, xs: Sequence[int], *, quick: bool) -> Exhibit:
        numbers = lambda computed: computed.frame(CUBES)  # noqa: E731
        cells = lambda settings: CUBES.grid(x=xs)  # noqa: E731
        return Exhibit(name, name, "Cubes.", numbers, cells=cells, quick=quick)

    def cubes(computed: Computed) -> Finding:
        cubes = computed.frame(CUBES)["cube"].tolist()
        return Finding("holds", f"They are {cubes}.")

    claims = (
        Claim("Theorem 1", "Two and two are 4.", (), lambda _: Finding("holds", f"{2 + 2}.")),
        Claim("Table 1", "Small cubes.", ("table-1",), cubes),
        Claim("Table 2", "Large cubes.", ("table-2",), cubes),
        Claim("Section 1", "All cubes.", (), lambda _: None, cubes),
    )
    exhibits = table("table-1", [1, 2], quick=True), table("table-2", [3, 4], quick=False)
    return Paper("cubes", "On cubes", "A. Author, 2020", exhibits, claims)


def _standings(ledger: Ledger) -> list[str]:
    return [entry.finding.standing for entry in ledger.entries]


def test_what_takes_seconds_is_computed_and_the_rest_names_its_command(tmp_path: Path) -> None:
    ledger = judge_claims([_paper()], stores={"cubes": tmp_path / "study"}, where="process")
    assert _standings(ledger) == ["holds", "holds", "not tested", "not tested"]
    assert [entry.command for entry in ledger.entries] == [
        "omit reproduce cubes --claims",
        "omit reproduce cubes --claims --table 1",
        "omit reproduce cubes --claims --table 2",
        "omit reproduce cubes",
    ]
    assert ledger.entries[1].finding.evidence == "They are [1, 8]."
    assert "2 of its cells are not computed yet" in ledger.entries[2].finding.evidence
    assert ledger.verdict == "Of 4 claims, 2 hold, 2 are not tested."


def test_a_claim_is_judged_by_what_a_store_has(tmp_path: Path) -> None:
    stores = {"cubes": tmp_path / "study"}
    asked = judge_claims([_paper()], tables=[2], stores=stores, where="process")
    assert _standings(asked)[:3] == ["holds", "holds", "holds"]
    again = judge_claims([_paper()], stores=stores, where="process")
    assert again.to_json() == asked.to_json()


def test_a_tally_counts_every_claim_once() -> None:
    tally = judge_claims([_paper()], where="process").tally().records()
    assert [row["kind"] for row in tally] == ["theorem", "table", "sentence", "all"]
    counted = ("holds", "holds_in_part", "fails", "not_tested")
    assert all(row["claims"] == sum(row[name] for name in counted) for row in tally)
    assert tally[-1]["claims"] == 4


def test_a_page_has_every_claim_under_its_name_with_its_command(tmp_path: Path) -> None:
    ledger = judge_claims([_paper()], where="process")
    page = ledger.write_report(tmp_path / "claims.html").read_text(encoding="utf-8")
    for entry in ledger.entries:
        assert f'id="cubes-{entry.claim.name}"' in page
        assert f"<code>{entry.command}</code>" in page


@pytest.mark.parametrize("name", [one for one in names() if one != "a-paper"])
def test_claims_are_about_exhibits_that_their_paper_has(name: str) -> None:
    known = paper(name)
    exhibits = {exhibit.name for exhibit in known.exhibits}
    for claim in known.claims:
        assert exhibits.issuperset(claim.exhibits), claim.name
        assert claim.name.replace("-", "").isalnum(), "an anchor"


def test_what_is_asked_for_must_be_there() -> None:
    with pytest.raises(InvalidInput, match="no table 9"):
        judge_claims([_paper()], tables=[9])
