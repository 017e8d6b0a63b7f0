"""What a result may depend on besides its parameters: the code that computes it.

A cluster's workers may have another version of this package, or the same version with other
code, or another numpy whose random streams differ. Their results would not be the same numbers.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from omit._version import __version__
from omit.errors import InvalidInput

# Whose versions can change a number.
_LIBRARIES = ("numpy", "scipy", "numba")


@dataclass(frozen=True)
class Environment:
    """The versions of what computes, and a fingerprint of the package's own code.

    Examples
    --------
    >>> Environment.here().difference(Environment.here()) is None
    True
    """

    omit: str
    code: str
    python: str
    libraries: tuple[tuple[str, str], ...]

    @classmethod
    def here(cls) -> Environment:
        """Return the environment of this process."""
        return _here()

    def difference(self, other: Environment) -> str | None:
        """Return what is different in the other one, in words, or None."""
        if self.omit != other.omit:
            return f"omit {other.omit} instead of omit {self.omit}"
        if self.code != other.code:
            return f"omit {other.omit} with other code"
        if self.python != other.python:
            return f"Python {other.python} instead of Python {self.python}"
        for (name, mine), (_, theirs) in zip(self.libraries, other.libraries, strict=True):
            if mine != theirs:
                return f"{name} {theirs} instead of {name} {mine}"
        return None

    def require_here(self) -> None:
        """Refuse to compute in another environment.

        Raises
        ------
        OtherEnvironment
            If this process has another one.
        """
        difference = self.difference(Environment.here())
        if difference is not None:
            raise OtherEnvironment(f"A worker has {difference}; install the same there.")


class OtherEnvironment(InvalidInput):
    """A worker's results would not be the same numbers."""


@lru_cache(maxsize=1)
def _here() -> Environment:
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        code.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return Environment(
        __version__,
        code.hexdigest(),
        ".".join(platform.python_version_tuple()[:2]),
        tuple((name, _version(name)) for name in _LIBRARIES),
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(none)"
