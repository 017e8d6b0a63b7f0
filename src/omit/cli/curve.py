"""`omit curve`: delta for every epsilon, if only the distribution is known."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_UP
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit._text import rounded_up, show_number
from omit.cli.curve_texts import (
    parse_distribution,
    parse_group,
    parse_noise,
    parse_technique,
)
from omit.cli.options import FigureFile, Json
from omit.cli.printing import print_json
from omit.cli.progress import progress_bar
from omit.cli.statistical import WARNING, Size, print_columns, seeded
from omit.report.files import require_figure, write_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omit.statistical.curve import PrivacyCurve
    from omit.statistical.noise import AddedNoise

curve_app = typer.Typer(
    help="Statistical privacy: delta for every epsilon, if only the distribution is known.",
    no_args_is_help=True,
)

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
NoFigure = Annotated[bool, typer.Option("--no-figure", help="Draw nothing.")]


@dataclass(frozen=True)
class _Question:
    """A query whose curve is asked for.

    `spread` is about the standard deviation of the answer in units of what one entry can change;
    it decides which epsilons are worth showing. `nothing_known` is a second curve to draw.
    """

    command: str
    title: str
    spread: float
    known: int
    evaluate: "Callable[[Any], PrivacyCurve]"
    nothing_known: "Callable[[Any], PrivacyCurve] | None" = None


@curve_app.callback()
def _curves() -> None:
    """Statistical privacy: delta for every epsilon, if only the distribution is known."""


@curve_app.command("property")
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
    output: FigureFile = Path("curve.svg"),
    no_figure: NoFigure = False,
    json: Json = False,
) -> None:
    """How many entries have a property: the curve, and what known entries cost."""
    from omit.errors import InvalidInput

    added = parse_noise(noise)
    drawn = not (no_figure or json)
    if drawn:
        require_figure(output)
    if group:
        if n is not None or p is not None:
            raise InvalidInput("Expected either --group or --n and --p, not both.")
        if known:
            raise InvalidInput("Expected groups of unknown entries only; leave known ones out.")
        question = _grouped_entries(group, added)
    elif n is None or p is None:
        raise InvalidInput("Expected --n and --p, or --group SIZE:P.")
    else:
        question = _alike_entries(n, p, known, added)
    figure_at, shown_at = _epsilons(epsilon, question.spread, added)
    _answer(question, shown_at, figure_at if drawn else None, output, json)


@curve_app.command("sum")
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
    output: FigureFile = Path("curve.svg"),
    no_figure: NoFigure = False,
    json: Json = False,
) -> None:
    """The sum of independent entries with a known distribution over numbers."""
    import math

    from omit.laws.distribution import checked_entries
    from omit.statistical.sums import sum_curve

    n, known = checked_entries(n, known)
    law, added = parse_distribution(values, distribution), parse_noise(noise)
    drawn = not (no_figure or json)
    if drawn:
        require_figure(output)
    width = float(law.values[-1] - law.values[0])
    question = _Question(
        "sum",
        f"sum of {n:,} entries",
        math.sqrt(max(n - 1 - known, 1) * law.variance) / width,
        known,
        lambda at: sum_curve(law, n, at, known=known, noise=added),
    )
    figure_at, shown_at = _epsilons(epsilon, question.spread, added, points=40)
    _answer(question, shown_at, figure_at if drawn else None, output, json)


@curve_app.command("sample")
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
    way = parse_technique(technique)
    at = epsilon or [0.01, 0.1, 0.5, 1.0]
    rng = seeded(seed)
    with progress_bar("averaging over samples", None):
        # The secret curve first: where it is refused, it is refused at once.
        secret = way.secret_curve(n, p, at) if known == 0 else None
        public = way.curve(n, p, at, known=known, rng=rng)
    found = {"public": public} if secret is None else {"public": public, "secret": secret}
    if json:
        content = {f"sample_{name}": _as_json(each) for name, each in found.items()}
        print_json({"command": "curve sample", **content})
        return
    rows = [
        [show_number(e, ROUND_UP), *(_show_delta(each, place) for each in found.values())]
        for place, e in enumerate(public.epsilon)
    ]
    headings = ["ε", *(f"δ, sample {name}" for name in found)]
    print_columns(f"omit curve sample: {way}", headings, rows)
    typer.echo(f"assuming {public.assumption}")
    if public.confidence is not None:
        width = float((public.delta - public.lower).max())
        typer.echo(
            f"The public column is the upper end of a {public.confidence:.0%} interval for each "
            f"row, at most {rounded_up(width, 2)} wide: an estimate, not a guarantee."
        )
    for each in found.values():
        _explain_bounds(each)
    typer.echo(WARNING)


def _grouped_entries(texts: list[str], noise: "AddedNoise | None") -> _Question:
    import math

    from omit.statistical.properties import grouped_property_curve

    groups = [parse_group(text) for text in texts]
    return _Question(
        "property",
        "property query on groups",
        math.sqrt(sum(size * each * (1 - each) for size, each in groups)),
        0,
        lambda at: grouped_property_curve(groups, at, noise=noise),
    )


def _alike_entries(n: int, p: float, known: int, noise: "AddedNoise | None") -> _Question:
    import math

    from omit.laws.distribution import checked_entries
    from omit.statistical.properties import property_curve

    n, known = checked_entries(n, known)
    unknown = max(n - 1 - known, 1)
    return _Question(
        "property",
        f"property query on {n:,} entries, p = {p!r}",
        # A p outside (0, 1) is refused when the curve is evaluated.
        math.sqrt(max(unknown * p * (1 - p), 1e-12)) if 0 < p < 1 else 1.0,
        known,
        lambda at: property_curve(n, p, at, known=known, noise=noise),
        (lambda at: property_curve(n, p, at, noise=noise)) if known else None,
    )


def _answer(question: _Question, shown_at: Any, figure_at: Any, output: Path, json: bool) -> None:
    """Print the curve at some epsilons, and draw it at others unless these are None."""
    with progress_bar("evaluating the curve", None):
        shown = question.evaluate(shown_at)
    command = f"curve {question.command}"
    if json:
        print_json({"command": command, **_as_json(shown)})
    else:
        _show(f"omit {command}: {question.title}", shown)
    if figure_at is None:
        return
    curves = {}
    with progress_bar("drawing", None):
        if question.nothing_known is not None:
            curves["nothing known"] = question.nothing_known(figure_at)
        name = f"{question.known:,} known" if question.known else "δ(ε)"
        curves[name] = question.evaluate(figure_at)
    _draw(output, question.title, curves)


def _draw(output: Path, title: str, curves: "Mapping[str, PrivacyCurve]") -> None:
    from omit.statistical.curve import curve_figure

    write_figure(output, curve_figure(f"Statistical privacy: {title}", curves))


def _epsilons(
    asked: list[float] | None, spread: float, noise: "AddedNoise | None", points: int = 200
) -> tuple[Any, Any]:
    """Return where to draw and where to print."""
    import numpy as np

    from omit.statistical.curve import ascending_epsilons, default_epsilons

    if asked:
        largest = float(ascending_epsilons(asked)[-1])
        return (np.linspace(0, largest, points) if largest > 0 else [0.0]), asked
    # Noise widens the answers, so the curve falls sooner than without.
    spread = spread if noise is None else float(np.hypot(spread, noise.scale))
    drawn = default_epsilons(points if noise is None else min(points, 60), spread)
    rough = [
        float(f"{e:.1g}") for e in drawn[[0, len(drawn) // 8, len(drawn) // 4, len(drawn) // 2]]
    ]
    return drawn, sorted({*rough, float(f"{drawn[-1]:.1g}")})


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


def _show(title: str, found: "PrivacyCurve") -> None:
    names = list(found.directions)
    rows = []
    for place, epsilon in enumerate(found.epsilon):
        v, w = found.pairs[place]
        rows.append(
            [
                show_number(epsilon, ROUND_UP),
                _show_delta(found, place),
                *(rounded_up(found.directions[name][place], 6) for name in names),
                f"{v:.15g} against {w:.15g}",
            ]
        )
    print_columns(title, ["ε", "δ", *names, "worst pair"], rows)
    typer.echo(f"assuming {found.assumption}")
    _explain_bounds(found)
    typer.echo(WARNING)


def _show_delta(found: "PrivacyCurve", place: int) -> str:
    """Return delta, rounded up, and marked where it is only known to be at most that."""
    shown = rounded_up(found.delta[place], 6)
    return f"≤ {shown}" if _is_a_bound(found)[place] else shown


def _is_a_bound(found: "PrivacyCurve") -> Any:
    from omit.statistical.curve import agree

    return ~agree(found.lower, found.delta) & (found.confidence is None)


def _explain_bounds(found: "PrivacyCurve") -> None:
    which = _is_a_bound(found)
    if which.any():
        gap = float((found.delta - found.lower)[which].max())
        typer.echo(f"δ after ≤ is an upper bound, at most {rounded_up(gap, 2)} above the truth.")
