"""Tasks that are shared out have the answers that one process gives."""

from __future__ import annotations

import time

import pytest

from omit.errors import InvalidInput
from omit.study.sharing import shared_out


def _slow_square(number: int) -> int:
    time.sleep(0.02)
    if number < 0:
        raise InvalidInput("Expected a number of at least 0.")
    return number**2


@pytest.mark.slow
def test_helpers_answer_every_task_once() -> None:
    answers = list(shared_out(_slow_square, range(250), cores=2))
    assert sorted(answers) == [(number, number**2) for number in range(250)]


class _Costly:
    """A function that says how often its like was sent to the process that calls it."""

    sent = 0

    def __reduce__(self) -> tuple[type[_Costly], tuple[()]]:
        return _Costly, ()

    def __init__(self) -> None:
        type(self).sent += 1

    def __call__(self, number: int) -> int:
        time.sleep(0.02)
        return type(self).sent


@pytest.mark.slow
def test_a_helper_gets_the_function_once() -> None:
    answers = dict(shared_out(_Costly(), range(250), cores=2))
    assert set(answers.values()) == {1}


@pytest.mark.slow
def test_an_error_in_a_helper_is_raised_here() -> None:
    tasks = [*range(250), -1]  # helpers begin at the end
    with pytest.raises(InvalidInput, match="at least 0"):
        list(shared_out(_slow_square, tasks, cores=2))


@pytest.mark.slow
def test_what_cannot_be_sent_to_a_helper_is_computed_here() -> None:
    class Unsendable(int):
        def __reduce__(self) -> str:
            raise TypeError("stays here")

    answers = dict(shared_out(_slow_square, [Unsendable(n) for n in range(200)], cores=2))
    assert answers == {number: number**2 for number in range(200)}
