"""Templates: which places of a database make the samples that answers are computed on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omit.errors import InvalidInput


@dataclass(frozen=True)
class Template:
    """Samples of a database, as sequences of places (Definition 3.1).

    Examples
    --------
    >>> template = Template(((0, 2), (1,)))
    >>> template.format, template.is_injective, template.apply("abc")
    ((2, 1), True, (('a', 'c'), ('b',)))
    """

    samples: tuple[tuple[int, ...], ...]

    @property
    def format(self) -> tuple[int, ...]:
        """The sizes of the samples."""
        return tuple(len(sample) for sample in self.samples)

    @property
    def is_injective(self) -> bool:
        """Whether no place is used twice."""
        places = [place for sample in self.samples for place in sample]
        return len(set(places)) == len(places)

    def apply(self, records: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """Return the samples of these records.

        Raises
        ------
        InvalidInput
            If a place does not exist.
        """
        for place in itertools.chain.from_iterable(self.samples):
            if not 0 <= place < len(records):
                raise InvalidInput(f"There is no place {place} among {len(records)} records.")
        return tuple(tuple(records[place] for place in sample) for sample in self.samples)
