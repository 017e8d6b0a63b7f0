"""What the statistical-privacy paper proves, held against its definitions in small settings."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from omit.audit.bounds import FORMULA_TOLERANCE, Audit, Cases
from omit.laws.discrete import Geometric
from omit.papers.checks import Theorem, Theorems, outcome_row
from omit.papers.statistical_privacy.enumeration import (
    EPSILONS,
    Setting,
    Template,
    answer_law,
    average_of_blocks,
    curve,
    curve_by_sets,
    random_setting,
    stated_curve,
    true_curve,
)
from omit.papers.statistical_privacy.examples import (
    errors_of_samples,
    known_entries,
    samples_lose,
    threshold_bounds,
    values_of_known_entries,
)
from omit.statistical.properties import property_curve
from omit.study.cell import Computation, Row


def _settings(
    rng: np.random.Generator, count: int, *, alike: bool, adaptive: bool
) -> Iterator[tuple[Setting, float]]:
    for _ in range(count):
        yield random_setting(rng, alike=alike, adaptive=adaptive), float(rng.choice(EPSILONS))


def definitions(rng: np.random.Generator, count: int) -> Cases:
    """Give the curve as an integral and as the largest difference over all sets of answers."""
    for _ in range(count):
        answers = int(rng.integers(1, 8))
        first, second = (dict(enumerate(law)) for law in rng.dirichlet(np.ones(answers), size=2))
        epsilon = float(rng.choice(EPSILONS))
        yield curve(first, second, epsilon), curve_by_sets(first, second, epsilon)


def lemma_3_1(rng: np.random.Generator, count: int) -> Cases:
    """Give the probability of some answers, averaged over templates and by listing all at once.

    Of all answers in a setting, those where the two differ most.
    """
    for setting, _ in _settings(rng, count, alike=False, adaptive=False):
        value = setting.values[0]
        averaged, released = _averaged_over_templates(setting, value), setting.released(value)
        answers = {*averaged, *released}
        pairs = [(averaged.get(one, 0.0), released.get(one, 0.0)) for one in answers]
        yield max(pairs, key=lambda pair: abs(pair[0] - pair[1]))


def _averaged_over_templates(setting: Setting, value: int) -> dict[Any, float]:
    laws = ({value: 1.0}, *setting.laws[1:])
    templates = setting.templates()
    averaged: dict[Any, float] = defaultdict(float)
    for template in templates:
        blocks = [
            answer_law([laws[entry] for entry in block], setting.analyst((0,) * number))
            for number, block in enumerate(template)
        ]
        for answers in itertools.product(*(block.items() for block in blocks)):
            chance = math.prod(chance for _, chance in answers)
            averaged[tuple(answer for answer, _ in answers)] += chance / len(templates)
    return averaged


def theorem_5_1(rng: np.random.Generator, count: int) -> Cases:
    """Give the average of the blocks' curves and the true one, for entries that are alike."""
    for setting, epsilon in _settings(rng, count, alike=True, adaptive=False):
        yield average_of_blocks(setting, epsilon), max(true_curve(setting, epsilon).values())


def worst_pair_inside(
    rng: np.random.Generator, count: int, *, alike: bool, adaptive: bool
) -> Cases:
    """Give the right-hand side with the worst pair for every block and answer, and the curve."""
    for setting, epsilon in _settings(rng, count, alike=alike, adaptive=adaptive):
        yield stated_curve(setting, epsilon), max(true_curve(setting, epsilon).values())


def one_pair_throughout(rng: np.random.Generator, count: int) -> Cases:
    """Give the right-hand side for one pair of values and the curve, for the pair nearest to it."""
    for setting, epsilon in _settings(rng, count, alike=False, adaptive=True):
        yield min(
            (
                (stated_curve(setting, epsilon, pair), truth)
                for pair, truth in true_curve(setting, epsilon).items()
            ),
            key=lambda sides: sides[0] - sides[1],
        )


def one_curve_per_size(rng: np.random.Generator, count: int) -> Cases:
    """Give the curve on a block and its average over the draw, for entries that are alike."""
    for setting, epsilon in _settings(rng, count, alike=True, adaptive=False):
        size = setting.sizes[0]
        alone = Setting(setting.laws, (size,), setting.analyst)
        share = size / len(setting.laws)
        yield average_of_blocks(alone, epsilon) / share, stated_curve(alone, epsilon) / share


def equal_chances(rng: np.random.Generator, count: int) -> Cases:
    """Give a block's share of all entries, and in how many partitions it holds an entry."""
    for setting, _ in _settings(rng, count, alike=True, adaptive=False):
        templates, entries = setting.templates(), range(len(setting.laws))
        block, entry = int(rng.integers(len(setting.sizes))), int(rng.integers(len(entries)))
        holding = sum(entry in template[block] for template in templates)
        yield setting.sizes[block] / len(entries), holding / len(templates)


