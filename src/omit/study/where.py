"""Where cells are computed.

| text | meaning |
| --- | --- |
| ``process`` | in this process |
| ``cores``, ``cores:4`` | on all cores of this machine, or on four, in processes of their own |
| ``local:4`` | on a Dask cluster of four worker processes, made for the run |
| ``tcp://host:8786`` | on a Dask cluster that is there, by the address of its scheduler |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from omit._validate import shown
from omit.errors import InvalidInput
from omit.study.worker import Hand, Outcome

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:[0-9]{1,5}(/\S*)?")
WAYS = "process, cores, cores:N, local:N or the address of a Dask scheduler, tcp://host:port"


class Workers(Protocol):
    """Those who compute hands."""

    def slots(self) -> int:
        """Return how many hands are computed at once."""

    def submit(self, hand: Hand) -> None:
        """Let some worker compute a hand."""

    def wait(self) -> Sequence[tuple[Hand, Outcome | None]]:
        """Return hands that have come back, at least one; None where the worker has died."""

    def abandon(self) -> None:
        """Stop what runs; nobody wants it any more."""


def workers_at(where: str) -> AbstractContextManager[Workers]:
    """Return the workers at a place, for as long as they are needed.

    Nothing is started before the block is entered.

    Raises
    ------
    InvalidInput
        If there is no such place.

    Examples
    --------
    >>> with workers_at("process") as workers:
    ...     workers.slots()
    1
    """
    from omit.study.local import in_process, on_cores

    kind, _, count = str(where).partition(":")
    if where == "process":
        return in_process()
    if kind == "cores":
        return on_cores(_count(where, count) if count or where != kind else None)
    if kind == "local":
        from omit.study.cluster import on_own_cluster

        return on_own_cluster(_count(where, count))
    if _ADDRESS.fullmatch(str(where)):
        from omit.study.cluster import on_cluster

        return on_cluster(where)
    raise InvalidInput(f"Expected {shown(where)} to be one of: {WAYS}.")


def _count(where: str, count: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,3}", count, re.ASCII):
        raise InvalidInput(f"Expected {shown(where)} to end in a number of workers from 1 to 9999.")
    return int(count)
