"""A state in words: what may come next, where the text is open, what can be shown of any text.

In: states and text. Out: short strings that are safe to print on a terminal.
"""

import json
import re
from collections.abc import Sequence

from jsontide import ParserState, Path
from jsontide.tree import ArrayNode, Mode, Node, ObjectNode, StringNode

EXPECTED = {
    Mode.STRING: "more of a string",
    Mode.KEY_TEXT: "more of a key",
    Mode.LITERAL: "the rest of true, false or null",
    Mode.NUMBER: "a number",
    Mode.FIRST_DIGIT: "a digit",
    Mode.AFTER_ZERO: "more of a number, or its end",
    Mode.INTEGER: "more of a number, or its end",
    Mode.FIRST_DECIMAL: "a digit",
    Mode.FRACTION: "more of a number, or its end",
    Mode.EXPONENT_SIGN: "an exponent",
    Mode.FIRST_EXPONENT: "a digit",
    Mode.EXPONENT: "more of a number, or its end",
    Mode.VALUE: "a value",
    Mode.ITEM_OR_END: "an item or ']'",
    Mode.ITEM: "an item",
    Mode.AFTER_ITEM: "',' or ']'",
    Mode.KEY_OR_END: "a key or '}'",
    Mode.KEY: "a key",
    Mode.COLON: "':'",
    Mode.MEMBER: "a value",
    Mode.AFTER_MEMBER: "',' or '}'",
    Mode.DONE: "nothing: complete",
    Mode.ERROR: "nothing: bad text",
}

# Characters that would steer a terminal, turn the direction of writing or break a line, and lone
# surrogates, which no encoding can write.
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Text with all that would steer a terminal written as JSON escapes."""
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def quoted(text: str) -> str:
    """A JSON string, printable."""
    return printable(json.dumps(text, ensure_ascii=False))


def open_path(state: ParserState) -> Path:
    """The path of the innermost value that is still open; the root's where nothing is."""
    return _newest_path(state, state.stack if _open_leaf(state) else state.stack[:-1])


def growing_path(state: ParserState) -> Path | None:
    """The path of the innermost open value that is visible; `None` where nothing is."""
    leaf = _open_leaf(state)
    if isinstance(leaf, StringNode):
        return _newest_path(state, state.stack)
    return _newest_path(state, state.stack[:-1]) if state.stack else None


def _open_leaf(state: ParserState) -> Node | None:
    """The string, number or literal that is being read."""
    newest = state.nodes[-1] if state.nodes else None
    if newest is None or newest.closed or isinstance(newest, ArrayNode | ObjectNode):
        return None
    return newest


def _newest_path(state: ParserState, containers: Sequence[int]) -> Path:
    """What is open is always the newest child of its parent."""
    nodes = map(state.nodes.__getitem__, containers)
    return tuple(_newest(node) for node in nodes if isinstance(node, ArrayNode | ObjectNode))


def _newest(node: ArrayNode | ObjectNode) -> str | int:
    return node.keys[-1] if isinstance(node, ObjectNode) else len(node.children) - 1