def differential_privacy(rng: np.random.Generator, count: int) -> Cases:
    """Give delta of geometric noise as this package has it, and by Definition 2.1, over all sets.

    What is beyond eight steps counts as one answer: there the two laws have one ratio.
    """
    for _ in range(count):
        noise, epsilon = Geometric(float(rng.uniform(0.3, 3))), float(rng.uniform(0, 2))
        first, second = (
            {at: float(noise.cdf(at - shift) - noise.cdf(at - 1 - shift)) for at in range(-3, 5)}
            | {-4: float(noise.cdf(-4 - shift)), 5: float(1 - noise.cdf(4 - shift))}
            for shift in (0, 1)
        )
        yield float(noise.delta(epsilon, 1)), curve_by_sets(first, second, epsilon)


def statistical_privacy(rng: np.random.Generator, count: int) -> Cases:
    """Give the curve of a count as this package has it, and by Definition 2.2, over all sets."""
    for _ in range(count):
        n, p = int(rng.integers(1, 9)), float(rng.uniform(0.05, 0.95))
        epsilon = float(rng.choice(EPSILONS))
        others = [{0: 1 - p, 1: p}] * (n - 1)
        absent, present = (answer_law([{value: 1.0}, *others], sum) for value in (0, 1))
        sets = (curve_by_sets(*pair, epsilon) for pair in ((absent, present), (present, absent)))
        yield float(property_curve(n, p, epsilon).delta[0]), max(sets)


def shared_information(overlap: int, size: int, p: float) -> float:
    """Return what the counts in two blocks that share entries tell of each other, in nats.

    Examples
    --------
    >>> shared_information(0, 3, 0.5), round(shared_information(1, 1, 0.5), 6)
    (0.0, 0.693147)
    """
    together: dict[tuple[int, int], float] = defaultdict(float)
    coin = {0: 1 - p, 1: p}
    shared, own = (answer_law([coin] * number, sum) for number in (overlap, size - overlap))
    for (both, a), (left, b), (right, c) in itertools.product(
        shared.items(), own.items(), own.items()
    ):
        together[both + left, both + right] += a * b * c
    alone = answer_law([coin] * size, sum)
    return abs(
        math.fsum(
            chance * math.log(chance / (alone[left] * alone[right]))
            for (left, right), chance in together.items()
        )
    )


def more_overlap() -> Cases:
    """Give what answers tell of each other with a shared entry more, and with one less."""
    for p, size in itertools.product((0.1, 0.5), (1, 2, 4)):
        for overlap in range(size):
            more, less = (shared_information(number, size, p) for number in (overlap + 1, overlap))
            yield more, less


def templates_differ(setting: Setting, *, given: bool) -> float:
    """Return by how much the probability of answers depends on the template at most.

    `given` says whether the value of the critical entry is.
    """
    laws = ({setting.values[0]: 1.0}, *setting.laws[1:]) if given else setting.laws
    largest = 0.0
    for number in range(len(setting.sizes)):
        query = setting.analyst((0,) * number)
        law_of = {
            template[number]: answer_law([laws[entry] for entry in template[number]], query)
            for template in setting.templates()
        }
        for first, second in itertools.combinations(law_of.values(), 2):
            answers = {*first, *second}
            largest = max(largest, *(abs(first.get(a, 0) - second.get(a, 0)) for a in answers))
    return largest


def entries_alike_tell_nothing(rng: np.random.Generator, count: int, *, given: bool) -> Cases:
    """Give 0 and by how much answers depend on which entries they were computed from."""
    for setting, _ in _settings(rng, count, alike=True, adaptive=False):
        yield 0.0, templates_differ(setting, given=given)


def best_set_is_a_product(
    setting: Setting, epsilon: float, template: Template | None = None
) -> bool:
    """Return whether the set of answers that attains the curve is one set for every block."""
    released = {value: setting.released(value, template) for value in setting.values}
    growth = math.exp(epsilon)

    pairs = itertools.permutations(setting.values, 2)
    first, second = max(
        ((released[v], released[w]) for v, w in pairs),
        key=lambda pair: curve(pair[0], pair[1], epsilon),
    )
    best = [
        answers
        for answers, chance in first.items()
        if chance * (1 - FORMULA_TOLERANCE) > growth * second.get(answers, 0.0)
    ]
    blocks = [set(answers) for answers in zip(*best, strict=True)]
    return not best or len(best) == math.prod(map(len, blocks))


def products(rng: np.random.Generator, count: int, *, given: bool) -> Cases:
    """Give 1 and whether the best set of answers is a product, where there are several blocks.

    `given` says whether the partition is.
    """
    several = (
        pair
        for pair in _settings(rng, 10 * count, alike=True, adaptive=False)
        if len(pair[0].sizes) > 1
    )
    for setting, epsilon in itertools.islice(several, count):
        template = setting.templates()[0] if given else None
        yield 1.0, float(best_set_is_a_product(setting, epsilon, template))


