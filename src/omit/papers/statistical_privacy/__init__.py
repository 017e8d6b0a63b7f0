"""Parallel composition for statistical privacy, by Breutigam and Reischuk: what it claims."""

from __future__ import annotations

from omit.papers.base import Paper
from omit.papers.statistical_privacy import figures, table_claims, theorem_claims

PAPER = Paper(
    "statistical-privacy",
    "Parallel Composition for Statistical Privacy",
    "D. Breutigam, R. Reischuk, “Parallel Composition for Statistical Privacy”, "
    "Universität zu Lübeck.",
    figures.EXHIBITS,
    (*theorem_claims.CLAIMS, *table_claims.CLAIMS),
    notes=lambda computed: (
        "Statistical privacy and differential privacy are different promises: the first assumes "
        "that the adversary knows the distribution of the entries and none of the entries. Where "
        "numbers of queries stand side by side, it is the paper that compares them.",
    ),
    refusals={
        "runs": "Nothing in statistical-privacy is simulated, so there are no runs to choose.",
        "exact": "Nothing in statistical-privacy is simulated; all of it is exact.",
        "epsilons": "statistical-privacy holds printed numbers against computed ones, at the "
        "epsilons that are printed; omit partition plan computes others.",
        "data": "statistical-privacy is about numbers of entries and no data; omit partition "
        "answers queries on yours.",
    },
)
