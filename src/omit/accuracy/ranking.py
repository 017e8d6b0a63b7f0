"""Several mechanisms for one statistic: which mechanism and omission are best together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from omit._text import show_quantity, show_ratio
from omit.accuracy.comparison import Comparison
from omit.accuracy.row import SAME, Row, shown_interval, shown_promise, shown_ratio
from omit.exact.error import ExpectedError
from omit.laws.intervals import judge
from omit.mechanisms.base import Mechanism
from omit.report.page import Caption, Card, Made
from omit.report.result import Drawing, Ends, Field, Result, Table, plain

if TYPE_CHECKING:
    from pathlib import Path


class Pair(NamedTuple):
    """A mechanism with an omission, and what they cost together."""

    comparison: Comparison
    row: Row
    error: ExpectedError

    @property
    def mechanism(self) -> Mechanism:
        """What is computed."""
        return self.comparison.question.mechanism

    @property
    def uses_all(self) -> bool:
        """Whether no record is left out."""
        return self.row is self.comparison.rows[0]

    def __str__(self) -> str:
        return f"{self.mechanism}, and {self.row.omission}"


@dataclass(frozen=True)
class Ranking(Result):
    """Comparisons of several mechanisms on the same data, at the same guarantee and metric.

    Examples
    --------
    >>> import omit
    >>> ages = omit.Column.from_values([20, 30, 30, 30, 40] * 40, bounds=(0, 100), name="age")
    >>> target, sample = omit.Guarantee(0.5, 1e-6), omit.PoissonSampling(0.9)
    >>> modes = [omit.NoisyMode("laplace"), omit.NoisyMode("gaussian")]
    >>> print(Ranking(tuple(omit.compare(ages, mode, target, sample) for mode in modes)).verdict)
    At (0.5, 1e-06)-DP under add-remove, the best pair is noisy mode, Laplace noise, and no
    omission: nothing tested beats using all records.
    """

    comparisons: tuple[Comparison, ...]

    command: ClassVar[str] = "compare"
    known_quantities: ClassVar[Mapping[str, str]] = Comparison.known_quantities

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return those of all comparisons."""
        every = [comparison.quantities() for comparison in self.comparisons]
        return {name: [end for one in every for end in one[name]] for name in self.known_quantities}

    def declared_public(self) -> Self:
        """Return the same for data that everybody may see, comparisons included."""
        comparisons = tuple(each.declared_public() for each in self.comparisons)
        return replace(self, public_data=True, comparisons=comparisons)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs that reach the guarantee, the smallest expected error first."""
        pairs = [
            Pair(comparison, row, row.error)
            for comparison in self.comparisons
            for row in comparison.rows
            if row.error is not None and row.reaches_target
        ]
        return tuple(sorted(pairs, key=lambda pair: pair.error.value))

    @property
    def verdict(self) -> str:
        """One sentence on all mechanisms and omissions together."""
        first = self.comparisons[0]
        setting, best = first.setting, self.pairs[0]
        informing = [pair for pair in self.pairs if pair.comparison.informs(pair.row)]
        if not informing:
            return f"{setting} no mechanism tested tells more than the middle of the bounds."
        all_records = next(pair for pair in self.pairs if pair.uses_all)
        if best.uses_all:
            return f"{setting} the best pair is {best}: nothing tested beats using all records."
        said = f"{setting} the best pair is {best}"
        ratio = best.error.value / all_records.error.value
        factor = show_ratio(ratio, _both_exact(best, all_records))
        against = f"{factor} times the error of the best on all records, {all_records.mechanism}"
        if judge(best.error, all_records.error) == "better":
            if ratio > 1 - SAME:
                return (
                    f"{said}, with the same expected error to within 1 % as the best on all "
                    f"records, {all_records.mechanism}: nothing tested beats using all records."
                )
            if best.row.gains_by_bounds:
                narrower = best.comparison.narrower(best.row)
                gain = f"the gain is that of its narrower bounds alone, {narrower}"
                return f"{said}, with {against}: {gain}."
            return f"{said}, with {against}: it beats using all records."
        return f"{said}, with {against}, which cannot be told apart from using all records."

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of all comparisons, each once."""
        return tuple(dict.fromkeys(note for each in self.comparisons for note in each.notes))

    @property
    def title(self) -> str:
        """The heading of a page."""
        return self.comparisons[0].title

    @property
    def subject(self) -> str:
        """What it is about, as a heading."""
        return "All mechanisms together"

    def tables(self) -> Sequence[Table]:
        """Return all pairs, the best first, and what cannot reach the guarantee last."""
        first = self.comparisons[0]
        unit = first.question.mechanism.unit
        fields = (
            Field("mechanism", "mechanism"),
            Field("omission", "omission"),
            Field("mechanism's ε", "promise", shown_promise, numeric=True),
            Field("error", "error", lambda value: show_quantity(value, unit), numeric=True),
            Field("95 % interval", "interval", shown_interval),
            Field("to no omission", "ratio", shown_ratio, numeric=True),
            Field("standing", "standing"),
        )
        rows: list[tuple[Any, ...]] = [
            (
                str(pair.mechanism),
                pair.row.short_name,
                pair.row.promise,
                pair.error.value,
                pair.error,
                pair.row,
                "all records" if pair.uses_all else pair.row.standing,
            )
            for pair in self.pairs
        ]
        rows += [
            (str(each.question.mechanism), *_without_guarantee(row))
            for each in self.comparisons
            for row in each.rows
            if not row.reaches_target
        ]
        title = f"{first.question.mechanism.statistic} of {first.question.data.name}, "
        return (Table("ranking", title + first.baseline.metric, fields, tuple(rows)),)

    def figures(self) -> Mapping[str, Drawing]:
        """Return the pictures of the comparisons."""
        return {
            f"errors-{number}": comparison.figures()["errors"]
            for number, comparison in enumerate(self.comparisons, start=1)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the comparisons, and the order of all pairs."""
        ranking = [
            {
                "mechanism": str(pair.mechanism),
                "omission": str(pair.row.omission),
                "error": pair.error.value,
                "low": pair.error.low,
                "high": pair.error.high,
            }
            for pair in self.pairs
        ]
        answers = [comparison.to_json() for comparison in self.comparisons]
        return {"answers": answers, "ranking": plain(ranking), "verdict": self.verdict}

    def captions(self) -> Mapping[str, Caption]:
        """Return titles and descriptions of the figures."""
        return {
            f"errors-{number}": comparison.captions()["errors"]
            for number, comparison in enumerate(self.comparisons, start=1)
        }

    @property
    def card(self) -> Card | None:
        """That of the comparison with the smallest expected error."""
        return self.pairs[0].comparison.card

    def provenance(self) -> Mapping[str, str]:
        """Return the data, who declared what of them, and the seed."""
        return self.comparisons[0].provenance()

    def python(self) -> str:
        """Return the comparisons in Python."""
        return "\n\n".join(comparison.python() for comparison in self.comparisons)

    def write_report(self, path: Path | str, made: Made | None = None) -> Path:
        """Write a page of HTML with all comparisons and their curves."""
        from omit.accuracy.report import write_report

        return write_report(path, self.comparisons, made=lambda: made or Made.today())


def _both_exact(first: Pair, second: Pair) -> bool:
    return first.error.method == second.error.method == "exact"


def ranked(comparisons: Sequence[Comparison]) -> list[Comparison | Ranking]:
    """Return comparisons, those of one statistic and metric in one ranking."""
    results: list[Comparison | Ranking] = []
    for _, group in groupby(comparisons, key=_measured):
        members = tuple(group)
        results.append(members[0] if len(members) == 1 else Ranking(members))
    return results


def _measured(comparison: Comparison) -> tuple[str, str, bool]:
    """Return what comparisons must share to be ranked: a private one is not ranked with others."""
    mechanism = comparison.question.mechanism
    return mechanism.statistic, mechanism.metric, mechanism.private


def _without_guarantee(row: Row) -> tuple[Any, ...]:
    """Return the cells of a row that has no guarantee, or not the one that was asked for."""
    if row.error is None:
        return (row.short_name, "unattainable", None, None, None, None)
    return (row.short_name, row.promise, row.error.value, row.error, row, row.standing)
