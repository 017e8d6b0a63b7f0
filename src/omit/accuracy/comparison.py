"""What `compare` returns: rows, and the words of the verdict and the notes that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from omit._text import fixed_down, show_quantity, show_ratio
from omit.accuracy.expected import Question
from omit.accuracy.sampled_from import parity_notes, sampled_from_notes
from omit.exact.error import ExpectedError
from omit.guarantee import NoNoiseNeeded
from omit.laws.intervals import Interval
from omit.mechanisms.base import Mechanism, Promise
from omit.omissions.base import Omission
from omit.report.result import Drawing, Field, Result, Table, plain

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

Standing = Literal["baseline", "better", "worse", "undecided", "unattainable", "no information"]

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
NOT_PRIVATE = (
    "This mechanism is NOT private: its noise has no guarantee, whatever epsilon and delta say; it "
    "is for comparing with what was published, never for a release."
)


class Uninformed(NamedTuple):
    """An answer that needs no data, the middle of the bounds, and its error.

    An expected error above `limit` tells nothing. That is the error of the middle, but at least
    that of an answer an eighth of the bounds away: if the truth is the middle, that is luck.
    """

    answer: float
    error: float
    limit: float


@dataclass(frozen=True)
class Row:
    """One omission, and what it costs.

    `promise` is what the mechanism itself must have. `ratio` is the expected error divided by that
    without omission. `standing` follows from the intervals of both, or from `difference`, the error
    less that without omission, where both were simulated with the same random numbers.
    """

    omission: Omission
    promise: Promise | None
    error: ExpectedError | None
    ratio: float | None
    standing: Standing
    reason: str | None = None
    difference: Interval | None = None

    @property
    def short_name(self) -> str:
        """The omission as tables name it."""
        return str(self.omission).replace(" suppression with", "")

    @property
    def no_noise(self) -> bool:
        """Whether the guarantee holds without any noise."""
        return isinstance(self.promise, NoNoiseNeeded)


@dataclass(frozen=True)
class Comparison(Result):
    """No omission against each omission, at the same guarantee.

    `mechanism_notes` are those of the mechanism without omission.
    """

    question: Question
    rows: tuple[Row, ...]
    mechanism_notes: tuple[str, ...] = ()
    uninformed: Uninformed | None = None

    command: ClassVar[str] = "compare"

    @property
    def baseline(self) -> ExpectedError:
        """The error without omission."""
        error = self.rows[0].error
        assert error is not None
        return error

    @property
    def verdict(self) -> str:
        """One sentence that follows from the intervals."""
        tested = [row for row in self.rows[1:] if row.error is not None]
        if self.question.mechanism.metric == "kept-sum":
            return (
                "A sum over the records that were kept shrinks with their number: it does not tell "
                "whether leaving records out helps."
            )
        setting = self.setting
        if len(self.rows) == 1:
            return f"{setting} no omission was tested."
        if not tested:
            return f"{setting} none of the omissions can reach the guarantee."
        if self.rows[0].ratio is None:
            return f"{setting} using all records gives no error that could be seen: {_UNBEATEN}."
        if not any(map(self.informs, self.rows)):
            return (
                f"{setting} nothing tested tells more than the middle of the bounds, "
                f"{self._middle()}, which needs no data: using all records does not, either."
            )
        # What surely beats all records comes before what might, and that before what does not.
        order: dict[Standing, int] = {"better": 0, "undecided": 1, "no information": 3}
        best = min(tested, key=lambda row: (order.get(row.standing, 2), row.ratio or 0.0))
        name = str(best.omission) if len(tested) == 1 else f"the best tested, {best.omission},"
        effect = f"{setting} {name} multiplies the expected error by {shown_ratio(best)}"
        if best.standing == "better":
            return f"{effect}: it beats using all records."
        if best.standing == "undecided":
            return f"{effect}, which cannot be told apart from using all records."
        return f"{effect}; {_UNBEATEN}."

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
        if question.sampled_from is not None:
            per_record = question.guarantee.per_row(question.rows_per_person)
            notes += sampled_from_notes(
                per_record, question.data.size, question.sampled_from, question.rows_per_person
            )
        if any(row.no_noise for row in self.rows) and question.guarantee.delta > 0:
            notes.append(NO_NOISE)
        tested = [row.omission for row in self.rows if row.error is not None]
        notes += self.mechanism_notes
        notes += parity_notes(question.data, question.mechanism, tested)
        if question.mechanism.metric in ("kept", "kept-sum"):
            what = "Summed" if question.mechanism.metric == "kept-sum" else "Averaged"
            notes.append(f"{what} over the records that were kept only.")
        if not question.noise_reduction:
            notes.append(
                "The guarantee is that of the mechanism alone; releases differ in privacy."
            )
        return (*notes, *self._notes_on_simulation(), *self._notes_on_the_middle())

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
        return f"omit: {self.question.data.name} {at} {self.guarantee_shown}"

    def tables(self) -> Sequence[Table]:
        """Return the rows as people read them; `to_frame` has more columns."""
        compared = any(row.difference is not None for row in self.rows)
        unit = self.question.mechanism.unit
        fields = [
            Field("omission", "omission"),
            Field("mechanism's ε", "promise", shown_promise, numeric=True),
            Field("error", "error", lambda value: show_quantity(value, unit), numeric=True),
            Field("95 % interval", "interval", shown_interval),
            Field("difference, 95 % interval", "difference", _shown_difference),
            Field("ratio", "ratio", shown_ratio, numeric=True),
            Field("standing", "standing"),
        ]
        if not compared:
            del fields[4]
        title = f"{self.question.mechanism} of {self.question.data.name}, {self.baseline.metric}"
        return (Table("rows", title, tuple(fields), tuple(map(self._cells, self.rows))),)

    def _cells(self, row: Row) -> tuple[Any, ...]:
        compared = any(other.difference is not None for other in self.rows)
        differences = (row.difference,) if compared else ()
        name = row.short_name
        if row.error is None:
            return (name, "unattainable", None, None, *differences, None, None)
        error = row.error
        return (name, row.promise, error.value, error, *differences, row, row.standing)

    def figures(self) -> Mapping[str, Drawing]:
        """Return the errors with their intervals."""
        from omit.accuracy.figures import draw_comparison

        return {"errors": lambda axes: draw_comparison(axes, self)}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row."""
        return [plain(self._record(row)) for row in self.rows]

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
            },
            "mechanism_has_guarantee": question.mechanism.private,
            "data": question.data.name,
            "records": question.data.size,
            "noise_reduction": question.noise_reduction,
            "metric": question.mechanism.metric,
            "sampled_from": question.sampled_from,
            "uninformed": None if self.uninformed is None else self.uninformed._asdict(),
            "rows": self.to_records(),
            "verdict": self.verdict,
            "notes": [*self.notes, self.caution],
        }

    def write_report(self, path: Path | str) -> Path:
        """Write a page of HTML with the rows, curves over all rates, and what was assumed."""
        from omit.accuracy.report import write_report

        return write_report(path, [self])

    def _record(self, row: Row) -> dict[str, Any]:
        mechanism, error = self.question.mechanism, row.error
        base = None if row.no_noise else row.promise
        record = {
            "omission": str(row.omission),
            "statistic": mechanism.statistic,
            "mechanism": str(mechanism),
            "mechanism_has_guarantee": mechanism.private,
            "base_epsilon": getattr(base, "epsilon", None),
            "base_delta": getattr(base, "delta", None),
            "no_noise": row.no_noise,
            "error": None,
            "low": None,
            "high": None,
            "method": "unattainable",
            "ratio": row.ratio,
            "difference": None,
            "difference_low": None,
            "difference_high": None,
            "runs": None,
            "standing": row.standing,
            "metric": mechanism.metric_name,
            "unit": mechanism.unit,
            "median": None,
            "quantile_90": None,
            "by_omission": None,
            "by_noise": None,
            "bias": None,
            "skewed": False,
            "reason": row.reason,
        }
        if row.difference is not None:
            difference = row.difference
            record["difference"] = difference.value
            record["difference_low"], record["difference_high"] = difference.low, difference.high
        if error is None:
            return record
        record["error"] = error.value
        for key in ("low", "high", "method", "runs", "median", "quantile_90", "skewed", "reason"):
            record[key] = getattr(error, key)
        if error.parts is not None:
            parts = error.parts
            record["by_omission"], record["by_noise"] = parts.omission, parts.noise
            record["bias"] = parts.bias
        return record


def private_notes(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the note that a mechanism without a guarantee needs."""
    return () if mechanism.private else (NOT_PRIVATE,)


def shown_interval(error: ExpectedError) -> str:
    """Return the interval of a simulated error, or that an error is exact."""
    if error.method == "exact":
        return "exact"
    return f"{show_quantity(error.low, error.unit)} to {show_quantity(error.high, error.unit)}"


def shown_ratio(row: Row) -> str:
    """Return the ratio of a row to three digits, or to as many as tell it from 1."""
    return show_ratio(row.ratio, row.error is not None and row.error.method == "exact")


def shown_promise(promise: Promise | str) -> str:
    """Return what the mechanism may use, rounded down, or that it needs no noise."""
    if isinstance(promise, NoNoiseNeeded):
        return "no noise"
    if isinstance(promise, str):
        return promise
    # It is what the mechanism may use: the next larger number would break the promise.
    return fixed_down(promise.epsilon)


def _shown_difference(difference: Interval) -> str:
    return f"{difference.low:+.2g} to {difference.high:+.2g}"
