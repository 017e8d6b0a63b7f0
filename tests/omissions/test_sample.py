"""Scopes, what is charged to them, and what is stated: no wrong order can be written."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import pickle
from collections.abc import Callable

import mpmath
import pytest
from numpy.typing import ArrayLike

import omit.guarantee
import omit.omissions.sample
from omit import (
    ALL_RECORDS,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoGuarantee,
    NoOmission,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    Relation,
    Sample,
    Statement,
    WrongNeighbours,
    compose,
)
from omit._numeric import FloatArray, as_array
from omit.omissions import Charge, ThresholdOutlierRemoval

design = FixedSizeSampling(size=10, population=100)
statistic = Guarantee(1.0, neighbours="replace")


def stated(*charges: Charge) -> Statement:
    statement = compose(*charges)
    assert isinstance(statement, Statement)
    return statement


def test_statistics_on_one_sample_compose_before_they_are_amplified() -> None:
    sample = Sample(design)
    for together in (
        stated(sample.charge(statistic), sample.charge(statistic)),
        (sample.charge(statistic) + sample.charge(statistic)).stated(),
        sample.charge(statistic, times=2).stated(),
    ):
        assert isinstance(together, Statement)
        assert together.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(2.0)))
        assert round(together.epsilon, 10) == 0.4940287080


def test_statistics_on_independent_samples_are_amplified_before_they_compose() -> None:
    together = stated(Sample(design).charge(statistic), Sample(design).charge(statistic))
    assert together.epsilon == pytest.approx(2 * math.log1p(0.1 * math.expm1(1.0)))
    assert round(together.epsilon, 3) == 0.317


def test_adding_up_amplified_losses_is_wrong_for_one_sample() -> None:
    # Two randomised responses about the same record, on a sample that has it or not.
    epsilon, rate = 1.0, 0.1
    truthful = math.exp(epsilon) / (1 + math.exp(epsilon))
    with_record = rate * truthful**2 + (1 - rate) * (1 - truthful) ** 2
    loss = math.log(with_record / (1 - truthful) ** 2)
    sample = Sample(PoissonSampling(rate=rate))
    sound = stated(sample.charge(Guarantee(epsilon), times=2))
    alone = stated(sample.charge(Guarantee(epsilon)))
    assert loss == pytest.approx(sound.epsilon)
    assert 2 * alone.epsilon < loss


# Whatever has an epsilon, and every way to add, charge or amplify it.
_SAMPLE = Sample(design)
_CHARGE = _SAMPLE.charge(statistic)
_WITH_EPSILON = {
    "a guarantee": statistic,
    "a guarantee of groups": statistic.group(2),
    "stated": _CHARGE.stated(),
    "composed": compose(_CHARGE),
    "composed with nothing drawn": compose(Sample(NoOmission()).charge(statistic)),
    "amplified": design.amplify(statistic),
    "amplified by nothing": NoOmission().amplify(statistic),
    "a group of one": stated(_CHARGE).group(1),
    "a group": stated(_CHARGE).group(2),
    "converted": PoissonSampling(0.5).amplify(Guarantee(1.0)).to("replace"),  # type: ignore[union-attr]
    "read again": eval(repr(stated(_CHARGE)), {"Statement": Statement}),
}


@pytest.mark.parametrize("name", _WITH_EPSILON)
@pytest.mark.parametrize(
    "add",
    [
        lambda one: one + one,
        lambda one: one + _CHARGE,
        lambda one: _CHARGE + one,
        lambda one: sum([one, one]),
        lambda one: compose(one, one),
        lambda one: compose(_CHARGE, one),
        lambda one: compose(one),
        lambda one: Charge((one,)),
    ],
)
def test_what_has_an_epsilon_cannot_be_added(name: str, add: Callable[[object], object]) -> None:
    assert hasattr(_WITH_EPSILON[name], "epsilon")
    with pytest.raises(InvalidInput, match="charge"):
        add(_WITH_EPSILON[name])


@pytest.mark.parametrize("name", [name for name in _WITH_EPSILON if not name.startswith("a guar")])
@pytest.mark.parametrize(
    "use",
    [
        _SAMPLE.charge,
        ALL_RECORDS.charge,
        design.amplify,
        design.calibrate,
        NoOmission().amplify,
        lambda one: Charge(((_SAMPLE, one, 1),)),
    ],
)
def test_nothing_is_computed_from_a_statement(name: str, use: Callable[[object], object]) -> None:
    assert isinstance(_WITH_EPSILON[name], Statement)
    with pytest.raises(InvalidInput, match="end of an account"):
        use(_WITH_EPSILON[name])


def test_what_can_be_added_has_no_epsilon() -> None:
    for charge in (_CHARGE, _CHARGE + _CHARGE, ALL_RECORDS.charge(statistic)):
        assert not hasattr(charge, "epsilon")
        assert not hasattr(charge, "delta")
        with pytest.raises(InvalidInput, match="Expected a guarantee"):
            design.amplify(charge)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="Only charges"):
            sum([charge, charge])


def test_a_charge_is_a_multiset() -> None:
    other = ALL_RECORDS.charge(Guarantee(0.5, neighbours="replace"))
    assert _CHARGE + other == other + _CHARGE
    assert hash(_CHARGE + other) == hash(other + _CHARGE)
    assert _CHARGE + _CHARGE == _SAMPLE.charge(statistic, times=2) != _CHARGE


def test_samples_and_whole_databases_compose() -> None:
    together = stated(ALL_RECORDS.charge(statistic), Sample(design).charge(statistic))
    assert together.epsilon == pytest.approx(1 + math.log1p(0.1 * math.expm1(1.0)))


def test_what_cannot_be_charged_is_refused() -> None:
    with pytest.raises(WrongNeighbours, match="state the guarantee under replace"):
        Sample(design).charge(Guarantee(1.0))
    with pytest.raises(WrongNeighbours, match="under add-remove and replace"):
        compose(ALL_RECORDS.charge(Guarantee(1.0)), Sample(design).charge(statistic))
    with pytest.raises(WrongNeighbours, match="of 3 records"):
        Sample(design).charge(statistic.group(3))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="guarantee"):
        Sample(design).charge(0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least one"):
        compose()
    with pytest.raises(InvalidInput, match="times"):
        Sample(design).charge(statistic, times=0)
    with pytest.raises(InvalidInput, match="omission"):
        Sample(0.1)  # type: ignore[arg-type]


def test_one_mechanism_without_guarantee_leaves_none_for_all() -> None:
    removal = Sample(ThresholdOutlierRemoval(0.5))
    charges = [ALL_RECORDS.charge(Guarantee(1.0)), removal.charge(Guarantee(1.0))]
    assert isinstance(compose(*charges), NoGuarantee)
    within = [part.draw(removal.omission) for part in ALL_RECORDS.split(0.1, 0.2)]
    assert isinstance(compose(within[0].charge(Guarantee(1.0))), NoGuarantee)


def test_numbers_beyond_all_others_are_no_guarantee() -> None:
    huge = ALL_RECORDS.charge(Guarantee(1e308), times=2)
    assert isinstance(huge.stated(), NoGuarantee)
    assert isinstance(ALL_RECORDS.charge(Guarantee(1.0, 0.5), times=10**12).stated(), NoGuarantee)
    many = stated(ALL_RECORDS.charge(Guarantee(1.0), times=10**9))
    assert many.epsilon == 1e9


def _copies(value: object) -> list[object]:
    names = vars(omit) | vars(omit.guarantee) | vars(omit.omissions.sample)
    names |= {name: getattr(omit, name) for name in omit.__all__}
    return [
        pickle.loads(pickle.dumps(value)),
        copy.copy(value),
        copy.deepcopy(value),
        eval(repr(value), names),
        dataclasses.replace(value),  # type: ignore[type-var]
    ]


def test_a_copy_of_a_sample_is_the_same_sample() -> None:
    within = Sample(design).draw(FixedSizeSampling(size=5, population=10))
    for sample in (Sample(design), within):
        for copied in _copies(sample):
            assert isinstance(copied, Sample)
            assert copied == sample
            twice = stated(sample.charge(statistic), copied.charge(statistic))
            assert twice == stated(sample.charge(statistic, times=2))


def test_copies_of_all_values_are_equal() -> None:
    arm, _ = ALL_RECORDS.split(0.25, 0.5)
    part, _ = arm.partition("north", "south")
    charge = part.charge(Guarantee(1.0, 1e-6))
    one = PoissonSampling(0.1).amplify(Guarantee(1.0, 1e-6))
    assert isinstance(one, Statement)
    for value in (ALL_RECORDS, arm, part, charge, Guarantee(0.1), one, one.group(3)):
        for copied in _copies(value):
            assert type(copied) is type(value)
            assert copied == value


def test_another_omission_or_parent_makes_another_draw() -> None:
    # Compared by the identity alone, the second sample would pass for the first: .0064.
    sample = Sample(FixedSizeSampling(1, 1000))
    other = dataclasses.replace(sample, omission=FixedSizeSampling(900, 1000))
    second = stated(other.charge(statistic))
    assert second.epsilon == pytest.approx(math.log1p(0.9 * math.expm1(1.0)))
    together = stated(sample.charge(statistic), other.charge(statistic))
    assert together.epsilon == pytest.approx(second.epsilon + math.log1p(1e-3 * math.expm1(1.0)))
    elsewhere = dataclasses.replace(sample, parent=ALL_RECORDS.draw(NoOmission()))
    assert stated(sample.charge(statistic), elsewhere.charge(statistic)).epsilon == pytest.approx(
        2 * math.log1p(1e-3 * math.expm1(1.0))
    )


def test_two_releases_on_one_sample_are_converted_together() -> None:
    # Amplified and converted one by one they would be .2477; the two databases below lose .4390.
    sample = Sample(PoissonSampling(0.01))
    together = stated(sample.charge(Guarantee(2.0), times=2)).to("replace")
    assert isinstance(together, Statement)
    there, other = 1 + 0.01 * math.expm1(4.0), 1 + 0.01 * math.expm1(-4.0)
    assert round(math.log(there / other), 4) == 0.4390
    assert together.epsilon >= math.log(there / other)


class _NotComparable(Omission):
    """A user's own, which compares by identity as classes do that say nothing else."""

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return as_array(epsilon) / 2


