"""A page of every kind of result, small enough to be made in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import omit
from omit import disclosure, statistical
from omit.accuracy.bounds_sweep import sweep_bounds
from omit.accuracy.grids import CurvesQuestion
from omit.accuracy.report import comparison_report
from omit.audit import bounds as audit
from omit.omissions.answer import bound, calibrate
from omit.omissions.pair_answer import pair_bound
from omit.omissions.pairs import IndependentPair
from omit.papers import judge_claims, reproduce
from omit.report.page import Made
from omit.statistical.answers import answer_queries
from omit.statistical.curve import SampleCurves
from omit.statistical.planner import plan
from omit.statistical.sampling import PoissonTechnique

MADE = Made(command="omit compare adult --column age --epsilon 1", took="3 s")
AGES = omit.read("adult", "age")
TARGET = omit.Guarantee(1.0)
LOST = omit.PoissonSampling(0.5), omit.OutlierScoreSuppression(m=0.1, M=0.3)


def _compared() -> str:
    found = [omit.compare(AGES, one, TARGET, *LOST) for one in (omit.NoisyMean(), omit.NoisyMode())]
    question = found[0].question
    curves = CurvesQuestion(question, (0.5, 1.0), (0.2, 0.6), (0.2, 0.7)).answer()
    sweep = sweep_bounds(question, omit.PoissonSampling(0.5))
    return comparison_report(found, [curves], [sweep], MADE)


def _ranked() -> str:
    modes = [omit.NoisyMode("laplace"), omit.NoisyMode("gumbel")]
    return comparison_report([omit.compare(AGES, one, TARGET, LOST[0]) for one in modes])


def _assessed() -> str:
    table = disclosure.tabulate("adult", ["race", "sex", "income"])
    found = disclosure.assess(
        table, 1.0, quasi_identifiers=["race"], predict="income", two_way=["sex", "income"]
    )
    return found.page(MADE)


def _sampled() -> str:
    way = PoissonTechnique(0.1)
    public = way.curve(50, 0.5, (0.1, 0.5), known=0, rng=np.random.default_rng(0))
    return SampleCurves(str(way), public, way.secret_curve(50, 0.5, (0.1, 0.5))).page()


def _grouped() -> str:
    by_race = omit.read("adult", "age", by=["race", "sex"])
    return omit.compare(by_race, omit.NoisyMean(), TARGET, *LOST).page(MADE)


def _answered() -> str:
    rng = np.random.default_rng(0)
    return answer_queries(AGES, ["share:>=40", "share:>=60"], rng).page()


def _solved() -> str:
    return omit.solve(AGES, omit.NoisyMean(), 0.1).page(MADE)


def _audited() -> str:
    outcomes = tuple(audit.run(check, lambda *_: None) for check in audit.checks(0, 2))
    return audit.Audit(outcomes).page()


PAGES: Mapping[str, Callable[[], str]] = {
    "compare": _compared,
    "compare-all": _ranked,
    "compare-groups": _grouped,
    "best": lambda: omit.best(AGES, omit.NoisyMode(), omit.Guarantee(0.1)).page(MADE),
    "solve": _solved,
    "bound": lambda: bound(LOST[1], TARGET).page(MADE),
    "bound-pair": lambda: pair_bound(IndependentPair((0.1, 0.2), (0.2, 0.3), 0.1), 1.0).page(),
    "calibrate": lambda: calibrate(LOST[0], omit.Guarantee(1.0, 1e-6)).page(),
    "disclose": _assessed,
    "curve": lambda: statistical.property_curve(1000, 0.3, np.linspace(0, 0.2, 9)).page(),
    "curve-sample": _sampled,
    "partition-plan": lambda: plan(10_000, 5, 0.1, p=[0.5]).page(),
    "partition-answer": _answered,
    "verify": _audited,
    "claims": lambda: judge_claims(["statistical-privacy"], where="process").page(MADE),
}
# Of these the page is in a folder with its pictures.
FOLDER = "statistical-privacy"


def written(name: str, folder: Path) -> Path:
    """Return a page, written to a folder."""
    if name == FOLDER:
        found = reproduce(name, exhibits=["queries", "threshold"], tables=[1], where="process")
        return found.write_report(folder)
    page = folder / "page.html"
    page.write_text(PAGES[name](), encoding="utf-8")
    return page
