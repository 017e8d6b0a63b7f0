"""The adverse effects of omitting records, by Miranda-Pascual, Parra-Arnau and Strufe.

Its theorems are checked at small sizes (`deterministic_suppression`, `random_suppression`,
`outlier_scores`, `lemmas`), what it says about utility by the cells of its figures (`utility`,
`figure_claims`), also with better mechanisms (`mechanism_claims`).
"""

from __future__ import annotations

from dataclasses import replace

from omit.papers.base import OwnData, Paper
from omit.papers.claims import Claim
from omit.papers.omitting_records import (
    better_mechanisms,
    deterministic_suppression,
    figure_claims,
    figures,
    lemmas,
    mechanism_claims,
    outlier_scores,
    published_code,
    random_suppression,
    setting,
    utility,
)
from omit.papers.omitting_records.artefact import read_artefact

CLAIMS: tuple[Claim, ...] = (
    *deterministic_suppression.CLAIMS,
    *random_suppression.CLAIMS,
    *outlier_scores.CLAIMS,
    *lemmas.CLAIMS,
    *setting.CLAIMS,
    *published_code.CLAIMS,
    *utility.CLAIMS,
    *mechanism_claims.CLAIMS,
    *figure_claims.CLAIMS,
)


def _on(data: OwnData) -> Paper:
    about_no_data = (known for known in utility.CLAIMS if not known.exhibits)
    exhibits = (*figures.exhibits_on(data), *better_mechanisms.exhibits_on(data))
    return replace(PAPER, exhibits=exhibits, claims=(*about_no_data, *mechanism_claims.CLAIMS))


PAPER = Paper(
    "omitting-records",
    "The Adverse Effects of Omitting Records in Differential Privacy",
    "À. Miranda-Pascual, J. Parra-Arnau and T. Strufe, 'The Adverse Effects of Omitting Records in "
    "Differential Privacy: How Sampling and Suppression Degrade the Privacy–Utility Tradeoff', "
    "USENIX Security, long version.",
    (*figures.EXHIBITS, setting.TABLE_1, *better_mechanisms.EXHIBITS),
    CLAIMS,
    notes=figures.notes,
    on=_on,
    artefact=read_artefact,
)
