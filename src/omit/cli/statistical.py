"""`omit curve` and `omit partition`: statistical privacy on the command line."""

import json as json_format
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.progress import progress_bar

if TYPE_CHECKING:
    from numpy.random import Generator

    from omit.statistical.added_noise import AddedNoise
    from omit.statistical.distribution import Distribution
    from omit.statistical.guarantee import PrivacyCurve
    from omit.statistical.planner import DpComparison, Plan

curve = typer.Typer(
    help="Statistical privacy: delta for every epsilon, if only the distribution is known.",
    no_args_is_help=True,
)
partition = typer.Typer(
    help="Answer several queries, each on its own secret random block of the database.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Epsilons = Annotated[
    list[float] | None, typer.Option("--epsilon", help="Epsilon to evaluate; repeat for several.")
]
Known = Annotated[int, typer.Option(help="How many other entries the adversary knows.")]
NoiseText = Annotated[
    str | None,
    typer.Option(
        "--noise", help="Noise on the answer: laplace:S, gaussian:S or discrete-gaussian:S."
    ),
]
Output = Annotated[
    Path, typer.Option(help="Where to draw it; the ending decides: .svg, .png or .pdf.")
]
NoFigure = Annotated[bool, typer.Option("--no-figure", help="Draw nothing.")]
Size = Annotated[int, typer.Option("--n", help="Entries of the database.")]

WARNING = "Statistical privacy is not differential privacy: it rests on the assumption above."


@curve.callback()
def _curves() -> None:
    """Statistical privacy: delta for every epsilon, if only the distribution is known."""


@curve.command("property")
def property_(
    n: Annotated[int | None, typer.Option("--n", help="Entries of the database.")] = None,
    p: Annotated[float | None, typer.Option("--p", help="Probability of the property.")] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="SIZE:P, entries that are not alike; repeat, instead of --n and --p."),
    ] = None,
    known: Known = 0,
    noise: NoiseText = None,
    epsilon: Epsilons = None,
    output: Output = Path("curve.svg"),
    no_figure: NoFigure = False,
    json: Json = False,
) -> None:
    """How many entries have a property: the curve, and what known entries cost."""
    import math

    from omit.errors import InvalidInput
    from omit.statistical.distribution import checked_entries
    from omit.statistical.property import grouped_property_curve, property_curve

    added = _noise(noise)
    drawn = not (no_figure or json)
    if drawn:
        _require_figure(output)
    curves: dict[str, PrivacyCurve] = {}
    if group:
        if n is not None or p is not None:
            raise InvalidInput("Expected either --group or --n and --p, not both.")
        if known:
            raise InvalidInput("Expected groups of unknown entries only; leave known ones out.")
        groups = [_group(text) for text in group]
        spread = math.sqrt(sum(size * each * (1 - each) for size, each in groups))
        figure_at, shown_at = _epsilons(epsilon, spread, added)
        title = "property query on groups"

        def evaluate(at: Any) -> "PrivacyCurve":
            return grouped_property_curve(groups, at, noise=added)

    else:
        if n is None or p is None:
            raise InvalidInput("Expected --n and --p, or --group SIZE:P.")
        n, known = checked_entries(n, known)
        unknown = max(n - 1 - known, 1)
        spread = math.sqrt(max(unknown * p * (1 - p), 1e-12)) if 0 < p < 1 else 1.0
        figure_at, shown_at = _epsilons(epsilon, spread, added)
        title = f"property query on {n:,} entries, p = {p:g}"

        def evaluate(at: Any) -> "PrivacyCurve":
            return property_curve(n, p, at, known=known, noise=added)

        if known and drawn:
            curves["nothing known"] = property_curve(n, p, figure_at, noise=added)
    with progress_bar("evaluating the curve", None):
        shown = evaluate(shown_at)
        if drawn:
            curves = {**curves, f"{known:,} known" if known else "δ(ε)": evaluate(figure_at)}
    _show_curve(f"omit curve property: {title}", shown, json)
    if curves:
        _draw(output, title, curves)


