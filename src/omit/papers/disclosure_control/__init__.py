"""Epsilon and delta of disclosure control, by Das, Zhu, Task, Van Hentenryck and Fioretto.

What is numbered is judged in `theorems`, what Table 1 says in `table_claims`, what the figures show
in `figure_claims` and `use_claims`.
"""

from __future__ import annotations

from omit.papers.base import Paper
from omit.papers.disclosure_control.figure_claims import FIGURE_CLAIMS
from omit.papers.disclosure_control.figures import EXHIBITS
from omit.papers.disclosure_control.table_claims import TABLE_CLAIMS
from omit.papers.disclosure_control.theorems import THEOREM_CLAIMS
from omit.papers.disclosure_control.use_claims import USE_CLAIMS

PAPER = Paper(
    "disclosure-control",
    "Finding ε and δ of Statistical Disclosure Control Systems",
    "S. Das, K. Zhu, C. Task, P. Van Hentenryck and F. Fioretto, 'Finding ε and δ of Statistical "
    "Disclosure Control Systems'.",
    EXHIBITS,
    (*THEOREM_CLAIMS, *TABLE_CLAIMS, *FIGURE_CLAIMS, *USE_CLAIMS),
    notes=lambda computed: (
        "The records are public-use data of the American Community Survey 2019 (NIST excerpts).",
        "Guarantees are under replace. Missing incomes count as below 50,000 unless a reading says "
        "otherwise.",
    ),
    refusals={
        "exact": "disclosure-control shows exact and simulated numbers side by side already.",
        "epsilons": "disclosure-control holds printed numbers against computed ones, at the "
        "epsilons that are printed; omit disclose --epsilon computes others.",
        "data": "disclosure-control is about the NIST excerpts of its tables; omit disclose asks "
        "the same of yours.",
    },
    runs=200,
)
