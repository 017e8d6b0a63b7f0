"""The statements of the disclosure-control paper that are numbered, and how they are judged.

What is computed for them is in `checks`. A statement holds under a reading if all its checks do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from omit.papers.base import Computed
from omit.papers.claims import Claim, Finding, Judge, agreement, under_every_reading
from omit.papers.disclosure_control import checks
from omit.study.cell import Computation, Row


@dataclass(frozen=True)
class Theorem:
    """A statement of the paper, and how it is checked.

    Parameters
    ----------
    where, sentence : str
        Where it is, and what it says.
    check : callable
        Returns its checks.
    remark : str
        What the checks do not say by themselves.
    name : str
        What it is called by; by default where it is.
    """

    where: str
    sentence: str
    check: Callable[[np.random.Generator], list[Row]]
    remark: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return self.name or self.where

    def judge(self, every: pd.DataFrame) -> Finding | None:
        """Return whether all, some or none of its checks hold, under every reading."""
        rows: list[dict[str, Any]] = every[every["theorem"] == self.key].to_dict("records")
        if not rows:
            return None
        readings: dict[str, Judge] = {
            reading: partial(self._found, reading) for reading in dict.fromkeys(map(_reading, rows))
        }
        found = under_every_reading(readings)(rows)
        if found is None or list(readings) == [""]:
            found = self._found("", rows)
        return replace(found, evidence=f"{found.evidence} {self.remark}".strip())

    def _found(self, reading: str, rows: list[dict[str, Any]]) -> Finding:
        own = [row for row in rows if _reading(row) == reading]
        return Finding(agreement(*(row["holds"] for row in own)), f"{in_words(own)}.")

    def claim(self) -> Claim:
        """Return it as a claim."""
        name = self.key.lower().replace(" ", "-")
        return Claim(self.where, self.sentence, ("theorems",), self.judge, theorem_frame, name)


def _reading(row: Row) -> str:
    return str(row["reading"])


def in_words(rows: Iterable[Row]) -> str:
    """Return what checks found and what is stated, in a sentence without its full stop.

    Examples
    --------
    >>> in_words([{"check": "sum of biases", "found": 2.0, "stated": 1.5}])
    'Sum of biases: 2 (stated 1.5)'
    """
    parts = [
        f"{row['check']}: {row['found']:,.4g}"
        + (f" (stated {row['stated']:,.4g})" if row["stated"] else "")
        for row in rows
    ]
    listed = "; ".join(parts)
    # Greek letters are symbols: Δ is not δ at the start of a sentence.
    return listed[:1].upper() + listed[1:] if listed[:1].isascii() else listed


THEOREMS = (
    Theorem(
        "Definition 1",
        "α-fairness: no two cells differ in bias by more than α.",
        lambda rng: checks.definition_1(),
        "The smallest such α is what omit calls the fairness.",
    ),
    Theorem(
        "Definition 2",
        "(ε, δ)-differential privacy: P(R) ≤ e^ε Q(R) + δ for all neighbours and sets of answers.",
        lambda rng: checks.definition_2(),
        "The smallest such δ is the exact δ of omit.",
    ),
    Theorem(
        "Definition 3",
        "Cell suppression shows counts from k on as they are, and ⌊k/2⌋ for the others.",
        lambda rng: checks.definition_3(),
        "The definition suppresses empty cells, the experiments of Section 7 keep them.",
    ),
    Theorem(
        "Section 3",
        "The Laplace histogram of scale 2/ε is (ε, 0)-DP.",
        lambda rng: checks.laplace_histogram(),
        name="Laplace histogram is private",
    ),
    Theorem(
        "Section 3",
        "The discrete Gaussian histogram with 4/ε² is (½ε² + ε√(2 ln 1/δ), δ)-DP.",
        lambda rng: checks.discrete_gaussian(),
        "The paper writes 4/ε² where its notation has a standard deviation.",
        "Discrete Gaussian is private",
    ),
    Theorem(
        "Section 5",
        "Cell suppression and swapping themselves satisfy no differential privacy.",
        lambda rng: checks.no_guarantee_of_originals(),
        name="Originals are not private",
    ),
    Theorem(
        "Lemma 1",
        "If the outputs whose likelihood ratio exceeds e^ε have probability at most δ, the "
        "mechanism is (ε, δ)-DP.",
        checks.lemma_1,
        "The condition must hold for all neighbours in both orders; it is sufficient, not "
        "necessary.",
    ),
    Theorem(
        "Theorem 1",
        "Randomised suppression is (ε, 1 − e^(−ε(B−k))/4)-DP.",
        lambda rng: checks.theorem_1(),
        "Where empty cells are suppressed, too, it is valid and not tight; where they are kept, a "
        "cell that is shown as empty tells that nobody is in it.",
    ),
    Theorem(
        "Section 5",
        "The bias of randomised suppression is (k/2 − x) P(x + η < k).",
        lambda rng: checks.bias_of_suppression(),
        "The mechanism shows ⌊k/2⌋.",
        "Bias of suppression",
    ),
    Theorem(
        "Theorem 2",
        "The biases of randomised suppression sum up to at most ‖k/2 − x‖₂ ‖p‖₂.",
        lambda rng: checks.theorem_2(),
        "For even k it is the inequality of Cauchy and Schwarz; for odd k the mechanism uses ⌊k/2⌋ "
        "and the bound k/2.",
    ),
    Theorem(
        "Section 5",
        "Permute-and-flip chooses donors with probabilities in inverse proportion to their "
        "discrepancy.",
        lambda rng: checks.donor_chances(),
        name="Chances of donors",
    ),
    Theorem(
        "Theorem 3",
        "Randomised swapping is (ε, δ)-DP with δ = 1 − 2γ(1−γ)L − 3(1−γ)²L² and L = e^(−ε/2)/m.",
        lambda rng: checks.theorem_3(),
    ),
    Theorem(
        "Proposition 1",
        "The bias of a swapped cell is between (1 − γ)(L − m²) and (1 − γ)m².",
        lambda rng: checks.bounds_on_swapping(rng, "Proposition 1"),
        "No bias exceeds (1 − γ)m, as no more records are swapped on average: the bounds are "
        "vacuous.",
    ),
    Theorem(
        "Theorem 4",
        "The biases of randomised swapping sum up to at most (1 − γ)m³.",
        lambda rng: checks.bounds_on_swapping(rng, "Theorem 4"),
        "They sum up to 2(1 − γ)m at most: the bound is vacuous.",
    ),
    Theorem(
        "Theorem 5",
        "Randomised suppression is fair up to the stated α.",
        checks.theorem_5,
    ),
    Theorem(
        "Theorem 6",
        "Randomised swapping is fair up to (1 − γ)m³.",
        lambda rng: checks.bounds_on_swapping(rng, "Theorem 6"),
        "Two biases differ by 2(1 − γ)m at most: the bound is vacuous.",
    ),
    Theorem(
        "Theorem 7",
        "The Laplace histogram is fair up to e^(−εx₁/2)(xₙ − x₁)/2.",
        checks.theorem_7,
    ),
    Theorem(
        "Theorem 8",
        "For smallest counts between 2 and k the Laplace histogram is at least as fair as "
        "randomised suppression.",
        checks.theorem_8_suppression,
        "The proof compares upper bounds.",
        "Theorem 8 suppression",
    ),
    Theorem(
        "Theorem 8",
        "For smallest counts between 2 and k and γ ≤ 1 − B/2m³ the Laplace histogram is at least "
        "as fair as randomised swapping.",
        checks.theorem_8_swapping,
        "The proof compares upper bounds.",
        "Theorem 8 swapping",
    ),
    Theorem(
        "Section 6",
        "The largest γ that Theorem 8 allows is next to 1 for real data.",
        lambda rng: checks.largest_gamma(),
        name="Largest gamma",
    ),
)


def _checked(parameters: Row, prepared: object, rng: np.random.Generator) -> list[Row]:
    (theorem,) = (one for one in THEOREMS if one.key == parameters["theorem"])
    return theorem.check(rng)


CHECKED = Computation("theorems on small tables", 2, _checked)


def theorem_frame(computed: Computed) -> pd.DataFrame:
    """Return all checks."""
    return computed.frame(CHECKED)


THEOREM_CLAIMS = tuple(theorem.claim() for theorem in THEOREMS)
