"""Dask clusters, with real worker processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import omit
from omit.errors import InvalidInput
from omit.study import run, workers
from omit.study.batch import Batch, Environment, OtherEnvironment
from omit.study.run import Progress, run_study
from omit.study.store import read_store
from tests.study.computations import deadly, matrix_mean, threads
from tests.study.test_run import RUN
from tests.study.test_store import with_this_path

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")

QUIET: dict[str, Any] = {
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
}
CELLS = (*matrix_mean.grid(data=["a", "b"], scale=range(15), pause=0.03), threads.cell())


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return a cluster of two worker processes."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **QUIET) as made:
        yield made


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Return the table as this process computes it."""
    return run_study(CELLS, tmp_path_factory.mktemp("here") / "store", "process").to_frame()


def test_results_on_a_cluster_are_those_in_this_process_bit_for_bit(
    cluster: Any, expected: pd.DataFrame, tmp_path: Path
) -> None:
    found = run_study(CELLS, tmp_path / "store", cluster.scheduler_address).to_frame()
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_killed_worker_costs_time_only(
    cluster: Any, expected: pd.DataFrame, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(now: Progress) -> None:
        if now.done and not killed:
            with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
                killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    results = run_study(CELLS, tmp_path / "store", cluster.scheduler_address, progress=kill)
    assert killed
    pd.testing.assert_frame_equal(results.to_frame(), expected, check_exact=True)


def test_an_interrupted_study_goes_on_elsewhere(
    cluster: Any, expected: pd.DataFrame, tmp_path: Path
) -> None:
    def interrupt(now: Progress) -> None:
        if now.done > 3:
            raise KeyboardInterrupt

    with pytest.raises(omit.StudyInterrupted, match="cells are stored"):
        run_study(CELLS, tmp_path / "store", cluster.scheduler_address, progress=interrupt)
    assert 3 < len(read_store(tmp_path / "store")) < len(CELLS)
    found = run_study(CELLS, tmp_path / "store", "process").to_frame()
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_cluster_is_made_for_the_run(tmp_path: Path) -> None:
    cells = matrix_mean.grid(data=["a"], scale=range(3))
    found = run_study(cells, tmp_path / "store", "local:1").to_frame()
    here = run_study(cells, tmp_path / "here", "process").to_frame()
    pd.testing.assert_frame_equal(found, here, check_exact=True)


def test_a_cell_that_kills_every_worker_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    culprit = deadly.cell(number=4, dies=True, remember="")
    cells = (*deadly.grid(number=range(4), dies=False, remember=""), culprit)
    results = run_study(cells, tmp_path / "store", "local:2", failures="return")
    assert [failure.cell for failure in results.failures] == [culprit]
    assert len(results) == 4


def test_a_cluster_that_cannot_be_reached_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_CONNECT_SECONDS", 0.5)
    with socket.socket() as taken:  # nobody listens there
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InvalidInput, match=f"Cannot reach a Dask scheduler at {address}"):
            run_study(CELLS, tmp_path / "store", address)
    assert not (tmp_path / "store").exists()


@pytest.fixture
def scheduler() -> Iterator[str]:
    """Return the address of a scheduler without workers."""
    with distributed.LocalCluster(n_workers=0, **QUIET) as made:
        yield made.scheduler_address


