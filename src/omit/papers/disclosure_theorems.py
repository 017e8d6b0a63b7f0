"""What the disclosure-control paper proves, beside what its mechanisms do on small tables."""

from __future__ import annotations

import math

import numpy as np

from omit._numeric import FloatArray
from omit.disclosure.attributes import Attribute
from omit.disclosure.histograms import LaplaceHistogram
from omit.disclosure.measures import exact_measures, published_bounds
from omit.disclosure.mechanism import CHANGE_QUASI_IDENTIFIERS
from omit.disclosure.suppression import RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping
from omit.disclosure.swapping_exact import exact_swapping_delta
from omit.disclosure.table import CountTable, Universe
from omit.guarantee import Guarantee
from omit.papers.verdict import Verdict, agreement, standing


def theorem_verdicts(table: CountTable) -> list[Verdict]:
    """Return what became of the lemma, the proposition and the theorems."""
    return [
        Verdict(
            "If the outputs whose likelihood ratio exceeds e^ε have probability at most δ, the "
            "mechanism is (ε, δ)-DP.",
            "Lemma 1",
            "holds",
            "Proved, not computed: the sum of max(0, P − e^ε Q) has a term for such outputs only, "
            "of at most P each. The condition must hold for all neighbours in both orders; it is "
            "sufficient, not necessary.",
        ),
        _suppression_guarantee(),
        _suppression_bias(),
        _swapping_guarantee(),
        _swapping_bias(table),
        *_fairness(),
    ]


def row_of_counts(*counts: int) -> CountTable:
    """Return a table with these counts in a row."""
    kinds = Attribute("kind", tuple(f"c{place}" for place in range(len(counts))))
    return CountTable((kinds,), np.array(counts))


def _suppression_guarantee() -> Verdict:
    suppression = RandomisedCellSuppression(6, False, 1.0)
    universe = Universe((Attribute("kind", ("a", "b", "c")),), records=39, largest_count=20)
    exact = suppression.exact_delta(1.0, universe)
    printed = suppression.published_delta(20)
    as_run = RandomisedCellSuppression(6, True, 1.0).guarantee(universe)
    return Verdict(
        "Randomised suppression is (ε, 1 − e^(−ε(B−k))/4)-DP.",
        "Theorem 1",
        agreement([exact.log_shortfall >= printed.log_shortfall, isinstance(as_run, Guarantee)]),
        f"Valid if empty cells are suppressed too, and not tight: for B = 20, k = 6, ε = 1 the "
        f"exact δ is 1 − {math.exp(exact.log_shortfall):.3g}, the theorem's 1 − "
        f"{math.exp(printed.log_shortfall):.3g}. With empty cells left as they are, as in the "
        "experiments, δ is 1.",
    )


def _suppression_bias() -> Verdict:
    odd, uneven = RandomisedCellSuppression(3, False, 1.0), row_of_counts(2, 2, 2)
    bias = exact_measures(odd, uneven).bias
    bound = published_bounds(odd, uneven)["Theorem 2: sum of biases"]
    return Verdict(
        "The biases of randomised suppression sum up to at most ‖k/2 − x‖₂ ‖p‖₂.",
        "Theorem 2",
        standing(bias <= bound),
        f"For odd k the mechanism uses ⌊k/2⌋ and the bound k/2: three cells of 2, k = 3, ε = 1 "
        f"have {bias:.4g}, the bound says {bound:.4g}.",
    )


def _swapping_guarantee() -> Verdict:
    swapping = RandomisedSwapping(("race",), rate=1.0, epsilon=0.1)
    race, town = Attribute("race", ("x", "y", "z")), Attribute("town", ("A", "B"))
    few = exact_swapping_delta(swapping, Universe((race, town), 3), 0.1)
    assert few is not None
    claimed = swapping.published_delta(3)
    return Verdict(
        "Randomised swapping is (ε, δ)-DP with δ below 1.",
        "Theorem 3",
        standing(few.delta <= claimed),
        "Attributes that are not swapped are released as they are, so δ = 1. Even if only "
        f"quasi-identifiers change ({CHANGE_QUASI_IDENTIFIERS}): ε = 0.1, γ = 0 and 3 records "
        f"need {few.delta:.3f}, the theorem says {claimed:.3f}.",
    )


