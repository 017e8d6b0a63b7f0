"""No omission against each omission at one guarantee: the rows, the verdict and the notes.

The rows of a comparison as a table for people.

A picture of a comparison: each omission's error with its interval, and that of all records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from omit._text import fixed_down, show_quantity, show_ratio, usable
from omit.accuracy.expected import needs_no_noise
from omit.accuracy.sampled_from import parity_notes, sampled_from_notes
from omit.accuracy.simulated_points import MeasuredOn
from omit.data.column import Column
from omit.data.points import Points
from omit.exact.error import Error
from omit.guarantee import Guarantee
from omit.laws.intervals import Interval
from omit.mechanisms.base import Clustering, Mechanism
from omit.omissions.base import Omission

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


Standing = Literal["baseline", "better", "worse", "undecided", "unattainable"]

_UNBEATEN = "nothing tested beats using all records"

WARNING = "Computed from confidential data and not private: for the curator's eyes only."
SKEWED = (
    "The errors of the samples are strongly skewed, so that the interval may cover the truth less "
    "often than 95 % and the standing may be wrong; more runs help"
)
NO_NOISE = (
    "Where no noise is needed, delta is at least the chance of a record to be kept: such a delta "
    "allows publishing the raw records of a few people, and protects none of those who are kept."
)
NOT_PRIVATE = (
    "This mechanism is NOT private: its noise has no guarantee, whatever epsilon and delta say; it "
    "is for comparing with what was published, never for a release."
)


@dataclass(frozen=True)
class Row:
    """One way to leave records out, and what it costs.

    `ratio` is the expected error divided by that without omission. `standing` follows from the
    intervals of both, or from `difference`, the error less that without omission, where both were
    simulated with the same random numbers.
    """

    omission: Omission
    base: Guarantee | None
    error: Error | None
    ratio: float | None
    standing: Standing
    reason: str | None = None
    difference: Interval | None = None


@dataclass(frozen=True)
class Comparison:
    """No omission against each omission, at the same guarantee.

    Prints as a table, shows itself in a notebook, and becomes a data frame or JSON.
    """

    data: Column | Points
    mechanism: Mechanism | Clustering
    target: Guarantee
    rows: tuple[Row, ...]
    noise_reduction: bool = True
    rows_per_person: int = 1
    other_truth: bool = False
    measured_on: MeasuredOn = "all"
    sampled_from: int | None = None

    @property
    def baseline(self) -> Error:
        """The error without omission."""
        error = self.rows[0].error
        assert error is not None
        return error

    @property
    def verdict(self) -> str:
        """One sentence that follows from the intervals."""
        tested = [row for row in self.rows[1:] if row.error is not None]
        if self.measured_on == "kept-sum":
            return (
                "A sum over the records that were kept shrinks with their number: it does not tell "
                "whether leaving records out helps."
            )
        setting = self._setting()
        if len(self.rows) == 1:
            return f"{setting} no omission was tested."
        if not tested:
            return f"{setting} none of the omissions can reach the guarantee."
        if self.rows[0].ratio is None:
            return f"{setting} using all records gives no error that could be seen: {_UNBEATEN}."
        # What surely beats all records comes before what might, and that before what does not.
        order: dict[Standing, int] = {"better": 0, "undecided": 1}
        best = min(tested, key=lambda row: (order.get(row.standing, 2), row.ratio or 0.0))
        name = str(best.omission) if len(tested) == 1 else f"the best tested, {best.omission},"
        effect = f"{setting} {name} multiplies the expected error by {shown_ratio(best)}"
        if best.standing == "better":
            return f"{effect}: it beats using all records."
        if best.standing == "undecided":
            return f"{effect}, which cannot be told apart from using all records."
        return f"{effect}; {_UNBEATEN}."

    @property
    def promise(self) -> str:
        """The guarantee of the releases, or that there is none."""
        if self.mechanism.private:
            return str(self.target)
        return f"noise as if for {self.target}, NOT private"

    def _setting(self) -> str:
        """Return what the verdict holds for, up to its comma or colon."""
        whom = ""
        if self.rows_per_person > 1:
            whom += f" for a person with up to {self.rows_per_person} records"
        if self.sampled_from is not None:
            whom += f" for the population of {self.sampled_from:,}"
        if not self.mechanism.private:
            return f"With noise as if for {self.target}{whom}, NOT private:"
        if not self.noise_reduction:
            return f"With a mechanism that is {self.target} by itself{whom},"
        return f"At {self.target}{whom},"

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the numbers."""
        reasons: dict[str, list[str]] = {}
        for row in self.rows:
            if row.error is not None and row.error.reason is not None:
                reasons.setdefault(row.error.reason, []).append(str(row.omission))
        simulated = [
            f"Simulated, because {reason}: {', '.join(names)}." for reason, names in reasons.items()
        ]
        skewed = [str(row.omission) for row in self.rows if row.error and row.error.skewed]
        if skewed:
            simulated.append(f"{SKEWED}: {', '.join(skewed)}.")
        weaker: tuple[str, ...] = ()
        if not self.noise_reduction:
            weaker = ("The guarantee is that of the mechanism alone; releases differ in privacy.",)
        raw: tuple[str, ...] = ()
        bare = any(row.base is not None and needs_no_noise(row.base) for row in self.rows)
        if bare and self.target.delta > 0:
            raw = (NO_NOISE,)
        sampled: tuple[str, ...] = ()
        if self.sampled_from is not None:
            each = self.target.per_row(self.rows_per_person)
            sampled = sampled_from_notes(
                each, self.data.size, self.sampled_from, self.rows_per_person
            )
        return (
            *private_notes(self.mechanism),
            *self.data.notes,
            *sampled,
            *raw,
            *self._own_notes(),
            *weaker,
            *simulated,
            WARNING,
        )

    def _own_notes(self) -> tuple[str, ...]:
        """Return what is to say about this statistic on these data."""
        if isinstance(self.data, Points) and isinstance(self.mechanism, Clustering):
            return self._notes_on_runs(self.data, self.mechanism)
        tested = (row.omission for row in self.rows if row.error is not None)
        parity = parity_notes(self.data, self.mechanism, tested)
        if self.mechanism.statistic != "mode" or self.other_truth or isinstance(self.data, Points):
            return parity
        modes = self.data.modes
        if len(modes) == 1:
            return ()
        return (f"{len(modes)} values share the largest count; each of them counts as right.",)

    def _notes_on_runs(self, points: Points, mechanism: Clustering) -> tuple[str, ...]:
        base = self.rows[0].base
        assert base is not None
        counts = [row.error.runs or 0 for row in self.rows if row.error is not None]
        often = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
        compared = (
            f"Simulated with {often} runs; standings compare runs one by one, with the same random "
            "numbers in each."
        )
        where: tuple[str, ...] = ()
        if self.measured_on != "all":
            what = "Summed over" if self.measured_on == "kept-sum" else "Averaged over"
            where = (f"{what} the records that were kept only.",)
        return (*mechanism.notes(points, base), *where, compared)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row."""
        return [self._record(row) for row in self.rows]

    def to_json(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        return {
            "target": {
                "epsilon": self.target.epsilon,
                "delta": self.target.delta,
                "neighbours": str(self.target.neighbours),
                "rows_per_person": self.rows_per_person,
            },
            "private": self.mechanism.private,
            "data": self.data.name,
            "records": self.data.size,
            "noise_reduction": self.noise_reduction,
            "measured_on": self.measured_on,
            "sampled_from": self.sampled_from,
            "rows": self.to_records(),
            "verdict": self.verdict,
            "notes": list(self.notes),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_records())

    def summary(self) -> str:
        """Return the table and the verdict as plain text."""
        cells = [table_headings(self.rows), *table_cells(self.rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in cells
        ]
        title = f"{self.mechanism} of {self.data.name}, {self.promise}"
        return "\n".join([title, *lines, "", self.verdict, *self.notes])

    def plot(self) -> Figure:
        """Return a picture of the rows: errors with intervals, a line at that of all records."""
        return comparison_figure(
            f"{self.mechanism} of {self.data.name}, {self.promise}",
            [cells[0] for cells in table_cells(self.rows)],
            [row.error for row in self.rows],
            self.mechanism.metric,
            self.mechanism.unit,
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from html import escape

        keys = ("omission", "base_epsilon", "error", "low", "high", "ratio", "method")
        head = "".join(f"<th>{escape(key)}</th>" for key in keys)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_cell(key, record[key]))}</td>" for key in keys)
            + "</tr>"
            for record in self.to_records()
        )
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        return (
            f"<p><b>{escape(str(self.mechanism))} of {escape(self.data.name)}</b>, "
            f"{escape(self.baseline.metric)} in {escape(self.baseline.unit)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{escape(self.verdict)}</p>{notes}"
        )

    def _record(self, row: Row) -> dict[str, Any]:
        error, parts = row.error, row.error.parts if row.error is not None else None
        base = None if row.base is None or needs_no_noise(row.base) else row.base
        return {
            "omission": str(row.omission),
            "statistic": self.mechanism.statistic,
            "mechanism": str(self.mechanism),
            "private": self.mechanism.private,
            "base_epsilon": base.epsilon if base is not None else None,
            "base_delta": base.delta if base is not None else None,
            "no_noise": row.base is not None and base is None,
            "error": error.value if error is not None else None,
            "low": error.low if error is not None else None,
            "high": _finite(error.high) if error is not None else None,
            "method": error.method if error is not None else "unattainable",
            "ratio": row.ratio,
            "difference": None if row.difference is None else row.difference.value,
            "difference_low": None if row.difference is None else _finite(row.difference.low),
            "difference_high": None if row.difference is None else _finite(row.difference.high),
            "runs": error.runs if error is not None else None,
            "standing": row.standing,
            "metric": self.mechanism.metric,
            "unit": self.mechanism.unit,
            "median": error.median if error is not None else None,
            "quantile_90": error.quantile_90 if error is not None else None,
            "by_omission": parts.omission if parts is not None else None,
            "by_noise": parts.noise if parts is not None else None,
            "bias": parts.bias if parts is not None else None,
            "skewed": error is not None and error.skewed,
            "reason": row.reason or (error.reason if error is not None else None),
        }


def private_notes(mechanism: Mechanism | Clustering) -> tuple[str, ...]:
    """Return the note that a mechanism without a guarantee needs."""
    return () if mechanism.private else (NOT_PRIVATE,)


def _finite(value: float) -> float | None:
    """Return a number that JSON can hold, or None."""
    return value if math.isfinite(value) else None


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key == "base_epsilon":
        return usable(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


NUMERIC = frozenset({"mechanism's ε", "error", "ratio"})
"""The headings of columns that hold numbers."""


def table_headings(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the headings of a table for people, with differences where rows have them."""
    compared = any(row.difference is not None for row in rows)
    differences = ("difference, 95 % interval",) if compared else ()
    return (
        "omission",
        "mechanism's ε",
        "error",
        "95 % interval",
        *differences,
        "ratio",
        "standing",
    )


