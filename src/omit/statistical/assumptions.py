"""What the adversary is assumed to know about the data: checked, and said in words.

Entries are independent. They are identical (`n` entries, each with probability `p` of a property),
come in groups with a probability of a property (`Population`) or with a law over any values
(`Entries`), and some of them may be known. Whatever is out of range is refused (`InvalidInput`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.laws.distribution import require_sum

# Beyond, machines have no integers; some curves take fewer.
_MOST_ENTRIES = 10**18
# A probability that is lost next to 1: half the distance from 1 to the number below it.
_INVISIBLE = 2.0**-54


def property_probability(value: float, name: str = "p") -> float:
    """Return the probability of a property, strictly between 0 and 1, or refuse it."""
    number = _validate.finite(name, value)
    if 0 < number <= _INVISIBLE:
        raise InvalidInput(
            f"Expected {name}={number} to be at least {_INVISIBLE:.2g}: below that, "
            "1 less the probability is 1 as a floating-point number."
        )
    if not 0 < number < 1:
        raise InvalidInput(
            f"Expected {name}={number} in (0, 1): an entry whose value is certain is a known entry."
        )
    return number


def property_probabilities(p: float | Sequence[float], count: int) -> tuple[float, ...]:
    """Return one probability per query; a single one is that of all queries."""
    chances = tuple(p) if isinstance(p, Sequence) else (p,)
    if len(chances) not in (1, count):
        raise InvalidInput(
            f"Expected one probability or one per query, of which there are {count}."
        )
    checked = tuple(map(property_probability, chances))
    return checked * count if len(checked) == 1 else checked


def importances(importance: Sequence[float] | None, count: int) -> tuple[float, ...]:
    """Return the weight of the squared error of every query: all alike, or those given."""
    if importance is None:
        return (1.0,) * count
    weights = _validate.several("importances", importance)
    if len(weights) != count:
        raise InvalidInput(
            f"Expected one importance for each of {count} queries, got {len(weights)}."
        )
    return weights


def checked_entries(n: int, known: int, most: int = _MOST_ENTRIES) -> tuple[int, int]:
    """Return the number of entries, at most `most`, and of known ones; one is not known."""
    n = _validate.positive_integer("n", n, most=most)
    count = _validate.finite("known", known)
    if count != int(count) or not 0 <= count <= n - 1:
        raise InvalidInput(
            f"Expected known={known} to be a whole number from 0 to n - 1 = {n - 1}: the critical "
            "entry is not known."
        )
    return n, int(count)


def ascending_epsilons(values: object) -> FloatArray:
    """Return the epsilons of a curve as an ascending array, or refuse them."""
    array = np.unique(np.atleast_1d(_validate.epsilons(values)))  # type: ignore[arg-type]  # anything: refused there
    if not len(array):
        raise InvalidInput("Expected at least one epsilon.")
    return array


def checked_sample(size: int, n: int) -> int:
    """Return the size of a sample of `n` entries, or refuse it."""
    size = _validate.positive_integer("size", size)
    if size > n:
        raise InvalidInput(f"Expected size={size} to be at most n={n}.")
    return size


def checked_blocks(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """Return the sizes of the blocks of a partition, at least one and at most `n` together."""
    blocks = tuple(
        _validate.positive_integer("block size", size)
        for size in _validate.several("block sizes", sizes)
    )
    if not blocks:
        raise InvalidInput("Expected at least one block.")
    if sum(blocks) > n:
        raise InvalidInput(
            f"Expected blocks of at most n={n} entries together, they need {sum(blocks)}."
        )
    return blocks


def checked_groups(groups: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Return groups of entries, at least one, as pairs of a size and a probability."""
    checked = tuple(
        (_validate.positive_integer("size", size), property_probability(p, "probability"))
        for size, p in _validate.pairs("(size, probability)", groups)
    )
    if not checked:
        raise InvalidInput("Expected at least one group of entries.")
    return checked


def critical_groups(critical: int | None, count: int) -> Sequence[int]:
    """Return the groups that the critical entry may be in: the one given, or all."""
    if critical is None:
        return range(count)
    return [_validate.index("critical", critical, count, "groups")]


