"""What `compare` returns of a column in groups: a comparison for every group, and what to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, ClassVar

from omit._text import promised, show_quantity, show_ratio
from omit.accuracy.comparison import (
    GUARANTEE_ALONE,
    NO_NOISE,
    SKEWED,
    Comparison,
    private_notes,
    shared_notes,
)
from omit.accuracy.parts import shown_clamping
from omit.accuracy.row import Row, shown_ratio
from omit.data.groups import GroupedColumn, Labels, shown_labels
from omit.guarantee import REPLACE, Guarantee, relation
from omit.omissions.base import Omission
from omit.report.figure import few_plain_numbers, series_style
from omit.report.page import Caption, Card, Point
from omit.report.result import Drawing, Ends, Field, Result, Table, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LONGEST_HEADING = 30
# So many groups a person reads; all are in the data frame and in JSON.
_SHOWN = 40


@dataclass(frozen=True)
class GroupedComparison(Result):
    """The comparisons of all groups, made by `compare` of a column in groups.

    Attributes
    ----------
    grouped
        The data.
    guarantee
        What all groups together promise.
    comparisons
        The comparison of every group in which there is an answer, by its labels.
    refused
        Why there is none in the others.
    fixed_labels
        Whether labels cannot change and the sizes of groups are public.
    """

    grouped: GroupedColumn
    guarantee: Guarantee
    comparisons: Mapping[Labels, Comparison]
    refused: Mapping[Labels, str]
    fixed_labels: bool = False

    command: ClassVar[str] = "compare"
    known_quantities: ClassVar[Mapping[str, str]] = Comparison.known_quantities

    @property
    def first(self) -> Comparison:
        """The comparison of the first group, which asks what those of all groups ask."""
        return next(iter(self.comparisons.values()))

    @property
    def by_harm(self) -> Sequence[tuple[Labels, Comparison]]:
        """All groups, the one in which leaving records out harms most first."""
        return sorted(self.comparisons.items(), key=lambda each: -_harm(each[1]))

    @property
    def title(self) -> str:
        """The heading of a page."""
        return f"Leaving records out: {self.grouped.name} by {self._by} at {self.guarantee}"

    @property
    def subject(self) -> str:
        """What tells it apart from other results on the same page."""
        return f"{self.first.subject}, by {self._by}"

    @property
    def _by(self) -> str:
        return ", ".join(self.grouped.by)

    @property
    def verdict(self) -> str:
        """In how many groups leaving records out pays, and what it costs in the others."""
        number = len(self.comparisons)
        setting = self._setting
        tested = {labels: each.best_tested for labels, each in self.comparisons.items()}
        if not any(tested.values()):
            return f"{setting} no omission was tested that reaches the guarantee."
        blind = [labels for labels, each in self.comparisons.items() if not _informs(each)]
        paying = [labels for labels in tested if labels not in blind and _pays(tested[labels])]
        others = [labels for labels in tested if labels not in blind and labels not in paying]
        said = []
        if others:
            ratios = [ratio for labels in others if (ratio := _ratio(tested[labels])) is not None]
            why = "using all records gives no error that could be seen"
            if ratios:
                why = f"the best tested multiplies the expected error by {_span(ratios)}"
            said.append(
                f"in {len(others):,} of {number:,} groups nothing tested beats using all records: "
                f"{why}"
            )
        if paying:
            ratios = [ratio for labels in paying if (ratio := _ratio(tested[labels])) is not None]
            much = f", with {_span(ratios)} times their error" if ratios else ""
            said.append(
                f"in {len(paying):,} of {number:,} groups an omission beats using all records"
                f"{much} ({_some(paying)})"
            )
        if blind:
            said.append(
                f"in {len(blind):,} of {number:,} groups nothing tells more than the middle of the "
                f"bounds ({_some(blind)})"
            )
        return f"{setting} {'; '.join(said)}."

    @property
    def _setting(self) -> str:
        """What the verdict holds for, up to its comma or colon, as that of one comparison."""
        question = self.first.question
        several = f"{question.statistics} statistics in " if question.statistics > 1 else ""
        whom = f"{several}all {len(self.comparisons):,} groups together"
        if question.rows_per_person > 1:
            whom += f", for a person with up to {question.rows_per_person} records"
        if not question.mechanism.private:
            return f"With noise as if for {self.guarantee} for {whom}, NOT private:"
        if not question.noise_reduction:
            return f"With mechanisms that have {self.guarantee} by themselves for {whom},"
        return f"At {self.guarantee} for {whom},"

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the numbers."""
        question = self.first.question
        notes = [*private_notes(question.mechanism), *self.grouped.notes, self._composition()]
        every = [row for each in self.comparisons.values() for row in each.rows]
        if any(row.no_noise for row in every) and question.guarantee.delta > 0:
            notes.append(NO_NOISE)
        notes += dict.fromkeys(
            f"No guarantee: {row.reason}" for row in every if row.standing == "no guarantee"
        )
        notes += dict.fromkeys(
            note for each in self.comparisons.values() for note in each.mechanism_notes
        )
        if not question.noise_reduction:
            notes.append(GUARANTEE_ALONE)
        return (
            *notes,
            *self._notes_on_clamping(),
            *self._notes_on_simulation(),
            *shared_notes(question, self._common_omissions),
            *self._notes_on_what_is_missing(),
        )

    def _notes_on_clamping(self) -> list[str]:
        """Return in how many groups clamping moves the statistic, and where most."""
        moved = {
            labels: each.clamping for labels, each in self.comparisons.items() if each.clamping
        }
        if not moved:
            return []
        labels = max(moved, key=lambda labels: abs(moved[labels]))
        most = shown_clamping(self.first.question.mechanism, moved[labels])
        return [
            f"Clamping is in the errors of {len(moved):,} of {len(self.comparisons):,} groups, "
            f"most in those of {shown_labels(labels)}: {most}."
        ]

    def _notes_on_simulation(self) -> list[str]:
        """Return how many errors are simulated and why, and what to think of their intervals."""
        errors = [
            row.error
            for each in self.comparisons.values()
            for row in each.rows
            if row.error is not None
        ]
        drawn = [error for error in errors if error.method == "simulated"]
        notes = []
        if drawn:
            why = drawn[0].reason or "that was asked for"
            notes.append(f"{len(drawn):,} of {len(errors):,} errors are simulated, because {why}.")
        if skewed := sum(error.skewed for error in errors):
            notes.append(f"{SKEWED}: {skewed:,} errors.")
        if unproved := sum(error.first_order for error in errors):
            notes.append(
                f"{unproved:,} errors are accounted for to first order in the width of bins and "
                "not proved."
            )
        return notes

    @property
    def _common_omissions(self) -> list[Omission]:
        """The omissions that reach the guarantee, and are the same in all groups."""
        columns = zip(*(each.rows for each in self.comparisons.values()), strict=True)
        return [
            rows[0].omission
            for rows in columns
            if len({str(row.omission) for row in rows}) == 1
            and all(row.reaches_target for row in rows)
        ]

    def _notes_on_what_is_missing(self) -> list[str]:
        """Return the groups without an answer, and that some are not shown."""
        notes = [
            f"{shown_labels(labels)}: no answer, because {reason}"
            for labels, reason in list(self.refused.items())[:_SHOWN]
        ]
        if len(self.comparisons) > _SHOWN:
            notes.append(
                f"Shown are the {_SHOWN} groups in which leaving records out harms most; "
                "to_frame() and --json have all."
            )
        return notes

    def _composition(self) -> str:
        if relation(self.guarantee.neighbours) != REPLACE:
            return (
                "A record is in one group: all groups together have the guarantee of each "
                "(parallel composition)."
            )
        if self.fixed_labels:
            return (
                "Labels were declared to be fixed and the sizes of groups public: another record "
                "takes a place in the same group, and each group has the whole guarantee."
            )
        return (
            "Another record may be in another group, which changes two: each group has "
            f"{self.first.question.guarantee}, so that two have {self.guarantee}."
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the guarantee of all groups together, and errors and ratios in all of them."""
        every = [each.quantities() for each in self.comparisons.values()]
        known = {name: [end for one in every for end in one[name]] for name in every[0]}
        if None not in known["epsilon"]:
            epsilon, delta = self.guarantee.epsilon, self.guarantee.delta
            known |= {"epsilon": [(epsilon, epsilon)], "delta": [(delta, delta)]}
        return known

    def tables(self) -> Sequence[Table]:
        """Return a row for every group: its error with all records, and the ratios to that."""
        unit = self.first.question.mechanism.unit
        fields = (
            *(Field(name, f"group {name}") for name in self.grouped.by),
            Field("records", "records", "{:,}".format, numeric=True),
            Field("error", "error", lambda value: show_quantity(value, unit), numeric=True),
            *(
                Field(f"× {name}", f"ratio_{number}", _shown_cell, numeric=True)
                for number, name in enumerate(self._headings, start=1)
            ),
            Field("best tested is", "standing"),
        )
        rows = [self._cells(labels, each) for labels, each in self.by_harm[:_SHOWN]]
        title = (
            f"{self.first.subject} of {self.grouped.name} by {self._by}: "
            f"{self.first.baseline.metric} with all records, and what omissions multiply it by"
        )
        if self._headings != self._omissions:
            named = zip(self._headings, self._omissions, strict=True)
            title += "; " + "; ".join(f"{letter}: {name}" for letter, name in named)
        return (Table("groups", title, fields, tuple(rows)),)

    def _cells(self, labels: Labels, comparison: Comparison) -> tuple[Any, ...]:
        best = comparison.best_tested
        standing: str = "unattainable" if best is None else best.standing
        if best is not None and standing in ("better", "worse") and not best.matters:
            standing = "the same"
        if not _informs(comparison):
            standing = "no information"
        rows = comparison.rows[1:]
        return *labels, comparison.question.data.size, comparison.baseline.value, *rows, standing

    @property
    def _omissions(self) -> Sequence[str]:
        """What the omissions are called; a name that differs between groups is made general."""
        columns = zip(*(each.rows[1:] for each in self.comparisons.values()), strict=True)
        names = []
        for number, rows in enumerate(columns, start=1):
            short = {row.short_name for row in rows}
            kinds = {row.omission.name or "omission" for row in rows}
            kind = kinds.pop() if len(kinds) == 1 else "omission"
            names.append(short.pop() if len(short) == 1 else f"{kind} ({number})")
        return names

    @property
    def _headings(self) -> Sequence[str]:
        """The names of the omissions if they are short, else letters."""
        if max(map(len, self._omissions), default=0) <= _LONGEST_HEADING:
            return self._omissions
        numbers = range(len(self._omissions))
        return [f"{ascii_uppercase[number % 26]}{number // 26 or ''}" for number in numbers]

    def figures(self) -> Mapping[str, Drawing]:
        """Return the errors over the sizes of groups, with all records and after omissions."""
        return {"errors over sizes": self._draw}

    def _draw(self, axes: Axes) -> None:
        sizes = [each.question.data.size for each in self.comparisons.values()]
        unit = self.first.question.mechanism.unit
        for number, name in enumerate(["all records", *self._omissions]):
            rows = [each.rows[number] for each in self.comparisons.values()]
            places = [
                (size, row.error.value)
                for size, row in zip(sizes, rows, strict=True)
                if row.error is not None and row.error.value > 0
            ]
            style = series_style(number, markers=True) | {"linestyle": "", "markersize": 5}
            axes.plot(*zip(*places, strict=True) if places else ([], []), label=name, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            few_plain_numbers(axis)
        axes.set_xlabel("records of the group")
        metric = self.first.baseline.metric
        axes.set_ylabel(f"expected {metric}, {unit}" if unit == "%" else f"expected {metric}")
        axes.set_title(f"{self.first.question.mechanism} by {self._by}", fontsize=10)
        axes.grid(alpha=0.25, which="both")
        axes.legend(frameon=False, fontsize=9)

    def captions(self) -> Mapping[str, Caption]:
        """Return what the picture shows."""
        sizes = [each.question.data.size for each in self.comparisons.values()]
        return {
            "errors over sizes": Caption(
                "The expected error over the number of records of a group, at the same guarantee: "
                "a mark for every group and omission.",
                f"{len(sizes):,} groups of {min(sizes):,} to {max(sizes):,} records. "
                f"{self.verdict}",
            )
        }

    @property
    def card(self) -> Card:
        """What is promised, what is lost, and what to do."""
        question, number = self.first.question, len(self.comparisons)
        best = [each.best_tested for each in self.comparisons.values() if _informs(each)]
        worse = [row for row in best if not _pays(row)]
        ratios = sorted(ratio for row in worse if (ratio := _ratio(row)) is not None)
        paying = len(best) - len(worse)
        private = question.mechanism.private
        promise = f"ε = {promised(self.guarantee.epsilon)}" if private else "nothing"
        lost = "No omission was tested that reaches the guarantee."
        if any(row is not None for row in best):
            lost = "Errors with all records are too small to be seen, and no omission beats them."
        if ratios:
            middle = show_ratio(ratios[len(ratios) // 2], exact=False)
            lost = (
                "In so many groups leaving records out makes answers no better: the best tested "
                f"multiplies the expected error by {_span(ratios)}, in the middle by {middle}."
            )
        do = "Use all records of every group."
        if paying:
            do = (
                f"Use all records, except perhaps in {paying:,} groups where an omission is better."
            )
        blind = number - len(best)
        if blind:
            do += (
                f" In {blind:,} groups no answer tells more than the middle of the bounds: join "
                "them with others, or allow a larger epsilon."
            )
        removed = any(
            row.standing == "no guarantee"
            for each in self.comparisons.values()
            for row in each.rows
        )
        if removed:
            do += (
                " What removes outliers leaves no guarantee, whatever the noise: declare narrower "
                "bounds beforehand instead."
            )
        if question.statistics > 1:
            promise += f" for {question.statistics} statistics"
        rows = question.rows_per_person
        alone = "" if question.noise_reduction else f" {GUARANTEE_ALONE}"
        return Card(
            Point(promise, f"{self._composition()} {self.guarantee.meaning(rows)}{alone}"),
            Point(f"{len(worse):,} of {number:,} groups", lost),
            Point("all records" if not paying else "nearly all records", do),
        )

    def provenance(self) -> Mapping[str, str]:
        """Return the data, who declared what of them, and the seed."""
        grouped, whole = self.grouped, self.grouped.whole
        return {
            "Data": f"{grouped.name}, {grouped.size:,} records in {len(grouped):,} groups by "
            f"{self._by}, from {whole.source}",
            "Declared": f"{whole.declaration} Labels: {grouped.labels_source}.",
            "Seed": str(self.first.question.seed),
        }

    def _records(self) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
        """Yield the labels of the group and the record of every row."""
        for labels, each in self.comparisons.items():
            named = dict(zip(self.grouped.by, labels, strict=True))
            for record in each.to_records():
                yield named, {"records": each.question.data.size, **record}

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of all groups as a data frame."""
        import pandas as pd

        rows = [
            {**{_apart(name, record): label for name, label in named.items()}, **record}
            for named, record in self._records()
        ]
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it; what is infinite is None."""
        question = self.first.question
        content = {
            "target": {
                "epsilon": self.guarantee.epsilon,
                "delta": self.guarantee.delta,
                "neighbours": str(self.guarantee.neighbours),
                "rows_per_person": question.rows_per_person,
                "statistics": question.statistics,
            },
            "mechanism_has_guarantee": question.mechanism.private,
            "data": self.grouped.name,
            "records": self.grouped.size,
            "noise_reduction": question.noise_reduction,
            "metric": question.mechanism.metric,
            "by": list(self.grouped.by),
            "labels": self.grouped.labels_source,
            "fixed_labels": self.fixed_labels,
            "groups": len(self.comparisons),
            "empty": [list(labels) for labels in self.grouped.empty],
            "refused": [
                {"group": dict(zip(self.grouped.by, labels, strict=True)), "reason": reason}
                for labels, reason in self.refused.items()
            ],
            "rows": [{"group": named, **record} for named, record in self._records()],
            "verdict": self.verdict,
            "notes": [*self.notes, self.caution],
        }
        return {key: plain(value) for key, value in content.items()}


def _informs(comparison: Comparison) -> bool:
    """Tell whether any answer tells more than the middle of the bounds."""
    return any(map(comparison.informs, comparison.rows))


def _pays(row: Row | None) -> bool:
    """Tell whether leaving records out makes answers better, not merely their bounds narrower."""
    return row is not None and row.standing == "better" and row.matters and not row.gains_by_bounds


def _ratio(row: Row | None) -> float | None:
    return None if row is None else row.ratio


def _harm(comparison: Comparison) -> float:
    """Return what the best tested omission multiplies the error by, -1 if nothing can be said."""
    ratio = _ratio(comparison.best_tested)
    return -1.0 if ratio is None or not _informs(comparison) else ratio


def _apart(name: str, record: Mapping[str, Any]) -> str:
    """Return what a column of labels is called beside those of a record."""
    return f"group {name}" if name in record else name


def _span(ratios: Sequence[float]) -> str:
    """Return what ratios lie between.

    Examples
    --------
    >>> _span([5.0, 1.25, 2.0]), _span([1.5])
    ('1.25 to 5', '1.5')
    """
    ends = [show_ratio(end, exact=False) for end in (min(ratios), max(ratios))]
    return " to ".join(dict.fromkeys(ends))


def _some(groups: Sequence[Labels]) -> str:
    """Return the names of groups, as many as a person reads."""
    names = [shown_labels(labels) for labels in groups[:3]]
    return "; ".join(names) + (f" and {len(groups) - 3:,} more" if len(groups) > 3 else "")


def _shown_cell(row: Row) -> str:
    """Return the ratio of a row, or why it has none."""
    return shown_ratio(row) or row.standing
