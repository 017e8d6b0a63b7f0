"""What CONTRIBUTING.md and the reference say about files and names is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "omit"

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`\s]+)`", GUIDE) + re.findall(r"\]\(([^)#]+)\)", GUIDE)
PATHS = sorted({name for name in QUOTED if "/" in name or re.search(r"\.(md|pyi?|toml)$", name)})

REFERENCE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
# The names that are shown of a module; an empty text stands for all.
DOCUMENTED = dict(re.findall(r"automodule:: (\S+)\n +:members:(.*)", REFERENCE))


@pytest.mark.parametrize("path", PATHS)
def test_every_path_that_contributors_are_sent_to_exists(path: str) -> None:
    places = [ROOT / path, PACKAGE / path]
    if "/" not in path:  # a file of this name in every folder of a kind
        places += PACKAGE.rglob(path)
    assert any(place.exists() for place in places)


def test_the_house_lists_every_room_and_no_other() -> None:
    house = GUIDE.split("## The house")[1].split("##")[0]
    listed = {
        name
        for line in re.findall(r"^ {4}(\S.*)$", house, re.MULTILINE)
        for name in re.findall(r"\w+", line.split("   ")[0])
    }
    rooms = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert listed == rooms - {"__init__", "__main__"}


@pytest.mark.parametrize(
    "stub", sorted(PACKAGE.rglob("__init__.pyi")), ids=lambda stub: stub.parent.name
)
def test_the_reference_has_every_name_that_a_room_exports(stub: Path) -> None:
    room = ".".join(stub.parent.relative_to(PACKAGE.parent).parts)
    exported = re.findall(r"^from (\.\S+) import (\w+) as", stub.read_text(), re.MULTILINE)
    missing = [
        f"{room}{module}.{name}"
        for module, name in exported
        if name not in re.findall(r"\w+", DOCUMENTED.get(room + module, "nothing") or name)
    ]
    assert not missing
