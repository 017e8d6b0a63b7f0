"""What privacy remains when records are left out, and what does it cost in accuracy?

The names below are imported when they are first used, so that `import omit` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omit.data.column import Column as Column
    from omit.data.reading import read as read
    from omit.data.registry import datasets as datasets
    from omit.errors import InvalidInput as InvalidInput
    from omit.errors import OmitError as OmitError
    from omit.errors import Refused as Refused
    from omit.errors import Unattainable as Unattainable
    from omit.errors import WrongNeighbours as WrongNeighbours
    from omit.guarantee import ADD_REMOVE as ADD_REMOVE
    from omit.guarantee import REPLACE as REPLACE
    from omit.guarantee import Guarantee as Guarantee
    from omit.guarantee import NoGuarantee as NoGuarantee
    from omit.guarantee import NoNoiseNeeded as NoNoiseNeeded
    from omit.guarantee import Relation as Relation
    from omit.mechanisms.base import Mechanism as Mechanism
    from omit.mechanisms.exponential_quantile import ExponentialQuantile as ExponentialQuantile
    from omit.mechanisms.known_size_mean import KnownSizeMean as KnownSizeMean
    from omit.mechanisms.mean import NoisyMean as NoisyMean
    from omit.mechanisms.mode import NoisyMode as NoisyMode
    from omit.mechanisms.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from omit.mechanisms.quantile import GlobalQuantile as GlobalQuantile
    from omit.mechanisms.quantile import SmoothQuantile as SmoothQuantile
    from omit.mechanisms.sensitivity import global_sensitivity as global_sensitivity
    from omit.mechanisms.sensitivity import local_sensitivity as local_sensitivity
    from omit.mechanisms.sensitivity import smooth_sensitivity as smooth_sensitivity
    from omit.omissions.base import Omission as Omission
    from omit.omissions.by_name import omission as omission
    from omit.omissions.independent import IndependentPair as IndependentPair
    from omit.omissions.outlier_removal import ThresholdOutlierRemoval as ThresholdOutlierRemoval
    from omit.omissions.outlier_removal import TopOutlierRemoval as TopOutlierRemoval
    from omit.omissions.outlier_score import OutlierScoreSuppression as OutlierScoreSuppression
    from omit.omissions.outlier_score_bounds import mixture_base_epsilon as mixture_base_epsilon
    from omit.omissions.outlier_score_bounds import mixture_epsilon as mixture_epsilon
    from omit.omissions.outlier_score_bounds import (
        published_base_epsilon as published_base_epsilon,
    )
    from omit.omissions.outlier_score_bounds import published_epsilon as published_epsilon
    from omit.omissions.sample import Sample as Sample
    from omit.omissions.sample import SampledRelease as SampledRelease
    from omit.omissions.sample import compose as compose
    from omit.omissions.sampling import FixedSizeSampling as FixedSizeSampling
    from omit.omissions.sampling import NoOmission as NoOmission
    from omit.omissions.sampling import PoissonSampling as PoissonSampling
    from omit.omissions.sampling import sampling_base_epsilon as sampling_base_epsilon
    from omit.omissions.sampling import sampling_epsilon as sampling_epsilon
    from omit.omissions.stable import RuleSuppression as RuleSuppression
    from omit.omissions.stable import StableSuppression as StableSuppression
    from omit.omissions.subsets import PairLoss as PairLoss
    from omit.omissions.subsets import SubsetPair as SubsetPair
    from omit.utility.compare import Comparison as Comparison
    from omit.utility.compare import compare as compare
    from omit.utility.error import Error as Error
    from omit.utility.expected import expected_error as expected_error
    from omit.utility.search import best as best
    from omit.utility.search import solve as solve

__version__ = "0.1.0"

_HOME = {
    "omit.data.column": ("Column",),
    "omit.data.reading": ("read",),
    "omit.data.registry": ("datasets",),
    "omit.errors": ("InvalidInput", "OmitError", "Refused", "Unattainable", "WrongNeighbours"),
    "omit.guarantee": (
        "ADD_REMOVE",
        "REPLACE",
        "Guarantee",
        "NoGuarantee",
        "NoNoiseNeeded",
        "Relation",
    ),
    "omit.mechanisms.base": ("Mechanism",),
    "omit.mechanisms.exponential_quantile": ("ExponentialQuantile",),
    "omit.mechanisms.known_size_mean": ("KnownSizeMean",),
    "omit.mechanisms.mean": ("NoisyMean",),
    "omit.mechanisms.mode": ("NoisyMode",),
    "omit.mechanisms.propose_test_release": ("ProposeTestRelease",),
    "omit.mechanisms.quantile": ("GlobalQuantile", "SmoothQuantile"),
    "omit.mechanisms.sensitivity": (
        "global_sensitivity",
        "local_sensitivity",
        "smooth_sensitivity",
    ),
    "omit.omissions.base": ("Omission",),
    "omit.omissions.by_name": ("omission",),
    "omit.omissions.independent": ("IndependentPair",),
    "omit.omissions.outlier_removal": ("ThresholdOutlierRemoval", "TopOutlierRemoval"),
    "omit.omissions.outlier_score": ("OutlierScoreSuppression",),
    "omit.omissions.outlier_score_bounds": (
        "mixture_base_epsilon",
        "mixture_epsilon",
        "published_base_epsilon",
        "published_epsilon",
    ),
    "omit.omissions.sample": ("Sample", "SampledRelease", "compose"),
    "omit.omissions.sampling": (
        "FixedSizeSampling",
        "NoOmission",
        "PoissonSampling",
        "sampling_base_epsilon",
        "sampling_epsilon",
    ),
    "omit.omissions.stable": ("RuleSuppression", "StableSuppression"),
    "omit.omissions.subsets": ("PairLoss", "SubsetPair"),
    "omit.utility.compare": ("Comparison", "compare"),
    "omit.utility.error": ("Error",),
    "omit.utility.expected": ("expected_error",),
    "omit.utility.search": ("best", "solve"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'omit' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
