"""Planning a partition: how large the blocks are, how exact the answers, what delta it costs.

And what differential privacy would allow instead: Gaussian noise of the same standard deviation on
answers from the whole database, at the same epsilon and delta. Numbers of queries are counted
twice, by the formula that fits the paper's tables, and exactly. Exactly means: `k` queries with
noise of standard deviation `sigma` on a share, which one entry changes by `1 / n`, are together
one Gaussian mechanism with `mu = sqrt(k) / (n sigma)`. These are two different promises side by
side, not one converted into the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE
from omit._text import promised, rounded_up
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import REPLACE, Guarantee, NoGuarantee
from omit.laws.inversion import last_integer
from omit.laws.noise import Gaussian
from omit.report.page import Card, Point
from omit.report.result import Ends, Field, Result, Table
from omit.statistical.assumptions import importances, property_probabilities
from omit.statistical.curve import NOT_DIFFERENTIAL, PrivacyCurve, StatisticalGuarantee
from omit.statistical.partition import Partition

# Rounding may not cost a query that fits exactly.
_EDGE = 1e-9
# Beyond, planning takes minutes.
MOST_QUERIES = 20_000
_LARGEST_EPSILON = 1e6


@dataclass(frozen=True)
class DpComparison:
    """How many queries differential privacy allows at the same error, epsilon and delta.

    Attributes
    ----------
    delta
        At which delta.
    paper
        By the formula of the paper's tables, a sufficient condition.
    exact
        By exact accounting of Gaussian noise; for unequal errors, how many queries of the plan's
        kind, in the proportions of the plan.
    """

    delta: float
    paper: int
    exact: int

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of queries with the delta that they are for."""
        return {
            "delta": self.delta,
            "queries_by_the_paper": self.paper,
            "queries_exactly": self.exact,
        }


