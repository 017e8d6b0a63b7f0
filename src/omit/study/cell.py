"""A computation, the cells that it computes, and what identifies a cell.

A `Computation` says how one cell is computed; a `Cell` is a computation with all its parameters.
A cell's identity is the SHA-256 of the computation's name, its version and the cell's parameters:
the same on every machine, in every process, in whatever order parameters are written. The random
stream of a cell follows from its identity, so its results depend on nothing else.

Two ways to write the same parameter must not make two cells, and nothing about a parameter may
depend on the process that reads it. Hence:

- text, integers, other numbers, booleans, None and tuples of these are parameters;
- numbers that are equal are the same parameter: ``1``, ``1.0`` and ``numpy.float32(1)`` all become
  ``1``, and ``-0.0`` becomes ``0``. A computation therefore gets an integer as an `int`;
- a boolean is no number: ``True`` and ``1`` differ;
- what is not a finite number, and integers beyond 2⁵³, which floats cannot tell apart, are refused.

Answers of a computation are kept as they are, to the last bit: ``1.0`` stays a float, ``-0.0``
keeps its sign, and infinities and NaN are allowed.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from omit import _validate
from omit.errors import InvalidInput

Value: TypeAlias = "str | int | float | bool | tuple[Value, ...] | None"
Answer: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Row | Sequence[Row]
Prepare: TypeAlias = Callable[[Mapping[str, Any], np.random.Generator], Any]
Compute: TypeAlias = Callable[[Mapping[str, Any], Any, np.random.Generator], Rows]
Cost: TypeAlias = Callable[[Mapping[str, Any]], float]

# Columns of the table of results that are not parameters.
RESERVED = frozenset({"computation", "version", "row", "seconds", "identity"})

_LARGEST_INTEGER = 2**53
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Computation:
    """How a cell is computed, under a name and a version.

    Parameters
    ----------
    name : str
        The name, part of the identity of every cell.
    version : int
        To be raised whenever the mathematics change, so that what was computed before is
        computed again.
    compute : callable
        ``compute(parameters, prepared, rng)`` returns the row of the cell, a mapping from names to
        text, numbers, booleans or None; or several rows, as a list of such mappings.
    prepare : callable, optional
        ``prepare(shared, rng)`` returns whatever cells with the same shared parameters have in
        common: a data set, outlier scores, calibrations. A worker does it once and keeps it for
        the cells that follow, so `compute` must not change it. Its random stream belongs to the
        shared parameters.
    shared : sequence of str
        The names of the parameters that `prepare` is given. Cells with the same values of them
        form a group and are computed together.
    cost : callable, optional
        ``cost(parameters)`` returns the expected cost of a cell in any unit, for the estimate of
        the time left. It may change without a new version.

    Raises
    ------
    InvalidInput
        If a function is not a top-level function. A function inside another one can see values
        that are no parameters, and results would depend on more than a cell's identity.

    Examples
    --------
    >>> def compute(parameters, prepared, rng):
    ...     return {"mean": rng.normal(parameters["centre"], size=100).mean()}
    >>> drawn_mean = Computation("drawn mean", 1, compute)
    >>> cell = drawn_mean.cell(centre=2.0)
    >>> cell
    Cell('drawn mean', version 1: centre=2)
    >>> cell.identity[:12]
    'dd7146ab8719'
    """

    name: str
    version: int
    compute: Compute
    prepare: Prepare | None = None
    shared: Sequence[str] = ()
    cost: Cost | None = None
    # What the identity of every cell begins with, and the group of cells that share nothing.
    prefix: str = field(init=False, repr=False)
    group: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidInput(f"Expected the name of a computation, got {self.name!r}.")
        version = _validate.positive_integer(f"the version of {self.name!r}", self.version)
        prefix = canonical({"computation": self.name, "version": version})
        shared = tuple(sorted(_validate.texts("shared", self.shared)))
        plain = {
            "version": version,
            "prefix": prefix,
            "group": _group(prefix, {}),
            "shared": shared,
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        if self.shared and self.prepare is None:
            raise InvalidInput(f"{self.name!r} has shared parameters and nothing to prepare.")
        for role in ("compute", "prepare", "cost"):
            function = getattr(self, role)
            if function is not None and not _is_top_level(function):
                raise InvalidInput(
                    f"Expected {role} of {self.name!r} to be a top-level function, "
                    f"got {function!r}."
                )

    def cell(self, **parameters: object) -> Cell:
        """Return the cell with these parameters."""
        return next(self._cells({name: (value,) for name, value in parameters.items()}))

    def grid(self, **axes: object) -> tuple[Cell, ...]:
        """Return a cell for every combination of the axes, the last axis changing fastest.

        An axis is a list, a tuple, a range or an array of values; anything else is one value. A
        parameter that is a tuple itself is put in a list: ``bounds=[(0, 125)]``. Grids are
        added like tuples, and a cell that occurs twice is computed once.

        Examples
        --------
        >>> def compute(parameters, prepared, rng):
        ...     return {"total": sum(parameters.values())}
        >>> [str(cell) for cell in Computation("total", 1, compute).grid(a=[1, 2], b=0.5)]
        ['total: a=1, b=0.5', 'total: a=2, b=0.5']
        """
        return tuple(self._cells({name: _axis(values) for name, values in axes.items()}))

    def _cells(self, axes: Mapping[str, Iterable[object]]) -> Iterator[Cell]:
        """Yield a cell for every combination of the axes.

        Every value is brought into its plain form and written as text once, not once per cell.
        """
        self._check_names(axes)
        values = [[_parameter(name, value) for value in axis] for name, axis in axes.items()]
        names = list(axes)
        order = sorted(range(len(names)), key=names.__getitem__)
        for combination in itertools.product(*values):
            chosen = [combination[position] for position in order]
            text = ",".join([text for _, text in chosen])
            identity = fingerprint(f"{self.prefix}{{{text}}}")
            yield Cell(self, tuple([item for item, _ in chosen]), identity)

    def _check_names(self, names: Iterable[str]) -> None:
        given = set(names)
        if reserved := RESERVED & given:
            raise InvalidInput(
                f"A parameter cannot be named {min(reserved)!r}, a column of the table of results."
            )
        if missing := set(self.shared) - given:
            raise InvalidInput(
                f"Cells of {self.name!r} share {min(missing)!r}, which is not among the "
                f"parameters: {', '.join(sorted(given))}."
            )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Cell:
    """A computation with all its parameters; made by `Computation.cell` or `Computation.grid`.

    Cells are equal if their identities are.

    Attributes
    ----------
    computation : Computation
        What computes the cell.
    items : tuple of (str, value)
        The parameters by name, sorted, in their plain form.
    identity : str
        The SHA-256 of name, version and parameters.

    Examples
    --------
    >>> from omit.study import Computation
    >>> def compute(parameters, prepared, rng):
    ...     return {"heads": rng.binomial(parameters["tosses"], 0.5)}
    >>> cell = Computation("coin tosses", 1, compute).cell(tosses=10)
    >>> cell.parameters, len(cell.identity)
    ({'tosses': 10}, 64)
    """

    computation: Computation
    items: tuple[tuple[str, Value], ...]
    identity: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(self.items)

    @property
    def group(self) -> str:
        """The identity of what this cell shares with others."""
        computation = self.computation
        if not computation.shared:
            return computation.group
        return _group(computation.prefix, self.shared())

    def shared(self) -> dict[str, Any]:
        """Return the parameters that the preparation is given."""
        parameters = self.parameters
        return {name: parameters[name] for name in self.computation.shared}

    def rng(self) -> np.random.Generator:
        """Return the random stream of this cell, from its start."""
        return stream(self.identity)

    @property
    def cost(self) -> float:
        """The expected cost, in the computation's own unit."""
        cost = self.computation.cost
        return 1.0 if cost is None else float(cost(self.parameters))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __str__(self) -> str:
        return f"{self.computation.name}: {self._parameters_as_text()}"

    def __repr__(self) -> str:
        version = self.computation.version
        return f"Cell({self.computation.name!r}, version {version}: {self._parameters_as_text()})"

    def _parameters_as_text(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.items)