@dataclasses.dataclass(frozen=True)
class _NotComparableWithin(_NotComparable):
    """Compares by value, and the value by identity."""

    inner: Omission = dataclasses.field(default_factory=_NotComparable)


@pytest.mark.parametrize("kind", [_NotComparable, _NotComparableWithin])
def test_a_copied_sample_is_not_taken_for_another_where_the_omission_does_not_compare(
    kind: type[Omission],
) -> None:
    sample = Sample(kind())
    copied = pickle.loads(pickle.dumps(sample))
    assert stated(sample.charge(Guarantee(1.0), times=2)).epsilon == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="frozen dataclass"):
        compose(sample.charge(Guarantee(1.0)), copied.charge(Guarantee(1.0)))


def test_populations_must_fit_each_other() -> None:
    with pytest.raises(InvalidInput, match="from a sample of 10 records"):
        Sample(design).draw(FixedSizeSampling(5, 20))
    with pytest.raises(InvalidInput, match="100 and from 200"):
        compose(
            Sample(design).charge(statistic),
            Sample(FixedSizeSampling(10, 200)).charge(statistic),
        )
    within = Sample(design).draw(FixedSizeSampling(5, 10))
    expected = FixedSizeSampling(5, 100).amplify(statistic)
    assert isinstance(expected, Statement)
    assert stated(within.charge(statistic)).epsilon == pytest.approx(expected.epsilon)


