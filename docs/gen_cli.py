"""Writes docs/reference/cli.md from the program itself, so that the reference cannot say anything else.

In: the typer app. Out: Markdown; `python docs/gen_cli.py` writes docs/reference/cli.md.
"""

from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from jsontide.cli._app import app

TARGET = Path(__file__).parent / "reference/cli.md"
HEAD = """\
# Command line

<!-- Made by docs/gen_cli.py; `make docs` rewrites it. -->

The command comes with the extra `cli`:

```
pip install "jsontide[cli]"
```

`jsontide --install-completion` teaches your shell its commands and options.

All commands read files or standard input, write as soon as there is something to write, and end with the same codes:

| exit code | meaning |
|---|---|
| 0 | all is well |
| 1 | the input is not what it should be; standard error says what is wrong, and where, with a caret under the place |
| 2 | invalid command line, or a file, a port or an extra that cannot be used |
| 3 | the input is cut off |
| 4 | `mend --check`: the text would be mended |
| 130, 141 | interrupted; the reader of the output left |
"""


def reference() -> str:
    root = typer.main.get_command(app)
    sections = [HEAD, *_section("jsontide", root)]
    for name, command in getattr(root, "commands", {}).items():
        sections += _section(f"jsontide {name}", command)
    return "\n".join(sections)


# A command is click's, or typer's own copy of it, depending on the version of typer.
def _section(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401 - see above
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    types = get_type_hints(unwrap(command.callback))
    more = "COMMAND [ARGS]..." * hasattr(command, "commands")
    words = [name, "[OPTIONS]" * bool(options), *map(_argument, arguments), more]
    yield f"## `{name}`\n"
    yield f"```\n{' '.join(filter(None, words))}\n```\n"
    yield f"{_prose(command.help)}\n"
    yield "\n".join(_entry(param, types.get(param.name)) for param in arguments + options) + "\n"


def _argument(param: Any) -> str:  # noqa: ANN401 - see above
    name = _name(param)
    shown: str = name if param.required else f"[{name}]"
    return f"{shown}..." if param.nargs == -1 else shown


def _name(param: Any) -> str:  # noqa: ANN401 - see above
    return str(param.metavar or param.name.upper()).removesuffix("...")


def _prose(text: str) -> str:
    """Paragraphs with one sentence per line; those that the help does not wrap are commands."""
    return "\n\n".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text: str) -> str:
    if text.startswith("\b\n"):
        return f"```\n{text[2:]}\n```"
    return " ".join(text.split()).replace(". ", ".\n")


def _entry(param: Any, wanted: object) -> str:  # noqa: ANN401 - see above
    is_shown = param.show_default and param.default is not None and param.default is not False
    default = f" Default: `{param.default}`." if is_shown else ""
    return f"- `{_usage(param, wanted)}`: {param.help}{default}"


def _usage(param: Any, wanted: object) -> str:  # noqa: ANN401 - see above
    if param.param_type_name == "argument":
        return _name(param)
    literals = [each for each in (wanted, *get_args(wanted)) if get_origin(each) is Literal]
    choices = "|".join(get_args(literals[0])) if literals else None
    return " ".join(filter(None, [", ".join(param.opts), param.metavar or choices]))


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