@curve.command("sum")
def sum_(
    n: Size,
    values: Annotated[
        str | None, typer.Option(help="The distribution as VALUE:P,VALUE:P,...")
    ] = None,
    distribution: Annotated[
        Path | None, typer.Option(help="The same as a CSV file with columns value, probability.")
    ] = None,
    known: Known = 0,
    noise: NoiseText = None,
    epsilon: Epsilons = None,
    output: Output = Path("curve.svg"),
    no_figure: NoFigure = False,
    json: Json = False,
) -> None:
    """The sum of independent entries with a known distribution over numbers."""
    import math

    from omit.statistical.distribution import checked_entries
    from omit.statistical.sums import sum_curve

    n, known = checked_entries(n, known)
    law, added = _distribution(values, distribution), _noise(noise)
    if not (no_figure or json):
        _require_figure(output)
    width = float(law.values[-1] - law.values[0])
    spread = math.sqrt(max(n - 1 - known, 1) * law.variance) / width
    figure_at, shown_at = _epsilons(epsilon, spread, added, points=40)
    with progress_bar("summing entries", None):
        shown = sum_curve(law, n, shown_at, known=known, noise=added)
    title = f"sum of {n:,} entries"
    _show_curve(f"omit curve sum: {title}", shown, json)
    if not (no_figure or json):
        with progress_bar("drawing", None):
            drawn = sum_curve(law, n, figure_at, known=known, noise=added)
        _draw(output, title, {f"{known:,} known" if known else "δ(ε)": drawn})


@curve.command("sample")
def sample(
    n: Size,
    p: Annotated[float, typer.Option("--p", help="Probability of the property.")],
    technique: Annotated[
        str,
        typer.Option(
            "--sample", help="without-replacement:SIZE, poisson:RATE or with-replacement:SIZE."
        ),
    ],
    known: Known = 0,
    epsilon: Epsilons = None,
    seed: Annotated[int, typer.Option(help="Where the average has to be estimated.")] = 0,
    json: Json = False,
) -> None:
    """A property query on a sample: if the adversary learns who was drawn, and if not."""
    from omit.errors import InvalidInput
    from omit.statistical.sampling import (
        Poisson,
        SamplingTechnique,
        WithoutReplacement,
        WithReplacement,
    )

    name, _, number = technique.partition(":")
    try:
        way: SamplingTechnique
        if name == "poisson":
            way = Poisson(float(number))
        elif name == "with-replacement":
            way = WithReplacement(int(number))
        elif name == "without-replacement":
            way = WithoutReplacement(int(number))
        else:
            raise ValueError(name)
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(
            "Expected --sample without-replacement:SIZE, poisson:RATE or with-replacement:SIZE, "
            f"got {technique!r}."
        ) from error
    at = epsilon or [0.01, 0.1, 0.5, 1.0]
    rng = _rng(seed)
    with progress_bar("averaging over samples", None):
        # The secret curve first: where it is refused, it is refused at once.
        secret = way.secret_curve(n, p, at) if known == 0 else None
        public = way.curve(n, p, at, known=known, rng=rng)
    columns = {"δ, sample public": public}
    if secret is not None:
        columns["δ, sample secret"] = secret
    if json:
        content = {name: _as_json(each) for name, each in columns.items()}
        typer.echo(json_format.dumps({"command": "curve sample", **content}))
        return
    rows = [
        [f"{e:g}", *(f"{each.delta[place]:.6g}" for each in columns.values())]
        for place, e in enumerate(public.epsilon)
    ]
    _print_table(f"omit curve sample: {way}", ["ε", *columns], rows)
    typer.echo(f"assuming {public.assumption}")
    if public.confidence is not None:
        width = float((public.delta - public.lower).max())
        typer.echo(
            f"The public column is the upper end of a {public.confidence:.0%} interval for each "
            f"row, at most {width:.2g} wide: an estimate, not a guarantee."
        )
    typer.echo(WARNING)


@partition.callback()
def _partitions() -> None:
    """Answer several queries, each on its own secret random block of the database."""


@partition.command("plan")
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
    importance: Annotated[
        str | None, typer.Option(help="Weights of the squared errors, one for each: 4,1,1,...")
    ] = None,
    json: Json = False,
) -> None:
    """Block sizes, accuracy, delta by the theorem and exactly, and what DP allows instead."""
    from omit.errors import InvalidInput
    from omit.statistical.planner import most_queries, plan

    chances, weights = _numbers("p", p), _numbers("importance", importance or "")
    if (queries is None) == (delta is None):
        raise InvalidInput("Expected either --queries or --delta.")
    if delta is not None:
        if len(chances) != 1 or weights:
            raise InvalidInput("With --delta, expected one --p and no --importance.")
        queries = most_queries(n, epsilon, delta, p=chances[0])
    assert queries is not None
    found = plan(n, queries, epsilon, p=chances, importance=weights or None)
    if json:
        typer.echo(json_format.dumps(_plan_as_json(found), allow_nan=False))
        return
    _show_plan(found)


