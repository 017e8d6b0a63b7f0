"""What an omission does to privacy, as results: `bound` and its inverse `calibrate`.

Statistics on the same sample are composed before the omission amplifies them, and the records of a
person are grouped after it; `calibrate` goes the same way back.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from omit import _validate
from omit._text import promised, rounded_down, rounded_up, usable
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded, Statement, relation
from omit.omissions.base import Omission
from omit.omissions.sample import Sample
from omit.report.page import Caption, Card
from omit.report.result import Drawing, Ends, Field, Result, Table
from omit.report.tradeoff import TRADEOFF, draw_tradeoff, tradeoff_caption

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REMARKS: Mapping[str, str] = {
    "mixture": "proved for every metric and database",
    "published": "Theorem 5.4, verified by computer on a grid",
}
_POINTS = 61

_Pair: TypeAlias = Guarantee | Statement | NoGuarantee | NoNoiseNeeded


class Answer(Result):
    """An answer about privacy alone, computed from no data."""

    warning: ClassVar[str | None] = None

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return the question and the numbers of the answer, as JSON holds them."""

    def to_json(self) -> dict[str, Any]:
        """Return the question, the answer, the verdict and the notes."""
        return {**self._content(), "verdict": self.verdict, "notes": list(self.notes)}


@dataclass(frozen=True)
class PrivacyAnswer(Answer):
    """What `bound` and `calibrate` have in common: the question about an omission.

    Attributes
    ----------
    omission
        How records are omitted.
    releases
        Number of statistics computed on the same sample.
    rows_per_person
        Largest number of records of one person.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> from omit.omissions import bound
    >>> bound(PoissonSampling(0.1), Guarantee(1.0), releases=2).releases
    2
    """

    omission: Omission
    releases: int
    rows_per_person: int

    def _question(self, given: str, guarantee: Guarantee) -> dict[str, Any]:
        return {
            "omission": self.omission.name or type(self.omission).__name__,
            "parameters": _as_dictionary(self.omission) or {},
            "releases": self.releases,
            "rows_per_person": self.rows_per_person,
            given: as_json(guarantee),
            "neighbours": str(guarantee.neighbours),
        }

    @property
    def _is_plain(self) -> bool:
        """Whether it is about one statistic and one record per person."""
        return self.releases == self.rows_per_person == 1

    @property
    def _several(self) -> dict[Field, int]:
        """The counts of statistics and of records per person that are not 1."""
        counts = {"releases": "statistics", "rows_per_person": "records per person"}
        return {
            Field(heading, key, "{:,}".format, numeric=True): getattr(self, key)
            for key, heading in counts.items()
            if getattr(self, key) > 1
        }

    def _on_sample(self) -> str:
        return "" if self.releases == 1 else f" of {self.releases:,} statistics on the same sample"

    def _for_person(self) -> str:
        rows = self.rows_per_person
        return "" if rows == 1 else f", for a person with up to {rows:,} records"

    def _curves(self, epsilon: float, answer: tuple[float, float] | None) -> dict[str, Drawing]:
        """Return epsilon of a release over that of its mechanism, by every bound."""
        epsilons = np.linspace(0.0, 2 * max(epsilon, 0.5), _POINTS)
        known = [self.omission.privacy_bounds(float(value)) for value in epsilons]
        if not np.isfinite([list(bounds.values()) for bounds in known]).all():
            return {}

        def draw(axes: Axes) -> None:
            styles = ("-", "--", "-.", ":")
            for index, name in enumerate(known[0]):
                label = str(self.omission) if len(known[0]) == 1 else f"{name} bound"
                after = [bounds[name] for bounds in known]
                axes.plot(epsilons, after, linestyle=styles[index % 4], color="black", label=label)
            axes.plot(epsilons, epsilons, color="0.6", linewidth=1, label="no omission")
            if answer is not None and self._is_plain:
                axes.plot(*answer, "o", color="black", label="the answer")
            axes.set_xlabel("ε of the mechanism")
            axes.set_ylabel("ε of the release")
            axes.set_title(str(self.omission))
            axes.legend()

        return {"ε of the release over ε of the mechanism": draw}


