"""Those who compute batches: this process, its cores, or a Dask cluster.

| where | meaning |
| --- | --- |
| ``process`` | in this process |
| ``cores``, ``cores:4`` | on all cores of this machine, or on four, in processes of their own |
| ``local:4`` | on a Dask cluster of four worker processes, made for the run |
| ``tcp://host:8786`` | on a Dask cluster that is there, by the address of its scheduler |

A worker is an executor of `concurrent.futures` that is given one batch at a time. So it is known
which worker has prepared which group of cells, and whose batch is lost when a worker dies.
(joblib's own Dask backend is not used: in joblib 1.6 it waits for ever once Dask has given up a
task.)
"""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

from omit import __version__
from omit._text import import_extra
from omit._validate import shown
from omit.errors import InvalidInput
from omit.study import batch as batches
from omit.study.batch import Batch, Environment, OtherEnvironment, Outcome

# How often to look whether workers of a cluster have come or gone.
LOOK_SECONDS = 2.0
# How long a pool may take to begin with what it was given; usually a thousandth of that.
_TAKEN_SECONDS = 1.0
# How long to wait for a scheduler to answer, for a first worker, and for one to come back.
_CONNECT_SECONDS = 10.0
_FIRST_WORKER_SECONDS = 30.0
_NO_WORKER_SECONDS = 60.0
# A cluster of our own has no dashboard, and leaves it to the run what to do after a death.
_SCHEDULER = {"dashboard": False, "allowed_failures": 0}
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:[0-9]{1,5}(/\S*)?")
_CHOICES = "process, cores, cores:N, local:N or the address of a Dask scheduler, tcp://host:port"


class Workers:
    """Executors that take one batch each at a time."""

    def __init__(self, executors: Sequence[Executor] = ()) -> None:
        self._executors = executors

    def executors(self) -> Sequence[Executor]:
        """Return the executors that there are now; those of a cluster come and go."""
        return self._executors

    def submit(self, executor: Executor, batch: Batch) -> Future[Outcome]:
        """Let an executor compute a batch."""
        return executor.submit(batches.compute_batch, batch, Environment.here())

    def outcome(self, batch: Batch, future: Future[Outcome]) -> Outcome | None:
        """Return the outcome of a batch; None if its worker died.

        `InvalidInput` is raised if the worker could not even begin.
        """
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, BrokenProcessPool):
            return None
        if isinstance(error, OtherEnvironment):
            raise error
        name = batch.cells[0].computation.name
        raise InvalidInput(
            f"A worker could not take cells of {name!r} ({type(error).__name__}: {error}); what "
            "computes them must be importable there."
        ) from error

    def close(self, *, wait: bool) -> None:
        """End the executors, or stop them in whatever they do if nobody waits for it."""
        for executor in self.executors():
            executor.shutdown(wait=wait)


@contextmanager
def _closing(workers: Workers) -> Iterator[Workers]:
    try:
        yield workers
    except BaseException:
        workers.close(wait=False)
        raise
    workers.close(wait=True)


def workers_at(where: str) -> AbstractContextManager[Workers]:
    """Return the workers that a text names, for as long as they are needed.

    Nothing is started before the block is entered. A text that names none is refused.

    Examples
    --------
    >>> with workers_at("process") as workers:
    ...     len(workers.executors())
    1
    """
    kind, _, count = str(where).partition(":")
    if where == "process":
        return _in_process()
    if kind == "cores":
        return _on_cores(_count(where, count) if count or where != kind else None)
    if kind == "local":
        return _on_own_cluster(_count(where, count))
    if _ADDRESS.fullmatch(str(where)):
        return _on_cluster(where)
    raise InvalidInput(f"Expected {shown(where)} to be one of: {_CHOICES}.")


def _count(where: str, count: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,3}", count, re.ASCII):
        raise InvalidInput(f"Expected {shown(where)} to end in a number of workers from 1 to 9999.")
    return int(count)


class InProcess(Executor):
    """An executor that computes in this process, while a task is submitted."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a future that is done."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give back the memory that preparations take."""
        batches.clear_preparations()


@contextmanager
def _in_process() -> Iterator[Workers]:
    # Batches limit threads for good; afterwards this process gets its own back.
    with batches.one_thread(), _closing(Workers([InProcess()])) as workers:
        yield workers