@partition.command()
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
    importance: Annotated[
        str | None, typer.Option(help="Weights of the squared errors, one for each: 4,1,1,...")
    ] = None,
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
    import numpy as np

    from omit.cli.bounds import pair_of_numbers
    from omit.data.reading import read
    from omit.errors import InvalidInput
    from omit.statistical.partition import Partition

    if (epsilon is None) != (p is None):
        raise InvalidInput("A guarantee needs --epsilon and --p, the declared probabilities.")
    functions = [_query(text) for text in query]
    if p is not None and not all(text.strip().startswith("share:") for text in query):
        raise InvalidInput("Probabilities can be declared for shares only.")
    chances = _numbers("p", p) if p is not None else (0.5,)
    weights = _numbers("importance", importance) if importance else (1.0,) * len(query)
    if len(weights) != len(query):
        raise InvalidInput(f"Expected one importance for each of {len(query)} queries.")
    rng = _rng(seed)
    data = read(source, column, bounds=pair_of_numbers(bounds) if bounds else None)
    if data.is_text:
        raise InvalidInput(f"Expected a column of numbers, {column!r} has categories.")
    # The order of the records is not kept by the column, and the partition draws its own.
    records = np.repeat(data.values.astype(np.float64), data.counts)
    blocks = Partition.by_importance(len(records), weights, chances)
    answers = blocks.answer(records, functions, rng)
    promise = None
    if epsilon is not None:
        promise = blocks.property_bound(chances, epsilon).guarantee(epsilon)
    if json:
        content: dict[str, Any] = {
            "command": "partition answer",
            "n": blocks.n,
            "answers": [
                {"query": text, "entries": size, "answer": value}
                for text, size, value in zip(query, blocks.sizes, answers, strict=True)
            ],
            "statistical_guarantee": None if promise is None else str(promise),
        }
        typer.echo(json_format.dumps(content))
        return
    rows = [
        [text, f"{size:,}", f"{value:.6g}"]
        for text, size, value in zip(query, blocks.sizes, answers, strict=True)
    ]
    _print_table(f"{data.name}: each query on its own block", ["query", "entries", "answer"], rows)
    if promise is None:
        typer.echo(
            "No guarantee is stated: declare the probabilities of the shares with --p and an "
            "--epsilon."
        )
    else:
        typer.echo(f"Together: {promise} (Theorem 5.1).")
        typer.echo(WARNING)


def _noise(text: str | None) -> "AddedNoise | None":
    from omit import _validate
    from omit.errors import InvalidInput
    from omit.statistical.added_noise import added_noise

    if text is None:
        return None
    kind, _, scale = text.partition(":")
    try:
        number = float(scale)
    except ValueError as error:
        raise InvalidInput(f"Expected --noise KIND:SCALE, got {text!r}.") from error
    return added_noise(kind, _validate.finite("scale", number))  # type: ignore[arg-type]


def _rng(seed: int | None) -> "Generator":
    import numpy as np

    from omit.errors import InvalidInput

    if seed is not None and seed < 0:
        raise InvalidInput(f"Expected seed={seed} to be at least 0.")
    return np.random.default_rng(seed)


def _group(text: str) -> tuple[int, float]:
    from omit.errors import InvalidInput
    from omit.statistical.distribution import checked_entries, property_probability

    try:
        size, chance = text.split(":")
        number, probability = int(size), float(chance)
    except ValueError as error:
        raise InvalidInput(f"Expected --group SIZE:P, got {text!r}.") from error
    return checked_entries(number, 0)[0], property_probability(probability)


def _numbers(name: str, text: str) -> tuple[float, ...]:
    from omit.errors import InvalidInput

    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InvalidInput(f"Expected {name} as numbers with commas, got {text!r}.") from error


def _distribution(values: str | None, file: Path | None) -> "Distribution":
    import pandas as pd

    from omit.errors import InvalidInput
    from omit.statistical.distribution import Distribution

    if (values is None) == (file is None):
        raise InvalidInput("Expected either --values VALUE:P,... or --distribution FILE.")
    if values is not None:
        try:
            pairs = [part.split(":") for part in values.split(",")]
            return Distribution([float(v) for v, _ in pairs], [float(w) for _, w in pairs])
        except InvalidInput:
            raise
        except ValueError as error:
            raise InvalidInput(f"Expected --values VALUE:P,VALUE:P, got {values!r}.") from error
    try:
        table = pd.read_csv(file)
        return Distribution(table["value"], table["probability"])
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"Cannot read {file}: expected a CSV file with columns value and probability."
        ) from error


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
            limit = _numbers("query", text.removeprefix(f"share:{sign}"))
            if len(limit) == 1 and not np.isnan(limit[0]):
                return lambda block, c=compare, x=limit[0]: float(np.mean(c(block, x)))
    raise InvalidInput(
        f"Expected query={text!r} to be mean, sum, median, share:>=X, share:<=X or share:=X; "
        "queries on a partition have to be symmetric."
    )


