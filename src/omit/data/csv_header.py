"""The first row of a CSV file: how the columns are called, what separates them, how rows end."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path

from omit.errors import InvalidInput

_SEPARATORS = ",;\t|"
_LONGEST = 1_000_000
_CHUNK = 1 << 20


@dataclass(frozen=True)
class CsvHeader:
    r"""What the first row of a CSV file tells.

    Parameters
    ----------
    names : tuple of str
        The names of the columns.
    separator : str
        What stands between two values.
    line_end : str
        What ends the row: ``"\n"``, ``"\r\n"``, ``"\r"``, or nothing if there is no other row.
    """

    names: tuple[str, ...]
    separator: str
    line_end: str


def csv_header(path: Path, label: str, separators: str = _SEPARATORS) -> CsvHeader:
    r"""Return the column names in the first row, and the separator that finds most of them.

    Taking both from one row, and telling DuckDB, leaves nothing to guess from a sample of the
    rows: a row that does not fit is an error with its line number. The `label` is how a sentence
    calls the file.

    Raises
    ------
    InvalidInput
        If the file is empty, is not UTF-8 text, is not compressed as its name says, or if DuckDB
        would not know where its first row ends.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text('"age; in years";sex\n39;Male\n')
    ...     csv_header(path, "people.csv")
    CsvHeader(names=('age; in years', 'sex'), separator=';', line_end='\n')
    """
    opened = gzip.open if is_gzip(path) else open
    try:
        # What is not UTF-8 further down is left to DuckDB, which knows the line.
        with opened(path, "rt", encoding="utf-8", errors="surrogateescape", newline="") as file:
            start = str(file.read(_LONGEST))
        text = start.removeprefix("\ufeff")
        rows = [_row(text, each) for each in separators]
        found = max(rows, key=lambda row: len(row.names))
        "".join(found.names).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"Cannot read {label} as CSV: it is not UTF-8 text.") from error
    except (OSError, EOFError) as error:
        raise InvalidInput(f"Cannot read {label} as CSV: {error}.") from error
    if not any(found.names):
        raise InvalidInput(f"Cannot read {label} as CSV: its first row has no column names.")
    if len(start) == _LONGEST and not found.line_end:
        raise InvalidInput(
            f"Cannot read {label} as CSV: its first row has more than {_LONGEST:,} characters."
        )
    # With a byte order mark in front, DuckDB does not see that the first name is in quotes.
    if start != text and set(found.names[0]) & {found.separator, '"', "\n", "\r"}:
        raise InvalidInput(
            f"Cannot read {label} as CSV: it begins with a byte order mark, and the name of its "
            "first column has a separator, a quote or a line break in it; save it without the "
            "mark, or give the column a plain name."
        )
    return found


def is_gzip(path: Path) -> bool:
    """Return whether the name of a file says that it is compressed."""
    return path.suffix.lower() == ".gz"


def require_intact(path: Path, label: str) -> None:
    """Refuse a compressed file that is damaged, without holding it.

    DuckDB reads such a file as far as it is one and does not look at its checksum, so that
    changed digits would go unseen.

    Raises
    ------
    InvalidInput
        If the file is cut off, or its checksum is not that of its content.
    """
    import zlib

    try:
        with gzip.open(path) as file:
            while file.read(_CHUNK):
                pass
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"Cannot read {label}: the compressed file is damaged ({error}); fetch it again."
        ) from error


def _row(text: str, separator: str) -> CsvHeader:
    stream = io.StringIO(text, newline="")
    try:
        names = tuple(next(csv.reader(stream, delimiter=separator), ()))
    except csv.Error:  # a name beyond all measure: this is not the separator
        return CsvHeader((), separator, "")
    if stream.tell() == len(text) and len(text) >= _LONGEST - 1:
        return CsvHeader(names, separator, "")  # cut off, perhaps in a quoted name
    read = text[: stream.tell()]
    ends = (end for end in ("\r\n", "\n", "\r") if read.endswith(end))
    return CsvHeader(names, separator, next(ends, ""))
