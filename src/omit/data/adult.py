"""What is declared about the columns of the bundled data set, Adult.

The bounds are those of the omitting-records paper: Table 1 for age and hours-per-week, its
experiment code for the others. The categories are those of the public description that comes with
the data (`adult.names`), in its order and spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


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
