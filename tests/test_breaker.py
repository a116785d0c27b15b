"""A store that failed is left alone for a while, then asked once."""

from __future__ import annotations

from offloadkit.breaker import CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_store_that_never_failed_is_always_asked() -> None:
    breaker = CircuitBreaker(clock=Clock())

    assert [breaker.allow() for _ in range(3)] == [True, True, True]


def test_after_a_failure_the_store_is_left_alone_for_the_pause() -> None:
    clock = Clock()
    breaker = CircuitBreaker(pause=5, clock=clock)
    breaker.failed()

    clock.now = 4.9
    assert not breaker.allow()
    clock.now = 5
    assert breaker.allow()


def test_one_caller_at_a_time_tries_again() -> None:
    clock = Clock()
    breaker = CircuitBreaker(pause=5, clock=clock)
    breaker.failed()
    clock.now = 5

    assert [breaker.allow(), breaker.allow()] == [True, False]


def test_each_failure_doubles_the_pause_up_to_the_longest() -> None:
    breaker = CircuitBreaker(pause=1, longest_pause=5, clock=Clock())

    assert [breaker.failed() for _ in range(4)] == [1, 2, 4, 5]


def test_a_store_that_fails_for_ever_is_counted_for_ever() -> None:
    breaker = CircuitBreaker(pause=1, longest_pause=5, clock=Clock())

    assert {breaker.failed() for _ in range(2_000)} == {1, 2, 4, 5}


def test_a_success_closes_it_and_tells_of_the_recovery_once() -> None:
    breaker = CircuitBreaker(clock=Clock())
    breaker.failed()

    assert [breaker.succeeded(), breaker.succeeded()] == [True, False]
    assert breaker.allow()


def test_a_dead_store_is_asked_a_handful_of_times_a_minute() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    asked = 0
    for tenth in range(6000):
        clock.now = tenth / 10
        if breaker.allow():
            asked += 1
            breaker.failed()

    assert asked <= 20
