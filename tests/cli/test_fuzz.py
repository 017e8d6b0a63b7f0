"""Whatever is typed, there is an answer or a refusal in one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cli.fuzz.files import write_corpus
from tests.cli.fuzz.invocations import Files, Invocation, commands, invocations
from tests.cli.fuzz.judge import Ending, Runner, Tally, complaints
from tests.cli.fuzz.server import ESCAPED, KILLED

pytestmark = pytest.mark.slow

# The campaign takes most of an hour; OMIT_FUZZ=first:count is a piece of it.
FIRST, COUNT = (int(part) for part in os.environ.get("OMIT_FUZZ", "0:5000").split(":"))


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with Runner(tmp_path_factory.mktemp("runs")) as made:
        yield made


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    good, bad = write_corpus(tmp_path_factory.mktemp("corpus"))
    return Files(tuple(good), tuple(bad))


def test_every_command_is_tried(files: Files) -> None:
    tried = [invocation.arguments for invocation in invocations(files, 0, 3000)]
    assert len(commands()) > 30
    for words in commands():
        assert any(arguments[: len(words)] == words for arguments in tried), words


@pytest.mark.parametrize(
    ("ending", "complaint"),
    [
        (Ending(0, "epsilon becomes 0.5\n", ""), None),
        (Ending(2, "", "Error: Expected one of two.\n"), None),
        (Ending(130, "", "Interrupted.\n"), None),
        (Ending(130, "", "[10 s] report: 3 of 9 done\nInterrupted.\n"), None),
        (Ending(2, "", "[0.21 s] omit bound\nError: Expected one of two.\n"), None),
        (Ending(3, "", "Failed: expected epsilon<=1.\n"), "exit code 3"),
        (Ending(KILLED, "", ""), "hang"),
        (Ending(130, "", "Interrupted.\n", interrupted=True), "hang"),
        (Ending(ESCAPED, "", "Traceback (most recent call last):\n"), "traceback"),
        (Ending(0, "", "x.py:1: UserWarning: odd\n"), "warning"),
        (Ending(1, "", "Error: no.\n"), "exit code 1"),
        (Ending(0, "delta = nan\n", ""), "nan"),
        (Ending(2, "", "Error: one.\nError: two.\n"), "not one sentence"),
        (Ending(2, "A table\n", "Error: one.\n"), "half an answer"),
        (Ending(130, "", ""), "interrupted without a word"),
        (Ending(0, "", "", left_behind=(".unfinished-1",)), "unfinished file"),
        (Ending(0, "", "", orphans=1), "orphans"),
    ],
)
def test_only_answers_and_refusals_in_one_sentence_are_let_pass(
    ending: Ending, complaint: str | None
) -> None:
    invocation = Invocation(("bound", "poisson"))
    assert complaints(invocation, ending) == ([] if complaint is None else [complaint])


@pytest.mark.parametrize(
    ("err", "complaint"),
    [("Failed: expected epsilon<=1.\n", None), ("", "failed without a word")],
)
def test_a_condition_may_fail_with_a_word(err: str, complaint: str | None) -> None:
    invocation = Invocation(("bound", "poisson", "--fail-unless", "epsilon<=1"))
    wrong = complaints(invocation, Ending(3, "answer\n", err))
    assert wrong == ([] if complaint is None else [complaint])


def test_dozens_of_odd_invocations_are_answered_or_refused(runner: Runner, files: Files) -> None:
    tally = Tally()
    for invocation in invocations(files, 1, 40):
        tally.add(invocation, runner.run(invocation))
    assert not tally.complaints, "\n\n".join([str(tally), *tally.examples])


@pytest.mark.campaign
def test_thousands_of_odd_invocations_are_answered_or_refused(
    runner: Runner, files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally()
    for number, invocation in enumerate(invocations(files, 2, FIRST + COUNT)):
        if number >= FIRST:
            tally.add(invocation, runner.run(invocation))
    with capsys.disabled():
        print(f"\n{tally}")
        print("\n".join(f"{seconds:6.1f} s  {typed}" for seconds, typed in tally.slowest))
    assert not tally.complaints, "\n\n".join([str(tally), *tally.examples])
