"""Settings and fixtures that all tests share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from omit.cli.main import main

# The same examples in every run: a failure is a fact about the change, not about luck.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave campaigns out unless they are asked for, whatever else is selected."""
    if "campaign" in (config.option.markexpr or ""):
        return
    campaigns = [item for item in items if item.get_closest_marker("campaign")]
    items[:] = [item for item in items if item not in campaigns]
    config.hook.pytest_deselected(items=campaigns)


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
            main(words.split())
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run