def test_rows_drawn_one_by_one_and_persons_drawn_are_not_the_same() -> None:
    # Persons with three rows, drawn with a fifth: the unit belongs to the draw.
    sample = Sample(PoissonSampling(0.2))
    rows = stated(sample.charge(Guarantee(1.0))).group(3)
    persons = stated(sample.charge(Guarantee(3.0)))
    assert isinstance(rows, Statement)
    assert (round(rows.epsilon, 6), round(persons.epsilon, 6)) == (0.886184, 1.572174)
    assert rows.neighbours == "add-remove of 3 records"
    with pytest.raises(WrongNeighbours):
        sample.charge(Guarantee(1.0).group(3))  # type: ignore[arg-type]


# --- arms ---------------------------------------------------------------------------------------


def test_arms_of_a_split_cost_a_mixture_of_what_is_done_to_them() -> None:
    first, second = ALL_RECORDS.split(0.3, 0.5)
    together = stated(first.charge(Guarantee(1.0)), second.charge(Guarantee(2.0)))
    assert together.epsilon == pytest.approx(
        math.log(1 + 0.3 * math.expm1(1.0) + 0.5 * math.expm1(2.0))
    )
    # Cheaper than two independent samples, and one arm alone is a Poisson sample.
    samples = [Sample(PoissonSampling(rate)) for rate in (0.3, 0.5)]
    apart = stated(samples[0].charge(Guarantee(1.0)), samples[1].charge(Guarantee(2.0)))
    assert together.epsilon < apart.epsilon
    alone = PoissonSampling(0.3).amplify(Guarantee(1.0, 1e-6))
    assert isinstance(alone, Statement)
    arm = stated(first.charge(Guarantee(1.0, 1e-6)))
    assert arm.epsilon == pytest.approx(alone.epsilon, rel=1e-14)
    assert arm.delta == alone.delta