class OneProcess(Executor):
    """An executor of one process (joblib's loky), started when it is needed, and after a death."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._last: Future[Any] | None = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a task in the process."""
        with workers_not_interrupted():
            self._last = self._submitted(function, *args, **kwargs)
        return self._last

    def _submitted(self, *task: Any, **kwargs: Any) -> Future[Any]:
        from joblib.externals.loky import ProcessPoolExecutor

        if self._pool is not None:
            try:
                future: Future[Any] = self._pool.submit(*task, **kwargs)
                return future
            except BrokenProcessPool:
                self.shutdown()
        self._pool = ProcessPoolExecutor(max_workers=1, initializer=_serve, initargs=(os.getpid(),))
        future = self._pool.submit(*task, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the process, if there is one: at once if nobody waits for its task."""
        if self._pool is not None:
            if not wait:
                self._wait_until_taken()
            self._pool.shutdown(wait=True, kill_workers=not wait)
            self._pool = self._last = None

    def _wait_until_taken(self) -> None:
        """Wait a moment for the pool to take the last task from its own queue.

        A pool that is killed before (in joblib 1.6) writes the traceback of its thread.
        """
        deadline = time.monotonic() + _TAKEN_SECONDS
        while self._last is not None and time.monotonic() < deadline:
            if self._last.running() or self._last.done():
                return
            time.sleep(0.001)


def _serve(parent: int) -> None:
    """Let this process end when its parent does: not by Ctrl-C, and even if that was killed."""
    ignore_interrupts()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _on_cores(count: int | None) -> Iterator[Workers]:
    import joblib

    executors = [OneProcess() for _ in range(count or joblib.cpu_count())]
    with _closing(Workers(executors)) as workers:
        yield workers


class ClusterWorkers(Workers):
    """Workers of a Dask cluster; one executor for every thread of a worker."""

    def __init__(self, client: Any, address: str) -> None:
        super().__init__()
        self._client = client
        self._address = address
        self._slots: dict[tuple[str, int], Executor] = {}
        self._looked = -float("inf")
        self._seen = time.monotonic()

    def executors(self) -> Sequence[Executor]:
        """Return the executors of the workers that there are now, or say that all are gone."""
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            with _connected(self._client, self._address):
                threads = self._client.nthreads()
            slots = [(worker, thread) for worker in threads for thread in range(threads[worker])]
            self._slots = {slot: self._slots.get(slot) or self._on(slot[0]) for slot in slots}
            self._looked = now
            self._seen = now if slots else self._seen
            if now - self._seen >= _NO_WORKER_SECONDS:
                raise _lost(self._address, f"has had no workers for {_NO_WORKER_SECONDS:g} s")
        return list(self._slots.values())

    def _on(self, worker: str) -> Executor:
        executor: Executor = self._client.get_executor(
            workers=[worker], allow_other_workers=True, pure=False
        )
        return executor

    def submit(self, executor: Executor, batch: Batch) -> Future[Outcome]:
        """Let an executor compute a batch."""
        with _connected(self._client, self._address):
            return super().submit(executor, batch)

    def outcome(self, batch: Batch, future: Future[Outcome]) -> Outcome | None:
        """Return the outcome of a batch; None if its worker died."""
        if future.cancelled():
            raise _lost(self._address)
        if isinstance(future.exception(), _distributed().KilledWorker):
            return None
        return super().outcome(batch, future)

    def close(self, *, wait: bool) -> None:
        """Ask the cluster to forget what was to be done."""
        for executor in self._slots.values():
            with suppress(Exception):  # the scheduler may be gone
                executor.shutdown(wait=wait)


@contextmanager
def _connected(client: Any, address: str) -> Iterator[None]:
    """Say in a sentence that the scheduler is gone, whichever error that is at this moment."""
    try:
        yield
    except InvalidInput:
        raise
    except (_distributed().CancelledError, OSError) as error:
        raise _lost(address) from error
    except Exception as error:
        if client.status in ("running", "connecting"):
            raise
        raise _lost(address) from error


def _lost(address: str, event: str = "is gone") -> InvalidInput:
    return InvalidInput(
        f"The cluster at {address} {event}; what was finished is stored, and running again goes on "
        "from there."
    )


@contextmanager
def _on_cluster(address: str) -> Iterator[Workers]:
    """Compute on the Dask cluster with a scheduler at this address."""
    distributed = _distributed()
    # Dask finds out only when it connects, and then cannot close what it has opened.
    if address.startswith(("tls:", "wss:")) and not _has_certificates():
        raise InvalidInput(
            f"The address {address} is encrypted and needs certificates, which Dask's "
            "configuration (distributed.comm.tls) does not name; name them there, or use tcp://."
        )
    with silenced("distributed"):
        try:
            client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            raise InvalidInput(
                f"Cannot reach a Dask scheduler at {address}; is it running, and is the address "
                "right?"
            ) from error
        with _computing(client, address) as workers:
            yield workers


def _has_certificates() -> bool:
    security: Any = _distributed().Security()
    return security.get_connection_args("client")["ssl_context"] is not None


@contextmanager
def _on_own_cluster(count: int) -> Iterator[Workers]:
    """Compute on a Dask cluster of worker processes on this machine, made for the purpose."""
    distributed = _distributed()
    with ExitStack() as stack:
        stack.enter_context(silenced("distributed"))
        # Workers, also those that come later, are started by threads that begin here.
        with workers_not_interrupted():
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs=_SCHEDULER,
                    silence_logs=logging.CRITICAL,
                )
            )
        client = distributed.Client(cluster, set_as_default=False)
        yield stack.enter_context(_computing(client, f"local:{count}"))


@contextmanager
def _computing(client: Any, address: str) -> Iterator[Workers]:
    with client, client.as_current():
        with _connected(client, address):
            _require_same_environment(client, address)
        with _closing(ClusterWorkers(client, address)) as workers:
            yield workers


def _require_same_environment(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_FIRST_WORKER_SECONDS)
    except TimeoutError as error:
        raise InvalidInput(
            f"The cluster at {address} has no workers; start some and run again."
        ) from error
    mine = Environment.here()
    for worker, theirs in client.run(Environment.here, on_error="return").items():
        if isinstance(theirs, Environment):
            difference = mine.difference(theirs)
        else:
            difference = f"no omit {__version__} with studies ({type(theirs).__name__}: {theirs})"
        if difference is not None:
            raise OtherEnvironment(
                f"The worker {worker} of the cluster at {address} has {difference}; its results "
                "could differ, so install the same there."
            )


def _distributed() -> Any:
    return import_extra("distributed", "cluster", "A Dask cluster")


@contextmanager
def workers_not_interrupted() -> Iterator[None]:
    """Keep Ctrl-C from processes and threads that are started within the block.

    Ctrl-C goes to every process of the terminal, and this process alone decides what it means. The
    signal is blocked, and what is started inherits that: so it is blocked from the first moment
    on, while a worker is still importing. This process gets it at the end of the block, so that
    nothing is left half started.
    """
    # Starting it would lift the block (in Python 3.11), so it is started before.
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    received: list[int] = []
    try:
        with _interrupts_noted(received):
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if received:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _interrupts_noted(received: list[int]) -> Iterator[None]:
    """Take note of interrupts that other threads let in, which Python raises in the main thread."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def ignore_interrupts() -> None:
    """Let a worker process ignore Ctrl-C for good, whatever later lifts an inherited block."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def silenced(library: str) -> Iterator[None]:
    """Keep what a library logs off the screen within the block: the run says what happened.

    Only what its own loggers write to streams is left out. Files, and whatever handlers somebody
    has attached elsewhere, get everything.
    """

    def belongs(logger: str) -> bool:
        return logger == library or logger.startswith(f"{library}.")

    def by_others(record: logging.LogRecord) -> bool:
        return not belongs(record.name)

    names = [name for name in list(logging.root.manager.loggerDict) if belongs(name)]
    handlers = {handler for name in names for handler in logging.getLogger(name).handlers}
    with ExitStack() as stack:
        for handler in handlers:
            if type(handler) is logging.StreamHandler:
                handler.addFilter(by_others)
                stack.callback(handler.removeFilter, by_others)
        yield
