"""Names are found where the documentation says, and nothing is loaded that is not needed."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import omit

ROOMS = ("disclosure", "laws", "mechanisms", "omissions", "papers", "statistical", "study")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_is_there_and_no_module_hides_it(room: str) -> None:
    package = import_module(f"omit.{room}")
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert package.__all__
    assert not modules & set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)


def test_the_top_has_few_names_and_shows_them_all() -> None:
    assert len(omit.__all__) <= 40
    members = dict(inspect.getmembers(omit))
    assert set(omit.__all__) <= set(members)
    assert not hasattr(omit, "no_such_name")
    assert omit.disclosure.assess is members["disclosure"].assess


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, omit; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"jinja2", "matplotlib", "numba", "numpy", "pandas", "scipy"}


def test_a_bound_is_computed_without_anything_heavy() -> None:
    code = (
        "import sys\n"
        "from omit.cli.main import main\n"
        "try:\n    main(['bound', 'poisson', '--rate', '0.1', '--epsilon', '1'])\n"
        "except SystemExit as end:\n    assert end.code in (0, None)\n"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"jinja2", "matplotlib", "pandas", "scipy.stats"}


def _public() -> list[Any]:
    """Return every public class and function once; values such as relations are of such classes."""
    named = [
        getattr(package, name)
        for package in (omit, *(import_module(f"omit.{room}") for room in ROOMS))
        for name in package.__all__
    ]
    unique: dict[int, Any] = {
        id(value): value for value in named if isinstance(value, type) or callable(value)
    }
    return list(unique.values())


@pytest.mark.parametrize("value", _public(), ids=lambda value: value.__name__)
def test_every_public_class_and_function_has_an_example_that_is_run(
    value: object,
) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(value, globs={})
    assert example.examples


def test_every_public_class_and_function_is_in_the_api_reference() -> None:
    text = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
    shown = re.findall(r"automodule:: ([\w.]+)\n +:members:(.*)", text)
    # Without names, all of a module are shown.
    listed = {
        name
        for module, names in shown
        for name in re.findall(r"\w+", names) or dir(import_module(module))
    }
    assert [value.__name__ for value in _public() if value.__name__ not in listed] == []
