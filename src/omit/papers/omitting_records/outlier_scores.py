"""What the paper says about the bound of Theorem 5.4, checked at small sizes and on grids.

Small databases are listed, closed forms held against bisection, and limits extrapolated. The lemmas
of its proof are in `lemmas`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from omit._numeric import FloatArray
from omit.audit.bounds import small_multisets
from omit.omissions.outlier_score import (
    maximiser_l1,
    maximiser_l2,
    mixture_epsilon,
    outlier_score_pair,
    published_base_epsilon,
    published_epsilon,
    published_terms,
)
from omit.omissions.sampling import sampling_epsilon
from omit.papers.claims import Finding, agreement, claim, claims_in, under_every_reading
from omit.papers.omitting_records.privacy_figures import PRIVACY_EPSILONS, regions

# What a linear program in floating point can be trusted with.
_PROGRAM = 1e-6
_ROUNDING = 1e-9
_CASES = 60


_GRID = tuple(
    (epsilon, m / 20, M / 20)
    for epsilon in (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
    for m, M in itertools.combinations(range(1, 20), 2)
)


@claim(
    "Theorem 5.4",
    (),
    "After outlier-score suppression an (ε, δ)-DP mechanism is (ε^S, δ(1 − m))-DP, with ε^S the "
    "largest of three terms in (ε, m, M).",
)
def _theorem_5_4(_: object) -> Finding:
    """Go through all databases of up to four records of small universes."""
    cases = ((0.25, 0.1, 0.2), (1.0, 0.5, 0.6), (1.0, 0.3, 0.9), (2.0, 0.6, 0.95))
    stated = {case: float(published_epsilon(*case)) for case in cases}
    databases = [distances for distances in small_multisets() if len(distances) <= 4]
    exceeded, above, closest = 0, 0, 0.0
    for distances in databases:
        for (epsilon, m, M), bound in stated.items():
            loss = outlier_score_pair(distances, m, M).loss(epsilon).epsilon
            exceeded += loss > bound + _ROUNDING
            closest = max(closest, loss / bound)
    sample = databases[::20]
    for distances in sample:
        for (epsilon, m, M), bound in stated.items():
            pair = outlier_score_pair(distances, m, M).to_subsets()
            above += pair.exact_delta(epsilon, 0.05, bound) > 0.05 * (1 - m) + _PROGRAM
    return Finding(
        agreement(exceeded == 0, above == 0),
        f"On all {len(databases)} databases of up to four records of four small universes, with "
        f"four (ε, m, M), {exceeded} of {len(databases) * len(cases):,} exact losses exceed it, "
        f"and the closest reaches {closest:.4f} of it; with δ, {above} of "
        f"{len(sample) * len(cases)} linear programs do. Its numerical step is Remarks B.22 and "
        "B.24.",
    )


@claim(
    "Corollary B.13, A.10 in the short version",
    (),
    "Outlier-score suppression amplifies no more than Poisson sampling at the rate 1 − m.",
)
def _corollary_b_13(_: object) -> Finding:
    epsilon, m, M = np.array(_GRID).T
    poisson = sampling_epsilon(epsilon, 1 - m)
    smallest = min(float((bound(epsilon, m, M) - poisson).min()) for bound in _BOUNDS.values())
    alone = max(
        abs(outlier_score_pair([[0.0]], a, b).loss(e).epsilon - float(sampling_epsilon(e, 1 - a)))
        for e, a, b in _GRID[::50]
    )
    return Finding(
        agreement(alone < _ROUNDING, smallest > -_ROUNDING),
        f"The first record of an empty database loses as much as after Poisson sampling, exactly "
        f"(differences up to {alone:.0e}); on {len(_GRID):,} (ε, m, M) neither bound is below "
        f"(smallest difference {smallest:.0e}).",
    )


_BOUNDS = {"Theorem 5.4": published_epsilon, "the mixture bound": mixture_epsilon}


@claim(
    "Proposition B.9",
    (),
    "The (m, M)-transformation of a distance lies in [m, M], is m for equal records only, is "
    "symmetric, and T(x, y) ≤ T(x, z) + T(z, y) − m.",
)
def _proposition_b_9(_: object) -> Finding:
    worst = -math.inf
    parts = [True, True, True]
    for distances in small_multisets():
        T = 0.2 + 0.5 * distances
        parts[0] &= bool((T >= 0.2).all() and (T <= 0.7).all())
        parts[1] &= bool(((T == 0.2) == (distances == 0)).all())
        parts[2] &= bool((T.T == T).all())
        worst = max(worst, float((T[:, None] - T[:, :, None] - T[None] + 0.2).max()))
    return Finding(
        agreement(*parts, worst < _ROUNDING),
        "On all databases of up to six records of four small universes, with m = 0.2 and M = 0.7; "
        f"the inequality is never missed by more than {max(worst, 0.0):.0e}.",
    )


def _closed_form_1(epsilon: float, m: float, M: float) -> float:
    """Return p_1 of Proposition B.10 as printed."""
    if epsilon == 0:
        value = (1 - m) / (M - m) - math.sqrt(M * m * (1 - m) * (1 - M)) / (M * (M - m))
        return min(1.0, max(0.0, value))
    E = math.exp(epsilon)
    a = (E - 1) * M / m * (M - m) ** 2
    b = -(M - m) / m * ((m * m - 4 * M * m + 2 * M) * (E - 1) + E * M)
    c = (1 - m) / m * ((E - 1) * (2 * m * m - 4 * M * m - m) + (3 * E - 1) * M)
    d = -(1 - m) * ((E - 1) * (m - 2) + E / m)
    return _least_root(a, b, c, d)


def _closed_form_2(epsilon: float, m: float, M: float) -> float:
    """Return p_2 of Proposition B.10 as printed."""
    if epsilon == 0:
        return min(1.0, max(0.0, 2 - math.sqrt(m * (1 - M)) / (1 - M)))
    E = math.exp(epsilon)
    a = (E - (E - 1) * m) / m
    b = -(6 * E - (E - 1) * (M + 5 * m)) / m
    inner = m * ((E - 1) * (m + 9 * M - 9) - E) + 4 * M * ((E - 1) * M - 4 * E + 1) + 12 * E
    c = inner / ((1 - M) * m)
    d = -(2 * E - (E - 1) * (M + m)) * (4 - 4 * M - m) / ((1 - M) * m) + 2 * (E - 1)
    return _least_root(a, b, c, d)


def _least_root(a: float, b: float, c: float, d: float) -> float:
    """Return the root of a cubic by the printed formulas, moved into [0, 1]."""
    D0, D1 = b * b - 3 * a * c, 2 * b**3 - 9 * a * b * c + 27 * a * a * d
    if D1**2 > 4 * D0**3:
        root = math.sqrt(D1**2 - 4 * D0**3)
        roots = math.cbrt((D1 + root) / 2) + math.cbrt((D1 - root) / 2)
    else:
        cosine = min(1.0, max(-1.0, D1 / 2 / D0**1.5))
        roots = 2 * math.sqrt(D0) * math.cos(math.acos(cosine) / 3)
    return min(1.0, max(0.0, -(b + roots) / (3 * a)))


def _furthest(epsilons: tuple[float, ...]) -> float:
    """Return how far the closed forms are from the maximisers that bisection finds."""
    pairs = list(itertools.combinations((0.05, 0.2, 0.4, 0.6, 0.8, 0.95), 2))
    return max(
        abs(closed(epsilon, m, M) - float(bisected(epsilon, m, M)))
        for closed, bisected in ((_closed_form_1, maximiser_l1), (_closed_form_2, maximiser_l2))
        for epsilon in epsilons
        for m, M in pairs
    )


@claim(
    "Proposition B.10, A.7 in the short version",
    (),
    "The largest values of l1 and l2 are at roots of cubics in closed form; for ε = 0 at roots of "
    "quadratics, and for m = M they are constant.",
)
def _proposition_b_10(_: object) -> Finding:
    usual, zero = _furthest((0.1, 0.5, 1.0, 2.0, 5.0)), _furthest((0.0,))
    small = _furthest((1e-8,))
    same = np.array([0.1, 0.5, 0.9])
    first, second, _third = published_terms(1.0, same, same)
    constant = float(np.abs(np.stack([first, second]) - sampling_epsilon(1.0, 1 - same)).max())
    return Finding(
        agreement(usual < 1e-5, zero < 1e-5, constant < _ROUNDING),
        f"Against bisection, with 15 pairs (m, M): differences of at most {usual:.0e} for ε from "
        f"0.1 to 5 and {zero:.0e} for ε = 0; for m = M both are those of Poisson sampling. In "
        f"floating point the cubics lose their digits: {small:.1g} off at ε = 1e-8.",
    )


def _by_theorem_5_3(size: int, before: float, after: float, added: float, epsilon: float) -> float:
    """Return ε of Theorem 5.3 for records that are deleted independently and all alike."""
    kept, deleted = math.log((1 - after) / (1 - before)), math.log(after / before)
    growth = math.expm1(epsilon)
    presence = math.log1p(growth * (1 - added)) + size * max(kept, deleted)
    absence = epsilon - math.log1p(growth * added) + size * max(-kept, -deleted)
    return max(presence, absence)


def _attained(epsilon: float, m: float, M: float) -> tuple[float, float]:
    """Return ε of Theorem 5.3 for ever more copies, and for ever more records around a hub.

    That is, for copies of one record and another one far away, and for records far apart with one
    between them, extrapolated from 2,000 and 4,000 records: the distance to the limit halves.
    """
    losses = []
    for size in (2000, 4000):
        copies = 0.0, 1 / (size + 1), size / (size + 1)
        hub = (size - 1) / size, (size - 0.5) / (size + 1), 0.5 * size / (size + 1)
        for pair in (copies, hub):
            before, after, added = (m + (M - m) * one for one in pair)
            losses.append(_by_theorem_5_3(size, before, after, added, epsilon))
    return 2 * losses[2] - losses[0], 2 * losses[3] - losses[1]


def _mixed(epsilon: float, m: float, M: float) -> float:
    """Return the largest limit of ε of Theorem 5.3 over mixtures of the two databases.

    A share p of the records are copies of x, the others lie at distance t from y, as far apart as
    that allows, and at distance s from x; y is at distance 1 from x.
    """
    p, t, s = np.meshgrid(*[np.linspace(0, 1, 41)] * 3, indexing="ij")
    s = np.maximum(s, 1 - t)
    spread = M - m
    of_copies = m + spread * (1 - p) * s
    of_others = m + spread * (p * s + (1 - p) * np.minimum(1, 2 * t))
    to_y = m + spread * t
    gain = p * np.maximum(M / of_copies, (1 - M) / (1 - of_copies))
    gain = gain + (1 - p) * np.maximum(to_y / of_others, (1 - to_y) / (1 - of_others)) - 1
    score = p * M + (1 - p) * to_y
    return float((np.log1p(math.expm1(epsilon) * (1 - score)) + gain).max())


def _regions() -> Iterator[tuple[tuple[float, float, float], str, float]]:
    """Give for points of the grid in which region they are, and ε of Theorem 5.4."""
    for epsilon, m, M in _GRID[::7]:
        first, second, third = (float(term) for term in published_terms(epsilon, m, M))
        maximiser = maximiser_l1 if first >= second else maximiser_l2
        p = float(maximiser(epsilon, m, M))
        region = (
            "l3" if third > max(first, second) else {0.0: "p = 0", 1.0: "p = 1"}.get(p, "other")
        )
        yield (epsilon, m, M), region, max(first, second, third)


@claim(
    "Proposition B.12",
    (),
    "Where the largest term is at p = 0 or p = 1 or is l3, ε of Theorem 5.4 is that of Theorem 5.3 "
    "in the limit; at p = 1 for every distance.",
)
def _proposition_b_12(_: object) -> Finding:
    furthest = {"p = 0": 0.0, "p = 1": 0.0, "l3": 0.0}
    counts = dict.fromkeys(furthest, 0)
    for case, region, stated in _regions():
        if region in furthest:
            copies, hub = _attained(*case)
            off = abs((hub if region == "p = 0" else copies) - stated) / stated
            furthest[region] = max(furthest[region], off)
            counts[region] += 1
    listed = ", ".join(
        f"{region} {counts[region]} points, at most {100 * off:.2g} % off"
        for region, off in furthest.items()
    )
    return Finding(
        agreement(*(off < 1e-3 for off in furthest.values())),
        "Extrapolated from 4,000 records (copies of one and one far away; at p = 0 records far "
        f"apart and one between them): {listed}.",
    )


@claim(
    "Remark B.11, A.8 in the short version",
    (),
    "Copies of one record with one far away attain the bound where p = 1, records far apart with "
    "one between them where p = 0; elsewhere a mixture of both is believed to.",
)
def _remark_b_11(_: object) -> Finding:
    at_ends, ratios, true_ratios = True, [], []
    for case, region, stated in _regions():
        if region == "other":
            ratios.append(_mixed(*case) / stated)
            true_ratios.append(float(mixture_epsilon(*case)) / stated)
        else:
            attained = _attained(*case)[region == "p = 0"]
            at_ends &= abs(attained / stated - 1) < 1e-3
    mixed = sum(ratio > 1 - 1e-3 for ratio in ratios)
    return Finding(
        agreement(at_ends, mixed > 0.9 * len(ratios)),
        f"At the ends they do. Between the regions the best of 41³ mixtures, with distances that a "
        f"metric can have, comes within a thousandth of it at {mixed} of {len(ratios)} points, and "
        f"reaches {min(ratios):.2f} to {max(ratios):.2f} of it. The true loss is at most the "
        f"mixture bound, {min(true_ratios):.2f} to {max(true_ratios):.2f} of it there.",
    )


@claim(
    "Section 5.3",
    (),
    "ε^S grows without limit as m → 0 or M → 1, and ε^S/ε tends to 1 as ε grows.",
)
def _limits_of_the_bound(_: object) -> Finding:
    small = published_epsilon(1.0, 10.0 ** -np.arange(1, 7), 0.5)
    large = published_epsilon(1.0, 0.5, 1 - 10.0 ** -np.arange(1, 7))
    ratios = published_epsilon(np.array([10.0, 100.0, 1000.0]), 0.3, 0.7) / [10, 100, 1000]
    true = float(mixture_epsilon(1.0, 0.0, 1.0))
    return Finding(
        agreement(small[-1] > 1e4, large[-1] > 1e4, abs(ratios[-1] - 1) < 0.01),
        f"At ε = 1 it is {small[0]:.3g} at m = 0.1 and {small[-1]:.3g} at 10⁻⁶ (M = 0.5), and "
        f"{large[0]:.3g} at M = 0.9 and {large[-1]:.3g} at 1 − 10⁻⁶ (m = 0.5); at (0.3, 0.7) the "
        f"ratio is {ratios[0]:.4f}, {ratios[1]:.4f} and {ratios[2]:.4f} at ε = 10, 100 and 1,000. "
        f"The growth is that of the bound: the true loss is at most {true:.4f} for all m and M.",
    )


@claim("Section 5.3", (), "The maximum is usually at p = 0 or p = 1.")
def _maximum_is_at_an_end(_: object) -> Finding:
    shares = {}
    m, M = np.array(list(itertools.combinations(np.arange(1, 100) / 100, 2))).T
    for epsilon in (0.0, 0.25, 0.5, 1.0, 2.0):
        first, second, third = published_terms(epsilon, m, M)
        p = np.where(first >= second, maximiser_l1(epsilon, m, M), maximiser_l2(epsilon, m, M))
        ends = (p == 0) | (p == 1) | (third > np.maximum(first, second))
        shares[epsilon] = float(ends.mean())
    listed = ", ".join(f"{share:.1%} at ε = {epsilon:g}" for epsilon, share in shares.items())
    return Finding(
        agreement(*(share > 0.5 for share in shares.values())),
        f"Of all pairs m < M in steps of 0.01: {listed}.",
    )


def _diagonal(name: str, bound: Callable[..., FloatArray]) -> Callable[[object], Finding]:
    """Return the judge of where a bound shows amplification."""

    def judge(_: object) -> Finding:
        m, M = np.array(list(itertools.combinations_with_replacement(np.arange(1, 100) / 100, 2))).T
        same, shares, nearer = m == M, {}, True
        for epsilon in (0.5, 1.0, 2.0):
            values = bound(epsilon, m, M)
            amplified = values <= epsilon + 1e-12
            shares[epsilon] = float(amplified.mean())
            nearer &= bool(amplified[same].all())
            if not amplified.all():
                nearer &= float((M - m)[amplified].mean()) < float((M - m)[~amplified].mean())
        wide = all(share > 0.5 for share in shares.values())
        listed = ", ".join(f"{share:.1%} at ε = {epsilon:g}" for epsilon, share in shares.items())
        return Finding(
            agreement(nearer, not wide),
            f"By {name} privacy is amplified at {listed} of all pairs m ≤ M in steps of 0.01, and "
            "on the whole diagonal.",
        )

    return judge


_AMPLIFIED_NEAR_THE_DIAGONAL = claim(
    "Figure 2",
    "figure-02",
    "Privacy is amplified near the diagonal only, where all records are deleted nearly alike; ε^S "
    "grows with M − m.",
    name="amplified-near-the-diagonal",
)(
    under_every_reading(
        {
            "the bound of Theorem 5.4": _diagonal("Theorem 5.4", published_epsilon),
            "the mixture bound": _diagonal("the mixture bound", mixture_epsilon),
        }
    )
)


@claim("Section 5.3", (), "With m = M, Theorem 5.4 is that of Poisson sampling.")
def _diagonal_is_poisson(_: object) -> Finding:
    m = np.arange(1, 100) / 100
    furthest = max(
        float(np.abs(published_epsilon(epsilon, m, m) - sampling_epsilon(epsilon, 1 - m)).max())
        for epsilon in (0.0, 0.25, 1.0, 5.0, 50.0)
    )
    return Finding(
        agreement(furthest < _ROUNDING),
        f"At 99 m and five ε from 0 to 50 they differ by at most {furthest:.0e}.",
    )


@claim("Section 5.4", (), "The privacy parameters increase if M − m increases.")
def _grows_with_the_spread(_: object) -> Finding:
    least = math.inf
    for epsilon, m in itertools.product((0.25, 1.0, 4.0), (0.05, 0.3, 0.6)):
        M = np.linspace(m, 0.99, 200)
        least = min(least, float(np.diff(published_epsilon(epsilon, m, M)).min()))
    falls = float(np.diff(mixture_epsilon(1.0, 0.5, np.linspace(0.5, 0.99, 200))).min())
    return Finding(
        agreement(least > 0),
        f"At nine (ε, m) Theorem 5.4 rises with M in every of 199 steps, by at least {least:.1e}; "
        f"{'so does' if falls > 0 else 'so does not'} the mixture bound at (1, 0.5).",
    )


@claim(
    "Section 6.1",
    (),
    "The guarantee cannot be reached where ε < ε^S(0, m, M): these cells of the plots are empty.",
)
def _empty_cells(_: object) -> Finding:
    probabilities = np.round(np.arange(1, 10) / 10, 1)
    m, M = np.array(list(itertools.combinations_with_replacement(probabilities, 2))).T
    smallest, counts, agree = published_epsilon(0.0, m, M), {}, True
    for epsilon in (0.25, 0.5, 1.0, 2.0):
        reached = ~np.isnan(published_base_epsilon(epsilon, m, M))
        counts[epsilon] = int(reached.sum())
        # Where the two are equal, the noise would have to be infinite.
        agree &= bool((reached == (smallest < epsilon - _ROUNDING)).all())
    listed = ", ".join(f"{count} at ε = {epsilon:g}" for epsilon, count in counts.items())
    return Finding(
        agreement(agree),
        f"Of the 45 pairs (m, M), Theorem 5.4 reaches {listed}, and these are those above "
        "ε^S(0, m, M). The mixture bound reaches all.",
    )


def _simplified(epsilon: float, m: FloatArray, M: FloatArray) -> FloatArray:
    """Return what Figure 75 says that Theorem 5.4 is in its regions, in their order."""
    growth = math.expm1(epsilon)
    half = (m + M) / 2
    return np.stack(
        [
            epsilon + np.log1p(-growth * M / math.exp(epsilon)) + M / m - 1,
            epsilon + np.log1p(-growth * half / math.exp(epsilon)) + (1 - half) / (1 - M) - 1,
            -np.log(math.exp(-epsilon) - math.expm1(-epsilon) * M) + 1 - (1 - M) / (1 - m),
        ]
    )


@claim(
    "Figure 75",
    "figure-75",
    "In three regions of (m, M), which depend on ε, Theorem 5.4 is a formula without a maximum.",
)
def _figure_75(_: object) -> Finding:
    m, M = np.array(list(itertools.combinations(np.arange(1, 100) / 100, 2))).T
    furthest, shares = 0.0, {}
    for epsilon in PRIVACY_EPSILONS:
        region = regions(epsilon, m, M).astype(int)
        inside = region < 3
        at = _simplified(epsilon, m, M)[np.minimum(region, 2), np.arange(m.size)]
        off = np.abs(at - published_epsilon(epsilon, m, M))[inside]
        furthest = max(furthest, float(off.max()))
        shares[epsilon] = float(inside.mean())
    listed = ", ".join(f"{share:.1%} at ε = {epsilon:g}" for epsilon, share in shares.items())
    return Finding(
        agreement(furthest < _ROUNDING),
        f"They hold {listed} of all pairs m < M in steps of 0.01; there the formulas differ from "
        f"the theorem by at most {furthest:.0e}.",
    )


@claim(
    "Section 5.3",
    (),
    "Theorem 5.4 is conjectured to hold for all m and M, and all ε up to 100.",
)
def _holds_everywhere(_: object) -> Finding:
    """Compare with the mixture bound, which is proved for all of them (without δ)."""
    rng = np.random.default_rng(11)
    m, M = np.sort(rng.uniform(0, 1, (2, 20_000)) ** rng.uniform(0.2, 5, 20_000), axis=0)
    epsilon = 100 * rng.uniform(0, 1, m.size) ** rng.uniform(1, 8, m.size)
    least = float((published_epsilon(epsilon, m, M) - mixture_epsilon(epsilon, m, M)).min())
    return Finding(
        agreement(least > -_ROUNDING),
        f"At {m.size:,} random points it is never below the mixture bound, which is proved for all "
        f"m, M and ε of mechanisms without δ (the smallest difference is {least:.0e}).",
    )


CLAIMS = claims_in(globals())
