"""Accuracy gains from sampling: what the paper's figures show, declared.

Hu, Drechsler and Kim draw populations of 10,001 records, protect their means and medians with and
without sampling first, and compare. The populations are the registered data sets `beta`,
`lognormal` and `bimodal`. What the paper says, and what became of it, is in
`accuracy_gains_verdicts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from omit.papers.verdict import Paper

PAPER = Paper(
    name="accuracy-gains",
    title="Accuracy Gains from Privacy Amplification Through Sampling for Differential Privacy",
    citation="J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification "
    "Through Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, "
    "2022",
)

POPULATION = 10_001
DELTA = 1 / (2 * POPULATION)
RUNS = 1000
"""How often the paper repeats everything that it draws."""
VIOLIN_EPSILONS = (0.1, 0.5, 1.0)
VIOLIN_SIZES = (1001, 101)
LINE_EPSILONS = (0.01, 0.1, 0.5, 1.0, 3.0, 5.0)
LINE_RATES = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SAVING_EPSILONS = (0.001, 0.01, 0.1, 0.5, 1.0, 3.0, 5.0)
PUBLISHED_RATIOS = {(0.1, 1001): 1.28, (0.1, 101): 3.72, (1.0, 1001): 4.24, (1.0, 101): 23.30}
"""Medians of the ratios of sensitivities in Figure 6, by epsilon and sample size."""
ACCEPTED_RATIOS = {
    (0.1, 1001): (1.15, 1.45),
    (0.1, 101): (3.0, 4.1),
    (1.0, 1001): (2.5, 4.6),
    (1.0, 101): (13.5, 25.0),
}
"""Between which values these medians lie for other draws of the same population."""


@dataclass(frozen=True)
class BoundsVariant:
    """One reading of what limits the values of the lognormal population, for which none is stated.

    `upper` is the declared upper bound; None stands for no padding at all, which is not private.
    """

    name: str
    upper: float | None


BOUNDS_VARIANTS = (
    BoundsVariant("no padding (NOT private)", None),
    BoundsVariant("bound 2,000", 2e3),
    BoundsVariant("bound 10,000", 1e4),
    BoundsVariant("bound 100,000", 1e5),
)
