"""What is refused: one sentence, exit code 2, no file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

ACCURACY = [
    "compare nowhere.csv --no-report",
    "compare adult --column= --no-report",
    "compare adult --table= --no-report",
    "compare adult --neighbours= --no-report",
    "compare adult --epsilon 1e14 --no-report",
    "compare adult --epsilon 1e-300 --no-report",
    "compare adult --epsilon 1e308 --no-report",
    "compare adult --truth 1e308 --no-report",
    "compare adult --seed -1 --no-report",
    "compare adult --runs 1000000000 --no-report",
    "compare adult --statistic kmeans --iterations 1000000000 --no-report",
    "compare adult --statistic kmeans --k 1000000000 --no-report",
    "compare adult --statistic kmedian --candidates 1000000000 --no-report",
    "best adult --epsilon 1e308",
    "solve adult --statistic mode --error 40",
    "solve adult --statistic mode --error 1",
    "compare adult --column agge --no-report",
    "compare beta --statistic median --mechanism smooth-laplace --no-report",
    "compare adult --statistic median --mechanism smooth-laplace --no-report",
    "compare adult --statistic mean --mechanism gumbel --no-report",
    "compare adult --epsilon 0 --no-report",
    "compare adult --epsilon -1 --no-report",
    "compare adult --bounds 5 --no-report",
    "compare adult --bounds 9,5 --no-report",
    "compare adult --omit poisson --no-report",
    "compare adult --omit poisson:x --no-report",
    "compare adult --omit poisson:2 --no-report",
    "compare adult --omit stratified:0.1 --no-report",
    "compare adult --omit stable:2 --no-report",
    "compare adult --omit fixed-size:10 --no-report",
    "compare adult --omit fixed-size:99999999 --neighbours replace --no-report",
    "compare adult --method guess --no-report",
    "compare adult --truth much --no-report",
    "compare adult --runs 0 --method simulated --no-report",
    "compare adult --rows-per-person 0 --no-report",
    "best adult --statistic nothing",
    "solve adult --error 0",
    "solve adult --error -1",
]
PRIVACY = [
    "bound poisson --rate 0.1 --epsilon -1",
    "bound poisson --rate 0.1 --epsilon nan",
    "bound poisson --rate 0.1 --epsilon inf",
    "bound poisson --rate 0.1 --epsilon 1 --delta 1",
    "bound poisson --rate 0.1 --epsilon 1 --delta -0.1",
    "bound poisson --rate 0 --epsilon 1",
    "bound poisson --rate 1.5 --epsilon 1",
    "bound poisson --rate 0.1 --epsilon 1 --neighbours replace",
    "bound poisson --rate 0.1 --epsilon 1 --neighbours bounded",
    "bound poisson --rate 0.1 --epsilon 1 --releases 0",
    "bound poisson --rate 0.1 --epsilon 1 --rows-per-person 0",
    "bound fixed-size --size 10 --population 100 --epsilon 1 --neighbours add-remove",
    "bound fixed-size --size 101 --population 100 --epsilon 1",
    "bound stable --sensitivity 0 --epsilon 1",
    "bound outlier-score --m 0.3 --M 0.2 --epsilon 1",
    "bound outlier-score --m 0.3 --M 1.2 --epsilon 1",
    "bound outlier-score --m 0 --M 0.2 --epsilon 1 --bound published",
    "bound outlier-score --m 0.1 --M 0.2 --epsilon 1 --bound tight",
    "bound outlier-threshold --threshold 1 --epsilon 1",
    "bound outlier-top --share 0.7 --epsilon 1",
    "bound independent --before 0.1,x --after 0.1 --added 0.1 --epsilon 1",
    "bound independent --before 0.1 --after 0.1,0.2 --added 0.1 --epsilon 1",
    "bound independent --before 0.1 --after 0.1 --added 0.1 --epsilon 0 --delta 0.1",
    "bound poisson --rate 0.1 --epsilon 1 --neighbours=",
    "calibrate poisson --rate 0.1 --epsilon 1 --neighbours=",
]
CHECKS_BEYOND_ALL_USE = [
    "verify mixture --cases 1 --seed -1",
    "verify mixture --cases 0",
    "verify theorem-5.4 --step 0.0000001 --epsilon 1",
    "verify theorem-5.4 --step nan --epsilon 1",
    "verify theorem-5.4 --step 0.5 --epsilon nan",
    "verify theorem-5.4 --step 0.5 --epsilon 1 --largest-database 1e308",
    "verify theorem-5.4 --step 0.5 --epsilon 1 --workers 1000000000",
]
STATISTICAL_PRIVACY = [
    "curve property --n 10 --p 0 --epsilon 0.1",
    "curve property --n 10 --p 1.5",
    "curve property --n 10 --p 0.5 --known 10",
    "curve property --n 10 --p 0.5 --epsilon -1",
    "curve property --n 0 --p 0.5",
    "curve property --p 0.5",
    "curve property --n 10 --p 0.5 --noise gumbel:1",
    "curve property --n 10 --p 0.5 --noise laplace",
    "curve property --n 10 --p 0.5 --noise laplace:-1",
    "curve property --group 10:0.5 --n 10",
    "curve property --group 10",
    "curve property --n 10 --p 0.5 --output curve.gif",
    "curve sum --n 10 --values 0:0.5,1:0.4",
    "curve sum --n 10 --values 0:x",
    "curve sum --n 10",
    "curve sum --n 10 --distribution nothing.csv",
    "curve sum --n 10 --values 0:0.5,1:0.5 --known 10",
    "curve sample --n 10 --p 0.5 --sample systematic:2",
    "curve sample --n 10 --p 0.5 --sample without-replacement:11",
    "partition plan --n 10 --queries 11 --epsilon 0.1",
    "partition plan --n 10 --queries 2 --epsilon -0.1",
    "partition plan --n 10 --epsilon 0.1",
    "partition plan --n 10 --queries 2 --epsilon 0.1 --p 1",
    "partition plan --n 10 --queries 2 --epsilon 0.1 --importance 1,a",
    "partition plan --n 10 --epsilon 0.1 --delta 1e-9",
    "partition answer adult --column age --query first",
    "partition answer adult --column age --query mean --p 0.5 --epsilon 0.1",
    "partition answer adult --column age --query mean --epsilon 0.1",
    "partition answer adult --column sex --query mean",
    "partition answer adult --column age --query mean --importance 1,2",
    "partition answer adult --column age --query mean --seed -1",
    "partition answer adult --column age --query share:>=nan",
    "curve property --group 5:2",
    "curve property --group=-5:0.5",
    f"curve property --n 1{'0' * 400} --p 0.5",
    "curve property --n 50 --p 0.5 --noise gaussian:1e300",
    "curve property --n 50 --p 0.5 --noise discrete-gaussian:1e9",
    "curve sum --n 50 --values 0:0.5,1:0.1,2:0.4 --noise gaussian:1e300",
    "curve sum --n 100000000000000000000 --values 0:0.5,1:0.5",
    "curve sample --n 1000 --p 0.5 --sample poisson:0.1 --seed -1",
    "curve sample --n 1000000 --p 0.5 --sample with-replacement:100000",
]


@pytest.mark.parametrize(
    "words", [*ACCURACY, *PRIVACY, *CHECKS_BEYOND_ALL_USE, *STATISTICAL_PRIVACY]
)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(
    omit_command: Callable[[str], Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command(words)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Error: ")
    assert run.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
