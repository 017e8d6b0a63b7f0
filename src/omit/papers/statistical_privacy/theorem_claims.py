"""What the statistical-privacy paper defines and proves, and its examples."""

from __future__ import annotations

import numpy as np

from omit.papers.base import Computed
from omit.papers.claims import Claim, Finding, Judge, agreement, claims_in, under_every_reading
from omit.papers.statistical_privacy import cells
from omit.papers.statistical_privacy.examples import squared_error
from omit.papers.statistical_privacy.theorems import THEOREMS


def _theorem(where: str, sentence: str, judge: Judge, name: str = "") -> Claim:
    return Claim(where, sentence, ("theorems",), judge, name=name)


DEFINITION_2_1 = _theorem(
    "Definition 2.1",
    "Differential privacy: no set of answers is more than e^ε times as probable, plus δ.",
    THEOREMS.judge("definition-2.1"),
)
DEFINITION_2_2 = _theorem(
    "Definition 2.2",
    "Statistical privacy: the same for the answers given two values of the critical entry.",
    THEOREMS.judge("definition-2.2"),
)
DEFINITION_2_3 = _theorem(
    "Definition 2.3",
    "The privacy curve is an integral of the positive part, and the largest difference over sets.",
    THEOREMS.judge("definition-2.3"),
)
DEFINITION_3_1 = _theorem(
    "Definitions 3.1 and 3.4, Section 5",
    "In a random partition of a format every entry has the chance n_k/n to be in the k-th block.",
    THEOREMS.judge("equal-chances"),
)
LEMMA_3_1 = _theorem(
    "Lemma 3.1, Definition 3.2",
    "The law of the answers on a random sample is the average over templates.",
    THEOREMS.judge("lemma-3.1"),
    "lemma-3-1",
)
DEFINITION_3_3 = _theorem(
    "Definition 3.3, Section 5.1",
    "For entries that are alike the sampling privacy curve of a block is the curve of its size.",
    THEOREMS.judge("one-curve-per-size"),
)
EXAMPLE_1 = _theorem(
    "Example 1",
    "The sampling privacy curve with v known entries is an average over a hypergeometric law.",
    under_every_reading(
        {
            "the weights as printed, drawn from n entries": THEOREMS.judge("example-1-as-printed"),
            "the critical entry not drawn again, n − 1 entries": THEOREMS.judge("example-1"),
        }
    ),
)
KNOWN_VALUES = _theorem(
    "Example 1",
    "The values of known entries do not matter, only how many there are.",
    THEOREMS.judge("known-values"),
    "known-values",
)
THRESHOLD = _theorem(
    "Section 4",
    "Every threshold for the number of known entries gives a bound that needs one curve only.",
    under_every_reading(
        {
            "the weights as printed, drawn from n entries": THEOREMS.judge("threshold-as-printed"),
            "the critical entry not drawn again, n − 1 entries": THEOREMS.judge("threshold"),
        }
    ),
    "threshold-bound",
)


