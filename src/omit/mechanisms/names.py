"""Which mechanisms a statistic has, by the names that people type.

A package registers a mechanism as an entry point of the group ``omit.mechanisms``; the name of the
entry point is ``STATISTIC`` or ``STATISTIC/MECHANISM``, such as ``total/laplace``, and its value a
class that needs no arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeAlias

from omit.errors import InvalidInput

if TYPE_CHECKING:
    from omit.data.column import Column
    from omit.mechanisms.base import Mechanism

Makers: TypeAlias = "Mapping[str, Callable[[], Mechanism]]"

METRICS = {"mse": "squared", "relative": "relative"}
_MOST_WHOLE, _POINTS = 1_000_000, 10_000
CLUSTERINGS = ("kmeans", "kmedian")
# What bins of a continuous column are enough for; all else needs the values of the records.
OF_SUMS = ("mean", "sum", "count", "all")
NEEDS_DELTA = ("smooth-laplace", "smooth-laplace-tight", "propose-test-release", "gaussian")
# Never among "all": for comparing with papers. They have more noise than they need, are not clipped
# to the bounds, or are not private.
_NOT_AMONG_ALL = (
    "laplace-sum-and-count",
    "gaussian-sum-and-count",
    "laplace-published",
    "gaussian-published",
    "smooth-laplace-unpadded",
    "exponential-published",
    "gumbel-published",
)
# Quantiles that are chosen among the points of a column with a step.
ON_A_LATTICE = ("permute-and-flip", "exponential")


def is_quantile(statistic: str) -> bool:
    """Tell whether the statistic is a median or another quantile."""
    return statistic == "median" or statistic.startswith("quantile")


def usual_relation(
    statistic: str, metric: str | None = None, name: str | None = None, on_lattice: bool = False
) -> str:
    """Return the neighbour relation that is usual for a statistic.

    Most medians and quantiles, and mean squared errors of means, are for a public number of
    records: replace. Those that are chosen on a lattice are not. A registered mechanism has a
    relation of its own.

    Examples
    --------
    >>> usual_relation("median"), usual_relation("median", on_lattice=True)
    ('replace', 'add-remove')
    """
    if statistic in registered():
        first = next(iter(registered()[statistic].values()))
        return str(first().relations[0])
    if is_quantile(statistic):
        chosen = on_lattice and name in (None, "laplace", *ON_A_LATTICE)
        return "add-remove" if chosen else "replace"
    is_mean = statistic == "mean" or statistic.startswith("proportion:")
    public_size = is_mean and metric == "mse"
    return "replace" if public_size else "add-remove"


def usual_step(bounds: tuple[float, float]) -> float | None:
    """Return on which lattice a quantile is chosen under add-remove if no step is declared.

    It depends on nothing but the bounds. Where these are whole numbers, there are at least ten
    thousand points, with all whole numbers among them; elsewhere nobody but a person knows.

    Examples
    --------
    >>> usual_step((0, 200_000)), usual_step((0, 125)), usual_step((0.5, 1.5))
    (1.0, 0.0078125, None)
    """
    lower, upper = bounds
    width = float(upper) - float(lower)
    if not (float(lower).is_integer() and float(upper).is_integer() and 0 < width <= _MOST_WHOLE):
        return None
    return 2.0 ** -max(0, math.ceil(math.log2(_POINTS / width)))


def known_mechanisms(
    statistic: str,
    metric: str | None = None,
    neighbours: str = "add-remove",
    on_lattice: bool = False,
) -> Makers:
    """Return the mechanisms of a statistic of a column, by name; the first is the default.

    Parameters
    ----------
    statistic : str
        ``mean``, ``weighted mean``, ``mode``, ``count``, ``sum``, ``variance``, ``median``,
        ``quantile:SHARE``, or that of a registered mechanism.
    metric : {"mse", "relative"}, optional
        For all numbers.
    neighbours : str
        The neighbour relation; for an error in per cent under replace, means are not clipped.
    on_lattice : bool
        Whether the column has a step. Quantiles are then chosen among its points, and the
        exponential mechanism for continuous columns is not known.

    Raises
    ------
    InvalidInput
        If something is unknown, or does not go together.

    Examples
    --------
    >>> list(known_mechanisms("mean"))
    ['laplace', 'gaussian', 'laplace-sum-and-count', 'gaussian-sum-and-count', ...]
    """
    if metric is not None and metric not in METRICS:
        raise InvalidInput(f"Expected metric={metric!r} to be mse or relative.")
    if is_quantile(statistic):
        return _quantiles(_share(statistic), METRICS[metric or "mse"], on_lattice)
    if statistic == "mean":
        return _means(metric, neighbours)
    if statistic == "weighted mean":
        return _weighted_means(metric)
    if statistic in ("count", "sum", "variance"):
        return _numbers(statistic, METRICS[metric or "relative"])
    if metric is not None:
        what = "mean squared" if metric == "mse" else "relative"
        raise InvalidInput(
            f"A {what} error is for --statistic mean, count, sum, variance, median or "
            "quantile:SHARE."
        )
    if statistic == "mode":
        return _modes()
    if statistic in registered():
        return registered()[statistic]
    others = "".join(f", {name}" for name in registered())
    raise InvalidInput(
        f"Expected statistic={statistic!r} to be mean, mode, all, count, sum, "
        "variance, proportion:VALUE, median, "
        f"quantile:SHARE, kmeans{others} or kmedian."
    )


def chosen_mechanisms(
    statistic: str,
    name: str | None,
    metric: str | None,
    delta: float,
    neighbours: str,
    on_lattice: bool = False,
) -> list[Mechanism]:
    """Return the mechanism of that name, or with ``all`` every one for the relation and delta.

    None stands for the default.
    """
    known = known_mechanisms(statistic, metric, neighbours, on_lattice)
    if name is None or (name == "laplace" and name not in known):
        # The default of the option, which for a quantile means its first mechanism; without delta
        # the one with the least noise that needs none.
        name = next(iter(known))
        if delta == 0 and name in NEEDS_DELTA and "exponential" in known:
            name = "exponential"
    if name == "all":
        made = {
            kind: make()
            for kind, make in known.items()
            if kind not in _NOT_AMONG_ALL and (delta > 0 or kind not in NEEDS_DELTA)
        }
        if not on_lattice:
            made.pop("permute-and-flip", None)
        fitting = [each for each in made.values() if neighbours in each.relations]
        return fitting or list(made.values())
    if name not in known:
        choices = ", ".join([*known, "all"])
        raise InvalidInput(f"Expected mechanism={name!r} to be one of: {choices}.")
    return [known[name]()]


def asked_of(data: Column, statistic: str) -> tuple[Column, str]:
    """Return the column and the statistic that are meant: a proportion is the mean of an indicator.

    Raises
    ------
    InvalidInput
        If no record can have the value of ``proportion:VALUE``.
    """
    name, _, value = statistic.partition(":")
    if name != "proportion":
        return data, statistic
    if not value:
        raise InvalidInput(
            f"Expected statistic={statistic!r} in the form proportion:VALUE, such as proportion:39."
        )
    if data.is_text:
        return data.indicator(value), "mean"
    try:
        number = float(value)
    except ValueError as error:
        raise InvalidInput(
            f"Expected the value {value!r} of a proportion to be a number, as {data.name!r} is."
        ) from error
    return data.indicator(number), "mean"


def several_statistics(statistic: str) -> list[str]:
    """Return the statistics that share a guarantee, in a list such as mean,median; or the only one.

    `InvalidInput` is raised for what cannot share one.

    Examples
    --------
    >>> several_statistics("mean, median"), several_statistics("proportion:Sales, retail")
    (['mean', 'median'], ['proportion:Sales, retail'])
    """
    if "," not in statistic or statistic.startswith("proportion:"):
        return [statistic]
    kinds = [kind.strip() for kind in statistic.split(",")]
    for kind in kinds:
        alone = kind in (*CLUSTERINGS, "all", "") or kind.startswith("proportion:")
        if alone or kinds.count(kind) > 1:
            raise InvalidInput(
                f"Expected several statistics of numbers, such as mean,median,count, each of them "
                f"once, got {kind!r}."
            )
    return kinds


def column_mechanisms(
    data: Column, statistic: str, name: str, metric: str | None, delta: float, neighbours: str
) -> list[Mechanism]:
    """Return the chosen mechanisms of a statistic; with ``all``, those of mean and mode."""
    if statistic != "all":
        on_lattice = data.step is not None
        return chosen_mechanisms(statistic, name, metric, delta, neighbours, on_lattice)
    named = {kind: known_mechanisms(kind, metric, neighbours) for kind in mean_and_mode(data)}
    choices = [*sorted({name for known in named.values() for name in known}), "all"]
    if name not in choices:
        raise InvalidInput(f"Expected mechanism={name!r} to be one of: {', '.join(choices)}.")
    return [
        mechanism
        for kind, known in named.items()
        if name == "all" or name in known
        for mechanism in chosen_mechanisms(kind, name, metric, delta, neighbours)
    ]


def mean_and_mode(data: Column) -> tuple[str, ...]:
    """Return which of mean and mode the column has."""
    if data.is_text:
        return ("mode",)
    try:
        data.domain()
    except InvalidInput:
        return ("mean",)
    return ("mean", "mode")


def clustering(statistic: str, **options: Any) -> Mechanism:
    """Return a clustering; options that are None have their defaults."""
    from omit.mechanisms.kmeans import DPLloyd
    from omit.mechanisms.kmedian import PrivateKMedian

    given = {name: value for name, value in options.items() if value is not None}
    if statistic == "kmeans":
        given.pop("candidates", None)
        return DPLloyd(**given)
    return PrivateKMedian(
        **{name: given[name] for name in ("k", "candidates", "metric") if name in given}
    )


@cache
def registered() -> Mapping[str, Makers]:
    """Return the mechanisms that other packages register, by statistic and name.

    Raises
    ------
    InvalidInput
        If what is registered is no mechanism.
    """
    from omit.mechanisms.base import Mechanism

    known: dict[str, dict[str, Callable[[], Mechanism]]] = {}
    for point in entry_points(group="omit.mechanisms"):
        statistic, _, name = point.name.partition("/")
        kind = point.load()
        if not (isinstance(kind, type) and issubclass(kind, Mechanism)):
            raise InvalidInput(f"The entry point {point.value!r} is no mechanism.")
        known.setdefault(statistic, {})[name or statistic] = kind
    return known


def _means(metric: str | None, neighbours: str) -> Makers:
    from omit.mechanisms.mean import NoisyMean

    if metric == "mse" or (metric is not None and neighbours == "replace"):
        measured: Any = METRICS[metric]
        return {
            "laplace": lambda: NoisyMean("laplace", "published", measured),
            "gaussian": lambda: NoisyMean("gaussian", "published", measured),
        }
    return {
        "laplace": lambda: NoisyMean("laplace"),
        "gaussian": lambda: NoisyMean("gaussian"),
        "laplace-sum-and-count": lambda: NoisyMean("laplace", "sum-and-count"),
        "gaussian-sum-and-count": lambda: NoisyMean("gaussian", "sum-and-count"),
        "laplace-published": lambda: NoisyMean("laplace", "published"),
        "gaussian-published": lambda: NoisyMean("gaussian", "published"),
    }


def _numbers(statistic: str, metric: Any) -> Makers:
    from omit.mechanisms.counting import NoisyCount, NoisySum
    from omit.mechanisms.variance import NoisyVariance

    kinds: dict[str, Any] = {"count": NoisyCount, "sum": NoisySum, "variance": NoisyVariance}
    kind = kinds[statistic]
    return {
        "laplace": lambda: kind("laplace", metric),
        "gaussian": lambda: kind("gaussian", metric),
    }


def _weighted_means(metric: str | None) -> Makers:
    from omit.mechanisms.weighted_mean import WeightedMean

    if metric == "mse":
        raise InvalidInput(
            "The mean squared error of a weighted mean is not known; its relative is."
        )
    return {"laplace": WeightedMean, "gaussian": lambda: WeightedMean("gaussian")}


def _modes() -> Makers:
    from omit.mechanisms.mode import NoisyMode

    return {
        "laplace": lambda: NoisyMode("laplace"),
        "exponential": lambda: NoisyMode("exponential"),
        "gaussian": lambda: NoisyMode("gaussian"),
        "gumbel": lambda: NoisyMode("gumbel"),
        "exponential-published": lambda: NoisyMode("exponential", "published"),
        "gumbel-published": lambda: NoisyMode("gumbel", "published"),
    }


def _quantiles(share: float, metric: Any, on_lattice: bool) -> Makers:
    from omit.mechanisms.exponential_quantile import ExponentialQuantile
    from omit.mechanisms.lattice_quantile import LatticeQuantile
    from omit.mechanisms.propose_test_release import ProposeTestRelease
    from omit.mechanisms.quantiles import GlobalQuantile, SmoothQuantile

    def smooth(noise: Any = "laplace", padding: Any = "bounds") -> Mechanism:
        return SmoothQuantile(noise, share, metric, padding)

    def flip() -> Mechanism:
        return LatticeQuantile("permute-and-flip", share, metric)

    added: Makers = {
        "smooth-laplace": smooth,
        "smooth-laplace-tight": lambda: smooth("laplace-tight"),
        "smooth-student": lambda: smooth("student"),
        "global-laplace": lambda: GlobalQuantile(share, metric),
    }
    tested: Makers = {
        "propose-test-release": lambda: ProposeTestRelease(quantile=share, metric=metric),
        "smooth-laplace-unpadded": lambda: smooth(padding="none"),
    }
    if on_lattice:
        exponential: Makers = {"exponential": lambda: LatticeQuantile("exponential", share, metric)}
        return {"permute-and-flip": flip, **exponential, **added, **tested}
    # Known on continuous columns, too, to say there that it needs a step.
    continuous: Makers = {"exponential": lambda: ExponentialQuantile(share, metric)}
    return {**added, **continuous, **tested, "permute-and-flip": flip}


def _share(statistic: str) -> float:
    if statistic == "median":
        return 0.5
    name, _, share = statistic.partition(":")
    try:
        if name != "quantile":
            raise ValueError
        return float(share)
    except ValueError as error:
        raise InvalidInput(
            f"Expected statistic={statistic!r} in the form quantile:SHARE, such as quantile:0.9."
        ) from error
