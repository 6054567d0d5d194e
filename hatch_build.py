"""What installing does beyond copying files: it compiles the hot packages with mypyc, from the same source.

JSONTIDE_PURE=1      do not compile; the wheel fits every platform
JSONTIDE_COMPILED=1  compile, or fail with all that the compiler said
neither              compile; where that is not possible, say why in one line and continue in pure Python

The settings of the hook in pyproject.toml name what is compiled.
An editable install is never compiled: an extension beside a source hides every later edit of it.

Run as a program, this file is the compiler: hook and compiler are two processes, because mypyc and setuptools end
theirs when something is wrong, and a bad extension may crash it.
"""

from __future__ import annotations

import ast
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRES = ["mypy>=2.0,<3", "setuptools>=77"]
SHARED_LIBRARY = "jsontide._core"
CHECK = "import jsontide; jsontide.COMPILED or exit('error: the extensions were not found')"


class NotCompiledError(Exception):
    """Why the extensions do not exist, in one line; `log` is all that was said about it."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.log = log


class CompileHook(BuildHookInterface[WheelBuilderConfig]):
    """Adds the extensions to a wheel, beside their sources."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what compiling needs, so that a pure build asks for nothing that it does not use."""
        return [] if obstacle() else REQUIRES

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.work = TemporaryDirectory(prefix="jsontide-")
        try:
            extensions = self.compile(version)
        except NotCompiledError as error:
            if is_set("JSONTIDE_COMPILED"):
                self.app.abort(f"{error.log}jsontide: not compiled, and JSONTIDE_COMPILED is set: {error}")
            self.app.display_warning(f"jsontide: not compiled, pure Python instead: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update(extensions)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        self.work.cleanup()

    def compile(self, version: str) -> dict[str, str]:
        """Return the extensions that were made, each with its place in the wheel."""
        if version == "editable":
            raise NotCompiledError("an editable install follows its source")
        reason = obstacle() or missing_package()
        if reason is not None:
            raise NotCompiledError(reason)
        # In a copy: the source tree stays as it is, and the copy is tried before it goes into a wheel.
        place = Path(self.work.name, "lib")
        shutil.copytree(Path(self.root, "src", "jsontide"), place / "jsontide")
        run([sys.executable, __file__, *self.modules(place)], place)
        run([sys.executable, "-c", CHECK], place)
        made = place.rglob("*" + sysconfig.get_config_var("EXT_SUFFIX"))
        return {str(path): path.relative_to(place).as_posix() for path in made}

    def modules(self, place: Path) -> Iterator[str]:
        """Yield the files to compile: single modules, and those of packages whose names are not interpreted ones."""
        for name in self.config["compiled"]:
            part = place / "jsontide" / name
            if part.suffix:
                yield str(part.relative_to(place))
                continue
            for path in sorted(part.glob("*.py")):
                is_interpreted = path.stem.lstrip("_") in self.config["interpreted"]
                if path.name != "__init__.py" and not is_interpreted:
                    yield str(path.relative_to(place))


def is_set(variable: str) -> bool:
    return os.environ.get(variable, "") not in {"", "0"}


def obstacle() -> str | None:
    """Return why this machine cannot or must not compile, as far as that is known without trying."""
    if is_set("JSONTIDE_PURE"):
        return "JSONTIDE_PURE is set"
    if platform.python_implementation() != "CPython":
        return f"mypyc compiles for CPython, not for {platform.python_implementation()}"
    if sys.platform == "win32":
        return None  # setuptools knows where Microsoft's compiler is; only trying shows whether it works
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        return f"no C compiler was found ({compiler})"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "the headers of Python were not found (Debian and Ubuntu: apt install python3-dev)"
    return None


def missing_package() -> str | None:
    """Return which package is not there, as it may be if pip does not isolate the build."""
    for name in ("mypyc", "setuptools"):
        if find_spec(name) is None:
            return f"the package {name} is not installed"
    return None


def run(command: list[str], place: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True, errors="replace"
    )
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        # The first error is the cause of the others; an exception stands in the last line.
        said = [*(line for line in lines if "error:" in line), *lines[-1:], f"status {done.returncode}"]
        raise NotCompiledError(shorten(said[0], 200, placeholder=" ..."), done.stdout)


def compile_modules(paths: list[str]) -> None:
    """Make extensions of modules, beside them; paths are relative, because tracebacks will show them."""
    # Only this process needs them; asking for requirements loads this file where they are not installed yet.
    from mypyc.build import mypycify  # noqa: PLC0415
    from setuptools import setup  # noqa: PLC0415

    work = Path("..", "work").resolve()
    # The types of the package lead to interpreted modules too, and to packages that are not here while compiling.
    absent = ["--ignore-missing-imports", "--disable-error-code=import-untyped"]
    mypy_options = ["--config-file=", "--no-site-packages", f"--cache-dir={work / 'cache'}", *absent]
    extensions = mypycify(
        [*mypy_options, *paths],
        opt_level="3",
        debug_level="0",
        target_dir=str(work / "c"),
        group_name=SHARED_LIBRARY,
    )
    add_docstrings(work / "c", paths)
    target = ["--build-lib", ".", "--build-temp", str(work / "o"), "--parallel", str(os.cpu_count() or 1)]
    setup(name="jsontide", packages=[], ext_modules=extensions, script_args=["build_ext", *target])


def add_docstrings(directory: Path, paths: list[str]) -> None:
    """Write the docstrings of modules into the C that mypyc made of them: it keeps signatures alone."""
    texts = dict(chain.from_iterable(docstrings_in(Path(path)) for path in paths))

    def documented(found: re.Match[str]) -> str:
        name = "___" + "___".join(part for part in (found["owner"], found.groupdict().get("name")) if part)
        text = next((text for full, text in texts.items() if full.endswith(name)), None)
        if text is None:
            return found[0]
        said = found.groupdict().get("said") or ""
        return f'{found["before"]}PyDoc_STR("{said}{c_string(text)}")'

    for path in directory.rglob("*.c"):
        code = path.read_text("utf-8")
        for pattern in (FUNCTION, CLASS, PROPERTY):
            code = pattern.sub(documented, code)
        path.write_text(code, "utf-8")


# What mypyc writes for functions and methods, classes, and properties; the text in quotes is the signature, if any.
FUNCTION = re.compile(r'(?P<before>CPyPy_(?P<owner>\w+),\s*METH_[\w |]+,\s*)PyDoc_STR\((?:"(?P<said>[^"]*)"|NULL)\)')
CLASS = re.compile(
    r'(?P<before>sizeof\((?P<owner>\w+)Object\),[^"]*?\.tp_doc = )PyDoc_STR\((?:"(?P<said>[^"]*)"|NULL)\)'
)
PROPERTY = re.compile(r"(?P<before>\(getter\)(?P<owner>\w+?)_get_(?P<name>\w+),\s*[^,]+,\s*)NULL(?=, NULL)")


def docstrings_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each documented class, function and method as mypyc spells it in C, and its docstring."""
    module = "___" + "___".join(path.with_suffix("").parts)
    for node in ast.parse(path.read_text("utf-8")).body:
        for inner in [node, *(node.body if isinstance(node, ast.ClassDef) else [])]:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(inner)):
                within = "" if inner is node else f"___{getattr(node, 'name', '')}"
                yield f"{module}{within}___{inner.name}", text


def c_string(text: str) -> str:
    """Write a text between the quotes of a C string."""
    return "".join(chr(byte) if byte in PLAIN else f"\\{byte:03o}" for byte in text.encode())


PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\?')  # a question mark may begin a trigraph


if __name__ == "__main__":
    compile_modules(sys.argv[1:])
