"""A callback runs when it is called, or is refused: nothing awaits what it returns."""

import asyncio
import functools
import gc
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from jsontide import JsonFragmentAccumulator
from jsontide.events import JsonFragmentUpdate


async def wait(*_: object) -> None:
    """Never run."""


async def yield_later(*_: object) -> AsyncIterator[int]:
    yield 1


def yield_now(*_: object) -> Iterator[int]:
    yield 1


class Waiting:
    async def __call__(self, update: JsonFragmentUpdate) -> None: ...

    async def method(self, update: JsonFragmentUpdate) -> None: ...

    @staticmethod
    async def static(update: JsonFragmentUpdate) -> None: ...

    @classmethod
    async def of_class(cls, update: JsonFragmentUpdate) -> None: ...


class Generating:
    def __call__(self, *_: object) -> Iterator[int]:
        yield 1


REFUSED: list[Callable[..., object]] = [
    *(wait, yield_later, yield_now, Waiting(), Generating(), Waiting().method, Waiting.static, Waiting.of_class),
    *(functools.partial(wait, 1), functools.partial(functools.partial(wait), 2), functools.partial(Waiting())),
    *(functools.partial(yield_later), Waiting().__call__),
]
RETURNING: list[Callable[..., object]] = [
    lambda update: wait(update, "more"),
    lambda update: yield_later(update, "more"),
    lambda update: yield_now(update, "more"),
]


@pytest.mark.parametrize("callback", REFUSED)
@pytest.mark.parametrize("decorated", [True, False])
def test_what_calling_does_not_run_is_refused(callback: Callable[..., object], *, decorated: bool) -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    with pytest.raises(TypeError, match="its body would never run; pass a plain function"):
        accumulator.on("x")(callback) if decorated else accumulator.on("x", callback)
    assert accumulator.add_fragment('{"x": 1}') == []


@pytest.mark.parametrize("callback", RETURNING)
def test_what_returns_a_coroutine_or_a_generator_raises_and_leaves_nothing(callback: Callable[..., object]) -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []
    accumulator.on("x", callback, once=True)
    accumulator.on("*", lambda update: heard.append(update.value))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"a callback returned a (coroutine|generator): its body would never run"):
            accumulator.add_fragment('{"x": 1, ')
        gc.collect()
    assert accumulator.add_fragment('"y": 2}') == []
    assert heard == [1, 2]


def test_a_task_may_be_returned() -> None:
    heard: list[Any] = []

    async def note(update: JsonFragmentUpdate) -> None:
        heard.append(update.value)

    async def run() -> None:
        accumulator = JsonFragmentAccumulator(updates=False)
        accumulator.on("x", lambda update: asyncio.ensure_future(note(update)))
        accumulator.add_fragment('{"x": 1}')
        await asyncio.sleep(0)

    asyncio.run(run())
    assert heard == [1]


def test_any_other_callable_is_called_and_its_result_is_ignored() -> None:
    class Plain:
        def __init__(self, *_: object) -> None:
            heard.append("class")

        def __call__(self, update: JsonFragmentUpdate) -> object:
            heard.append("object")
            return [update]

    heard: list[str] = []
    for callback in (Plain, Plain(), functools.partial(Plain()), Mock(), lambda update: (update,)):
        accumulator = JsonFragmentAccumulator(updates=False)
        accumulator.on("x", callback)
        accumulator.add_fragment('{"x": 1}')
    assert heard == ["class", "class", "class", "object", "object"]