def test_the_delta_of_a_split_is_that_of_the_worse_direction() -> None:
    first, second = ALL_RECORDS.split(0.5, 0.5)
    together = stated(first.charge(Guarantee(0.0, 1e-3)), second.charge(Guarantee(3.0)))
    assert together.delta == pytest.approx(9.53e-4, rel=1e-3)
    # Joining an arm costs the mean of the deltas, 5e-4. Leaving costs more: where arm two says what
    # only it would, and it is the likelier one, the record was in arm one.
    odds, delta = mpmath.exp(3), mpmath.mpf(1e-3)
    needed = mpmath.mpf(0)
    for told, lie in itertools.product((True, False), repeat=2):
        absent = (delta if told else 1 - delta) * (odds if lie else 1) / (1 + odds)
        in_first = (0 if told else 1) * (odds if lie else 1) / (1 + odds)
        in_second = (delta if told else 1 - delta) * (1 if lie else odds) / (1 + odds)
        present = (in_first + in_second) / 2
        needed += max(absent - mpmath.exp(together.epsilon) * present, 0)
    assert 5e-4 < needed <= together.delta


@pytest.mark.parametrize("arms", [3, 10])  # thirds sum to less than 1, and tenths to more
def test_shares_that_make_up_the_whole_leave_nobody_outside(arms: int) -> None:
    first, *others = ALL_RECORDS.split(*[1 / arms] * arms)
    charges = [arm.charge(Guarantee(53.0)) for arm in others]
    together = stated(first.charge(Guarantee(50.0, 1e-6)), *charges)
    # Where the others are as telling, almost everybody who seems absent was in the first arm.
    assert together.delta == pytest.approx(1e-6 / (1 + (arms - 1) * math.exp(-3.0)), rel=1e-9)


@mpmath.workdps(900)  # type: ignore[untyped-decorator]
@pytest.mark.parametrize("epsilons", [(800.0, 1000.0), (1000.0, 5.0), (5e-324, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.25, 0.5)])
def test_splits_of_extreme_epsilons_keep_their_digits(
    epsilons: tuple[float, float], shares: tuple[float, float]
) -> None:
    arms = ALL_RECORDS.split(*shares)
    together = stated(
        *(arm.charge(Guarantee(e, 1e-6)) for arm, e in zip(arms, epsilons, strict=True))
    )
    pairs = [(mpmath.mpf(p), mpmath.mpf(e)) for p, e in zip(shares, epsilons, strict=True)]
    true = mpmath.log1p(sum(p * mpmath.expm1(e) for p, e in pairs))
    assert true <= together.epsilon <= true * (1 + mpmath.mpf(10) ** -13) + 5e-324
    leaving = sum(p * mpmath.mpf(1e-6) * mpmath.exp(-e) for p, e in pairs)
    leaving /= 1 - sum(p * -mpmath.expm1(-e) for p, e in pairs)
    true = max(leaving, sum(p * mpmath.mpf(1e-6) for p, _ in pairs))
    assert true <= together.delta <= true * (1 + mpmath.mpf(10) ** -13)


