"""The same comparison in every group, such as for each region and sex, under one guarantee.

A record is in one group. So under add-remove two neighbouring databases differ in one group, by
one record, and all others answer alike: whatever each group promises, all of them together promise.
That is parallel composition, and it needs labels that are declared, because which groups there are
is published.

Under replace a record may take another one's place in another group: one group loses a record and
one gains it. That is a step of add-remove in two groups, so that mechanisms which are
(epsilon/2, delta/(1 + e^(epsilon/2)))-DP under add-remove in every group are (epsilon, delta)-DP
together. If labels cannot change and the sizes of groups are public, every replacement is within
one group, and each may use (epsilon, delta) under replace.

Records are left out within every group, as if it were a database of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from omit import _validate
from omit.accuracy.compare import compared, require_omission
from omit.accuracy.comparison import Comparison
from omit.accuracy.expected import Question
from omit.accuracy.grouped_comparison import GroupedComparison
from omit.data.groups import GroupedColumn, Labels
from omit.errors import InvalidInput, OmitError
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, relation, require_guarantee
from omit.mechanisms.base import Mechanism
from omit.omissions.base import Omission
from omit.study.sharing import shared_out

OmissionOf: TypeAlias = "Omission | Callable[[int], Omission]"
"""An omission, or what returns one for the number of records of a group."""
_Asked: TypeAlias = "tuple[Question, Sequence[Omission]]"

# Enough for tables and pictures of thousands of errors.
_PRECISION: Mapping[str, Any] = {"tolerance": 1e-6, "details": False}


def compare_groups(
    grouped: GroupedColumn,
    mechanism: Mechanism,
    guarantee: Guarantee,
    *omissions: OmissionOf,
    fixed_labels: bool = False,
    cores: int = 1,
    advance: Callable[[], None] = lambda: None,
    **options: Any,
) -> GroupedComparison:
    """Compare no omission with each omission in every group, so that all groups have a guarantee.

    Parameters
    ----------
    grouped, mechanism, guarantee
        As for `compare`, of a column in groups; the guarantee is that of all groups together.
    *omissions : Omission, or callable
        Ways to leave records out of every group, or functions that return one for its size.
    fixed_labels : bool
        Under replace, whether labels cannot change and the sizes of groups are public.
    cores : int
        With several, processes more take part once that pays.
    advance : callable
        Called after every group.
    **options
        The other parameters of `Question`, except `sampled_from`.

    Raises
    ------
    InvalidInput
        If there is no answer in any group.

    Examples
    --------
    >>> import omit
    >>> ages = omit.read("adult", "age", by="sex")
    >>> target, sample = omit.Guarantee(1.0), omit.PoissonSampling(0.5)
    >>> print(compare_groups(ages, omit.NoisyMean(), target, sample).verdict)
    At (1, 0)-DP under add-remove for all 2 groups together, in 2 of 2 groups nothing tested beats
    using all records: the best tested multiplies the expected error by 11.8 to 16.1.
    """
    require_guarantee(guarantee)
    _validate.instance("the data", grouped, GroupedColumn)
    if options.get("sampled_from") is not None:
        raise InvalidInput("Expected no sampled_from of groups: ask about all records, or without.")
    if options.get("truth") is not None:
        raise InvalidInput("Expected no truth of groups: every group has its own.")
    each = guarantee_of_a_group(guarantee, fixed_labels)
    options = {**_PRECISION, **options}
    asked: dict[Labels, _Asked] = {}
    refused: dict[Labels, str] = {}
    for labels, part in grouped.parts.items():
        try:
            chosen = [_of_size(omission, part.size) for omission in omissions]
            asked[labels] = Question(part, mechanism, each, **options), chosen
        except OmitError as reason:
            refused[labels] = str(reason)
            advance()
    answers: dict[int, Comparison | str] = {}
    for number, answer in shared_out(_answered, list(asked.values()), cores):
        answers[number] = answer
        advance()
    found = {labels: answers[number] for number, labels in enumerate(asked)}
    comparisons = {
        labels: answer for labels, answer in found.items() if isinstance(answer, Comparison)
    }
    refused |= {labels: answer for labels, answer in found.items() if isinstance(answer, str)}
    if not comparisons:
        why = next(iter(refused.values()))
        if each.neighbours != guarantee.neighbours and f"relation {each.neighbours}" in why:
            why = (
                f"{why.rstrip('.')}: a record may move between groups, which is removing one and "
                "adding one. If labels cannot change and the sizes of groups are public, say so "
                "with fixed_labels=True (--fixed-labels)."
            )
        raise InvalidInput(why)
    return GroupedComparison(grouped, guarantee, comparisons, refused, fixed_labels)


def guarantee_of_a_group(guarantee: Guarantee, fixed_labels: bool = False) -> Guarantee:
    """Return what every group needs, so that all of them together have the guarantee.

    Examples
    --------
    >>> guarantee_of_a_group(Guarantee(1.0))
    Guarantee(epsilon=1.0, delta=0.0, neighbours='add-remove')
    >>> guarantee_of_a_group(Guarantee(1.0, neighbours="replace"))
    Guarantee(epsilon=0.5, delta=0.0, neighbours='add-remove')
    """
    if relation(guarantee.neighbours) != REPLACE or fixed_labels:
        return guarantee
    # A record that moves is a group of two steps of add-remove.
    return replace(guarantee, neighbours=ADD_REMOVE).per_row(2)


def _of_size(omission: OmissionOf, size: int) -> Omission:
    """Return the omission for a group of so many records."""
    found = omission if isinstance(omission, Omission) or not callable(omission) else omission(size)
    require_omission(found)
    return found


def _answered(asked: _Asked) -> Comparison | str:
    """Return the comparison in a group, or why there is none."""
    try:
        return compared(*asked)
    except OmitError as reason:
        return str(reason)