@dataclass(frozen=True)
class Finished:
    """The rows of a cell, and how long they took, with the preparation if it came first."""

    cell: Cell
    rows: tuple[dict[str, Answer], ...]
    seconds: float


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    cell: Cell
    reason: str
    details: str = ""

    def __str__(self) -> str:
        return f"{self.cell}: {self.reason}"


def distinct(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return every cell once, in the order of its first appearance.

    Refused is what is not a cell, and if two computations share a name and a version.
    """
    by_identity: dict[str, Cell] = {}
    computations: dict[tuple[str, int], Computation] = {}
    for cell in _validate.several("cells", cells):
        if not isinstance(cell, Cell):
            raise InvalidInput(f"Expected a study of cells, got {cell!r}.")
        computation = cell.computation
        known = computations.setdefault((computation.name, computation.version), computation)
        if known is not computation and known != computation:
            raise InvalidInput(
                f"Two computations are both {computation.name!r}, version {computation.version}; "
                "give one of them another name."
            )
        by_identity.setdefault(cell.identity, cell)
    return tuple(by_identity.values())


def _is_top_level(function: object) -> bool:
    return inspect.isfunction(function) and function.__qualname__.isidentifier()


def _parameter(name: str, value: object) -> tuple[tuple[str, Value], str]:
    """Return a parameter, and what it is in the text that the identity is made of."""
    plain = plain_parameter(name, value)
    return (name, plain), canonical({name: plain})[1:-1]


def _group(prefix: str, shared: Mapping[str, object]) -> str:
    return fingerprint(f"{prefix}shared{canonical(shared)}")


def _axis(values: object) -> tuple[object, ...]:
    if isinstance(values, np.ndarray):
        return tuple(values.tolist())
    return tuple(values) if isinstance(values, list | tuple | range) else (values,)


def plain_parameter(name: str, value: object) -> Value:
    """Return a parameter in its one plain form; what is not plain data is refused.

    Examples
    --------
    >>> import numpy as np
    >>> plain_parameter("rates", [np.float64(0.1), 1.0, -0.0])
    (0.1, 1, 0)
    """
    if type(value) is str:  # first because it is quick, and grids are large
        return value
    if isinstance(value, list | tuple):
        return tuple(plain_parameter(name, item) for item in value)
    scalar = plain_answer(name, value)
    if scalar is None or isinstance(scalar, bool | str):
        return scalar
    if not math.isfinite(scalar):
        raise InvalidInput(
            f"Expected the parameter {name}={scalar} to be finite; None or a word can stand for it."
        )
    if isinstance(scalar, float) and not scalar.is_integer():
        return scalar
    if abs(scalar) > _LARGEST_INTEGER:
        raise InvalidInput(f"Expected the integer {name}={scalar} within ±2⁵³.")
    return int(scalar)


def plain_answer(name: str, value: object) -> Answer:
    """Return an answer of a computation as plain data, bit for bit.

    That is text, a number, a boolean or None; anything else is refused.
    """
    if value is None or type(value) in (float, bool):
        return value  # type: ignore[return-value]  # mypy does not narrow by type()
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and (value != value or float(value) == value):
        return float(value)
    raise InvalidInput(
        f"Expected {name} to be text, a number, a boolean, None or a tuple of these, "
        f"got {_validate.shown(value)}."
    )


def canonical(data: Mapping[str, object]) -> str:
    """Return the one text of plain data: JSON in ASCII with sorted names and no spaces.

    Floats are written by their shortest exact text, which is the same on every platform.

    Examples
    --------
    >>> canonical({"rate": 0.1, "data": "adult"})
    '{"data":"adult","rate":0.1}'
    """
    return _CANONICAL.encode(data)


def fingerprint(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def stream(identity: str) -> np.random.Generator:
    """Return the random stream that belongs to an identity, and to nothing else."""
    seed = np.random.SeedSequence(int(identity, 16))
    return np.random.Generator(np.random.PCG64(seed))
