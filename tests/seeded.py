"""What one seed decides: how a value is written, what goes wrong in a text, how it is cut, how states branch.

In: a value or a text, and a `Random`. Out: one of the many forms that it can take.
Rule: nothing here needs Hypothesis, so that `tests/pyodide`, where it cannot be installed, takes the same forms.
"""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from jsontide import create_parser_state, parse_chunk
from tests.cuts import Text, cut_randomly, sized, whole, with_empties

ODD_KEYS = (
    *(
        "",
        " ",
        ".",
        "..",
        "a.b",
        "[0]",
        "0",
        "-1",
        "/",
        "~0",
        "'",
        '"',
        "\\",
        "\\u0041",
        "__class__",
    ),
    *("\x00", "\n", "\x7f", "\u2028", "\ufeff", "\ud800", "\udc00", "\udc00\ud800", "é", "e\u0301"),
    *("日本", "👩‍👩‍👧", "𝄞", "k" * 300),
)
SPACES = ("", "", "", "", " ", "\n", "\t", "\r\n", "  \n ")
SHORT_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", '"': '"', "\\": "\\"}
ACCIDENTS = '[]{}:,"\\\x00\x1f\n e.-+0123tfnulrsa/\x7f\ufeffé😀'
MOST = 80
"""Chunks of a text: a long one is not cut into single characters."""
SWAPPED = str.maketrans("[]{},:", "{}[]:,")


def spell(value: Any, random: Random, *, raw_surrogates: bool = True, repeat_keys: bool = False) -> str:
    """Write a value with random white space, escapes and forms of numbers, and repeated keys if asked to."""

    def write(item: Any) -> str:
        match item:
            case dict():
                pairs = list(item.items())
                if repeat_keys and pairs:
                    pairs += random.choices(pairs + [(pairs[0][0], item_) for _, item_ in pairs], k=2)
                    random.shuffle(pairs)
                members = [f"{string(key)}{gap()}:{gap()}{write(child)}" for key, child in pairs]
                return listing("{", members, "}")
            case list():
                return listing("[", [write(child) for child in item], "]")
            case str():
                return string(item)
            case bool() | None:
                return {True: "true", False: "false", None: "null"}[item]
            case _:
                return spell_number(item, random)

    def gap() -> str:
        return random.choice(SPACES)

    def listing(left: str, parts: list[str], right: str) -> str:
        inner = ",".join(f"{gap()}{part}{gap()}" for part in parts)
        return f"{left}{inner or gap()}{right}"

    def string(text: str) -> str:
        return '"' + "".join(spell_character(char, random, raw_surrogates) for char in text) + '"'

    return f"{gap()}{write(value)}{gap()}"


def spell_character(char: str, random: Random, raw_surrogates: bool) -> str:  # noqa: FBT001
    """As it is where JSON allows it, as a short escape, or as one or two `\\uXXXX`."""
    code = ord(char)
    may_be_raw = code >= 0x20 and char not in '"\\' and (raw_surrogates or not 0xD800 <= code <= 0xDFFF)
    if may_be_raw and random.random() < 0.7:
        return char
    if char == "/":
        return "\\/"
    if char in SHORT_ESCAPES and random.random() < 0.6:
        return "\\" + SHORT_ESCAPES[char]
    units = [code] if code < 0x10000 else [0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF)]
    return "".join(random.choice(("\\u{:04x}", "\\u{:04X}")).format(unit) for unit in units)


def spell_number(number: float, random: Random) -> str:
    """One of the forms of a number; the value may be rounded, but the text is JSON."""
    forms = ["{!r}"] if isinstance(number, int) else ["{!r}", "{:e}", "{:E}", "{:.3e}", "{:.25f}"]
    text = random.choice(forms).format(number)
    if isinstance(number, int) and random.random() < 0.2:
        text += random.choice((".0", ".50", "e0", "E+2", "e-3", ".25E00"))
    return text


def mishap(text: str, random: Random) -> str:
    """Delete, insert, replace, cut off, swap a bracket, repeat a part, or continue after the end."""
    start = random.randint(0, len(text))
    end = min(len(text), start + random.randint(1, 3))
    junk = "".join(random.choices(ACCIDENTS, k=random.randint(1, 2)))
    return random.choice(
        (
            text[:start] + text[end:],
            text[:start] + junk + text[start:],
            text[:start] + junk + text[end:],
            text[:start],
            text[:start] + text[start:end].translate(SWAPPED) + text[end:],
            text[:end] + text[start:],
            text + junk,
        )
    )


def chunk(text: Text, random: Random) -> list[Text]:
    """Cut in one of many ways, and sometimes with empty chunks."""
    match random.randrange(6):
        case 0:
            chunks = whole(text)
        case 1 | 2:
            chunks = sized(text, 1 + len(text) // MOST)
        case 3:
            chunks = sized(text, random.randint(2, 9))
        case _:
            chunks = cut_randomly(text, random)
    return with_empties(chunks) if random.random() < 0.2 else chunks


class Tree:
    """States that branch from one another, each with the text that led to it."""

    def __init__(self, variants: list[str], random: Random) -> None:
        self.variants = variants
        self.random = random
        self.states = [create_parser_state()]
        self.texts = [""]
        self.edges: list[tuple[int, int]] = []

    def branch(self) -> None:
        """Feed any state, old or new, with a piece of a variant that continues it, or with junk."""
        parent = self.random.choice([len(self.states) - 1, self.random.randrange(len(self.states))])
        before = self.texts[parent]
        going_on = [text for text in self.variants if text.startswith(before)] or [before + '"],1}']
        size = self.random.choice([1, 2, 5, 20, 1000])
        piece = self.random.choice(going_on)[len(before) :][:size]
        self.edges.append((parent, len(self.states)))
        self.states.append(parse_chunk(self.states[parent], piece))
        self.texts.append(before + piece)

    def forget(self) -> None:
        """Drop any state but the newest, and with it what only that state held."""
        at = self.random.randrange(len(self.states) - 1)
        del self.states[at], self.texts[at]
        self.edges.clear()


def interleaved_calls(wanted: Sequence[Any], random: Random) -> list[dict[str, Any]]:
    """The deltas of tool calls, one for each value, cut anywhere and interleaved in any order."""
    queues = []
    for index, value in enumerate(wanted):
        pieces = cut_randomly(json.dumps(value), random)
        first = {"index": index, "id": f"call{index}", "name": f"tool{index}", "arguments": ""}
        queues.append([first, *({"index": index, "arguments": piece} for piece in pieces)])
    entries = [queue.pop(0) for queue in queues]
    while any(queues):
        entries.append(random.choice([queue for queue in queues if queue]).pop(0))
    return entries
