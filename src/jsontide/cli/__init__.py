"""The command `jsontide`: what a person types goes in, what a person reads comes out.

Nothing here is imported by the rest of the package.
The command needs the packages of the extra `cli`; without them it says so and ends.
"""

import sys

_NEEDS = frozenset({"typer", "rich"})


def main() -> None:
    try:
        # Late on purpose: this module must load where the extra is not installed.
        from jsontide.cli._app import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDS:
            raise
        sys.stderr.write('jsontide: the command needs more: pip install "jsontide[cli]"\n')
        sys.exit(2)
    app()


__all__ = ["main"]
