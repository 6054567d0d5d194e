"""Which build is tested: the one that the make target says, with just the parts compiled that pyproject.toml names."""

import importlib
import os
import sysconfig
import tomllib
from functools import cache
from pathlib import Path

import pytest

import hatch_build
import jsontide

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "jsontide"
EXPECT = os.environ.get("JSONTIDE_EXPECT")

expecting = pytest.mark.skipif(EXPECT is None, reason="JSONTIDE_EXPECT is not set; the make targets set it")
compiled_only = pytest.mark.skipif(not jsontide.COMPILED, reason="this is the pure build")


@cache
def settings() -> dict[str, list[str]]:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    found: dict[str, list[str]] = build["targets"]["wheel"]["hooks"]["custom"]
    return found


@cache
def modules() -> dict[str, bool]:
    """Those that are named and those of the compiled packages, and whether each is to be compiled."""
    found: dict[str, bool] = {}
    for part in settings()["compiled"]:
        if part.endswith(".py"):
            found[dotted(part)] = True
            continue
        for path in (SOURCE / part).glob("*.py"):
            name = f"{part}/{path.name}"
            interpreted = path.stem.lstrip("_") in settings()["interpreted"]
            if path.name != "__init__.py":
                found[dotted(name)] = not interpreted
    return found


def dotted(name: str) -> str:
    return "jsontide." + name.removesuffix(".py").replace("/", ".")


@expecting
def test_this_is_the_build_that_was_asked_for() -> None:
    assert {"pure": False, "compiled": True}[str(EXPECT)] is jsontide.COMPILED


@expecting
def test_a_compiled_build_is_an_installed_one_and_the_pure_one_is_the_source() -> None:
    assert jsontide.COMPILED is not Path(jsontide.__file__).is_relative_to(SOURCE)


@pytest.mark.parametrize("name", sorted(modules()))
def test_each_module_is_compiled_or_not_as_the_settings_say(name: str) -> None:
    file = importlib.import_module(name).__file__
    assert file is not None
    assert file.endswith(".py") is not (jsontide.COMPILED and modules()[name])


def test_the_settings_name_modules_that_exist() -> None:
    packages = [SOURCE / part for part in settings()["compiled"] if not part.endswith(".py")]
    stems = {path.stem.lstrip("_") for package in packages for path in package.glob("*.py")}
    assert stems.issuperset(settings()["interpreted"])


@pytest.mark.parametrize("is_free_threaded", [1, 0, None])
def test_a_free_threaded_python_gets_the_pure_build(
    is_free_threaded: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = sysconfig.get_config_vars() | {"Py_GIL_DISABLED": is_free_threaded}
    monkeypatch.setattr(sysconfig, "get_config_var", known.get)
    monkeypatch.delenv("JSONTIDE_PURE", raising=False)
    assert ("free-threaded" in str(hatch_build.obstacle())) is bool(is_free_threaded)


@compiled_only
def test_a_traceback_through_compiled_code_names_no_place_of_the_machine_that_built_it() -> None:
    with pytest.raises(TypeError) as caught:
        jsontide.parse_chunk(jsontide.create_parser_state(), 1)  # type: ignore[arg-type]
    files = [entry.path for entry in caught.traceback[1:]]
    assert all(not Path(file).is_absolute() for file in files)
