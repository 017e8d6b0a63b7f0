"""Data sets that are known by name, with their origin and what is declared about their columns.

All of that is in `files/datasets.toml`. Some sets are made from a seed when they are read. A
registered name should mean the same records everywhere: `kmedian_synthetic` takes the raw bits of a
bit generator, whose stream NumPy promises never to change. The authors' populations of the
accuracy-gains paper are R's, made from such bits, too. Ours, of the same distributions, come from
NumPy's, which a later version may change, because the numbers that we state about them rest on the
records that these give; the tests hold them to those.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from omit import _validate
from omit._numeric import FloatArray
from omit._text import nearest
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from pandas import DataFrame

    from omit.data.base import Bounds

FOLDER_VARIABLE = "OMIT_DATA"
_MOST_LABELS = 1_000
_FILES = files("omit.data") / "files"

KMEDIAN_SEED = 2026
_CENTRES, _POINTS_OF_EACH, _SIGMA = 4, 25, 10
_LOWEST, _HIGHEST = 1, 100
POPULATION = 10_001
POPULATION_SEED = 3
AUTHORS_SEED = 123


def kmedian_synthetic() -> DataFrame:
    """Return 100 whole points of {1, ..., 100}^2 around four centres, the same in every call.

    The recipe is that of the omitting-records paper, Section 3.1: four random accumulation points
    in {10, ..., 90}^2, and 100 points from Gaussian distributions with sigma = 10 around them,
    rounded to whole numbers. Where the paper is silent: every centre has 25 points, and a point
    that falls outside is drawn again, both coordinates, so that none pile up at the edge.

    Examples
    --------
    >>> points = kmedian_synthetic()
    >>> points.shape, int(points.to_numpy().min()) >= 1, int(points.to_numpy().max()) <= 100
    ((100, 2), True, True)
    """
    from pandas import DataFrame
    from scipy.special import ndtri

    bits = np.random.PCG64(KMEDIAN_SEED)
    centres = 10 + np.floor(81 * _uniform(bits, (_CENTRES, 2)))
    points = []
    for centre in np.repeat(centres, _POINTS_OF_EACH, axis=0):
        point = np.zeros(2)
        while not ((point >= _LOWEST) & (point <= _HIGHEST)).all():
            point = np.rint(centre + _SIGMA * ndtri(_uniform(bits, (2,))))
        points.append(point)
    return DataFrame(np.array(points, dtype=np.int64), columns=["x", "y"])


def population(name: str) -> DataFrame:
    """Return 10,001 values of a distribution of the accuracy-gains paper, from our seed.

    ``"beta"`` is the Beta(2, 10) distribution, ``"lognormal"`` has mu = 5 and sigma = 0.5, and
    ``"bimodal"`` has two groups, with the median at the edge of the first one: 5,001 values of
    Beta(2, 10) divided by 2 and 5,000 values of 1 + Beta(2, 10), moved and scaled so that the
    smallest is 0 and the largest 1.

    Examples
    --------
    >>> values = population("bimodal")["bimodal"].sort_values().to_numpy()
    >>> len(values), bool(values[5001] - values[5000] > 0.4)
    (10001, True)
    """
    from pandas import DataFrame

    rng = np.random.default_rng(POPULATION_SEED)
    if name == "lognormal":
        return DataFrame({name: rng.lognormal(5, 0.5, POPULATION)})
    return DataFrame({name: _of_beta(name, lambda count: rng.beta(2, 10, count))})


def authors_population(name: str, seed: int = AUTHORS_SEED) -> DataFrame:
    """Return the population of the accuracy-gains paper that R draws after ``set.seed(123)``.

    The names are those of `population`. Appendix B of the paper prints the code for ``"bimodal"``.
    That the other two were drawn from the same seed, by ``rbeta`` and by ``rlnorm``, is an
    assumption.

    Examples
    --------
    >>> round(float(authors_population("bimodal")["bimodal"].median()), 4)
    0.2109
    """
    from pandas import DataFrame

    from omit.data.r_random import RRandom

    rng = RRandom(seed)
    if name == "lognormal":
        return DataFrame({name: rng.lognormal(POPULATION, 5.0, 0.5)})
    return DataFrame({name: _of_beta(name, lambda count: rng.beta(count, 2.0, 10.0))})


def _of_beta(name: str, draw: Callable[[int], FloatArray]) -> FloatArray:
    """Return a population of Beta(2, 10), or of two groups of it, given how that is drawn."""
    if name == "beta":
        return draw(POPULATION)
    left = draw((POPULATION + 1) // 2) / 2
    right = draw((POPULATION - 1) // 2) + 1
    both = np.concatenate([left, right])
    return np.asarray((both - both.min()) / (both.max() - both.min()))


def _uniform(bits: np.random.PCG64, shape: tuple[int, ...]) -> FloatArray:
    """Return numbers strictly between 0 and 1, from 52 bits each."""
    return np.asarray(((bits.random_raw(shape) >> np.uint64(12)) + 0.5) / 2.0**52)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A registered data set.

    Parameters
    ----------
    name : str
        What `read` knows it by.
    title, citation, licence : str
        What it is, whom to cite, and what the origin says about its use.
    file : str
        The file's name, in the package if `bundled`, else in the folder that the environment
        variable ``OMIT_DATA`` names; empty if the set is generated.
    default_column : str
        The column that is read if none is asked for.
    bounds, categories : mapping
        What is declared about columns of numbers and of text.
    remarks : mapping
        What has to be said about a column with every result.
    step : float or None
        What all numbers of the columns with bounds are multiples of, above their lower bounds: 1
        for whole numbers. None if they are continuous.
    missing : tuple of str
        The texts that stand for a missing value.
    bundled : bool
        Whether the file is part of this package.
    point_columns : tuple of str
        The columns that `read_points` takes if none are asked for.
    weight : str
        The column with the survey weights of the records; empty if there is none.
    origin : str
        Who publishes the file if it is not bundled, and where: a sentence without its end.
    generate : callable, optional
        For a set without a file: returns the whole table, the same in every call.

    Examples
    --------
    >>> adult = dataset("adult")
    >>> adult.default_column, adult.bounds["age"], adult.categories["sex"]
    ('age', (0, 125), ('Female', 'Male'))
    """

    name: str
    title: str
    citation: str
    licence: str
    file: str
    default_column: str
    bounds: Mapping[str, tuple[float, float]]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    step: float | None = None
    missing: tuple[str, ...] = ()
    bundled: bool = False
    point_columns: tuple[str, ...] = ()
    weight: str = ""
    origin: str = ""
    generate: Callable[[], DataFrame] | None = None

    def labels_of(self, column: str) -> tuple[str, ...]:
        """Return all labels that a column can hold: its categories, or its whole numbers.

        There are none of a column about which nothing is declared, or of which there are too many
        to tell groups apart.

        Examples
        --------
        >>> dataset("adult").labels_of("sex"), dataset("adult").labels_of("education-num")[:3]
        (('Female', 'Male'), ('1', '2', '3'))
        """
        if column in self.categories:
            return self.categories[column]
        lower, upper = self.bounds.get(column, (0, -1))
        if self.step != 1 or upper - lower >= _MOST_LABELS:
            return ()
        return tuple(str(number) for number in range(int(lower), int(upper) + 1))

    def step_of(self, column: str, bounds: Bounds | None) -> float | None:
        """Return the step of a column within declared bounds, if both are multiples of it.

        Examples
        --------
        >>> adult = dataset("adult")
        >>> adult.step_of("age", (17, 90)), adult.step_of("age", (0, 99.5))
        (1.0, None)
        """
        if self.step is None or column not in self.bounds or bounds is None:
            return None
        if isinstance(bounds, str):
            return self.step
        lower = self.bounds[column][0]
        lies_on_it = all(math.remainder(bound - lower, self.step) == 0 for bound in bounds)
        return self.step if lies_on_it else None

    def ignored_weights(self, column: str) -> tuple[str, ...]:
        """Return what has to be said of a column that is read without the survey weights.

        Examples
        --------
        >>> dataset("nist-tx").ignored_weights("AGEP")
        ('the survey weights of the records, PWGTP, are ignored; a mean can use them as weight.',)
        """
        if self.weight in ("", column):
            return ()
        return (
            f"the survey weights of the records, {self.weight}, are ignored; a mean can use them "
            "as weight.",
        )

    @contextmanager
    def path(self) -> Iterator[Path]:
        """Give the path of the file, for as long as the context lasts.

        `InvalidInput` is raised if the file is not where it should be, and the message says what to
        set; or if there is none, because the table is generated.

        Examples
        --------
        >>> with dataset("adult").path() as path:
        ...     path.name
        'adult.csv.gz'
        """
        if self.generate is not None:
            raise InvalidInput(f"The data set {self.name!r} is generated and has no file.")
        if self.bundled:
            with as_file(_FILES / self.file) as path:
                yield path
            return
        missing = self.missing_file()
        if missing is not None:
            raise InvalidInput(missing)
        yield self._file_in(os.environ[FOLDER_VARIABLE])

    def missing_file(self) -> str | None:
        """Return in a sentence that the file is not there, and where it comes from, or None.

        Examples
        --------
        >>> dataset("adult").missing_file()
        """
        if self.bundled or self.generate is not None:
            return None
        folder = os.environ.get(FOLDER_VARIABLE)
        origin = f": {self.origin}" if self.origin else ""
        if not folder:
            return (
                f"The data set {self.name!r} is not part of the package{origin}; put it as "
                f"{self.file} into a folder and set the environment variable {FOLDER_VARIABLE} to "
                "that folder."
            )
        try:
            is_there = self._file_in(folder).is_file()
        except (OSError, ValueError):  # a name that is too long, or with a zero in it
            is_there = False
        if is_there:
            return None
        return (
            f"The data set {self.name!r} needs the file {self.file}, which is not in {folder}, the "
            f"folder that {FOLDER_VARIABLE} names{origin}."
        )

    def _file_in(self, folder: str) -> Path:
        return Path(os.path.expanduser(folder)) / self.file


