"""`omit curve` and `omit partition`: statistical privacy, if only the distribution is known."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.emit import emit, progress_bar
from omit.cli.options import (
    FigureFile,
    Json,
    Numbers,
    number_list,
    pair_of_numbers,
    parse_distribution,
    parse_group,
    parse_noise,
    parse_technique,
)
from omit.report.files import require_figure, write_figure

if TYPE_CHECKING:
    from numpy.random import Generator

    from omit.statistical.curve import PrivacyCurve
    from omit.statistical.noise import AddedNoise

curve_app = typer.Typer(
    help="Statistical privacy: delta for every epsilon, if only the distribution is known.",
    no_args_is_help=True,
)
partition_app = typer.Typer(
    help="Answer several queries, every one on its own secret random block of the database.",
    no_args_is_help=True,
)

Size = Annotated[int, typer.Option("--n", help="Number of entries of the database.")]
Epsilons = Annotated[
    list[Numbers] | None,
    number_list(
        "Values of epsilon at which delta is printed.", "--epsilon", default="a few over the curve"
    ),
]
Known = Annotated[int, typer.Option(help="Number of other entries that the adversary knows.")]
NoiseText = Annotated[
    str | None,
    typer.Option(
        "--noise", help="Noise on the answer: laplace:S, gaussian:S or discrete-gaussian:S."
    ),
]
EVEN_CHANCE = [Numbers((0.5,))]
NoFigure = Annotated[bool, typer.Option("--no-figure", help="Draw nothing.")]
Importance = Annotated[
    list[Numbers] | None,
    number_list("Weights of the squared errors, one per query.", default="all equal"),
]


@curve_app.callback()
def _curves() -> None:
    """Statistical privacy: delta for every epsilon, if only the distribution is known."""


@partition_app.callback()
def _partitions() -> None:
    """Answer several queries, every one on its own secret random block of the database."""


@curve_app.command("property")
def property_(
    ctx: typer.Context,
    n: Annotated[int | None, typer.Option("--n", help="Number of entries of the database.")] = None,
    p: Annotated[float | None, typer.Option("--p", help="Probability of the property.")] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="SIZE:P, entries that are not alike; repeat, instead of --n and --p."),
    ] = None,
    known: Known = 0,
    noise: NoiseText = None,
    epsilon: Epsilons = None,
    output: FigureFile = Path("curve.svg"),
    no_figure: NoFigure = False,
    json: Json = False,
) -> None:
    """How many entries have a property: the curve, and what known entries cost."""
    from omit.errors import InvalidInput
    from omit.laws.distribution import checked_entries
    from omit.statistical.properties import grouped_property_curve, property_curve

    added = parse_noise(noise)
    compared: dict[str, Callable[[Any], Any]] = {}
    if group:
        if n is not None or p is not None:
            raise InvalidInput("Expected either --group or --n and --p, not both.")
        if known:
            raise InvalidInput("Expected groups of unknown entries only; leave known ones out.")
        groups = [parse_group(text) for text in group]
        spread = math.sqrt(sum(size * share * (1 - share) for size, share in groups))
        title = "property query on groups"

        def evaluate(at: Any) -> "PrivacyCurve":
            return grouped_property_curve(groups, at, noise=added)

    elif n is None or p is None:
        raise InvalidInput("Expected --n and --p, or --group SIZE:P.")
    else:
        entries, known = checked_entries(n, known)
        chance = p
        title = f"property query on {entries:,} entries, p = {p!r}"
        # A p outside (0, 1) is refused when the curve is evaluated.
        variance = max(entries - 1 - known, 1) * p * (1 - p)
        spread = math.sqrt(max(variance, 1e-12)) if 0 < p < 1 else 1.0

        def evaluate(at: Any) -> "PrivacyCurve":
            return property_curve(entries, chance, at, known=known, noise=added)

        if known:
            compared["nothing known"] = lambda at: property_curve(entries, chance, at, noise=added)
    compared[f"{known:,} known" if known else "δ(ε)"] = evaluate
    drawn = None if no_figure or json else output
    _show_curve(
        ctx,
        title,
        evaluate,
        compared,
        _epsilons(Numbers.joined(epsilon), spread, added),
        drawn,
        json,
    )


@curve_app.command("sum")
def sum_(
    ctx: typer.Context,
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
    output: FigureFile = Path("curve.svg"),
    no_figure: NoFigure = False,
    json: Json = False,
) -> None:
    """The sum of independent entries with a known distribution over numbers."""
    from omit.laws.distribution import checked_entries
    from omit.statistical.sums import sum_curve

    n, known = checked_entries(n, known)
    law, added = parse_distribution(values, distribution), parse_noise(noise)
    width = float(law.values[-1] - law.values[0])
    spread = math.sqrt(max(n - 1 - known, 1) * law.variance) / width

    def evaluate(at: Any) -> "PrivacyCurve":
        return sum_curve(law, n, at, known=known, noise=added)

    compared = {f"{known:,} known" if known else "δ(ε)": evaluate}
    at = _epsilons(Numbers.joined(epsilon), spread, added, points=40)
    drawn = None if no_figure or json else output
    _show_curve(ctx, f"sum of {n:,} entries", evaluate, compared, at, drawn, json)


@curve_app.command("sample")
def sample(
    ctx: typer.Context,
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
    seed: Annotated[int, typer.Option(help="Seed where the average has to be estimated.")] = 0,
    json: Json = False,
) -> None:
    """A property query on a sample: if the adversary learns who was drawn, and if not."""
    from omit.statistical.curve import SampleCurves

    way = parse_technique(technique)
    at = Numbers.joined(epsilon) or (0.01, 0.1, 0.5, 1.0)
    rng = _seeded(seed)
    with progress_bar("averaging over samples", None):
        # The secret curve first: where it is refused, it is refused at once.
        secret = way.secret_curve(n, p, at) if known == 0 else None
        public = way.curve(n, p, at, known=known, rng=rng)
    emit(ctx, SampleCurves(str(way), public, secret), json=json)


@partition_app.command("plan")
def plan_(
    ctx: typer.Context,
    n: Size,
    epsilon: Annotated[float, typer.Option(help="Epsilon, above 0.")],
    queries: Annotated[int | None, typer.Option(help="Number of queries.")] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="Plan the largest number of queries that Theorem 5.1 allows at this delta "
            "(instead of --queries)."
        ),
    ] = None,
    p: Annotated[
        list[Numbers],
        number_list("Probability of the property, or one per query.", "--p", default="0.5"),
    ] = EVEN_CHANCE,
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

    chances, weights = Numbers.joined(p), Numbers.joined(importance)
    if (queries is None) == (delta is None):
        raise InvalidInput("Expected either --queries or --delta.")
    if delta is not None:
        if len(chances) != 1 or weights:
            raise InvalidInput("With --delta, expected one --p and no --importance.")
        queries = most_queries(n, epsilon, delta, p=chances[0])
    assert queries is not None
    weighted = weights or None
    planned = plan(n, queries, epsilon, p=chances, importance=weighted, same_property=same_property)
    emit(ctx, planned, json=json)


@partition_app.command()
def answer(
    ctx: typer.Context,
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
        list[Numbers] | None,
        number_list("For a guarantee: declared probabilities of the shares.", "--p"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="For tests only: whoever knows it knows the partition.")
    ] = None,
    json: Json = False,
) -> None:
    """Split the records at random and answer every query on its own block."""
    from omit.data.reading import read
    from omit.statistical.answers import answer_queries

    weights, chances = Numbers.joined(importance), Numbers.joined(p) or None
    rng = _seeded(seed)
    data = read(source, column, bounds=pair_of_numbers(bounds) if bounds else None)
    answers = answer_queries(data, query, rng, importance=weights, p=chances, epsilon=epsilon)
    emit(ctx, answers, json=json)


def _seeded(seed: int | None) -> "Generator":
    """Return a generator; without a seed, one that nobody can repeat."""
    import numpy as np

    from omit.errors import InvalidInput

    if seed is not None and seed < 0:
        raise InvalidInput(f"Expected seed={seed} to be at least 0.")
    return np.random.default_rng(seed)


def _show_curve(
    ctx: typer.Context,
    title: str,
    evaluate: "Callable[[Any], PrivacyCurve]",
    compared: "Mapping[str, Callable[[Any], PrivacyCurve]]",
    epsilons: tuple[Any, Any],
    output: Path | None,
    json: bool,
) -> None:
    """Print the curve at some epsilons, and draw it at others with what it is compared with."""
    from dataclasses import replace

    from omit.statistical.curve import curve_figure

    drawn, shown = epsilons
    if output is not None:
        require_figure(output)
    with progress_bar("evaluating the curve", None):
        curve = replace(evaluate(shown), subject=title)
    emit(ctx, curve, json=json)
    if output is not None:
        with progress_bar("drawing", None):
            curves = {name: other(drawn) for name, other in compared.items()}
        write_figure(output, curve_figure(f"Statistical privacy: {title}", curves))


def _epsilons(
    asked: tuple[float, ...], spread: float, noise: "AddedNoise | None", points: int = 200
) -> tuple[Any, Any]:
    """Return where to draw and where to print."""
    import numpy as np

    from omit.statistical.curve import ascending_epsilons, default_epsilons, shown_epsilons

    if asked:
        largest = float(ascending_epsilons(asked)[-1])
        return (np.linspace(0, largest, points) if largest > 0 else [0.0]), asked
    # Noise widens the answers, so the curve falls sooner than without.
    spread = spread if noise is None else float(np.hypot(spread, noise.scale))
    drawn = default_epsilons(points if noise is None else min(points, 60), spread)
    return drawn, shown_epsilons(drawn)
