"""What one pair of databases loses, as a result, and how such a pair is read from a file."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_DOWN
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from omit import _validate
from omit._text import promised, rounded_up, usable
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.omissions.answer import Answer, as_json
from omit.omissions.pairs import IndependentPair, PairLoss, SubsetPair
from omit.report.page import Card, Point
from omit.report.result import Drawing, Ends, Field, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REMARKS: Mapping[str, str] = {
    "exact": "no mechanism loses more",
    "theorem-5.3": "closed form, upper bound",
    "theorem-b.6": "closed form for the nearest assignment, upper bound",
    "theorem-b.6-function": "the same for the best assignment that is a function",
    "theorem-b.6-fractional": "the same for the best fractional assignment, which is exact",
}
# Some tens of thousands of subsets; a device without end stops here, too.
_LARGEST_FILE = 20_000_000
_MOST_SUBSETS = 32_768
_SECONDS = 3.0


@dataclass(frozen=True)
class PairAnswer(Answer):
    """What one pair of databases loses, by every method that applies; made by `pair_bound`.

    Attributes
    ----------
    suppression
        How the suppression of the pair was given.
    base
        The guarantee of the mechanism.
    losses
        The loss by every method, the leading one first.
    lower_bound
        An epsilon that no bound can go below, if known.

    Examples
    --------
    >>> from omit.omissions import IndependentPair, pair_bound
    >>> answer = pair_bound(IndependentPair((0.1, 0.2), (0.2, 0.3), 0.1), 1.0)
    >>> round(answer.losses["exact"].epsilon, 6)
    1.191872
    """

    suppression: str
    base: Guarantee
    losses: Mapping[str, PairLoss]
    lower_bound: float | None = None

    command: ClassVar[str] = "bound"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "loss": "the epsilon that this pair of databases loses at most, which is no guarantee",
    }

    @property
    def leading(self) -> PairLoss:
        """The loss by the best method that applies."""
        return next(iter(self.losses.values()))

    @property
    def verdict(self) -> str:
        """What the pair loses."""
        pair = f"({promised(self.leading.epsilon)}, {promised(self.leading.delta)})"
        return f"This pair of databases loses at most {pair} under add-remove."

    @property
    def notes(self) -> tuple[str, ...]:
        """That this is no guarantee, and the loss that no bound can go below."""
        notes = ["The loss of one pair of databases is not a guarantee for all of them."]
        if self.lower_bound is not None:
            notes.append(
                f"No bound for this pair can go below epsilon = {usable(self.lower_bound)}."
            )
        return tuple(notes)

    @property
    def card(self) -> Card:
        """That nothing is promised, what this pair loses, and how to ask about all databases."""
        delta = self.leading.delta
        more = f", beyond which is a probability of at most {promised(delta)}" if delta else ""
        return Card(
            Point("nothing", self.notes[0]),
            Point(
                f"ε = {rounded_up(self.leading.epsilon, 4)}",
                "To whoever knows that the data are one of these two databases, an answer changes "
                f"the odds by a factor of at most e to the ε{more}.",
            ),
            Point(
                "ask about all databases",
                "A guarantee is the largest loss of all pairs: omit bound has it for omissions "
                "that are known, omit suppression check for any other, on small databases.",
            ),
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the loss, which has another name than that of a guarantee."""
        return {"loss": [(self.leading.epsilon, self.leading.epsilon)]}

    def tables(self) -> Sequence[Table]:
        """Return the loss in both directions by every method."""
        numbers = {
            "ε": "epsilon",
            "δ": "delta",
            "ε of presence": "presence",
            "ε of absence": "absence",
        }
        fields = (
            Field("bound", "bound"),
            *(Field(heading, key, promised, numeric=True) for heading, key in numbers.items()),
            Field("", "remark"),
        )
        rows = tuple(
            (name, *(getattr(loss, key) for key in numbers.values()), _REMARKS.get(name, ""))
            for name, loss in self.losses.items()
        )
        return (Table("losses", "One pair of databases", fields, rows),)

    def figures(self) -> Mapping[str, Drawing]:
        """Return the loss in both directions by every method."""

        def draw(axes: Axes) -> None:
            names = list(self.losses)
            for direction, marker in (("presence", "o"), ("absence", "s")):
                losses = [getattr(loss, direction) for loss in self.losses.values()]
                axes.plot(losses, names, marker, color="black", fillstyle="none", label=direction)
            if self.lower_bound is not None:
                axes.axvline(self.lower_bound, color="0.6", label="no bound can be lower")
            axes.set_xlabel("ε of this pair of databases")
            axes.set_title(f"Mechanism: {self.base.shown(ROUND_DOWN)}")
            axes.legend()

        return {"ε in both directions": draw}

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "omission": self.suppression,
            "scope": "one pair of databases, not a guarantee",
            "base": as_json(self.base),
            "epsilon": self.leading.epsilon,
            "delta": self.leading.delta,
            "neighbours": str(self.base.neighbours),
            "directions": {method: loss._asdict() for method, loss in self.losses.items()},
            "bounds": {method: loss.epsilon for method, loss in self.losses.items()},
        }
        if self.lower_bound is not None:
            content["lower_bound"] = self.lower_bound
        return content


