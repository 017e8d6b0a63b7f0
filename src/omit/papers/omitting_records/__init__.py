"""The adverse effects of omitting records: Miranda-Pascual, Parra-Arnau and Strufe."""

from dataclasses import replace

from omit.papers.base import OwnData, Paper
from omit.papers.omitting_records.claims import CLAIMS, ON_OTHER_DATA
from omit.papers.omitting_records.figures import EXHIBITS, exhibits_on, notes


def _on(data: OwnData) -> Paper:
    return replace(PAPER, exhibits=exhibits_on(data), claims=ON_OTHER_DATA)


PAPER = Paper(
    "omitting-records",
    "The Adverse Effects of Omitting Records in Differential Privacy",
    "À. Miranda-Pascual, J. Parra-Arnau and T. Strufe, 'The Adverse Effects of Omitting Records in "
    "Differential Privacy: How Sampling and Suppression Degrade the Privacy–Utility Tradeoff', "
    "USENIX Security, long version.",
    EXHIBITS,
    CLAIMS,
    notes=notes,
    on=_on,
)
