"""Omissions by the names that people type, those of other packages included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from omit import _validate
from omit._text import did_you_mean
from omit.errors import InvalidInput, Refused
from omit.omissions.base import Omission
from omit.omissions.by_value import SamplingByValue
from omit.omissions.deterministic import RuleSuppression, StableSuppression
from omit.omissions.outlier_removal import (
    DeviationRemoval,
    InterquartileRemoval,
    ThresholdOutlierRemoval,
    TopOutlierRemoval,
)
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling

BUILT_IN: tuple[type[Omission], ...] = (
    NoOmission,
    PoissonSampling,
    SamplingByValue,
    FixedSizeSampling,
    RuleSuppression,
    StableSuppression,
    OutlierScoreSuppression,
    ThresholdOutlierRemoval,
    TopOutlierRemoval,
    DeviationRemoval,
    InterquartileRemoval,
)

_BUN = (
    "Bun, Drechsler, Gaboardi, McMillan and Sarathy, 'Controlling privacy loss in sampling "
    "schemes: an analysis of stratified and cluster sampling', arXiv:2007.12674"
)
_BALLE = (
    "Balle, Barthe and Gaboardi, 'Privacy amplification by subsampling: tight analyses via "
    "couplings and divergences', NeurIPS 2018"
)

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "with-replacement": (
            "Sampling with replacement can draw a record several times, so what remains depends "
            f"on the mechanism's privacy for groups and not on epsilon alone ({_BALLE})."
        ),
        "stratified": (
            "Stratified sampling usually lets the data decide how many records a stratum "
            f"gives, which often amplifies nothing and can cost privacy ({_BUN})."
        ),
        "cluster": (
            "Cluster sampling draws whole groups of records, so one record's presence shows in "
            f"its group's, and amplification shrinks with the size of the groups ({_BUN})."
        ),
        "systematic": (
            "Systematic sampling takes every k-th record of a list, so one record more shifts all "
            f"that follow and can exchange the whole sample; on designs beyond uniform ones see "
            f"{_BUN}."
        ),
    }
)

# Between the steps of a chain: a plus before a name, not one within a number.
_JOINT = re.compile(r"\+(?=[^\d.])")


@cache
def known_omissions() -> Mapping[str, type[Omission]]:
    """Return all omissions by name: the built-in ones, and those that other packages register.

    A package registers its class as an entry point of the group ``omit.omissions``. Its `name` must
    not be taken.

    Raises
    ------
    InvalidInput
        If something registered is no omission, or has a name that is taken.
    """
    known = {kind.name: kind for kind in BUILT_IN}
    for point in entry_points(group="omit.omissions"):
        kind = point.load()
        if not (isinstance(kind, type) and issubclass(kind, Omission)) or not kind.name:
            raise InvalidInput(f"The entry point {point.value!r} is no omission with a name.")
        if kind.name in known:
            raise InvalidInput(f"The entry point {point.value!r} has the name {kind.name!r} again.")
        known[kind.name] = kind
    return MappingProxyType(known)


def parse_omission(text: str, population: int | None = None) -> Omission:
    """Return the omission of a short form, for comparisons on data.

    Parameters
    ----------
    text : str
        ``poisson:RATE``, ``by-value:VALUE=RATE,...``, ``fixed-size:SIZE``, ``rule:LOWER,UPPER``,
        ``outlier-score:m,M``,
        ``outlier-score:m,M,DISTANCE``, ``none``, what many do today (``outlier-top:SHARE``,
        ``outlier-threshold:DISTANCE``, ``z-score:DEVIATIONS``, ``interquartile:RANGES``), the short
        form of a registered omission, or several of these one after the other, joined by ``+``.
    population : int, optional
        The number of records, which a sample of fixed size is drawn from.

    Raises
    ------
    InvalidInput
        If the text is none of these.

    Examples
    --------
    >>> parse_omission("outlier-score:0.1,0.3")
    OutlierScoreSuppression(m=0.1, M=0.3, distance=None, bound='mixture')
    >>> parse_omission("outlier-score:0.1,0.3,manhattan").distance
    'manhattan'
    >>> print(parse_omission("outlier-score:0.1,0.3+poisson:0.1"))
    outlier-score suppression with m=0.1, M=0.3, then Poisson sampling at rate 0.1
    """
    first, *others = _JOINT.split(_validate.text("the omission", text))
    omission = _step(first, population)
    for other in others:
        omission = omission >> _step(other, omission.records_after)
    return omission


def _step(text: str, population: int | None) -> Omission:
    """Return the omission of a short form of one step."""
    name, _, rest = text.partition(":")
    kind = _kind(name)
    if kind.design is Omission.design:
        raise InvalidInput(
            f"{name} has no short form, because its error cannot be computed; "
            f"see omit bound {name}."
        )
    return kind.from_text(rest, population)


def omission(name: str, **parameters: Any) -> Omission:
    """Return the omission of that name with these parameters.

    Raises
    ------
    Refused
        If the name is known and no valid bound is implemented for it; the message says why.
    InvalidInput
        If the name is unknown or the parameters do not fit.

    Examples
    --------
    >>> omission("poisson", rate=0.1)
    PoissonSampling(rate=0.1)
    """
    try:
        return _kind(name)(**parameters)
    except TypeError as error:
        raise InvalidInput(f"The parameters of {name} do not fit: {error}.") from error


def _kind(name: str) -> type[Omission]:
    """Return the class of a name, or refuse it."""
    _validate.text("the omission", name)
    if name in REFUSED:
        raise Refused(f"{REFUSED[name]} Use poisson or fixed-size sampling instead.")
    known = known_omissions()
    if name not in known:
        hint = did_you_mean(name, [*known, *REFUSED])
        raise InvalidInput(
            f"Expected omission={_validate.shown(name)} to be one of: {', '.join(known)}.{hint}"
        )
    return known[name]