def _rapid_then_flat(computed: Computed) -> Finding:
    parts = []
    shown = []
    for epsilon, deltas in computed.once(cells.deltas_by_size).items():
        share = float((deltas[0] - deltas[len(deltas) // 10]) / (deltas[0] - deltas[-1]))
        parts += [bool((np.diff(deltas) < 0).all()), share > 0.9]
        shown.append(f"{100 * share:.1f} % at ε = {epsilon:g}")
    return Finding(
        agreement(*parts),
        f"δ of a count falls with every unknown entry. Of its fall over {cells.SAMPLE:,} entries "
        f"the first tenth has {', '.join(shown)}.",
    )


RAPID_THEN_FLAT = Claim(
    "Section 4",
    "At a fixed ε the privacy curve of property queries drops rapidly at first and flattens out.",
    ("threshold",),
    _rapid_then_flat,
    name="rapid-then-flat",
)
DISJOINT_BLOCKS = _theorem(
    "Section 5",
    "The dependency between answers is lowest for disjoint blocks.",
    THEOREMS.judge("disjoint-blocks"),
    "disjoint-blocks",
)
ENTRIES_ALIKE = _theorem(
    "Section 5.1",
    "If entries are identically distributed, answers tell nothing about which entries they used.",
    under_every_reading(
        {
            "all entries random": THEOREMS.judge("entries-alike"),
            "the critical entry fixed": THEOREMS.judge("entries-alike-given-one"),
        }
    ),
    "entries-alike",
)
LEMMA_5_1 = _theorem(
    "Lemma 5.1",
    "Queries fixed beforehand on a random partition have the blocks' average δ.",
    THEOREMS.judge("lemma-5.1"),
)
SETS_ARE_PRODUCTS = _theorem(
    "Proofs of Lemmas 5.1 and 5.2",
    "The integral over the best set of answers splits into one integral for every block.",
    under_every_reading(
        {
            "all partitions together": THEOREMS.judge("sets-are-products"),
            "a given partition": THEOREMS.judge("sets-are-products-given-a-partition"),
        }
    ),
    "sets-are-products",
)


def _theorem_5_1(computed: Computed) -> Finding:
    finding = THEOREMS.judge("theorem-5.1")(computed)
    assert finding is not None
    table = cells.both_tables(computed)
    loose = (table["theorem"] / table["exact"]).max()
    return Finding(
        finding.standing,
        f"{finding.evidence} It is loose where all blocks ask for the same property, by a factor "
        f"of up to {loose:,.0f} in Tables 1 and 2: there the exact δ is that of one query on all "
        "entries.",
    )


THEOREM_5_1 = _theorem(
    "Theorem 5.1",
    "For entries that are alike δ is the average of the blocks' curves, by their sizes.",
    _theorem_5_1,
)
THEOREM_5_2 = _theorem(
    "Theorem 5.2",
    "For any entries δ is the average of the blocks' sampling privacy curves.",
    THEOREMS.judge("lemma-5.1"),
)
LEMMA_5_2 = _theorem(
    "Lemma 5.2",
    "For an analyst who adapts, the curve of the next query is averaged over the answers before.",
    THEOREMS.judge("lemma-5.2"),
)
THEOREM_5_3 = _theorem(
    "Theorem 5.3",
    "For entries that are alike and an analyst who adapts, δ is the blocks' expected average.",
    THEOREMS.judge("theorem-5.3"),
)
THEOREM_5_4 = _theorem(
    "Theorem 5.4",
    "For any entries and an analyst who adapts, δ averages over partitions and answers.",
    under_every_reading(
        {
            "the worst pair of values for every block and answer": THEOREMS.judge("theorem-5.4"),
            "one pair of values throughout, the worst of all": THEOREMS.judge("lemma-5.2"),
        }
    ),
)
EXAMPLE_2 = _theorem(
    "Example 2",
    "The squared error of a share grows by p(1 − p)/s − p(1 − p)/n on a sample.",
    THEOREMS.judge("example-2"),
)
SAMPLES_LOSE = _theorem(
    "Section 6",
    "For entries that are alike any sample, Poisson or without replacement, loses accuracy.",
    under_every_reading(
        {
            "samples that are not empty": THEOREMS.judge("samples-lose"),
            "empty Poisson samples that answer 1/2": THEOREMS.judge("samples-lose-unless-empty"),
        }
    ),
    "samples-lose",
)


_SIZES = (4, 8, 12)


def _inversely(computed: Computed) -> Finding:
    products = [size * squared_error(size, 0.5) for size in _SIZES]
    return Finding(
        agreement(np.allclose(products, products[0])),
        f"n times the squared error of a share is {products[0]:g} for n = 4, 8 and 12 (p = 1/2).",
    )


def _in_a_straight_line(computed: Computed) -> Finding:
    first, second = -np.diff([squared_error(size, 0.5) for size in _SIZES])
    return Finding(
        agreement(np.isclose(first, second)),
        f"From n = 4 to 8 and on to 12 that of a share falls by {first:.3g} and {second:.3g}.",
    )


LINEARLY = Claim(
    "Section 6",
    "The mean squared error of a mean falls linearly with the size of the database.",
    (),
    under_every_reading(
        {"an error in proportion to 1/n": _inversely, "a straight line": _in_a_straight_line}
    ),
    name="falls-linearly",
)

CLAIMS = claims_in(globals())
