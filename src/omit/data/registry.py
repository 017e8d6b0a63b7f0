"""Data sets that are known by name, with their origin and what is declared about their columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from omit import _validate
from omit.data.adult import ADULT_BOUNDS, ADULT_CATEGORIES
from omit.data.generated import (
    beta_population,
    bimodal_population,
    kmedian_synthetic,
    lognormal_population,
)
from omit.data.nearest import nearest
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from pandas import DataFrame

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
    missing: tuple[str, ...] = ()
    bundled: bool = False
    point_columns: tuple[str, ...] = ()
    generate: Callable[[], DataFrame] | None = None

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
