"""`omit bound` and `omit calibrate`: one command per omission, and pairs of databases.

An omission is one function below: its options are the command's options, and it returns the
omission. The options that all commands share are those of `bound` and `calibrate`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from omit.cli import options
from omit.cli.emit import emit
from omit.cli.options import Numbers, pair_of_numbers

if TYPE_CHECKING:
    from omit.omissions.base import Omission

# Known designs without a valid bound; a command says why.
REFUSED = ("with-replacement", "stratified", "cluster", "systematic")


def none() -> "Omission":
    """Keep every record."""
    return _by_name("none")


def poisson(rate: options.Rates) -> "Omission":
    """Poisson sampling: keep every record independently with the same probability."""
    rates = Numbers.joined(rate)
    return _by_name("poisson", rate=rates[0] if len(rates) == 1 else rates)


def fixed_size(size: options.SampleSize, population: options.Population) -> "Omission":
    """Sample a fixed number of records without replacement."""
    return _by_name("fixed-size", size=size, population=population)


def rule(keep: options.Keep = None) -> "Omission":
    """Suppress by a rule that was fixed beforehand and looks at one record at a time."""
    return _by_name("rule", keep=None if keep is None else pair_of_numbers(keep, "--keep"))


def stable(sensitivity: options.Sensitivity) -> "Omission":
    """Suppress deterministically with a known sensitivity."""
    return _by_name("stable", sensitivity=sensitivity)


def outlier_score(
    m: options.SmallestDeletion,
    M: options.LargestDeletion,
    distance: options.ScoreDistance = None,
    bound: options.ScoreBound = options.BoundName.MIXTURE,
) -> "Omission":
    """Delete each record with a probability that grows with its mean distance from the others."""
    name = None if distance is None else distance.value
    return _by_name("outlier-score", m=m, M=M, distance=name, bound=bound.value)


def outlier_threshold(threshold: options.Threshold) -> "Omission":
    """Delete all records beyond a mean distance: leaves no guarantee, and shows why."""
    return _by_name("outlier-threshold", threshold=threshold)


def outlier_top(share: options.TopShare) -> "Omission":
    """Delete the share of records farthest from the others: leaves no guarantee, and shows why."""
    return _by_name("outlier-top", share=share)


def form(omission: options.ShortForm, population: options.FormPopulation = None) -> "Omission":
    """Any omission by its short form, also one of another package."""
    from omit.omissions.names import parse_omission

    return parse_omission(omission, population)


OMISSIONS: dict[str, Callable[..., "Omission"]] = {
    "none": none,
    "poisson": poisson,
    "fixed-size": fixed_size,
    "rule": rule,
    "stable": stable,
    "outlier-score": outlier_score,
    "outlier-threshold": outlier_threshold,
    "outlier-top": outlier_top,
    "form": form,
}


def bound(
    omission: "Omission",
    ctx: typer.Context,
    epsilon: options.BaseEpsilon,
    delta: options.BaseDelta = 0.0,
    neighbours: options.Neighbours = None,
    releases: options.Releases = 1,
    rows_per_person: options.RowsPerPerson = 1,
    bounds: options.NarrowedBounds = None,
    json: options.Json = False,
) -> None:
    """Print what holds for a release after the omission."""
    from omit.guarantee import Guarantee
    from omit.omissions import answer

    base = Guarantee(epsilon, delta, neighbours or omission.relations[0])
    declared = None if bounds is None else pair_of_numbers(bounds)
    result = answer.bound(
        omission, base, releases=releases, rows_per_person=rows_per_person, declared=declared
    )
    emit(ctx, result, json=json)


def calibrate(
    omission: "Omission",
    ctx: typer.Context,
    epsilon: options.Epsilon,
    delta: options.Delta = 0.0,
    neighbours: options.Neighbours = None,
    releases: options.Releases = 1,
    rows_per_person: options.RowsPerPerson = 1,
    json: options.Json = False,
) -> None:
    """Print what a mechanism needs, so that its release after the omission has the target."""
    from omit.guarantee import Guarantee
    from omit.omissions import answer

    target = Guarantee(epsilon, delta, neighbours or omission.relations[0])
    result = answer.calibrate(omission, target, releases=releases, rows_per_person=rows_per_person)
    emit(ctx, result, json=json)


def independent(
    ctx: typer.Context,
    before: options.DeletionBefore,
    after: options.DeletionAfter,
    added: options.DeletionAdded,
    epsilon: options.BaseEpsilon,
    delta: options.BaseDelta = 0.0,
    json: options.Json = False,
) -> None:
    """One pair of databases under independent suppression: the exact loss."""
    from omit.omissions.pair_answer import pair_bound
    from omit.omissions.pairs import IndependentPair

    pair = IndependentPair(Numbers.joined(before), Numbers.joined(after), added)
    emit(ctx, pair_bound(pair, epsilon, delta), json=json)


def subsets(
    ctx: typer.Context,
    file: options.SubsetsFile,
    epsilon: options.BaseEpsilon,
    delta: options.BaseDelta = 0.0,
    json: options.Json = False,
) -> None:
    """One pair of databases under any suppression, given by its distribution over subsets."""
    from omit.omissions.pair_answer import pair_bound, read_subset_pair

    emit(ctx, pair_bound(read_subset_pair(file), epsilon, delta), json=json)


def refuse(name: str) -> Callable[[], None]:
    """Return a command that says why the design of that name has no bound here."""

    def command() -> None:
        """Recognised, and refused: says why."""
        _by_name(name)

    return command


def _by_name(name: str, **parameters: Any) -> "Omission":
    from omit.omissions.names import omission

    return omission(name, **parameters)
