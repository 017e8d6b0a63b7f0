"""`omit curve` and `omit partition`: statistical privacy, if only the distribution is known."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from omit.cli import options
from omit.cli.emit import emit, progress_bar
from omit.cli.options import Numbers, expected, pair_of_numbers
from omit.errors import InvalidInput
from omit.report.files import require_figure, write_figure

if TYPE_CHECKING:
    from numpy.random import Generator

    from omit.data.column import Column
    from omit.laws.distribution import Distribution
    from omit.statistical.curve import PrivacyCurve
    from omit.statistical.sampling import SamplingTechnique
    from omit.statistical.sums import AddedNoise

    Curve = Callable[[Any], PrivacyCurve]

EVEN_CHANCE = [Numbers((0.5,))]


class CurveAsked(NamedTuple):
    """A curve that was asked for: its title, how it is evaluated, and what it is compared with.

    `spread` is the standard deviation of the answer in units of one entry, and `points` the number
    of epsilons at which a curve without noise is drawn.
    """

    title: str
    evaluate: "Curve"
    noise: "AddedNoise | None"
    spread: float
    label: str = "δ(ε)"
    compared: "Mapping[str, Curve]" = MappingProxyType({})
    points: int = 200

    @property
    def subject(self) -> str:
        """What was asked of which entries, and with which noise."""
        from omit.statistical.sums import describe_noise

        return f"{self.title}{describe_noise(self.noise)}"


def property_(
    n: options.AnyEntries = None,
    p: options.AnyProbability = None,
    group: options.Groups = None,
    known: options.Known = 0,
    noise: options.Noise = None,
) -> CurveAsked:
    """How many entries have a property: the curve, and what known entries cost."""
    from omit.statistical.assumptions import checked_entries
    from omit.statistical.properties import grouped_property_curve, property_curve

    added = parse_noise(noise)
    if group:
        if n is not None or p is not None:
            raise InvalidInput("Expected either --group or --n and --p, not both.")
        if known:
            raise InvalidInput("Expected groups of unknown entries only, without --known.")
        groups = [parse_group(text) for text in group]
        spread = math.sqrt(sum(size * share * (1 - share) for size, share in groups))
        grouped = partial(grouped_property_curve, groups, noise=added)
        return CurveAsked("property query on groups", grouped, added, spread)
    if n is None or p is None:
        raise InvalidInput("Expected --n and --p, or --group SIZE:P.")
    entries, known = checked_entries(n, known)
    title = f"property query on {entries:,} entries, p = {p!r}"
    # A p outside (0, 1) is refused when the curve is evaluated.
    variance = max(entries - 1 - known, 1) * p * (1 - p)
    spread = math.sqrt(max(variance, 1e-12)) if 0 < p < 1 else 1.0
    unknown = partial(property_curve, entries, p, noise=added)
    if not known:
        return CurveAsked(title, unknown, added, spread)
    compared = {"nothing known": unknown}
    return CurveAsked(
        title, partial(unknown, known=known), added, spread, f"{known:,} known", compared
    )


def sum_(
    n: options.Entries,
    values: options.Values = None,
    distribution: options.DistributionFile = None,
    known: options.Known = 0,
    noise: options.Noise = None,
) -> CurveAsked:
    """The sum of independent entries with a known distribution over numbers."""
    from omit.statistical.assumptions import checked_entries
    from omit.statistical.sums import sum_curve

    n, known = checked_entries(n, known)
    law, added = parse_distribution(values, distribution), parse_noise(noise)
    width = float(law.values[-1] - law.values[0])
    spread = math.sqrt(max(n - 1 - known, 1) * law.variance) / width
    label = f"{known:,} known" if known else "δ(ε)"
    evaluate = partial(sum_curve, law, n, known=known, noise=added)
    return CurveAsked(f"sum of {n:,} entries", evaluate, added, spread, label, points=40)


CURVES: Mapping[str, Callable[..., CurveAsked]] = {"property": property_, "sum": sum_}


def show_curve(
    asked: CurveAsked,
    ctx: typer.Context,
    epsilon: options.CurveEpsilons = None,
    output: options.FigureFile = Path("curve.svg"),
    width: options.FigureWidth = None,
    no_figure: options.NoFigure = False,
    json: options.Json = False,
) -> None:
    """Print the curve at some epsilons, and draw it at others with what it is compared with."""
    from dataclasses import replace

    from omit.statistical.figures import curve_figure

    drawn, shown = _epsilons(Numbers.joined(epsilon), asked)
    if has_figure := not (no_figure or json):
        require_figure(output, width)
    with progress_bar("evaluating the curve", None):
        curve = replace(asked.evaluate(shown), subject=asked.subject)
    emit(ctx, curve, json=json)
    if has_figure:
        with progress_bar("drawing", None):
            evaluated = {**asked.compared, asked.label: asked.evaluate}
            curves = {name: evaluate(drawn) for name, evaluate in evaluated.items()}
        figure = curve_figure(f"Statistical privacy: {asked.subject}", curves)
        write_figure(output, figure, width=width)


def _epsilons(given: tuple[float, ...], asked: CurveAsked) -> tuple[Any, Any]:
    """Return where to draw and where to print."""
    import numpy as np

    from omit.statistical.assumptions import ascending_epsilons
    from omit.statistical.figures import default_epsilons, shown_epsilons

    if given:
        largest = float(ascending_epsilons(given)[-1])
        return (np.linspace(0, largest, asked.points) if largest > 0 else [0.0]), given
    if asked.noise is None:
        drawn = default_epsilons(asked.points, asked.spread)
    else:  # noise widens the answers, so the curve falls sooner than without
        spread = float(np.hypot(asked.spread, asked.noise.scale))
        drawn = default_epsilons(min(asked.points, 60), spread)
    return drawn, shown_epsilons(drawn)


def sample(
    ctx: typer.Context,
    n: options.Entries,
    p: options.Probability,
    technique: options.Technique,
    known: options.Known = 0,
    epsilon: options.CurveEpsilons = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """A property query on a sample: if the adversary learns who was drawn, and if not."""
    from omit.statistical.curve import SampleCurves

    way = parse_technique(technique)
    at = Numbers.joined(epsilon) or (0.01, 0.1, 0.5, 1.0)
    rng = generator(seed)
    with progress_bar("averaging over samples", None):
        # The secret curve first: where it is refused, it is refused at once.
        secret = way.secret_curve(n, p, at) if known == 0 else None
        public = way.curve(n, p, at, known=known, rng=rng)
    emit(ctx, SampleCurves(str(way), public, secret), json=json)


def plan(
    ctx: typer.Context,
    n: options.Entries,
    epsilon: options.PlanEpsilon,
    queries: options.QueryCount = None,
    delta: options.PlanDelta = None,
    p: options.QueryProbabilities = EVEN_CHANCE,
    importance: options.Importance = None,
    same_property: options.SameProperty = False,
    json: options.Json = False,
) -> None:
    """Block sizes, accuracy, delta by the theorem and exactly, and what DP allows instead."""
    from omit.statistical import planner

    chances, weights = Numbers.joined(p), Numbers.joined(importance) or None
    if (queries is None) == (delta is None):
        raise InvalidInput("Expected either --queries or --delta.")
    if delta is not None:
        if len(chances) != 1 or weights:
            raise InvalidInput("With --delta, expected one --p and no --importance.")
        queries = planner.most_queries(n, epsilon, delta, p=chances[0])
    assert queries is not None
    result = planner.plan(
        n, queries, epsilon, p=chances, importance=weights, same_property=same_property
    )
    emit(ctx, result, json=json)


def read_column(
    source: options.Source,
    column: options.ColumnName = None,
    bounds: options.DeclaredBounds = None,
    missing_value: options.MissingValue = None,
) -> "Column":
    """Return the column that the options name."""
    from omit.data.reading import read

    declared = pair_of_numbers(bounds) if bounds else None
    return read(source, column, bounds=declared, missing=missing_value or ())


def generator(seed: options.SecretSeed = None) -> "Generator":
    """Return a generator; without a seed, one that nobody can repeat."""
    import numpy as np

    from omit import _validate

    return np.random.default_rng(None if seed is None else _validate.seed(seed))


def answer(
    data: "Column",
    rng: "Generator",
    ctx: typer.Context,
    query: options.Queries,
    importance: options.Importance = None,
    epsilon: options.AnswerEpsilon = None,
    p: options.AnswerProbabilities = None,
    json: options.Json = False,
) -> None:
    """Split the records at random and answer every query on its own block."""
    from omit.statistical.answers import answer_queries

    weights, chances = Numbers.joined(importance) or None, Numbers.joined(p) or None
    answers = answer_queries(data, query, rng, importance=weights, p=chances, epsilon=epsilon)
    emit(ctx, answers, json=json)


def parse_noise(text: str | None) -> "AddedNoise | None":
    """Return the noise of a text such as `laplace:2`."""
    from omit import _validate
    from omit.statistical.sums import added_noise

    if text is None:
        return None
    kind, _, scale = text.partition(":")
    with expected("--noise KIND:SCALE", text):
        number = _validate.finite("scale", float(scale))
    return added_noise(
        kind,  # type: ignore[arg-type]  # any text: added_noise refuses the rest
        number,
    )


def parse_group(text: str) -> tuple[int, float]:
    """Return the size and the probability of a text such as `100:0.2`."""
    from omit.statistical.assumptions import checked_entries, property_probability

    with expected("--group SIZE:P", text):
        size, chance = text.split(":")
        return checked_entries(int(size), 0)[0], property_probability(float(chance))


def parse_distribution(values: str | None, file: Path | None) -> "Distribution":
    """Return the distribution of a text such as `0:0.5,1:0.5`, or of a file."""
    import pandas as pd

    from omit.laws.distribution import Distribution

    if (values is None) == (file is None):
        raise InvalidInput("Expected either --values VALUE:P,... or --distribution FILE.")
    if values is not None:
        with expected("--values VALUE:P,VALUE:P", values):
            pairs = [part.split(":") for part in values.split(",")]
            return Distribution([float(v) for v, _ in pairs], [float(w) for _, w in pairs])
    try:
        table = pd.read_csv(file)
        return Distribution(table["value"], table["probability"])
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"Cannot read {file}: expected a CSV file with columns value and probability."
        ) from error


def parse_technique(text: str) -> "SamplingTechnique":
    """Return the way to sample of a text such as `poisson:0.1`."""
    from omit.statistical.sampling import PoissonTechnique, WithoutReplacement, WithReplacement

    name, _, number = text.partition(":")
    forms = "without-replacement:SIZE, poisson:RATE or with-replacement:SIZE"
    with expected(f"--sample {forms}", text):
        if name == "poisson":
            return PoissonTechnique(float(number))
        if name == "with-replacement":
            return WithReplacement(int(number))
        if name == "without-replacement":
            return WithoutReplacement(int(number))
        raise ValueError(name)
