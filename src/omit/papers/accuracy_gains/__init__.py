"""Accuracy gains from sampling, by Hu, Drechsler and Kim: what it claims, and how it is judged."""

from __future__ import annotations

from dataclasses import replace

from omit.accuracy.grids import ErrorGrid
from omit.papers.accuracy_gains import (
    better_mechanisms,
    definition_claims,
    error_claims,
    noise_claims,
    sensitivity_claims,
)
from omit.papers.accuracy_gains.cells import POPULATION, Line
from omit.papers.accuracy_gains.figures import EXHIBITS, exhibits_on
from omit.papers.accuracy_gains.gains import errors_of, no_gains, show_gains
from omit.papers.base import Computed, OwnData, Paper
from omit.papers.claims import Finding, agreement, claim


def _some_gain(grid: ErrorGrid) -> Finding:
    return Finding(agreement(*((row > 0).any() for row in grid.gains)), show_gains(grid))


def _none_gain(grid: ErrorGrid) -> Finding:
    return Finding(no_gains(grid, grid.epsilons), show_gains(grid))


def _on(data: OwnData) -> Paper:
    """Return what can be asked of other data: about the mean, and about two ways to the median."""
    lines = [
        Line(mechanism=mechanism, **data.parameters)
        for mechanism in ("mean", "smooth", "exponential")
    ]
    some = "Median, smooth sensitivity: some sample gains at every epsilon."
    none = "Median, exponential mechanism: gains are unlikely."
    asked = (
        ("Table 1", "mean", "Mean: no gains.", error_claims.mean_never_gains.judge),
        ("Section 4.3", "median", some, _some_gain),
        ("Section 4.4", "mechanisms", none, _none_gain),
    )
    claims = tuple(
        claim(where, exhibit, sentence, of=errors_of(line))(judge)
        for (where, exhibit, sentence, judge), line in zip(asked, lines, strict=True)
    )
    return replace(PAPER, exhibits=exhibits_on(lines), claims=claims)


def _notes(computed: Computed) -> tuple[str, ...]:
    """Return how all of it was computed."""
    runs = computed.settings.runs
    whose = (
        "Errors are for the declared bounds"
        if computed.settings.data is not None
        else f"Populations of {POPULATION:,} records are those that R draws after set.seed(123), "
        "which the paper prints for the bimodal one. Their bounds are declared, [0, 1] (beta, "
        "bimodal) and [0, 2000] (lognormal), and stand beyond the last records"
    )
    return (
        f"{whose}. Distributions are {runs:,} draws; errors, and deviations of noise in claims, "
        f"are those of {runs:,} samples with the noise integrated exactly. δ = 1/(2N) throughout, "
        "neighbours differ by one exchanged record (replace), and samples are simple random ones "
        "whose members stay secret.",
    )


PAPER = Paper(
    "accuracy-gains",
    "Accuracy Gains from Privacy Amplification Through Sampling for Differential Privacy",
    "J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification "
    "Through Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, "
    "2022",
    (*EXHIBITS, better_mechanisms.EXHIBIT),
    (
        *definition_claims.CLAIMS,
        *noise_claims.CLAIMS,
        *sensitivity_claims.CLAIMS,
        *error_claims.CLAIMS,
        better_mechanisms.SAMPLING_PAYS,
    ),
    notes=_notes,
    refusals={
        "exact": "accuracy-gains has no exact errors to leave out: its samples are drawn already.",
    },
    runs=1000,
    fewest_runs=10,
    on=_on,
)
