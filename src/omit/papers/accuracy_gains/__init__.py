"""Accuracy gains from sampling: Hu, Drechsler and Kim."""

from dataclasses import replace

from omit.papers.accuracy_gains.claims import CLAIMS, claims_on
from omit.papers.accuracy_gains.figures import EXHIBITS, exhibits_on, lines_on, notes
from omit.papers.base import OwnData, Paper


def _on(data: OwnData) -> Paper:
    lines = lines_on(data)
    return replace(PAPER, exhibits=exhibits_on(lines), claims=claims_on(lines))


PAPER = Paper(
    "accuracy-gains",
    "Accuracy Gains from Privacy Amplification Through Sampling for Differential Privacy",
    "J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification "
    "Through Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, "
    "2022",
    EXHIBITS,
    CLAIMS,
    notes=notes,
    refusals={
        "exact": "accuracy-gains has no exact errors to leave out: its samples are drawn already.",
    },
    fewest_runs=10,
    on=_on,
)
