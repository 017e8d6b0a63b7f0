"""Classes of somebody else's package, installed next to omit: in Python and on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from dataclasses import dataclass

import numpy as np

from omit import ADD_REMOVE, ExpectedError, Mechanism, NoNoiseNeeded, Omission, Prepared
from omit.laws.design import Independent


@dataclass(frozen=True)
class HalfOfTheOld(Omission):
    age: float

    name = "half-of-the-old"
    parameters = ("age",)

    def epsilon_after(self, epsilon):
        return np.asarray(epsilon, dtype=float)

    def design(self, data, distance):
        return Independent(np.where(data.values >= self.age, 0.5, 1.0))


@dataclass(frozen=True)
class NoisyCount(Mechanism):
    statistic = "headcount"
    metric = "squared error"
    unit = "squared records"
    relations = (ADD_REMOVE,)

    def __str__(self):
        return "noisy count"

    def prepare(self, data, promise, *, bounds=None, truth=None):
        if isinstance(promise, NoNoiseNeeded):
            return PreparedCount(self, data, 0.0)
        self.require_relation(promise)
        return PreparedCount(self, data, 1 / promise.epsilon)


@dataclass(frozen=True, eq=False)
class PreparedCount(Prepared):
    mechanism: NoisyCount
    column: object
    scale: float

    def errors(self, kept, rng):
        noisy = kept.sum(axis=1) + self.scale * rng.laplace(size=len(kept))
        return (noisy - self.column.size) ** 2

    def exact_error(self, design, *, tolerance=1e-9, details=True, quick=False):
        keep, counts = design.inclusion, self.column.counts
        missing = float(counts @ (1 - keep))
        value = missing**2 + float(counts @ (keep * (1 - keep))) + 2 * self.scale**2
        return ExpectedError(value, value, value, "exact", self.mechanism.metric, "squared records")
"""

ENTRY_POINTS = """
[omit.omissions]
half-of-the-old = somebody:HalfOfTheOld

[omit.mechanisms]
headcount = somebody:NoisyCount
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which the package is installed, as pip would leave it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "somebody.py").write_text(MODULE)
    (folder / "people.csv").write_text("age\n" + "20\n" * 300 + "60\n" * 100)
    meta = folder / "somebody-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text(ENTRY_POINTS)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PEOPLE": str(folder)}


def _run(environment: dict[str, str], *words: str) -> str:
    run = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


# All records: the variance of the noise, 2. Half of 100: 50 missing, a variance of 25, the noise.
EXACT = [2.0, 2500.0 + 25.0 + 2.0]


@pytest.mark.slow
def test_they_are_exact_on_the_command_line(installed: dict[str, str]) -> None:
    people = str(Path(installed["PEOPLE"]) / "people.csv")
    options = (
        "--column age --bounds 0 100 --statistic headcount --omit half-of-the-old:60 --epsilon 1"
    )
    answer = json.loads(
        _run(installed, "-m", "omit", "compare", people, *options.split(), "--json", "--no-report")
    )
    rows = answer.get("result", answer)["rows"]
    assert [row["method"] for row in rows] == ["exact", "exact"]
    assert [row["error"] for row in rows] == EXACT
    assert rows[1]["standing"] == "worse"


def test_they_are_exact_in_python(installed: dict[str, str]) -> None:
    code = (
        "import json, omit\n"
        "from somebody import HalfOfTheOld, NoisyCount\n"
        "ages = omit.Column.from_counts([20, 60], [300, 100], bounds=(0, 100))\n"
        "found = omit.compare(ages, NoisyCount(), omit.Guarantee(1.0), HalfOfTheOld(60))\n"
        "print(json.dumps([row.error.value for row in found.rows]))\n"
        "assert {row.error.method for row in found.rows} == {'exact'}\n"
        "drawn = omit.expected_error(ages, NoisyCount(), omit.Guarantee(1.0), HalfOfTheOld(60),\n"
        "                            'simulated')\n"
        "assert drawn.low < found.rows[1].error.value < drawn.high\n"
        "assert omit.omissions.omission('half-of-the-old', age=60) == HalfOfTheOld(60)\n"
    )
    assert json.loads(_run(installed, "-c", code)) == EXACT


def test_an_unknown_name_lists_theirs(installed: dict[str, str]) -> None:
    code = (
        "import omit\n"
        "try:\n    omit.omissions.omission('half-of-the-young')\n"
        "except omit.InvalidInput as error:\n    print(error)\n"
    )
    assert "Did you mean half-of-the-old?" in _run(installed, "-c", code)
