"""Epsilon and delta of disclosure control: Das, Zhu, Task, Van Hentenryck and Fioretto."""

from omit.papers.base import Paper
from omit.papers.disclosure_control.claims import CLAIMS
from omit.papers.disclosure_control.figures import EXHIBITS, notes

PAPER = Paper(
    "disclosure-control",
    "Finding ε and δ of Statistical Disclosure Control Systems",
    "S. Das, K. Zhu, C. Task, P. Van Hentenryck and F. Fioretto, 'Finding ε and δ of Statistical "
    "Disclosure Control Systems'.",
    EXHIBITS,
    CLAIMS,
    notes=notes,
    refusals={
        "exact": "disclosure-control shows exact and simulated numbers side by side already.",
        "epsilons": "disclosure-control holds printed numbers against computed ones, at the "
        "epsilons that are printed; omit disclose --epsilon computes others.",
        "data": "disclosure-control is about the NIST excerpts of its tables; omit disclose asks "
        "the same of yours.",
    },
)