def _registered() -> Iterator[Dataset]:
    entries = tomllib.loads((_FILES / "datasets.toml").read_text(encoding="utf-8"))

    def complete(entry: dict[str, Any]) -> dict[str, Any]:
        like = entry.get("like")
        return entry if like is None else {**complete(entries[like]), **entry}

    for name, entry in entries.items():
        known = complete(entry)
        yield Dataset(
            name,
            known["title"],
            known["citation"],
            known["licence"],
            known.get("file", ""),
            known["default_column"],
            {column: tuple(bounds) for column, bounds in known["bounds"].items()},
            {column: tuple(texts) for column, texts in known.get("categories", {}).items()},
            {
                column: remark["text"]
                for remark in known.get("remarks", ())
                for column in remark["columns"]
            },
            known.get("step"),
            tuple(known.get("missing", ())),
            known.get("bundled", False),
            tuple(known.get("point_columns", ())),
            known.get("weight", ""),
            known.get("origin", ""),
            _generator(name) if known.get("generated") else None,
        )


def _generator(name: str) -> Callable[[], DataFrame]:
    if name == "kmedian-synthetic":
        return kmedian_synthetic
    distribution, _, drawn_by = name.partition("-")
    return partial(authors_population if drawn_by == "r" else population, distribution)


DATASETS: Mapping[str, Dataset] = MappingProxyType({known.name: known for known in _registered()})


def datasets() -> tuple[Dataset, ...]:
    """Return all registered data sets.

    Examples
    --------
    >>> [known.name for known in datasets()]
    ['adult', 'irish', 'census', 'nist-ma', 'nist-tx', 'nist-national', 'kmedian-synthetic',
     'beta', 'lognormal', 'bimodal', 'beta-r', 'lognormal-r', 'bimodal-r']
    """
    return tuple(DATASETS.values())


def dataset(name: str) -> Dataset:
    """Return the registered data set of that name; if there is none, the nearest is named.

    Examples
    --------
    >>> dataset("adult").licence
    'CC BY 4.0'
    """
    _validate.instance("the name of a data set", name, str)
    if name not in DATASETS:
        raise InvalidInput(
            f"There is no registered data set {_validate.shown(name)}; {nearest(name, DATASETS)} "
            "(a file is given by its path, such as people.csv)."
        )
    return DATASETS[name]
