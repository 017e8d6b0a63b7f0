"""`omit bound` and `omit calibrate`: one command per omission, and pairs of databases.

An omission is one function below: its options are the command's options, and it returns the
omission. The options that all commands share are those of `_bound` and `_calibrate`.
"""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.emit import emit
from omit.cli.options import (
    Json,
    Neighbours,
    Numbers,
    RowsPerPerson,
    combined,
    number_list,
    pair_of_numbers,
)

if TYPE_CHECKING:
    from omit.omissions.base import Omission

bound = typer.Typer(
    help="Compute the guarantee of a release after records are left out.", no_args_is_help=True
)
calibrate = typer.Typer(
    help="Compute the guarantee that the mechanism needs, so that the release has the target.",
    no_args_is_help=True,
)


class BoundName(StrEnum):
    """The bounds of outlier-score suppression."""

    MIXTURE = "mixture"
    PUBLISHED = "published"


class Distance(StrEnum):
    """The distances that outlier scores can be made of."""

    ABSOLUTE = "absolute"
    DISCRETE = "discrete"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"


BaseEpsilon = Annotated[float, typer.Option(help="Epsilon of the mechanism, at least 0.")]
BaseDelta = Annotated[float, typer.Option(help="Delta of the mechanism, in [0, 1).")]
Releases = Annotated[
    int, typer.Option(help="Number of such statistics that are computed on the same sample.")
]


def none() -> "Omission":
    """Keep every record."""
    return _by_name("none")


def poisson(
    rate: Annotated[
        list[Numbers],
        number_list(
            "Probability of keeping a record, in (0, 1]; several for several kinds of records.",
            metavar="RATE,...",
        ),
    ],
) -> "Omission":
    """Poisson sampling: keep every record independently with the same probability."""
    rates = Numbers.joined(rate)
    return _by_name("poisson", rate=rates[0] if len(rates) == 1 else rates)


def fixed_size(
    size: Annotated[int, typer.Option(help="Number of records that are drawn.")],
    population: Annotated[int, typer.Option(help="Number of records to draw from.")],
) -> "Omission":
    """Sample a fixed number of records without replacement."""
    return _by_name("fixed-size", size=size, population=population)


def rule(
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="LOWER UPPER", help="Keep only values in this interval.", show_default="all"
        ),
    ] = None,
) -> "Omission":
    """Suppress by a rule that was fixed beforehand and looks at one record at a time."""
    return _by_name("rule", keep=None if keep is None else pair_of_numbers(keep, "--keep"))


def stable(
    sensitivity: Annotated[
        int,
        typer.Option(help="Number of records by which the outputs of neighbours can differ."),
    ],
) -> "Omission":
    """Suppress deterministically with a known sensitivity."""
    return _by_name("stable", sensitivity=sensitivity)


def outlier_score(
    m: Annotated[float, typer.Option("--m", help="Smallest probability of deletion, in [0, 1].")],
    M: Annotated[float, typer.Option("--M", help="Largest probability of deletion, in [0, 1].")],
    distance: Annotated[
        Distance | None,
        typer.Option(
            help="Distance that makes the scores; privacy is the same for all.",
            show_default="that of the statistic",
        ),
    ] = None,
    bound: Annotated[
        BoundName,
        typer.Option(help="Proved in the documentation (mixture), or Theorem 5.4 (published)."),
    ] = BoundName.MIXTURE,
) -> "Omission":
    """Delete each record with a probability that grows with its mean distance from the others."""
    name = None if distance is None else distance.value
    return _by_name("outlier-score", m=m, M=M, distance=name, bound=bound.value)


def outlier_threshold(
    threshold: Annotated[
        float, typer.Option(help="Largest mean distance from the others that is kept, in (0, 1).")
    ],
) -> "Omission":
    """Delete all records beyond a mean distance: leaves no guarantee, and shows why."""
    return _by_name("outlier-threshold", threshold=threshold)


def outlier_top(
    share: Annotated[float, typer.Option(help="Share of the records to delete, in (0, 0.5].")],
) -> "Omission":
    """Delete the share of records farthest from the others: leaves no guarantee, and shows why."""
    return _by_name("outlier-top", share=share)