@dataclass(frozen=True)
class Plan(Result):
    """A partition with its accuracy, its delta by the theorem and exactly, and DP next to it.

    Attributes
    ----------
    partition
        The blocks.
    probabilities
        Of the properties that queries ask for.
    epsilon
        For which the plan was made.
    theorem
        Delta by Theorem 5.1.
    exact
        Delta exactly, or None unless all blocks are known to answer the same property.
    """

    partition: Partition
    probabilities: tuple[float, ...]
    epsilon: float
    theorem: float
    exact: float | None
    assumption: str

    command: ClassVar[str] = "partition plan"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of all answers together",
        "delta": "of all answers together",
        "queries": "their number",
        "standard_error": "of every answer, as a share",
    }
    warning: ClassVar[str | None] = NOT_DIFFERENTIAL

    @property
    def standard_errors(self) -> tuple[float, ...]:
        """Of the answers, as shares, against the whole database."""
        return self.partition.standard_errors(self.probabilities)

    @cached_property
    def dp_at_theorem(self) -> DpComparison | None:
        """What differential privacy allows at the delta of the theorem."""
        return compare_with_dp(self.partition.n, self.standard_errors, self.epsilon, self.theorem)

    @cached_property
    def dp_at_exact(self) -> DpComparison | None:
        """What differential privacy allows at the exact delta, if that is known."""
        if self.exact is None:
            return None
        return compare_with_dp(self.partition.n, self.standard_errors, self.epsilon, self.exact)

    @property
    def guarantee(self) -> StatisticalGuarantee | NoGuarantee:
        """The best promise: exact where all blocks answer the same property."""
        delta = self.theorem if self.exact is None else self.exact
        if delta >= 1:
            return NoGuarantee(f"delta is 1 at epsilon = {self.epsilon:g}.")
        return StatisticalGuarantee(self.epsilon, delta, self.assumption)

    @property
    def verdict(self) -> str:
        """What is promised for all answers together."""
        count = len(self.partition.sizes)
        asked = "1 query" if count == 1 else f"{count:,} queries"
        if isinstance(self.guarantee, NoGuarantee):
            return f"{asked} on {self.partition.n:,} entries: {self.guarantee}"
        delta = rounded_up(self.guarantee.delta, 6)
        pair = f"({promised(self.epsilon)}, {delta})"
        return f"{asked} on {self.partition.n:,} entries are {pair}-statistically private together."

    @property
    def title(self) -> str:
        """What is planned."""
        return f"A partition for {len(self.partition.sizes):,} queries"

    @property
    def card(self) -> Card:
        """What is promised, how far off the answers are, and how to divide the entries."""
        promise, sizes = self.guarantee, sorted(set(self.partition.sizes))
        if isinstance(promise, NoGuarantee):
            promised_point = Point("nothing", promise.reason)
        else:
            promised_point = Point(
                f"ε = {promised(promise.epsilon)}, δ = {rounded_up(promise.delta, 3)}",
                "To an adversary who knows the distribution, but no entry, all answers together "
                f"keep this: {promise.assumption}.",
            )
        entries = f"{sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "")
        return Card(
            promised_point,
            Point(
                f"± {max(self.standard_errors):.3g}",
                "The largest standard error of an answer, as a share: it is that of a block, and "
                "not of all entries.",
            ),
            Point(
                f"{len(self.partition.sizes):,} blocks",
                f"Divide the entries at random and in secret into blocks of {entries}, and ask "
                "every block one query, exactly.",
            ),
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the promise, how many queries there are, and how far off their answers are."""
        promise, count = self.guarantee, float(len(self.partition.sizes))
        pair: tuple[Ends | None, Ends | None] = (None, None)
        if isinstance(promise, StatisticalGuarantee):
            pair = (promise.epsilon, promise.epsilon), (promise.delta, promise.delta)
        return {
            "epsilon": [pair[0]],
            "delta": [pair[1]],
            "queries": [(count, count)],
            "standard_error": [(error, error) for error in self.standard_errors],
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """The assumption, and how delta might be smaller."""
        assuming = f"Assuming {self.assumption}."
        if self.exact is not None:
            return (assuming,)
        return (
            assuming,
            "For different properties only the theorem holds; if all blocks answer the same "
            "property (--same-property), the exact δ is known and smaller.",
        )

    def tables(self) -> Sequence[Table]:
        """Return the blocks, and what differential privacy allows at the same error."""
        kinds = Counter(
            zip(self.partition.sizes, self.probabilities, self.standard_errors, strict=True)
        )
        blocks = Table(
            "blocks",
            "Blocks",
            (
                Field("blocks", "blocks", "{:,}".format, numeric=True),
                Field("entries per block", "entries", "{:,}".format, numeric=True),
                Field("p", "p", repr, numeric=True),
                Field("standard error", "standard_error", "{:.4g}".format, numeric=True),
            ),
            tuple((number, *kind) for kind, number in kinds.items()),
        )
        deltas = [("Theorem 5.1", self.theorem, self.dp_at_theorem)]
        if self.exact is not None:
            deltas.append(("exact", self.exact, self.dp_at_exact))
        count = len(self.partition.sizes)
        comparison = Table(
            "with_dp",
            "At the same error, ε and δ",
            (
                Field("δ by", "method"),
                Field("δ", "delta", lambda delta: rounded_up(delta, 6), numeric=True),
                Field("queries", "queries", "{:,}".format, numeric=True),
                Field("DP by formula", "dp_by_the_paper", "{:,}".format, numeric=True),
                Field("DP exactly", "dp_exactly", "{:,}".format, numeric=True),
            ),
            tuple(
                (name, delta, count, dp and dp.paper, dp and dp.exact) for name, delta, dp in deltas
            ),
        )
        return [blocks, comparison]

    def to_json(self) -> dict[str, Any]:
        """Return the plan block by block."""
        return {
            "n": self.partition.n,
            "epsilon": self.epsilon,
            "queries": len(self.partition.sizes),
            "block_sizes": list(self.partition.sizes),
            "probabilities": list(self.probabilities),
            "standard_errors": list(self.standard_errors),
            "delta_theorem_5_1": self.theorem,
            "delta_exact": self.exact,
            "dp_at_theorem_delta": self.dp_at_theorem and self.dp_at_theorem.to_json(),
            "dp_at_exact_delta": self.dp_at_exact and self.dp_at_exact.to_json(),
            "assumption": self.assumption,
        }


def plan(
    n: int,
    queries: int,
    epsilon: float,
    *,
    p: float | Sequence[float] = 0.5,
    importance: Sequence[float] | None = None,
    same_property: bool = False,
) -> Plan:
    """Plan a partition for property queries.

    Different properties of the same probability tell more than one property asked of every block:
    delta is then only known to be at most that of Theorem 5.1. So the exact delta, which is
    smaller, has to be asked for.

    Parameters
    ----------
    n, queries : int
        Entries of the database, and how many queries.
    epsilon : float
        At which delta is wanted.
    p : float or sequence of float
        Probability of the property, of all queries or one per query.
    importance : sequence of float, optional
        Weights of the squared errors, one per query; all alike if not given.
    same_property : bool
        Whether all queries ask for one and the same property, as one query always does.

    Raises
    ------
    InvalidInput
        If a value is out of range, there are more queries than entries, or the same property is
        said to have different probabilities.

    Examples
    --------
    >>> blocks = plan(32768, 64, 0.01, same_property=True)
    >>> blocks.partition.sizes[0], round(blocks.theorem, 6), round(blocks.exact, 6)
    (512, 0.030651, 0.001105)
    >>> blocks.dp_at_theorem
    DpComparison(delta=0.030650..., paper=5, exact=4037)
    >>> blocks.dp_at_exact.exact
    63
    """
    epsilon = _checked_epsilon(epsilon)
    count = _validate.positive_integer("queries", queries, most=MOST_QUERIES)
    chances, weights = property_probabilities(p, count), importances(importance, count)
    same_property = _validate.flag("same_property", same_property)
    if same_property and len(set(chances)) > 1:
        raise InvalidInput("Expected one probability for one property asked of every block.")
    partition = Partition.by_importance(n, weights, chances)
    bound = partition.property_bound(chances, epsilon)
    if not same_property and count > 1:
        return Plan(partition, chances, epsilon, _not_zero(bound), None, bound.assumption)
    exact = partition.property_exact(chances[0], epsilon)
    deltas = _not_zero(bound), _not_zero(exact)
    return Plan(partition, chances, epsilon, *deltas, exact.assumption)


def _checked_epsilon(value: float) -> float:
    epsilon = _validate.epsilon(value)
    if epsilon > _LARGEST_EPSILON:
        raise InvalidInput(
            f"Expected epsilon={epsilon:g} to be at most {_LARGEST_EPSILON:,.0f}: a larger one "
            "protects nobody."
        )
    return epsilon


def _not_zero(curve: PrivacyCurve) -> float:
    """Return the delta of a curve at its only epsilon.

    That all entries have the property tells the critical one's, so delta is not zero however small.
    """
    return max(float(curve.delta[0]), SMALLEST_POSITIVE)


def compare_with_dp(
    n: int, standard_errors: Sequence[float], epsilon: float, delta: float
) -> DpComparison | None:
    """Return how many queries DP allows with these errors, or None where that is no question.

    Examples
    --------
    >>> compare_with_dp(1024, [0.0869], 0.05, 0.1214)
    DpComparison(delta=0.1214, paper=2, exact=...)
    """
    if not 0 < delta < 1 or epsilon <= 0:
        return None
    if min(standard_errors) == 0:
        # An answer without any error needs a budget without end.
        return DpComparison(delta, 0, 0)
    return DpComparison(
        delta,
        paper_dp_queries(n, _typical(standard_errors), epsilon, delta),
        exact_dp_queries(n, _typical(standard_errors), epsilon, delta),
    )


def _typical(standard_errors: Sequence[float]) -> float:
    """Return the error that, in every query, would cost as much as these together."""
    cost = math.fsum(1 / error**2 for error in standard_errors)
    return math.sqrt(len(standard_errors) / cost)


def paper_dp_queries(n: int, standard_error: float, epsilon: float, delta: float) -> int:
    """Return the number of DP queries by the formula of the paper's tables.

    `floor(sigma^2 epsilon^2 n^2 / (8 ln(e + epsilon / delta)))`, which was inferred from the tables
    (Kairouz, Oh and Viswanath's sufficient condition for Gaussian noise).

    Examples
    --------
    >>> paper_dp_queries(32768, 0.0441, 0.02, 0.0617)
    93
    """
    return math.floor(
        standard_error**2 * epsilon**2 * n**2 / (8 * math.log(math.e + epsilon / delta))
    )


def exact_dp_queries(n: int, standard_error: float, epsilon: float, delta: float) -> int:
    """Return the largest number of Gaussian queries that are (epsilon, delta)-DP together.

    Under replace, where one entry changes a share by `1 / n` (L2 sensitivity `sqrt(k) / n` of `k`
    shares).

    Examples
    --------
    >>> exact_dp_queries(32768, 0.021923855, 0.01, 0.030650949)
    4037
    """
    scale = Gaussian.calibrated(Guarantee(epsilon, delta, REPLACE), 1.0).scale
    count = math.floor((n * standard_error / scale) ** 2 * (1 + _EDGE))

    def fits(queries: int) -> bool:
        shift = math.sqrt(queries) / n
        return Gaussian(standard_error).precise_delta(epsilon, shift) <= delta

    # The inverse is rounded to the safe side; the curve itself decides at the edge, which is
    # far away in single steps where the queries are very many.
    return last_integer(fits, 0, start=count)


def most_queries(n: int, epsilon: float, delta: float, *, p: float = 0.5) -> int:
    """Return the largest number of equal blocks whose delta by Theorem 5.1 is at most `delta`.

    Up to `MOST_QUERIES`; `Unattainable` if even one query on all entries has a larger delta.

    Examples
    --------
    >>> most_queries(32768, 0.01, 0.0307)
    64
    """
    epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
    n = _validate.positive_integer("n", n)

    def cost(count: int) -> float:
        return float(Partition.equal(n, count).property_bound(p, epsilon).delta[0])

    if cost(1) > delta:
        raise Unattainable(
            f"Even one query on all {n:,} entries has delta = {cost(1):.4g} at epsilon = "
            f"{epsilon:g}; increase delta or add noise."
        )
    return last_integer(lambda count: cost(count) <= delta, 1, min(n, MOST_QUERIES) + 1)
