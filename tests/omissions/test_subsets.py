"""Any suppression, given by its distribution over subsets."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from omit import Guarantee, InvalidInput, PoissonSampling, Statement
from omit._numeric import expm1_ratio
from omit.omissions import IndependentPair, SubsetPair, pair_bound
from omit.omissions.subset_program import SubsetProgram, in_order


def poisson_pair(size: int, rate: float) -> SubsetPair:
    def distribution(records: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        return {
            kept: rate ** len(kept) * (1 - rate) ** (len(records) - len(kept))
            for length in range(len(records) + 1)
            for kept in itertools.combinations(records, length)
        }

    records = tuple(range(size))
    return SubsetPair.from_distributions(
        records, size, distribution(records), distribution((*records, size))
    )


def random_pair(rng: np.random.Generator, size: int = 2) -> SubsetPair:
    def distribution(records: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        subsets = [
            kept
            for length in range(len(records) + 1)
            for kept in itertools.combinations(records, length)
        ]
        return dict(zip(subsets, rng.dirichlet(np.ones(len(subsets))).tolist(), strict=True))

    records = tuple(range(size))
    return SubsetPair.from_distributions(
        records, size, distribution(records), distribution((*records, size))
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_for_poisson_sampling_theorem_5_3_the_program_and_the_formula_agree(epsilon: float) -> None:
    pair = poisson_pair(2, 0.3)
    formula = float(PoissonSampling(rate=0.3).epsilon_after(epsilon))
    assert pair.theorem_5_3(epsilon).epsilon == pytest.approx(formula, rel=1e-12)
    assert pair.exact(epsilon).epsilon == pytest.approx(formula, abs=1e-8)
    assert pair.lower_bound(epsilon) == pytest.approx(formula, rel=1e-12)


def test_poisson_amplification_of_delta_is_tight() -> None:
    released = PoissonSampling(rate=0.3).amplify(Guarantee(1.0, 0.05))
    assert isinstance(released, Statement)
    exact = poisson_pair(2, 0.3).exact_delta(1.0, 0.05, released.epsilon)
    assert exact == pytest.approx(released.delta, abs=1e-9)


def test_the_closed_forms_are_upper_bounds_and_proposition_b_8_a_lower_one() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        pair, epsilon = random_pair(rng), float(rng.uniform(0.1, 2))
        exact = pair.exact(epsilon).epsilon
        assert exact <= pair.theorem_5_3(epsilon).epsilon + 1e-8
        assert exact >= pair.lower_bound(epsilon) - 1e-8


def test_the_shift_rule_is_never_exceeded_and_often_attained() -> None:
    rng = np.random.default_rng(8)
    ratios = []
    for _ in range(40):
        pair, epsilon = random_pair(rng), float(rng.uniform(0.2, 2))
        after = pair.exact(epsilon).epsilon
        claimed = 0.02 * float(expm1_ratio(after, epsilon))
        found = pair.exact_delta(epsilon, 0.02, after)
        assert found <= claimed + 1e-8
        ratios.append(found / claimed)
    assert np.median(ratios) > 0.999


def test_both_deltas_of_theorem_5_3_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(9)
    pair, epsilon, delta = random_pair(rng), 0.7, 0.01
    loss = pair.theorem_5_3(epsilon, delta)
    kept = sum(weight for subset, weight in pair.with_record.items() if 2 in subset)
    assert loss.presence_delta == pytest.approx(delta * kept)
    shrink = math.exp(-epsilon)
    expected = 0.0
    for subset, weight in pair.without.items():
        plain, added = pair.with_record[subset], pair.with_record[(*subset, 2)]
        expected += weight * shrink * added / (plain + shrink * added)
    assert loss.absence_delta == pytest.approx(delta * expected)
    assert pair.exact_delta(epsilon, delta, loss.epsilon) <= loss.delta + 1e-9


def test_where_the_support_condition_fails_theorem_5_3_is_refused_and_b_6_is_not() -> None:
    pair = SubsetPair.from_distributions("ab", "y", {"a": 1.0}, {"b": 0.5, "by": 0.5})
    assert pair.support_gap() is not None
    with pytest.raises(InvalidInput, match="support condition"):
        pair.theorem_5_3(1.0)
    general, exact = pair.theorem_b_6(1.0, 1e-3), pair.exact(1.0)
    assert exact.epsilon <= general.epsilon + 1e-8
    assert general.presence == pytest.approx(2 + math.log((1 + math.e) / 2))
    assert pair.exact_delta(1.0, 1e-3, general.epsilon) <= general.delta + 1e-9


def test_a_chosen_assignment_changes_the_bound_and_stays_valid() -> None:
    pair = SubsetPair.from_distributions(
        "ab", "y", {"a": 0.5, "ab": 0.5}, {"b": 0.3, "by": 0.2, "ab": 0.5}
    )
    nearest = pair.theorem_b_6(1.0)
    farther = {("a",): ("b",), ("a", "b"): ("a", "b")}
    back = {("b",): ("a", "b"), ("a", "b"): ("a", "b")}
    chosen = pair.theorem_b_6(1.0, 0.0, farther, back)
    exact = pair.exact(1.0).epsilon
    assert exact <= min(nearest.epsilon, chosen.epsilon) + 1e-8
    assert chosen != nearest
    with pytest.raises(InvalidInput, match="possible output"):
        pair.theorem_b_6(1.0, 0.0, {("a",): ("a",), ("a", "b"): ("a", "b")}, back)
    with pytest.raises(InvalidInput, match="say where"):
        pair.theorem_b_6(1.0, 0.0, {("a",): ("a", "b")}, back)


def test_theorem_b_6_is_theorem_5_1_for_deterministic_suppression() -> None:
    pair = SubsetPair.from_distributions("abc", "y", {"abc": 1.0}, {"a": 1.0})
    loss = pair.theorem_b_6(0.5, 1e-4)
    assert loss.epsilon == pytest.approx(1.0)
    assert loss.delta == pytest.approx(1e-4 * (1 + math.exp(0.5)))
    assert pair.exact(0.5).epsilon == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(
    ("without", "with_record", "message"),
    [
        ({"a": 0.5}, {"a": 1.0}, "sum to 1, got 0.5"),
        ({"a": 1.0}, {"a": 0.7, "y": 0.7}, "sum to 1, got 1.4"),
        ({"b": 1.0}, {"a": 1.0}, "part of"),
        ({"a": 1.5, "": -0.5}, {"a": 1.0}, r"in \[0, 1\]"),
        ({"a": float("nan")}, {"a": 1.0}, "finite"),
    ],
)
def test_what_is_no_distribution_over_subsets_is_refused(
    without: dict[str, float], with_record: dict[str, float], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        SubsetPair.from_distributions("a", "y", without, with_record)


def test_an_added_record_equal_to_another_needs_the_linear_program() -> None:
    pair = SubsetPair.from_distributions("x", "x", {"x": 1.0}, {"xx": 0.5, "x": 0.5})
    with pytest.raises(InvalidInput, match="different names"):
        pair.theorem_5_3(1.0)
    assert pair.exact(1.0).epsilon == pytest.approx(math.log((1 + math.e) / 2), abs=1e-8)
    assert pair.lower_bound(1.0) == pytest.approx(math.log((1 + math.e) / 2))


def test_programs_that_cannot_be_solved_reliably_are_refused() -> None:
    with pytest.raises(InvalidInput, match="reliable up to"):
        poisson_pair(1, 0.5).exact(50.0)
    names = tuple(range(13))
    large = SubsetPair.from_distributions(names, 13, {names: 1.0}, {names: 1.0})
    with pytest.raises(InvalidInput, match="different parts"):
        large.exact(1.0)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0, 6.0, 9.0])
def test_the_linear_program_is_right_or_refuses(epsilon: float) -> None:
    rng = np.random.default_rng(7)
    answered = 0
    for _ in range(12):
        size = int(rng.integers(1, 5))
        before, after = rng.uniform(size=(2, size)) ** 3
        pair = IndependentPair(tuple(before), tuple(after), float(rng.uniform()))
        try:
            program = pair.to_subsets().exact(epsilon)
        except InvalidInput:
            continue
        answered += 1
        assert program.presence == pytest.approx(pair.loss(epsilon).presence, abs=2e-6)
        assert program.absence == pytest.approx(pair.loss(epsilon).absence, abs=2e-6)
    assert answered >= 6


def test_theorem_b_6_bounds_both_directions_where_the_support_condition_fails() -> None:
    rng = np.random.default_rng(13)
    for _ in range(25):
        pair = random_pair(rng)
        few = pair.without
        chosen = [subset for subset in few if rng.uniform() < 0.6] or [next(iter(few))]
        total = sum(few[subset] for subset in chosen)
        thinned = SubsetPair.from_distributions(
            pair.database, pair.record, {s: few[s] / total for s in chosen}, pair.with_record
        )
        exact, general = thinned.exact(0.8), thinned.theorem_b_6(0.8, 1e-3)
        assert exact.presence <= general.presence + 1e-6
        assert exact.absence <= general.absence + 1e-6
        assert thinned.exact_delta(0.8, 1e-3, general.epsilon) <= general.delta + 1e-8


def worked_example() -> SubsetPair:
    return SubsetPair.from_distributions(
        "ab", "y", without={"ab": 0.5, "": 0.5}, with_record={"ay": 0.5, "b": 0.5}
    )


def all_functions(pair: SubsetPair, epsilon: float) -> float:
    """Return the smallest loss of Theorem B.6 over all assignments that are functions."""
    reachable = {tuple(r for r in subset if r != pair.record) for subset in pair.with_record}
    losses = []
    for forward in itertools.product(reachable, repeat=len(pair.without)):
        for backward in itertools.product(pair.without, repeat=len(reachable)):
            maps = [
                dict(zip(*ends, strict=True))
                for ends in ((pair.without, forward), (reachable, backward))
            ]
            losses.append(pair.theorem_b_6(epsilon, 0.0, *maps).epsilon)
    return min(losses)


def test_the_best_of_sixteen_functions_is_found_and_a_division_is_exact() -> None:
    pair = worked_example()
    assert pair.theorem_b_6(1.0).epsilon == pytest.approx(2.6931471806)
    assert all_functions(pair, 1.0) == pytest.approx(2.0)
    functions = pair.best_functions(1.0)
    assert functions is not None
    assert pair.theorem_b_6(1.0, 0.0, *functions).epsilon == pytest.approx(2.0)
    divided = pair.theorem_b_6(1.0, 0.0, *pair.best_assignments(1.0))
    assert divided.epsilon == pytest.approx(1.6201145070)
    assert pair.exact(1.0).epsilon == pytest.approx(1.6201145070)


def test_the_answer_on_a_pair_has_all_assignments() -> None:
    losses = pair_bound(worked_example(), 1.0).losses
    shown = {name: round(loss.epsilon, 4) for name, loss in losses.items()}
    assert shown == {
        "exact": 1.6201,
        "theorem-b.6": 2.6931,
        "theorem-b.6-function": 2.0,
        "theorem-b.6-fractional": 1.6201,
    }


def sparse_pair(rng: np.random.Generator, size: int) -> SubsetPair:
    def distribution(records: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        subsets = [
            kept
            for length in range(len(records) + 1)
            for kept in itertools.combinations(records, length)
        ]
        chosen = [subset for subset in subsets if rng.uniform() < 0.4] or subsets[:1]
        return dict(zip(chosen, rng.dirichlet(np.ones(len(chosen))).tolist(), strict=True))

    records = tuple(range(size))
    return SubsetPair.from_distributions(
        records, size, distribution(records), distribution((*records, size))
    )


def test_the_best_fractional_assignment_is_exact_in_both_directions() -> None:
    rng = np.random.default_rng(31)
    for _ in range(25):
        pair, epsilon = sparse_pair(rng, int(rng.integers(1, 4))), float(rng.uniform(0.1, 2))
        exact = pair.exact(epsilon)
        divided = pair.theorem_b_6(epsilon, 0.0, *pair.best_assignments(epsilon))
        assert divided.presence == pytest.approx(exact.presence, abs=1e-9)
        assert divided.absence == pytest.approx(exact.absence, abs=1e-9)


def test_the_best_function_is_the_best_of_all_functions() -> None:
    rng = np.random.default_rng(32)
    tried = 0
    while tried < 6:
        pair = sparse_pair(rng, 2)
        if len(pair.without) > 3 or len(pair.with_record) > 3:
            continue
        functions, epsilon = pair.best_functions(0.8), 0.8
        assert functions is not None
        best = pair.theorem_b_6(epsilon, 0.0, *functions).epsilon
        assert best == pytest.approx(all_functions(pair, epsilon), abs=1e-9)
        tried += 1


def test_shares_of_an_assignment_sum_to_one() -> None:
    pair = worked_example()
    forward, backward = pair.best_assignments(1.0)
    halved = {
        subset: {target: share / 2 for target, share in forward[subset].items()}
        for subset in forward
    }
    with pytest.raises(InvalidInput, match="sum to 1, got"):
        pair.theorem_b_6(1.0, 0.0, halved, backward)


def test_what_is_stated_is_proved_in_rational_numbers_and_attained_by_a_mechanism() -> None:
    rng = np.random.default_rng(33)
    for _ in range(10):
        pair, epsilon = sparse_pair(rng, 3), float(rng.uniform(0.1, 3))
        program = SubsetProgram.of(in_order((*pair.database, pair.record)), epsilon)
        ratio = program.largest_ratio(pair.with_record, pair.without)
        assert program.is_bounded(ratio.function)
        assert ratio.attained <= ratio.proved <= ratio.attained * (1 + Fraction(1e-9))
        again = program.proved(ratio.multipliers, pair.with_record, pair.without)
        assert again == ratio.proved
        # Multipliers that were tampered with prove something, and never too little.
        for factor in (0.5, 1.5):
            other = {step: weight * factor for step, weight in ratio.multipliers.items()}
            assert program.proved(other, pair.with_record, pair.without) >= ratio.attained


def test_told_apart_copies_bound_the_loss_of_a_multiset() -> None:
    rng = np.random.default_rng(34)
    for _ in range(10):
        kept = rng.dirichlet(np.ones(3)).tolist(), rng.dirichlet(np.ones(4)).tolist()
        pair = SubsetPair.from_distributions(
            "xx",
            "x",
            dict(zip(("", "x", "xx"), kept[0], strict=True)),
            dict(zip(("", "x", "xx", "xxx"), kept[1], strict=True)),
        )
        exact, apart = pair.exact(1.0), pair.told_apart()
        assert exact.epsilon <= apart.exact(1.0).epsilon + 1e-9
        assert exact.epsilon <= apart.theorem_5_3(1.0).epsilon + 1e-9
