"""A durable table of results: a folder with an SQLite database.

What `append` has returned from stays, whatever happens to the process or the machine afterwards: a
transaction is on the disk, whole or not at all. Several runs may add to a store at the same time.
Reading works meanwhile, and on a disk that cannot be written. Cells are JSON, and every cell has a
checksum, so that a damaged file is an error and never a wrong number.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from omit import __version__
from omit._validate import shown
from omit.errors import InvalidInput
from omit.study.cell import Answer, Cell, Finished, Value, fingerprint

PathLike: TypeAlias = str | os.PathLike[str]

NAME = "results.sqlite"
FORMAT = 2
# How SQLite's header says whose file it is: "omit" in ASCII.
_APPLICATION = 0x6F6D6974
_JSON = json.JSONEncoder(separators=(",", ":"))
# How long to wait for another run that writes at this moment.
_BUSY_SECONDS = 60.0
# How many cells are parsed at once: one text is parsed much faster than one for every cell.
_PARSED_AT_ONCE = 500
# Identities are random: an index on them would touch as many pages as cells are added. Runs that go
# on at the same time may add a cell twice, with the same rows; the first one is read.
_TABLES = """
    CREATE TABLE cells (identity TEXT NOT NULL, content TEXT NOT NULL, checksum TEXT NOT NULL);
    CREATE TABLE wall_times (study TEXT NOT NULL, seconds REAL NOT NULL, cells INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class Stored:
    """A cell as a store has it."""

    computation: str
    version: int
    parameters: dict[str, Value]
    rows: tuple[dict[str, Answer], ...]
    seconds: float


class WallTime(NamedTuple):
    """How long a run took from beginning to end, and how many cells it computed.

    Examples
    --------
    >>> WallTime(2.5, 10).cells
    10
    """

    seconds: float
    cells: int


@dataclass(frozen=True)
class Snapshot:
    """What a store had when it was read.

    Examples
    --------
    >>> import tempfile
    >>> len(read_store(f"{tempfile.gettempdir()}/nothing here"))
    0
    """

    contents: Mapping[str, str] = field(default_factory=dict, repr=False)
    times: Sequence[tuple[str, WallTime]] = field(default=(), repr=False)

    def identities(self) -> set[str]:
        """Return the identities of all cells in the store."""
        return set(self.contents)

    def cells(self, wanted: Iterable[str] | None = None) -> dict[str, Stored]:
        """Return cells by identity: those wanted, in that order, or all, as they were stored."""
        order = self.contents if wanted is None else dict.fromkeys(wanted)
        chosen = [identity for identity in order if identity in self.contents]
        cells: dict[str, Stored] = {}
        for start in range(0, len(chosen), _PARSED_AT_ONCE):
            some = chosen[start : start + _PARSED_AT_ONCE]
            entries = json.loads(f"[{','.join([self.contents[identity] for identity in some])}]")
            cells.update(zip(some, map(_parsed, entries), strict=True))
        return cells

    def wall_times(self, cells: Iterable[Cell]) -> tuple[WallTime, ...]:
        """Return the times of the runs of exactly these cells that computed any of them."""
        study = _study(cells)
        return tuple(time for name, time in self.times if name == study)

    def __len__(self) -> int:
        return len(self.contents)


def read_store(path: PathLike) -> Snapshot:
    """Return what a store has; nothing if there is none yet.

    `InvalidInput` is raised if something else is there, or it cannot be read or is damaged.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"Expected the folder of a store, got {shown(path)}.")
    folder = Path(path)
    with _sentences(folder, "read"):
        if not _has_database(folder):
            return Snapshot()
        with closing(_connection(folder)) as connection:
            if not _is_made(connection, folder):
                return Snapshot()
            contents = _contents(connection, folder)
            times = connection.execute("SELECT study, seconds, cells FROM wall_times").fetchall()
    if not all(
        isinstance(seconds, float) and isinstance(cells, int) for _, seconds, cells in times
    ):
        raise _damaged(folder)
    return Snapshot(contents, [(study, WallTime(*time)) for study, *time in times])


def _contents(connection: sqlite3.Connection, folder: Path) -> dict[str, str]:
    contents: dict[str, str] = {}
    for identity, content, checksum in connection.execute(
        "SELECT identity, content, checksum FROM cells"
    ):
        if checksum != _checksum(identity, content):
            raise _damaged(folder)
        contents.setdefault(identity, content)
    return contents


class Store:
    """A store that is open for adding results; made by `open_store`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self._folder = folder
        self._connection = connection

    def identities(self) -> set[str]:
        """Return the identities of the cells that are there now."""
        with _sentences(self._folder, "read"):
            return {name for (name,) in self._connection.execute("SELECT identity FROM cells")}

    def append(self, finished: Iterable[Finished]) -> None:
        """Add cells, and return when they are durable.

        If they cannot be written, what the store had before stays, and nothing else.
        """
        self._insert("INSERT INTO cells VALUES (?, ?, ?)", [_entry(cell) for cell in finished])

    def add_wall_time(self, cells: Iterable[Cell], time: WallTime) -> None:
        """Add how long a run of these cells took."""
        self._insert("INSERT INTO wall_times VALUES (?, ?, ?)", [(_study(cells), *time)])

    def _insert(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            with _sentences(self._folder, "write to"), self._connection:
                self._connection.executemany(statement, rows)


@contextmanager
def open_store(path: PathLike) -> Iterator[Store]:
    """Open a store for adding results, made if it is not there.

    `InvalidInput` is raised if it is no store, of another format, damaged, or cannot be written.
    """
    folder = Path(path)
    with _sentences(folder, "write to"):
        if not _has_database(folder):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / NAME).touch()  # with the permissions that the user's umask allows
        connection = _connection(folder)
    with closing(connection):
        with _sentences(folder, "write to"):
            _make(connection, folder)
        yield Store(folder, connection)


def _make(connection: sqlite3.Connection, folder: Path) -> None:
    """Make the tables, all or none, unless they are there."""
    if not _is_made(connection, folder):
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            if not _is_made(connection, folder):  # another run may have been faster
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("PRAGMA synchronous = FULL")
    with suppress(sqlite3.OperationalError):  # another run is changing it at this moment
        connection.execute("PRAGMA journal_mode = WAL")
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise _damaged(folder)


def _connection(folder: Path) -> sqlite3.Connection:
    """Connect to the database, without locks if it is on a disk that cannot be written."""
    address = (folder / NAME).absolute().as_uri()
    connection = sqlite3.connect(
        f"{address}?mode=rw", uri=True, timeout=_BUSY_SECONDS, isolation_level="IMMEDIATE"
    )
    try:
        connection.execute("SELECT * FROM sqlite_master").fetchall()
    except sqlite3.OperationalError:
        connection.close()
        if os.access(folder, os.W_OK) or (folder / f"{NAME}-wal").exists():
            raise
        return sqlite3.connect(f"{address}?immutable=1", uri=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_made(connection: sqlite3.Connection, folder: Path) -> bool:
    """Return whether a database has its tables; False if it is empty."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        # Somebody else's database, or what remains if the making of a store was interrupted.
        if (folder / NAME).stat().st_size:
            raise _foreign(folder)
        return False
    if version != FORMAT:
        raise InvalidInput(
            f"The store {folder} has format {version}, and omit {__version__} has format {FORMAT}; "
            "use the version of omit that wrote it, or name another store."
        )
    return True


def _has_database(folder: Path) -> bool:
    """Return whether there is a database; refuse a path where something else is."""
    if (folder / NAME).exists():
        return True
    if not folder.is_dir():
        if folder.exists() or any(parent.is_file() for parent in folder.parents):
            raise InvalidInput(f"Expected {folder} to be a folder with results, not a file.")
        return False
    others = [path.name for path in folder.iterdir() if not path.name.startswith(NAME)]
    if others:
        raise InvalidInput(
            f"{folder} is not a store of results and has other files, such as {min(others)}; "
            "name another folder, or a new one to be made."
        )
    return False


@contextmanager
def _sentences(folder: Path, action: str) -> Iterator[None]:
    """Say in a sentence what went wrong with the database or the disk."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"Cannot {action} the store {folder}: {error.strerror}.") from error
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorname", "")
        if kind == "SQLITE_NOTADB":
            raise _foreign(folder) from error
        if kind in ("", "SQLITE_ERROR") or kind.startswith("SQLITE_CORRUPT"):
            raise _damaged(folder) from error
        raise InvalidInput(
            f"Cannot {action} the store {folder}: {error}; what it had before is unharmed, and "
            "running again goes on from there."
        ) from error


def _damaged(folder: Path) -> InvalidInput:
    return InvalidInput(
        f"The store {folder} is damaged, which no interrupted run can cause; put back a copy of "
        "it, or name another store."
    )


def _foreign(folder: Path) -> InvalidInput:
    return InvalidInput(
        f"{folder} is not a store of results; name another folder, or a new one to be made."
    )


def _entry(finished: Finished) -> tuple[str, str, str]:
    cell, computation = finished.cell, finished.cell.computation
    result = cell.parameters, finished.rows, round(finished.seconds, 6)
    content = _JSON.encode([computation.name, computation.version, *result, __version__])
    return cell.identity, content, _checksum(cell.identity, content)


def _parsed(entry: list[Any]) -> Stored:
    computation, version, parameters, rows, seconds, _ = entry
    for name, value in parameters.items():
        if type(value) is list:
            parameters[name] = _with_tuples(value)
    return Stored(computation, version, parameters, tuple(rows), seconds)


def _checksum(identity: object, content: object) -> str:
    # What is no text any more is no content either, and has another checksum.
    return hashlib.blake2b(f"{identity} {content}".encode(), digest_size=8).hexdigest()


def _study(cells: Iterable[Cell]) -> str:
    """Return what a study is known by: all its cells."""
    return fingerprint("".join(sorted(cell.identity for cell in cells)))


def _with_tuples(value: Any) -> Value:
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