def table_cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return what a table for people shows of each row."""
    compared = any(row.difference is not None for row in rows)
    cells: list[tuple[str, ...]] = []
    for row in rows:
        name = str(row.omission).replace(" suppression with", "")
        if row.error is None or row.base is None:
            cells.append((name, "unattainable", *[""] * (len(table_headings(rows)) - 2)))
            continue
        differences = (_difference(row.difference),) if compared else ()
        cells.append(
            (
                name,
                _epsilon(row.base),
                show_quantity(row.error.value, row.error.unit),
                interval(row.error),
                *differences,
                shown_ratio(row),
                row.standing,
            )
        )
    return cells


def interval(error: Error) -> str:
    """Return the interval of a simulated error, or how exact an exact one is."""
    if error.method == "exact":
        return "exact"
    return f"{show_quantity(error.low, error.unit)} to {show_quantity(error.high, error.unit)}"


def shown_ratio(row: Row) -> str:
    """Return the ratio of a row to three digits, or to as many as tell it from 1."""
    return show_ratio(row.ratio, row.error is not None and row.error.method == "exact")


def _epsilon(base: Guarantee) -> str:
    if needs_no_noise(base):
        return "no noise"
    # It is what the mechanism may use: the next larger number would break the promise.
    return fixed_down(base.epsilon)


def _difference(difference: Interval | None) -> str:
    if difference is None:
        return ""
    return f"{difference.low:+.2g} to {difference.high:+.2g}"


_MARKERS = {"exact": "o", "simulated": "D"}


def comparison_figure(
    title: str, labels: Sequence[str], errors: Sequence[Error | None], metric: str, unit: str
) -> Figure:
    """Return the errors as points with intervals; the first is without omission."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    figure = Figure(figsize=(7.5, 0.45 * len(labels) + 1.6), layout="constrained")
    axes = figure.subplots()
    for place, error in enumerate(errors):
        if error is None:
            axes.text(
                0.01, place, "unattainable", transform=axes.get_yaxis_transform(), va="center"
            )
            continue
        axes.plot([error.low, error.high], [place, place], color="0.4", linewidth=2)
        axes.plot(error.value, place, _MARKERS[error.method], color="black", markersize=6)
    baseline = errors[0]
    if baseline is not None:
        axes.axvline(baseline.value, color="#08306b", linewidth=1, linestyle="--")
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    values = [error.value for error in errors if error is not None]
    if min(values) > 0 and max(values) > 20 * min(values):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(f"{metric}, {unit}" if unit == "%" else metric)
    figure.suptitle(title, fontsize=10, parse_math=False)
    axes.grid(axis="x", alpha=0.25)
    return figure
