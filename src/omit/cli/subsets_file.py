"""Reading the distributions of a suppression over subsets from a JSON file."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from omit.errors import InvalidInput
from omit.omissions.subsets import SubsetPair


def read_subset_pair(file: Path) -> SubsetPair:
    """Return the pair described by a file.

    Raises
    ------
    InvalidInput
        If the file cannot be read or does not have the expected form.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidInput(f"Expected {file} to be JSON in UTF-8: {error}.") from error
    try:
        return SubsetPair.from_distributions(
            database=content["database"],
            record=content["record"],
            without=_distribution(content["without"]),
            with_record=_distribution(content["with_record"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"Expected {file} to hold database, record, without and with_record, the latter two "
            "as lists of {kept, probability}, with numbers or texts as records."
        ) from error


def _distribution(rows: list[dict[str, Any]]) -> dict[tuple[Hashable, ...], float]:
    distribution: dict[tuple[Hashable, ...], float] = {}
    for row in rows:
        kept = tuple(row["kept"])
        distribution[kept] = distribution.get(kept, 0.0) + row["probability"]
    return distribution
