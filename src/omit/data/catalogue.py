"""What is known of data sets by their names: all of them, or the columns of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from omit.data.base import show_bounds
from omit.data.datasets import Dataset, dataset, datasets
from omit.report.result import Field, Result, Table


@dataclass(frozen=True)
class Catalogue(Result):
    """The registered data sets, or what is declared about the columns of one.

    Parameters
    ----------
    sets : tuple of Dataset
        Those that are listed.
    alone : bool
        Whether the columns of the only one are.

    Examples
    --------
    >>> Catalogue.of("adult").columns["age"]
    'numbers in [0, 125], in steps of 1'
    """

    command: ClassVar[str] = "data"
    caution: ClassVar[str | None] = None

    sets: tuple[Dataset, ...]
    alone: bool = False

    @classmethod
    def of(cls, name: str | None = None) -> Catalogue:
        """Return all registered data sets, or the one of that name."""
        return cls(datasets()) if name is None else cls((dataset(name),), alone=True)

    @property
    def columns(self) -> Mapping[str, str]:
        """What the columns of the first data set can hold."""
        known = self.sets[0]
        step = "" if known.step is None else f", in steps of {known.step:g}"
        numbers = {
            name: f"numbers in {show_bounds(bounds)}{step}" for name, bounds in known.bounds.items()
        }
        texts = {name: f"one of {len(listed)}" for name, listed in known.categories.items()}
        return {**numbers, **texts}

    @property
    def verdict(self) -> str:
        """How many there are, or where the one comes from."""
        if self.alone:
            (known,) = self.sets
            return f"{known.title}. {known.citation}. Licence: {known.licence}."
        found = sum(known.missing_file() is None for known in self.sets)
        return (
            f"{len(self.sets)} data sets are registered, and {found} of them are here; "
            "omit data NAME lists the columns of one."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said with every result, which codes mean no value, and what is missing."""
        missing = [known.missing_file() for known in self.sets]
        absent = [sentence for sentence in missing if sentence is not None]
        if not self.alone:
            return tuple(absent)
        (known,) = self.sets
        codes = [f"Without a value: {', '.join(known.missing)}."] if known.missing else []
        weight = [f"Column of survey weights: {known.weight}."] if known.weight else []
        return (*dict.fromkeys(known.remarks.values()), *codes, *weight, *absent)

    def tables(self) -> Sequence[Table]:
        """Return the data sets, or the columns of the only one."""
        if self.alone:
            (known,) = self.sets
            usual = "taken if none is named"
            held = (Field("column", "column"), Field("can hold", "can_hold"), Field("", "usual"))
            rows = tuple(
                (name, values, usual if name == known.default_column else "")
                for name, values in self.columns.items()
            )
            return (Table("columns", known.name, held, rows),)
        fields = (
            Field("data set", "name"),
            Field("", "found", lambda found: "there" if found else "missing"),
            Field("columns", "columns", numeric=True),
            Field("what it is", "title"),
        )
        lines = tuple(
            (
                known.name,
                known.missing_file() is None,
                len(known.bounds) + len(known.categories),
                known.title,
            )
            for known in self.sets
        )
        return (Table("sets", "Registered data sets", fields, lines),)
