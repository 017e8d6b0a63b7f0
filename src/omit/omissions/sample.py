"""Several releases and the samples they share.

Statistics computed on the *same* sample must be composed first and amplified once: whoever learns
from one statistic that a record was drawn knows it for the others too. Statistics on independent
samples are amplified one by one and then composed. The gap is large: two 1-DP statistics on the
same 10 of 100 records are .494-DP together, while amplifying each and adding up claims .317.

A release on a sample is therefore a `SampledRelease`, which has no epsilon of its own: the only way
to get one is `compose`, which knows the right order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

from omit.errors import InvalidInput
from omit.guarantee import Guarantee, NoGuarantee, compose_guarantees
from omit.omissions.base import Omission


@dataclass(frozen=True)
class Sample:
    """One outcome of an omission, drawn once and used for any number of releases.

    Drawing again makes another sample, even of the same omission. A copy, or what comes back from
    another process, is the same sample.

    Examples
    --------
    >>> from omit import FixedSizeSampling, Guarantee
    >>> sample = Sample(FixedSizeSampling(size=10, population=100))
    >>> each = Guarantee(1.0, neighbours="replace")
    >>> compose(sample.release(each), sample.release(each))
    Guarantee(epsilon=0.49402870804418, delta=0.0, neighbours='replace')
    """

    omission: Omission = field(compare=False)
    identity: str = field(default_factory=lambda: uuid4().hex, repr=False)

    def release(self, guarantee: Guarantee) -> SampledRelease:
        """Return the release of something with this guarantee, computed on this sample."""
        self.omission.require_relation(guarantee)
        return SampledRelease(self, guarantee)


@dataclass(frozen=True)
class SampledRelease:
    """A release computed on a sample: it has a guarantee only together with all the others."""

    sample: Sample
    on_sample: Guarantee


def compose(*releases: Guarantee | SampledRelease) -> Guarantee | NoGuarantee:
    """Return what holds for all the releases together.

    Releases on the same sample are composed and then amplified once; the results, and the
    releases on all records, are composed after that.

    Raises
    ------
    InvalidInput
        If there is nothing to compose, or something without a guarantee.
    WrongNeighbours
        If relations are mixed.

    Examples
    --------
    Two statistics on two independent samples, for comparison:

    >>> from omit import FixedSizeSampling, Guarantee
    >>> design = FixedSizeSampling(size=10, population=100)
    >>> each = Guarantee(1.0, neighbours="replace")
    >>> compose(Sample(design).release(each), Sample(design).release(each))
    Guarantee(epsilon=0.31713015748086, delta=0.0, neighbours='replace')
    """
    by_sample: dict[Sample, list[Guarantee]] = {}
    totals: list[Guarantee] = []
    for release in releases:
        if isinstance(release, SampledRelease):
            by_sample.setdefault(release.sample, []).append(release.on_sample)
        elif isinstance(release, Guarantee) and release.on_a_sample:
            raise InvalidInput(
                f"{release} was amplified for a sample of its own, and nothing says which other "
                "release shares that sample; compose Sample(omission).release(...) instead."
            )
        else:
            totals.append(release)
    for sample, guarantees in by_sample.items():
        together = compose_guarantees(*guarantees)
        amplified = (
            sample.omission.amplify(together) if isinstance(together, Guarantee) else together
        )
        if isinstance(amplified, NoGuarantee):
            return amplified
        totals.append(amplified)
    return compose_guarantees(*totals)