def test_splits_need_shares_of_one_whole_and_add_remove() -> None:
    for shares, sentence in (
        ((0.6, 0.6), "at most 1"),
        ((0.0, 0.5), "shares"),
        ((), "at least one share"),
        (("a",), "number"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            ALL_RECORDS.split(*shares)
    arm, _ = ALL_RECORDS.split(0.5, 0.5)
    # Two arms of one record each from two records, odds 4 and 2: loss ln 3.333, the mixture ln 3.
    with pytest.raises(WrongNeighbours, match="split has no bound under the relation replace"):
        arm.charge(statistic)


# --- parts --------------------------------------------------------------------------------------


def test_parts_of_a_partition_cost_the_largest() -> None:
    north, south = ALL_RECORDS.partition("north", "south")
    together = stated(
        north.charge(Guarantee(1.0, 1e-6)),
        south.charge(Guarantee(0.5, 1e-5)),
        south.charge(Guarantee(0.25)),
    )
    assert together == Statement(1.0, 1e-5)
    # Another partition of the same records may overlap with this one.
    old, _ = ALL_RECORDS.partition("old", "young")
    assert stated(north.charge(Guarantee(1.0)), old.charge(Guarantee(1.0))) == Statement(2.0)
    again, _ = ALL_RECORDS.partition("north", "south")
    assert stated(north.charge(Guarantee(1.0)), again.charge(Guarantee(1.0))) == Statement(2.0)


def test_under_replace_a_record_may_move_and_a_part_costs_two_steps() -> None:
    north, south = ALL_RECORDS.partition("north", "south")
    charges = north.charge(Guarantee(1.0, 1e-6)) + south.charge(Guarantee(0.5, 1e-5))
    together = stated(charges, ALL_RECORDS.charge(Guarantee(0.25, neighbours="replace")))
    assert together.neighbours == "replace"
    assert together.epsilon == 2.25
    # The worst of (1 + e) 1e-6 and (1 + e^.5) 1e-5 within a part, and 1.1e-5 for a move.
    assert together.delta == pytest.approx((1 + math.exp(0.5)) * 1e-5)
    sample = Sample(design)
    parts = sample.partition("north", "south")
    within = stated(*(part.charge(Guarantee(1.0)) for part in parts))
    assert within.neighbours == "replace"
    assert within.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(2.0)))


def test_a_guarantee_under_replace_says_nothing_about_a_part_that_loses_a_record() -> None:
    # How many records a part has is public under replace, so publishing it is 0-DP there; and it
    # tells for certain which part a record moved to.
    north, _ = ALL_RECORDS.partition("north", "south")
    with pytest.raises(WrongNeighbours, match="may gain or lose a record"):
        north.charge(Guarantee(0.0, neighbours="replace"))
    with pytest.raises(WrongNeighbours, match="may gain or lose a record"):
        north.charge(Guarantee(1.0).group(2))  # type: ignore[arg-type]


def test_partitions_need_different_labels() -> None:
    for labels in (("north", "north"), ()):
        with pytest.raises(InvalidInput, match="different labels"):
            ALL_RECORDS.partition(*labels)
    # Copies of these are not equal to them, and the same part would count as two.
    for label in (["north"], math.nan, object()):
        with pytest.raises(InvalidInput, match="a text or a number"):
            ALL_RECORDS.partition(label)  # type: ignore[arg-type]


def test_scopes_lie_within_all_records_and_not_too_deep() -> None:
    class Elsewhere(omit.omissions.sample.Scope):
        pass

    with pytest.raises(InvalidInput, match="within ALL_RECORDS"):
        Elsewhere().charge(Guarantee(1.0))
    with pytest.raises(InvalidInput, match="Expected a scope"):
        Sample(design, "all")  # type: ignore[arg-type]
    scope: omit.omissions.sample.Scope = ALL_RECORDS
    for _ in range(99):
        scope = scope.draw(NoOmission())
    with pytest.raises(InvalidInput, match="one within the other"):
        scope.draw(NoOmission())
    assert stated(scope.charge(Guarantee(1.0))) == Statement(1.0)


def test_a_relation_of_ones_own_is_charged_where_nothing_is_drawn() -> None:
    swapped = Relation("swap", meaning="two records exchange a value")
    charge = ALL_RECORDS.draw(NoOmission()).charge(Guarantee(1.0, neighbours=swapped))
    assert stated(charge, charge).epsilon == 2.0
    with pytest.raises(WrongNeighbours):
        Sample(OutlierScoreSuppression(0.1, 0.2)).charge(Guarantee(1.0, neighbours=swapped))
