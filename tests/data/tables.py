"""What the tests of this room share: a table, and ways to write and to be refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from omit import InvalidInput
from omit.data.reading import read

DATABASE = duckdb.connect()
STRANGE = 'a"b; drop'
PEOPLE = "age,sex,job\n39,Male,Sales\n25,Female,\n39,Female,Sales\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(source: Any, column: str | int | None = None, **declared: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(source, column, **declared)
    sentence = str(caught.value)
    assert sentence.endswith((".", ").")), sentence
    assert "\n" not in sentence
    return sentence