def _epsilons(
    asked: list[float] | None, spread: float, noise: "AddedNoise | None", points: int = 200
) -> tuple[Any, Any]:
    """Return where to draw and where to print."""
    import numpy as np

    from omit.statistical.guarantee import default_epsilons

    if asked:
        largest = max(asked)
        return (np.linspace(0, largest, points) if largest > 0 else [0.0]), asked
    # Noise widens the answers, so the curve falls sooner than without.
    spread = spread if noise is None else float(np.hypot(spread, noise.scale))
    drawn = default_epsilons(points if noise is None else min(points, 60), spread)
    rough = [
        float(f"{e:.1g}") for e in drawn[[0, len(drawn) // 8, len(drawn) // 4, len(drawn) // 2]]
    ]
    return drawn, sorted({*rough, float(f"{drawn[-1]:.1g}")})


def _require_figure(output: Path) -> None:
    from omit.cli.figure import FORMATS
    from omit.cli.writing import require_writable
    from omit.errors import InvalidInput

    if output.suffix.lower() not in FORMATS:
        raise InvalidInput(f"Expected output={str(output)!r} to end in {', '.join(FORMATS)}.")
    require_writable(output)


def _draw(output: Path, title: str, curves: "Mapping[str, PrivacyCurve]") -> None:
    from omit.cli.writing import write_whole
    from omit.report.curve_figure import curve_figure

    figure = curve_figure(f"Statistical privacy: {title}", curves)
    write_whole(output, lambda file: figure.savefig(file, dpi=160))
    typer.echo(f"Wrote {output}.")


def _as_json(found: "PrivacyCurve") -> dict[str, Any]:
    return {
        "epsilon": found.epsilon.tolist(),
        "delta": found.delta.tolist(),
        "delta_lower": found.lower.tolist(),
        "worst_pairs": [list(pair) for pair in found.pairs],
        "directions": {name: each.tolist() for name, each in found.directions.items()},
        "method": found.method,
        "assumption": found.assumption,
        "confidence": found.confidence,
    }


def _show_curve(title: str, found: "PrivacyCurve", json: bool) -> None:
    if json:
        typer.echo(json_format.dumps({"command": title.split(":")[0], **_as_json(found)}))
        return
    names = list(found.directions)
    rows = []
    for place, epsilon in enumerate(found.epsilon):
        v, w = found.pairs[place]
        rows.append(
            [
                f"{epsilon:g}",
                f"{found.delta[place]:.6g}",
                *(f"{found.directions[name][place]:.6g}" for name in names),
                f"{v:g} against {w:g}",
            ]
        )
    _print_table(title, ["ε", "δ", *(f"{name}" for name in names), "worst pair"], rows)
    typer.echo(f"assuming {found.assumption}")
    if found.method == "upper bound":
        gap = float((found.delta - found.lower).max())
        typer.echo(
            f"δ is an upper bound for all pairs of values, at most {gap:.2g} above the truth."
        )
    typer.echo(WARNING)


def _print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    console.print(title, style="bold", markup=False)
    table = Table(box=None, padding=(0, 2), show_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


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
    title = f"{asked} on {found.partition.n:,} entries, ε = {found.epsilon:g}"
    kinds = Counter(
        zip(found.partition.sizes, found.probabilities, found.standard_errors, strict=True)
    )
    rows = [
        [f"{number:,}", f"{size:,}", f"{p:g}", f"{error:.4g}"]
        for (size, p, error), number in kinds.items()
    ]
    _print_table(title, ["blocks", "entries each", "p", "standard error"], rows)
    typer.echo()
    comparisons = [("Theorem 5.1", found.theorem, found.dp_at_theorem)]
    if found.exact is not None:
        comparisons.append(("exact", found.exact, found.dp_at_exact))
    rows = [
        [
            name,
            f"{delta:.6g}",
            f"{count:,}",
            "-" if dp is None else f"{dp.paper:,}",
            "-" if dp is None else f"{dp.exact:,}",
        ]
        for name, delta, dp in comparisons
    ]
    headings = ["δ by", "δ", "queries", "DP by formula", "DP exactly"]
    _print_table("At the same error, ε and δ", headings, rows)
    typer.echo(f"assuming {found.assumption}")
    if found.exact is None:
        typer.echo("Properties of unequal probability have no closed form: only the theorem holds.")
    typer.echo(WARNING)
