"""The files that `make build` leaves in dist/, as a user meets them: installed into an environment with nothing else.

`make test-dist` sets JSONTIDE_DIST; without it there is nothing to test.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KINDS = {"sdist": "*.tar.gz", "compiled": "*-cp*.whl", "pure": "*-py3-none-any.whl"}
WHOLE = {"sdist": True, "compiled": True, "pure": False}
"""Whether what is installed from a kind is compiled."""
NONE: Mapping[str, str] = {}
LINE = "jsontide: not compiled, "
SMOKE = """
import json, sys
before = set(sys.modules)
import jsontide
state = jsontide.create_parser_state()
for chunk in '{"a": [1, 2.5, "x\\\\u00', 'e9"], "b"', ': null}':
    state = jsontide.parse_chunk(state, chunk)
print(json.dumps({
    "compiled": jsontide.COMPILED,
    "place": jsontide.__file__,
    "value": jsontide.get_resolved_value(jsontide.finalize(state)),
    "modules": sorted({name.partition(".")[0] for name in set(sys.modules) - before}),
}))
"""

dist = os.environ.get("JSONTIDE_DIST")
pytestmark = pytest.mark.skipif(dist is None, reason="JSONTIDE_DIST is not set; `make test-dist` builds and sets it")


def distribution(kind: str) -> Path:
    (found,) = ROOT.joinpath(str(dist)).glob(KINDS[kind])
    return found


def run(*command: str | Path, place: Path, expect: int = 0, variables: Mapping[str, str] = NONE) -> str:
    """Run a command that knows nothing of this repository and of our variables; return all that it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JSONTIDE_", "PYTHON"))}
    done = subprocess.run(
        command,
        cwd=place,
        env={**kept, **variables},
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == expect, done.stdout
    return done.stdout


def pip(*arguments: str | Path, place: Path, expect: int = 0, variables: Mapping[str, str] = NONE) -> str:
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments)
    return run(*command, place=place, expect=expect, variables=variables)


class Environment:
    """An environment that holds nothing, not even pip."""

    def __init__(self, place: Path) -> None:
        venv.create(place, with_pip=False, symlinks=True)
        self.place = place
        self.python = place / "bin" / "python"

    def install(self, *what: str | Path, variables: Mapping[str, str] = NONE) -> str:
        return pip("--python", self.python, "install", "-v", *what, place=self.place, variables=variables)

    def has(self, package: str) -> bool:
        program = f"import importlib.util; print(importlib.util.find_spec({package!r}) is not None)"
        return run(self.python, "-c", program, place=self.place).strip() == "True"

    def smoke(self) -> Mapping[str, object]:
        found: Mapping[str, object] = json.loads(run(self.python, "-c", SMOKE, place=self.place))
        assert not Path(str(found["place"])).is_relative_to(ROOT)
        return found


@pytest.fixture
def empty(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "empty")


@pytest.mark.parametrize("kind", KINDS)
def test_each_distribution_works_alone_in_an_empty_environment(kind: str, empty: Environment) -> None:
    said = empty.install(distribution(kind))
    assert LINE not in said
    found = empty.smoke()
    assert found["compiled"] is WHOLE[kind]
    assert found["value"] == {"a": [1, 2.5, "xé"], "b": None}
    assert isinstance(found["modules"], list)
    # The private module of interpreters is part of Python too, though it is not listed.
    assert set(found["modules"]) - {"jsontide", "_interpreters", "_xxsubinterpreters"} <= sys.stdlib_module_names
    empty.install("jsontide[cli]")
    speed = "compiled" if WHOLE[kind] else "pure"
    version = run(empty.place / "bin" / "jsontide", "--version", place=empty.place)
    assert version.split() == ["jsontide", distribution(kind).name.split("-")[1].removesuffix(".tar.gz"), f"({speed})"]


