"""Computations that the tests run, here and in other processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from omit.study.cell import Cell, Computation, Finished


def _draw(shared: Mapping[str, Any], rng: np.random.Generator) -> Any:
    return rng.normal(size=(150, 150))


def _mean(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    time.sleep(parameters.get("pause", 0.0))
    # Large enough for linear algebra to use several threads where it may.
    product = prepared @ rng.normal(size=(150, 150)) * parameters["scale"]
    return {"mean": product.mean(), "largest": product.max()}


matrix_mean = Computation("matrix mean", 1, _mean, _draw, shared=("data",))


def _toss(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    return {"heads": rng.binomial(parameters["tosses"], 0.5)}


tosses = Computation("tosses", 1, _toss)


def _several(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    return [{"power": power, "value": parameters["base"] ** power} for power in range(3)]


powers = Computation("powers", 1, _several)


def _fragile(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    if parameters["number"] % 3 == 1:
        raise ZeroDivisionError(f"cannot divide by {parameters['number']}")
    return {"answer": parameters["number"] * 2}


fragile = Computation("fragile", 1, _fragile)


def _cannot_prepare(shared: Mapping[str, Any], rng: np.random.Generator) -> Any:
    with Path(shared["log"]).open("a") as log:
        log.write("tried\n")
    raise ValueError("no such data")


unprepared = Computation("unprepared", 1, _toss, _cannot_prepare, shared=("log",))


def _log_preparation(shared: Mapping[str, Any], rng: np.random.Generator) -> Any:
    with Path(shared["log"]).open("a") as log:
        log.write(f"{shared['data']}\n")
    return shared["data"]


def _use(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    return {"data used": prepared}


logged = Computation("logged", 1, _use, _log_preparation, shared=("data", "log"))


def _die(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    """Kill the worker, always or (if there is a file to remember it by) the first time."""
    time.sleep(0.01)
    remembered = parameters["remember"]
    if parameters["dies"] and not (remembered and Path(remembered).exists()):
        if remembered:
            Path(remembered).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"answer": parameters["number"]}


deadly = Computation("deadly", 1, _die)


def _threads(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    import numba
    from threadpoolctl import threadpool_info

    pools = [each["num_threads"] for each in threadpool_info()]
    return {"most threads": max([numba.get_num_threads(), *pools])}


threads = Computation("threads", 1, _threads)


def finished(*cells: Cell) -> list[Finished]:
    """Return cells as if they had been computed."""
    return [Finished(cell, ({"answer": 0.1 + number},), 0.25) for number, cell in enumerate(cells)]
