"""What privacy remains when records are left out, and what does it cost in accuracy?

The names below are imported when they are first used, so that `import omit` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from omit._version import __version__ as __version__

if TYPE_CHECKING:
    from omit.data.column import Column as Column
    from omit.data.points import Points as Points
    from omit.data.reading import read as read
    from omit.data.reading_points import read_points as read_points
    from omit.data.registry import datasets as datasets
    from omit.disclosure.assess import assess as assess
    from omit.disclosure.assessment import Assessment as Assessment
    from omit.disclosure.histograms import DiscreteGaussianHistogram as DiscreteGaussianHistogram
    from omit.disclosure.histograms import GeometricHistogram as GeometricHistogram
    from omit.disclosure.histograms import LaplaceHistogram as LaplaceHistogram
    from omit.disclosure.measures import exact_measures as exact_measures
    from omit.disclosure.mechanism import CHANGE_QUASI_IDENTIFIERS as CHANGE_QUASI_IDENTIFIERS
    from omit.disclosure.suppressed_cells import suppressed_intervals as suppressed_intervals
    from omit.disclosure.suppression import CellSuppression as CellSuppression
    from omit.disclosure.suppression import RandomisedCellSuppression as RandomisedCellSuppression
    from omit.disclosure.swapping import RandomisedSwapping as RandomisedSwapping
    from omit.disclosure.swapping import Swapping as Swapping
    from omit.disclosure.table import CountTable as CountTable
    from omit.disclosure.tabulate import tabulate as tabulate
    from omit.errors import InvalidInput as InvalidInput
    from omit.errors import OmitError as OmitError
    from omit.errors import Refused as Refused
    from omit.errors import StudyFailed as StudyFailed
    from omit.errors import StudyInterrupted as StudyInterrupted
    from omit.errors import Unattainable as Unattainable
    from omit.errors import WrongNeighbours as WrongNeighbours
    from omit.guarantee import ADD_REMOVE as ADD_REMOVE
    from omit.guarantee import REPLACE as REPLACE
    from omit.guarantee import Guarantee as Guarantee
    from omit.guarantee import NoGuarantee as NoGuarantee
    from omit.guarantee import NoNoiseNeeded as NoNoiseNeeded
    from omit.guarantee import Relation as Relation
    from omit.guarantee import Statement as Statement
    from omit.mechanisms.base import Mechanism as Mechanism
    from omit.mechanisms.exponential_quantile import ExponentialQuantile as ExponentialQuantile
    from omit.mechanisms.kmeans import DPLloyd as DPLloyd
    from omit.mechanisms.kmedian import PrivateKMedian as PrivateKMedian
    from omit.mechanisms.known_size_mean import KnownSizeMean as KnownSizeMean
    from omit.mechanisms.mean import NoisyMean as NoisyMean
    from omit.mechanisms.mode import NoisyMode as NoisyMode
    from omit.mechanisms.private_kmeans import PrivateKMeans as PrivateKMeans
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
    from omit.omissions.sample import ALL_RECORDS as ALL_RECORDS
    from omit.omissions.sample import Charge as Charge
    from omit.omissions.sample import Sample as Sample
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
    from omit.statistical.added_noise import DiscreteGaussian as DiscreteGaussian
    from omit.statistical.added_noise import added_noise as added_noise
    from omit.statistical.background import Population as Population
    from omit.statistical.background import sampled_groups_curve as sampled_groups_curve
    from omit.statistical.background import sampled_property_curve as sampled_property_curve
    from omit.statistical.composition import composition_bound as composition_bound
    from omit.statistical.composition import exact_composition as exact_composition
    from omit.statistical.composition import worst_of_class as worst_of_class
    from omit.statistical.distribution import Distribution as Distribution
    from omit.statistical.guarantee import PrivacyCurve as PrivacyCurve
    from omit.statistical.guarantee import StatisticalGuarantee as StatisticalGuarantee
    from omit.statistical.monotone import monotone_curve as monotone_curve
    from omit.statistical.monotone import order_statistic_curve as order_statistic_curve
    from omit.statistical.partition import Partition as Partition
    from omit.statistical.planner import plan as plan
    from omit.statistical.property import grouped_property_curve as grouped_property_curve
    from omit.statistical.property import property_curve as property_curve
    from omit.statistical.sampling import Poisson as Poisson
    from omit.statistical.sampling import WithoutReplacement as WithoutReplacement
    from omit.statistical.sampling import WithReplacement as WithReplacement
    from omit.statistical.score_queries import Entries as Entries
    from omit.statistical.score_queries import ScoreQuery as ScoreQuery
    from omit.statistical.score_queries import ask as ask
    from omit.statistical.sums import sum_curve as sum_curve
    from omit.statistical.sums import sum_curve_of_groups as sum_curve_of_groups
    from omit.statistical.template import Template as Template
    from omit.study.cell import Computation as Computation
    from omit.study.results import read_results as read_results
    from omit.study.run import run_study as run_study
    from omit.utility.compare import compare as compare
    from omit.utility.comparison import Comparison as Comparison
    from omit.utility.error import Error as Error
    from omit.utility.expected import expected_error as expected_error
    from omit.utility.search import best as best
    from omit.utility.search import solve as solve


_HOME = {
    "omit.data.column": ("Column",),
    "omit.data.points": ("Points",),
    "omit.data.reading": ("read",),
    "omit.data.reading_points": ("read_points",),
    "omit.data.registry": ("datasets",),
    "omit.disclosure.assess": ("assess",),
    "omit.disclosure.assessment": ("Assessment",),
    "omit.disclosure.histograms": (
        "DiscreteGaussianHistogram",
        "GeometricHistogram",
        "LaplaceHistogram",
    ),
    "omit.disclosure.measures": ("exact_measures",),
    "omit.disclosure.suppressed_cells": ("suppressed_intervals",),
    "omit.disclosure.mechanism": ("CHANGE_QUASI_IDENTIFIERS",),
    "omit.disclosure.suppression": ("CellSuppression", "RandomisedCellSuppression"),
    "omit.disclosure.swapping": ("RandomisedSwapping", "Swapping"),
    "omit.disclosure.table": ("CountTable",),
    "omit.disclosure.tabulate": ("tabulate",),
    "omit.errors": (
        "InvalidInput",
        "OmitError",
        "Refused",
        "StudyFailed",
        "StudyInterrupted",
        "Unattainable",
        "WrongNeighbours",
    ),
    "omit.guarantee": (
        "ADD_REMOVE",
        "REPLACE",
        "Guarantee",
        "NoGuarantee",
        "NoNoiseNeeded",
        "Relation",
        "Statement",
    ),
    "omit.mechanisms.base": ("Mechanism",),
    "omit.mechanisms.exponential_quantile": ("ExponentialQuantile",),
    "omit.mechanisms.kmeans": ("DPLloyd",),
    "omit.mechanisms.kmedian": ("PrivateKMedian",),
    "omit.mechanisms.known_size_mean": ("KnownSizeMean",),
    "omit.mechanisms.mean": ("NoisyMean",),
    "omit.mechanisms.mode": ("NoisyMode",),
    "omit.mechanisms.private_kmeans": ("PrivateKMeans",),
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
    "omit.omissions.sample": ("ALL_RECORDS", "Charge", "Sample", "compose"),
    "omit.omissions.sampling": (
        "FixedSizeSampling",
        "NoOmission",
        "PoissonSampling",
        "sampling_base_epsilon",
        "sampling_epsilon",
    ),
    "omit.omissions.stable": ("RuleSuppression", "StableSuppression"),
    "omit.omissions.subsets": ("PairLoss", "SubsetPair"),
    "omit.study.cell": ("Computation",),
    "omit.study.results": ("read_results",),
    "omit.study.run": ("run_study",),
    "omit.statistical.added_noise": (
        "DiscreteGaussian",
        "added_noise",
    ),
    "omit.statistical.background": (
        "Population",
        "sampled_groups_curve",
        "sampled_property_curve",
    ),
    "omit.statistical.composition": (
        "composition_bound",
        "exact_composition",
        "worst_of_class",
    ),
    "omit.statistical.distribution": ("Distribution",),
    "omit.statistical.guarantee": (
        "PrivacyCurve",
        "StatisticalGuarantee",
    ),
    "omit.statistical.monotone": (
        "monotone_curve",
        "order_statistic_curve",
    ),
    "omit.statistical.partition": ("Partition",),
    "omit.statistical.planner": ("plan",),
    "omit.statistical.property": (
        "grouped_property_curve",
        "property_curve",
    ),
    "omit.statistical.sampling": (
        "Poisson",
        "WithReplacement",
        "WithoutReplacement",
    ),
    "omit.statistical.score_queries": (
        "Entries",
        "ScoreQuery",
        "ask",
    ),
    "omit.statistical.sums": (
        "sum_curve",
        "sum_curve_of_groups",
    ),
    "omit.statistical.template": ("Template",),
    "omit.utility.compare": ("compare",),
    "omit.utility.comparison": ("Comparison",),
    "omit.utility.error": ("Error",),
    "omit.utility.expected": ("expected_error",),
    "omit.utility.search": ("best", "solve"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
# Needs an extra, so `from omit import *` must not ask for it.
_OPTIONAL = frozenset({"PrivateKMeans"})

__all__ = sorted(set(_MODULE_OF) - _OPTIONAL)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'omit' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(_MODULE_OF)
