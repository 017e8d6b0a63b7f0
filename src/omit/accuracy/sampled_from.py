"""Data that are themselves a sample, and samples whose size has a parity.

*Sampled data.* If the records in hand are a simple random sample without replacement of a
population of `N`, and nobody can know who was drawn, then a release on them that is
(epsilon_n, delta_n)-DP is (epsilon, delta)-DP for the population by Theorem 1 of the accuracy-gains
paper: for somebody who may be in the sample or not. It promises no more than (epsilon_n, delta_n)
to somebody who is known to be in the sample, and no amplification follows from designs that are not
simple random, such as stratified or cluster samples.

*Parity.* An even-sized sample's median averages two records, which halves its sensitivity. So
samples of even size have less noise than samples of odd size, whether sampling pays or not, and
results of different parity must not be read as an effect of sampling.
"""

from __future__ import annotations

from collections.abc import Iterable

from omit import _validate
from omit.data.base import Data
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import Guarantee, NoNoiseNeeded, require_guarantee
from omit.mechanisms.base import Mechanism, Promise
from omit.omissions.base import Omission
from omit.omissions.sampling import FixedSizeSampling


def promise_on_sample(target: Guarantee, records: int, population: int) -> Promise:
    """Return what a release on the records must have, so that the population has the target.

    Nothing, where the target's delta is at least the share of the population that was drawn.

    Raises
    ------
    InvalidInput
        If there are more records than the population has.
    WrongNeighbours
        Under add-remove, where the number of records is not public.

    Examples
    --------
    >>> promise_on_sample(Guarantee(1.0, neighbours="replace"), records=100, population=10_000)
    Guarantee(epsilon=5.15229793824..., delta=0.0, neighbours='replace')
    """
    require_guarantee(target)
    population = _validate.positive_integer("population", population)
    if population < records:
        raise InvalidInput(
            f"Expected a sample of {records:,} records to come from a population of at least as "
            f"many, got {population:,}."
        )
    sampling = FixedSizeSampling(size=records, population=population)
    if not sampling.defined_for(target.neighbours):
        raise WrongNeighbours(
            f"That the data are a sample of {population:,} records amplifies a guarantee under "
            f"replace: state it so (--neighbours replace), and leave records out by samples of a "
            f"fixed size (--omit fixed-size:{max(records // 10, 1)}), since Poisson samples and "
            "outlier scores have bounds under add-remove alone."
        )
    return sampling.calibrate(target)


def sampled_from_notes(
    target: Guarantee, records: int, population: int, rows_per_person: int = 1
) -> tuple[str, ...]:
    """Return what must be said beside results that rest on the data being a secret sample.

    `target` is that of a record; a person may have `rows_per_person` of them.
    """
    needed = promise_on_sample(target, records, population)
    inside = None if isinstance(needed, NoNoiseNeeded) else needed.group(rows_per_person)
    known = (
        "Nothing protects somebody known to be among the records, and for a sample that is not "
        "simple random (stratified, clustered, by quota, volunteers) nothing protects anybody."
    )
    if isinstance(inside, Guarantee):
        known = (
            f"For somebody known to be among the records it is only {inside}"
            f"{_whose(rows_per_person)}, and for a sample that is not simple random (stratified, "
            "clustered, by quota, volunteers) nothing better than that follows for anybody."
        )
    persons: tuple[str, ...] = ()
    if rows_per_person > 1:
        persons = (
            "Simple random is meant of records, each drawn alike whomever it belongs to; where "
            "persons are drawn with all their records, nothing better than that follows either.",
        )
    return (
        f"The {records:,} records are taken to be a simple random sample without replacement of "
        f"{population:,}; the guarantee is for the population, and holds only if nobody can know "
        "who was drawn.",
        known,
        *persons,
    )


def _whose(rows_per_person: int) -> str:
    """Return how many records the person may have for whom something holds."""
    return f" for a person with up to {rows_per_person} of them" if rows_per_person > 1 else ""


_FACT = (
    "The median of an even number of records is the mean of two, with as little as half the "
    "sensitivity of one record"
)


def differs_in_parity(data: Data, mechanism: Mechanism, omission: Omission) -> bool:
    """Tell whether a sample's answer is the mean of two records, and that of all is one."""
    size = omission.records_after
    return (
        size is not None and mechanism.averages_two(size) and not mechanism.averages_two(data.size)
    )


def parity_notes(
    data: Data, mechanism: Mechanism, omissions: Iterable[Omission]
) -> tuple[str, ...]:
    """Return what to say where samples of odd size are compared, for which averaging is missed.

    Nothing, where all rows average two records, or where averaging makes no difference.
    """
    sizes = {omission.records_after for omission in omissions} - {None}
    averaging = {mechanism.averages_two(size) for size in (*sizes, data.size) if size is not None}
    if not sizes or not mechanism.averages_two(2) or averaging == {True}:
        return ()
    if averaging == {False}:
        return (f"{_FACT}: an advantage of samples of even size, of which there is none here.",)
    return (f"{_FACT}: rows of even and of odd size differ by that, too, and not by sampling.",)
