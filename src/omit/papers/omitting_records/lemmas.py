"""The lemmas in the proof of Theorem 5.4, on random small cases.

Inequalities are checked at points that are drawn, polytopes by linear programs. The numerical step
of the proof is searched on a coarse grid; `omit verify theorem-5.4` has the paper's own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.audit.bounds import small_multisets
from omit.omissions.outlier_score import (
    outlier_scores,
    published_terms,
)
from omit.papers.claims import Finding, agreement, claim, claims_in, under_every_reading
from omit.papers.omitting_records.theorem_5_4 import Disagreement, check

# What a linear program in floating point can be trusted with.
_PROGRAM = 1e-6
_ROUNDING = 1e-9
_STATED_ERROR = 2e-7
_CASES = 60


@claim("Lemma B.14", (), "A convex function of an affine map is convex.")
def _lemma_b_14(_: object) -> Finding:
    rng, worst = np.random.default_rng(4), -math.inf
    for _case in range(200):
        A, shift = rng.normal(size=(3, 4)), rng.normal(size=3)
        x, y, share = rng.normal(size=4), rng.normal(size=4), rng.uniform()

        def composed(point: FloatArray, A: FloatArray = A, shift: FloatArray = shift) -> float:
            return float(np.logaddexp.reduce(A @ point + shift))

        between = composed(share * x + (1 - share) * y)
        worst = max(worst, between - share * composed(x) - (1 - share) * composed(y))
    return Finding(
        agreement(worst < _ROUNDING),
        "The logarithm of a sum of exponentials, of 200 random affine maps from four dimensions to "
        f"three: between two points it never exceeds its chord by more than {max(worst, 0.0):.0e}.",
    )


@claim(
    "Remark B.15",
    (),
    "The matrix of ones whose diagonal is 2C_i, with C_i ≥ 1, is positive semi-definite.",
)
def _remark_b_15(_: object) -> Finding:
    rng, least = np.random.default_rng(5), math.inf
    for _case in range(200):
        size = int(rng.integers(1, 9))
        matrix = np.ones((size, size))
        np.fill_diagonal(matrix, 2 * (1 + rng.exponential(size=size)))
        least = min(least, float(np.linalg.eigvalsh(matrix)[0]))
    return Finding(
        agreement(least > 0),
        f"The smallest eigenvalue of 200 random ones of up to eight rows is {least:.3f}.",
    )


def _product(N: int, J: int, a: FloatArray, z: FloatArray) -> float:
    """Return the product of Lemma B.16: J factors N + a/z, the others N + (1 − a)/(1 − z)."""
    return float(np.prod(N + a[:J] / z[:J]) * np.prod(N + (1 - a[J:]) / (1 - z[J:])))


@claim(
    "Lemma B.16", (), "The product over records in Theorem B.21 is convex in the outlier scores z."
)
def _lemma_b_16(_: object) -> Finding:
    rng, worst = np.random.default_rng(6), -math.inf
    for _case in range(2000):
        N = int(rng.integers(1, 8))
        J = int(rng.integers(0, N + 1))
        a, x, y = rng.uniform(0.02, 0.98, (3, N))
        share = rng.uniform()
        chord = share * _product(N, J, a, x) + (1 - share) * _product(N, J, a, y)
        worst = max(worst, _product(N, J, a, share * x + (1 - share) * y) / chord - 1)
    return Finding(
        agreement(worst < _ROUNDING),
        "At 2,000 random points between two others, with up to seven records, it never exceeds the "
        f"chord by more than {max(worst, 0.0):.0e} of it.",
    )


def _limits(m: float, M: float, a: FloatArray) -> FloatArray:
    """Return the largest outlier scores M_i of Lemma B.17."""
    N = len(a)
    return as_array(np.minimum(m + (N - 1) * M, (N - 2) * (a - m) + a.sum()) / N)


def _vertex(m: float, largest: FloatArray, K: tuple[int, ...]) -> FloatArray:
    """Return the vertex z^(K) of Proposition B.19."""
    N, vertex = len(largest), largest.copy()
    if K:
        others = np.delete(largest, list(K)).sum()
        vertex[list(K)] = ((N - 2) * m + others) / (2 * N - 2 - len(K))
    return vertex


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    for number in range(size + 1):
        yield from itertools.combinations(range(size), number)


def _random_scores(rng: np.random.Generator, N: int) -> tuple[float, float, FloatArray]:
    m, M = np.sort(rng.uniform(0.02, 0.98, 2))
    return float(m), float(M), as_array(rng.uniform(m, M, N))


@claim("Lemma B.17", (), "m ≤ B^(K) ≤ M_k for every k in K.")
def _lemma_b_17(_: object) -> Finding:
    rng, worst, count = np.random.default_rng(7), -math.inf, 0
    for _case in range(150):
        m, M, a = _random_scores(rng, int(rng.integers(3, 7)))
        largest = _limits(m, M, a)
        for K in itertools.islice(_subsets(len(a)), 1, None):
            value = _vertex(m, largest, K)[K[0]]
            worst = max(worst, m - value, float((value - largest[list(K)]).max()))
            count += 1
    return Finding(
        agreement(worst < _ROUNDING),
        f"For all {count:,} sets K of 150 random cases with three to six records; never missed by "
        f"more than {max(worst, 0.0):.0e}.",
    )


@claim(
    "Lemma B.18",
    (),
    "The sum of all outlier scores is at most (2N − 2) times any one less (N − 2)m, and a score is "
    "at most what the distances to any record allow.",
)
def _lemma_b_18(_: object) -> Finding:
    """Take the last record of every small database as y."""
    m, M, worst, count = 0.2, 0.7, -math.inf, 0
    for distances in small_multisets():
        N = len(distances) - 1
        if N == 0:
            continue
        out = outlier_scores(distances[:N, :N], m, M)
        to_y = m + (M - m) * distances[N, :N]
        worst = max(worst, float((out.sum() - (2 * N - 2) * out + (N - 2) * m).max()))
        worst = max(worst, float((m - out).max()), float((out - _limits(m, M, to_y)).max()))
        count += 1
    return Finding(
        agreement(worst < _ROUNDING),
        f"On {count:,} pairs of a database of up to five records of four small universes and a "
        f"record more, with m = 0.2 and M = 0.7; never missed by more than {max(worst, 0.0):.0e}.",
    )


@claim(
    "Proposition B.19",
    (),
    "The polytope of possible outlier scores has the vertices z^(K), one for every set K.",
)
def _proposition_b_19(_: object) -> Finding:
    """Maximise random linear functions over the polytope, by a linear program and over z^(K)."""
    from scipy.optimize import linprog

    rng, furthest, outside, count = np.random.default_rng(8), 0.0, 0.0, 0
    for _case in range(40):
        N = int(rng.integers(3, 6))
        m, M, a = _random_scores(rng, N)
        largest = _limits(m, M, a)
        rows = np.ones((N, N)) - (2 * N - 2) * np.eye(N)
        vertices = np.array([_vertex(m, largest, K) for K in _subsets(N)])
        outside = max(outside, float((vertices @ rows.T + (N - 2) * m).max()))
        for _objective in range(5):
            objective = rng.normal(size=N)
            found = linprog(
                -objective,
                A_ub=rows,
                b_ub=np.full(N, -(N - 2) * m),
                bounds=[(m, float(limit)) for limit in largest],
                method="highs",
            )
            furthest = max(furthest, abs(-found.fun - float((vertices @ objective).max())))
            count += 1
    return Finding(
        agreement(furthest < 1e-7, outside < _ROUNDING),
        f"{count} random linear functions over 40 random polytopes of three to five dimensions "
        "have their maxima at these vertices (by linear programs, differences of at most "
        f"{furthest:.0e}), and all vertices satisfy the inequalities.",
    )


def _edges_and_diagonal(
    epsilon: float, m: float, M: float, N: int, J: int, c: float, last: int
) -> float:
    """Return the largest value of Proposition B.20 over its diagonal and the edges k ≤ last."""
    E, grid = math.exp(epsilon), np.linspace(0, 1, 2001)

    def limit(k: int) -> float:
        return ((N - 1) * (M + m) - (J * c + (N - J - k - 1) * m)) / (N + k - 1)

    t = m + (limit(N - J - 1) - m) * grid
    score = (m + J * c + (N - J) * t) / (N + 1)
    inner = ((2 * N - J - 2) * t - (N - 2) * m + J * c) / N
    values = [(E - (E - 1) * score) * (N + (1 - t) / (1 - inner)) ** (N - J)]
    for k in range(last + 1):
        t = m + (limit(k) - m) * grid
        B = ((N - 1) * (M + m) - (J * c + (N - J - k - 1) * m + t)) / (N + k - 2)
        S = J * c + t + (N - J - k - 1) * m + k * B
        values.append(
            (E - (E - 1) * (m + S) / (N + 1))
            * (N + (1 - t) / (1 - ((N - 2) * (t - m) + S) / N))
            * (N + (1 - m) / (1 - S / N)) ** (N - J - k - 1)
            * (N + (1 - B) / (1 - (m + (N - 1) * M) / N)) ** k
        )
    return float(max(part.max() for part in values))


def _over_edges(beyond: int) -> Callable[[object], Finding]:
    """Return the judge of Proposition B.20 with the edges up to N − J − 1, or one more."""

    def judge(_: object) -> Finding:
        rng, worst, cases = np.random.default_rng(9), -math.inf, 200
        for _case in range(cases):
            N = int(rng.integers(3, 7))
            J = int(rng.integers(0, N))
            m, M, a = _random_scores(rng, N - J)
            c, epsilon = float(rng.uniform(m, M)), float(rng.uniform(0, 3))
            S = float(a.sum())
            limits = np.minimum(m + (N - 1) * M, (N - 2) * (a - m) + J * c + S) / N
            E = math.exp(epsilon)
            value = (E - (E - 1) * (m + J * c + S) / (N + 1)) * np.prod(N + (1 - a) / (1 - limits))
            most = _edges_and_diagonal(epsilon, m, M, N, J, c, N - J - 1 + beyond)
            worst = max(worst, float(value) / most - 1)
        return Finding(
            agreement(worst < 1e-6),
            f"At {cases} random points, with three to six records, it is at least {-worst:.1e} of "
            "the "
            "bound below it." + (" At k = N − J an exponent is −1." if beyond else ""),
        )

    return judge


_PROPOSITION_B_20 = claim(
    "Proposition B.20",
    (),
    "Over the distances of the records that are kept, the product of Theorem B.21 is largest on "
    "the diagonal or on an edge of a polytope.",
    name="proposition-b-20",
)(
    under_every_reading(
        {
            "edges k up to N − J − 1, as listed in the proof": _over_edges(0),
            "edges k up to N − J, as printed": _over_edges(1),
        }
    )
)


@claim(
    "Theorem B.21",
    (),
    "What a database loses when a record is removed is at most the largest of L1 and L2.",
)
def _theorem_b_21(_: object) -> Finding:
    rng, worst, cases = np.random.default_rng(10), -math.inf, 0
    for _case in range(300):
        N = int(rng.integers(3, 8))
        m, M, a = _random_scores(rng, N)
        epsilon, E = (value := float(rng.uniform(0, 3))), math.exp(value)
        first, second, _third = published_terms(epsilon, m, M)
        stated = float(max(first, second))
        largest = _limits(m, M, a)
        for K in _subsets(N):
            z = _vertex(m, largest, K)
            factors = np.maximum(N + a / z, N + (1 - a) / (1 - z)) / (N + 1)
            reached = math.log(E - (E - 1) * (m + a.sum()) / (N + 1)) + np.log(factors).sum()
            worst = max(worst, float(reached) - stated)
            cases += 1
    return Finding(
        agreement(worst < _ROUNDING),
        "With the factors (N + a/z)/(N + 1) of the proof, at all vertices of 300 random cases "
        f"with three to seven records ({cases:,} in all): at least {-worst:.2g} below, in "
        "logarithms.",
    )


@claim(
    "Theorem B.23",
    (),
    "What a database loses when a record is added is at most the larger of two limits.",
)
def _theorem_b_23(_: object) -> Finding:
    rng, worst = np.random.default_rng(11), -math.inf
    for _case in range(3000):
        N = int(rng.integers(2, 60))
        m, M, a = _random_scores(rng, N)
        z = rng.uniform(m, M, N) if rng.random() < 0.5 else rng.choice([m, M], N)
        if rng.random() < 0.5:
            a = rng.choice([m, M], N)
        epsilon = float(rng.uniform(0, 3))
        factors = np.minimum(N + a / z, N + (1 - a) / (1 - z)) / (N + 1)
        rest = math.exp(-epsilon)
        score = (m + a.sum()) / (N + 1)
        reached = -math.log(rest + (1 - rest) * score) - np.log(factors).sum()
        limits = [
            -math.log(rest + (1 - rest) * M) + 1 - (1 - M) / (1 - m),
            -math.log(rest + (1 - rest) * m) + 1 - m / M,
        ]
        worst = max(worst, float(reached) - max(limits))
    return Finding(
        agreement(worst < _ROUNDING),
        "At 3,000 random points with 2 to 59 records, half of them at the ends of [m, M]: at least "
        f"{-worst:.2g} below, in logarithms.",
    )


def _searched(parts: tuple[str, ...]) -> tuple[dict[str, Disagreement], dict[str, Disagreement]]:
    """Return how far a search is from the claimed suprema, up to 1e9 records and in the limit."""
    epsilons = (0.0, 0.25, 1.0, 4.0)
    pairs = (0.04, 0.99), (0.1, 0.2), (0.3, 0.7), (0.5, 0.6), (0.6, 0.95)
    m, M = zip(*pairs, strict=True)
    million, limit = (
        check(epsilons, m, M, largest_database=largest) for largest in (1e9, math.inf)
    )
    return (
        {part: getattr(million, part) for part in parts},
        {part: getattr(limit, part) for part in parts},
    )


def _numerical_step(*parts: str) -> Finding:
    finite, limit = _searched(parts)
    below, above = (
        max(getattr(part, side) for part in finite.values()) for side in ("below", "above")
    )
    rounding = max(max(abs(part.above), abs(part.below)) for part in limit.values())
    count = next(iter(finite.values())).cells
    return Finding(
        agreement(above < _STATED_ERROR, below < _STATED_ERROR),
        f"On {count} cells, up to 10⁹ records: never more than {max(above, 0.0):.0e} above the "
        f"formula, and up to {below:.1e} below it; with the limit of large databases "
        f"{rounding:.0e}. omit verify theorem-5.4 goes through all 1,836,450 cells.",
    )


@claim(
    "Remark B.22, A.11 in the short version",
    (),
    "A search up to 10⁹ records agrees with the formula for removing a record up to 2·10⁻⁷.",
)
def _remark_b_22(_: object) -> Finding:
    return _numerical_step("removing")


@claim(
    "Remark B.24, A.11 in the short version",
    (),
    "The same for adding a record, and a term that is left out is never the largest.",
)
def _remark_b_24(_: object) -> Finding:
    return _numerical_step("adding", "superfluous")


CLAIMS = claims_in(globals())
