"""What is known about the data, and what is asked of them: entries in groups, and sums of scores.

The data are independent entries in groups, each group with its law over finitely many values. A
query gives every value a whole-number score and answers with the sum of the scores on its block. An
*analyst* is a function from the answers so far to the next query; one who ignores them is
non-adaptive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from omit import _validate
from omit.errors import InvalidInput
from omit.laws.distribution import SUM_TOLERANCE

Answers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, init=False)
class ScoreQuery:
    """A symmetric query: the sum of a whole-number score over the entries of a block.

    Parameters
    ----------
    name : str
        What it is called.
    scores : mapping
        The score of every value; scores 0 and 1 make a property query.

    Examples
    --------
    >>> ScoreQuery("smokers", {"smokes": 1, "does not": 0}).scores["smokes"]
    1
    """

    name: str
    _scores: tuple[tuple[object, int], ...]

    def __init__(self, name: str, scores: Mapping[object, int]) -> None:
        _validate.text("name", name)
        _validate.mapping("scores", scores, "from values to whole numbers")
        for value, score in scores.items():
            what = f"the score of {_validate.shown(value)}"
            if _validate.finite(what, score) != int(score):
                raise InvalidInput(f"Expected {what} to be a whole number, got {score}.")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_scores", tuple((v, int(s)) for v, s in scores.items()))

    @property
    def scores(self) -> Mapping[object, int]:
        """The score of every value."""
        return dict(self._scores)


Analyst: TypeAlias = Callable[[Answers], ScoreQuery]


def ask(*queries: ScoreQuery) -> Analyst:
    """Return the analyst who asks these queries, whatever the answers are.

    Examples
    --------
    >>> first = ScoreQuery("first", {0: 0, 1: 1})
    >>> ask(first)(()).name
    'first'
    """
    for query in queries:
        _validate.instance("each query", query, ScoreQuery)

    def analyst(answers: Answers) -> ScoreQuery:
        if len(answers) >= len(queries):
            raise InvalidInput(
                f"Expected a query for each block, the analyst has {len(queries)} only."
            )
        return queries[len(answers)]

    return analyst


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
            _validate.mapping("each law", probabilities, "from values to probabilities")
            law = {
                value: _validate.probability(f"the probability of {_validate.shown(value)}", chance)
                for value, chance in probabilities.items()
            }
            total = math.fsum(law.values())
            if abs(total - 1) > SUM_TOLERANCE:
                raise InvalidInput(
                    f"Expected the probabilities to sum to 1, they sum to {total:.10g}."
                )
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
