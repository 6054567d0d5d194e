"""Writes docs/cli.md from the program itself, so that the reference cannot say anything else.

In: the typer app. Out: Markdown; `python docs/gen_cli.py` writes it beside this file.
"""

from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from jsontide.cli._app import app

TARGET = Path(__file__).with_name("cli.md")
HEAD = """\
# Command line

<!-- Made by docs/gen_cli.py; `make docs` rewrites it. -->

The command comes with the extra `cli`:

```
pip install "jsontide[cli]"
```
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
    name = str(param.name).upper()
    return name if param.required else f"[{name}]"


def _prose(text: str) -> str:
    """Paragraphs as they are, in each one sentence per line."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(paragraphs).replace(". ", ".\n")


def _entry(param: Any, wanted: object) -> str:  # noqa: ANN401 - see above
    is_shown = param.show_default and param.default is not None and param.default is not False
    default = f" Default: `{param.default}`." if is_shown else ""
    return f"- `{_usage(param, wanted)}`: {param.help}{default}"


def _usage(param: Any, wanted: object) -> str:  # noqa: ANN401 - see above
    if param.param_type_name == "argument":
        return str(param.name).upper()
    choices = "|".join(get_args(wanted)) if get_origin(wanted) is Literal else None
    return " ".join(filter(None, [", ".join(param.opts), param.metavar or choices]))


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