def checked_simulation(
    runs: int, rng: np.random.Generator | None
) -> tuple[int, np.random.Generator | None]:
    """Return how many runs a simulation has, should it be needed, and its random generator."""
    return _validate.runs(runs), None if rng is None else _validate.generator(rng)


def describe_known(known: int) -> str:
    """Return how many entries the adversary knows, in words."""
    if known == 0:
        return ", none known to the adversary"
    return f", {known:,} others known to the adversary"


@dataclass(frozen=True, eq=False)
class PropertyQuery:
    """How many of `n` identical entries have a property; as text, what is assumed about them."""

    n: int
    p: float
    epsilon: FloatArray
    known: int

    def __init__(self, n: int, p: float, epsilon: ArrayLike, known: int = 0) -> None:
        n, known = checked_entries(n, known)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "p", property_probability(p))
        object.__setattr__(self, "epsilon", ascending_epsilons(epsilon))
        object.__setattr__(self, "known", known)

    @property
    def unknown(self) -> int:
        """The entries that hide the critical one."""
        return self.n - 1 - self.known

    def __str__(self) -> str:
        return describe(self.n, self.p, self.known)


def describe(n: int, p: float, known: int = 0) -> str:
    """Return what is assumed about identical entries, in words."""
    return f"{n:,} independent entries, each with probability {p!r}{describe_known(known)}"


@dataclass(frozen=True)
class Population:
    """Independent entries in groups with the same probability of a property, and known entries.

    Parameters
    ----------
    groups : sequence of (size, probability)
        Entries whose value the adversary does not know.
    known : int
        Entries whose value the adversary knows.

    Examples
    --------
    >>> Population([(60, 0.5), (30, 0.1)], known=10).n
    100
    """

    groups: tuple[tuple[int, float], ...]
    known: int = 0

    def __init__(self, groups: Sequence[tuple[int, float]], known: int = 0) -> None:
        object.__setattr__(self, "groups", checked_groups(groups))
        object.__setattr__(self, "known", _validate.whole("known", known))

    @property
    def n(self) -> int:
        """All entries."""
        return sum(size for size, _ in self.groups) + self.known

    def __str__(self) -> str:
        if len(self.groups) == 1:
            return describe(self.n, self.groups[0][1], self.known)
        parts = ", ".join(f"{size:,} with probability {p!r}" for size, p in self.groups)
        return f"{self.n:,} independent entries, {parts}, {self.known:,} known to the adversary"


@dataclass(frozen=True)
class Entries:
    """Independent entries: groups of `size` with the same law over the same values.

    Examples
    --------
    >>> Entries([(10, {"yes": 0.3, "no": 0.7})]).n
    10
    """

    groups: tuple[tuple[int, tuple[tuple[object, float], ...]], ...]

    def __init__(self, groups: Sequence[tuple[int, Mapping[object, float]]]) -> None:
        pairs = _validate.pairs("(size, {value: probability})", groups)
        if not pairs:
            raise InvalidInput("Expected at least one group of entries.")
        checked = []
        for given, probabilities in pairs:
            size = _validate.positive_integer("size", given)
            _validate.mapping("every law", probabilities, "from values to probabilities")
            law = {
                value: _validate.probability(f"the probability of {_validate.shown(value)}", chance)
                for value, chance in probabilities.items()
            }
            total = require_sum(law.values())
            if set(law) != set(pairs[0][1]):
                raise InvalidInput("Expected all groups to have the same values.")
            # What is missing would be missing in every entry, and in delta.
            checked.append((size, tuple((value, law[value] / total) for value in pairs[0][1])))
        object.__setattr__(self, "groups", tuple(checked))

    @property
    def n(self) -> int:
        """All entries."""
        return sum(size for size, _ in self.groups)

    @property
    def values(self) -> tuple[object, ...]:
        """What an entry can be."""
        return tuple(value for value, _ in self.groups[0][1])

    def describe(self, critical: int | None) -> str:
        """Return what is assumed, in words; `critical` is the group of the critical entry."""
        text = f"{self.n:,} independent entries"
        if len(self.groups) == 1:
            return text
        which = "any group" if critical is None else f"group {critical}"
        return f"{text} in {len(self.groups)} groups, the critical one in {which}"
