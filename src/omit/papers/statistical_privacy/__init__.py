"""Parallel composition for statistical privacy: Breutigam and Reischuk."""

from omit.papers.base import Paper
from omit.papers.statistical_privacy.claims import CLAIMS
from omit.papers.statistical_privacy.figures import EXHIBITS, NOTE

PAPER = Paper(
    "statistical-privacy",
    "Parallel Composition for Statistical Privacy",
    "D. Breutigam, R. Reischuk, “Parallel Composition for Statistical Privacy”, "
    "Universität zu Lübeck.",
    EXHIBITS,
    CLAIMS,
    notes=lambda computed: (NOTE,),
    refusals={
        "runs": "Nothing in statistical-privacy is simulated, so there are no runs to choose.",
        "exact": "Nothing in statistical-privacy is simulated; all of it is exact.",
        "epsilons": "statistical-privacy holds printed numbers against computed ones, at the "
        "epsilons that are printed; omit partition plan computes others.",
        "data": "statistical-privacy is about numbers of entries and no data; omit partition "
        "answers queries on yours.",
    },
)
