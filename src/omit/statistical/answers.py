"""Queries by name on the blocks of a partition, and their answers with what is promised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from omit import _validate
from omit._numeric import FloatArray
from omit._text import promised, rounded_up
from omit._validate import shown
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import NoGuarantee
from omit.report.page import Card, Point
from omit.report.result import Ends, Field, Result, Table
from omit.statistical.assumptions import importances
from omit.statistical.curve import NOT_DIFFERENTIAL, StatisticalGuarantee
from omit.statistical.partition import Partition

_STATISTICS: dict[str, Callable[[FloatArray], Any]] = {
    "mean": np.mean,
    "sum": np.sum,
    "median": np.median,
}
_COMPARISONS = {">=": np.greater_equal, "<=": np.less_equal, "=": np.equal}


def named_query(text: str) -> Callable[[FloatArray], float]:
    """Return the query that a text such as `mean` or `share:>=40` stands for.

    Raises
    ------
    InvalidInput
        If it stands for none.

    Examples
    --------
    >>> named_query("share:>=2")(np.array([1.0, 2.0, 3.0, 4.0]))
    0.75
    """
    _validate.text("query", text)
    if text in _STATISTICS:
        statistic = _STATISTICS[text]
        return lambda block: float(statistic(block))
    for sign, compare in _COMPARISONS.items():
        if text.startswith(f"share:{sign}"):
            limit = _number(text.removeprefix(f"share:{sign}"))
            if limit is not None:
                return partial(_share, compare, limit)
    raise InvalidInput(
        f"Expected query={shown(text)} to be mean, sum, median, share:>=X, share:<=X or share:=X; "
        "queries on a partition have to be symmetric."
    )


def _share(compare: Callable[..., Any], limit: float, block: FloatArray) -> float:
    return float(np.mean(compare(block, limit)))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if np.isnan(number) else number


@dataclass(frozen=True)
class PartitionAnswers(Result):
    """The answers of queries, one on every block, and the promise for all of them, if any.

    `n` is the number of records; `guarantee` is None where no probabilities were declared.
    """

    name: str
    n: int
    queries: tuple[str, ...]
    sizes: tuple[int, ...]
    answers: tuple[float, ...]
    guarantee: StatisticalGuarantee | NoGuarantee | None

    command: ClassVar[str] = "partition answer"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of all answers together",
        "delta": "of all answers together",
    }
    warning: ClassVar[str | None] = None

    @property
    def is_promised(self) -> bool:
        """Whether there is a guarantee."""
        return isinstance(self.guarantee, StatisticalGuarantee)

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the promise, if there is one."""
        promise = self.guarantee
        if not isinstance(promise, StatisticalGuarantee):
            return {"epsilon": [None], "delta": [None]}
        epsilon, delta = promise.epsilon, promise.delta
        return {"epsilon": [(epsilon, epsilon)], "delta": [(delta, delta)]}

    @property
    def preface(self) -> str | None:
        """That answers without a promise are the data's own, of all records or of some."""
        if self.is_promised:
            return None
        whose = f"the answers are those of the records themselves, of {self.name} without noise."
        if self.sizes == (self.n,):
            what = "share" if self.queries[0].startswith("share:") else self.queries[0]
            whose = (
                f"this is the {what} of {self.name} itself, of all {self.n:,} records and without "
                "noise."
            )
        return f"NOT private, for the curator's eyes only: {whose}"

    @property
    def verdict(self) -> str:
        """What is promised for all answers together."""
        if self.guarantee is None:
            return (
                "No guarantee is stated: declare the probabilities of the shares with --p and an "
                "--epsilon."
            )
        return f"Together: {self.guarantee} (Theorem 5.1)."

    @property
    def card(self) -> Card:
        """What is promised for all answers together, how far they reach, and what to do."""
        promise, smallest = self.guarantee, min(self.sizes)
        if isinstance(promise, StatisticalGuarantee):
            kept = Point(
                f"ε = {promised(promise.epsilon)}, δ = {rounded_up(promise.delta, 3)}",
                f"For all answers together: {promise.assumption}.",
            )
            todo = Point(
                "publish the answers",
                "Publish the answers and not the blocks: who learns which records were in which "
                "block is promised nothing here.",
            )
        else:
            kept = Point("nothing", self.verdict if promise is None else str(promise))
            todo = Point(
                "keep them",
                "Keep these answers: declare the probabilities of the shares and an epsilon, or "
                "add noise.",
            )
        lost = f"Every answer is that of one block and not of all {self.n:,} records."
        if self.sizes == (self.n,):
            lost = "The answer is that of all records."
        return Card(kept, Point(f"{smallest:,} entries at least", lost), todo)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a promise rests on."""
        return () if self.guarantee is None else (NOT_DIFFERENTIAL,)

    def tables(self) -> Sequence[Table]:
        """Return the answers with the sizes of their blocks."""
        title = f"{self.name}: every query on a block of its own"
        fields = (
            Field("query", "query"),
            Field("entries", "entries", "{:,}".format, numeric=True),
            Field("answer", "answer", "{:.6g}".format, numeric=True),
        )
        rows = tuple(zip(self.queries, self.sizes, self.answers, strict=True))
        return [Table("answers", title, fields, rows)]

    def to_json(self) -> dict[str, Any]:
        """Return the answers, and the promise in words."""
        return {
            "n": self.n,
            "answers": self.tables()[0].records(),
            "statistical_guarantee": None if self.guarantee is None else str(self.guarantee),
            "has_guarantee": self.is_promised,
        }


def answer_queries(
    column: Column,
    queries: Sequence[str],
    rng: np.random.Generator,
    *,
    importance: Sequence[float] | None = None,
    p: Sequence[float] | None = None,
    epsilon: float | None = None,
) -> PartitionAnswers:
    """Split the records of a column at random and answer every query on a block of its own.

    Parameters
    ----------
    column : Column
        Numbers.
    queries : sequence of str
        As `named_query` reads them.
    rng : numpy Generator
        Draws the partition; whoever can repeat it knows the partition.
    importance : sequence of float, optional
        Weights of the squared errors, one per query; all alike if not given.
    p, epsilon : optional
        For a guarantee: the declared probabilities of the shares, and the epsilon.

    Raises
    ------
    InvalidInput
        If a query has no name, the column is no numbers, or what is declared does not fit.
    """
    if (epsilon is None) != (p is None):
        raise InvalidInput("A guarantee needs --epsilon and --p, the declared probabilities.")
    _validate.instance("column", column, Column)
    queries = _validate.texts("queries", queries)
    functions = [named_query(text) for text in queries]
    if p is not None and not all(text.startswith("share:") for text in queries):
        raise InvalidInput("Probabilities can be declared for shares only.")
    weights = importances(importance, len(queries))
    if column.is_text:
        raise InvalidInput(f"Expected a column of numbers, {shown(column.name)} has categories.")
    chances = (0.5,) if p is None else _validate.several("probabilities", p)
    # The order of the records is not kept by the column, and the partition draws its own.
    records = np.repeat(column.values.astype(np.float64), column.counts)
    blocks = Partition.by_importance(len(records), weights, chances)
    answers = blocks.answer(records, functions, rng)
    guarantee = None
    if epsilon is not None:
        guarantee = blocks.property_bound(chances, epsilon).guarantee(epsilon)
    return PartitionAnswers(
        column.name, blocks.n, tuple(queries), blocks.sizes, tuple(answers), guarantee
    )
