"""What installing does beyond copying files: it compiles the hot packages with mypyc, from the same source.

JSONTIDE_PURE=1         do not compile; the wheel fits every platform
JSONTIDE_COMPILED=1     compile, or fail with all that the compiler said
neither                 compile; where that is not possible, say why in one line and continue in pure Python
JSONTIDE_BUILD_DIR=DIR  for developers: keep everything there, compile only what changed, and do not optimize

The settings of the hook in pyproject.toml name what is compiled.
Every module becomes a file of C, so that they are compiled side by side; all of them are one shared library, because
only within one does mypyc know which methods are overridden, and call the others directly.
An editable install is never compiled: an extension beside a source hides every later edit of it.

Run as a program, this file is the compiler: hook and compiler are two processes, because mypyc and setuptools end
theirs when something is wrong, and a bad extension may crash it.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from multiprocessing.pool import ThreadPool
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
        self.temporary = TemporaryDirectory(prefix="jsontide-")
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
        self.temporary.cleanup()

    def compile(self, version: str) -> dict[str, str]:
        """Return the extensions that were made, each with its place in the wheel."""
        if version == "editable":
            raise NotCompiledError("an editable install follows its source")
        reason = obstacle() or missing_package()
        if reason is not None:
            raise NotCompiledError(reason)
        work = Path(os.environ.get("JSONTIDE_BUILD_DIR") or self.temporary.name).resolve()
        # In a copy: the source tree stays as it is, and the copy is tried before it goes into a wheel.
        place = work / "lib"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(Path(self.root, "src", "jsontide"), place / "jsontide")
        modules = list(self.modules(place))
        forget_unless(work, made_for="\n".join([sys.version, *modules]))
        run([sys.executable, __file__, *modules], place)
        made = work / "extensions"
        shutil.copytree(made, place, dirs_exist_ok=True)
        run([sys.executable, "-c", CHECK], place)
        return {str(path): path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}

    def modules(self, place: Path) -> Iterator[str]:
        """Yield the files to compile: single modules, and those of packages whose names are not interpreted ones."""
        for name in self.config["compiled"]:
            part = place / "jsontide" / name
            if part.suffix:
                yield part.relative_to(place).as_posix()
                continue
            for path in sorted(part.glob("*.py")):
                is_interpreted = path.stem.lstrip("_") in self.config["interpreted"]
                if path.name != "__init__.py" and not is_interpreted:
                    yield path.relative_to(place).as_posix()


def forget_unless(work: Path, made_for: str) -> None:
    """Remove what an earlier build left, unless it was made for the same Python and the same modules."""
    record = work / "made-for"
    if not record.is_file() or record.read_text("utf-8") != made_for:
        for name in ("c", "objects", "extensions"):
            shutil.rmtree(work / name, ignore_errors=True)
        record.write_text(made_for, "utf-8")


def is_set(variable: str) -> bool:
    return os.environ.get(variable, "") not in {"", "0"}


def obstacle() -> str | None:
    """Return why this machine cannot or must not compile, as far as that is known without trying."""
    if is_set("JSONTIDE_PURE"):
        return "JSONTIDE_PURE is set"
    is_free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED")
    interpreter = "free-threaded Python" if is_free_threaded else platform.python_implementation()
    if interpreter != "CPython":
        return f"mypyc compiles for CPython, not for {interpreter}"
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
    """Make extensions of modules in `../extensions`; paths are relative, because tracebacks will show them."""
    # Only this process needs them; asking for requirements loads this file where they are not installed yet.
    from mypyc.build import mypycify  # noqa: PLC0415
    from setuptools import Extension, setup  # noqa: PLC0415
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415

    work = Path("..").resolve()
    # The types of the package lead to interpreted modules too, and to packages that are not here while compiling.
    absent = ["--ignore-missing-imports", "--disable-error-code=import-untyped"]
    extensions = mypycify(
        ["--config-file=", "--no-site-packages", *absent, *paths],
        opt_level="0" if is_set("JSONTIDE_BUILD_DIR") else "2",
        debug_level="0",
        multi_file=True,
        target_dir=str(work / "c"),
        group_name=SHARED_LIBRARY,
    )
    library = extensions[0]
    library.sources.sort(key=lambda source: Path(source).stat().st_size, reverse=True)  # the longest first
    # mypyc writes the headers of a library inside a package there, and does not look for them there.
    library.include_dirs.append(str(work / "c" / "jsontide"))
    if sys.platform != "win32":
        # What other libraries could replace is neither inlined nor called directly.
        library.extra_compile_args.append("-fvisibility=hidden")
    headers = list((work / "c").rglob("*.h"))
    processors = os.cpu_count() or 1

    class BuildSideBySide(build_ext):  # type: ignore[misc] # setuptools has no types
        """Compiles the files of the library side by side, and only those that changed, or all if a header did."""

        def build_extension(self, extension: Extension) -> None:
            if extension is library:
                with ThreadPool(processors) as pool:
                    extension.extra_objects = pool.map(self.compile_file, extension.sources, chunksize=1)
                extension.depends, extension.sources = extension.extra_objects, []
            super().build_extension(extension)

        def compile_file(self, source: str) -> str:
            (made,) = self.compiler.object_filenames([source], output_dir=self.build_temp)
            if not Path(made).exists() or changed(Path(made)) < max(map(changed, [Path(source), *headers])):
                options = {"include_dirs": library.include_dirs, "extra_postargs": library.extra_compile_args}
                self.compiler.compile([source], self.build_temp, **options)
            return str(made)

    target = ["--build-lib", str(work / "extensions"), "--build-temp", str(work / "objects")]
    setup(
        name="jsontide",
        packages=[],
        ext_modules=extensions,
        cmdclass={"build_ext": BuildSideBySide},
        script_args=["build_ext", *target, "--parallel", str(processors)],
    )


def changed(path: Path) -> float:
    return path.stat().st_mtime


if __name__ == "__main__":
    compile_modules(sys.argv[1:])
