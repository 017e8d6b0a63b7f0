"""Whatever is given to the functions of this room and of the data: an answer or a sentence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from omit import Column, Guarantee, Points, read, read_points
from omit.data.datasets import dataset
from omit.disclosure import measures
from omit.disclosure.assessment import assess
from omit.disclosure.histograms import (
    DiscreteGaussianHistogram,
    GeometricHistogram,
    LaplaceHistogram,
)
from omit.disclosure.suppressed_cells import suppressed_intervals
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping, level_probabilities
from omit.disclosure.swapping_exact import exact_swapping_delta, lower_bound_delta
from omit.disclosure.table import (
    Attribute,
    CountTable,
    Universe,
    chosen,
    largest_groups,
    two_way,
)
from omit.disclosure.tabulation import parse_derivation, parse_domains, parse_groups, tabulate
from omit.laws.discrete import DiscreteGaussian
from tests.odd_arguments import Call, require_answers_or_sentences

SEX, TOWN = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B", "C"))
TABLE = CountTable((SEX, TOWN), np.array([2, 9, 8, 7, 0, 1]))
UNIVERSE = Universe((SEX, TOWN), 27)
FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
RNG = np.random.default_rng(0)
LAPLACE = LaplaceHistogram(1.0)

ODD: list[Any] = [
    None, True, -1, 2.5, float("nan"), float("inf"), 1e308, 1e-320, 10**400, 2**70, 1j,
    np.complex128(1j), b"1", bytearray(b"12"), "", "1", "sex", "x" * 5000, "\0", [], {}, set(),
    [None], [1, 2], ["sex"], "sex=F", [["sex"]], [[1, 2], [3]], {"sex": "F"}, {"g": {"sex": "F"}},
    (1, 0), np.array(3), np.array([]), np.array([1.0, np.nan]), np.array([b"a"]), np.array([1j]),
    np.ma.masked, np.ma.array([1, 2, 3], mask=[False, True, False]),
    np.array([1, None, "a"], dtype=object),
    np.array([(1, 2)], dtype="i4,i4"), pd.Series([[1], [2]]), pd.DataFrame(), pd.NA,
    Decimal("NaN"), Decimal("sNaN"), Fraction(1, 3), object(), len, range(3), Path("x.csv"),
    "tls://a", SEX, TABLE, UNIVERSE, LAPLACE, Guarantee(1.0), duckdb.sql("SELECT 1 AS a"), ...,
]  # fmt: skip

CALLS: dict[str, tuple[Any, ...]] = {
    "read": (read, [FRAME, "a"], {"bounds": (0, 9), "categories": None, "table": None}),
    "read_points": (read_points, [FRAME, ["a"]], {"bounds": (0, 9), "table": None}),
    "registered": (read_points, ["kmedian-synthetic", ["x"]], {"bounds": None, "table": None}),
    "from_values": (Column.from_values, [[1]], {"bounds": (0, 9), "categories": None, "name": "n"}),
    "texts": (Column.from_values, [["x"]], {"bounds": None, "categories": ("x",), "name": "n"}),
    "from_counts": (Column.from_counts, [[1, 2], [3, 4]], {"bounds": (0, 9), "missing": 0}),
    "Column": (
        Column,
        ["n", np.array([1.0]), np.array([1]), (0, 9)],
        {"bounds_source": "declared", "categories": None, "clamped": 0, "missing": 0},
    ),
    "Points": (
        Points,
        ["n", ("a",), np.array([[1.0]]), ((0, 9),)],
        {"bounds_source": "declared", "clamped": 0, "missing": 0, "remarks": ()},
    ),
    "from_rows": (Points.from_rows, [[[1, 2]]], {"bounds": (0, 9), "columns": None, "name": "p"}),
    "dataset": (dataset, ["adult"], {}),
    "Attribute": (Attribute, ["sex", ("F", "M")], {"origin": "declared"}),
    "place": (SEX.position, ["F"], {}),
    "parse_derivation": (parse_derivation, ["a = b >= 3"], {}),
    "parse_domains": (parse_domains, [["a=b"]], {}),
    "chosen": (chosen, [(SEX, TOWN), ["sex"], "group"], {}),
    "Universe": (Universe, [(SEX, TOWN), 27], {"largest_count": 0}),
    "CountTable": (CountTable, [(SEX, TOWN), np.arange(6)], {"left_out": 0, "remarks": ()}),
    "marginal": (TABLE.marginal, [["sex"]], {}),
    "group": (TABLE.group, ["sex", "F"], {}),
    "universe": (TABLE.universe, [], {"largest_count": None}),
    "tabulate": (
        tabulate,
        [FRAME, ["b"]],
        {"derive": (), "domains": {"b": ["x", "y"]}, "without_value": "drop", "missing": (),
         "missing_as": None},
    ),
    "assess": (
        assess,
        [TABLE, 1.0],
        {
            "delta": 0.0, "threshold": 6, "rate": 0.25, "quasi_identifiers": None, "group": None,
            "identifying": None, "margins": None, "largest_count": None, "paper_runs": None,
            "two_way": None, "within": None, "seed": 0, "donor": "another record",
            "zeros_kept": True,
        },
    ),
    "CellSuppression": (CellSuppression, [6], {"zeros_kept": True}),
    "randomised": (RandomisedCellSuppression, [6], {"zeros_kept": True, "epsilon": 1.0}),
    "Swapping": (Swapping, [("sex",)], {"rate": 0.2, "donor": "another record", "ties": "random"}),
    "swapping": (RandomisedSwapping, [("sex",)], {"rate": 0.2, "epsilon": 1.0}),
    "Laplace": (LaplaceHistogram, [1.0], {}),
    "geometric": (GeometricHistogram, [1.0], {}),
    "Gaussian": (DiscreteGaussianHistogram, [Fraction(4)], {"epsilon": 1.0}),
    "calibrated": (DiscreteGaussianHistogram.calibrated, [Guarantee(1.0, 1e-6, "replace")], {}),
    "draw": (LAPLACE.draw, [TABLE, RNG], {"runs": 2}),
    "swap": (Swapping(("sex",)).draw, [TABLE, RNG], {"runs": 2}),
    "guarantee": (Swapping(("sex",)).guarantee, [UNIVERSE], {"neighbours": "replace"}),
    "intervals": (
        suppressed_intervals,
        [TABLE, CellSuppression(6), [["sex"]]],
        {"use_threshold": True},
    ),
    "simulated": (measures.simulated_measures, [LAPLACE, TABLE, RNG], {"runs": 3}),
    "published_bounds": (measures.published_bounds, [LAPLACE, TABLE], {}),
    "group_errors": (measures.group_errors, [LAPLACE, TABLE, "sex"], {}),
    "disclosure_of": (measures.disclosure_of, [TABLE, TABLE.flat, 6], {"identifying": None}),
    "matches": (measures.unique_exact_matches, [TABLE, np.ones((2, 6))], {}),
    "group_maps": (measures.group_maps, [LAPLACE, TABLE, "sex", "town", {"all": {}}], {}),
    "largest_groups": (largest_groups, [TABLE, "sex"], {"count": 2}),
    "parse_groups": (parse_groups, [["sex=F"]], {}),
    "two_way": (two_way, [TABLE, TABLE.flat, "sex", "town", {}], {}),
    "regression_line": (measures.regression_line, [np.eye(2), [0, 1], [0, 1]], {}, True),
    "level_probabilities": (level_probabilities, [[1, 1], [1.0, 0.5]], {}),
    "half_pmf": (lambda square: DiscreteGaussian(square=square).half_pmf(), [4.0], {}),
    "draw_exactly": (
        lambda square, rng: DiscreteGaussian(square=square).draw_exactly(rng),
        [Fraction(4), RNG],
        {},
    ),
    "lower_bound_delta": (lower_bound_delta, [Swapping(("sex",)), UNIVERSE], {}),
    "exact_swapping_delta": (
        exact_swapping_delta,
        [Swapping(("sex",)), Universe((SEX,), 3), 1.0],
        {},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_taken_or_refused_with_one_sentence(name: str) -> None:
    require_answers_or_sentences(Call(*CALLS[name]), ODD)
