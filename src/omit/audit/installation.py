"""Whether an installation works: what is there, what is missing, and five known numbers.

The numbers are from elsewhere: from publications, or computed with more digits by another route.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from types import MappingProxyType
from typing import ClassVar

from omit import __version__
from omit.data.datasets import datasets
from omit.guarantee import Guarantee
from omit.report.result import Field, Result, Table

# What people ask for by the name of an extra; those for developers are not theirs.
_EXTRAS = MappingProxyType(
    {
        "accounting": "events of dp-accounting, and the composed budget of DPLloyd",
        "cluster": "studies on a Dask cluster",
        "learn": "PrivateKMeans, an estimator for scikit-learn",
    }
)
_PRECISION = 1e-8


@dataclass(frozen=True)
class KnownNumber:
    """A number that is known from elsewhere, and what comes out here.

    Parameters
    ----------
    what, source : str
        What it is, and where it is known from.
    known, computed : float
        What it should be, and what it is.
    """

    what: str
    source: str
    known: float
    computed: float

    @property
    def agrees(self) -> bool:
        """Whether eight digits are the same."""
        return abs(self.computed - self.known) <= _PRECISION * abs(self.known)


@dataclass(frozen=True)
class Diagnosis(Result):
    """What an installation has, and whether it computes right. Made by `diagnose`.

    Parameters
    ----------
    numbers : tuple of KnownNumber
        The check of the computations.
    packages : tuple of (str, str or None)
        The packages that omit needs, with their versions.
    extras : tuple of (str, str, tuple of str)
        Extras, what they are for, and which of their packages are missing.
    data : tuple of (str, str or None)
        The data sets that are known by name, with the sentence on what is missing of them, if
        anything.
    """

    command: ClassVar[str] = "doctor"
    caution: ClassVar[str | None] = None

    numbers: tuple[KnownNumber, ...]
    packages: tuple[tuple[str, str | None], ...]
    extras: tuple[tuple[str, str, tuple[str, ...]], ...]
    data: tuple[tuple[str, str | None], ...]

    @property
    def works(self) -> bool:
        """Whether all known numbers come out right."""
        return all(number.agrees for number in self.numbers)

    @property
    def verdict(self) -> str:
        """Whether it computes right, and how much of what is optional is there."""
        right = sum(number.agrees for number in self.numbers)
        found = sum(missing is None for _, missing in self.data)
        there = sum(not missing for _, _, missing in self.extras)
        return (
            f"{right} of {len(self.numbers)} known numbers come out right; {there} of "
            f"{len(self.extras)} extras and {found} of {len(self.data)} data sets are there."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How to get what is missing."""
        notes = [
            f"For {purpose}: pip install 'omit[{extra}]'."
            for extra, purpose, missing in self.extras
            if missing
        ]
        notes += [missing for _, missing in self.data if missing is not None]
        if not self.works:
            notes.append(
                "Numbers of this installation cannot be trusted: install the versions of the "
                "packages anew, and report it if that does not help."
            )
        return tuple(notes)

    def tables(self) -> tuple[Table, ...]:
        """Return the known numbers, the packages, the extras and the data sets."""
        numbers = (
            Field("known number", "what"),
            Field("should be", "known", "{:.9g}".format, numeric=True),
            Field("is", "computed", "{:.9g}".format, numeric=True),
            Field("", "agrees", lambda agrees: "right" if agrees else "WRONG"),
            Field("source", "source"),
        )
        lines = tuple(
            (one.what, one.known, one.computed, one.agrees, one.source) for one in self.numbers
        )
        here = (("Python", platform.python_version()), ("omit", __version__))
        cores = (("cores", str(os.cpu_count())),)
        versions = tuple((name, found or "missing") for name, found in self.packages)
        extras = tuple(
            (name, purpose, ", ".join(missing) or "nothing")
            for name, purpose, missing in self.extras
        )
        data = tuple((name, missing is None) for name, missing in self.data)
        return (
            Table("numbers", "Known numbers", numbers, lines),
            Table(
                "packages",
                "Versions",
                (Field("what", "name"), Field("version", "version")),
                (*here, *versions, *cores),
            ),
            Table(
                "extras",
                "Extras",
                (Field("extra", "extra"), Field("for", "purpose"), Field("missing", "missing")),
                extras,
            ),
            Table(
                "data",
                "Data sets",
                (
                    Field("data set", "name"),
                    Field("", "found", lambda found: "there" if found else "missing"),
                ),
                data,
            ),
        )


def diagnose() -> Diagnosis:
    """Return what this installation has, and whether it computes right.

    Examples
    --------
    >>> diagnose().works
    True
    """
    return Diagnosis(
        tuple(
            KnownNumber(what, source, known, compute()) for what, source, known, compute in _KNOWN
        ),
        tuple((name, _version(name)) for name in _required(None)),
        tuple(
            (extra, purpose, tuple(name for name in _required(extra) if _version(name) is None))
            for extra, purpose in _EXTRAS.items()
        ),
        tuple((known.name, known.missing_file()) for known in datasets()),
    )


def _base_of_a_sample() -> float:
    from omit.omissions.sampling import PoissonSampling

    base = PoissonSampling(0.1).calibrate(Guarantee(1.0))
    assert isinstance(base, Guarantee)
    return base.epsilon


def _mixture() -> float:
    from omit.omissions.outlier_score import mixture_epsilon

    return float(mixture_epsilon(0.25, 0.1, 0.2))


def _published() -> float:
    from omit.omissions.outlier_score import published_epsilon

    return float(published_epsilon(1.0, 0.5, 0.6))


def _gaussian_scale() -> float:
    from omit.laws.noise import Gaussian

    return float(Gaussian.calibrated(Guarantee(0.25, 32561**-2.0), 1.0, 1.0).scale)


def _wrong_mode() -> float:
    from omit.accuracy.expected import expected_error
    from omit.data.reading import read
    from omit.mechanisms.mode import NoisyMode

    return expected_error(read("adult", "age"), NoisyMode(), Guarantee(0.25)).value


_Known = tuple[str, str, float, Callable[[], float]]
_KNOWN: tuple[_Known, ...] = (
    (
        "the epsilon that a 10 % sample permits at epsilon 1",
        "ln(1 + 10 (e - 1)), by hand",
        2.900477097889,
        _base_of_a_sample,
    ),
    (
        "the mixture bound at epsilon .25, m = .1, M = .2",
        "a maximum over databases, by enumeration",
        0.2323698373417,
        _mixture,
    ),
    (
        "Theorem 5.4 at epsilon 1, m = .5, M = .6",
        "the authors' closed form, with 50 digits",
        0.7441312242084,
        _published,
    ),
    (
        "the scale of Gaussian noise at epsilon .25, delta 9.4e-10",
        "its hockey stick, inverted with 50 digits",
        20.825083923488,
        _gaussian_scale,
    ),
    (
        "the chance of a wrong mode of Adult's ages at epsilon .25",
        "an integral over the noise, by quadrature",
        0.136905600444,
        _wrong_mode,
    ),
)


def _required(extra: str | None) -> list[str]:
    """Return the packages that omit, or one of its extras, asks for."""
    marker = "" if extra is None else f'extra == "{extra}"'
    names = []
    for requirement in requires("omit") or ():
        package, _, condition = requirement.partition(";")
        if condition.strip().replace("'", '"') == marker:
            names.append(re.split(r"[^A-Za-z0-9._-]", package.strip(), maxsplit=1)[0])
    return names


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
