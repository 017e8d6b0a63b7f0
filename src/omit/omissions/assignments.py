"""The best assignments of Theorem B.6: which subset stands for which.

Where `D` can leave a subset `C` that `D'` cannot leave, neither with the added record nor without,
Theorem B.6 lets another subset stand for it, at the price of `e^epsilon` for every record by which
the two differ. With `w` the weights of the subsets and `b` those of the subsets that may stand for
them, at a distance of `d` records, a choice costs

    max over T of  (sum over C assigned to T of  e^(epsilon d(C, T)) w(C)) / b(T)

*Fractional assignments.* The proof goes through if every subset is divided among several others: it
bounds `P[M(C) in A]` by `e^(epsilon |C - T|) P[M(T) in A]` for each share. The best division is a
linear program, the dual of the exact one: any proof that combines inequalities between neighbours
moves the weight of `C` along ways, and a way to `T` costs a factor for every step, or to `T + y`
one factor more, which is how `b(T)` counts it. So Theorem B.6 with the best fractional assignment
is not only an upper bound but the exact loss of the pair.

*Functions.* To send every subset to one other is a scheduling problem on unrelated machines, and
the best choice is hard to find in general: it is given where a solver proves it within seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from omit._numeric import FloatArray, IntArray, as_array
from omit.errors import InvalidInput
from omit.omissions.subset_program import Subset

Weighted: TypeAlias = Mapping[Subset, float]
Shares: TypeAlias = dict[Subset, dict[Subset, float]]

# How many pairs of subsets are tried in a linear program, and in one with whole numbers.
LARGEST_DIVISION = 100_000
LARGEST_CHOICE = 5_000
# Shares below this are what solvers leave of zero.
_NOTHING = 1e-13
_OPTIMAL = 1e-7


def best_division(sources: Weighted, targets: Weighted, epsilon: float) -> Shares:
    """Return the shares of every source in the targets that make the largest load smallest.

    Raises
    ------
    InvalidInput
        If there are too many, or the program cannot be solved.

    Examples
    --------
    >>> sources, targets = {("a",): 1.0}, {(): 0.5, ("a", "b"): 0.5}
    >>> best_division(sources, targets, 1.0)
    {('a',): {(): 0.5, ('a', 'b'): 0.5}}
    """
    if len(sources) * len(targets) > LARGEST_DIVISION:
        raise InvalidInput(
            f"The best fractional assignment of {len(sources):,} subsets to {len(targets):,} is "
            f"too large a linear program; it takes up to {LARGEST_DIVISION:,} pairs."
        )
    from scipy.optimize import linprog

    loads = _loads(sources, targets, epsilon)
    program = _Program.of(loads)
    solution = linprog(
        program.objective,
        A_ub=program.loads,
        b_ub=np.zeros(len(targets)),
        A_eq=program.shares,
        b_eq=np.ones(len(sources)),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not solution.success:
        raise InvalidInput(f"The best fractional assignment was not found: {solution.message}")
    return _shares(sources, targets, as_array(solution.x[:-1]).reshape(loads.shape))


def best_function(
    sources: Weighted, targets: Weighted, epsilon: float, seconds: float
) -> dict[Subset, Subset] | None:
    """Return where to send every source so that the largest load is smallest, if that is proved.

    None if it is not proved within these seconds.

    Examples
    --------
    >>> sources, targets = {("a",): 0.5, ("b",): 0.5}, {("a",): 0.5, (): 0.5}
    >>> best_function(sources, targets, 1.0, seconds=5)
    {('a',): ('a',), ('b',): ()}
    """
    if len(sources) * len(targets) > LARGEST_CHOICE:
        return None
    from scipy.optimize import Bounds, LinearConstraint, milp

    loads = _loads(sources, targets, epsilon)
    program = _Program.of(loads)
    # No function that sends a source where it alone exceeds another function's load is better.
    most = _largest_load(loads, _one_by_one(loads))
    useful = (loads <= most * (1 + _OPTIMAL)).ravel()
    solution = milp(
        program.objective,
        constraints=[
            LinearConstraint(program.loads, -np.inf, 0.0),
            LinearConstraint(program.shares, 1.0, 1.0),
        ],
        integrality=np.append(np.ones(loads.size), 0),
        bounds=Bounds(0.0, np.append(useful.astype(float), np.inf)),
        options={"time_limit": seconds, "mip_rel_gap": _OPTIMAL / 10},
    )
    if solution.status != 0 or solution.x is None:
        return None
    chosen = as_array(solution.x[:-1]).reshape(loads.shape).argmax(axis=1)
    if _largest_load(loads, chosen) > float(solution.mip_dual_bound) * (1 + _OPTIMAL):
        return None
    names = list(targets)
    return {source: names[number] for source, number in zip(sources, chosen, strict=True)}


class _Program(NamedTuple):
    """The linear program of the largest load: shares of sources in targets, and that load."""

    objective: FloatArray
    loads: Any
    shares: Any

    @classmethod
    def of(cls, loads: FloatArray) -> _Program:
        from scipy.sparse import csr_matrix

        count, machines = loads.shape
        numbers, every = np.arange(loads.size), np.arange(machines)
        source, target = np.divmod(numbers, machines)
        rows, columns = np.append(target, every), np.append(numbers, np.full(machines, loads.size))
        return cls(
            np.append(np.zeros(loads.size), 1.0),
            csr_matrix(
                (np.append(loads.ravel(), -np.ones(machines)), (rows, columns)),
                shape=(machines, loads.size + 1),
            ),
            csr_matrix((np.ones(loads.size), (source, numbers)), shape=(count, loads.size + 1)),
        )


def _loads(sources: Weighted, targets: Weighted, epsilon: float) -> FloatArray:
    """Return the load that every source alone puts on every target."""
    records = {record: number for number, record in enumerate(_records([*sources, *targets]))}
    apart = np.abs(
        _counts(sources, records)[:, None, :] - _counts(targets, records)[None, :, :]
    ).sum(axis=2)
    weights = np.array([float(weight) for weight in sources.values()])
    room = np.array([float(weight) for weight in targets.values()])
    if epsilon * int(apart.max(initial=0)) > 300 * math.log(10):
        raise InvalidInput(
            f"Expected epsilon={epsilon:g} to be smaller for subsets that are so far apart."
        )
    return as_array(weights[:, None] * np.exp(epsilon * apart) / room[None, :])


def _records(subsets: Sequence[Subset]) -> dict[object, None]:
    return {record: None for subset in subsets for record in subset}


def _counts(subsets: Weighted, records: Mapping[object, int]) -> FloatArray:
    counts = np.zeros((len(subsets), len(records)))
    for row, subset in enumerate(subsets):
        for record in subset:
            counts[row, records[record]] += 1
    return counts


def _one_by_one(loads: FloatArray) -> IntArray:
    """Return where sources go if each in turn takes the target that is then least loaded."""
    total = np.zeros(loads.shape[1])
    chosen = np.zeros(len(loads), dtype=np.int64)
    for source in np.argsort(-loads.min(axis=1)):
        chosen[source] = np.argmin(total + loads[source])
        total[chosen[source]] += loads[source, chosen[source]]
    return chosen


def _largest_load(loads: FloatArray, chosen: IntArray) -> float:
    total = np.zeros(loads.shape[1])
    np.add.at(total, chosen, loads[np.arange(len(loads)), chosen])
    return float(total.max())


def _shares(sources: Weighted, targets: Weighted, found: FloatArray) -> Shares:
    """Return shares by name, without what solvers leave of zero, and with 1 as their sum."""
    names, shares = list(targets), {}
    kept = np.where(found > _NOTHING, found, 0.0)
    kept = kept / kept.sum(axis=1, keepdims=True)
    for source, row in zip(sources, kept, strict=True):
        shares[source] = {names[number]: float(row[number]) for number in np.flatnonzero(row)}
    return shares
