"""What the tests of this room share: a table, and ways to write and to be refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from omit import InvalidInput
from omit.data.reading import read
from tests.parts import omit_data

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


def survey() -> pd.DataFrame:
    """Give the incomes of a census excerpt with their survey weights."""
    path = omit_data("nist_tx2019.csv")
    return pd.read_csv(path, usecols=["PINCP", "PWGTP"], na_values=["N"])


def require_same_survey(frame: Any) -> None:
    """Hold the incomes of a frame of a survey to those of its file, to the last digit."""
    path = omit_data("nist_tx2019.csv")
    asked: dict[str, Any] = {"bounds": (0, 200_000), "missing": ["N"]}
    incomes, expected = (read(source, "PINCP", **asked) for source in (frame, path))
    assert incomes == expected
    assert incomes.missing == 1682
    binned, expected = (read(source, "PINCP", bins=500, **asked) for source in (frame, path))
    np.testing.assert_array_equal(binned.counts, expected.counts)
    # Sums in another order differ in the last digit.
    np.testing.assert_array_max_ulp(binned.values, expected.values, maxulp=1)
    asked |= {"weight": "PWGTP", "weight_bounds": (0, 500)}
    pairs, known = (read(source, "PINCP", **asked) for source in (frame, path))
    for name in ("values", "weights", "counts", "clamped", "mean"):
        np.testing.assert_array_equal(getattr(pairs, name), getattr(known, name))


def refusal(
    source: Any, column: Any = None, reader: Callable[..., Any] = read, **declared: Any
) -> str:
    with pytest.raises(InvalidInput) as caught:
        reader(source, column, **declared)
    sentence = str(caught.value)
    assert sentence.endswith((".", ").")), sentence
    assert "\n" not in sentence
    return sentence
