"""The error over the upper bound: narrow bounds clamp more, and wide ones need more noise.

The bounds of such a sweep follow from the declared ones and from the largest value of the data.
It shows what bounds do to the error, to whoever holds the data; it is no way to choose them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from omit._numeric import FloatArray, as_array
from omit._text import show_quantity
from omit.accuracy.expected import Question
from omit.accuracy.parts import NOT_FROM_DATA, show_part
from omit.accuracy.row import SAME
from omit.data.base import Data
from omit.data.column import Column
from omit.data.weighted import WeightedColumn
from omit.errors import InvalidInput, Unattainable
from omit.exact.error import ExpectedError
from omit.mechanisms.base import NumberMechanism
from omit.omissions.base import Omission
from omit.omissions.sampling import NoOmission
from omit.report.figure import few_plain_numbers, plainly, series_style
from omit.report.result import Drawing, Field, Result, Table
from omit.study.sharing import shared_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers: TypeAlias = Column | WeightedColumn

# How many times narrower and wider than declared the bounds are, in how many steps either way.
_FARTHEST, _STEPS = 4.0, 4
_RUNS = 500


@dataclass(frozen=True)
class BoundsSweep(Result):
    """Expected errors over the upper bound, with and without an omission.

    Attributes
    ----------
    question
        What was asked, with the bounds that are declared.
    uppers
        The upper bounds, from the narrowest to the widest; the lower one stays.
    omissions
        No omission first.
    errors
        The error of each omission at each upper bound; None where there is none.
    clamping, clamped
        By how much each of the bounds moves the statistic, and how many records it clamps.

    Examples
    --------
    >>> import omit
    >>> incomes = omit.Column.from_counts([20, 40, 80, 400], [900, 800, 250, 50], bounds=(0, 100))
    >>> sweep = omit.compare(incomes, omit.NoisyMean(), omit.Guarantee(1.0)).over_bounds()
    >>> sweep.uppers
    (25.0, 35.0, 50.0, 71.0, 100.0, 170.0, 280.0, 480.0, 800.0)
    >>> sweep.clamped[0], sweep.clamped[-1]
    (1100, 0)
    """

    question: Question
    uppers: tuple[float, ...]
    omissions: tuple[Omission, ...]
    errors: tuple[tuple[ExpectedError | None, ...], ...]
    clamping: tuple[float, ...]
    clamped: tuple[int, ...]

    command: ClassVar[str] = "compare"

    @property
    def declared(self) -> float:
        """The upper bound that is declared."""
        return float(self.question.data.bounds[1])

    @property
    def verdict(self) -> str:
        """Where the error of all records is least."""
        known = [
            (error.value, upper)
            for error, upper in zip(self.errors[0], self.uppers, strict=True)
            if error is not None
        ]
        unit = self.question.mechanism.unit
        least, best = min(known)
        declared = next(value for value, upper in known if upper == self.declared)
        of_declared = show_quantity(declared, unit)
        if least > (1 - SAME) * declared:
            return (
                f"None of these upper bounds has an error of all records that is 1 % below "
                f"{of_declared}, that of the declared {self.declared:,.10g}."
            )
        return (
            f"Of these upper bounds, {best:,.10g} has the least error of all records, "
            f"{show_quantity(least, unit)}; {self.declared:,.10g}, which is declared, has "
            f"{of_declared}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """That bounds must not be chosen here, and what is simulated."""
        known = [error for row in self.errors for error in row if error is not None]
        drawn = [error for error in known if error.method == "simulated"]
        caution = f"{NOT_FROM_DATA[:1].upper()}{NOT_FROM_DATA[1:]}, and to look here is to do so."
        if not drawn:
            return (caution,)
        share = f"{len(drawn)} of these {len(known)} errors are simulated"
        return caution, f"{share}, with {drawn[0].runs} runs each, to be quick."

    def tables(self) -> Sequence[Table]:
        """Return one row for each upper bound."""
        unit = self.question.mechanism.unit
        in_per_cent = "%" if unit == "%" else ""
        fields = (
            Field("upper bound", "upper", "{:,.10g}".format, numeric=True),
            Field("records clamped", "clamped", "{:,}".format, numeric=True),
            Field(
                "bias by clamping", "clamping", lambda v: show_part(v, in_per_cent), numeric=True
            ),
            *(
                Field(
                    f"error, {omission}",
                    "error" if not number else f"error_{number}",
                    lambda value: show_quantity(value, unit),
                    numeric=True,
                )
                for number, omission in enumerate(self.omissions)
            ),
        )
        values = [[None if e is None else e.value for e in errors] for errors in self.errors]
        rows = zip(self.uppers, self.clamped, self.clamping, *values, strict=True)
        return (Table("bounds", self.heading, fields, tuple(rows)),)

    @property
    def heading(self) -> str:
        """The mechanism, the data and the guarantee."""
        question = self.question
        of = f"{question.mechanism} of {question.data.name}"
        return f"{of}, {question.guarantee}: error over the upper bound"

    def figures(self) -> Mapping[str, Drawing]:
        """Return the errors over the upper bound."""
        return {"bounds": self._draw}

    def _draw(self, axes: Axes) -> None:
        uppers = as_array(self.uppers)
        _scale_uppers(axes, uppers, self.question.data.bounds[0])
        for number, (omission, errors) in enumerate(zip(self.omissions, self.errors, strict=True)):
            values = [np.nan if error is None else error.value for error in errors]
            axes.plot(uppers, values, label=str(omission), **series_style(number, markers=True))
        bias = np.abs(self.clamping)
        if self.question.mechanism.unit != "%":
            bias = bias**2
        bias[bias == 0] = np.nan
        axes.plot(uppers, bias, ":", color="#08306b", linewidth=2, label="clamping alone")
        axes.axvline(self.declared, color="0.6", linewidth=1)
        axes.annotate(
            " declared", (self.declared, 0.98), xycoords=("data", "axes fraction"), va="top"
        )
        _scale_errors(axes)
        metric, unit = self.question.mechanism.metric_name, self.question.mechanism.unit
        axes.set_ylabel(f"expected {metric}, {unit}" if unit == "%" else metric)
        axes.set_xlabel(f"upper bound of {self.question.data.name}", parse_math=False)
        axes.set_title(self.heading.partition(":")[0], fontsize=10, parse_math=False)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)


def _scale_uppers(axes: Axes, uppers: FloatArray, lower: float) -> None:
    """Let upper bounds have a logarithmic axis, unless they may be negative.

    Before anything is drawn: limits of its own would be one number where bounds are far from 0.
    """
    if lower < 0:
        margin = 0.05 * float(uppers[-1] - uppers[0])
        axes.set_xlim(uppers[0] - margin, uppers[-1] + margin)
    else:
        axes.set_xlim(uppers[0] / 1.1, uppers[-1] * 1.1)
        axes.set_xscale("log")
        few_plain_numbers(axes.xaxis)
    axes.xaxis.set_major_formatter(plainly)


def _scale_errors(axes: Axes) -> None:
    """Let errors that have logarithms have a logarithmic axis."""
    if axes.dataLim.y0 > 0:
        axes.set_yscale("log")
        few_plain_numbers(axes.yaxis)
    axes.yaxis.set_major_formatter(plainly)


def depends_on_bounds(question: Question) -> bool:
    """Tell whether other bounds change the error: of numbers, but no count and no proportion.

    Not of a column in bins, which other bounds may cut.
    """
    data, mechanism = question.data, question.mechanism
    if not isinstance(data, Column | WeightedColumn) or data.bounds is None or data.is_binned:
        return False
    is_number = isinstance(mechanism, NumberMechanism) and mechanism.statistic != "count"
    is_indicator = isinstance(data, Column) and data.step == 1 and data.bounds == (0, 1)
    return is_number and not is_indicator and data.bounds[0] < data.bounds[1]


def sweep_bounds(
    question: Question,
    omission: Omission | None = None,
    advance: Callable[[], None] = lambda: None,
    cores: int = 1,
) -> BoundsSweep:
    """Return the errors over the upper bound, of all records and after an omission.

    `advance` is called after each error, at most `sweep_size` times. With several cores,
    processes more take part once that pays.

    Raises
    ------
    InvalidInput
        If the error does not depend on bounds.
    """
    if isinstance(question.data, Column):
        question.data.require_values("the error over other bounds")
    if not depends_on_bounds(question):
        raise InvalidInput(
            f"The error of {question.mechanism} of {question.data.name} does not depend on an "
            "upper bound; a mean, a sum, a variance or a quantile of numbers has one that does."
        )
    omissions = (NoOmission(),) if omission is None else (NoOmission(), omission)
    quick = replace(
        question,
        method="auto" if question.method == "exact" else question.method,
        runs=min(question.runs, _RUNS),
        tolerance=1e-6,
        details=False,
        quick=True,
    )
    settings = {}
    for upper in upper_bounds(_numbers(question.data)):
        with suppress(InvalidInput):  # too far from 0, or too near to the lower one
            settings[upper] = _with_upper(quick, upper).setting(NoOmission())
    uppers = tuple(settings)
    tasks = [(upper, omission) for omission in omissions for upper in uppers]
    found: dict[int, ExpectedError | None] = {}
    for number, error in shared_out(partial(_error_at, quick), tasks, cores):
        found[number] = error
        advance()
    errors = tuple(
        tuple(found[row * len(uppers) + number] for number in range(len(uppers)))
        for row in range(len(omissions))
    )
    clamping = tuple(setting.prepared.clamping for setting in settings.values())
    clamped = tuple(setting.question.data.clamped for setting in settings.values())
    return BoundsSweep(question, uppers, omissions, errors, clamping, clamped)


def sweep_size(question: Question) -> int:
    """Return how many errors a sweep computes at most: with an omission; 0 if there is none."""
    return 2 * len(upper_bounds(_numbers(question.data))) if depends_on_bounds(question) else 0


def upper_bounds(data: Numbers) -> tuple[float, ...]:
    """Return upper bounds around the declared one, also beyond the largest value.

    Their distances from the lower bound have two digits, or are multiples of a declared step.

    Examples
    --------
    >>> upper_bounds(Column.from_values([10, 20, 5000], bounds=(0, 100)))
    (25.0, 35.0, 50.0, 71.0, 100.0, 320.0, 1000.0, 3200.0, 10000.0)
    """
    lower, upper = _bounds(data)
    width = upper - lower
    end = max(_FARTHEST * width, 2 * (_bounds(data.before_clamping)[1] - lower))
    below = np.geomspace(width / _FARTHEST, width, _STEPS + 1)[:-1]
    above = np.geomspace(width, end, _STEPS + 1)[1:]
    widths = [float(f"{each:.2g}") for each in (*below, *above)]
    step = data.step if isinstance(data, Column) else None
    if step is not None:
        widths = [max(round(each / step), 1) * step for each in widths]
    return tuple(sorted({upper, *(lower + each for each in widths)}))


def _with_upper(question: Question, upper: float) -> Question:
    data = _numbers(question.data)
    return replace(question, data=data.with_bounds((_bounds(data)[0], upper)))


def _numbers(data: Data) -> Numbers:
    assert isinstance(data, Column | WeightedColumn)
    return data


def _bounds(data: Numbers) -> tuple[float, float]:
    assert data.bounds is not None
    return data.bounds


def _error_at(question: Question, task: tuple[float, Omission]) -> ExpectedError | None:
    upper, omission = task
    try:
        return _with_upper(question, upper).error(omission)
    except (Unattainable, InvalidInput):
        return None
