"""What papers prove, tried on small cases: all of them where they are few, else random ones.

A theorem is a stream of pairs, what it states and what holds by definition, as in `omit.audit`. A
ledger reads the outcomes from a study; `omit verify NAME` tries more cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from omit.audit.bounds import FORMULA_TOLERANCE, Cases, Check, Outcome, run
from omit.papers.base import Computed, Exhibit
from omit.papers.claims import Finding, Judge, agreement
from omit.study.cell import Computation, Row

CASES = 200
"""Random cases of a theorem in a ledger of claims."""


@dataclass(frozen=True)
class Theorem:
    """A statement that small cases can refute.

    Parameters
    ----------
    says : str
        What is compared, in a few words.
    cases : callable
        Gives pairs of what is stated and what holds: this many random ones, or, if they are
        `listed`, all that are small.
    tolerance : float
        By how much what holds may exceed what is stated, for rounding.
    exact : bool
        Whether the statement is an equation, which any difference refutes.
    listed : bool
        Whether `cases` takes no arguments.
    """

    says: str
    cases: Callable[..., Cases]
    tolerance: float = FORMULA_TOLERANCE
    exact: bool = False
    listed: bool = False

    def check(self, rng: np.random.Generator, count: int) -> Check:
        """Return the check on this many random cases, or on all that are listed."""
        if self.listed:
            count, cases = sum(1 for _ in self.cases()), self.cases()
        else:
            cases = self.cases(rng, count)
        return Check(self.says, count, cases, self.tolerance, self.exact)


@dataclass(frozen=True)
class Theorems:
    """The theorems of a paper by name, and the computation whose cells try one of them each."""

    by_name: Mapping[str, Theorem]
    tried: Computation

    def exhibit(self) -> Exhibit:
        """Return the table of what came of all of them."""
        return Exhibit(
            "theorems",
            "Theorems on small cases",
            "What is stated next to what holds by definition. A ratio near 1 means that the "
            "statement is attained, or nearly so.",
            self._table,
            cells=lambda settings: self.tried.grid(theorem=list(self.by_name), cases=CASES),
            shown=lambda computed: self._table(computed).drop(columns="theorem"),
            quick=True,
        )

    def _table(self, computed: Computed) -> pd.DataFrame:
        frame = computed.frame(self.tried)
        return pd.DataFrame(
            {
                "theorem": frame["theorem"],
                "small cases": frame["claim"],
                "cases": frame["count"],
                "off by at most": frame["violation"].clip(lower=0).map("{:.1g}".format),
                "largest ratio": frame["closest_ratio"],
                "refuted": np.where(frame["holds"], "no", "yes"),
            }
        )

    def judge(self, *names: str) -> Judge:
        """Return the judge of a statement that theorems of these names decide together."""

        def judge(computed: Computed) -> Finding:
            frame = computed.frame(self.tried).set_index("theorem")
            outcomes = [_outcome(frame.loc[name]) for name in names]
            evidence = (
                in_words(outcome, self.by_name[name].exact)
                for name, outcome in zip(names, outcomes, strict=True)
            )
            standing = agreement(*(outcome.holds for outcome in outcomes))
            return Finding(standing, " ".join(evidence))

        return judge


def checks(theorems: Mapping[str, Theorem], seed: int, cases: int) -> list[Check]:
    """Return the checks of theorems, each with a random stream of its own."""
    streams = np.random.default_rng(seed).spawn(len(theorems))
    return [one.check(rng, cases) for one, rng in zip(theorems.values(), streams, strict=True)]


def outcome_row(theorem: Theorem, cases: int, rng: np.random.Generator) -> Row:
    """Return what came of a check, as a cell of a study has it."""
    return asdict(run(theorem.check(rng, cases)))


def _outcome(row: pd.Series) -> Outcome:
    return Outcome(
        str(row["claim"]),
        int(row["count"]),
        float(row["violation"]),
        float(row["closest_ratio"]),
        bool(row["holds"]),
    )


def in_words(outcome: Outcome, exact: bool = False) -> str:
    """Return an outcome as a sentence.

    Examples
    --------
    >>> in_words(Outcome("delta of all answers", 200, -0.1, 0.875, True))
    'Not refuted by 200 cases (delta of all answers): at most 0.875 times what is stated.'
    """
    cases = f"{outcome.count:,} cases ({outcome.claim})"
    if not outcome.holds:
        return f"Off by up to {outcome.violation:.3g} in {cases}."
    reached = "equal" if exact else f"at most {outcome.closest_ratio:.6g} times what is stated"
    return f"Not refuted by {cases}: {reached}."
