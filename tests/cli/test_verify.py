"""`omit verify`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from omit.audit import bounds as mixture
from omit.papers.omitting_records import theorem_5_4
from tests.conftest import Run

Omit = Callable[[str], Run]


@pytest.mark.slow
def test_theorem_5_4_is_verified_on_a_coarse_grid(omit_command: Omit) -> None:
    words = "verify theorem-5.4 --step 0.25 --epsilon 0.5 --epsilon 2"
    shown = omit_command(words)
    assert shown.code == 0
    assert "12 of 12 cells" in shown.out
    printed = json.loads(omit_command(f"{words} --json").out)
    assert printed["command"] == "verify theorem-5.4"
    content = printed["result"]
    assert content["holds"] is True
    assert content["removing"]["above"] < 1e-9


def test_an_interrupted_verification_shows_what_it_has(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = theorem_5_4.slices

    def stopping(*arguments: object, **options: object):  # type: ignore[no-untyped-def]
        yield next(whole(*arguments, **options))  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(theorem_5_4, "slices", stopping)
    run = omit_command("verify theorem-5.4 --step 0.1 --epsilon 1")
    assert run.code == 130
    assert "of 45 cells" in run.out


def test_a_step_that_divides_nothing_is_one_sentence(omit_command: Omit) -> None:
    run = omit_command("verify theorem-5.4 --step 0.3")
    assert (run.code, run.out) == (2, "")


@pytest.mark.slow
def test_the_mixture_bound_is_verified(omit_command: Omit) -> None:
    run = omit_command("verify mixture --cases 5")
    assert run.code == 0
    assert run.out.count("holds") == 6
    assert omit_command("verify mixture --cases 0").code == 2


def test_randomised_suppression_is_verified(omit_command: Omit) -> None:
    printed = json.loads(omit_command("verify suppression --cases 10 --json").out)
    assert printed["command"] == "verify suppression"
    checks = printed["result"]["checks"]
    assert [check["holds"] for check in checks] == [True] * 3
    assert "Theorem 1 of Das et al." in checks[2]["claim"]
    assert omit_command("verify suppression --cases 0").code == 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("sampling", 7), ("composition", 19)])
def test_theorems_of_other_papers_are_verified(omit_command: Omit, name: str, checks: int) -> None:
    printed = json.loads(omit_command(f"verify {name} --cases 10 --json").out)
    assert printed["command"] == f"verify {name}"
    assert [check["holds"] for check in printed["result"]["checks"]] == [True] * checks
    assert omit_command(f"verify {name} --cases 0").code == 2


def test_a_claim_that_fails_is_shown_and_exits_with_one(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = mixture.Check("two and two are three", 1, iter([(3.0, 4.0)]), 1e-9)
    monkeypatch.setattr(mixture, "checks", lambda seed, cases: [wrong])
    run = omit_command("verify mixture")
    assert run.code == 1
    assert "FAILS" in run.out