DOCUMENT = '{"a": [1, 2]}'
READING: dict[str, list[str]] = {name: [] for name in ("chunk", "events", "mend", "replay", "stats", "watch")}
READING["get"] = ["a[*]"]
"""The commands that read a file, and what stands before it."""


def extras() -> list[str]:
    found: dict[str, object] = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
    names = found["optional-dependencies"]
    assert isinstance(names, dict)
    return [name for name in names if name not in {"all", "ray"}]  # Ray is large, and has tests of its own


@pytest.mark.parametrize("extra", extras())
def test_with_one_extra_alone_all_works_or_names_the_one_that_is_needed(extra: str, empty: Environment) -> None:
    empty.install(f"{distribution('pure')}[{extra}]")
    command = empty.place / "bin" / "jsontide"
    document = empty.place / "document.json"
    document.write_text(DOCUMENT, "utf-8")
    if extra == "cli":
        check_commands(command, document)
    else:
        assert 'pip install "jsontide[cli]"' in run(command, "watch", document, place=empty.place, expect=2)
    for module, (program, needed) in PROGRAMS.items():
        works = empty.has(needed)  # another extra may have brought it
        said = run(empty.python, "-c", program, place=empty.place, expect=0 if works else 1)
        assert works or f"jsontide[{module}]" in said


COMPARING = """
from jsontide.archives import BatchError, compare
try:
    compare("nothing", "nothing")
except BatchError as error:
    assert "has no tables" in str(error), error
"""
PROGRAMS = {
    "web": ("import jsontide.web", "starlette"),
    "studio": ("import jsontide.studio", "uvicorn"),
    "batch": (COMPARING, "duckdb"),
    "pydantic": ("import jsontide; print([*jsontide.stream_model(['[1]'], list[int])])", "pydantic"),
    "jsonschema": ("import jsontide; print([*jsontide.stream_model(['[1]'], {'type': 'array'})])", "jsonschema"),
}
"""For each extra, what needs it, and one of its packages."""


def check_commands(command: Path, document: Path) -> None:
    """Run every command of the extra `cli`, which is all that is installed."""
    place = document.parent
    said = run(command, "--help", place=place)
    listed = set(re.findall(r"^  ([a-z]+) ", said, re.MULTILINE))
    assert listed == {"batch", "check", "compare", "record", "studio", *READING}
    for name, arguments in READING.items():
        assert run(command, name, *arguments, document, place=place)
    run(command, "record", "-o", "taken.ndjson", "--", sys.executable, "-c", "print('[1]')", place=place)
    assert "[1]" in run(command, "replay", "taken.ndjson", place=place)
    assert 'pip install "jsontide[studio]"' in run(command, "studio", "--no-browser", place=place, expect=2)
    assert "tables/recordings.ndjson" in run(command, "batch", "stats", document, "--out", "tables", place=place)
    assert 'pip install "jsontide[batch]"' in run(command, "compare", "tables", "tables", place=place, expect=2)
    said = run(command, "check", "--schema", "any", document, place=place, expect=2)
    assert "pip install 'jsontide[jsonschema]'" in said


def test_a_compiled_wheel_fits_this_python_and_platform_and_a_pure_one_all() -> None:
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    _, _, python, abi, platform = distribution("compiled").stem.split("-")
    assert (python, abi) == (version, version)
    assert platform != "any"
    assert distribution("pure").stem.split("-")[2:] == ["py3", "none", "any"]


def extensions(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name.partition(".")[0] for name in archive.namelist() if name.endswith((".so", ".pyd"))}


@pytest.mark.parametrize("kind", ["compiled", "pure"])
def test_a_wheel_holds_the_client_for_browsers_and_its_types(kind: str) -> None:
    with zipfile.ZipFile(distribution(kind)) as archive:
        for name in ("jsontide.js", "jsontide.d.ts"):
            packed = archive.read(f"jsontide/web/static/{name}")
            assert packed == (ROOT / "src/jsontide/web/static" / name).read_bytes()


