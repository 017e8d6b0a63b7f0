"""Settings and fixtures that all tests share."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import scipy.linalg  # noqa: F401  # it has to be there to be limited
from hypothesis import settings
from threadpoolctl import threadpool_limits

from omit.cli.main import main
from omit.laws.design import FixedSize

# The same examples in every run: a failure is a fact about the change, not about luck.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

# Pages whose examples take seconds by what they show.
SLOW_PAGES = {"accuracy.md", "clustering.md", "data.md", "errata.md", "how-exact.md", "ledger.py"}


def pytest_configure(config: pytest.Config) -> None:
    """Let linear algebra use one thread: there are as many test processes as processors."""
    threadpool_limits(limits=1, user_api="blas")


@pytest.hookimpl(tryfirst=True)  # before anything is selected by its marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow pages, and leave campaigns out unless they are asked for."""
    for item in items:
        if item.path.name in SLOW_PAGES:
            item.add_marker(pytest.mark.slow)
    if "campaign" in (config.option.markexpr or ""):
        return
    campaigns = [item for item in items if item.get_closest_marker("campaign")]
    items[:] = [item for item in items if not item.get_closest_marker("campaign")]
    config.hook.pytest_deselected(items=campaigns)


@pytest.fixture
def too_many_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small columns be sampled as large ones are."""
    monkeypatch.setattr(FixedSize, "outcomes", lambda *_: None)


class Run(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """What a program gets: the result in the envelope that all commands share."""
        return json.loads(self.out)["result"]


@pytest.fixture
def omit_command(capsys: pytest.CaptureFixture[str]) -> Callable[[str], Run]:
    """Return a function that runs `omit` with the given words."""

    def run(words: str) -> Run:
        code = 0
        try:
            main(shlex.split(words))
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run