@dataclass(frozen=True)
class BoundAnswer(PrivacyAnswer):
    """What holds for a release whose mechanism has the guarantee `base`; made by `bound`.

    Attributes
    ----------
    base
        The guarantee of the mechanism on the records that are kept.
    released
        What follows for the release, or that nothing does and why.
    declared
        The declared bounds of the values, if any.
    stated_under
        The relation that the release is stated under, if that was asked for.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> from omit.omissions import bound
    >>> bound(PoissonSampling(0.1), Guarantee(1.0)).released
    Statement(epsilon=0.158565078740..., delta=0.0, neighbours='add-remove')
    """

    base: Guarantee
    released: Statement | NoGuarantee
    declared: tuple[float, float] | None = None
    stated_under: str | None = None

    command: ClassVar[str] = "bound"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of the release",
        "delta": "of the release",
    }

    @property
    def verdict(self) -> str:
        """What is promised, and whether privacy is amplified."""
        if isinstance(self.released, NoGuarantee):
            return f"The release has {self.released}"
        promise = f"The release{self._on_sample()} is {self.released}{self._for_person()}."
        if not self._is_plain or self._is_converted:
            return promise
        return f"{promise} {_change(self.base.epsilon, self.released.epsilon)}"

    @property
    def _is_converted(self) -> bool:
        """Whether the release is stated under another relation than the mechanism."""
        return self.stated_under not in (None, str(self.base.neighbours))

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the guarantee of the release; nothing has neither an epsilon nor a delta."""
        return pair_quantities(None if isinstance(self.released, NoGuarantee) else self.released)

    @property
    def notes(self) -> tuple[str, ...]:
        """How bounds of values are narrowed, the loss below all bounds, and what people risk."""
        notes = []
        if self._is_converted:
            notes.append(
                f"The mechanism must have its guarantee under {self.base.neighbours}. To replace a "
                f"record is to remove one and to add one, so that its release with (ε', δ') has "
                f"(2 ε', (1 + e^ε') δ') under {self.stated_under}. Of a mechanism that is private "
                f"under {self.stated_under} only nothing follows: it may publish how many records "
                "it is given, and how many are kept depends on the data."
            )
        if self.declared is not None and isinstance(self.released, Statement):
            notes.append(_narrowing(self.declared, self.omission.restrict(self.declared)))
        if self.lower_bound is not None:
            notes.append(
                f"No bound can go below epsilon = {usable(self.lower_bound)}: some mechanism "
                "really loses this much."
            )
        if isinstance(self.released, Statement):
            notes.append(self.released.risk())
        return tuple(notes)

    @property
    def bounds(self) -> Mapping[str, float]:
        """Every bound on epsilon by its name, where the omission has several."""
        if isinstance(self.released, NoGuarantee) or not self._is_plain or self._is_converted:
            return {}
        known = self.omission.privacy_bounds(self.base.epsilon)
        return known if len(known) > 1 else {}

    @property
    def lower_bound(self) -> float | None:
        """What some mechanism really loses, where there are several bounds to compare it with."""
        return self.omission.lower_bound(self.base).epsilon if self.bounds else None

    def tables(self) -> Sequence[Table]:
        """Return both guarantees, and all bounds where there are several."""
        fields = (
            *_pair_fields("mechanism", "base_", usable),
            *self._several,
            *_pair_fields("release", "", promised),
            Field("neighbours", "neighbours"),
        )
        row = (
            self.base.epsilon,
            self.base.delta,
            *self._several.values(),
            *_values(self.released, self.base),
        )
        guarantees = Table("guarantees", str(self.omission), fields, (row,))
        if not self.bounds:
            return (guarantees,)
        bounds = tuple((name, value, _REMARKS.get(name, "")) for name, value in self.bounds.items())
        epsilon, _ = _pair_fields("release", "", promised)
        fields = (Field("bound", "bound"), epsilon, Field("", "remark"))
        return guarantees, Table("bounds", "All bounds that are known", fields, bounds)

    def figures(self) -> Mapping[str, Drawing]:
        """Return epsilon of the release over that of the mechanism, and what attackers can tell."""
        if isinstance(self.released, NoGuarantee):
            return {}
        answer = None if self._is_converted else (self.base.epsilon, self.released.epsilon)
        known = self._curves(self.base.epsilon, answer)
        return {**known, TRADEOFF: partial(draw_tradeoff, promise=self.released)}

    def captions(self) -> Mapping[str, Caption]:
        """Return what the pictures show, in words."""
        if isinstance(self.released, NoGuarantee):
            return {}
        return {TRADEOFF: tradeoff_caption(self.released)}

    @property
    def title(self) -> str:
        """The question."""
        return f"What privacy remains: {self.omission}"

    @property
    def card(self) -> Card:
        """What the release promises, what attackers can tell, and what to run."""
        from omit.omissions.answer_card import bound_card

        return bound_card(self)

    def python(self) -> str | None:
        """Return the question in Python."""
        from omit.omissions.answer_card import answer_code

        given = {"declared": self.declared, "stated_under": self.stated_under}
        settings = ((name, value) for name, value in given.items() if value is not None)
        return answer_code(self, self.base, *settings)

    def _content(self) -> dict[str, Any]:
        content = {**self._question("base", self.base), **as_json(self.released)}
        if self.declared is not None and isinstance(self.released, Statement):
            content["declared_bounds"] = self.declared
            content["bounds_left"] = self.omission.restrict(self.declared)
        if self.bounds:
            content |= {"bounds": dict(self.bounds), "lower_bound": self.lower_bound}
        return content


@dataclass(frozen=True)
class CalibrationAnswer(PrivacyAnswer):
    """What a mechanism needs, so that its release has the `target`; made by `calibrate`.

    Attributes
    ----------
    target
        The guarantee that the release must have.
    candidates
        Every guarantee of a mechanism that is known to reach it, the one with the largest epsilon
        first.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> from omit.omissions import calibrate
    >>> len(calibrate(PoissonSampling(0.1), Guarantee(1.0)).candidates)
    1
    """

    target: Guarantee
    candidates: tuple[Guarantee | NoNoiseNeeded, ...]

    command: ClassVar[str] = "calibrate"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "that the mechanism may use, inf if it needs no noise",
        "delta": "that the mechanism may use, 1 if it needs no noise",
    }

    @property
    def base(self) -> Guarantee | NoNoiseNeeded:
        """The guarantee with the largest epsilon."""
        return self.candidates[0]

    @property
    def verdict(self) -> str:
        """What the mechanism needs, and whether that is less noise than without omission."""
        target = f"{self.target}{self._for_person()}"
        if isinstance(self.base, NoNoiseNeeded):
            return f"No noise is needed to reach {target}: {self.base.reason}"
        needed = self.base.shown(ROUND_DOWN)
        who = "The mechanism needs" if self.releases == 1 else f"Each{self._on_sample()} needs"
        need = f"{who} {needed}, so that the release is {target}."
        if not self._is_plain or not self.base.epsilon or not self.target.epsilon:
            return need
        return f"{need} {_saving(self.target.epsilon, self.base.epsilon)}"

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return what the mechanism may use, which without noise is everything."""
        if isinstance(self.base, NoNoiseNeeded):
            return {"epsilon": [(math.inf, math.inf)], "delta": [(1.0, 1.0)]}
        return pair_quantities(self.base)

    @property
    def notes(self) -> tuple[str, ...]:
        """That candidates are pairs, and what people risk at the target."""
        pairs = "Every row is enough; an epsilon and a delta of two rows must not be combined."
        return (self.target.risk(),) if len(self.candidates) == 1 else (pairs, self.target.risk())

    def tables(self) -> Sequence[Table]:
        """Return the target and every guarantee of a mechanism that reaches it."""
        fields = (
            *_pair_fields("release", "target_", promised),
            *self._several,
            *_pair_fields("mechanism", "", usable),
            Field("neighbours", "neighbours"),
            *((Field("bound", "bound"), Field("", "remark")) if len(self.candidates) > 1 else ()),
        )
        # Candidates come in the order of the bounds that they are made by.
        names = iter(self.omission.privacy_bounds(self.target.epsilon))
        asked = (self.target.epsilon, self.target.delta, *self._several.values())
        rows = []
        for candidate in self.candidates:
            name = next(names, "")
            row = (*asked, *_values(candidate, self.target), name, _REMARKS.get(name, ""))
            rows.append(row[: len(fields)])
        return (Table("guarantees", str(self.omission), fields, tuple(rows)),)

    def figures(self) -> Mapping[str, Drawing]:
        """Return epsilon of the release over that of the mechanism, and what attackers can tell."""
        if isinstance(self.base, NoNoiseNeeded):
            known = self._curves(self.target.epsilon, None)
        else:
            known = self._curves(self.base.epsilon, (self.base.epsilon, self.target.epsilon))
        return {**known, TRADEOFF: partial(draw_tradeoff, promise=self.target)}

    def captions(self) -> Mapping[str, Caption]:
        """Return what the pictures show, in words."""
        return {TRADEOFF: tradeoff_caption(self.target)}

    @property
    def title(self) -> str:
        """The question."""
        return f"What the mechanism may use: {self.omission}"

    @property
    def card(self) -> Card:
        """What is to be promised, what attackers can tell then, and what to run."""
        from omit.omissions.answer_card import calibration_card

        return calibration_card(self)

    def python(self) -> str | None:
        """Return the question in Python."""
        from omit.omissions.answer_card import answer_code

        return answer_code(self, self.target)

    def _content(self) -> dict[str, Any]:
        return {
            **self._question("target", self.target),
            **as_json(self.base),
            "candidates": [as_json(candidate) for candidate in self.candidates],
        }


