"""What `compare` returns: rows, and the words of the verdict and the notes that go with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from omit._text import show_quantity, usable
from omit.accuracy.expected import Question
from omit.accuracy.parts import clamping_notes, parts_table, shown_clamping
from omit.accuracy.row import (
    SAME,
    Row,
    Standing,
    Uninformed,
    row_record,
    shown_difference,
    shown_interval,
    shown_promise,
    shown_ratio,
)
from omit.accuracy.sampled_from import parity_notes, sampled_from_notes
from omit.data.base import show_bounds
from omit.exact.error import ExpectedError
from omit.guarantee import Guarantee
from omit.mechanisms.base import Mechanism
from omit.omissions.base import Omission
from omit.report.page import Caption, Card, Made
from omit.report.result import Drawing, Ends, Field, Result, Table, plain

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from omit.accuracy.bounds_sweep import BoundsSweep

_UNBEATEN = "nothing tested beats using all records"
SKEWED = (
    "The errors of the samples are strongly skewed, so that the interval may cover the truth less "
    "often than 95 % and the standing may be wrong; more runs help"
)
NO_NOISE = (
    "No noise is needed only because delta is at least the chance of a record to be kept: such a "
    "delta permits publishing the raw records of a few people, and protects none of those who are "
    "kept."
)
GUARANTEE_ALONE = "The guarantee is that of the mechanism alone; releases differ in privacy."
NOT_PRIVATE = (
    "This mechanism is NOT private: its noise has no guarantee, whatever epsilon and delta say; it "
    "is for comparing with what was published, never for a release."
)


@dataclass(frozen=True)
class Comparison(Result):
    """No omission against each omission, at the same guarantee.

    `mechanism_notes` are those of the mechanism without omission.

    Examples
    --------
    >>> from omit import Guarantee, NoisyMean, PoissonSampling, compare, read
    >>> answer = compare(read("adult", "age"), NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    >>> [row.standing for row in answer.rows]
    ['baseline', 'worse']
    """

    question: Question
    rows: tuple[Row, ...]
    mechanism_notes: tuple[str, ...] = ()
    uninformed: Uninformed | None = None
    clamping: float = 0.0

    command: ClassVar[str] = "compare"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of the releases",
        "delta": "of the releases",
        "error": "expected, of every omission and of all records, in the unit of the table",
        "ratio": "of the error of every omission to that of all records",
    }

    @property
    def baseline(self) -> ExpectedError:
        """The error without omission."""
        error = self.rows[0].error
        assert error is not None
        return error

    @property
    def verdict(self) -> str:
        """One sentence that follows from the intervals, and one where clamping costs most."""
        tested = [row for row in self.rows[1:] if row.reaches_target]
        if self.question.mechanism.metric == "kept-sum":
            return (
                "A sum over the records that were kept shrinks with their number: it does not tell "
                "whether leaving records out helps."
            )
        setting = self.setting
        if len(self.rows) == 1:
            return f"{setting} no omission was tested."
        if not tested:
            return f"{setting} none of the omissions can reach the guarantee.{self._unprotected()}"
        if self.rows[0].ratio is None:
            return f"{setting} using all records gives no error that could be seen: {_UNBEATEN}."
        if not any(map(self.informs, self.rows)):
            return (
                f"{setting} nothing tested tells more than the middle of the bounds, "
                f"{self._middle()}, which needs no data: using all records does not, either."
            )
        best = self.best_tested
        assert best is not None
        name = str(best.omission) if len(tested) == 1 else f"the best tested, {best.omission},"
        effect = self._effect(best)
        return f"{setting} {name} {effect}.{self._unprotected()}{self._largest_part()}"

    def _unprotected(self) -> str:
        """Return which omissions leave no guarantee, and what to do instead."""
        names = [str(row.omission) for row in self.rows if row.standing == "no guarantee"]
        if not names:
            return ""
        return (
            f" No guarantee is left by {'; '.join(names)}, whatever the noise: instead, declare "
            "narrower bounds beforehand, suppress by a fixed rule, or delete at random by outlier "
            "scores."
        )

    def _effect(self, best: Row) -> str:
        """Return what the best omission does to the error, and whether that is a gain."""
        known = best.standing != "undecided" or best.error is None or best.error.method == "exact"
        if known and not best.matters:
            return f"has the same expected error as using all records to within 1 %; {_UNBEATEN}"
        effect = f"multiplies the expected error by {shown_ratio(best)}"
        if best.standing == "undecided":
            return f"{effect}, which cannot be told apart from using all records"
        if best.standing != "better":
            return f"{effect}; {_UNBEATEN}"
        if best.gains_by_bounds:
            return f"{effect}: the gain is that of its narrower bounds alone, {self.narrower(best)}"
        return f"{effect}: it beats using all records"

    def narrower(self, row: Row) -> str:
        """Return to which bounds an omission restricts the values."""
        bounds = row.omission.restrict(self.question.data.bounds)
        return f"{show_bounds(bounds)}, which must not come from the data"

    def _largest_part(self) -> str:
        """Return that clamping is the largest part of the error of all records, if it is."""
        parts = self.baseline.parts
        if parts is None or self.clamping == 0 or parts.largest != "clamping":
            return ""
        if self.question.mechanism.unit == "probability":
            return " The largest part of the error is clamping."
        shown = shown_clamping(self.question.mechanism, self.clamping)
        return (
            f" The largest part of the error is the bias by clamping, {shown}, which "
            "hides what omission and noise cost."
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the guarantee, if every release has it, and the errors and ratios of the rows."""
        question = self.question
        pair: tuple[Ends | None, Ends | None] = (None, None)
        protected = all(row.standing != "no guarantee" for row in self.rows)
        if question.mechanism.private and question.noise_reduction and protected:
            epsilon, delta = question.guarantee.epsilon, question.guarantee.delta
            pair = (epsilon, epsilon), (delta, delta)
        return {
            "epsilon": [pair[0]],
            "delta": [pair[1]],
            "error": [self.error_ends(row) for row in self.rows],
            "ratio": [self.ratio_ends(row) for row in self.rows[1:]],
        }

    def error_ends(self, row: Row) -> Ends | None:
        """Return what the error of a row is between, if it has one."""
        return None if row.error is None else (row.error.low, row.error.high)

    def ratio_ends(self, row: Row) -> Ends | None:
        """Return what the ratio of a row is between, if it has one."""
        base = self.baseline
        if row.error is None or row.ratio is None:
            return None
        if row.difference is not None:
            return 1 + row.difference.low / base.value, 1 + row.difference.high / base.value
        return row.error.low / base.high, row.error.high / base.low if base.low > 0 else math.inf

    def informs(self, row: Row) -> bool:
        """Tell whether the answers of a row may be nearer than one that needs no data."""
        return row.error is not None and (
            self.uninformed is None or row.error.low <= self.uninformed.limit
        )

    def _middle(self) -> str:
        assert self.uninformed is not None
        return f"{self.uninformed.answer:g}"

    @property
    def guarantee_shown(self) -> str:
        """The guarantee of the releases, or that there is none."""
        target = self.question.guarantee
        if self.question.mechanism.private:
            return str(target)
        return f"noise as if for {target}, NOT private"

    @property
    def setting(self) -> str:
        """What the verdict holds for, up to its comma or colon."""
        question, whom = self.question, ""
        if question.rows_per_person > 1:
            whom += f" for a person with up to {question.rows_per_person} records"
        if question.sampled_from is not None:
            whom += f" for the population of {question.sampled_from:,}"
        if question.statistics > 1:
            whom += f" for all {question.statistics} statistics together"
        if not question.mechanism.private:
            return f"With noise as if for {question.guarantee}{whom}, NOT private:"
        if not question.noise_reduction:
            return f"With a mechanism that is {question.guarantee} by itself{whom},"
        return f"At {question.guarantee}{whom},"

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the numbers."""
        question = self.question
        notes = [*private_notes(question.mechanism), *question.data.notes]
        tested = [row.omission for row in self.rows if row.error is not None]
        if question.sampled_from is not None:
            per_record = question.guarantee.per_row(question.rows_per_person)
            notes += sampled_from_notes(
                per_record, question.data.size, question.sampled_from, question.rows_per_person
            )
        notes += shared_notes(question, [row.omission for row in self.rows if row.reaches_target])
        if any(row.no_noise for row in self.rows) and question.guarantee.delta > 0:
            notes.append(NO_NOISE)
        notes += [
            f"No guarantee: {row.reason}" for row in self.rows if row.standing == "no guarantee"
        ]
        notes += self.mechanism_notes
        notes += parity_notes(question.data, question.mechanism, tested)
        if question.mechanism.metric in ("kept", "kept-sum"):
            what = "Summed" if question.mechanism.metric == "kept-sum" else "Averaged"
            notes.append(f"{what} over the records that were kept only.")
        if not question.noise_reduction:
            notes.append(GUARANTEE_ALONE)
        return (
            *notes,
            *clamping_notes(question.mechanism, self.clamping),
            *self._notes_on_narrower_bounds(),
            *self._notes_on_simulation(),
            *self._notes_on_the_middle(),
        )

    def _notes_on_narrower_bounds(self) -> list[str]:
        """Return what narrower bounds alone would do, of omissions that are better with them."""
        unit = self.question.mechanism.unit
        return [
            f"{row.omission}: its bounds are narrower. All records with the bounds "
            f"{self.narrower(row)}, have the error {show_quantity(row.narrowed.value, unit)}."
            for row in self.rows
            if row.narrowed is not None
        ]

    def _notes_on_the_middle(self) -> list[str]:
        """Return what an answer without any data errs by."""
        if self.uninformed is None:
            return []
        error = show_quantity(self.uninformed.error, self.question.mechanism.unit)
        return [
            f"The middle of the bounds, {self._middle()}, needs no data and has the error {error}."
        ]

    def _notes_on_simulation(self) -> list[str]:
        """Return which rows are simulated and why, and what to think of their intervals."""
        notes: list[str] = []
        reasons: dict[str, list[str]] = {}
        errors = [(str(row.omission), row.error) for row in self.rows if row.error is not None]
        for name, error in errors:
            if error.reason is not None:
                reasons.setdefault(error.reason, []).append(name)
        for reason, names in reasons.items():
            notes.append(f"Simulated, because {reason}: {', '.join(names)}.")
        unproved = [name for name, error in errors if error.first_order]
        if unproved:
            notes.append(
                "Records within a bin are kept with different chances, which is accounted for to "
                f"first order in the width of bins and not proved: {', '.join(unproved)}."
            )
        skewed = [name for name, error in errors if error.skewed]
        if skewed:
            notes.append(f"{SKEWED}: {', '.join(skewed)}.")
        if any(row.difference is not None for row in self.rows) or (
            self.question.data.coupled and self.baseline.method == "simulated"
        ):
            counts = sorted({error.runs or 0 for _, error in errors})
            often = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
            notes.append(
                f"Simulated with {often} runs; standings compare runs one by one, with the same "
                "random numbers in each."
            )
        return notes

    @property
    def heading(self) -> str:
        """The mechanism, the data and the guarantee."""
        question = self.question
        return f"{question.mechanism} of {question.data.name}, {self.guarantee_shown}"

    @property
    def title(self) -> str:
        """The heading of a page."""
        at = "at" if self.question.mechanism.private else "with"
        return f"Leaving records out: {self.question.data.name} {at} {self.guarantee_shown}"

    @property
    def subject(self) -> str:
        """The mechanism, as a heading."""
        name = str(self.question.mechanism)
        return name[:1].upper() + name[1:]

    def tables(self) -> Sequence[Table]:
        """Return the rows as people read them; `to_frame` has more columns."""
        compared = any(row.difference is not None for row in self.rows)
        unit = self.question.mechanism.unit
        fields = [
            Field("omission", "omission"),
            Field("mechanism's ε", "promise", shown_promise, numeric=True),
            Field("error", "error", lambda value: show_quantity(value, unit), numeric=True),
            Field("95 % interval", "interval", shown_interval),
            Field("difference, 95 % interval", "difference", shown_difference),
            Field("ratio", "ratio", shown_ratio, numeric=True),
            Field("standing", "standing"),
        ]
        if not compared:
            del fields[4]
        title = f"{self.question.mechanism} of {self.question.data.name}, {self.baseline.metric}"
        rows = Table("rows", title, tuple(fields), tuple(map(self._cells, self.rows)))
        parts = self.parts_table() if self.clamping else None
        return (rows,) if parts is None else (rows, parts)

    def parts_table(self) -> Table | None:
        """Return what makes up the error of each row; None where that is not known, or no number.

        It is among the `tables` where clamping is part of the error.
        """
        return parts_table(self.question.mechanism, self.rows)

    def _cells(self, row: Row) -> tuple[Any, ...]:
        compared = any(other.difference is not None for other in self.rows)
        differences = (row.difference,) if compared else ()
        name = row.short_name
        if row.error is None:
            return (name, "unattainable", None, None, *differences, None, None)
        error = row.error
        return (name, row.promise, error.value, error, *differences, row, row.standing)

    def figures(self) -> Mapping[str, Drawing]:
        """Return the errors with their intervals, and what they are made up of, if known."""
        from omit.accuracy.card import draw_why, why_rows
        from omit.accuracy.figures import draw_comparison

        drawings: dict[str, Drawing] = {"errors": lambda axes: draw_comparison(axes, self)}
        if why_rows(self):
            drawings["why"] = lambda axes: draw_why(axes, self)
        return drawings

    def captions(self) -> Mapping[str, Caption]:
        """Return titles and descriptions of both figures."""
        from omit.accuracy.card import comparison_captions

        return comparison_captions(self)

    @property
    def card(self) -> Card | None:
        """What is promised, what the best tested omission costs, and what to do."""
        from omit.accuracy.card import comparison_card

        return comparison_card(self)

    def provenance(self) -> Mapping[str, str]:
        """Return the data, who declared what of them, and the seed."""
        from omit.accuracy.card import question_provenance

        return question_provenance(self.question)

    def python(self) -> str:
        """Return the comparison in Python."""
        from omit.accuracy.card import comparison_code

        return comparison_code(self)

    @property
    def best_tested(self) -> Row | None:
        """The row that the verdict is about: the best with an omission, if any is attainable."""
        tested = [row for row in self.rows[1:] if row.reaches_target]
        return min(tested, key=_rank, default=None)

    def over_bounds(
        self, advance: Callable[[], None] = lambda: None, cores: int = 1
    ) -> BoundsSweep:
        """Return the error over the upper bound, without omission and after the best tested.

        `InvalidInput` is raised if the error does not depend on bounds.
        """
        from omit.accuracy.bounds_sweep import sweep_bounds

        best = self.best_tested
        return sweep_bounds(self.question, None if best is None else best.omission, advance, cores)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row."""
        return [plain(row_record(self.question.mechanism, row)) for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_records())

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it; what is infinite is None."""
        question = self.question
        return {
            "target": {
                "epsilon": question.guarantee.epsilon,
                "delta": question.guarantee.delta,
                "neighbours": str(question.guarantee.neighbours),
                "rows_per_person": question.rows_per_person,
                "statistics": question.statistics,
            },
            "mechanism_has_guarantee": question.mechanism.private,
            "data": question.data.name,
            "records": question.data.size,
            "noise_reduction": question.noise_reduction,
            "metric": question.mechanism.metric,
            "sampled_from": question.sampled_from,
            "clamping": self.clamping,
            "uninformed": None if self.uninformed is None else self.uninformed._asdict(),
            "rows": self.to_records(),
            "verdict": self.verdict,
            "notes": [*self.notes, self.caution],
        }

    def write_report(self, path: Path | str, made: Made | None = None) -> Path:
        """Write a page of HTML with the rows, curves over all rates, and what was assumed."""
        from omit.accuracy.report import write_report

        return write_report(path, [self], made=lambda: made or Made.today())


def shared_notes(question: Question, omissions: Sequence[Omission]) -> list[str]:
    """Return how several statistics share a guarantee, and what fresh samples would allow."""
    number, target = question.statistics, question.promise
    if number == 1 or not isinstance(target, Guarantee):
        return []
    notes = [
        f"The guarantee is that of all {number} statistics together, on the same records: their "
        f"epsilons add up to that of the mechanism, and a sample amplifies the sum once. Without "
        f"omission each has ε = {usable(target.per_statistic(number).epsilon)}."
    ]
    if not question.noise_reduction:
        return notes
    for omission in omissions:
        shared = omission.calibrate(target)
        fresh = omission.calibrate(target.per_statistic(number))
        if not (isinstance(shared, Guarantee) and isinstance(fresh, Guarantee)):
            continue
        each = shared.per_statistic(number).epsilon
        if fresh.epsilon > (1 + SAME) * each:
            notes.append(
                f"{omission}: drawn anew for every statistic, it would let each have ε = "
                f"{usable(fresh.epsilon)} instead of {usable(each)} at the same guarantee."
            )
    return notes


def private_notes(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the note that a mechanism without a guarantee needs."""
    return () if mechanism.private else (NOT_PRIVATE,)


def _rank(row: Row) -> tuple[int, float]:
    """Return where a row comes in a verdict: what surely matters before what might."""
    order: dict[Standing, int] = {"better": 0, "undecided": 1, "no information": 3}
    gains = row.standing != "better" or row.matters
    return order.get(row.standing, 2) if gains else 2, row.ratio or 0.0
