"""`omit bound` and `omit calibrate`: one command per omission, and pairs of databases.

An omission is one function below: its options are the command's options, and it returns the
omission. The options that all commands share are those of `ask`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from omit.cli import options
from omit.cli.emit import emit
from omit.cli.options import Numbers, pair_of_numbers

if TYPE_CHECKING:
    from omit.guarantee import Guarantee
    from omit.omissions.base import Omission
    from omit.omissions.pairs import IndependentPair, SubsetPair

# Known designs without a valid bound; a command says why.
REFUSED = ("with-replacement", "stratified", "cluster", "systematic")


def none() -> "Omission":
    """Keep every record."""
    return _by_name("none")


def poisson(rate: options.Rates) -> "Omission":
    """Poisson sampling: keep every record independently with the same probability."""
    rates = Numbers.joined(rate)
    return _by_name("poisson", rate=rates[0] if len(rates) == 1 else rates)


def by_value(rates: options.RatesByValue) -> "Omission":
    """Keep every record at a rate fixed beforehand for its value, category or interval."""
    from omit.omissions.by_value import SamplingByValue

    return SamplingByValue.from_text(rates)


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


def z_score(deviations: options.Deviations) -> "Omission":
    """Delete values some standard deviations off: leaves no guarantee, and shows why."""
    return _by_name("z-score", deviations=deviations)


def interquartile(ranges: options.Ranges) -> "Omission":
    """Delete values some quartile distances off: leaves no guarantee, and shows why."""
    return _by_name("interquartile", ranges=ranges)


def form(omission: options.ShortForm, population: options.FormPopulation = None) -> "Omission":
    """Any omission by its short form, also one of another package."""
    from omit.omissions.names import parse_omission

    return parse_omission(omission, population)


OMISSIONS: dict[str, Callable[..., "Omission"]] = {
    "none": none,
    "poisson": poisson,
    "by-value": by_value,
    "fixed-size": fixed_size,
    "rule": rule,
    "stable": stable,
    "outlier-score": outlier_score,
    "outlier-threshold": outlier_threshold,
    "outlier-top": outlier_top,
    "z-score": z_score,
    "interquartile": interquartile,
    "form": form,
}


class Asked(NamedTuple):
    """What both commands are asked about an omission, apart from the guarantee."""

    context: typer.Context
    neighbours: options.Relation | None
    counts: dict[str, int]
    json: bool

    def guarantee(self, omission: "Omission", epsilon: float, delta: float) -> "Guarantee":
        """Return the guarantee, by default under the first relation of the omission."""
        from omit.guarantee import Guarantee

        return Guarantee(epsilon, delta, self.neighbours or omission.relations[0])


def ask(
    ctx: typer.Context,
    neighbours: options.Neighbours = None,
    releases: options.Releases = 1,
    rows_per_person: options.RowsPerPerson = 1,
    json: options.Json = False,
) -> Asked:
    """Return the options that `bound` and `calibrate` share."""
    counts = {"releases": releases, "rows_per_person": rows_per_person}
    return Asked(ctx, neighbours, counts, json)


def bound(
    omission: "Omission",
    asked: Asked,
    epsilon: options.BaseEpsilon,
    delta: options.BaseDelta = 0.0,
    bounds: options.NarrowedBounds = None,
    stated_under: options.StatedUnder = None,
) -> None:
    """Print what holds for a release after the omission."""
    from omit.omissions import answer

    base = asked.guarantee(omission, epsilon, delta)
    declared = None if bounds is None else pair_of_numbers(bounds)
    result = answer.bound(
        omission, base, **asked.counts, declared=declared, stated_under=stated_under
    )
    emit(asked.context, result, json=asked.json)


def calibrate(
    omission: "Omission", asked: Asked, epsilon: options.Epsilon, delta: options.Delta = 0.0
) -> None:
    """Print what a mechanism needs, so that its release after the omission has the target."""
    from omit.omissions import answer

    target = asked.guarantee(omission, epsilon, delta)
    emit(asked.context, answer.calibrate(omission, target, **asked.counts), json=asked.json)


def independent(
    before: options.DeletionBefore, after: options.DeletionAfter, added: options.DeletionAdded
) -> "IndependentPair":
    """One pair of databases under independent suppression: the exact loss."""
    from omit.omissions.pairs import IndependentPair

    return IndependentPair(Numbers.joined(before), Numbers.joined(after), added)


def subsets(file: options.SubsetsFile) -> "SubsetPair":
    """One pair of databases under any suppression, given by its distribution over subsets."""
    from omit.omissions.pair_answer import read_subset_pair

    return read_subset_pair(file)


PAIRS: dict[str, Callable[..., Any]] = {"independent": independent, "subsets": subsets}


def pair_bound(
    pair: "IndependentPair | SubsetPair",
    ctx: typer.Context,
    epsilon: options.BaseEpsilon,
    delta: options.BaseDelta = 0.0,
    json: options.Json = False,
) -> None:
    """Print what one pair of databases loses."""
    from omit.omissions import pair_answer

    emit(ctx, pair_answer.pair_bound(pair, epsilon, delta), json=json)


def refuse(name: str) -> Callable[[], None]:
    """Return a command that says why the design of that name has no bound here."""

    def command() -> None:
        """Recognised, and refused: says why."""
        _by_name(name)

    return command


def _by_name(name: str, **parameters: Any) -> "Omission":
    from omit.omissions.names import omission

    return omission(name, **parameters)
