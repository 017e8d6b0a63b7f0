"""`omit compare`, `omit best` and `omit solve`: accuracy at the same privacy.

The first argument of each is what `choosing.choose` makes of the options that all three share.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.choosing import Chosen
from omit.cli.emit import emit, progress_bar, report_file
from omit.cli.options import PUBLISHED_RUNS, Json, RowsPerPerson, runs_asked_for

if TYPE_CHECKING:
    from omit.data.base import Data
    from omit.mechanisms.base import Mechanism

Epsilon = Annotated[float, typer.Option(help="Epsilon of the release.")]
SampledFrom = Annotated[
    int | None,
    typer.Option(
        "--sampled-from",
        help="Size of the population of which the data are a secret simple random sample; the "
        "guarantee is then for the population.",
    ),
]
Truth = Annotated[
    str | None, typer.Option(help="A known value to compare with, instead of the data's own.")
]
Runs = Annotated[
    str,
    typer.Option(
        help="Number of simulated runs (a maximum for clusterings), or paper for the number used "
        "in the paper."
    ),
]


def compare(
    chosen: Chosen,
    ctx: typer.Context,
    epsilon: Epsilon = 1.0,
    omit: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A way to leave records out, such as poisson:0.1, outlier-score:0.1,0.3, "
                "rule:0,100 or fixed-size:1000; repeat for several."
            )
        ),
    ] = None,
    sampled_from: SampledFrom = None,
    rows_per_person: RowsPerPerson = 1,
    no_noise_reduction: Annotated[
        bool,
        typer.Option(
            "--no-noise-reduction",
            help="Run the same mechanism in every row; the privacy that an omission adds is not "
            "used for less noise.",
        ),
    ] = False,
    truth: Truth = None,
    method: Annotated[str, typer.Option(help="auto, exact or simulated.")] = "auto",
    runs: Runs = "2000",
    seed: Annotated[int, typer.Option(help="Seed for simulated errors.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Path of the HTML report.", show_default="omit-report.html")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    json: Json = False,
) -> None:
    """What does leaving records out cost in accuracy, at the same privacy?"""
    from omit.accuracy.compare import compare as run_comparison
    from omit.accuracy.report import curve_steps, write_report
    from omit.accuracy.search import usual_omissions
    from omit.omissions.names import parse_omission

    data, target = chosen.data, chosen.target(epsilon)
    file = report_file(report, no_report, None if json else Path("omit-report.html"))
    if omit is None:
        omissions = usual_omissions(chosen.neighbours, data.size)
    else:
        omissions = tuple(parse_omission(text, data.size) for text in omit)
    comparisons = []
    with progress_bar("comparing", None, not json) as advance:
        for each in chosen.mechanisms:
            comparisons.append(
                run_comparison(
                    data,
                    each,
                    target,
                    *omissions,
                    method=method,
                    truth=known_truth(truth, each.statistic, data),
                    noise_reduction=not no_noise_reduction,
                    rows_per_person=rows_per_person,
                    runs=_runs(runs, each),
                    seed=seed,
                    early_stop=runs != PUBLISHED_RUNS,
                    sampled_from=sampled_from,
                )
            )
            advance()
    emit(ctx, *comparisons, json=json)
    if file is not None:
        with progress_bar("report", curve_steps(comparisons), not json) as advance:
            write_report(file, comparisons, advance)
        if not json:
            typer.echo(f"Wrote {file}.")


def best(
    chosen: Chosen,
    ctx: typer.Context,
    epsilon: Epsilon = 1.0,
    sampled_from: SampledFrom = None,
    truth: Truth = None,
    runs: Runs = "2000",
    json: Json = False,
) -> None:
    """Which omission has the smallest error at a guarantee? Often none."""
    from omit.accuracy.search import best as find_best

    data, target = chosen.data, chosen.target(epsilon)
    answers = []
    for each in chosen.mechanisms:
        with progress_bar(str(each), None, not json) as advance:
            answers.append(
                find_best(
                    data,
                    each,
                    target,
                    truth=known_truth(truth, each.statistic, data),
                    runs=_runs(runs, each),
                    sampled_from=sampled_from,
                    advance=advance,
                )
            )
    emit(ctx, *answers, json=json)


def solve(
    chosen: Chosen,
    ctx: typer.Context,
    error: Annotated[float, typer.Option(help="The expected error to reach (% for the mean).")],
    omit: Annotated[str, typer.Option(help="A way to leave records out.")] = "none",
    truth: Truth = None,
    runs: Runs = "2000",
    json: Json = False,
) -> None:
    """Which epsilon reaches a wanted error?"""
    from omit.accuracy.search import solve as find_epsilon
    from omit.omissions.names import parse_omission

    data = chosen.data
    answers = []
    for each in chosen.mechanisms:
        with progress_bar(str(each), None, not json) as advance:
            answers.append(
                find_epsilon(
                    data,
                    each,
                    error,
                    parse_omission(omit, data.size),
                    delta=chosen.delta,
                    neighbours=chosen.neighbours,
                    truth=known_truth(truth, each.statistic, data),
                    runs=_runs(runs, each),
                    advance=advance,
                )
            )
    emit(ctx, *answers, json=json)


def known_truth(text: str | None, statistic: str, data: "Data") -> Any:
    """Return the truth that is declared, in the form that the statistic has; None if none is."""
    from omit.errors import InvalidInput

    if text is None:
        return None
    if statistic == "mode" and getattr(data, "is_text", False):
        return (text,)
    try:
        return (float(text),) if statistic == "mode" else float(text)
    except ValueError as error:
        raise InvalidInput(f"Expected truth={text!r} to be a number.") from error


def _runs(text: str, mechanism: "Mechanism") -> int:
    """Return how many runs are asked for: a number, or as many as the paper made."""
    runs = runs_asked_for(text)
    return mechanism.published_runs if runs is None else runs
