"""`omit suppression check`, with algorithms in files of one's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Omit = Callable[[str], Run]
ASKED = "--universe young,old,rich --up-to 4 --epsilon 1"


@pytest.fixture(autouse=True)
def algorithms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_rare_ones.py").write_text(
        """
import omit
from omit.laws.design import Independent

people = [("young", 10115), ("old", 10117)]
ways = 5

def suppress(records):
    return [record for record in records if records.count(record) > 1]

def seldom(records):
    return [0.9 if records.count(record) > 1 else 0.5 for record in records]

class Boastful(omit.Omission):
    def epsilon_after(self, epsilon):
        return epsilon / 2
    def design(self, data, distance):
        return Independent([0.9] * len(data.values))

boastful = Boastful()
""",
        encoding="utf-8",
    )
    (tmp_path / "broken.py").write_text("1 / 0", encoding="utf-8")


@pytest.mark.parametrize("where", ["my_rare_ones", "my_rare_ones.py"])
def test_a_function_of_a_module_or_a_file_gets_its_bound(omit_command: Omit, where: str) -> None:
    run = omit_command(f"suppression check {where}:suppress {ASKED} --json")
    assert run.code == 0, run.err
    content = json.loads(run.out)
    assert content["command"] == "suppression check"
    assert content["result"]["epsilon"] == 2.0
    assert content["result"]["worst"]["database"] == ["young"]


def test_records_of_several_columns_come_from_a_module(omit_command: Omit) -> None:
    words = "suppression check my_rare_ones:suppress --universe my_rare_ones:people --up-to 3"
    assert "2 records" not in omit_command(f"{words} --epsilon 1").err
    assert omit_command(f"{words} --epsilon 1 --fail-unless 'epsilon<=2'").code == 0


def test_a_witness_is_written_and_replayed(omit_command: Omit) -> None:
    written = omit_command(f"suppression check my_rare_ones:seldom {ASKED} --witness worst.json")
    assert "Wrote worst.json: --replay checks it again." in written.out
    again = omit_command("suppression check my_rare_ones:seldom --replay worst.json")
    assert again.code == 0
    assert "The file holds" in again.out
    other = omit_command("suppression check my_rare_ones:suppress --replay worst.json")
    assert other.code == 1
    assert "does not hold" in other.out
    unmet = "suppression check my_rare_ones:seldom --replay worst.json --fail-unless epsilon<=9"
    assert omit_command(unmet).code == 3


def test_a_false_claim_of_an_omission_is_refuted(omit_command: Omit) -> None:
    asked = "--universe 0,1 --up-to 2 --epsilon 1"
    run = omit_command(f"suppression check my_rare_ones:boastful {asked}")
    assert "Boastful does not keep its word: it states epsilon = 0.5" in run.out
    assert (
        omit_command(
            f"suppression check my_rare_ones:boastful {asked} --fail-unless refuted<1"
        ).code
        == 3
    )
    kept = omit_command(f"suppression check poisson:0.5 {asked} --fail-unless refuted<1")
    assert kept.code == 0
    assert "is not refuted" in kept.out
    claimed = omit_command(f"suppression check my_rare_ones:seldom {ASKED} --claim poisson:0.9")
    assert "does not keep its word" in claimed.out


def test_a_condition_on_the_bound_decides_the_exit_code(omit_command: Omit) -> None:
    words = f"suppression check my_rare_ones:suppress {ASKED} --fail-unless"
    assert omit_command(f"{words} epsilon<=2").code == 0
    assert omit_command(f"{words} epsilon<=1").code == 3


def test_the_page_has_the_worst_pair(omit_command: Omit, tmp_path: Path) -> None:
    run = omit_command(f"suppression check my_rare_ones:suppress {ASKED} --report page.html")
    assert run.code == 0, run.err
    assert "The worst pair, and the mechanism that loses most" in Path("page.html").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"my_rare_ones:nobody {ASKED}", "There is no nobody in my_rare_ones"),
        (f"nowhere_at_all:suppress {ASKED}", "Cannot import nowhere_at_all"),
        (f"nowhere.py:suppress {ASKED}", "Cannot read nowhere.py"),
        (f"my_rare_ones.py {ASKED}", "the name of a function, too: my_rare_ones.py:FUNCTION"),
        (f"broken:suppress {ASKED}", "Cannot import broken (ZeroDivisionError"),
        (f"my_rare_ones:ways {ASKED}", "to be a function or an omission"),
        ("my_rare_ones:suppress --universe a,b --epsilon 1", "Expected --universe, --up-to and"),
        (f"my_rare_ones:suppress {ASKED} --replay w.json", "--replay without other questions"),
        ("my_rare_ones:suppress --replay w.json", "Cannot read w.json"),
        (f"my_rare_ones:seldom {ASKED} --seconds 0.0001", "would take"),
        (f"poison:0.5 {ASKED}", "Did you mean poisson?"),
        (f"fixed-size:2,4 {ASKED}", "fixed-size"),
        (f"my_rare_ones:suppress {ASKED} --returns all", "one of: kept"),
    ],
)
def test_what_cannot_be_checked_is_refused_with_a_sentence(
    omit_command: Omit, words: str, message: str
) -> None:
    run = omit_command(f"suppression check {words}")
    assert run.code == 2
    assert message in " ".join(run.err.split())
