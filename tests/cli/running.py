"""The command as typer runs it, in this process, with its output not on a terminal."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from jsontide.cli._app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
ITINERARY = EXAMPLES / "itinerary.json"


def run(*arguments: str | Path, **options: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
