"""The first row of a CSV file: how the columns are called and what separates them."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from omit.errors import InvalidInput

_SEPARATORS = ",;\t|"


def csv_header(path: Path, separators: str = _SEPARATORS) -> tuple[tuple[str, ...], str]:
    r"""Return the column names in the first row, and the separator that finds most of them.

    Taking both from one row, and telling DuckDB, leaves nothing to guess from a sample of the
    rows: a row that does not fit is an error with its line number.

    Raises
    ------
    InvalidInput
        If the file is empty, is not UTF-8 text, or is not compressed as its name says.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text('"age; in years";sex\n39;Male\n')
    ...     csv_header(path)
    (('age; in years', 'sex'), ';')
    """
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    found: tuple[tuple[str, ...], str] = ((), "")
    try:
        for separator in separators:
            # What is not UTF-8 further down is left to DuckDB, which knows the line.
            with opened(
                path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=""
            ) as file:
                names = tuple(next(csv.reader(file, delimiter=separator), ()))
            if len(names) > len(found[0]):
                found = names, separator
        "".join(found[0]).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"Cannot read {path} as CSV: it is not UTF-8 text.") from error
    except (OSError, EOFError, csv.Error) as error:
        raise InvalidInput(f"Cannot read {path} as CSV: {error}.") from error
    if not any(found[0]):
        raise InvalidInput(f"Cannot read {path} as CSV: its first row has no column names.")
    return found
