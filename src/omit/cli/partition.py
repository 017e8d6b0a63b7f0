"""`omit partition`: queries on secret random blocks, planned and answered."""

from collections.abc import Sequence
from decimal import ROUND_UP
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit._text import rounded_up, show_number
from omit.cli.bounds import numbers, pair_of_numbers
from omit.cli.options import Json
from omit.cli.printing import print_json
from omit.cli.statistical import WARNING, Size, print_columns, seeded

if TYPE_CHECKING:
    from omit._numeric import FloatArray
    from omit.guarantee import NoGuarantee
    from omit.statistical.curve import StatisticalGuarantee
    from omit.statistical.planner import DpComparison, Plan

partition_app = typer.Typer(
    help="Answer several queries, each on its own secret random block of the database.",
    no_args_is_help=True,
)

Importance = Annotated[
    str | None, typer.Option(help="Weights of the squared errors, one for each: 4,1,1,...")
]


@partition_app.callback()
def _partitions() -> None:
    """Answer several queries, each on its own secret random block of the database."""


@partition_app.command("plan")
def plan_(
    n: Size,
    epsilon: Annotated[float, typer.Option(help="Epsilon, above 0.")],
    queries: Annotated[int | None, typer.Option(help="How many queries.")] = None,
    delta: Annotated[
        float | None, typer.Option(help="Instead: as many as Theorem 5.1 allows at this delta.")
    ] = None,
    p: Annotated[
        str, typer.Option("--p", help="Probability of the property, or one for each: 0.5,0.1,...")
    ] = "0.5",
    importance: Importance = None,
    same_property: Annotated[
        bool,
        typer.Option(
            "--same-property",
            help="All queries ask for one and the same property: delta is known exactly.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Block sizes, accuracy, delta by the theorem and exactly, and what DP allows instead."""
    from omit.errors import InvalidInput
    from omit.statistical.planner import most_queries, plan

    chances, weights = numbers("p", p), numbers("importance", importance or "")
    if (queries is None) == (delta is None):
        raise InvalidInput("Expected either --queries or --delta.")
    if delta is not None:
        if len(chances) != 1 or weights:
            raise InvalidInput("With --delta, expected one --p and no --importance.")
        queries = most_queries(n, epsilon, delta, p=chances[0])
    assert queries is not None
    found = plan(
        n,
        queries,
        epsilon,
        p=chances,
        importance=weights or None,
        same_property=same_property,
    )
    if json:
        print_json(_plan_as_json(found))
        return
    _show_plan(found)


@partition_app.command()
def answer(
    source: Annotated[str, typer.Argument(help="A registered data set or a file.")],
    column: Annotated[str, typer.Option(help="The column to ask about.")],
    query: Annotated[
        list[str],
        typer.Option(help="mean, sum, median, share:>=X, share:<=X or share:=X; repeat."),
    ],
    bounds: Annotated[
        str | None, typer.Option(help="Declared bounds of the values.", metavar="LOWER UPPER")
    ] = None,
    importance: Importance = None,
    epsilon: Annotated[float | None, typer.Option(help="For a guarantee: epsilon.")] = None,
    p: Annotated[
        str | None,
        typer.Option("--p", help="For a guarantee: declared probabilities of the shares."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="For tests only: whoever knows it knows the partition.")
    ] = None,
    json: Json = False,
) -> None:
    """Split the records at random and answer each query on its own block."""
    from omit.errors import InvalidInput
    from omit.statistical.partition import Partition

    if (epsilon is None) != (p is None):
        raise InvalidInput("A guarantee needs --epsilon and --p, the declared probabilities.")
    functions = [_query(text) for text in query]
    if p is not None and not all(text.strip().startswith("share:") for text in query):
        raise InvalidInput("Probabilities can be declared for shares only.")
    chances = numbers("p", p) if p is not None else (0.5,)
    weights = numbers("importance", importance) if importance else (1.0,) * len(query)
    if len(weights) != len(query):
        raise InvalidInput(f"Expected one importance for each of {len(query)} queries.")
    rng = seeded(seed)
    name, records = _records(source, column, bounds)
    blocks = Partition.by_importance(len(records), weights, chances)
    answers = blocks.answer(records, functions, rng)
    promise = None
    if epsilon is not None:
        promise = blocks.property_bound(chances, epsilon).guarantee(epsilon)
    found = list(zip(query, blocks.sizes, answers, strict=True))
    if not json:
        _show_answers(name, blocks.n, found, promise)
        return
    content = {
        "command": "partition answer",
        "n": blocks.n,
        "answers": [
            {"query": text, "entries": size, "answer": value} for text, size, value in found
        ],
        "statistical_guarantee": None if promise is None else str(promise),
        "private": _is_promised(promise),
    }
    print_json(content)


def _records(source: str, column: str, bounds: str | None) -> "tuple[str, FloatArray]":
    """Return the name of a column and its numbers, one for each record."""
    import numpy as np

    from omit.data.reading import read
    from omit.errors import InvalidInput

    data = read(source, column, bounds=pair_of_numbers(bounds) if bounds else None)
    if data.is_text:
        raise InvalidInput(f"Expected a column of numbers, {column!r} has categories.")
    # The order of the records is not kept by the column, and the partition draws its own.
    return data.name, np.repeat(data.values.astype(np.float64), data.counts)


def _is_promised(promise: "StatisticalGuarantee | NoGuarantee | None") -> bool:
    from omit.statistical.curve import StatisticalGuarantee

    return isinstance(promise, StatisticalGuarantee)


def _show_answers(
    name: str,
    n: int,
    found: Sequence[tuple[str, int, float]],
    promise: "StatisticalGuarantee | NoGuarantee | None",
) -> None:
    if not _is_promised(promise):
        typer.echo(_not_private(name, n, found))
    rows = [[text, f"{size:,}", f"{value:.6g}"] for text, size, value in found]
    print_columns(f"{name}: each query on its own block", ["query", "entries", "answer"], rows)
    if promise is None:
        typer.echo(
            "No guarantee is stated: declare the probabilities of the shares with --p and an "
            "--epsilon."
        )
        return
    typer.echo(f"Together: {promise} (Theorem 5.1).")
    typer.echo(WARNING)


def _not_private(name: str, n: int, found: Sequence[tuple[str, int, float]]) -> str:
    """Say what answers without a promise are: the data's own, of all records or of some."""
    if len(found) == 1 and found[0][1] == n:
        return (
            f"NOT private, for the curator's eyes only: this is the {_words(found[0][0])} of "
            f"{name} itself, of all {n:,} records and without noise."
        )
    return (
        "NOT private, for the curator's eyes only: the answers are those of the records "
        f"themselves, of {name} without noise."
    )


def _words(query: str) -> str:
    return "share" if query.startswith("share:") else query


def _query(text: str) -> Any:
    import numpy as np

    from omit.errors import InvalidInput

    plain = {"mean": np.mean, "sum": np.sum, "median": np.median}
    if text in plain:
        return plain[text]
    for sign, compare in (
        (">=", np.greater_equal),
        ("<=", np.less_equal),
        ("=", np.equal),
    ):
        if text.startswith(f"share:{sign}"):
            limit = numbers("query", text.removeprefix(f"share:{sign}"))
            if len(limit) == 1 and not np.isnan(limit[0]):
                return lambda block, c=compare, x=limit[0]: float(np.mean(c(block, x)))
    raise InvalidInput(
        f"Expected query={text!r} to be mean, sum, median, share:>=X, share:<=X or share:=X; "
        "queries on a partition have to be symmetric."
    )


def _plan_as_json(found: "Plan") -> dict[str, Any]:
    def dp(comparison: "DpComparison | None") -> dict[str, Any] | None:
        if comparison is None:
            return None
        return {
            "delta": comparison.delta,
            "queries_by_the_paper": comparison.paper,
            "queries_exactly": comparison.exact,
        }

    return {
        "command": "partition plan",
        "n": found.partition.n,
        "epsilon": found.epsilon,
        "queries": len(found.partition.sizes),
        "block_sizes": list(found.partition.sizes),
        "probabilities": list(found.probabilities),
        "standard_errors": list(found.standard_errors),
        "delta_theorem_5_1": found.theorem,
        "delta_exact": found.exact,
        "dp_at_theorem_delta": dp(found.dp_at_theorem),
        "dp_at_exact_delta": dp(found.dp_at_exact),
        "assumption": found.assumption,
    }


def _show_plan(found: "Plan") -> None:
    from collections import Counter

    count = len(found.partition.sizes)
    asked = "1 query" if count == 1 else f"{count:,} queries"
    title = f"{asked} on {found.partition.n:,} entries, ε = {show_number(found.epsilon, ROUND_UP)}"
    kinds = Counter(
        zip(found.partition.sizes, found.probabilities, found.standard_errors, strict=True)
    )
    rows = [
        [f"{number:,}", f"{size:,}", f"{p!r}", f"{error:.4g}"]
        for (size, p, error), number in kinds.items()
    ]
    print_columns(title, ["blocks", "entries each", "p", "standard error"], rows)
    typer.echo()
    comparisons = [("Theorem 5.1", found.theorem, found.dp_at_theorem)]
    if found.exact is not None:
        comparisons.append(("exact", found.exact, found.dp_at_exact))
    rows = [
        [
            name,
            rounded_up(delta, 6),
            f"{count:,}",
            "-" if dp is None else f"{dp.paper:,}",
            "-" if dp is None else f"{dp.exact:,}",
        ]
        for name, delta, dp in comparisons
    ]
    headings = ["δ by", "δ", "queries", "DP by formula", "DP exactly"]
    print_columns("At the same error, ε and δ", headings, rows)
    typer.echo(f"assuming {found.assumption}")
    if found.exact is None:
        typer.echo(
            "For different properties only the theorem holds; if all blocks answer the same "
            "property, --same-property gives the exact δ, which is smaller."
        )
    typer.echo(WARNING)
