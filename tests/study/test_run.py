"""Running a study: only what is missing, and whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from omit.cli.main import main
from omit.errors import InvalidInput, StudyFailed, StudyInterrupted
from omit.study.cell import Computation
from omit.study.results import read_results
from omit.study.run import Progress, run_study
from omit.study.store import NAME, read_store
from tests.study.computations import (
    _toss,
    fragile,
    logged,
    matrix_mean,
    powers,
    threads,
    tosses,
    unprepared,
)
from tests.study.test_store import with_this_path

pytestmark = pytest.mark.slow

STUDY = matrix_mean.grid(data=["a", "b"], scale=range(20), pause=0.02)


def stored(folder: Path) -> list[str]:
    """Return the identities in a store in the order in which they were stored."""
    return list(read_store(folder).cells())


def test_a_finished_study_computes_nothing_again(tmp_path: Path) -> None:
    cells = tosses.grid(tosses=range(10))
    first = run_study(cells, tmp_path / "store", "process").to_frame()
    content = (tmp_path / "store" / NAME).read_bytes()
    again = run_study(cells, tmp_path / "store", "process").to_frame()
    pd.testing.assert_frame_equal(first, again)
    assert (tmp_path / "store" / NAME).read_bytes() == content


def test_a_changed_parameter_computes_only_what_it_touches(tmp_path: Path) -> None:
    run_study(tosses.grid(tosses=[1, 2, 3]), tmp_path / "store", "process")
    run_study(tosses.grid(tosses=[2, 3, 4]), tmp_path / "store", "process")
    assert stored(tmp_path / "store") == [
        tosses.cell(tosses=number).identity for number in (1, 2, 3, 4)
    ]


def test_a_raised_version_computes_again(tmp_path: Path) -> None:
    run_study([tosses.cell(tosses=1)], tmp_path / "store", "process")
    second = Computation("tosses", 2, _toss).cell(tosses=1)
    results = run_study([second], tmp_path / "store", "process")
    assert len(results) == 1
    assert len(read_results(tmp_path / "store")) == 2


def test_results_depend_neither_on_the_order_nor_on_the_company_of_cells(tmp_path: Path) -> None:
    together = run_study(STUDY[:6], tmp_path / "together", "process")
    for cell in reversed(STUDY[:6]):
        run_study([cell], tmp_path / "apart", "process")
    apart = read_results(tmp_path / "apart", STUDY[:6])
    pd.testing.assert_frame_equal(together.to_frame(), apart.to_frame(), check_exact=True)


def test_what_cells_share_is_prepared_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cells = logged.grid(i=range(50), data=["a", "b", "c"], log=str(log))
    results = run_study(cells, tmp_path / "store", "process")
    assert sorted(log.read_text().split()) == ["a", "b", "c"]
    assert all(results.row(cell)["data used"] == cell.parameters["data"] for cell in cells)


def test_a_preparation_that_fails_is_tried_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cells = unprepared.grid(log=str(log), tosses=range(5))
    results = run_study(cells, tmp_path / "store", "process", failures="return")
    assert log.read_text().split() == ["tried"]
    assert [failure.reason for failure in results.failures] == ["ValueError: no such data"] * 5


def test_cells_that_fail_are_told_and_the_others_go_on(tmp_path: Path) -> None:
    cells = fragile.grid(number=range(12))
    with pytest.raises(StudyFailed) as caught:
        run_study(cells, tmp_path / "store", "process")
    assert str(caught.value) == (
        "4 of 12 cells could not be computed, all others are stored, and running again tries only "
        "these: fragile: number=1: ZeroDivisionError: cannot divide by 1; fragile: number=4: "
        "ZeroDivisionError: cannot divide by 4; fragile: number=7: ZeroDivisionError: cannot "
        "divide by 7; and 1 more."
    )
    assert len(caught.value.failures) == 4
    assert len(read_store(tmp_path / "store")) == 8
    results = run_study(cells, tmp_path / "store", "process", failures="return")
    assert len(results) == 8
    assert "_fragile" in results.failures[0].details


def _wrong_column(parameters: object, prepared: object, rng: object) -> object:
    return {"x": 1}


def _no_rows(parameters: object, prepared: object, rng: object) -> object:
    return 3


def _leaving(parameters: object, prepared: object, rng: object) -> object:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_wrong_column, "returned a column 'x'"),
        (_no_rows, "to return a row or a list of rows, got 3"),
        (_leaving, "SystemExit: 3"),
    ],
)
def test_an_answer_that_is_no_table_is_a_failure(
    tmp_path: Path, function: object, reason: str
) -> None:
    wrong = Computation("wrong", 1, function)  # type: ignore[arg-type]
    with pytest.raises(StudyFailed, match=reason):
        run_study([wrong.cell(x=1)], tmp_path / "store", "process")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[Progress] = []
    run_study(STUDY[:3], tmp_path / "store", "process")
    run_study(STUDY[:30], tmp_path / "store", "process", progress=told.append)
    assert (told[0].done, told[0].stored_before, told[0].total) == (3, 3, 30)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].done, told[-1].remaining) == (30, 0)
    told.clear()
    run_study(STUDY[:30], tmp_path / "store", "process", progress=told.append)
    assert [(each.done, each.total, each.remaining) for each in told] == [(30, 30, 0)]


@pytest.mark.parametrize("where", ["process", "cores:2"])
def test_an_interrupted_study_says_how_to_go_on(tmp_path: Path, where: str) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(StudyInterrupted, match=r"of 40 cells are stored in .*store, and running"):
        run_study(STUDY, tmp_path / "store", where, progress=interrupt)
    before = len(read_store(tmp_path / "store"))
    assert 5 <= before < 40
    resumed = run_study(STUDY, tmp_path / "store", "process")
    assert len(resumed) == 40
    assert resumed.wall_times[-1].cells == 40 - before  # none was computed twice


def test_the_command_line_ends_an_interrupted_study_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**_: object) -> None:
        raise StudyInterrupted("Interrupted: 3 of 4 cells are stored.")

    monkeypatch.setattr("omit.cli.main.app", interrupted)
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 130
    assert capsys.readouterr().err == "Interrupted: 3 of 4 cells are stored.\n"


RUN = """
import sys
from omit.errors import OmitError
from omit.study.run import run_study
from tests.study.test_run import STUDY
try:
    run_study(STUDY, sys.argv[1], sys.argv[2], progress=lambda now: print(now.done, flush=True))
