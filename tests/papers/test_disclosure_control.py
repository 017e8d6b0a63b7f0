"""The disclosure-control paper's numbers."""

from __future__ import annotations

import os

import numpy as np
import pytest

from omit.papers import disclosure_control as paper
from omit.papers.disclosure_verdicts import table_verdicts, theorem_verdicts

pytestmark = pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")


def test_the_excerpt_has_all_records_with_missing_incomes_below_the_threshold() -> None:
    table = paper.excerpt("nist-ma")
    assert (table.size, table.cells, table.left_out) == (7634, 540, 0)
    assert "count as 'no'" in table.notes[0]


def test_one_donor_for_all_targets_gives_the_printed_swapping_row() -> None:
    variants = paper.swapping_variants(paper.excerpt("nist-ma"))
    printed = variants.iloc[-1]
    off = np.maximum(
        abs(variants["bias"] / printed["bias"] - 1),
        abs(variants["fairness"] / printed["fairness"] - 1),
    ).iloc[:-1]
    assert off.iloc[-1] < 0.005
    assert off.iloc[:-1].min() > 0.03, "no donor chosen for each target by itself comes near"


def test_estimates_from_runs_agree_with_exact_numbers_where_they_should() -> None:
    """Suppression's bias: at most 122 cells with error; the sum is within 5 % at this seed."""
    table = paper.excerpt("nist-ma")
    found = paper.table_1(table, 200, np.random.default_rng(0))
    part = found[found["mechanism"] == "randomised suppression"]
    np.testing.assert_allclose(part["bias, runs"], part["bias exact"], rtol=0.05)
    laplace = found[found["mechanism"] == "Laplace"]
    np.testing.assert_allclose(laplace["α exact"] * laplace["ε"], 1.0)
    assert (laplace["α, runs"] > 1.5 * laplace["α exact"]).all()
    verdicts = table_verdicts(found, paper.swapping_variants(table))
    assert [each.standing for each in verdicts].count("does not hold") == 2


def test_theorems_stand_as_the_errata_say() -> None:
    standing = {each.where: each.standing for each in theorem_verdicts(paper.excerpt("nist-ma"))}
    assert standing == {
        "Lemma 1": "holds",
        "Theorem 1": "holds in part",
        "Theorem 2": "does not hold",
        "Theorem 3": "does not hold",
        "Proposition 1, Theorems 4 and 6": "holds",
        "Theorems 5 and 7": "holds",
        "Theorem 8": "does not hold",
    }
