"""Reading the distributions of a suppression over subsets from a JSON file."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from omit import _validate
from omit.errors import InvalidInput
from omit.omissions.subsets import SubsetPair

# Some tens of thousands of subsets; a device without end stops here, too.
_LARGEST_FILE = 20_000_000
_MOST_SUBSETS = 32_768


def read_subset_pair(file: Path) -> SubsetPair:
    """Return the pair described by a file.

    Raises
    ------
    InvalidInput
        If the file cannot be read or does not have the expected form.
    """
    try:
        with file.open("rb") as stream:
            text = stream.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(f"Cannot read {file}: {error.strerror}.") from error
    if len(text) > _LARGEST_FILE:
        raise InvalidInput(f"Expected {file} to have at most {_LARGEST_FILE:,} bytes.")
    try:
        content = json.loads(text.decode("utf-8"))
    except RecursionError as error:
        raise InvalidInput(f"Expected {file} to be JSON, and it is nested too deeply.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Expected {file} to be JSON in UTF-8.") from error
    except json.JSONDecodeError as error:
        raise InvalidInput(f"Expected {file} to be JSON in UTF-8: {error}.") from error
    except ValueError as error:  # whole numbers of more digits than Python reads
        raise InvalidInput(f"Expected {file} to have no number of thousands of digits.") from error
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
    if len(rows) > _MOST_SUBSETS:
        raise InvalidInput(f"Expected at most {_MOST_SUBSETS:,} subsets, got {len(rows):,}.")
    distribution: dict[tuple[Hashable, ...], float] = {}
    for row in rows:
        kept = tuple(row["kept"])
        probability = _validate.probability("probability", row["probability"])
        distribution[kept] = distribution.get(kept, 0.0) + probability
    return distribution
