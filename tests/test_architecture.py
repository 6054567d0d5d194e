"""What ARCHITECTURE.md says, as tests: which layer imports which, the files it names, and what a bare import costs."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import jsontide

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "jsontide"
LAYERS = (
    {"cli", "studio", "testing"},
    {"archives"},
    {"recordings"},
    {"web"},
    {"frontends"},
    {"runs"},
    {"streams"},
    {"providers"},
    {"messages"},
    {"schema"},
    {"tree", "events", "snapshots"},
    {"mend"},
    {"text", "_pattern"},
    {"_errors"},  # an error names a path
    {
        "_build",
        "_check",
        "_decode",
        "_mypyc",
        "_private_file",
        "_path",
        "_public",
        "_sniff",
        "_textbuffer",
        "_values",
        "_version",
    },
)
"""From the top down. A part imports from lower lines only, never from its own."""
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
ASYNC = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
MODULES = sorted(SOURCE.rglob("*.py"))


def test_every_part_of_a_layer_is_on_disk() -> None:
    assert {part_of(module) for module in MODULES} - {"__init__"} == set(RANK)


def named_files(document: str) -> set[str]:
    """The files that a document names."""
    return set(re.findall(r"`([\w./]+\.(?:py|md|toml))`", document))


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_a_document_names_are_on_disk(document: str) -> None:
    names = named_files((ROOT / document).read_text("utf-8"))
    assert names
    assert not {name for name in names if not ((ROOT / name).exists() or (SOURCE / name).exists())}


@cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(source)))


def imported(source: str) -> Iterator[str]:
    """The full names of all modules that a source imports, wherever in it."""
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide what is imported"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def faults(part: str, source: str) -> set[str]:
    """The other parts that `part` imports, but must not know."""
    names = [name.split(".") for name in imported(source) if name.split(".")[0] == "jsontide"]
    parts = {name[1] for name in names if len(name) > 1 and name[1] in RANK} - {part}
    return {other for other in parts if RANK[other] <= RANK[part]}


def uses_async(source: str) -> bool:
    return any(isinstance(node, ASYNC) for node in nodes_of(source)) or any(
        name.split(".")[0] == "asyncio" for name in imported(source)
    )


def part_of(module: Path) -> str:
    return module.relative_to(SOURCE).with_suffix("").parts[0]


@pytest.mark.once
class TestEveryModule:
    def test_belongs_to_a_layer(self) -> None:
        assert [module for module in MODULES if part_of(module) not in RANK and module.name != "__init__.py"] == []

    def test_imports_point_down(self) -> None:
        placed = [module for module in MODULES if part_of(module) in RANK]
        wrong = {module: faults(part_of(module), module.read_text("utf-8")) for module in placed}
        assert {module: found for module, found in wrong.items() if found} == {}

    def test_async_code_stands_in_loops_only(self) -> None:
        loops = {SOURCE / "recordings" / "_moment.py", *(SOURCE / "runs" / name for name in ("agent.py", "stream.py"))}
        others = [path for path in MODULES if part_of(path) not in {"streams", "studio", "web"} and path not in loops]
        assert [module for module in others if uses_async(module.read_text("utf-8"))] == []


def name_of(module: Path) -> str:
    parts = ("jsontide", *module.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(module) for module in MODULES}


def imported_on_loading(source: str) -> set[str]:
    """Our modules that are imported when one is loaded: not those that only type checkers or functions import."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner if inner <= NAMES else {*inner, str(node.module)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & NAMES


def test_imports_have_no_cycle() -> None:
    graph = {name_of(module): imported_on_loading(module.read_text("utf-8")) for module in MODULES}
    assert set(graphlib.TopologicalSorter(graph).static_order()) == NAMES


def test_the_search_for_cycles_sees_modules_and_packages() -> None:
    assert imported_on_loading("from jsontide.text import modes") == {"jsontide.text.modes"}
    assert imported_on_loading("from jsontide.text import Limits, modes") == {"jsontide.text", "jsontide.text.modes"}
    assert imported_on_loading("if TYPE_CHECKING:\n    import jsontide") == set()


def test_the_rule_finds_an_import_that_points_up() -> None:
    assert faults("text", "from jsontide.tree import nodes") == {"tree"}
    assert faults("text", "def f():\n    import jsontide.streams.sse") == {"streams"}
    assert faults("tree", "from jsontide import text, streams") == {"streams"}


def test_the_rule_finds_neighbours_that_know_each_other() -> None:
    assert faults("tree", "from jsontide.events import kinds") == {"events"}
    assert faults("_path", "from jsontide._values import MISSING") == {"_values"}
    assert faults("tree", "from jsontide.tree import nodes\nimport jsontide.text") == set()


def test_the_rule_finds_async_code() -> None:
    assert uses_async("async def f() -> None: ...")
    assert uses_async("from asyncio import Queue")
    assert not uses_async("def f() -> None: ...")


ADDED_BY_IMPORT = """
import sys
before = set(sys.modules)
import jsontide
print(*{name.split(".")[0] for name in set(sys.modules) - before})
"""


def test_importing_the_package_loads_no_third_party_module_and_no_asyncio() -> None:
    done = subprocess.run([sys.executable, "-c", ADDED_BY_IMPORT], capture_output=True, check=True, text=True)
    added = set(done.stdout.split())
    # The compiled build brings one shared helper module of its own.
    ours = {name for name in added if name == "jsontide" or name.endswith("__mypyc")}
    assert "jsontide" in ours
    assert "asyncio" not in added
    # Python's own, but not in the list of 3.11: the compiled build asks which interpreter it is in.
    assert added - ours - {"_xxsubinterpreters"} <= sys.stdlib_module_names


LATE = """
import sys, jsontide
names = ("jsontide.schema", "jsontide.messages", "jsontide.providers.stream_reader")
print("schema" in vars(jsontide), any(name.startswith(names) for name in sys.modules))
from jsontide.schema import from_json_ast
from_json_ast({}, jsontide.create_parser_state())
print(any(name.startswith(("pydantic", "jsonschema")) for name in sys.modules))
jsontide.stream_message
print(all(name in sys.modules for name in names))
"""


def test_schemas_and_messages_are_imported_when_they_are_asked_for_and_other_packages_when_they_are_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["False", "False", "False", "True"]


def test_the_top_level_stays_small() -> None:
    assert len(jsontide.__all__) <= 51


def private_imports(module: Path) -> Iterator[str]:
    """The private modules of other packages that a module imports."""
    for name in imported(module.read_text("utf-8")):
        match name.split("."):
            case ["jsontide", package, inner, *_] if inner[0] == "_" != package[0] and package != part_of(module):
                yield name


@pytest.mark.once
def test_no_package_imports_private_modules_of_another() -> None:
    assert [(module, name) for module in MODULES for name in private_imports(module)] == []


def test_everything_raised_on_purpose_has_one_base() -> None:
    offered = [getattr(jsontide, name) for name in jsontide.__all__]
    raised = [found for found in offered if isinstance(found, type) and issubclass(found, Exception)]
    assert raised
    assert [found for found in raised if not issubclass(found, jsontide.JsontideError)] == []
