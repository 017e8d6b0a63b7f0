"""Computing on a Dask cluster.

Hands are tasks of `distributed`. Its scheduler runs a task again elsewhere if the worker dies, and
after some deaths gives the task up; then the agenda decides. (joblib's own Dask backend is not
used: in joblib 1.6 it waits for ever once a task has been given up.)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

from omit.errors import InvalidInput
from omit.study.environment import Environment, OtherEnvironment
from omit.study.local import could_not_take
from omit.study.quiet import without_words_of, workers_not_interrupted
from omit.study.worker import Hand, Outcome, play_in_worker

# How long to wait for a scheduler to answer, for a first worker, and for one to come back.
_CONNECT_SECONDS = 10.0
_FIRST_WORKER_SECONDS = 30.0
_NO_WORKER_SECONDS = 60.0
# How often to look whether workers have come or gone.
_LOOK_SECONDS = 2.0
# A cluster of our own has no dashboard, and leaves it to the agenda what to do after a death.
_SCHEDULER = {"dashboard": False, "allowed_failures": 0}


class Cluster:
    """Computes hands on a Dask cluster."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self._running: dict[Any, Hand] = {}
        self._free_workers: dict[str, str] = {}
        self._preferred: dict[Any, str] = {}
        self._slots = 0
        self._looked = self._seen = -float("inf")

    def slots(self) -> int:
        """Return how many hands the cluster computes at once; workers may come and go.

        Raises
        ------
        InvalidInput
            If the scheduler is gone.
        """
        now = time.monotonic()
        if now - self._looked > _LOOK_SECONDS:
            with self._there():
                cores = self._client.ncores()
                self._slots = sum(cores.values())
                self._send_again(cores)
            self._looked = now
            self._seen = now if self._slots else max(self._seen, now - _NO_WORKER_SECONDS)
        return max(self._slots, 1)

    def submit(self, hand: Hand) -> None:
        """Let a worker of the cluster compute a hand, if possible one that knows the group."""
        with self._there():
            self._send(hand, self._free_workers.pop(hand.cells[0].group, None))

    def _send(self, hand: Hand, worker: str | None = None) -> None:
        preferred = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        future = self._client.submit(_play_and_say_where, hand, pure=False, **preferred)
        self._running[future] = hand
        if worker is not None:
            self._preferred[future] = worker

    def _send_again(self, workers: Collection[str]) -> None:
        """Send hands again whose preferred worker is gone.

        If all workers are gone at once, the scheduler waits for that very worker to come back,
        although others would be allowed, and its successor has another address.
        """
        for future in [each for each in self._running if each in self._preferred]:
            if self._preferred[future] not in workers:
                del self._preferred[future]
                self._send(self._running.pop(future))
                future.cancel()

    def wait(self) -> Sequence[tuple[Hand, Outcome | None]]:
        """Return the hands that have come back.

        Raises
        ------
        InvalidInput
            If all workers or the scheduler are gone.
        """
        while True:
            with self._there():
                try:
                    done = (
                        _distributed()
                        .wait(
                            list(self._running),
                            timeout=_LOOK_SECONDS,
                            return_when="FIRST_COMPLETED",
                        )
                        .done
                    )
                except TimeoutError:
                    self._require_workers()
                    continue
                return [
                    (hand := self._running.pop(future), self._outcome(future, hand))
                    for future in done
                ]

    def abandon(self) -> None:
        """Ask the cluster to forget what was to be done."""
        with suppress(Exception):
            self._client.cancel(list(self._running), force=True)
        self._running.clear()

    def _outcome(self, future: Any, hand: Hand) -> Outcome | None:
        self._preferred.pop(future, None)
        error = future.exception()
        if error is None:
            outcome: Outcome
            worker, outcome = future.result()
            self._free_workers[hand.cells[0].group] = worker
            return outcome
        if isinstance(error, _distributed().KilledWorker):
            return None
        if isinstance(error, OtherEnvironment):
            raise error
        raise could_not_take(hand, error) from error

    def _require_workers(self) -> None:
        if not _is_open(self._client):
            raise _gone(self._address)
        self._looked = -float("inf")
        self.slots()
        if time.monotonic() - self._seen >= _NO_WORKER_SECONDS:
            raise _gone(self._address, f"has had no workers for {_NO_WORKER_SECONDS:g} s")

    def _there(self) -> AbstractContextManager[None]:
        return _there(self._client, self._address)


@contextmanager
def _there(client: Any, address: str) -> Iterator[None]:
    """Say in a sentence that the scheduler is gone, whichever error that is at this moment."""
    try:
        yield
    except InvalidInput:
        raise
    except (_distributed().CancelledError, OSError) as error:
        raise _gone(address) from error
    except Exception as error:
        if _is_open(client):
            raise
        raise _gone(address) from error


def _is_open(client: Any) -> bool:
    return client.status in ("running", "connecting")


def _gone(address: str, what: str = "is gone") -> InvalidInput:
    return InvalidInput(
        f"The cluster at {address} {what}; what was finished is stored, and running again goes on "
        "from there."
    )


def _play_and_say_where(hand: Hand) -> tuple[str, Outcome]:
    return _distributed().get_worker().address, play_in_worker(hand)


@contextmanager
def on_cluster(address: str) -> Iterator[Cluster]:
    """Compute on the Dask cluster with a scheduler at this address.

    Raises
    ------
    InvalidInput
        If it does not answer, has no workers, or workers with other versions.
    """
    distributed = _distributed()
    # Dask finds out only when it connects, and then cannot close what it has opened.
    if address.startswith(("tls:", "wss:")) and not _has_certificates():
        raise InvalidInput(
            f"The address {address} is encrypted and needs certificates, which Dask's "
            "configuration (distributed.comm.tls) does not name; name them there, or use tcp://."
        )
    with ExitStack() as held:
        held.enter_context(without_words_of("distributed"))
        try:
            client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            raise InvalidInput(
                f"Cannot reach a Dask scheduler at {address}; is it running, and is the address "
                "right?"
            ) from error
        yield held.enter_context(_computing(client, address))


def _has_certificates() -> bool:
    security: Any = _distributed().Security()
    return security.get_connection_args("client")["ssl_context"] is not None


@contextmanager
def on_own_cluster(count: int) -> Iterator[Cluster]:
    """Compute on a Dask cluster of worker processes on this machine, made for the purpose."""
    distributed = _distributed()
    with ExitStack() as held:
        held.enter_context(without_words_of("distributed"))
        # Workers, also those that come later, are started by threads that begin here.
        with workers_not_interrupted():
            cluster = held.enter_context(
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
        yield held.enter_context(_computing(client, f"local:{count}"))


@contextmanager
def _computing(client: Any, address: str) -> Iterator[Cluster]:
    with client, client.as_current():
        with _there(client, address):
            _require_same_environment(client, address)
        cluster = Cluster(client, address)
        try:
            yield cluster
        except BaseException:
            cluster.abandon()
            raise


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
            difference = f"no omit {mine.omit} with studies ({type(theirs).__name__}: {theirs})"
        if difference is not None:
            raise OtherEnvironment(
                f"The worker {worker} of the cluster at {address} has {difference}; its results "
                "could differ, so install the same there."
            )


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise InvalidInput(
            "A Dask cluster needs the extra 'cluster': pip install 'omit[cluster]'."
        ) from error
    return distributed
