"""Means, medians and quantiles by the names that people type, for the commands on accuracy."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from omit.mechanisms.base import IntegrableMechanism, Measure
    from omit.mechanisms.quantiles import SmoothKind
    from omit.mechanisms.sensitivity import Padding


METRICS: "dict[str, Measure]" = {"mse": "squared", "relative": "relative"}
NEEDS_DELTA = ("smooth-laplace", "smooth-laplace-tight", "propose-test-release", "gaussian")
# What `all` leaves out: the variant that is there for comparing with the paper, and not private.
NOT_PRIVATE = "smooth-laplace-unpadded"


def is_quantile(statistic: str) -> bool:
    """Tell whether the statistic is a median or another quantile."""
    return statistic == "median" or statistic.startswith("quantile")


def chosen_relation(neighbours: str | None, statistic: str, metric: str | None) -> str:
    """Return the relation asked for, or the one that is usual for the statistic.

    Medians, quantiles and mean squared errors are for a public number of records: replace.
    """
    if neighbours is not None:
        return neighbours
    return "replace" if is_quantile(statistic) or metric == "mse" else "add-remove"


def integrable_mechanisms(
    statistic: str, noise: str, metric: str | None, delta: float, neighbours: str = "replace"
) -> "list[IntegrableMechanism] | None":
    """Return the mechanisms with integrable noise that are asked for; None if others are meant.

    A mean is one of known size for a mean squared error, and for a relative one under replace.
    """
    from omit.errors import InvalidInput

    if metric is not None and metric not in METRICS:
        raise InvalidInput(f"Expected metric={metric!r} to be mse or relative.")
    known: dict[str, Callable[[], IntegrableMechanism]]
    if is_quantile(statistic):
        known = _quantile_mechanisms(_share(statistic), METRICS[metric or "mse"])
        # The default of the option, which for a quantile means the paper's mechanism.
        noise = "smooth-laplace" if noise == "laplace" else noise
    elif statistic == "mean" and (metric == "mse" or (metric and neighbours == "replace")):
        known = _known_size_means(METRICS[metric])
    elif metric is not None and statistic != "mean":
        what = "mean squared" if metric == "mse" else "relative"
        raise InvalidInput(f"A {what} error is for --statistic mean, median or quantile:SHARE.")
    else:
        return None
    if noise == "all":
        return [
            make()
            for name, make in known.items()
            if name != NOT_PRIVATE and (delta > 0 or name not in NEEDS_DELTA)
        ]
    if noise not in known:
        raise InvalidInput(
            f"Expected mechanism={noise!r} to be one of: {', '.join([*known, 'all'])}."
        )
    return [known[noise]()]


def _known_size_means(measure: "Measure") -> "dict[str, Callable[[], IntegrableMechanism]]":
    from omit.mechanisms.mean import KnownSizeMean

    return {
        "laplace": lambda: KnownSizeMean("laplace", measure),
        "gaussian": lambda: KnownSizeMean("gaussian", measure),
    }


def _quantile_mechanisms(
    share: float, measure: "Measure"
) -> "dict[str, Callable[[], IntegrableMechanism]]":
    from omit.mechanisms.exponential_quantile import ExponentialQuantile
    from omit.mechanisms.quantiles import GlobalQuantile, ProposeTestRelease, SmoothQuantile

    def smooth(noise: "SmoothKind" = "laplace", padding: "Padding" = "bounds") -> SmoothQuantile:
        return SmoothQuantile(noise, quantile=share, measure=measure, padding=padding)

    return {
        "smooth-laplace": smooth,
        "smooth-laplace-tight": lambda: smooth("laplace-tight"),
        "smooth-student": lambda: smooth("student"),
        "global-laplace": lambda: GlobalQuantile(quantile=share, measure=measure),
        "exponential": lambda: ExponentialQuantile(quantile=share, measure=measure),
        "propose-test-release": lambda: ProposeTestRelease(quantile=share, measure=measure),
        NOT_PRIVATE: lambda: smooth(padding="none"),
    }


def _share(statistic: str) -> float:
    from omit.errors import InvalidInput

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