def pair_bound(
    pair: IndependentPair | SubsetPair, epsilon: float, delta: float = 0.0
) -> PairAnswer:
    """Return what one pair of databases loses under every (epsilon, delta)-DP mechanism.

    Raises
    ------
    InvalidInput
        If a number is out of its range, or no method applies.

    Examples
    --------
    >>> pair = IndependentPair(before=(0.1,), after=(0.2,), added=0.3)
    >>> print(pair_bound(pair, 1.0).verdict)
    This pair of databases loses at most (0.926557494, 0) under add-remove.
    """
    base = Guarantee(epsilon, delta)
    if isinstance(pair, IndependentPair):
        independent = {"exact": pair.loss(epsilon, delta)}
        with suppress(InvalidInput):  # where the support condition fails
            independent["theorem-5.3"] = pair.theorem_5_3(epsilon, delta)
        return PairAnswer("independent", base, independent)
    losses: dict[str, PairLoss] = {}
    refusal: InvalidInput | None = None
    try:
        losses["exact"] = pair.exact(epsilon, delta)
    except InvalidInput as error:
        refusal = error
    if pair.record not in pair.database:
        losses["theorem-b.6"] = pair.theorem_b_6(epsilon, delta)
        losses |= better_assignments(pair, epsilon, delta)
        if pair.support_gap() is None:
            losses["theorem-5.3"] = pair.theorem_5_3(epsilon, delta)
    if refusal is not None and not losses:
        raise refusal
    return PairAnswer("subsets", base, losses, pair.lower_bound(epsilon))


def better_assignments(pair: SubsetPair, epsilon: float, delta: float) -> dict[str, PairLoss]:
    """Return the losses by Theorem B.6 with better assignments than the nearest, if it has others.

    The best function only where it is proved to be the best within a few seconds.
    """
    if pair.support_gap() is None:
        return {}
    losses: dict[str, PairLoss] = {}
    functions = pair.best_functions(epsilon, _SECONDS)
    if functions is not None:
        losses["theorem-b.6-function"] = pair.theorem_b_6(epsilon, delta, *functions)
    with suppress(InvalidInput):  # where it is too large a program
        shares = pair.best_assignments(epsilon)
        losses["theorem-b.6-fractional"] = pair.theorem_b_6(epsilon, delta, *shares)
    return losses


def read_subset_pair(file: Path) -> SubsetPair:
    """Return the pair described by a file.

    Raises
    ------
    InvalidInput
        If the file cannot be read or does not have the expected form.
    """
    try:
        with file.open("rb") as stream:
            text = stream.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror}.") from error
    if len(text) > _LARGEST_FILE:
        raise InvalidInput(f"Expected {file} to have at most {_LARGEST_FILE:,} bytes.")
    try:
        content = json.loads(text.decode("utf-8"))
    except RecursionError as error:
        raise InvalidInput(f"Expected {file} to be JSON, and it is nested too deeply.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Expected {file} to be JSON in UTF-8.") from error
    except json.JSONDecodeError as error:
        raise InvalidInput(f"Expected {file} to be JSON in UTF-8: {error}.") from error
    except ValueError as error:  # whole numbers of more digits than Python reads
        raise InvalidInput(f"Expected {file} to have no number of thousands of digits.") from error
    try:
        return SubsetPair.from_distributions(
            database=tuple(content["database"]),
            record=content["record"],
            without=_read_distribution(content["without"]),
            with_record=_read_distribution(content["with_record"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"Expected {file} to hold database, record, without and with_record, the latter two "
            "as lists of {kept, probability}, with numbers or texts as records."
        ) from error


def _read_distribution(rows: list[dict[str, Any]]) -> dict[tuple[Hashable, ...], float]:
    if len(rows) > _MOST_SUBSETS:
        raise InvalidInput(f"Expected at most {_MOST_SUBSETS:,} subsets, got {len(rows):,}.")
    distribution: dict[tuple[Hashable, ...], float] = {}
    for row in rows:
        kept = tuple(row["kept"])
        probability = _validate.probability("probability", row["probability"])
        distribution[kept] = distribution.get(kept, 0.0) + probability
    return distribution
