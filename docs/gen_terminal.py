"""Writes docs/terminal.svg: what `jsontide watch` shows of a recorded answer while a call of a tool is written.

In: the recording of examples/chat, and the view of the command line. Out: the view at one moment, drawn by rich.

python docs/gen_terminal.py
"""

import io
import re
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI

from jsontide.cli._drawing import LiveView, MessagePanels, NewParts
from jsontide.recordings import Moment, Recording, follow

TARGET = Path(__file__).with_name("terminal.svg")
RECORDING = Path(__file__).parents[1] / "examples/chat/recording.ndjson"
TITLE = "jsontide watch recording.ndjson"
WIDTH, HEIGHT = 92, 30
PLACE = '"days"'
"""The moment is the one at which the plan has this key, and the next two days have begun."""

# Without fonts from elsewhere: a page asks nobody for anything.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def find_moment(moments: list[Moment]) -> int:
    """Return the place of the moment to show: two thirds into what follows the beginning of the plan."""
    first = next(at for at, moment in enumerate(moments) if PLACE in str(moment.value).replace("'", '"'))
    return first + (len(moments) - first) * 3 // 5


def draw(moments: list[Moment], at: int, total: int) -> str:
    fresh = NewParts()
    fresh.add(moments[at].changes)
    console = Console(
        record=True, width=WIDTH, height=HEIGHT, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(LiveView(moments[at], fresh, MessagePanels(), total))
    return console.export_svg(title=TITLE, theme=MONOKAI, code_format=FORMAT, unique_id="terminal")


def main() -> None:
    recording = Recording.load(RECORDING)
    moments = list(follow(recording))
    TARGET.write_text(draw(moments, find_moment(moments), len(recording.encode())), encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
