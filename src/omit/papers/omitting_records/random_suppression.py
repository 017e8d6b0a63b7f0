"""Theorems 5.3 and B.6 and what surrounds them, checked at small sizes.

Random suppressions of one and two records are held against linear programs over all mechanisms.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from omit.omissions.pairs import IndependentPair, SubsetPair
from omit.omissions.sampling import sampling_epsilon
from omit.papers.claims import Finding, agreement, claim, claims_in, under_every_reading
from omit.papers.omitting_records.deterministic_suppression import in_a_row, parts_of

# What a linear program in floating point can be trusted with.
_PROGRAM = 1e-6
_ROUNDING = 1e-9
_CASES = 60
_DELTA = 0.01


def _labelled_suppression(rng: np.random.Generator, size: int, support: bool) -> SubsetPair:
    """Return random laws of what is left of records that can be told apart.

    With `support` all subsets are possible, else about half of them.
    """
    labels = "abc"[:size]
    smaller, larger = list(parts_of(labels)), list(parts_of(labels + "y"))
    laws = []
    for subsets in (smaller, larger):
        weights = rng.dirichlet(np.full(len(subsets), rng.choice([0.3, 1.0, 5.0])))
        weights = (
            weights + 1e-3 if support else np.where(rng.random(len(subsets)) < 0.5, weights, 0)
        )
        if not weights.any():
            weights[0] = 1.0
        laws.append(dict(zip(subsets, (weights / weights.sum()).tolist(), strict=True)))
    return SubsetPair.from_distributions(labels, "y", *laws)


@functools.cache
def _stated_pairs(support: bool) -> tuple[tuple[SubsetPair, float, float, float, float], ...]:
    """Return random suppressions with ε, what a theorem states, and the exact loss."""
    rng, pairs = np.random.default_rng(2), []
    for _ in range(_CASES):
        pair = _labelled_suppression(rng, int(rng.integers(1, 3)), support)
        epsilon = float(rng.uniform(0.1, 2))
        stated = (pair.theorem_5_3 if support else pair.theorem_b_6)(epsilon, _DELTA)
        pairs.append((pair, epsilon, stated.epsilon, stated.delta, pair.exact(epsilon).epsilon))
    return tuple(pairs)


def _is_kept(support: bool) -> tuple[int, int, float]:
    """Return in how many cases ε or δ is exceeded, attained, and the largest ratio of losses."""
    exceeded, attained, closest = 0, 0, 0.0
    for pair, epsilon, stated, delta, exact in _stated_pairs(support):
        found = pair.exact_delta(epsilon, _DELTA, stated)
        exceeded += exact > stated + _PROGRAM or found > delta + _PROGRAM
        attained += abs(exact - stated) < _PROGRAM
        closest = max(closest, exact / stated if stated else 0.0)
    return exceeded, attained, closest


def _logarithm(_: object) -> Finding:
    exceeded, attained, closest = _is_kept(support=True)
    poisson = _poisson_losses()
    return Finding(
        agreement(exceeded == 0, all(abs(stated - exact) < _PROGRAM for stated, exact in poisson)),
        f"Of {_CASES} random suppressions of one and two records {exceeded} exceed it, by linear "
        f"programs over all mechanisms; {attained} attain it, the others reach up to "
        f"{closest:.4f} of it. For Poisson samples it is exact.",
    )


def _poisson_losses() -> list[tuple[float, float]]:
    """Return what Theorem 5.3 states of Poisson samples, and the known exact loss."""
    return [
        (
            IndependentPair((1 - rate,) * 2, (1 - rate,) * 2, 1 - rate)
            .to_subsets()
            .theorem_5_3(1.0)
            .epsilon,
            float(sampling_epsilon(1.0, rate)),
        )
        for rate in (0.1, 0.5, 0.9)
    ]


def _ratio(_: object) -> Finding:
    stated, exact = _poisson_losses()[1]
    below = sum(math.exp(ratio) < loss for *_, ratio, _delta, loss in _stated_pairs(support=True))
    return Finding(
        agreement(below == 0, abs(math.exp(stated) - exact) < _PROGRAM),
        f"A ratio is above its logarithm: of {_CASES} random suppressions {below} have a larger "
        "loss. It is not the tight bound of Poisson samples: at ε = 1 and a rate of 1/2 it is "
        f"{math.exp(stated):.4f}, where the loss is {exact:.4f}.",
    )


def _equal_records(_: object) -> Finding:
    """Leave random numbers of copies of one record, of three and of four."""
    of_three, of_four = (0.12, 0.3, 0.08, 0.5), (0.0, 0.07, 0.0, 0.13, 0.8)
    ratios = [
        ratio
        for copies, left in enumerate(of_three)
        for ratio in (
            (of_four[copies] + math.e * of_four[copies + 1]) / left,
            left / (of_four[copies] + of_four[copies + 1] / math.e),
        )
    ]
    laws = ({"y" * k: share for k, share in enumerate(law)} for law in (of_three, of_four))
    exact = SubsetPair.from_distributions("yyy", "y", *laws).exact(1.0).epsilon
    stated = math.log(max(ratios))
    return Finding(
        agreement(exact <= stated + _PROGRAM),
        "Where D has a copy of the added record, C may be C' + y, too, and the sum of the proof "
        "counts it twice. Of three copies 0 to 3 are left with probabilities "
        f"{in_a_row(of_three)}, of four 0 to 4 with {in_a_row(of_four)}: at ε = 1 "
        f"the exact loss is {exact:.4f}, and the theorem says {stated:.4f}.",
    )


_THEOREM_5_3 = claim(
    "Theorem 5.3",
    (),
    "After a suppression that satisfies the support condition, (ε^S, δ^S) is the largest ratio of "
    "the probabilities of what is left, and is tight for Poisson samples.",
    name="theorem-5-3",
)(
    under_every_reading(
        {
            "e^ε as the ratio, as the appendix has it": _logarithm,
            "ε as the ratio, as Section 5.2 prints it": _ratio,
            "databases that hold equal records": _equal_records,
        }
    )
)


@claim(
    "Section 5.2", (), "δ^S of Theorem 5.3 is at most δ, and ε^S may be larger, equal or smaller."
)
def _delta_never_grows(_: object) -> Finding:
    below, larger, smaller = True, 0, 0
    for _pair, epsilon, stated, delta, _exact in _stated_pairs(support=True):
        below &= delta <= _DELTA * (1 + _ROUNDING)
        larger += stated > epsilon
        smaller += stated < epsilon
    return Finding(
        agreement(below, larger > 0, smaller > 0),
        f"Of {_CASES} random suppressions δ^S is at most δ in {'all' if below else 'not all'}; ε^S "
        f"is above ε in {larger} and below in {smaller}.",
    )


@claim(
    "Section 5.2",
    (),
    "Theorem 5.3 is the bound of Theorem 5.1 for deterministic suppressions of sensitivity 1.",
)
def _contains_theorem_5_1(_: object) -> Finding:
    """Go through all rules that keep some of three records, whatever the database."""
    epsilon, rules = 0.8, list(parts_of("abc"))
    losses = []
    for kept in rules:
        left, of_larger = ("".join(x for x in records if x in kept) for records in ("ab", "abc"))
        pair = SubsetPair.from_distributions("ab", "c", {left: 1.0}, {of_larger: 1.0})
        losses.append(pair.theorem_5_3(epsilon, _DELTA))
    largest = max(one.epsilon for one in losses), max(one.delta for one in losses)
    return Finding(
        agreement(np.allclose(largest, (epsilon, _DELTA), rtol=_ROUNDING)),
        f"Over all {len(rules)} rules that keep some of three records in every database: at "
        f"({epsilon}, {_DELTA}) the largest ε^S is {largest[0]:.6g}, the largest δ^S "
        f"{largest[1]:.6g}.",
    )


@claim(
    "Definition B.5, A.4 in the short version",
    (),
    "What is left of either of two neighbours can be assigned to what may be left of the other.",
)
def _definition_b_5(_: object) -> Finding:
    stated = [epsilon for *_, epsilon, _delta, _exact in _stated_pairs(support=False)]
    return Finding(
        agreement(all(math.isfinite(one) for one in stated)),
        f"In {_CASES} random suppressions that leave about half of all subsets, assignments to the "
        "nearest subset exist in both directions, and Theorem B.6 is finite.",
    )


@claim(
    "Theorem B.6, A.5 in the short version",
    (),
    "For every suppression and assignment, (ε^S, δ^S) is the largest sum of ratios over what is "
    "assigned.",
)
def _theorem_b_6(_: object) -> Finding:
    exceeded, attained, closest = _is_kept(support=False)
    return Finding(
        agreement(exceeded == 0),
        f"With e^ε as the ratio in both directions (the first line prints ε): of {_CASES} random "
        f"suppressions that leave about half of all subsets {exceeded} exceed it, by linear "
        f"programs over all mechanisms; {attained} attain it, the others reach up to {closest:.4f} "
        "of it.",
    )


@claim(
    "Section 5.2",
    (),
    "Without the support condition δ^S ≤ δ is no longer sure, and neither is that pure DP stays "
    "pure.",
)
def _beyond_the_support_condition(_: object) -> Finding:
    cases = _stated_pairs(support=False)
    larger = sum(delta > _DELTA * (1 + _ROUNDING) for *_, delta, _exact in cases)
    impure = sum(pair.theorem_b_6(epsilon, 0.0).delta > 0 for pair, epsilon, *_ in cases)
    return Finding(
        agreement(larger > 0, impure > 0),
        f"Of {_CASES} random suppressions that leave about half of all subsets, {larger} have a "
        "δ^S above δ by Theorem B.6. Pure DP stays pure, as δ^S is a multiple of δ: where δ is 0, "
        f"δ^S is above 0 in {impure}.",
    )


@claim(
    "Remark B.7, A.6 in the short version",
    (),
    "Where the support condition holds, assigning every subset to itself gives Theorem 5.3, and is "
    "the best assignment for most suppressions.",
)
def _remark_b_7(_: object) -> Finding:
    rng = np.random.default_rng(3)
    furthest, better, tried = 0.0, 0, 0
    for pair, epsilon, stated, _delta, _exact in _stated_pairs(support=True):
        furthest = max(furthest, abs(pair.theorem_b_6(epsilon).epsilon - stated))
        subsets = [tuple(part) for part in parts_of("".join(map(str, pair.database)))]
        for _ in range(3):
            shuffled = rng.permutation(len(subsets))
            other = {subset: subsets[to] for subset, to in zip(subsets, shuffled, strict=True)}
            tried += 1
            better += pair.theorem_b_6(epsilon, 0.0, other, other).epsilon < stated - _ROUNDING
    return Finding(
        agreement(furthest < _ROUNDING, better < tried / 2),
        f"In {_CASES} random suppressions the two differ by at most {furthest:.0e}; of {tried} "
        f"random assignments {better} have a smaller ε^S.",
    )


def _all_different(_: object) -> Finding:
    below, least = 0, math.inf
    for pair, epsilon, *_rest, exact in _stated_pairs(support=True):
        bound = pair.lower_bound(epsilon)
        keeps = math.expm1(bound) / math.expm1(epsilon)
        below += exact < bound - _PROGRAM
        below += pair.exact_delta(epsilon, _DELTA, bound) < _DELTA * keeps - _PROGRAM
        least = min(least, exact / bound)
    return Finding(
        agreement(below == 0),
        f"Of {_CASES} random suppressions of one and two records none has a smaller ε or δ than "
        f"Poisson sampling (the smallest ratio of ε is {least:.4f}), by linear programs."
        if below == 0
        else f"{below} of {_CASES} random suppressions are below.",
    )


def _copies(_: object) -> Finding:
    def kept(copies: int) -> dict[str, float]:
        return {"": 1 - min(1.0, copies / 20), "y": min(1.0, copies / 20)}

    losses = [
        SubsetPair.from_distributions("y" * k, "y", kept(k), kept(k + 1)).exact(1.0).epsilon
        for k in range(1, 21)
    ]
    return Finding(
        agreement(max(losses) >= 1.0 - _PROGRAM),
        "One of k copies is kept with probability min(1, k/20), so for certain of twenty; the "
        f"largest exact loss at ε = 1 is {max(losses):.4f}, not 1.",
    )


_PROPOSITION_B_8 = claim(
    "Proposition B.8, A.9 in the short version",
    (),
    "No suppression amplifies more than Poisson sampling at the largest probability with which it "
    "keeps any record.",
    name="proposition-b-8",
)(
    under_every_reading(
        {
            "records that are all different": _all_different,
            "databases that hold equal records": _copies,
        }
    )
)


@claim(
    "Section 2.2",
    (),
    "After Poisson sampling at rate p, (ε, δ) becomes (ln(1 + p(e^ε − 1)), δp), and both are "
    "tight.",
)
def _poisson_is_tight(_: object) -> Finding:
    furthest = 0.0
    for rate, epsilon in itertools.product((0.1, 0.5, 0.9), (0.25, 1.0, 2.0)):
        pair = IndependentPair((1 - rate,) * 2, (1 - rate,) * 2, 1 - rate).to_subsets()
        after = float(sampling_epsilon(epsilon, rate))
        delta = pair.exact_delta(epsilon, _DELTA, after)
        off = abs(pair.exact(epsilon).epsilon - after), abs(delta - _DELTA * rate)
        furthest = max(furthest, *off)
    return Finding(
        agreement(furthest < _PROGRAM),
        "By linear programs over all mechanisms on three records, at three rates and three ε with "
        f"δ = {_DELTA}, the exact values differ by at most {furthest:.0e}.",
    )


@claim(
    "Section 2.2",
    (),
    "Where Poisson sampling keeps every record with a probability of its own, the tight parameters "
    "are those of the largest.",
)
def _own_probabilities(_: object) -> Finding:
    rng = np.random.default_rng(7)
    furthest, cases = 0.0, 12
    for _case in range(cases):
        kept, epsilon = rng.uniform(0.05, 0.95, 3), float(rng.uniform(0.2, 2))
        deleted, largest = 1 - kept, float(kept.max())
        losses, deltas = [], []
        for added in range(3):
            others = tuple(np.delete(deleted, added).tolist())
            pair = IndependentPair(others, others, float(deleted[added])).to_subsets()
            losses.append(pair.exact(epsilon).epsilon)
            deltas.append(pair.exact_delta(epsilon, _DELTA, losses[-1]))
        stated = float(sampling_epsilon(epsilon, largest))
        furthest = max(furthest, abs(max(losses) - stated), abs(max(deltas) - _DELTA * largest))
    return Finding(
        agreement(furthest < _PROGRAM),
        f"By linear programs over all mechanisms on three records, in {cases} random cases with "
        f"δ = {_DELTA:g}, the largest exact values differ from these by at most {furthest:.0e}.",
    )


def _largest_loss(records: int, size: int, epsilon: float) -> float:
    """Return the largest loss of a sample without replacement if a record is exchanged.

    By a linear program over all positive functions of what is drawn whose logarithms differ by at
    most `epsilon` where one record is exchanged. All records are different.
    """
    from scipy.optimize import linprog

    names = range(records + 1)
    samples = [frozenset(one) for one in itertools.combinations(names, size)]
    chances = [
        np.array([float(sample <= set(drawn)) for sample in samples]) / math.comb(records, size)
        for drawn in (names[:-1], (*names[:-2], names[-1]))
    ]
    rows = []
    for (i, first), (j, other) in itertools.permutations(enumerate(samples), 2):
        if len(first & other) == size - 1:
            row = np.zeros(len(samples))
            row[i], row[j] = 1.0, -math.exp(epsilon)
            rows.append(row)
    answer = linprog(
        -chances[0],
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=chances[1][None, :],
        b_eq=[1.0],
        method="highs",
    )
    return math.log(-answer.fun)


@claim(
    "Section 2.2",
    (),
    "After sampling m of N records without replacement, ε becomes ln(1 + m/N (e^ε − 1)) if a "
    "record may be exchanged, and that is tight.",
)
def _without_replacement(_: object) -> Finding:
    cases = [(2, 1), (3, 1), (3, 2), (4, 2), (5, 2), (5, 3), (5, 4)]
    furthest = max(
        abs(_largest_loss(n, size, epsilon) - float(sampling_epsilon(epsilon, size / n)))
        for n, size in cases
        for epsilon in (0.1, 1.0, 3.0)
    )
    return Finding(
        agreement(furthest < _PROGRAM),
        f"By linear programs over all mechanisms, for {len(cases)} sizes of up to five records and "
        f"three ε, the exact values differ by at most {furthest:.0e}.",
    )


CLAIMS = claims_in(globals())