def form(
    omission: Annotated[
        str, typer.Argument(metavar="NAME:NUMBERS", help="The short form, such as poisson:0.1.")
    ],
    population: Annotated[
        int | None, typer.Option(help="Number of records to draw from, for fixed-size.")
    ] = None,
) -> "Omission":
    """Any omission by its short form, also one of another package."""
    from omit.omissions.names import parse_omission

    return parse_omission(omission, population)


def _bound(
    omission: "Omission",
    ctx: typer.Context,
    epsilon: BaseEpsilon,
    delta: BaseDelta = 0.0,
    neighbours: Neighbours = None,
    releases: Releases = 1,
    rows_per_person: RowsPerPerson = 1,
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="LOWER UPPER",
            help="Declared bounds of the values, to see what is left of them.",
            show_default="none",
        ),
    ] = None,
    json: Json = False,
) -> None:
    from omit.guarantee import Guarantee
    from omit.omissions.answer import bound

    base = Guarantee(epsilon, delta, neighbours or omission.relations[0])
    declared = None if bounds is None else pair_of_numbers(bounds)
    answer = bound(
        omission, base, releases=releases, rows_per_person=rows_per_person, declared=declared
    )
    emit(ctx, answer, json=json)


def _calibrate(
    omission: "Omission",
    ctx: typer.Context,
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release, at least 0.")],
    delta: Annotated[float, typer.Option(help="Delta of the release, in [0, 1).")] = 0.0,
    neighbours: Neighbours = None,
    releases: Releases = 1,
    rows_per_person: RowsPerPerson = 1,
    json: Json = False,
) -> None:
    from omit.guarantee import Guarantee
    from omit.omissions.answer import calibrate

    target = Guarantee(epsilon, delta, neighbours or omission.relations[0])
    answer = calibrate(omission, target, releases=releases, rows_per_person=rows_per_person)
    emit(ctx, answer, json=json)


def independent(
    ctx: typer.Context,
    before: Annotated[
        list[Numbers],
        number_list("Deletion probabilities of the records of D.", metavar="P,..."),
    ],
    after: Annotated[
        list[Numbers],
        number_list("Those of the same records in D + y, in the same order.", metavar="P,..."),
    ],
    added: Annotated[float, typer.Option(help="Deletion probability of y in D + y.")],
    epsilon: BaseEpsilon,
    delta: BaseDelta = 0.0,
    json: Json = False,
) -> None:
    """One pair of databases under independent suppression: the exact loss."""
    from omit.omissions.pair_answer import pair_bound
    from omit.omissions.pairs import IndependentPair

    pair = IndependentPair(Numbers.joined(before), Numbers.joined(after), added)
    emit(ctx, pair_bound(pair, epsilon, delta), json=json)


def subsets(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help=(
                'JSON: {"database": [...], "record": ..., "without": [{"kept": [...], '
                '"probability": p}, ...], "with_record": [...]}.'
            )
        ),
    ],
    epsilon: BaseEpsilon,
    delta: BaseDelta = 0.0,
    json: Json = False,
) -> None:
    """One pair of databases under any suppression, given by its distribution over subsets."""
    from omit.omissions.pair_answer import pair_bound, read_subset_pair

    emit(ctx, pair_bound(read_subset_pair(file), epsilon, delta), json=json)


def _by_name(name: str, **parameters: Any) -> "Omission":
    from omit.omissions.names import omission

    return omission(name, **parameters)


def _refuse(name: str) -> Callable[[], None]:
    """Return a command that says why the design of that name has no bound here."""

    def command() -> None:
        _by_name(name)

    command.__doc__ = "Recognised, and refused: says why."
    return command


for _build in (
    none,
    poisson,
    fixed_size,
    rule,
    stable,
    outlier_score,
    outlier_threshold,
    outlier_top,
    form,
):
    _name = _build.__name__.replace("_", "-")
    bound.command(_name, help=_build.__doc__)(combined(_build, _bound))
    calibrate.command(_name, help=_build.__doc__)(combined(_build, _calibrate))
bound.command("independent")(independent)
bound.command("subsets")(subsets)
for _name in ("with-replacement", "stratified", "cluster", "systematic"):
    for _group in (bound, calibrate):
        _group.command(
            _name, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
        )(_refuse(_name))
