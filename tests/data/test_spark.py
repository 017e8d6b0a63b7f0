"""Frames of Spark, in a real session on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omit import read, read_points
from omit.disclosure import tabulate
from tests.data.tables import require_same_survey, survey

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("java") is None and os.environ.get("OMIT_JAVA") != "required",
        reason="Spark needs Java, and there is none.",
    ),
]
PEOPLE = "age,sex,income\n39,F,50000\n25,M,N\n,F,7\n39,F,1e6\n-9,M,3\n"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    interrupted = signal.getsignal(signal.SIGINT)  # which Spark takes for itself
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.driver.host", "localhost")
            .getOrCreate()
        )
        signal.signal(signal.SIGINT, interrupted)
        yield session
        session.stop()


@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_a_spark_frame_gives_what_the_file_gives(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    texts = spark.read.csv(str(path), header=True)
    numbers = spark.read.csv(str(path), header=True, inferSchema=True, nullValue="N")
    codes: list[str | float] = ["N", -9]
    ages = read(path, "age", bounds=(0, 125), missing=codes)
    wages = read(path, "income", bounds=(0, 5e5), missing=codes)
    points = read_points(path, ["age", "income"], bounds=(0, 5e5), missing=codes)
    question: dict[str, Any] = {
        "derive": ["rich = income >= 50000", "a = bins(age, 0, 100, 4)"],
        "domains": {"sex": ["F", "M"]},
        "missing": codes,
    }
    table = tabulate(path, ["sex", "rich", "a"], **question)
    for frame in (texts, numbers):
        assert read(frame, "age", bounds=(0, 125), missing=codes) == ages
        assert read(frame, "income", bounds=(0, 5e5), missing=codes) == wages
        found = read_points(frame, ["age", "income"], bounds=(0, 5e5), missing=codes)
        assert found.rows.tolist() == points.rows.tolist()
        counted = tabulate(frame, ["sex", "rich", "a"], **question)
        assert counted.counts.tolist() == table.counts.tolist()
        assert counted.left_out == table.left_out


@pytest.mark.filterwarnings("ignore")
def test_a_survey_is_the_same_in_spark_to_the_last_digit(spark: Any) -> None:
    require_same_survey(spark.createDataFrame(survey()))
