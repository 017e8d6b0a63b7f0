"""`omit compare`, `omit best` and `omit solve`: accuracy at the same privacy.

The first argument of each is what `choosing.choose` makes of the options that all three share.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli import clustering as options
from omit.cli.choosing import Chosen
from omit.cli.comparisons import as_json, known_truth, show, write_report
from omit.cli.emit import print_json, progress_bar
from omit.cli.options import PUBLISHED_RUNS, Json, RowsPerPerson, runs_asked_for
from omit.report.files import require_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omit.exact.error import Error
    from omit.guarantee import Guarantee
    from omit.mechanisms.base import Clustering, Mechanism
    from omit.omissions.base import Omission

DEFAULT_OMISSIONS = (
    "poisson:0.1",
    "poisson:0.5",
    "poisson:0.9",
    "outlier-score:0.1,0.3",
    "outlier-score:0.5,0.6",
)

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
    measured_on: options.MeasuredOn = "all",
    report: Annotated[
        Path | None, typer.Option(help="Path of the HTML report.", show_default="omit-report.html")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    json: Json = False,
) -> None:
    """What does leaving records out cost in accuracy, at the same privacy?"""
    from omit import _validate
    from omit.accuracy.compare import compare as run_comparison
    from omit.omissions.names import parse_omission

    data, target = chosen.data, chosen.target(epsilon)
    file = report or (None if json or no_report else Path("omit-report.html"))
    if file is not None:
        require_writable(file)
    texts = omit if omit is not None else _default_omissions(chosen.neighbours, data.size)
    omissions = [parse_omission(text, data.size) for text in texts]
    checked_seed = _validate.seed(seed)
    comparisons = []
    with progress_bar("comparing", None, not json) as advance:
        for each in chosen.mechanisms:
            comparisons.append(
                run_comparison(
                    data,
                    each,
                    target,
                    *omissions,
                    method=method,  # type: ignore[arg-type]  # any text: compare refuses the rest
                    truth=known_truth(truth, each.statistic, data),
                    noise_reduction=not no_noise_reduction,
                    rows_per_person=rows_per_person,
                    runs=_runs(runs, each),
                    seed=checked_seed,
                    early_stop=runs != PUBLISHED_RUNS,
                    measured_on=measured_on,  # type: ignore[arg-type]  # as above
                    sampled_from=sampled_from,
                )
            )
            advance()
    if json:
        print_json(as_json(comparisons))
    else:
        show(comparisons)
    if file is not None:
        write_report(file, comparisons, target, truth, quiet=json)


def best(
    chosen: Chosen,
    epsilon: Epsilon = 1.0,
    sampled_from: SampledFrom = None,
    truth: Truth = None,
    runs: Runs = "2000",
    json: Json = False,
) -> None:
    """Which omission has the smallest error at a guarantee? Often none."""
    from omit.accuracy.sampled_from import target_on_sample
    from omit.accuracy.search import best as find_best
    from omit.accuracy.search import default_candidates
    from omit.mechanisms.base import IntegrableMechanism

    data, target = chosen.data, chosen.target(epsilon)
    answers = []
    needed = target
    if sampled_from is not None:
        needed = target_on_sample(target, data.size, sampled_from)
    to_try = list(default_candidates(chosen.neighbours, data.size, needed.delta))
    for each in chosen.mechanisms:
        sizes = isinstance(each, IntegrableMechanism)
        with progress_bar(str(each), None if sizes else len(to_try), not json) as advance:
            found = find_best(
                data,
                each,
                target,
                None if sizes else to_try,
                truth=known_truth(truth, each.statistic, data),
                runs=_runs(runs, each),
                sampled_from=sampled_from,
                advance=advance,
            )
        answers.append(found)
    if not json:
        for found in answers:
            show([found.comparison], verdict=found.verdict)
        return
    _print_json(
        [
            {
                **as_json([found.comparison]),
                "mechanism": str(found.comparison.mechanism),
                "best": None if found.omission is None else str(found.omission),
                "nearest": str(found.nearest),
                "tried": found.tried,
                "verdict": found.verdict,
            }
            for found in answers
        ]
    )


def solve(
    chosen: Chosen,
    error: Annotated[float, typer.Option(help="The expected error to reach (% for the mean).")],
    omit: Annotated[str, typer.Option(help="A way to leave records out.")] = "none",
    truth: Truth = None,
    runs: Runs = "2000",
    json: Json = False,
) -> None:
    """Which epsilon reaches a wanted error?"""
    from omit._text import promised
    from omit.accuracy.compare import WARNING, private_notes
    from omit.accuracy.search import solve as find_epsilon
    from omit.omissions.names import parse_omission

    data = chosen.data
    answers, sentences = [], []
    for each in chosen.mechanisms:
        omission = parse_omission(omit, data.size).suited_to(each.statistic)
        guarantee, reached = find_epsilon(
            data,
            each,
            error,
            omission,
            delta=chosen.delta,
            neighbours=chosen.neighbours,
            truth=known_truth(truth, each.statistic, data),
            runs=_runs(runs, each),
        )
        notes = [*private_notes(each), *data.notes, WARNING]
        answers.append(_solution(each, omission, guarantee, reached, notes))
        sentences.append(
            f"{each} of {data.name} after {omission}: "
            f"{'' if each.private else 'noise as if for '}epsilon = "
            f"{promised(guarantee.epsilon)} reaches an expected error of "
            f"{reached.value:.6g} {reached.unit} ({reached.method})."
        )
    if json:
        _print_json(answers)
        return
    for sentence in sentences:
        typer.echo(sentence)
    unprotected = dict.fromkeys(note for each in chosen.mechanisms for note in private_notes(each))
    for note in (*unprotected, *data.notes, WARNING):
        typer.echo(note)


def _solution(
    mechanism: "Mechanism | Clustering",
    omission: "Omission",
    guarantee: "Guarantee",
    reached: "Error",
    notes: "Sequence[str]",
) -> dict[str, Any]:
    """Return what `omit solve` found, for programs."""
    return {
        "low": reached.low,
        "high": reached.high,
        "reason": reached.reason,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "neighbours": str(guarantee.neighbours),
        "omission": str(omission),
        "mechanism": str(mechanism),
        "error": reached.value,
        "method": reached.method,
        "unit": reached.unit,
        "private": mechanism.private,
        "notes": list(notes),
    }


def _print_json(answers: "Sequence[dict[str, Any]]") -> None:
    """Print one object, or a list of them if several mechanisms were asked for."""
    content = answers[0] if len(answers) == 1 else answers
    print_json(content)


def _default_omissions(neighbours: str, size: int) -> "Sequence[str]":
    """Return the usual ways to leave records out that are defined for the relation."""
    if neighbours == "replace":
        # Of the parity of all records, so that the median is one record in each row, or two.
        shares = (size * share // 10 for share in (1, 5, 9))
        if size % 2:
            sizes = dict.fromkeys(each | 1 for each in shares)
        else:
            sizes = dict.fromkeys(min(max(each - each % 2, 2), size - 1) for each in shares)
        return [f"fixed-size:{each}" for each in sizes]
    return DEFAULT_OMISSIONS


def _runs(text: str, mechanism: "Mechanism | Clustering") -> int:
    """Return how many runs are asked for: a number, or as many as the paper made."""
    runs = runs_asked_for(text)
    return mechanism.published_runs if runs is None else runs
