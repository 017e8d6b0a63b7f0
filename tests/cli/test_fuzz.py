"""Whatever is typed, there is an answer or a refusal in one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cli.fuzz.files import write_corpus
from tests.cli.fuzz.invocations import Files, commands, invocations
from tests.cli.fuzz.judge import Runner, Tally

# The campaign can be cut into pieces: OMIT_FUZZ=first:count.
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
    tried = {each.arguments[:2] for each in invocations(files, 0, 3000)}
    assert {words[0] for words in commands()} <= {words[0] for words in tried if words}


@pytest.mark.campaign
def test_dozens_of_odd_invocations_are_answered_or_refused(runner: Runner, files: Files) -> None:
    tally = Tally()
    for invocation in invocations(files, 1, 60):
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
