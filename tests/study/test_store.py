"""The store: what was written stays, whatever happens."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omit
from omit.errors import InvalidInput
from omit.study import lock, store
from omit.study.records import contents, header, record
from omit.study.store import open_store, read_store
from tests.study.computations import finished, tosses

CELLS = tosses.grid(tosses=range(5), label="ε", bounds=[(0, 1.5)])


def filled(folder: Path) -> Path:
    """Return the file of a store with four cells in two records."""
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
    for name in (store.NAME, lock.NAME):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o640


def test_only_wanted_cells_are_read(tmp_path: Path) -> None:
    filled(tmp_path)
    wanted = [CELLS[3].identity, CELLS[4].identity]
    assert list(read_store(tmp_path).cells(wanted)) == [CELLS[3].identity]


def test_a_tear_at_any_byte_costs_the_last_record_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # the disk is not what is tested here
    path = filled(tmp_path)
    whole = path.read_bytes()
    end_of_first = whole[:-1].rindex(b"\n") + 1
    before = [cell.identity for cell in CELLS[:3]]
    for size in range(end_of_first, len(whole)):
        path.write_bytes(whole[:size])
        assert list(read_store(tmp_path).cells()) == before
        assert path.stat().st_size == size  # reading changes nothing
        with open_store(tmp_path) as opened:
            assert opened.found.identities() == set(before)
            assert path.stat().st_size == end_of_first
            opened.append(finished(CELLS[3], CELLS[4]))
        assert list(read_store(tmp_path).cells()) == [cell.identity for cell in CELLS]


@given(
    labels=st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True),
    cut=st.floats(0, 1, exclude_max=True),
    garbage=st.binary(max_size=40),
)
def test_a_torn_record_is_known_whatever_follows_it(
    labels: list[str], cut: float, garbage: bytes
) -> None:
    first = header() + record(finished(*CELLS[:2]))
    last = record(finished(*tosses.grid(label=labels)))
    torn = first + last[: int(cut * len(last))] + garbage
    if torn.startswith(first + last):
        return
    found = contents(torn, "x")
    assert found.end == len(first)
    assert [each.identities for each in found.records] == [
        tuple(cell.identity for cell in CELLS[:2])
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_damage_before_the_last_record_is_refused_and_left_alone(
    tmp_path: Path, place: float, bit: int
) -> None:
    path = filled(tmp_path / "store") if not (tmp_path / "store").exists() else None
    path = path or tmp_path / "store" / store.NAME
    whole = path.read_bytes()
    start, end = whole.index(b"\n") + 1, whole[:-1].rindex(b"\n") + 1
    position = start + int(place * (end - start))
    damaged = bytearray(whole)
    damaged[position] ^= 1 << bit
    path.write_bytes(damaged)
    try:
        with pytest.raises(InvalidInput, match=f"damaged at byte {start}"):
            read_store(path.parent)
        with pytest.raises(InvalidInput, match="damaged"), open_store(path.parent):
            pass
        assert path.read_bytes() == damaged
    finally:
        path.write_bytes(whole)


def test_a_store_of_another_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = filled(tmp_path)
    said = b"omit-study " + json.dumps({"format": 2, "omit": "9.9.9"}).encode()
    line = hashlib.blake2b(said, digest_size=8).hexdigest().encode() + b" " + said + b"\n"
    path.write_bytes(line + b"whatever that format has")
    expected = f"format 2, written by omit 9.9.9, and omit {omit.__version__} has format 1"
    with pytest.raises(InvalidInput, match=expected), open_store(tmp_path):
        pass
    assert path.read_bytes() == line + b"whatever that format has"


@pytest.mark.parametrize("content", [b"", b"\n", b"a,b\n1,2\n", bytes(3000), header()[:-1]])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / store.NAME
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="is not a store of results"), open_store(tmp_path):
        pass
    assert path.read_bytes() == content


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
    (tmp_path / f"{store.NAME}.unfinished").write_bytes(header()[:5])
    (tmp_path / lock.NAME).touch()
    assert len(read_store(tmp_path)) == 0
    filled(tmp_path)
    assert len(read_store(tmp_path)) == 4


def test_a_full_disk_is_a_sentence_and_the_store_is_unharmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()
    really_write = os.write

    def write(handle: int, data: memoryview) -> int:
        if len(data) <= 50:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really_write(handle, data[: len(data) - 50])

    with open_store(tmp_path) as opened:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", write)
            with pytest.raises(InvalidInput, match="No space left on device; what it had before"):
                opened.append(finished(CELLS[4]))
            assert path.read_bytes() == whole
        opened.append(finished(CELLS[4]))
    assert len(read_store(tmp_path)) == 5


def test_a_real_limit_of_the_file_size_is_a_sentence_and_the_store_is_unharmed(
    tmp_path: Path,
) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()
    code = (
        "import resource, sys\n"
        "from tests.study.test_store import CELLS, finished, open_store\n"
        "from omit.errors import InvalidInput\n"
        "with open_store(sys.argv[1]) as opened:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]) + 40,) * 2)\n"
        "    try: opened.append(finished(CELLS[4]))\n"
        "    except InvalidInput as error: print(error)\n"
    )
    done = run_python(code, str(tmp_path), str(len(whole)))
    assert "File too large; what it had before is unharmed" in done
    assert path.read_bytes() == whole


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_place_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()

    def refuse(*arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with (
        pytest.raises(InvalidInput, match=f"Cannot write .*: {os.strerror(number)}"),
        open_store(tmp_path),
    ):
        pass
    assert path.read_bytes() == whole
    assert len(read_store(tmp_path)) == 4  # and it can still be read


def test_a_second_run_is_told_who_has_the_store(tmp_path: Path) -> None:
    with open_store(tmp_path) as opened:
        with (
            pytest.raises(InvalidInput, match=f"in use by process {os.getpid()} on .* since "),
            open_store(tmp_path),
        ):
            pass
        with pytest.raises(InvalidInput, match="in use"), open_store(tmp_path / "."):
            pass
        opened.append(finished(CELLS[0]))
        assert len(read_store(tmp_path)) == 1  # reading is allowed
    with open_store(tmp_path) as opened:
        assert len(opened.found) == 1


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from tests.study.test_store import CELLS, finished, open_store\n"
        "with open_store(sys.argv[1]) as opened:\n"
        "    opened.append(finished(CELLS[0]))\n"
        "    print('holding', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, env=with_this_path()
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with (
            pytest.raises(InvalidInput, match=f"in use by process {process.pid}"),
            open_store(tmp_path),
        ):
            pass
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
