"""How one point of the paper's plots is computed: the error of a statistic after an omission.

A statistic of a column has its exact error where there is one. A clustering is simulated, with the
same random numbers for all omissions at one epsilon, so that differences are sharp; the seed
belongs to what they share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from omit._numeric import FloatArray
from omit.data.column import Column
from omit.data.points import Points
from omit.data.reading import read
from omit.data.reading_points import read_points
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import Guarantee
from omit.mechanisms.base import Mechanism
from omit.mechanisms.clustering import Clustering
from omit.mechanisms.kmeans import DPLloyd
from omit.mechanisms.kmedian import PrivateKMedian
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.mode import NoisyMode
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import NoOmission, PoissonSampling
from omit.study.cell import Computation
from omit.utility.expected import base_guarantee, expected_error
from omit.utility.simulated_points import clustering_losses

COLUMN_MECHANISMS: Mapping[str, Mechanism] = {
    "mean, Laplace": NoisyMean("laplace", "published"),
    "mean, Gaussian": NoisyMean("gaussian", "published"),
    "mode, Laplace": NoisyMode("laplace"),
    "mode, Gaussian": NoisyMode("gaussian"),
    "mode, exponential": NoisyMode("exponential"),
    "mode, exponential mechanism": NoisyMode("gumbel"),
}
CLUSTERINGS: Mapping[str, Clustering] = {
    "DPLloyd": DPLloyd(5),
    "DPLloyd as published": DPLloyd.published(5),
    "k-median": PrivateKMedian(4),
    "k-median as published": PrivateKMedian.published(4),
}

# Enough for every digit that is printed.
_TOLERANCE = 1e-7


def omission(parameters: Mapping[str, Any]) -> Omission:
    """Return the omission that a cell's parameters describe."""
    if parameters["kind"] == "none":
        return NoOmission()
    if parameters["kind"] == "poisson":
        return PoissonSampling(rate=parameters["rate"])
    return OutlierScoreSuppression(parameters["m"], parameters["M"], bound=parameters["bound"])


def _column(shared: Mapping[str, Any], rng: np.random.Generator) -> Column:
    return read(shared["data"], shared["column"])


def _column_error(
    parameters: Mapping[str, Any], column: Column, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the expected error, or that the guarantee cannot be reached."""
    mechanism = COLUMN_MECHANISMS[parameters["mechanism"]]
    delta = column.size**-2 if "Gaussian" in parameters["mechanism"] else 0.0
    target = Guarantee(parameters["epsilon"], delta)
    try:
        base = base_guarantee(omission(parameters), target, parameters["noise_reduction"])
        found = expected_error(
            column,
            mechanism,
            target,
            omission(parameters),
            "auto" if parameters["exact"] else "simulated",
            noise_reduction=parameters["noise_reduction"],
            runs=parameters["runs"],
            rng=rng,
            tolerance=_TOLERANCE,
            details=False,
        )
    except Unattainable:
        return {"error": None, "low": None, "high": None, "method": "unattainable"}
    return {
        "error": found.value,
        "low": found.low,
        "high": found.high if math.isfinite(found.high) else None,
        "method": found.method,
        "base_epsilon": base.epsilon,
        "base_delta": base.delta,
        "kept": _kept_share(column, omission(parameters).suited_to(mechanism.statistic)),
    }


@dataclass(frozen=True, eq=False)
class _Baseline:
    """Points, and what a clustering loses without omission in each run."""

    points: Points
    seed: int
    losses: FloatArray


@lru_cache(maxsize=3)
def _points(name: str, bounds: str) -> Points:
    # One object in a process, so that its outlier scores are computed once.
    return read_points(name) if bounds == "registered" else read_points(name, bounds="from-data")


def _baseline(shared: Mapping[str, Any], rng: np.random.Generator) -> _Baseline:
    points, seed = _points(shared["data"], shared["bounds"]), int(rng.integers(2**63))
    mechanism = CLUSTERINGS[shared["mechanism"]]
    runs = clustering_losses(
        points,
        mechanism,
        Guarantee(shared["epsilon"]),
        NoOmission(),
        np.random.default_rng(seed),
        shared["measured_on"],
    )
    return _Baseline(points, seed, runs.first(shared["runs"]))


def _clustering_loss(
    parameters: Mapping[str, Any], baseline: _Baseline, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the mean loss and its difference to that without omission, run by run."""
    mechanism = CLUSTERINGS[parameters["mechanism"]]
    suited = omission(parameters).suited_to(mechanism.statistic)
    target = Guarantee(parameters["epsilon"])
    try:
        base = base_guarantee(suited, target, parameters["noise_reduction"])
    except Unattainable:
        return {"error": None, "low": None, "high": None, "method": "unattainable"}
    losses = baseline.losses
    if parameters["kind"] != "none":
        runs = clustering_losses(
            baseline.points,
            mechanism,
            base,
            suited,
            np.random.default_rng(baseline.seed),
            parameters["measured_on"],
        )
        losses = runs.first(parameters["runs"])
    value, deviation = _mean_and_error(losses)
    difference, difference_deviation = _mean_and_error(losses - baseline.losses)
    return {
        "error": value,
        "low": value - 2 * deviation,
        "high": value + 2 * deviation,
        "method": "simulated",
        "base_epsilon": base.epsilon,
        "base_delta": base.delta,
        "kept": _kept_share(baseline.points, suited),
        "difference": difference,
        "difference_deviation": difference_deviation,
    }


def _kept_share(data: Column | Points, suited: Omission) -> float:
    """Return the expected share of records that are kept."""
    keep = suited.keep_probabilities(data)
    weights = data.counts if isinstance(data, Column) else None
    return float(np.average(keep, weights=weights))


def _mean_and_error(values: FloatArray) -> tuple[float, float]:
    """Return the mean and its standard error, of the runs in which something was measured."""
    present = values[~np.isnan(values)]
    if len(present) < 2:
        raise InvalidInput("A simulated loss needs at least two runs that leave a record.")
    return float(present.mean()), float(present.std(ddof=1) / math.sqrt(len(present)))


def _clustering_cost(parameters: Mapping[str, Any]) -> float:
    """Return about how long a cell takes, in passes over all records of Adult."""
    kept = 1.0
    if parameters["kind"] == "poisson":
        kept = parameters["rate"]
    elif parameters["kind"] == "outlier-score":
        kept = 1 - 0.5 * (parameters["m"] + parameters["M"])
    if parameters["mechanism"].startswith("k-median"):
        return float(4 * parameters["runs"])
    iterations = 20 if "published" in parameters["mechanism"] else 5
    return float(parameters["runs"] * (1 + iterations * kept))


COLUMN_ERROR = Computation(
    "error of a statistic of a column", 1, _column_error, _column, ("data", "column")
)
CLUSTERING_LOSS = Computation(
    "loss of a clustering",
    3,
    _clustering_loss,
    _baseline,
    ("data", "bounds", "mechanism", "epsilon", "runs", "measured_on"),
    _clustering_cost,
)
