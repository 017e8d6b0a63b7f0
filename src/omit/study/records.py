"""The file of results: a line per record, each with its own checksum.

A line is ``checksum identities text``, where the text is JSON. The first line says that this is a
store, and in which format. Lines are only ever added at the end, and a line is made durable before
the next one is written. So whatever happens, at most the last line is torn, and a torn line is
known by its checksum or by its missing end. A bad line before a good one is no work of a crash.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omit._version import __version__
from omit.errors import InvalidInput
from omit.study.cell import Cell
from omit.study.values import Answer, Value
from omit.study.worker import Finished

FORMAT = 1
_MARK = b"omit-study"
_BEGINNING = re.compile(rb"[0-9a-f]{16} [0-9a-f]{64}")


@dataclass(frozen=True)
class Stored:
    """A cell as a store has it."""

    computation: str
    version: int
    parameters: dict[str, Value]
    rows: tuple[dict[str, Answer], ...]
    seconds: float


@dataclass(frozen=True)
class Record:
    """Where a record is, and which cells it has."""

    start: int
    end: int
    identities: tuple[str, ...]


@dataclass(frozen=True)
class Contents:
    """The whole records of a file, and where the last one ends."""

    records: tuple[Record, ...]
    end: int


def header() -> bytes:
    """Return the first line of a store."""
    return _line(_MARK, {"format": FORMAT, "omit": __version__})


def record(finished: Sequence[Finished]) -> bytes:
    """Return the line of cells that were computed together."""
    identities = ",".join(each.cell.identity for each in finished).encode()
    return _line(identities, {"omit": __version__, "cells": [_entry(each) for each in finished]})


def contents(data: bytes, name: str) -> Contents:
    """Return what a file has, without the torn line that a crash may have left at its end.

    Raises
    ------
    InvalidInput
        If it is no store, of another format, or damaged otherwise than by a crash.
    """
    start = _end_of_header(data, name)
    records = []
    while start < len(data):
        end = data.find(b"\n", start) + 1
        if not end or not _is_whole(data, start, end):
            if _any_whole_after(data, start):
                raise InvalidInput(
                    f"The store {name} is damaged at byte {start}, which no interrupted run can "
                    "cause; put back a copy of it, or name another store."
                )
            break
        found = data[start + 17 : data.index(b" ", start + 17)]
        records.append(Record(start, end, tuple(found.decode().split(","))))
        start = end
    return Contents(tuple(records), start)


def cells_of(data: bytes, where: Record) -> dict[str, Stored]:
    """Return the cells of a record by their identities."""
    text = data[data.index(b" ", where.start + 17) : where.end]
    entries = json.loads(text)["cells"]
    return {
        identity: Stored(name, version, _with_tuples(parameters), tuple(rows), seconds)
        for identity, (name, version, parameters, rows, seconds) in zip(
            where.identities, entries, strict=True
        )
    }


def _entry(finished: Finished) -> list[Any]:
    cell: Cell = finished.cell
    computation = cell.computation
    return [
        computation.name,
        computation.version,
        cell.parameters,
        finished.rows,
        round(finished.seconds, 6),
    ]


def _line(words: bytes, data: object) -> bytes:
    content = words + b" " + json.dumps(data, separators=(",", ":")).encode()
    return _checksum(content) + b" " + content + b"\n"


def _checksum(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=8).hexdigest().encode()


def _is_whole(data: bytes, start: int, end: int) -> bool:
    content = memoryview(data)[start + 17 : end - 1]
    return end - start > 18 and data[start : start + 17] == _checksum(content) + b" "


def _any_whole_after(data: bytes, start: int) -> bool:
    """Return whether a whole record begins after a place, be the end of the line before it lost."""
    return any(
        _is_whole(data, found.start(), data.find(b"\n", found.start()) + 1)
        for found in _BEGINNING.finditer(data, start + 1)
    )


def _end_of_header(data: bytes, name: str) -> int:
    end = data.find(b"\n", 0, 1000) + 1
    words = data[17:end].split(b" ", 1)
    if not end or words[0] != _MARK or not _is_whole(data, 0, end):
        raise InvalidInput(
            f"{name} is not a store of results; name another place, or a new one to be made."
        )
    said = json.loads(words[1])
    if said["format"] != FORMAT:
        raise InvalidInput(
            f"The store {name} has format {said['format']}, written by omit {said['omit']}, and "
            f"omit {__version__} has format {FORMAT}; use that version or name another store."
        )
    return end


def _with_tuples(parameters: dict[str, Any]) -> dict[str, Value]:
    return {name: _tuple_if_list(value) for name, value in parameters.items()}


def _tuple_if_list(value: Any) -> Value:
    return tuple(map(_tuple_if_list, value)) if isinstance(value, list) else value
