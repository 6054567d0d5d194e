"""The command `jsontide`.

Nothing here is imported by the rest of the package.
The command needs the packages of the extra `cli`; without them it prints how to install them, and exits.
"""

import sys
from io import TextIOWrapper

_NEEDS = frozenset({"typer", "rich"})


def main() -> None:
    try:
        # Imported late: this module must load without the extra.
        from jsontide.cli._app import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDS:
            raise
        sys.stderr.write('jsontide: the command needs extra packages: pip install "jsontide[cli]"\n')
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # characters that a terminal cannot show must not stop a command
            stream.reconfigure(errors="backslashreplace")
    app()


__all__ = ["main"]
