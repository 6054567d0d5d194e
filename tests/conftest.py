"""Which tests are long, which run with one build only, what may be left out, and how many examples are drawn.

Tests that count work are marked here: they take long, and would count the work of coverage too. Those of what is not
compiled are marked by their place. All others mark themselves.

HYPOTHESIS_PROFILE chooses how many examples property tests draw, and whether they are the same each time:

test  a few, the same each time, on every machine: the default
long  many more of the same, for `make test-long`
fuzz  as many, other ones for each seed, for `make fuzz`
"""

import gc
import os
import signal
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.meters import Meter, heap, interpreted, opcodes

# How fast examples are drawn depends on what else the machine does: neither a deadline nor a health check may fail.
settings.register_profile(
    "long", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, print_blob=True
)
settings.register_profile("test", settings.get_profile("long"), max_examples=6)
settings.register_profile("fuzz", settings.get_profile("long"), derandomize=False, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "test")

# Started in the background, tests ignore interrupts, and so would every process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
NOT_COMPILED = [
    *("../README.md", "../docs/*", "../src/*"),
    "archives/*",
    *("cli/*", "frontends/test_[asv]*.py", "frontends/test_co*.py", "recordings/*", "studio/*", "testing/*", "web/*"),
    *("streams/test_c*.py", "streams/test_[dfh]*.py", "streams/test_run_tools.py", "streams/test_states.py"),
    *("providers/test_*requests.py", "providers/test_clients.py", "providers/test_strict_tools.py"),
    *("schema/test_references.py", "schema/test_sources.py", "schema/test_json_schema.py", "schema/test_patterns.py"),
    *("schema/test_hostile_schemas.py", "*/test_typing.py"),
    *("test_architecture.py", "test_changed.py", "test_docs.py", "test_examples.py", "test_oracles.py"),
    *("test_benchmarks.py", "test_release.py", "test_tutorial.py"),
]
"""Tests of what is the same in both builds; what it does with compiled values is shown by the long run."""

if "JSONTIDE_DIST" not in os.environ:
    collect_ignore = ["test_distributions.py"]  # `make test-dist` builds what these install


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        counts_work = item.path.stem.endswith("_cost") or "meter" in getattr(item, "fixturenames", ())
        if counts_work:
            item.add_marker("long")
            item.add_marker("untraced")
        if is_not_compiled(item.path):
            item.add_marker("once")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of which no test is chosen before they are imported, which takes longer than choosing."""
    is_for_once = collection_path.is_file() and is_not_compiled(collection_path)
    return (is_for_once and "not once" in config.option.markexpr) or None


@cache
def is_not_compiled(path: Path) -> bool:
    place = os.path.relpath(path, TESTS).replace(os.sep, "/")
    return any(fnmatch(place, pattern) for pattern in NOT_COMPILED)


# What may be left out where nothing may be missing, by the beginning of the reason.
EXPECTED_SKIPS = (
    "compiled code ",  # it runs no bytecode, and is not interrupted between its lines
    "this is the pure build",
    "JSONTIDE_OTHER_PYTHON is not set",  # pickles across builds are read once, in the run of the compiled build
    "pydantic takes them from 3.12 on",
    "this Python cannot make interpreters",
    "this system does not allow networks of their own",
    "data beside the repository: ",  # an extra for the long run
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line for each reason what was left out."""
    for reason, count in sorted(skip_reasons(terminalreporter).items()):
        terminalreporter.write_line(f"left out: {count} tests: {reason}")


def skip_reasons(reporter: pytest.TerminalReporter) -> Counter[str]:
    reports = reporter.getreports("skipped")
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where something was left out for a reason that is not expected, if nothing may be missing."""
    save_coverage()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("JSONTIDE_COMPLETE"):
        return
    unexpected = [reason for reason in skip_reasons(reporter) if not reason.startswith(EXPECTED_SKIPS)]
    if unexpected:
        reporter.write_line(f"failed: nothing may be missing here: {'; '.join(unexpected)}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def save_coverage() -> None:
    """Save what was measured in this process now: ten seconds after its last test, pytest-xdist kills it."""
    if "coverage" in sys.modules and (measured := sys.modules["coverage"].Coverage.current()) is not None:
        measured.stop()
        measured.save()


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
