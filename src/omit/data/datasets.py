"""Data sets that are known by name, with their origin and what is declared about their columns.

What is declared about the columns of the bundled data set, Adult.

The bounds are those of the omitting-records paper: Table 1 for age and hours-per-week, its
experiment code for the others. The categories are those of the public description that comes with
the data (`adult.names`), in its order and spelling.

Data sets that are made from a seed when they are read.

A registered name should mean the same records everywhere. `kmedian_synthetic` takes the raw bits of
a bit generator, whose stream NumPy promises never to change. The populations of the accuracy-gains
paper come from NumPy's distributions, which a later version may change, because the numbers that we
state about them rest on the records that these give; the tests hold them to those.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from omit import _validate
from omit._text import nearest
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.random import PCG64
    from pandas import DataFrame

    from omit._numeric import FloatArray
    from omit.data.base import Bounds


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADULT_BOUNDS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "age": (0, 125),
        "fnlwgt": (0, 2227058),
        "education-num": (1, 16),
        "capital-gain": (0, 149999),
        "capital-loss": (0, 6534),
        "hours-per-week": (0, 100),
    }
)

ADULT_CATEGORIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "workclass": _words(
            "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov "
            "Without-pay Never-worked"
        ),
        "education": _words(
            "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th "
            "12th Masters 1st-4th 10th Doctorate 5th-6th Preschool"
        ),
        "marital-status": _words(
            "Married-civ-spouse Divorced Never-married Separated Widowed "
            "Married-spouse-absent Married-AF-spouse"
        ),
        "occupation": _words(
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
            "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing "
            "Transport-moving Priv-house-serv Protective-serv Armed-Forces"
        ),
        "relationship": _words("Wife Own-child Husband Not-in-family Other-relative Unmarried"),
        "race": _words("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
        "sex": _words("Female Male"),
        "native-country": _words(
            "United-States Cambodia England Puerto-Rico Canada Germany "
            "Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras "
            "Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
            "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala "
            "Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong "
            "Holand-Netherlands"
        ),
        "income": _words("<=50K >50K"),
    }
)


KMEDIAN_SEED = 2026
_CENTRES, _POINTS_OF_EACH, _SIGMA = 4, 25, 10
_LOWEST, _HIGHEST = 1, 100

# The size and the distributions are those of Hu, Drechsler and Kim ("Accuracy Gains from Privacy
# Amplification Through Sampling", Sections 2.4, 4.3 and Appendix B); the seed is ours.
POPULATION = 10_001
POPULATION_SEED = 3


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
    import numpy as np
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


def beta_population() -> DataFrame:
    """Return 10,001 values of the Beta(2, 10) distribution.

    Examples
    --------
    >>> beta_population().shape
    (10001, 1)
    """
    import numpy as np

    return _table("beta", np.random.default_rng(POPULATION_SEED).beta(2, 10, POPULATION))


def lognormal_population() -> DataFrame:
    """Return 10,001 values of the lognormal distribution with mu = 5 and sigma = 0.5.

    Examples
    --------
    >>> lognormal_population().shape
    (10001, 1)
    """
    import numpy as np

    return _table("lognormal", np.random.default_rng(POPULATION_SEED).lognormal(5, 0.5, POPULATION))


def bimodal_population() -> DataFrame:
    """Return 10,001 values in two groups, with the median at the edge of the first one.

    5,001 values of Beta(2, 10) divided by 2 and 5,000 values of 1 + Beta(2, 10), moved and scaled
    so that the smallest is 0 and the largest 1.

    Examples
    --------
    >>> values = bimodal_population()["bimodal"].sort_values().to_numpy()
    >>> bool(values[5001] - values[5000] > 0.4)
    True
    """
    import numpy as np

    rng = np.random.default_rng(POPULATION_SEED)
    left = rng.beta(2, 10, (POPULATION + 1) // 2) / 2
    right = rng.beta(2, 10, (POPULATION - 1) // 2) + 1
    values = np.concatenate([left, right])
    return _table("bimodal", (values - values.min()) / (values.max() - values.min()))


def _uniform(bits: PCG64, shape: tuple[int, ...]) -> FloatArray:
    """Return numbers strictly between 0 and 1, from 52 bits each."""
    import numpy as np

    return np.asarray(((bits.random_raw(shape) >> np.uint64(12)) + 0.5) / 2.0**52)


def _table(name: str, values: FloatArray) -> DataFrame:
    from pandas import DataFrame

    return DataFrame({name: values})


FOLDER_VARIABLE = "OMIT_DATA"


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
        What has to be said about a column beside every result.
    step : float or None
        What all numbers of the columns with bounds are multiples of, above their lower bounds: 1
        for whole numbers. None if they are continuous.
    missing : tuple of str
        The texts that stand for a missing value.
    bundled : bool
        Whether the file is part of this package.
    point_columns : tuple of str
        The columns that `read_points` takes if none are asked for.
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
    step: float | None = 1.0
    missing: tuple[str, ...] = ()
    bundled: bool = False
    point_columns: tuple[str, ...] = ()
    generate: Callable[[], DataFrame] | None = None

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

    @contextmanager
    def path(self) -> Iterator[Path]:
        """Give the path of the file, for as long as the context lasts.

        Raises
        ------
        InvalidInput
            If the file is not where it should be, and the message says what to set; or if there
            is none, because the table is generated.

        Examples
        --------
        >>> with dataset("adult").path() as path:
        ...     path.name
        'adult.csv.gz'
        """
        if self.generate is not None:
            raise InvalidInput(f"The data set {self.name!r} is generated and has no file.")
        if self.bundled:
            with as_file(files("omit.data") / "files" / self.file) as path:
                yield path
            return
        folder = os.environ.get(FOLDER_VARIABLE)
        if not folder:
            raise InvalidInput(
                f"The data set {self.name!r} is not part of the package; set the environment "
                f"variable {FOLDER_VARIABLE} to the folder that holds {self.file}."
            )
        path = Path(os.path.expanduser(folder)) / self.file
        try:
            is_file = path.is_file()
        except (OSError, ValueError):  # a name that is too long, or with a zero in it
            is_file = False
        if not is_file:
            raise InvalidInput(
                f"The data set {self.name!r} needs the file {self.file}, which is not in "
                f"{folder}, the folder that {FOLDER_VARIABLE} names."
            )
        yield path


# The paper's rule where no bound is obvious (omitting-records, Section 3.1).
_FROM_MAXIMUM = (
    "the upper bound is the paper's, about 1.5 times the largest value in the data, so a release "
    "that uses it is NOT private."
)

_ADULT = Dataset(
    name="adult",
    title="Adult: 32,561 adults of the US Current Population Survey 1994 (training part)",
    citation="B. Becker and R. Kohavi, 'Adult', UCI Machine Learning Repository, 1996, "
    "doi:10.24432/C5XW20",
    licence="CC BY 4.0",
    file="adult.csv.gz",
    default_column="age",
    bounds=ADULT_BOUNDS,
    categories=ADULT_CATEGORIES,
    remarks=dict.fromkeys(("fnlwgt", "capital-gain", "capital-loss"), _FROM_MAXIMUM),
    missing=("?",),
    bundled=True,
    point_columns=tuple(ADULT_BOUNDS),
)
_IRISH = Dataset(
    name="irish",
    title="Irish: 66,666 synthetic people after the Irish census of 2011 (COCOA, numeric coding)",
    citation="V. Ayala-Rivera, A. O. Portillo-Dominguez, L. Murphy and C. Thorpe, 'COCOA: A "
    "Synthetic Data Generator for Testing Anonymization Techniques', PSD 2016, "
    "doi:10.1007/978-3-319-45381-1_13",
    licence="none stated",
    file="irish.csv",
    default_column="Age",
    bounds={"Age": (0, 125), "HighestEducationCompleted": (1, 10)},
)
_CENSUS = Dataset(
    name="census",
    title="Census: 1,080 records of the US Current Population Survey 1995 (CASC reference data)",
    citation="R. Brand, J. Domingo-Ferrer and J. M. Mateo-Sanz, 'Reference data sets to test and "
    "compare SDC methods for protection of numerical microdata', project CASC, 2002",
    licence="public use file",
    file="census.csv",
    default_column="FEDTAX",
    bounds={"FEDTAX": (0, 31889), "FICA": (0, 11890)},
    remarks=dict.fromkeys(("FEDTAX", "FICA"), _FROM_MAXIMUM),
)

_KMEDIAN_SYNTHETIC = Dataset(
    name="kmedian-synthetic",
    title="Synthetic k-median data: 100 points around four centres, drawn by the recipe of the "
    "paper (not the paper's own points)",
    citation="recipe: À. Miranda-Pascual, J. Parra-Arnau and T. Strufe, 'The Adverse Effects of "
    "Omitting Records in Differential Privacy', USENIX Security 2026, Section 3.1",
    licence="Apache-2.0, as this package",
    file="",
    default_column="x",
    bounds={"x": (1, 100), "y": (1, 100)},
    point_columns=("x", "y"),
    generate=kmedian_synthetic,
)

# The code book that comes with the NIST excerpts, without the columns whose range is the data's.
_NIST_BOUNDS: Mapping[str, tuple[float, float]] = {
    "AGEP": (0, 99),
    "SEX": (1, 2),
    "MSP": (1, 6),
    "HISP": (0, 4),
    "RAC1P": (1, 9),
    "NOC": (0, 19),
    "NPF": (2, 20),
    "HOUSING_TYPE": (1, 3),
    "OWN_RENT": (0, 2),
    "INDP_CAT": (0, 18),
    "EDU": (1, 12),
    "PINCP_DECILE": (0, 9),
    "POVPIP": (0, 501),
    "DVET": (1, 6),
    "DREM": (1, 2),
    "DPHY": (1, 2),
    "DEYE": (1, 2),
    "DEAR": (1, 2),
}


# The areas an excerpt consists of are part of its public description.
_NIST_AREAS: Mapping[str, str] = {
    "nist-ma": "25-00503 25-00703 25-01000 25-01300 25-02800",
    "nist-tx": "48-02101 48-02102 48-02507 48-02510 48-02515 48-02516",
    "nist-national": (
        "01-01301 06-07502 06-08507 08-00803 13-04600 17-03529 17-03531 19-01700 24-01004 "
        "26-02702 28-01100 29-01901 30-00600 32-00405 36-03710 36-04010 38-00100 40-00200 "
        "51-01301 51-51255"
    ),
}


def _nist(name: str, where: str, file: str) -> Dataset:
    return Dataset(
        name=name,
        title=f"NIST Diverse Community Data Excerpts: {where}, American Community Survey 2019",
        citation="C. Task, K. Bhagat and G. S. Howarth, 'SDNist v2: Deidentified Data Report "
        "Tool', National Institute of Standards and Technology, 2023, doi:10.18434/mds2-2943",
        licence="NIST notice; not subject to copyright in the United States",
        file=file,
        default_column="AGEP",
        bounds=_NIST_BOUNDS,
        categories={"PUMA": tuple(_NIST_AREAS[name].split())},
        missing=("N",),
    )


_HU = (
    "J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification Through "
    "Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, 2022"
)


def _population(
    name: str,
    title: str,
    generate: Callable[[], DataFrame],
    bounds: tuple[float, float],
    remark: str | None = None,
) -> Dataset:
    return Dataset(
        name=name,
        title=f"{title}, 10,001 values drawn from a fixed seed",
        citation=f"after {_HU}",
        licence="generated; no restrictions",
        file="",
        default_column=name,
        bounds={name: bounds},
        remarks={} if remark is None else {name: remark},
        step=None,
        generate=generate,
    )


# The paper states no bounds for the lognormal population, whose values are unbounded.
_LOGNORMAL_REMARK = (
    "the paper states no bounds for this population; [0, 2000] is our choice, and for small "
    "epsilon the noise of a median depends on it."
)

DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        each.name: each
        for each in (
            _ADULT,
            _IRISH,
            _CENSUS,
            _nist("nist-ma", "Massachusetts", "nist_ma2019.csv"),
            _nist("nist-tx", "Texas", "nist_tx2019.csv"),
            _nist("nist-national", "National", "nist_national2019.csv"),
            _KMEDIAN_SYNTHETIC,
            _population("beta", "Beta(2, 10)", beta_population, (0, 1)),
            _population(
                "lognormal",
                "Lognormal(5, 0.5)",
                lognormal_population,
                (0, 2000),
                _LOGNORMAL_REMARK,
            ),
            _population("bimodal", "Two beta distributions apart", bimodal_population, (0, 1)),
        )
    }
)


def datasets() -> tuple[Dataset, ...]:
    """Return all registered data sets.

    Examples
    --------
    >>> [each.name for each in datasets()]
    ['adult', 'irish', 'census', 'nist-ma', 'nist-tx', 'nist-national', 'kmedian-synthetic',
     'beta', 'lognormal', 'bimodal']
    """
    return tuple(DATASETS.values())


def dataset(name: str) -> Dataset:
    """Return the registered data set of that name.

    Raises
    ------
    InvalidInput
        If there is none; the message names the nearest.

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
