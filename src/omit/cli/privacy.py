"""`omit bound` and `omit calibrate`: one command for each way to leave records out.

Each way is one function below: its options are the command's options, and it returns the omission.
The options that all commands share are those of `_bound` and `_calibrate`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omit.cli.options import Json, combined, numbers, pair_of_numbers

if TYPE_CHECKING:
    from omit.omissions.base import Omission

bound = typer.Typer(help="What guarantee remains after records are left out.", no_args_is_help=True)
calibrate = typer.Typer(
    help="What guarantee the mechanism needs, so that the release has the target.",
    no_args_is_help=True,
)

Epsilon = Annotated[float, typer.Option(help="Epsilon, at least 0.")]
Delta = Annotated[float, typer.Option(help="Delta, in [0, 1).")]
Neighbours = Annotated[str | None, typer.Option(help="Neighbour relation: add-remove or replace.")]
Releases = Annotated[
    int, typer.Option(help="How many such statistics are computed on the same sample.")
]
RowsPerPerson = Annotated[int, typer.Option(help="How many records one person may have.")]


def none() -> "Omission":
    """Keep every record."""
    return _by_name("none")


def poisson(
    rate: Annotated[
        list[float],
        typer.Option(help="Probability of keeping a record; repeat for several kinds of records."),
    ],
) -> "Omission":
    """Poisson sampling: keep each record independently."""
    return _by_name("poisson", rate=rate[0] if len(rate) == 1 else tuple(rate))


def fixed_size(
    size: Annotated[int, typer.Option(help="Records drawn.")],
    population: Annotated[int, typer.Option(help="Records to draw from.")],
) -> "Omission":
    """Sampling a fixed number of records without replacement."""
    return _by_name("fixed-size", size=size, population=population)


def rule(
    keep: Annotated[
        tuple[float, float] | None, typer.Option(help="Suppress values outside this interval.")
    ] = None,
) -> "Omission":
    """Suppression by a rule that was fixed beforehand and looks at one record at a time."""
    return _by_name("rule", keep=keep)


def stable(
    sensitivity: Annotated[
        int, typer.Option(help="By how many records the outputs of neighbours can differ.")
    ],
) -> "Omission":
    """Deterministic suppression of known sensitivity."""
    return _by_name("stable", sensitivity=sensitivity)


def outlier_score(
    m: Annotated[float, typer.Option("--m", help="Smallest probability of deletion.")],
    M: Annotated[float, typer.Option("--M", help="Largest probability of deletion.")],
    distance: Annotated[
        str | None, typer.Option(help="Which distance makes the scores (privacy is the same).")
    ] = None,
    bound: Annotated[
        str, typer.Option(help="'mixture' (proved, the default) or 'published' (Theorem 5.4).")
    ] = "mixture",
) -> "Omission":
    """Delete records the more probably, the farther they are from the others."""
    return _by_name("outlier-score", m=m, M=M, distance=distance, bound=bound)


def outlier_threshold(
    threshold: Annotated[float, typer.Option(help="Largest mean distance that is kept.")],
) -> "Omission":
    """Delete all records beyond a mean distance: leaves no guarantee, and shows why."""
    return _by_name("outlier-threshold", threshold=threshold)


def outlier_top(
    share: Annotated[float, typer.Option(help="Share of the records to delete, up to 0.5.")],
) -> "Omission":
    """Delete the share of records farthest from the others: leaves no guarantee, and shows why."""
    return _by_name("outlier-top", share=share)


def _bound(
    omission: "Omission",
    epsilon: Epsilon,
    delta: Delta = 0.0,
    neighbours: Neighbours = None,
    releases: Releases = 1,
    rows_per_person: RowsPerPerson = 1,
    bounds: Annotated[
        str | None,
        typer.Option(help="Declared bounds of the values, if any.", metavar="LOWER UPPER"),
    ] = None,
    json: Json = False,
) -> None:
    from omit import _validate
    from omit.cli.output import Answer
    from omit.guarantee import Guarantee, Statement
    from omit.omissions.sample import Sample

    each = Guarantee(epsilon, delta, _relation(neighbours, omission))
    count = _validate.positive_integer("releases", releases)
    rows = _validate.positive_integer("rows_per_person", rows_per_person)
    result = Sample(omission).charge(each, times=count).stated()
    if isinstance(result, Statement):
        result = result.group(rows)
    declared = None if bounds is None else _validate.interval("bounds", pair_of_numbers(bounds))
    Answer.of_bound(omission, each, result, count, rows, declared).show(json)


def _calibrate(
    omission: "Omission",
    epsilon: Epsilon,
    delta: Delta = 0.0,
    neighbours: Neighbours = None,
    releases: Releases = 1,
    rows_per_person: RowsPerPerson = 1,
    json: Json = False,
) -> None:
    from omit import _validate
    from omit.cli.output import Answer
    from omit.guarantee import Guarantee

    target = Guarantee(epsilon, delta, _relation(neighbours, omission))
    count = _validate.positive_integer("releases", releases)
    rows = _validate.positive_integer("rows_per_person", rows_per_person)
    found = omission.candidates(target.per_row(rows))
    each = tuple(
        base.per_statistic(count) if isinstance(base, Guarantee) else base for base in found
    )
    Answer.of_calibration(omission, target, each, count, rows_per_person).show(json)


def _relation(neighbours: str | None, omission: "Omission") -> str:
    """Return the relation that is asked for, or the one that the omission is defined for."""
    return str(omission.relations[0]) if neighbours is None else neighbours


def independent(
    before: Annotated[str, typer.Option(help="Deletion probabilities in D, as 0.1,0.2,...")],
    after: Annotated[str, typer.Option(help="Those of the same records in D + y.")],
    added: Annotated[float, typer.Option(help="Deletion probability of y in D + y.")],
    epsilon: Epsilon,
    delta: Delta = 0.0,
    json: Json = False,
) -> None:
    """One pair of databases under independent suppression: the exact loss."""
    from omit.cli.output import show_pair
    from omit.omissions.pairs import IndependentPair

    pair = IndependentPair(numbers("before", before), numbers("after", after), added)
    show_pair("independent", {"exact": pair.loss(epsilon, delta)}, epsilon, delta, json)


def subsets(
    file: Annotated[
        Path,
        typer.Argument(
            help=(
                'JSON: {"database": [...], "record": ..., "without": [{"kept": [...], '
                '"probability": p}, ...], "with_record": [...]}.'
            )
        ),
    ],
    epsilon: Epsilon,
    delta: Delta = 0.0,
    json: Json = False,
) -> None:
    """One pair of databases under any suppression, given by its distribution over subsets."""
    from omit.cli.output import show_pair
    from omit.errors import InvalidInput
    from omit.omissions.pairs import read_subset_pair

    pair = read_subset_pair(file)
    losses, refusal = {}, None
    try:
        losses["exact"] = pair.exact(epsilon, delta)
    except InvalidInput as error:
        refusal = error
    if pair.record not in pair.database:
        losses["theorem-b.6"] = pair.theorem_b_6(epsilon, delta)
        if pair.support_gap() is None:
            losses["theorem-5.3"] = pair.theorem_5_3(epsilon, delta)
    if refusal is not None and not losses:
        raise refusal
    show_pair("subsets", losses, epsilon, delta, json, pair.lower_bound(epsilon))


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
