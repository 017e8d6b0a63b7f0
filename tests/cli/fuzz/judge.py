"""Runs invocations and says what is wrong with how they ended."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.cli.fuzz.invocations import SLOW, Invocation
from tests.cli.fuzz.server import ESCAPED, KILLED

ROOT = Path(__file__).parents[3]
SECONDS = 60.0
MEGABYTES = 3000
_NOT_A_NUMBER = re.compile(r"(?<![\w.'])-?nan(?![\w'])", re.IGNORECASE)
# What the log and the progress of a long command say, when they do.
_LINE_OF_A_LOG = re.compile(r"^\[\d+(\.\d\d)? s\] [^\n]*\n", re.MULTILINE)
_WARNING = re.compile(r"^\S*Warning: |: \w*Warning: ", re.MULTILINE)


@dataclass(frozen=True)
class Ending:
    """How an invocation ended, and what it said."""

    code: int
    out: str
    err: str
    seconds: float = 0.0
    megabytes: float = 0.0
    interrupted: bool = False
    left_behind: tuple[str, ...] = ()
    orphans: int = 0


def complaints(invocation: Invocation, ending: Ending) -> list[str]:
    """Return what is wrong with an ending; nothing if it is an answer or a refusal."""
    said, err = ending.out + ending.err, _LINE_OF_A_LOG.sub("", ending.err)
    wrong = []
    if ending.code == KILLED or (ending.interrupted and not invocation.slow):
        wrong.append("hang")
    if "Traceback" in said or ending.code == ESCAPED:
        wrong.append("traceback")
    if _WARNING.search(ending.err):
        wrong.append("warning")
    allowed = {0, 2, 130} | ({1} if invocation.arguments[:1] == ("verify",) else set())
    allowed |= {3} if "--fail-unless" in invocation.arguments else set()
    if ending.code not in allowed and "hang" not in wrong and "traceback" not in wrong:
        wrong.append(f"exit code {ending.code}")
    if ending.code in (0, 1, 3):
        if _NOT_A_NUMBER.search(ending.out):
            wrong.append("nan")
        if "--json" in invocation.arguments and "--help" not in invocation.arguments:
            wrong += [] if _is_json(ending.out) else ["not JSON"]
    # Too few words to be a command get the help instead of a sentence.
    if ending.code == 2 and not ending.out.strip().startswith("Usage:"):
        if not _is_one_sentence(err):
            wrong.append("not one sentence")
        if ending.out:
            wrong.append("half an answer")
    if ending.code == 3 and not re.fullmatch(r"Failed: expected [^\n]*\n", err):
        wrong.append("failed without a word")
    if ending.code == 130 and not re.fullmatch(r"Interrupted[^\n]*\n", err):
        wrong.append("interrupted without a word")
    if any(name.startswith(".unfinished") for name in ending.left_behind):
        wrong.append("unfinished file")
    if ending.orphans:
        wrong.append("orphans")
    return wrong


def _is_json(text: str) -> bool:
    def refuse(name: str) -> float:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return text.count("\n") == 1


def _is_one_sentence(err: str) -> bool:
    """Tell whether a refusal is one line of a length that a person reads."""
    return err.startswith("Error: ") and err.count("\n") == 1 and len(err) < 2000


@dataclass
class Tally:
    """What became of many invocations."""

    codes: Counter[int] = field(default_factory=Counter)
    complaints: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def add(self, invocation: Invocation, ending: Ending) -> None:
        """Count one."""
        self.codes[ending.code] += 1
        wrong = complaints(invocation, ending)
        self.complaints.update(wrong)
        typed = shown(invocation)
        if wrong:
            said = (ending.err or ending.out)[-1500:]
            self.examples.append(f"{', '.join(wrong)} (code {ending.code}): {typed}\n{said}")
        self.slowest = sorted([*self.slowest, (ending.seconds, typed)], reverse=True)[:10]

    def __str__(self) -> str:
        ended = ", ".join(f"{count} with code {code}" for code, count in sorted(self.codes.items()))
        wrong = ", ".join(f"{count} {what}" for what, count in self.complaints.items()) or "none"
        return f"{self.codes.total()} invocations: {ended}; complaints: {wrong}"


def shown(invocation: Invocation) -> str:
    """Return what one would type, long words cut."""
    words = (
        word if len(word) < 200 else f"{word[:40]}…({len(word)})" for word in invocation.arguments
    )
    text = "omit " + " ".join(shlex.quote(word) for word in words)
    setting = "".join(
        (
            f" COLUMNS={invocation.columns}" if invocation.columns else "",
            f" {invocation.encoding}" if invocation.encoding != "utf-8" else "",
            " >/dev/full" if invocation.full_device else "",
        )
    )
    return repr(text)[1:-1] + setting


class Runner:
    """A server that runs invocations, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        environment = {
            **os.environ,
            "MPLBACKEND": "agg",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            # Nothing of the terminal that the tests run in.
            "TERM": "dumb",
        }
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.fuzz.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        assert self._answer() == "ready"

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(60)
        self._server.stdout.close()

    def run(self, invocation: Invocation) -> Ending:
        """Run one invocation and return how it ended."""
        work = self._folder / "work"
        work.mkdir()
        out, err = self._folder / "out", self._folder / "err"
        question = {
            "arguments": invocation.arguments,
            "folder": str(work),
            "environment": {"COLUMNS": str(invocation.columns)} if invocation.columns else {},
            "encoding": invocation.encoding,
            "out": "/dev/full" if invocation.full_device else str(out),
            "err": str(err),
            "seconds": SLOW.get("".join(invocation.arguments[:1]), SECONDS),
            "megabytes": MEGABYTES,
        }
        out.write_bytes(b"")
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(question) + "\n")
        self._server.stdin.flush()
        answer = self._answer()
        remains = tuple(path.name for path in work.rglob("*"))
        shutil.rmtree(work)
        return Ending(
            code=answer["code"],
            out=out.read_bytes().decode(invocation.encoding, "replace"),
            err=err.read_bytes().decode(invocation.encoding, "replace"),
            seconds=answer["seconds"],
            megabytes=answer["megabytes"],
            interrupted=answer["interrupted"],
            left_behind=remains,
            orphans=answer["orphans"],
        )

    def _answer(self) -> Any:
        assert self._server.stdout is not None
        return json.loads(self._server.stdout.readline())
