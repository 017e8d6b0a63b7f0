"""Omissions by the names that people type."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from omit import _validate
from omit._text import did_you_mean
from omit.errors import InvalidInput, Refused
from omit.omissions.base import Omission
from omit.omissions.deterministic import (
    RuleSuppression,
    StableSuppression,
    ThresholdOutlierRemoval,
    TopOutlierRemoval,
)
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling

OMISSIONS: Mapping[str, type[Omission]] = MappingProxyType(
    {
        "none": NoOmission,
        "poisson": PoissonSampling,
        "fixed-size": FixedSizeSampling,
        "rule": RuleSuppression,
        "stable": StableSuppression,
        "outlier-score": OutlierScoreSuppression,
        "outlier-threshold": ThresholdOutlierRemoval,
        "outlier-top": TopOutlierRemoval,
    }
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
            "Stratified sampling usually lets the data decide how many records each stratum "
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


# The parameters that a short form such as "poisson:0.1" gives, in order.
_SHORT_FORMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "none": (),
        "poisson": ("rate",),
        "fixed-size": ("size",),
        "rule": ("lower", "upper"),
        "outlier-score": ("m", "M"),
    }
)


def parse_omission(text: str, population: int | None = None) -> Omission:
    """Return the omission of a short form, for comparisons on data.

    Parameters
    ----------
    text : str
        ``poisson:RATE``, ``fixed-size:SIZE``, ``rule:LOWER,UPPER``, ``outlier-score:m,M``,
        ``outlier-score:m,M,DISTANCE`` or ``none``.
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
    """
    name, _, rest = _validate.text("the omission", text).partition(":")
    if name in REFUSED or name not in OMISSIONS:
        return omission(name)
    if name not in _SHORT_FORMS:
        raise InvalidInput(f"{name} has no short form, because its error cannot be computed.")
    wanted = _SHORT_FORMS[name]
    parts = rest.split(",") if rest else []
    words = parts[len(wanted) :] if name == "outlier-score" else []
    parts = parts[: len(parts) - len(words)]
    try:
        numbers = [float(part) for part in parts]
    except ValueError as error:
        raise InvalidInput(
            f"Expected numbers after the colon in {_validate.shown(text)}."
        ) from error
    if len(numbers) != len(wanted) or len(words) > 1:
        form = f"{name}:{','.join(wanted)}" if wanted else name
        more = f" or {form},DISTANCE" if name == "outlier-score" else ""
        raise InvalidInput(f"Expected {_validate.shown(text)} in the form {form}{more}.")
    if name == "rule":
        return RuleSuppression(keep=(numbers[0], numbers[1]))
    parameters: dict[str, Any] = dict(zip(wanted, numbers, strict=True))
    if words:
        parameters["distance"] = words[0].strip()
    if name == "fixed-size":
        parameters["population"] = population
    return omission(name, **parameters)


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
    _validate.text("the omission", name)
    if name in REFUSED:
        raise Refused(f"{REFUSED[name]} Use poisson or fixed-size sampling instead.")
    if name not in OMISSIONS:
        hint = did_you_mean(name, [*OMISSIONS, *REFUSED])
        raise InvalidInput(
            f"Expected omission={_validate.shown(name)} to be one of: {', '.join(OMISSIONS)}.{hint}"
        )
    try:
        return OMISSIONS[name](**parameters)
    except TypeError as error:
        raise InvalidInput(f"The parameters of {name} do not fit: {error}.") from error
