"""What a sample with hidden small counts promises and costs, as a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omit._numeric import FloatArray
from omit._text import promised, rounded_up
from omit.disclosure.histograms import GeometricHistogram
from omit.disclosure.sample_threshold import SampleAndThreshold
from omit.disclosure.table import Attribute, CountTable
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee
from omit.laws.threshold_pairs import worst_pair
from omit.laws.thresholds import worst_count
from omit.report.result import Drawing, Ends, Field, Result, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARES = (0.02, 0.1, 0.5, 1.0, 1.5, 2.0, 5.0, 20.0, 100.0)
_POINTS = 200


@dataclass(frozen=True)
class ThresholdAnswer(Result):
    """What a sample with hidden small counts promises, and its errors by the size of a cell.

    Parameters
    ----------
    sampled : SampleAndThreshold
        The sample and its threshold.
    neighbours : str
        The relation that was asked about; all are shown.

    Examples
    --------
    >>> print(ThresholdAnswer(SampleAndThreshold(0.1, 10)).verdict)
    The shown counts are (1, 9.980118661e-09)-DP under add-remove, if nothing else is published.
    """

    sampled: SampleAndThreshold
    neighbours: str = ADD_REMOVE

    command: ClassVar[str] = "bound"
    warning: ClassVar[str | None] = None
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of the release",
        "delta": "of the release",
        "rate": "at which records are drawn",
        "threshold": "the smallest count of drawn records that is shown",
    }

    @property
    def verdict(self) -> str:
        """What is promised, on which condition."""
        stated = self.sampled.stated(self.neighbours)
        if not isinstance(stated, Guarantee):
            return f"The shown counts have {stated}"
        return f"The shown counts are {stated}, if nothing else is published."

    @property
    def notes(self) -> tuple[str, ...]:
        """What must not be published, and who is hidden."""
        sampled = self.sampled
        return (
            "Not the size of the sample, nor a margin, nor the number of hidden records or of "
            "records at all: a single hidden record would be given away, with delta = "
            f"{rounded_up(sampled.rate)}. Nor who was drawn, nor any other attribute. The "
            "cells are declared beforehand, and empty ones are hidden like all small ones.",
            f"Cells below about {sampled.threshold / sampled.rate:,.0f} records are hidden more "
            "often than not; small groups lose all of their cells.",
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the guarantee, the rate and the threshold."""
        sampled, stated = self.sampled, self.sampled.stated(self.neighbours)
        delta = stated.delta if isinstance(stated, Guarantee) else 1.0
        numbers = {
            "epsilon": sampled.epsilon,
            "delta": delta,
            "rate": sampled.rate,
            "threshold": float(sampled.threshold),
        }
        return {name: [(number, number)] for name, number in numbers.items()}

    def tables(self) -> Sequence[Table]:
        """Return delta under both relations, and the errors of cells of several sizes."""
        return self._deltas(), self._errors()

    def _deltas(self) -> Table:
        epsilon = self.sampled.epsilon
        one, two = worst_count(*self._setting), worst_pair(*self._setting)
        published = self.sampled.published_delta(epsilon)
        rows = [("exact", str(ADD_REMOVE), one.delta, f"{one.records:,}, or one fewer")]
        if published is not None:
            rows.append(("Li, Qardaji and Su", str(ADD_REMOVE), published, ""))
        bound = "a bound" if two.records is None else "exact, up by 1e-6 of itself"
        pair = "{:,} and {:,}, one of which moves".format(*two.records) if two.records else ""
        rows.append((bound, str(REPLACE), two.delta, pair))
        fields = (
            Field("bound", "bound"),
            Field("neighbours", "neighbours"),
            Field("δ", "delta", rounded_up, numeric=True),
            Field("records of the worst cells", "worst"),
        )
        title = f"{self.sampled}: δ at ε = {promised(epsilon)}"
        return Table("deltas", title, fields, tuple(rows))

    @property
    def _setting(self) -> tuple[float, int, float]:
        return self.sampled.rate, self.sampled.threshold, self.sampled.epsilon

    def _errors(self) -> Table:
        whole = self.sampled.threshold / self.sampled.rate
        sizes = sorted({round(share * whole) for share in _SHARES})
        hidden, drawn, noisy = self._by_size(np.array(sizes))
        number = "{:,.1f}".format
        fields = (
            Field("records in the cell", "records", "{:,}".format, numeric=True),
            Field("hidden", "hidden", "{:.2%}".format, numeric=True),
            Field("abs. error", "absolute_error", number, numeric=True),
            Field("with geometric noise on all records", "noisy", number, numeric=True),
        )
        rows = tuple(zip(sizes, hidden.tolist(), drawn.tolist(), noisy.tolist(), strict=True))
        title = "Expected absolute error of a cell, and of noisy counts at the same ε and δ = 0"
        return Table("errors", title, fields, rows)

    def _by_size(self, sizes: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return how often cells are hidden, and their errors with a sample and with noise."""
        cells = Attribute("cell", tuple(f"{number}" for number in range(len(sizes))))
        table = CountTable((cells,), np.asarray(sizes))
        drawn = self.sampled.errors(table).absolute
        # One record changes one cell, not two: half of the noise that replace needs is enough.
        twice = 2 if self.neighbours == ADD_REMOVE else 1
        noisy = GeometricHistogram(twice * max(self.sampled.epsilon, 1e-9)).errors(table).absolute
        return self.sampled.hidden_probability(sizes), drawn, noisy

    def figures(self) -> Mapping[str, Drawing]:
        """Return the error over the size of a cell."""
        whole = self.sampled.threshold / self.sampled.rate
        sizes = np.unique(np.geomspace(1, 100 * whole, _POINTS).round().astype(np.int64))

        def draw(axes: Axes) -> None:
            _, drawn, noisy = self._by_size(sizes)
            axes.loglog(sizes, drawn, color="black", label=str(self.sampled))
            axes.loglog(
                sizes, noisy, color="black", linestyle="--", label="geometric noise, all records"
            )
            axes.axvline(whole, color="0.6", linewidth=1, label="threshold / rate")
            axes.set_xlabel("records in the cell")
            axes.set_ylabel("expected absolute error")
            axes.legend()

        return {"error over the size of a cell": draw}

    def to_json(self) -> dict[str, Any]:
        """Return the question, the deltas and the errors."""
        return {
            "protection": "sample-threshold",
            "rate": self.sampled.rate,
            "threshold": self.sampled.threshold,
            "epsilon": self.sampled.epsilon,
            "neighbours": str(self.neighbours),
            "delta": self.sampled.exact_delta(self.sampled.epsilon, self.neighbours).delta,
            **{table.name: table.records() for table in self.tables()},
            "verdict": self.verdict,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ThresholdCalibration(ThresholdAnswer):
    """The smallest threshold, or the largest rate, with which the shown counts keep a promise.

    Examples
    --------
    >>> print(ThresholdCalibration(SampleAndThreshold(0.25, 14)).verdict)
    With a sample at rate 0.25, hidden below 14: the shown counts are (1, 8.413811457e-07)-DP under
    add-remove, if nothing else is published.
    """

    command: ClassVar[str] = "calibrate"

    @property
    def verdict(self) -> str:
        """The sample and the threshold, and what they promise."""
        promise = super().verdict
        return f"With a {self.sampled}: {promise[0].lower()}{promise[1:]}"
