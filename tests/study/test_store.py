"""The store: what was written stays, whatever happens."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omit
from omit.errors import InvalidInput
from omit.study import store
from omit.study.cell import Finished
from omit.study.store import Stored, open_store, read_store
from tests.study.computations import finished, tosses

CELLS = tosses.grid(tosses=range(5), label="ε", bounds=[(0, 1.5)])


def filled(folder: Path) -> Path:
    """Return the file of a store with four cells of two batches."""
    with open_store(folder) as opened:
        opened.append(finished(*CELLS[:3]))
        opened.append(finished(CELLS[3]))
    return folder / store.NAME


def test_what_was_stored_is_read_as_it_was(tmp_path: Path) -> None:
    filled(tmp_path)
    found = read_store(tmp_path).cells()
    assert list(found) == [cell.identity for cell in CELLS[:4]]
    third = found[CELLS[2].identity]
    assert third.computation == "tosses"
    assert third.version == 1
    assert third.parameters == CELLS[2].parameters
    assert third.rows == ({"answer": 2.1},)
    assert third.seconds == 0.25


def test_a_store_can_be_read_by_whom_the_umask_allows_and_run_by_nobody(tmp_path: Path) -> None:
    code = "import os, sys; os.umask(0o027); from tests.study.test_store import *"
    run_python(f"{code}; filled(Path(sys.argv[1]))", str(tmp_path))
    assert (tmp_path / store.NAME).stat().st_mode & 0o777 == 0o640


def test_only_wanted_cells_are_read(tmp_path: Path) -> None:
    filled(tmp_path)
    wanted = [CELLS[3].identity, CELLS[4].identity]
    assert list(read_store(tmp_path).cells(wanted)) == [CELLS[3].identity]


def test_a_tear_at_any_byte_costs_the_last_transaction_and_nothing_else(tmp_path: Path) -> None:
    before = {cell.identity for cell in CELLS[:3]}
    log = f"{store.NAME}-wal"
    with open_store(tmp_path / "whole") as opened:
        opened.append(finished(*CELLS[:3]))
        end_of_first = (tmp_path / "whole" / log).stat().st_size
        opened.append(finished(CELLS[3]))
        # What a killed run leaves, and a disk that did not write all of it.
        file, whole = ((tmp_path / "whole" / name).read_bytes() for name in (store.NAME, log))
    for size in range(end_of_first, len(whole), 97):
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / store.NAME).write_bytes(file)
        (folder / log).write_bytes(whole[:size])
        assert read_store(folder).identities() == before
        with open_store(folder) as opened:
            assert opened.identities() == before
            opened.append(finished(CELLS[3], CELLS[4]))
        assert len(read_store(folder)) == 5


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Stored]]:
    """Return the file of a store of many pages, and what is in it."""
    folder = tmp_path_factory.mktemp("large")
    cells = tosses.grid(tosses=range(100), label="a label that fills the page")
    with open_store(folder) as opened:
        opened.append(finished(*cells))
    return (folder / store.NAME).read_bytes(), read_store(folder).cells()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(position=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), size=st.integers(1, 600))
def test_damage_never_gives_a_wrong_cell(
    tmp_path: Path,
    large: tuple[bytes, dict[str, Stored]],
    position: float,
    bit: int,
    size: int,
) -> None:
    whole, cells = large
    start = int(position * len(whole))
    damaged = bytearray(whole)
    for place in range(start, min(start + size, len(whole)), 37):
        damaged[place] ^= 1 << bit
    path = tmp_path / store.NAME
    path.write_bytes(damaged)
    try:
        read, message = read_store(tmp_path).cells(), "damaged"
    except InvalidInput as error:
        read, message = {}, str(error)
    # What is still there is what was stored; what is missing is computed again.
    assert read.items() <= cells.items()
    assert any(words in message for words in ("damaged", "is not a store", "has format"))


def test_damage_within_a_cell_is_refused_and_left_alone(
    tmp_path: Path, large: tuple[bytes, dict[str, Stored]]
) -> None:
    damaged = large[0].replace(b"fills the page", b"fills the Page", 1)
    (tmp_path / store.NAME).write_bytes(damaged)
    with pytest.raises(InvalidInput, match="is damaged, which no interrupted run can cause"):
        read_store(tmp_path)
    assert (tmp_path / store.NAME).read_bytes() == damaged


def test_a_store_of_another_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    whole = path.read_bytes()
    expected = f"format 99, and omit {omit.__version__} has format {store.FORMAT}; use the version"
    with pytest.raises(InvalidInput, match=expected), open_store(tmp_path):
        pass
    assert path.read_bytes() == whole


def database_of_somebody_else() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE cells (identity, content, checksum)")
        return connection.serialize()


@pytest.mark.parametrize(
    "content", [b"\n", b"a,b\n1,2\n", bytes(3000), database_of_somebody_else()]
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / store.NAME
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="is not a store of results"):
        read_store(tmp_path)
    with pytest.raises(InvalidInput, match="is not a store of results"), open_store(tmp_path):
        pass
    assert path.read_bytes() == content


def test_nothing_is_unpickled_from_a_store() -> None:
    source = Path(store.__file__).read_text(encoding="utf-8")
    assert "pickle" not in source
    assert "eval" not in source


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InvalidInput, match=r"such as thesis\.tex"), open_store(tmp_path):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InvalidInput, match="not a file"), open_store(tmp_path / "thesis.tex"):
        pass
    with pytest.raises(InvalidInput, match="not a file"), open_store(tmp_path / "thesis.tex" / "a"):
        pass


def test_a_store_whose_making_was_interrupted_is_made(tmp_path: Path) -> None:
    (tmp_path / store.NAME).touch()
    assert len(read_store(tmp_path)) == 0
    filled(tmp_path)
    assert len(read_store(tmp_path)) == 4


def test_a_full_disk_is_a_sentence_and_the_store_is_unharmed(tmp_path: Path) -> None:
    filled(tmp_path)
    before = read_store(tmp_path)
    large = [Finished(CELLS[4], ({"answer": "x" * 100_000},), 0.25)]
    with open_store(tmp_path) as opened:
        opened._connection.execute("PRAGMA max_page_count = 8")  # as if the disk had no more
        with pytest.raises(InvalidInput, match="disk is full; what it had before is unharmed"):
            opened.append(large)
        assert read_store(tmp_path) == before
        opened._connection.execute("PRAGMA max_page_count = 1000")
        opened.append(large)
    assert len(read_store(tmp_path)) == 5


def test_a_real_limit_of_the_file_size_is_a_sentence_and_the_store_is_unharmed(
    tmp_path: Path,
) -> None:
    filled(tmp_path)
    before = read_store(tmp_path)
    code = (
        "import resource, sys\n"
        "from tests.study.test_store import CELLS, finished, open_store\n"
        "from omit.errors import InvalidInput\n"
        "with open_store(sys.argv[1]) as opened:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))\n"
        "    try: opened.append(finished(CELLS[4]))\n"
        "    except InvalidInput as error: print(error)\n"
    )
    done = run_python(code, str(tmp_path))
    assert "disk I/O error; what it had before is unharmed" in done
    assert read_store(tmp_path) == before


def test_a_finished_study_is_read_from_a_disk_that_cannot_be_written(tmp_path: Path) -> None:
    """In a process without the rights of root, if tests run as root."""
    folder = tmp_path / "store"
    path = filled(folder)
    for each in (*tmp_path.parents[:3], tmp_path):
        if each.owner() == tmp_path.owner():
            each.chmod(each.stat().st_mode | 0o055)
    path.chmod(0o444)
    folder.chmod(0o555)
    code = (
        "import os, sys\n"
        "from tests.study.test_store import CELLS, finished, open_store, read_store\n"
        "from omit.errors import InvalidInput\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "print(len(read_store(sys.argv[1])))\n"
        "try:\n"
        "    with open_store(sys.argv[1]) as opened: opened.append(finished(CELLS[4]))\n"
        "except InvalidInput as error: print(error)\n"
    )
    try:
        number, sentence = run_python(code, str(folder)).splitlines()
    finally:
        folder.chmod(0o755)
    assert number == "4"
    assert sentence.startswith(f"Cannot write to the store {folder}: ")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_made_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with (
        pytest.raises(InvalidInput, match=f"Cannot write .*: {os.strerror(number)}"),
        open_store(tmp_path / "new"),
    ):
        pass


def test_several_runs_add_to_one_store_and_read_it_meanwhile(tmp_path: Path) -> None:
    with open_store(tmp_path) as first, open_store(tmp_path) as second:
        first.append(finished(*CELLS[:3]))
        second.append(finished(*CELLS[2:4]))
        assert len(read_store(tmp_path)) == 4
        first.append(finished(CELLS[4]))
        assert second.identities() == {cell.identity for cell in CELLS}
    assert read_store(tmp_path).cells()[CELLS[2].identity].rows == ({"answer": 2.1},)


def test_the_store_of_a_killed_process_goes_on(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from tests.study.test_store import CELLS, finished, open_store\n"
        "with open_store(sys.argv[1]) as opened:\n"
        "    opened.append(finished(CELLS[0]))\n"
        "    opened._connection.execute('BEGIN IMMEDIATE')\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, env=with_this_path()
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert len(read_store(tmp_path)) == 1
        process.kill()
    with open_store(tmp_path) as opened:
        opened.append(finished(CELLS[1]))
    assert len(read_store(tmp_path)) == 2


def run_python(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=with_this_path(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def with_this_path() -> dict[str, str]:
    """Return an environment in which another Python finds what this one has."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
