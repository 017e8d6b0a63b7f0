"""What the tests of this room share: a table, and ways to write and to be refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from omit import InvalidInput
from omit.data.reading import read

DATABASE = duckdb.connect()
STRANGE = 'a"b; drop'
PEOPLE = "age,sex,job\n39,Male,Sales\n25,Female,\n39,Female,Sales\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def every_source(frame: pd.DataFrame, folder: Path) -> Iterator[list[Any]]:
    """Give a frame, files of every kind with its records, and a relation of a connection."""
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_csv(folder / "table.tsv.gz", index=False, sep="\t")
    with duckdb.connect() as connection:
        relation = connection.from_df(frame)
        relation.write_parquet(str(folder / "table.parquet"))
        (folder / "table.duckdb").unlink(missing_ok=True)
        connection.execute(f"ATTACH '{folder / 'table.duckdb'}' AS file")
        connection.execute("CREATE TABLE file.people AS SELECT * FROM frame")
        connection.execute("DETACH file")
        files = [folder / f"table.{kind}" for kind in ("csv", "tsv.gz", "parquet", "duckdb")]
        yield [frame, *files, relation]


def refusal(
    source: Any, column: Any = None, reader: Callable[..., Any] = read, **declared: Any
) -> str:
    with pytest.raises(InvalidInput) as caught:
        reader(source, column, **declared)
    sentence = str(caught.value)
    assert sentence.endswith((".", ").")), sentence
    assert "\n" not in sentence
    return sentence