except OmitError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def stopped(folder: Path, where: str, number: int, after: int = 1) -> str:
    """Run the study in another process, send it a signal, and return what was written to stderr.

    The signal comes when so many cells are stored. Ctrl-C goes to workers too, as in a terminal;
    they must end by themselves if only the process that runs the study is killed.
    """
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder), where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=with_this_path(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if int(line) >= after:
                time.sleep(0.0 if after else 0.3)  # when workers are still importing
                if number == signal.SIGINT:
                    os.killpg(process.pid, number)
                else:
                    process.send_signal(number)
                break
        process.stdout.read()
        errors = process.stderr.read()
    assert process.returncode != 0
    return errors


@pytest.mark.parametrize("where", ["process", "cores:2"])
def test_a_killed_study_goes_on_and_ends_with_the_same_table(tmp_path: Path, where: str) -> None:
    stopped(tmp_path / "store", where, signal.SIGKILL)
    before = len(read_store(tmp_path / "store"))
    assert 0 < before < 40
    resumed = run_study(STUDY, tmp_path / "store", where)
    assert [time.cells for time in resumed.wall_times] == [40 - before]  # none was computed twice
    whole = run_study(STUDY, tmp_path / "other", "process")
    pd.testing.assert_frame_equal(resumed.to_frame(), whole.to_frame(), check_exact=True)


@pytest.mark.parametrize(
    ("where", "after"),
    [("process", 1), ("cores:2", 1), ("local:2", 1), ("cores:2", 0), ("local:2", 0)],
)
def test_ctrl_c_is_one_sentence(tmp_path: Path, where: str, after: int) -> None:
    """Also before the first cell is stored, when workers are still importing."""
    if where.startswith("local"):
        pytest.importorskip("distributed")
    errors = stopped(tmp_path / "store", where, signal.SIGINT, after)
    assert errors.startswith("StudyInterrupted: Interrupted: ")
    assert errors.count("\n") == 1
    before = len(read_store(tmp_path / "store"))
    assert f" {before} of 40 cells are stored in {tmp_path / 'store'}" in errors
    resumed = run_study(STUDY, tmp_path / "store", "process")
    assert resumed.wall_times[-1].cells == 40 - before  # none was computed twice
    whole = run_study(STUDY, tmp_path / "whole", "process")
    pd.testing.assert_frame_equal(resumed.to_frame(), whole.to_frame(), check_exact=True)


def test_of_two_runs_at_once_on_one_store_neither_harms_the_other(tmp_path: Path) -> None:
    seconds: list[subprocess.CompletedProcess[str]] = []

    def run_also(now: Progress) -> None:
        if now.done and not seconds:
            seconds.append(
                subprocess.run(
                    [sys.executable, "-c", RUN, str(tmp_path / "store"), "cores:2"],
                    env=with_this_path(),
                    capture_output=True,
                    text=True,
                    check=False,
                )
            )

    results = run_study(STUDY, tmp_path / "store", "process", progress=run_also)
    assert (seconds[0].returncode, seconds[0].stderr) == (0, "")
    assert len(results) == len(read_store(tmp_path / "store")) == 40
    whole = run_study(STUDY, tmp_path / "whole", "process")
    pd.testing.assert_frame_equal(results.to_frame(), whole.to_frame(), check_exact=True)


def test_two_runs_that_begin_at_the_same_moment_make_one_store(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, str(tmp_path / "store"), "process"],
            env=with_this_path(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    assert [process.communicate()[1] for process in processes] == ["", "", ""]
    assert len(read_store(tmp_path / "store")) == 40


def test_a_store_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    cells = tosses.grid(tosses=range(6))
    run_study(cells[:3], tmp_path / "link", "process")
    assert stored(tmp_path / "elsewhere") == [cell.identity for cell in cells[:3]]
    run_study(cells, tmp_path / "link", "process")
    assert stored(tmp_path / "elsewhere") == [cell.identity for cell in cells]
    assert (tmp_path / "link").is_symlink()


def test_the_wall_times_of_a_study_are_those_of_its_own_runs(tmp_path: Path) -> None:
    cells = tosses.grid(tosses=range(6))
    few = run_study(cells[:2], tmp_path / "store", "process")
    run_study(cells, tmp_path / "store", "process")
    again = run_study(cells, tmp_path / "store", "process")  # only reads, and does not count
    assert [time.cells for time in few.wall_times] == [2]
    assert [time.cells for time in again.wall_times] == [4]
    assert again.wall_times == read_results(tmp_path / "store", reversed(cells)).wall_times
    assert 0 < again.wall_times[0].seconds < 60


COMPILED = """
import sys
from omit.study.run import run_study
from tests.study.compiled import harmonic, totals
cells = totals.grid(terms=[10, 1000, 4097], scale=[0.1, 7])
results = run_study(cells, sys.argv[1], "process")
print([results.row(cell)["total"].hex() for cell in cells], sum(harmonic.stats.cache_hits.values()))
"""


def test_a_loop_compiled_now_and_one_compiled_before_give_the_same_bits(tmp_path: Path) -> None:
    printed = []
    for store in ("cold", "warm"):
        done = subprocess.run(
            [sys.executable, "-c", COMPILED, str(tmp_path / store)],
            env=with_this_path() | {"NUMBA_CACHE_DIR": str(tmp_path / "compiled")},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(done.stdout.rsplit(" ", 1))
    (cold, cold_hits), (warm, warm_hits) = printed
    assert (int(cold_hits), int(warm_hits)) == (0, 1)
    assert cold == warm
    assert cold.count("0x1.") == 6


def test_a_cell_has_one_thread_and_the_process_gets_its_threads_back(tmp_path: Path) -> None:
    import numba
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    before = [each["num_threads"] for each in threadpool_info()], numba.get_num_threads()
    results = run_study([threads.cell()], tmp_path / "store", "process")
    assert results.row(threads.cell()) == {"most threads": 1}
    assert ([each["num_threads"] for each in threadpool_info()], numba.get_num_threads()) == before


def test_an_empty_study_is_an_empty_table(tmp_path: Path) -> None:
    assert run_study([], tmp_path / "store").to_frame().empty
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "where",
    [
        *("moon", "cores:0", "cores:", "local", "local:x", "local:-1", "process:2", "local:99999"),
        *(
            "",
            " ",
            "http://a:1",
            "tcp://",
            "tcp://127.0.0.1",
            "tcp://127.0.0.1:port",
            "tcp://:8786",
        ),
    ],
)
def test_a_place_that_is_none_is_refused_and_no_store_is_made(tmp_path: Path, where: str) -> None:
    cells = powers.grid(base=[1])
    with pytest.raises(InvalidInput, match=f"Expected {where!r}"):
        run_study(cells, tmp_path / "store", where)
    assert not (tmp_path / "store").exists()
    run_study(cells, tmp_path / "store", "process")
    with pytest.raises(InvalidInput, match=f"Expected {where!r}"):  # also if nothing is missing
        run_study(cells, tmp_path / "store", where)


def test_bad_arguments_are_refused_before_anything_is_stored(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="failures='ignore'"):
        run_study(powers.grid(base=[1]), tmp_path / "store", failures="ignore")  # type: ignore[arg-type]
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"cells": 1}, "several cells"),
        ({"cells": "cells"}, "several cells"),
        ({"store": float("inf")}, "folder of a store"),
        ({"store": b"store"}, "folder of a store"),
        ({"failures": pd.DataFrame({"a": [1, 2]})}, "failures="),
    ],
)
def test_a_study_of_what_are_no_cells_or_no_folder_is_refused(
    tmp_path: Path, named: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        run_study(
            **{"cells": powers.grid(base=[1]), "store": tmp_path, "where": "process", **named}
        )


@pytest.mark.parametrize("shared", [3, "base", [1]])
def test_shared_parameters_are_several_names(shared: Any) -> None:
    with pytest.raises(InvalidInput, match=r"texts as shared|shared\[0\]"):
        Computation("tosses", 1, _toss, shared=shared)