@pytest.mark.parametrize("kind", ["compiled", "pure"])
def test_a_wheel_holds_the_page_of_the_studio(kind: str) -> None:
    static = ROOT / "src/jsontide/studio/static"
    with zipfile.ZipFile(distribution(kind)) as archive:
        packed = {name for name in archive.namelist() if name.startswith("jsontide/studio/static/")}
    assert packed == {f"jsontide/studio/static/{file.name}" for file in static.iterdir()}


def sources(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name.endswith((".py", ".typed"))}


def test_the_wheels_differ_in_the_extensions_only() -> None:
    assert sources(distribution("compiled")) == sources(distribution("pure"))
    assert "jsontide/text/scanner" in extensions(distribution("compiled"))
    assert not extensions(distribution("pure"))


def test_everything_in_a_wheel_lies_in_the_package() -> None:
    assert all(name.startswith("jsontide/") for name in extensions(distribution("compiled")))


def test_the_library_requires_nothing() -> None:
    for kind in ("compiled", "pure"):
        with zipfile.ZipFile(distribution(kind)) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            lines = archive.read(metadata).decode().splitlines()
        required = [line for line in lines if line.startswith("Requires-Dist:")]
        assert required
        assert all("extra ==" in line for line in required)


def names_in_sdist() -> Iterator[str]:
    with tarfile.open(distribution("sdist")) as archive:
        yield from (name.partition("/")[2] for name in archive.getnames())


def test_the_source_distribution_holds_what_compiling_and_testing_need() -> None:
    names = set(names_in_sdist())
    assert {"pyproject.toml", "hatch_build.py", "Makefile", "conftest.py", "tests/test_laws.py"} <= names
    assert not [name for name in names if name.endswith((".so", ".pyd", ".c"))]


def lines_about_compiling(said: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if LINE in line]


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        pytest.param("no-such-compiler", "no C compiler was found (no-such-compiler)", id="no compiler"),
        pytest.param("false", "'false'", id="a compiler that fails"),
    ],
)
def test_without_a_working_compiler_one_line_says_why_and_the_build_is_pure(
    compiler: str, reason: str, empty: Environment
) -> None:
    said = empty.install(distribution("sdist"), variables={"CC": compiler})
    (line,) = lines_about_compiling(said)
    assert line.startswith(f"{LINE}pure Python instead: ")
    assert reason in line
    assert empty.smoke()["compiled"] is False


def test_whoever_asks_for_a_compiled_build_gets_one_or_none(tmp_path: Path) -> None:
    asked = {"CC": "no-such", "JSONTIDE_COMPILED": "1"}
    said = pip("wheel", "--no-deps", distribution("sdist"), place=tmp_path, expect=1, variables=asked)
    (line,) = lines_about_compiling(said)
    assert line.endswith("and JSONTIDE_COMPILED is set: no C compiler was found (no-such)")
    assert not list(tmp_path.glob("*.whl"))


def test_whoever_asks_for_a_pure_build_needs_no_mypy(tmp_path: Path) -> None:
    asked = {"JSONTIDE_PURE": "1"}
    said = pip("wheel", "-v", "--no-deps", distribution("sdist"), place=tmp_path, variables=asked)
    (line,) = lines_about_compiling(said)
    assert line.endswith("JSONTIDE_PURE is set")
    assert "mypy" not in said
    assert [path.name for path in tmp_path.glob("*.whl")] == [distribution("pure").name]


def test_an_editable_install_follows_its_source(tmp_path: Path) -> None:
    with tarfile.open(distribution("sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.glob("jsontide-*")
    environment = Environment(tmp_path / "editable")
    (line,) = lines_about_compiling(environment.install("--editable", tree))
    assert line.endswith("an editable install follows its source")
    assert environment.smoke()["compiled"] is False
    assert not list(tree.rglob("*.so"))
