"""Writes docs/pictures: the laws as pictures, drawn from what the library does.

In: a few chunks, fed to the parser and the chunker. Out: SVG that is readable on light and on dark pages.
Rule: what is shown, open or the same object is asked of the library, never written down here.

python docs/gen_pictures.py
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate
from pathlib import Path

from jsontide import MISSING, Outcome, ParserState, create_parser_state, is_open, loads, parse_chunk
from jsontide.snapshots import feed_snapshots, start_snapshots
from jsontide.tree import node_at

TARGET = Path(__file__).with_name("pictures")
WIDTH = 540
CHARACTER = 7.4  # of the code font, in pixels
STYLE = """
  .paper { fill: #fbfcfc; stroke: #d5dcdc }
  text { font: 13px system-ui, sans-serif; fill: #1f2a2a }
  .code { font: 12.4px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .quiet { fill: #5b6b6b } .new { fill: #00695c; font-weight: bold }
  .box { fill: #eef2f2; stroke: #b9c6c6 } .fresh { fill: #b9e6dd; stroke: #00897b; stroke-width: 1.5 }
  .growing { fill: #fff0c9; stroke: #c58a00 } .held { fill: url(#hatch); stroke: #b9c6c6; stroke-dasharray: 3 3 }
  .line { stroke: #8a9a9a; fill: none; stroke-width: 1.3 } .tip { fill: #8a9a9a } .stripe { stroke: #c9d3d3 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #1d2427; stroke: #3a464a }
    text { fill: #e3eaea } .quiet { fill: #9fb0b0 } .new { fill: #6fd8c6 }
    .box { fill: #2a3438; stroke: #4d5c61 } .fresh { fill: #0b5349; stroke: #4db6a6 }
    .growing { fill: #57430a; stroke: #d9a520 } .held { stroke: #4d5c61 }
    .line { stroke: #8a9a9a } .stripe { stroke: #3d4a4e }
  }
"""
DEFINITIONS = """<defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<line class="stripe" x1="0" y1="0" x2="0" y2="6" stroke-width="3"/></pattern>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M0 0L8 4L0 8z"/></marker>
</defs>"""


@dataclass
class Drawing:
    """Shapes on a sheet of paper."""

    title: str
    height: float
    shapes: list[str] = field(default_factory=list)

    def write(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """Write text; code is as wide as it is counted, whatever font there is."""
        width = f' textLength="{len(text) * CHARACTER:.1f}"' if "code" in kind and text else ""
        shape = f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{width} xml:space="preserve">'
        self.shapes.append(f"{shape}{escape(text)}</text>")

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        """Draw a box with round corners."""
        self.shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" class="{kind}"/>'
        )

    def label(self, x: float, y: float, text: str, kind: str = "box", width: float = 0) -> float:
        """Draw a box around code, and return its right side."""
        wide = width or len(text) * CHARACTER + 14
        self.box(x, y, wide, 24, kind)
        self.write(x + wide / 2, y + 16.5, text, "code", "middle")
        return x + wide

    def join(self, x1: float, y1: float, x2: float, y2: float, *, arrow: bool = True) -> None:
        """Draw a line."""
        more = ' marker-end="url(#tip)"' * arrow
        self.shapes.append(f'<line class="line" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{more}/>')

    def hang(self, x1: float, x2: float, y: float, depth: float) -> None:
        """Draw a dashed curve from one place to another, below them."""
        self.shapes.append(
            f'<path class="line" stroke-dasharray="4 4" d="M{x1} {y}C{x1} {y + depth} {x2} {y + depth} {x2} {y}"/>'
        )

    def finish(self) -> str:
        """Return the picture as a file has it."""
        size = f'viewBox="0 0 {WIDTH} {self.height:.0f}" width="{WIDTH * 1.15:.0f}" height="{self.height * 1.15:.0f}"'
        paper = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1:.0f}" rx="8" class="paper"/>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(self.title)}">'
        return "\n".join([head, f"<style>{STYLE}</style>", DEFINITIONS, paper, *self.shapes, "</svg>", ""])


def states(chunks: list[str]) -> Iterator[ParserState]:
    """Yield the state after each chunk."""
    return accumulate(chunks, parse_chunk, initial=create_parser_state())


def compact(value: object) -> str:
    return "nothing" if value is MISSING else json.dumps(value, ensure_ascii=False)


def draw_cuts() -> str:
    """Law 1: three ways to cut one text, and the value of each."""
    cuts = [
        ['{"city": "Ky\\u014dto"}'],
        ['{"ci', 'ty": "Ky\\u0', '14dto"', "}"],
        ['{"c', "ity", '": "', "Ky", "\\u", "014", 'dto"', "}"],
    ]
    drawing = Drawing("The same text, cut in three ways, ends in the same value", 178)
    values = {compact(loads(chunks)) for chunks in cuts}
    [value] = values
    for row, chunks in enumerate(cuts):
        x, y = 18.0, 24.0 + 46 * row
        for chunk in chunks:
            x = drawing.label(x, y, chunk) + 3
        drawing.join(x + 6, y + 12, 382, 82)
    drawing.label(390, 70, value, "fresh")
    drawing.write(18, 164, "cut anywhere, also inside an escape", "quiet")
    drawing.write(390, 112, "equal to json.loads", "quiet")
    return drawing.finish()


def draw_shown() -> str:
    """Law 2: what is visible of each field after each chunk."""
    chunks = ['{"city": "Kyo', 'to", "nights', '": 1', '2, "sea": fal', 'se, "tags": ["tem', 'ple"]}']
    columns = {"city": ("city",), "nights": ("nights",), "sea": ("sea",), "tags[0]": ("tags", 0)}
    drawing = Drawing("What is visible of each field after each chunk", 98 + 34 * len(chunks))
    left, wide = 164, 92
    drawing.write(18, 30, "chunk", "quiet")
    for at, name in enumerate(columns):
        drawing.write(left + wide * at + 42, 30, name, "code quiet", "middle")
    for row, (chunk, state) in enumerate(zip(chunks, list(states(chunks))[1:], strict=True)):
        y = 44.0 + 34 * row
        drawing.label(14, y, chunk)
        for at, path in enumerate(columns.values()):
            draw_field(drawing, left + wide * at, y, state, path)
    draw_legend(drawing, 62 + 34 * len(chunks))
    return drawing.finish()


def draw_field(drawing: Drawing, x: float, y: float, state: ParserState, path: tuple[str | int, ...]) -> None:
    """Draw what is visible at a path, or that it has begun."""
    node = node_at(state, path)
    value = MISSING if node is None else node.resolved_value
    if value is not MISSING:
        is_growing = is_open(state, path)
        drawing.label(x, y, f"{value}▍" if is_growing else compact(value), "growing" if is_growing else "fresh", 84)
    elif node is not None:
        drawing.box(x, y, 84, 24, "held")


def draw_legend(drawing: Drawing, y: float) -> None:
    x = 18
    for kind, meaning in (("held", "begun, not certain"), ("growing", "grows"), ("fresh", "finished")):
        drawing.box(x, y, 22, 16, kind)
        drawing.write(x + 28, y + 12.5, meaning, "quiet")
        x += 48 + 7 * len(meaning)


def draw_same_object() -> str:
    """Law 3: which containers are the same object after a chunk."""
    chunks = ['{"days": [{"city": "Kyoto"}, {"city": "Na', "ra"]
    before, after = [state.value for state in list(states(chunks))[1:]]
    drawing = Drawing("After a chunk, only the path to what changed has new objects", 284)
    drawing.write(20, 28, "before", "quiet")
    drawing.write(292, 28, 'after the chunk "ra"', "quiet")
    for x, value in ((20.0, before), (292.0, after)):
        draw_tree(drawing, x, value, before)
    drawing.hang(66, 338, 218, 40)
    drawing.write(202, 264, "the same object", "quiet", "middle")
    drawing.box(404, 252, 22, 16, "fresh")
    drawing.write(432, 264.5, "a new object", "quiet")
    return drawing.finish()


def draw_tree(drawing: Drawing, x: float, value: object, before: object) -> None:
    """Draw the document, its list and its two days; what `before` does not hold is new."""
    assert isinstance(value, dict)  # noqa: S101 - we wrote the text
    days = value["days"]
    old = {id(before)} | {id(part) for part in walk(before)}
    places = [(value, "{days}", 66.0, 44.0), (days, "[…]", 78.0, 116.0)]
    places += [(day, compact(day["city"]), 0.0 + 116 * at, 194.0) for at, day in enumerate(days)]
    drawing.join(x + 102, 68, x + 102, 116, arrow=False)
    for at in range(len(days)):
        drawing.join(x + 102, 140, x + 46 + 116 * at, 194, arrow=False)
    for part, text, dx, y in places:
        width = 92.0 if y > 150 else 72.0 if y < 100 else 48.0  # noqa: PLR2004 - leaves, root, list
        drawing.label(x + dx, y, text, "box" if id(part) in old else "fresh", width)


def walk(value: object) -> Iterator[object]:
    """Yield every container inside a value."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield child
        yield from walk(child)


def draw_states() -> str:
    """Law 4: states that were fed twice."""
    drawing = Drawing("Old states stay valid and can be fed again", 196)
    first, second, third = ['{"city": "Ky', "oto", '"}']
    start = parse_chunk(create_parser_state(), first)
    middle, other = parse_chunk(start, second), parse_chunk(start, "mi")
    end, kept = parse_chunk(middle, third), parse_chunk(other, third)
    left = drawing.label(18, 52, compact(start.value), "growing")
    drawing.join(left, 64, 194, 64)
    drawing.write((left + 194) / 2, 57, second, "code new", "middle")
    drawing.join(100, 78, 194, 146)
    drawing.write(132, 120, "mi", "code new", "middle")
    for y, half, whole in ((52.0, middle, end), (136.0, other, kept)):
        right = drawing.label(196, y, compact(half.value), "growing")
        drawing.join(right, y + 12, 386, y + 12)
        drawing.write((right + 386) / 2, y + 5, third, "code new", "middle")
        drawing.label(388, y, compact(whole.value), "fresh")
    drawing.write(18, 30, "each box is a state, with its value", "quiet")
    drawing.write(18, 184, "the first state was fed twice, and is as it was", "quiet")
    return drawing.finish()


def draw_snapshots() -> str:
    """Law 6: whole values in, text that only grows out."""
    snapshots = ['{"name": "Mat"}', '{"age": 32, "name": "Matthew"}', '{"tags": [], "age": 32, "name": "Matthew"}']
    drawing = Drawing("Snapshots with their keys in any order become text that only grows", 52 + 64 * len(snapshots))
    drawing.write(18, 28, "snapshot, and below it the text so far", "quiet")
    state, written = start_snapshots(), ""
    for row, snapshot in enumerate(snapshots):
        y = 42.0 + 64 * row
        drawing.label(14, y, snapshot)
        state, chunk = feed_snapshots(state, snapshot)
        drawing.write(46, y + 44, "→", "quiet", "middle")
        drawing.write(62, y + 44, written, "code quiet")
        drawing.write(62 + CHARACTER * len(written), y + 44, chunk, "code new")
        written += chunk
    return drawing.finish()


CAUSES = {
    Outcome.COMPLETE: "it is over and valid: it can be run",
    Outcome.TRUNCATED: "a limit, a lost connection, no finish reason",
    Outcome.INVALID: "not JSON, does not fit, unknown tool",
    Outcome.REFUSED: "the model refused",
    Outcome.FILTERED: "the provider withheld it",
    Outcome.CANCELLED: "you stopped it",
    Outcome.EMPTY: "there was no content",
}


def draw_outcomes() -> str:
    """Law 9: how a message may end, and what can be run then."""
    drawing = Drawing("A message becomes one of seven outcomes; only a complete one can be run", 44 + 34 * len(CAUSES))
    middle = 22 + 17 * len(CAUSES)
    drawing.label(14, middle - 12, Outcome.STREAMING.name, "growing")
    for row, (outcome, cause) in enumerate(CAUSES.items()):
        y = 22.0 + 34 * row
        can_run = outcome is Outcome.COMPLETE
        drawing.join(98, middle, 138, y + 12)
        drawing.label(142, y, outcome.name, "fresh" if can_run else "box", 88)
        drawing.write(240, y + 16.5, cause, "new" if can_run else "quiet")
    return drawing.finish()


PICTURES: dict[str, Callable[[], str]] = {
    "cuts": draw_cuts,
    "shown": draw_shown,
    "same-object": draw_same_object,
    "states": draw_states,
    "snapshots": draw_snapshots,
    "outcomes": draw_outcomes,
}


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (TARGET / f"{name}.svg").write_text(draw(), encoding="utf-8")
        print(f"wrote {TARGET.name}/{name}.svg")


if __name__ == "__main__":
    main()