@pytest.mark.parametrize("address", ["tls://127.0.0.1:1", "wss://127.0.0.1:1"])
def test_an_encrypted_address_without_certificates_is_a_sentence(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(InvalidInput, match="needs certificates"):
        run_study(CELLS, tmp_path / "store", address)
    assert not (tmp_path / "store").exists()


def test_a_cluster_without_workers_is_a_sentence(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_FIRST_WORKER_SECONDS", 0.5)
    with pytest.raises(InvalidInput, match="has no workers; start some"):
        run_study(CELLS, tmp_path / "store", scheduler)


@pytest.fixture
def worker() -> Iterator[Any]:
    """Return a function that starts a worker process on another path."""
    started: list[subprocess.Popen[bytes]] = []

    def start(scheduler: str, first_on_path: Path | None = None) -> subprocess.Popen[bytes]:
        environment = with_this_path()
        if first_on_path is not None:
            path = environment["PYTHONPATH"]
            environment["PYTHONPATH"] = f"{first_on_path}{os.pathsep}{path}"
        words = ["-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--no-dashboard"]
        started.append(
            subprocess.Popen(
                [sys.executable, *words, "--nthreads", "1", "--host", "127.0.0.1"],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.wait()


def test_workers_with_another_version_are_refused(
    scheduler: str, worker: Any, tmp_path: Path
) -> None:
    package = shutil.copytree(Path(omit.__file__).parent, tmp_path / "other" / "omit")
    front = package / "__init__.py"
    front.write_text(front.read_text().replace(f'"{omit.__version__}"', '"9.9.9"'))
    worker(scheduler, tmp_path / "other")
    expected = f"has omit 9.9.9 instead of omit {omit.__version__}; its results could differ"
    with pytest.raises(OtherEnvironment, match=expected):
        run_study(CELLS, tmp_path / "store", scheduler)
    assert len(read_store(tmp_path / "store")) == 0


def test_workers_without_the_package_are_refused(
    scheduler: str, worker: Any, tmp_path: Path
) -> None:
    (tmp_path / "other" / "omit").mkdir(parents=True)
    (tmp_path / "other" / "omit" / "__init__.py").touch()
    worker(scheduler, tmp_path / "other")
    with pytest.raises(OtherEnvironment, match=f"has no omit {omit.__version__}"):
        run_study(CELLS, tmp_path / "store", scheduler)


def test_a_cluster_that_loses_all_workers_is_a_sentence(
    scheduler: str, worker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_NO_WORKER_SECONDS", 0.5)
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(run, "LOOK_SECONDS", 0.2)
    only = worker(scheduler)

    def kill(now: Progress) -> None:
        if now.done:
            only.kill()

    with pytest.raises(InvalidInput, match=r"has had no workers for 0\.5 s; what was finished"):
        run_study(CELLS, tmp_path / "store", scheduler, progress=kill)
    assert len(read_store(tmp_path / "store")) > 0


@pytest.fixture
def own_scheduler(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Return a scheduler in a process of its own, and its address."""
    said = tmp_path / "scheduler.json"
    words = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, *words, "--no-dashboard", "--scheduler-file", str(said)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while not said.exists() or not said.read_text().endswith("}"):
            assert process.poll() is None
            time.sleep(0.05)
        yield process, json.loads(said.read_text())["address"]
        process.kill()


def test_a_scheduler_that_is_killed_is_one_sentence(
    own_scheduler: tuple[subprocess.Popen[bytes], str], worker: Any, tmp_path: Path
) -> None:
    scheduler, address = own_scheduler
    worker(address)
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path / "store"), address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=with_this_path(),
    ) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if int(line) > 0)
        scheduler.kill()
        errors = process.communicate()[1]
    assert errors == (
        f"InvalidInput: The cluster at {address} is gone; what was finished is stored, and running "
        "again goes on from there.\n"
    )
    assert 0 < len(read_store(tmp_path / "store")) < 40


class Lost:
    """A client, and its executor, whose scheduler does not answer any more."""

    def __init__(self, error: Exception, status: str = "running") -> None:
        self.status = status
        self._error = error

    def nthreads(self, *arguments: object, **options: object) -> Any:
        raise self._error

    submit = nthreads


@pytest.mark.parametrize(
    "client",
    [
        Lost(OSError("Timed out trying to connect")),
        Lost(TimeoutError()),
        Lost(distributed.comm.CommClosedError("in <TCP (closed)>")),
        Lost(distributed.CancelledError()),
        Lost(RuntimeError("cannot schedule new futures"), status="closed"),
    ],
)
def test_whatever_a_lost_scheduler_raises_is_a_sentence(client: Any) -> None:
    lost = workers.ClusterWorkers(client, "tcp://x:1")
    batch = Batch((threads.cell(),), "group", "run")
    cancelled: Future[Any] = Future()
    cancelled.cancel()
    calls: tuple[Callable[[], object], ...] = (
        lost.executors,
        lambda: lost.submit(client, batch),
        lambda: lost.outcome(batch, cancelled),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match="The cluster at tcp://x:1 is gone; what was"):
            call()


def test_an_error_of_ours_is_not_blamed_on_the_cluster() -> None:
    lost = workers.ClusterWorkers(Lost(ZeroDivisionError()), "tcp://x:1")
    with pytest.raises(ZeroDivisionError):
        lost.executors()


def test_an_environment_says_what_differs() -> None:
    versions = {"omit": "1", "Python": "3.11", "numpy": "2.0"}

    def environment(code: str = "c", **others: str) -> Environment:
        return Environment(tuple((versions | others).items()), code)

    here = environment()
    assert here.difference(here) is None
    for other, said in (
        (environment("d", omit="2", Python="3.12"), "omit 2 instead of omit 1"),
        (environment("d"), f"omit {omit.__version__} with other code"),
        (environment(Python="3.12"), "Python 3.12 instead of Python 3.11"),
        (environment(numpy="2.1"), "numpy 2.1 instead of numpy 2.0"),
    ):
        assert here.difference(other) == said
    with pytest.raises(OtherEnvironment, match="A worker has omit"):
        replace(Environment.here(), code="another").require_here()
