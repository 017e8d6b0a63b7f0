"""Fixtures of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.tables import PEOPLE


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path