def _of_blocks(where: str, *, alike: bool, adaptive: bool) -> Theorem:
    entries = "entries alike" if alike else "any entries"
    queries = "adaptive" if adaptive else "queries fixed before"
    return Theorem(
        f"{where}, {entries}, {queries}: delta of all answers",
        partial(worst_pair_inside, alike=alike, adaptive=adaptive),
    )


TRUE: Mapping[str, Theorem] = MappingProxyType(
    {
        "definition-2.3": Theorem(
            "Definition 2.3: integral = largest difference over all sets", definitions, exact=True
        ),
        "definition-2.1": Theorem(
            "Definition 2.1: delta of geometric noise = largest difference over sets",
            differential_privacy,
            exact=True,
        ),
        "definition-2.2": Theorem(
            "Definition 2.2: curve of a count = largest difference over sets",
            statistical_privacy,
            1e-6,
            exact=True,
        ),
        "equal-chances": Theorem(
            "Section 5: share of partitions with an entry in a block = its size / n",
            equal_chances,
            exact=True,
        ),
        "lemma-3.1": Theorem(
            "Lemma 3.1: average over templates = law of answers", lemma_3_1, exact=True
        ),
        "lemma-5.1": _of_blocks("Theorem 5.2", alike=False, adaptive=False),
        "theorem-5.1": Theorem("Theorem 5.1, entries alike: delta of all answers", theorem_5_1),
        "theorem-5.3": _of_blocks("Theorem 5.3", alike=True, adaptive=True),
        "theorem-5.4": _of_blocks("Theorem 5.4", alike=False, adaptive=True),
        "lemma-5.2": Theorem(
            "Lemma 5.2, any entries, adaptive, one pair of values", one_pair_throughout
        ),
        "one-curve-per-size": Theorem(
            "Section 5.1, entries alike: average over draws = curve of a block",
            one_curve_per_size,
            exact=True,
        ),
        "disjoint-blocks": Theorem(
            "Section 5, blocks that share an entry less: information on each other",
            more_overlap,
            listed=True,
        ),
        "sets-are-products-given-a-partition": Theorem(
            "Section 5, given a partition: the best set has one set for every block",
            partial(products, given=True),
            exact=True,
        ),
        "entries-alike": Theorem(
            "Section 5.1, entries alike: answers do not depend on which were used",
            partial(entries_alike_tell_nothing, given=False),
            exact=True,
        ),
        "example-1": Theorem(
            "Example 1, n - 1 in the weights: average over samples",
            partial(known_entries, printed=False),
            exact=True,
            listed=True,
        ),
        "known-values": Theorem(
            "Example 1: the curve for other values of known entries",
            values_of_known_entries,
            exact=True,
            listed=True,
        ),
        "threshold": Theorem(
            "Section 4, n - 1 in the weights: average over samples, any threshold",
            partial(threshold_bounds, printed=False),
            listed=True,
        ),
        "samples-lose": Theorem(
            "Section 6: squared error of all entries, against a sample's",
            partial(samples_lose, drawn_empty=False),
            listed=True,
        ),
        "example-2": Theorem(
            "Example 2: squared error of a sample's share",
            errors_of_samples,
            exact=True,
            listed=True,
        ),
    }
)
"""What holds, some of it corrected; `omit verify composition` tries to refute it."""
AS_PRINTED: Mapping[str, Theorem] = MappingProxyType(
    {
        "entries-alike-given-one": Theorem(
            "Section 5.1, entries alike, one fixed: answers do not depend on which",
            partial(entries_alike_tell_nothing, given=True),
            exact=True,
        ),
        "sets-are-products": Theorem(
            "Section 5: the best set of answers has one set for every block",
            partial(products, given=False),
            exact=True,
        ),
        "example-1-as-printed": Theorem(
            "Example 1, n in the weights: average over samples",
            partial(known_entries, printed=True),
            exact=True,
            listed=True,
        ),
        "samples-lose-unless-empty": Theorem(
            "Section 6, empty samples answer 1/2: squared error of all entries, against a sample's",
            partial(samples_lose, drawn_empty=True),
            listed=True,
        ),
        "threshold-as-printed": Theorem(
            "Section 4, n in the weights: average over samples, any threshold",
            partial(threshold_bounds, printed=True),
            listed=True,
        ),
    }
)


def _tried(parameters: Row, prepared: object, rng: np.random.Generator) -> Row:
    """Return what came of one of them."""
    return outcome_row({**TRUE, **AS_PRINTED}[parameters["theorem"]], parameters["cases"], rng)


THEOREMS = Theorems(
    MappingProxyType({**TRUE, **AS_PRINTED}),
    Computation("theorems of statistical privacy", 1, _tried),
)


@dataclass(frozen=True)
class CompositionAudit(Audit):
    """The outcomes of the checks of what is true."""

    command: ClassVar[str] = "verify composition"
