"""Which records are kept, drawn so that different omissions can be compared sharply.

Each draw takes one random number of 32 bits for every record, and one word of 64 bits for ties,
whatever the omission is and whether it needs them or not. Two omissions that start from equally
seeded generators therefore see the same numbers in every run ("common random numbers"): a Poisson
sample contains the one at a smaller rate, and what two omissions have in common cancels when their
errors are subtracted.

Probabilities are rounded up to a multiple of 2^-32. These draws simulate; they do not release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray

Positions: TypeAlias = NDArray[np.intp]

_LARGEST_WORD = np.iinfo(np.uint64).max


def kept_independently(
    keep_probabilities: FloatArray, rng: np.random.Generator
) -> Iterator[Positions]:
    """Yield for each run the positions of the records that are kept, in ascending order.

    Examples
    --------
    >>> runs = kept_independently(np.array([1.0, 0.5, 0.0, 0.5]), np.random.default_rng(1))
    >>> for _ in range(3):
    ...     next(runs).tolist()
    [0]
    [0, 3]
    [0, 3]
    """
    size = len(keep_probabilities)
    # A number u of 32 bits is below keep 2^32 if it is below this, and always if keep is 1.
    limits = np.ceil(keep_probabilities * 2.0**32)
    always = limits >= 2.0**32
    below = np.minimum(limits, 2.0**32 - 1).astype(np.uint32)
    if always.all():
        everyone = np.arange(size)
        everyone.flags.writeable = False
        while True:
            _numbers(size, rng)
            yield everyone
    some_always = bool(always.any())
    while True:
        kept = _numbers(size, rng)[0] < below
        if some_always:
            kept |= always
        yield np.flatnonzero(kept)


def kept_by_number(sample: int, size: int, rng: np.random.Generator) -> Iterator[Positions]:
    """Yield for each run the positions of `sample` of `size` records, every subset alike.

    They are those with the smallest numbers, so that samples of different sizes are nested.

    Examples
    --------
    >>> smaller = kept_by_number(2, 5, np.random.default_rng(1))
    >>> larger = kept_by_number(4, 5, np.random.default_rng(1))
    >>> for _ in range(2):
    ...     next(smaller).tolist(), next(larger).tolist()
    ([0, 4], [0, 1, 2, 4])
    ([0, 4], [0, 1, 3, 4])
    """
    while True:
        numbers, spare = _numbers(size, rng)
        last = np.partition(numbers, sample - 1)[sample - 1]
        kept = numbers <= last
        surplus = int(kept.sum()) - sample
        if surplus:
            # Which of those with equal numbers are in is decided by a word that nothing else
            # looks at; each of them is as likely as the others.
            tied = np.flatnonzero(numbers == last)
            np.random.default_rng(spare).shuffle(tied)
            kept[tied[len(tied) - surplus :]] = False
        yield np.flatnonzero(kept)


def _numbers(size: int, rng: np.random.Generator) -> tuple[NDArray[np.uint32], int]:
    """Return a number of 32 bits for each record, and a word to spare."""
    words = rng.integers(
        _LARGEST_WORD, endpoint=True, size=(size + 1) // 2 + 1, dtype=np.uint64
    ).astype("<u8", copy=False)
    return words[:-1].view("<u4")[:size], int(words[-1])
