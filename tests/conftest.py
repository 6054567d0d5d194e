"""The meters of the cost tests, which tests run without coverage, and the Hypothesis profiles.

Tests marked `untraced` run without coverage, under which they would take two to five times as long.
Those that count work are marked here: they would count that of the tracer too. Others mark themselves, because they
do to much more data what other tests do, or wait for browsers and front ends.

HYPOTHESIS_PROFILE chooses a profile; the default is ``ci`` where CI=true, and ``dev`` elsewhere.

quick a few examples, for `make check`
dev   a quick look, other examples each time
ci    the same examples each time, a failure prints what reproduces it
fuzz  many examples, for `make fuzz`
"""

import gc
import os
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.meters import Meter, heap, interpreted, opcodes

settings.register_profile("quick", deadline=None, max_examples=10)
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "fuzz",
    deadline=None,
    print_blob=True,
    max_examples=2_000,
    suppress_health_check=[HealthCheck.too_slow],
)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        counts_work = item.path.stem.endswith("_cost") or "meter" in getattr(item, "fixturenames", ())
        if counts_work:
            item.add_marker("untraced")


def pytest_collection_finish() -> None:
    """Leave out of every garbage collection what lives as long as the tests do: thousands of them, and all modules.

    And collect less often: property tests make so many objects that a tenth of their time went into it.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(params=[pytest.param(opcodes, marks=interpreted), heap], ids=["opcodes", "heap"])
def meter(request: pytest.FixtureRequest) -> Iterator[Meter]:
    """Each way to count."""
    counts: Meter = request.param
    if counts is heap:
        tracemalloc.start()
    yield counts
    tracemalloc.stop()