def _swapping_bias(table: CountTable) -> Verdict:
    swapping = RandomisedSwapping(("RAC1P",), 0.25, epsilon=1.0)
    bias, _ = swapping.bias_and_variance(table)
    bounds = published_bounds(swapping, table)
    largest = bounds["Proposition 1: largest bias"]
    return Verdict(
        "The bias of a swapped cell is between (1 − γ)(L − m²) and (1 − γ)m².",
        "Proposition 1, Theorems 4 and 6",
        standing(_inside_swapping_bounds(bias, bounds)),
        f"On this table, and vacuous: for Massachusetts the bounds are ±{largest:.2g}, and the "
        f"biases lie between {bias.min():.1f} and {bias.max():.1f}.",
    )


def _fairness() -> list[Verdict]:
    shifted, steep = row_of_counts(2, 12), RandomisedCellSuppression(4, False, 4.0)
    laplace = exact_measures(LaplaceHistogram(4.0), shifted).fairness
    suppressed = exact_measures(steep, shifted).fairness
    fair = all(_theorem_5_and_7())
    ordered, reversed_ = _theorem_8()
    return [
        Verdict(
            "Randomised suppression and the Laplace histogram are fair up to the stated α.",
            "Theorems 5 and 7",
            standing(fair),
            "On 2,000 random tables each, the exact fairness "
            f"{'never exceeds' if fair else 'exceeds somewhere'} the stated α.",
        ),
        Verdict(
            "For smallest counts between 2 and k the Laplace histogram is at least as fair.",
            "Theorem 8",
            agreement([ordered, laplace <= suppressed]),
            f"It compares upper bounds, {'' if ordered else 'not '}in this order on 2,000 random "
            f"tables; the exact α are the other way round on {reversed_:,} of them. Counts "
            f"(2, 12), k = 4, ε = 4: {laplace:.3g} for Laplace, {suppressed:.2g} for suppression.",
        ),
    ]


def _inside_swapping_bounds(bias: FloatArray, bounds: dict[str, float]) -> bool:
    """Return whether biases obey Proposition 1 and Theorems 4 and 6."""
    return bool(
        bounds["Proposition 1: smallest bias"] <= bias.min()
        and bias.max() <= bounds["Proposition 1: largest bias"]
        and np.abs(bias).sum() <= bounds["Theorem 4: sum of biases"]
        and bias.max() - bias.min() <= bounds["Theorem 6: fairness"]
    )


def _theorem_5_and_7(tables: int = 2000) -> tuple[bool, bool]:
    rng = np.random.default_rng(0)
    five = seven = True
    for _ in range(tables):
        counts = rng.integers(0, 40, size=int(rng.integers(2, 8)))
        counts[0] += 1
        table = row_of_counts(*counts.tolist())
        epsilon = float(rng.uniform(0.1, 5))
        suppression = RandomisedCellSuppression(int(rng.integers(1, 20)), False, epsilon)
        bound = published_bounds(suppression, table)["Theorem 5: fairness"]
        five &= exact_measures(suppression, table).fairness <= bound * (1 + 1e-12)
        laplace = LaplaceHistogram(epsilon)
        bound = published_bounds(laplace, table)["Theorem 7: fairness"]
        seven &= exact_measures(laplace, table).fairness <= bound * (1 + 1e-12)
    return bool(five), bool(seven)


def _theorem_8(tables: int = 2000) -> tuple[bool, int]:
    """Return whether the bounds are in Theorem 8's order, and how often the exact α are not."""
    rng = np.random.default_rng(1)
    ordered, reversed_ = True, 0
    for _ in range(tables):
        k = int(rng.integers(2, 20))
        least = int(rng.integers(2, k + 1))
        table = row_of_counts(
            least, *rng.integers(least, 60, size=int(rng.integers(1, 7))).tolist()
        )
        epsilon = float(rng.uniform(0.1, 5))
        laplace = LaplaceHistogram(epsilon)
        suppression = RandomisedCellSuppression(k, False, epsilon)
        bound = published_bounds(suppression, table)["Theorem 5: fairness"]
        ordered &= published_bounds(laplace, table)["Theorem 7: fairness"] <= bound * (1 + 1e-12)
        of_laplace, of_suppression = (
            exact_measures(each, table).fairness for each in (laplace, suppression)
        )
        reversed_ += of_laplace > of_suppression * (1 + 1e-9) + 1e-12
    return ordered, int(reversed_)
