"""What every way to protect a table can say: its guarantee, its error, and a draw.

All of it is about tables of counts under "replace": one record is exchanged for another and the
number of records is public. Then two neighbouring tables differ in two cells, by one record.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from omit import _validate
from omit._numeric import FloatArray
from omit._text import rounded_down, rounded_up
from omit.disclosure.table import CountTable, Universe, require_table
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import REPLACE, Guarantee, NoGuarantee, Relation, relation

CHANGE_QUASI_IDENTIFIERS = Relation(
    "change-quasi-identifiers",
    meaning="one record has other quasi-identifiers, and all else is equal and public",
    steps_from={"replace": 1, "add-remove": 2},
)
"""One record has other quasi-identifiers; all else is equal and public."""


@dataclass(frozen=True)
class ExactDelta:
    """The smallest delta at an epsilon, and the neighbouring tables that need it.

    Parameters
    ----------
    epsilon : float
        At which epsilon.
    delta : float
        The smallest delta, rounded up in its last digit.
    log_shortfall : float
        The logarithm of 1 - delta, which tells deltas apart that round to 1; -inf if delta is 1.
    witness : object
        Two neighbouring inputs for which no smaller delta holds, or None.

    Examples
    --------
    >>> ExactDelta.of_shortfall(1.0, -5000.0).show_delta()
    '1 - 10^-2172'
    """

    epsilon: float
    delta: float
    log_shortfall: float
    witness: Any = None

    @classmethod
    def of_shortfall(cls, epsilon: float, log_shortfall: float, witness: Any = None) -> ExactDelta:
        """Return the delta that is 1 less e^log_shortfall."""
        delta = -math.expm1(min(0.0, log_shortfall))
        if delta > 0:
            delta = min(1.0, math.nextafter(delta, 2.0))
        return cls(epsilon, delta, log_shortfall, witness)

    @classmethod
    def of_delta(cls, epsilon: float, delta: float, witness: Any = None) -> ExactDelta:
        """Return a delta that is not near 1."""
        delta = min(1.0, max(0.0, delta))
        return cls(epsilon, delta, math.log1p(-delta) if delta < 1 else -math.inf, witness)

    def show_delta(self) -> str:
        """Return delta for people, also where it is as good as 1; never less than it is."""
        return _near_one(self.log_shortfall, math.floor) or rounded_up(self.delta)

    def guarantee(self, reason: str, neighbours: str = REPLACE) -> Guarantee | NoGuarantee:
        """Return it as a guarantee, or say that it promises nothing."""
        if self.delta < 1:
            return Guarantee(self.epsilon, self.delta, neighbours)
        if self.log_shortfall == -math.inf:
            return NoTableGuarantee.whatever_epsilon(reason, self.witness)
        return NoTableGuarantee(
            f"no δ that a floating-point number tells from 1: δ = {self.show_delta()}; {reason}",
            self.witness,
            delta=1.0,
        )


@dataclass(frozen=True)
class LeastDelta:
    """A delta that is needed at every epsilon; how much more is needed is not known.

    Parameters
    ----------
    log_shortfall : float
        At least the logarithm of 1 - delta; -inf if delta is 1.

    Examples
    --------
    >>> print(LeastDelta(math.log(1 - 0.805987)))
    0.8059
    """

    log_shortfall: float

    @property
    def delta(self) -> float:
        """The delta, rounded down in its last digits."""
        delta = -math.expm1(self.log_shortfall)
        return 1.0 if self.log_shortfall == -math.inf else max(0.0, delta - 1e-15)

    def __str__(self) -> str:
        return _near_one(self.log_shortfall, math.ceil) or rounded_down(self.delta)


def _near_one(log_shortfall: float, whole: Callable[[float], int]) -> str | None:
    """Return a delta whose decimals would all be nines as 1, or 1 less a power of ten."""
    if log_shortfall == -math.inf:
        return "1"
    if log_shortfall < math.log(1e-4):
        return f"1 - 10^{whole(log_shortfall / math.log(10))}"
    return None


@dataclass(frozen=True)
class NoTableGuarantee(NoGuarantee):
    """The answer where a protection promises nothing, with what is known about delta all the same.

    Parameters
    ----------
    delta : float, optional
        1 if delta is 1, or so near that a floating-point number rounded up is 1; None if it is not
        known to be.
    least_delta : LeastDelta, optional
        A delta below 1 that is needed at every epsilon, where more is not known.

    Examples
    --------
    >>> print(NoTableGuarantee.whatever_epsilon("income is released as it is."))
    no guarantee: no (ε, δ) with δ < 1: income is released as it is.
    """

    delta: float | None = field(default=None, compare=False)
    least_delta: LeastDelta | None = field(default=None, compare=False)

    @classmethod
    def whatever_epsilon(cls, reason: str, witness: Any = None) -> NoTableGuarantee:
        """Return that no epsilon has a delta below 1."""
        return cls(f"no (ε, δ) with δ < 1: {reason}", witness, delta=1.0)


@dataclass(frozen=True)
class TableWitness:
    """Two neighbouring tables, and what can be seen that tells them apart.

    Only the cells that matter are shown; all other cells are equal, and hold all other records.
    """

    cells: tuple[int, ...]
    neighbour: tuple[int, ...]
    seen: str

    def __str__(self) -> str:
        number = {2: "two", 3: "three"}[len(self.cells)]
        return f"{number} cells with {self.cells} or with {self.neighbour} records: {self.seen}"

    def fits(self, universe: Universe) -> bool:
        """Return whether both tables are possible in a universe.

        Examples
        --------
        >>> from omit.disclosure.table import Attribute
        >>> three = Universe((Attribute("town", ("A", "B", "C")),), records=5, largest_count=2)
        >>> [TableWitness(*pair, "").fits(three) for pair in (((2, 1), (1, 2)), ((1, 0), (0, 1)))]
        [True, False]
        """
        shown, largest = len(self.cells), universe.largest_count
        rest = universe.records - sum(self.cells)
        return (
            sum(self.cells) == sum(self.neighbour)
            and all(0 <= count <= largest for count in (*self.cells, *self.neighbour))
            and shown <= universe.cells
            and 0 <= rest <= (universe.cells - shown) * largest
        )


@dataclass(frozen=True, eq=False)
class CellErrors:
    """The exact error of every cell: its mean, its variance and its expected absolute value.

    Parameters
    ----------
    bias : array
        The expected released count less the true one.
    variance : array
        The variance of the released count.
    absolute : array
        The expected absolute error.
    """

    bias: FloatArray
    variance: FloatArray
    absolute: FloatArray


BoundedMeasure: TypeAlias = Literal["sum of biases", "fairness", "smallest bias", "largest bias"]


@dataclass(frozen=True)
class PublishedBound:
    """What a theorem says about the errors of a whole table.

    Parameters
    ----------
    theorem : str
        Its name in the paper.
    measure : str
        What it bounds.
    value : float
        The bound.

    Examples
    --------
    >>> print(PublishedBound("Theorem 7", "fairness", 0.5))
    Theorem 7: fairness
    """

    theorem: str
    measure: BoundedMeasure
    value: float

    def __str__(self) -> str:
        return f"{self.theorem}: {self.measure}"

    def exact(self, errors: CellErrors) -> float:
        """Return the exact number that the theorem bounds."""
        smallest, largest = float(errors.bias.min()), float(errors.bias.max())
        return {
            "sum of biases": float(np.abs(errors.bias).sum()),
            "fairness": largest - smallest,
            "smallest bias": smallest,
            "largest bias": largest,
        }[self.measure]


class Protection(ABC):
    """A way to protect a table of counts: it states what it guarantees, and what it costs.

    A subclass has a `key`, a short name for columns and figures, and defines `_guarantee`,
    `_errors` and `_draw`, whose arguments have been checked; `_simulate` only if releases for a
    study of errors can be drawn more quickly.
    """

    key: ClassVar[str]
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE,)

    @classmethod
    def require_relation(cls, neighbours: str) -> Relation:
        """Return the relation of that name, or refuse one that it has no guarantee under."""
        # A relation of this room is known by its name only to the protections that have it.
        known = {str(own): own for own in cls.relations}
        named = isinstance(neighbours, str) and neighbours in known
        asked = known[neighbours] if named else relation(neighbours)
        if asked not in cls.relations:
            raise WrongNeighbours(
                f"The guarantees of {cls.__name__} are under {' or '.join(cls.relations)}, not "
                f"under {asked}."
            )
        return asked

    def guarantee(self, universe: Universe, neighbours: str = REPLACE) -> Guarantee | NoGuarantee:
        """Return what the release promises, or why it promises nothing, with a witness."""
        asked = self.require_relation(neighbours)
        return self._guarantee(_validate.instance("universe", universe, Universe), asked)

    @abstractmethod
    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee: ...

    def errors(self, table: CountTable) -> CellErrors:
        """Return the errors of all cells in closed form, after projection to counts >= 0."""
        return self._errors(require_table(table))

    @abstractmethod
    def _errors(self, table: CountTable) -> CellErrors: ...

    def draw(self, table: CountTable, rng: np.random.Generator, runs: int = 1) -> FloatArray:
        """Return released counts, one row per run, after projection to counts >= 0.

        Noise that is not discrete is rounded in floating point: draws are for studying errors.
        """
        return self._draw(table, rng, _require_drawing(table, rng, runs))

    @abstractmethod
    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray: ...

    def simulate(self, table: CountTable, rng: np.random.Generator, runs: int = 1) -> FloatArray:
        """Return releases for a study of errors, which may be drawn more quickly."""
        return self._simulate(table, rng, _require_drawing(table, rng, runs))

    def _simulate(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        return self._draw(table, rng, runs)

    def simulate_in_blocks(
        self, table: CountTable, rng: np.random.Generator, runs: int
    ) -> Iterator[FloatArray]:
        """Give `simulate` in blocks of runs, so that a large table is not held many times."""
        for block in blocks(require_runs(table, runs), table.cells):
            yield self.simulate(table, rng, block)

    def guarantee_if_less_changes(self, universe: Universe) -> Guarantee | NoGuarantee | None:
        """Return what is promised under a narrower relation; None if that is no question."""
        return None

    def published_bounds(self, table: CountTable) -> tuple[PublishedBound, ...]:
        """Return what the theorems of Das et al. say about the errors on a table."""
        return ()


_COUNTS_AT_ONCE = 2_000_000
_MOST_DRAWS = 2e9
_MOST_HELD = 2e8


def _require_drawing(table: CountTable, rng: np.random.Generator, runs: int) -> int:
    """Return a number of releases that can be held, or refuse what nothing can be drawn with."""
    _validate.instance("rng", rng, np.random.Generator)
    return require_runs(table, runs, _MOST_HELD)


def require_protection(protection: Protection) -> Protection:
    """Return a protection, or refuse what is none."""
    return _validate.instance("protection", protection, Protection)  # type: ignore[type-abstract]


def require_runs(table: CountTable, runs: int, most: float = _MOST_DRAWS) -> int:
    """Return a number of runs, or refuse one that draws too many counts and say what works."""
    require_table(table)
    runs = _validate.positive_integer("runs", runs)
    if runs * table.cells > most:
        raise InvalidInput(
            f"Expected at most {int(most // table.cells):,} runs on a table of {table.cells:,} "
            f"cells, got {runs:,}."
        )
    return runs


def blocks(runs: int, cells: int) -> Iterator[int]:
    """Give the number of runs per block: a few million counts at a time, and at least one run.

    Examples
    --------
    >>> list(blocks(50, 100_000))
    [20, 20, 10]
    """
    most = max(1, _COUNTS_AT_ONCE // cells)
    while runs > 0:
        yield min(runs, most)
        runs -= most