def bound(
    omission: Omission,
    base: Guarantee,
    *,
    releases: int = 1,
    rows_per_person: int = 1,
    declared: tuple[float, float] | None = None,
    stated_under: str | None = None,
) -> BoundAnswer:
    """Return what holds for a release on what the omission keeps; `BoundAnswer` has the arguments.

    With `stated_under="replace"` what holds under add-remove is converted.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    WrongNeighbours
        If the omission has no bound under the relation of `base`, or nothing follows under the
        one that is asked for.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> print(bound(PoissonSampling(0.1), Guarantee(1.0), releases=2).verdict)
    The release of 2 statistics on the same sample is (0.4940287081, 0)-DP under add-remove.
    >>> print(bound(PoissonSampling(0.1), Guarantee(1.0), stated_under="replace").verdict)
    The release is (0.3171301575, 0)-DP under replace.
    """
    releases = _validate.positive_integer("releases", releases)
    rows = _validate.positive_integer("rows_per_person", rows_per_person)
    released = Sample(omission).charge(base, times=releases).stated()
    if stated_under is not None:
        stated_under = str(relation(stated_under))
        if isinstance(released, Statement):
            released = released.to(stated_under)
    if isinstance(released, Statement):
        released = released.group(rows)
    if declared is not None:
        declared = _validate.interval("bounds", declared)
        omission.restrict(declared)
    return BoundAnswer(omission, releases, rows, base, released, declared, stated_under)


