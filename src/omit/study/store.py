"""A durable table of results: a folder with one file that only ever grows.

What `append` has returned from stays, whatever happens to the process, the machine or the disk
afterwards. Reading needs no lock and changes nothing; it works while a run goes on, and on a
disk that cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from omit._validate import shown
from omit.errors import InvalidInput
from omit.study import lock
from omit.study.records import Contents, Record, Stored, cells_of, contents, header, record
from omit.study.worker import Finished

PathLike: TypeAlias = str | os.PathLike[str]

NAME = "results.log"
_UNFINISHED = "results.log.unfinished"


@dataclass(frozen=True)
class Snapshot:
    """What a store had when it was read.

    Examples
    --------
    >>> import tempfile
    >>> len(read_store(f"{tempfile.gettempdir()}/nothing here"))
    0
    """

    data: bytes = field(default=b"", repr=False)
    records: tuple[Record, ...] = ()

    def identities(self) -> set[str]:
        """Return the identities of all cells in the store."""
        return {identity for each in self.records for identity in each.identities}

    def cells(self, wanted: Iterable[str] | None = None) -> dict[str, Stored]:
        """Return cells by identity, in the order they were stored: those wanted, or all."""
        chosen = None if wanted is None else set(wanted)
        found: dict[str, Stored] = {}
        for each in self.records:
            if chosen is None or not chosen.isdisjoint(each.identities):
                for identity, stored in cells_of(self.data, each).items():
                    if chosen is None or identity in chosen:
                        found.setdefault(identity, stored)
        return found

    def __len__(self) -> int:
        return len(self.identities())


def read_store(path: PathLike) -> Snapshot:
    """Return what a store has; nothing if there is none yet.

    Raises
    ------
    InvalidInput
        If there is something else at that place, or it cannot be read.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"Expected the folder of a store, got {shown(path)}.")
    folder = Path(path)
    try:
        data = (folder / NAME).read_bytes()
    except FileNotFoundError:
        _require_free(folder)
        return Snapshot()
    except NotADirectoryError as error:
        raise InvalidInput(f"Expected {folder} to be a folder with results, not a file.") from error
    except OSError as error:
        raise InvalidInput(f"Cannot read the store {folder}: {error.strerror}.") from error
    return Snapshot(data, contents(data, str(folder)).records)


class Store:
    """A store that is open for adding results, by one run at a time; made by `open_store`."""

    def __init__(self, folder: Path, handle: int, found: Contents, data: bytes) -> None:
        self.folder = folder
        self.found = Snapshot(data, found.records)
        self._handle = handle
        self._end = found.end

    def append(self, finished: Sequence[Finished]) -> None:
        """Add cells, and return when they are durable.

        Raises
        ------
        InvalidInput
            If they cannot be written; what the store had before stays, and nothing else.
        """
        if not finished:
            return
        line = record(finished)
        try:
            _write_all(self._handle, line)
            os.fsync(self._handle)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, self._end)
            raise InvalidInput(
                f"Cannot write to the store {self.folder}: {error.strerror}; what it had before "
                "is unharmed, and running again goes on from there."
            ) from error
        self._end += len(line)


@contextmanager
def open_store(path: PathLike) -> Iterator[Store]:
    """Open a store for adding results, made if it is not there, and hold its lock.

    A torn line that a crash left at the end is cut off.

    Raises
    ------
    InvalidInput
        If another run has it open, it is no store, of another format or damaged, or it cannot
        be written.
    """
    folder = Path(path)
    read_store(folder)  # refuses what is no store before anything is made
    with ExitStack() as held:
        with _as_sentences(folder):
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(lock.locked(folder))
            if not (folder / NAME).exists():
                _make(folder)
            handle = os.open(folder / NAME, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            held.callback(os.close, handle)
            data = (folder / NAME).read_bytes()
            found = contents(data, str(folder))
            if found.end < len(data):
                os.ftruncate(handle, found.end)
                os.fsync(handle)
        yield Store(folder, handle, found, data[: found.end])


@contextmanager
def _as_sentences(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"Cannot write to the store {folder}: {error.strerror}.") from error


def _require_free(folder: Path) -> None:
    """Refuse a place where something else is."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"Expected {folder} to be a folder with results, not a file.")
    if folder.is_dir():
        others = [
            each.name for each in folder.iterdir() if each.name not in (_UNFINISHED, lock.NAME)
        ]
        if others:
            raise InvalidInput(
                f"{folder} is not a store of results and has other files, such as "
                f"{min(others)}; name another place, or a new one to be made."
            )


def _make(folder: Path) -> None:
    """Put the first line in place, whole or not at all."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    handle = os.open(folder / _UNFINISHED, flags, 0o666)  # less what the user's umask forbids
    try:
        _write_all(handle, header())
        os.fsync(handle)
    finally:
        os.close(handle)
    (folder / _UNFINISHED).rename(folder / NAME)
    entry = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)


def _write_all(handle: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(handle, rest) :]
