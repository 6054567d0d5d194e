"""Two builds of one package in one process.

In: the sources of this repository, or a directory with an installed copy. Out: the package as a module of its own.
Rule: both builds of jsontide come from the same files, the compiled one by the same `pip install` that users run.
A package finds its parts by name in `sys.modules`, so each copy is imported whole while it alone has the name.
"""

import hashlib
import importlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "jsontide"
CACHE = ROOT / "build" / "bench"


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """Forget the modules of some packages, and bring them back at the end as they were."""
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in packages}
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
            del sys.modules[name]
        sys.modules.update(saved)


def imported_from(directory: Path, package: str) -> ModuleType:
    """A copy of its own of the package that lies in a directory."""
    with without(package):
        sys.path.insert(0, str(directory))
        importlib.invalidate_caches()
        try:
            module = importlib.import_module(package)
            import_late_parts(package)
        finally:
            sys.path.remove(str(directory))
    return module


def import_late_parts(package: str) -> None:
    """Import now what a package imports on first use: later its name belongs to another copy."""
    for part in ("providers", "streams", "messages", "runs", "frontends"):
        if importlib.util.find_spec(f"{package}.{part}"):
            module = importlib.import_module(f"{package}.{part}")
            for name in module.__all__:
                getattr(module, name)
    if importlib.util.find_spec(f"{package}.schema") and importlib.util.find_spec("pydantic"):
        from_json_ast = importlib.import_module(f"{package}.schema").from_json_ast
        from_json_ast(int, sys.modules[package].create_parser_state())


def current_digest() -> str:
    found = hashlib.sha256()
    for path in [ROOT / "pyproject.toml", ROOT / "hatch_build.py", *sorted(SOURCE.rglob("*.py"))]:
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


@cache
def digest() -> str:
    """The sources of this run: both builds are made from these."""
    return current_digest()


def pure() -> ModuleType:
    """The sources as they are, away from any extension that was built beside them."""
    directory = CACHE / f"pure-{digest()}"
    if not directory.exists():
        shutil.copytree(SOURCE, directory / "jsontide", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    return imported_from(directory, "jsontide")


def compiled(directory: Path | None) -> ModuleType:
    """The compiled build; raises ImportError, with the reason, where there is none."""
    directory = directory or installed()
    module = imported_from(directory, "jsontide")
    if not module.COMPILED:
        raise ImportError("pip install gave a pure build")
    return module


def installed() -> Path:
    directory = CACHE / f"compiled-{digest()}"
    if directory.exists():
        return directory
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(directory), str(ROOT)]
    environment = {name: value for name, value in os.environ.items() if name != "JSONTIDE_PURE"}
    environment["JSONTIDE_COMPILED"] = "1"
    # The command is ours, word for word.
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    reason = ""
    if done.returncode:
        reason = f"pip install failed: {' '.join(done.stderr.strip().splitlines()[-1:])}"
    elif current_digest() != digest():
        reason = "the sources changed while they were compiled"
    if reason:
        shutil.rmtree(directory, ignore_errors=True)
        raise ImportError(reason)
    return directory


def machine() -> list[str]:
    """What the figures of a page were made with."""
    return [
        f"{platform.python_implementation()} {platform.python_version()}.",
        f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors.",
    ]


def versions(distributions: Iterable[str]) -> Iterator[str]:
    """The names and versions of those that are installed."""
    for name in sorted(set(distributions)):
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"