def calibrate(
    omission: Omission, target: Guarantee, *, releases: int = 1, rows_per_person: int = 1
) -> CalibrationAnswer:
    """Return what a mechanism needs, so that its release has the target: the inverse of `bound`.

    `CalibrationAnswer` has the arguments.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    Unattainable
        If no mechanism, however noisy, reaches the target.
    WrongNeighbours
        If the omission has no bound under the relation of `target`.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> calibrate(PoissonSampling(0.1), Guarantee(1.0)).base
    Guarantee(epsilon=2.900477097889..., delta=0.0, neighbours='add-remove')
    """
    releases = _validate.positive_integer("releases", releases)
    rows = _validate.positive_integer("rows_per_person", rows_per_person)
    candidates = tuple(
        base.per_statistic(releases) if isinstance(base, Guarantee) else base
        for base in omission.candidates(target.per_row(rows))
    )
    return CalibrationAnswer(omission, releases, rows, target, candidates)


def _as_dictionary(value: object) -> dict[str, Any] | None:
    """Return the fields of a dataclass, or None for what is none."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return None


def pair_quantities(pair: Guarantee | Statement | None) -> dict[str, Sequence[Ends | None]]:
    """Return epsilon and delta as conditions need them.

    Examples
    --------
    >>> pair_quantities(Guarantee(1.0)), pair_quantities(None)
    ({'epsilon': [(1.0, 1.0)], 'delta': [(0.0, 0.0)]}, {'epsilon': [None], 'delta': [None]})
    """
    if pair is None:
        return {"epsilon": [None], "delta": [None]}
    return {"epsilon": [(pair.epsilon, pair.epsilon)], "delta": [(pair.delta, pair.delta)]}


def as_json(answer: _Pair) -> dict[str, Any]:
    """Return a pair, or why there is none, as JSON holds it.

    Examples
    --------
    >>> as_json(Guarantee(1.0))
    {'epsilon': 1.0, 'delta': 0.0, 'neighbours': 'add-remove'}
    """
    if isinstance(answer, Guarantee | Statement):
        neighbours = str(answer.neighbours)
        return {"epsilon": answer.epsilon, "delta": answer.delta, "neighbours": neighbours}
    content: dict[str, Any] = {"epsilon": None, "delta": None, "reason": answer.reason}
    if isinstance(answer, NoNoiseNeeded):
        return {**content, "answer": "no noise needed"}
    witness = _as_dictionary(answer.witness)
    shown = {} if witness is None else {"witness": witness}
    return {**content, **shown, "answer": "no guarantee"}


def _pair_fields(whose: str, key: str, show: Callable[[float], str]) -> tuple[Field, Field]:
    """Return the fields of an epsilon and a delta, whose keys begin with `key`."""
    return (
        Field(f"{whose}'s ε", f"{key}epsilon", show, numeric=True),
        Field(f"{whose}'s δ", f"{key}delta", show, numeric=True),
    )


def _values(answer: _Pair, asked: Guarantee) -> tuple[float | None, float | None, str]:
    """Return epsilon and delta, None where there is no such pair, and the neighbour relation."""
    content = as_json(answer)
    return content["epsilon"], content["delta"], content.get("neighbours", str(asked.neighbours))


def _change(before: float, after: float) -> str:
    """Say how epsilon changes, in numbers for which that holds and that show it."""
    if after == before:
        return "Privacy is unchanged."
    if after > before:
        return f"Privacy is lost: epsilon {rounded_down(before)} becomes {rounded_up(after)}."
    for digits in (4, 10, 17):
        shown = rounded_down(before, digits), rounded_up(after, digits)
        if float(shown[1]) < float(shown[0]):
            break
    return f"Privacy is amplified: epsilon {shown[0]} becomes {shown[1]}."


def _saving(target: float, base: float) -> str:
    factor = rounded_down(base / target)
    if base > target:
        return f"Less noise is needed: the mechanism may use {factor} times the target epsilon."
    if base < target:
        return f"More noise is needed: the mechanism may use {factor} times the target epsilon."
    return "As much noise is needed as without omission."


def _narrowing(declared: tuple[float, float], kept: tuple[float, float]) -> str:
    """Say how the declared bounds are narrowed, and the noise of a sum with them (Example 5.2)."""
    text = f"Values in [{declared[0]:g}, {declared[1]:g}] become [{kept[0]:g}, {kept[1]:g}]"
    before, after = max(map(abs, declared)), max(map(abs, kept))
    return (
        f"{text}: the noise of a sum is {after / before:.4g} times as large."
        if before
        else f"{text}."
    )
