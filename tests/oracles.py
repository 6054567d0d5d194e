"""Independent models of what the specification says, slow and small.

In: a text or a prefix of one. Out: what must be visible, which nodes must exist, where the text stops being possible.
In: a prefix of one or more documents. Out: the events that must have been emitted.
In: a pattern and a path. Out: whether it matches.
Rule: nothing here comes from `jsontide` but `MISSING`; values are made by `json.loads`, never by a second decoder.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, NamedTuple, NoReturn

from jsontide import MISSING

Path = tuple[str | int, ...]
Step = str | int | slice | type[str] | type[int] | EllipsisType
Steps = tuple[Step, ...]
"""A pattern: keys, indices, slices, `str` for any key, `int` for any index, `...` for any depth."""
Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]]

SPACE = " \t\n\r"
DIGITS = "0123456789"
ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
BODY = re.compile(rf'"(?:[^"\\\x00-\x1f]|{ESCAPE})*')
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
UNITS = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
WAITING = re.compile(r"\\u[dD][89abAB]..", re.DOTALL)
PARTNER_BEGUN = re.compile(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
EXPONENT = r"[eE](?:[+-]?[0-9]*)"
HALF_NUMBER = re.compile(rf"-?(?:(?:0|[1-9][0-9]*)(?:\.(?:[0-9]+(?:{EXPONENT})?)?|{EXPONENT})?)?")
WORDS = {"t": "true", "f": "false", "n": "null"}
CLOSER = {"[": "]", "{": "}"}


def no_constant(name: str) -> NoReturn:
    # RFC 8259, 6: numeric values that cannot be represented in the grammar below (such as Infinity and NaN) are not
    # permitted.
    message = f"{name} is not JSON"
    raise ValueError(message)


def loads(text: str, **options: Any) -> Any:
    """`json.loads` without its extension, the constants NaN, Infinity and -Infinity."""
    return json.loads(text, parse_constant=no_constant, **options)


def is_json(text: str) -> bool:
    try:
        loads(text)
    except ValueError:
        return False
    return True


def line_and_column(text: str, index: int) -> tuple[int, int]:
    position = json.JSONDecodeError("", text, index)
    return position.lineno, position.colno


# What a prefix shows: cut back to what is visible, close what is open, and let `json.loads` read it.


@dataclass
class Shown:
    """The tokens of a prefix that show something, and the value that is open but shows nothing yet."""

    tokens: list[str] = field(default_factory=list)
    closers: list[str] = field(default_factory=list)
    open_string: bool = False
    hidden: str = ""
    hidden_key: str = ""

    @property
    def text(self) -> str:
        return "".join(self.tokens + self.closers[::-1])


def shown(prefix: str) -> Shown:
    """`prefix` must be possible: see `fault`."""
    result = Shown()
    waiting: list[str] = []  # a comma, a key, a colon: they show nothing before their value does
    key_next = False
    for lexeme, ended in lexemes(prefix):
        first = lexeme[0]
        if first in "[{":
            result.tokens += [*waiting, lexeme]
            result.closers.append(CLOSER[first])
            waiting = []
            key_next = first == "{"
        elif first in "]}":
            result.tokens.append(result.closers.pop())
        elif first == ",":
            waiting = [lexeme]
            key_next = result.closers[-1] == "}"
        elif first == ":" or (key_next and ended):
            waiting.append(lexeme)
            key_next = False
        elif first == '"' and not key_next:
            result.tokens += [*waiting, lexeme if ended else settled(lexeme) + '"']
            result.open_string = not ended
        elif ended:
            result.tokens += [*waiting, lexeme]
        elif first != '"':
            result.hidden = lexeme
            result.hidden_key = json.loads(waiting[-2]) if waiting[-1:] == [":"] else ""
    return result


def lexemes(prefix: str) -> Iterator[tuple[str, bool]]:
    """The lexemes of a prefix; only the last one can be without its end."""
    position = 0
    while position < len(prefix):
        start, first = position, prefix[position]
        position += 1
        if first == '"':
            match = BODY.match(prefix, start)
            assert match
            closed = prefix[match.end() : match.end() + 1] == '"'
            position = match.end() + 1 if closed else len(prefix)
            yield prefix[start:position], closed
        elif first in WORDS:
            position = start + len(WORDS[first])
            yield prefix[start:position], position <= len(prefix)
        elif first in "-0123456789":
            match = HALF_NUMBER.match(prefix, start)
            assert match
            position = match.end()
            yield prefix[start:position], position < len(prefix)
        elif first not in SPACE:
            yield first, True


def settled(string: str) -> str:
    """An open string without its half escape and without a high surrogate that waits for its partner."""
    match = BODY.match(string)
    assert match
    units = UNITS.findall(match.group())
    waits = WAITING.fullmatch(units[-1]) and PARTNER_BEGUN.fullmatch(string, match.end())
    return "".join(units[:-1] if waits else units)


def visible(prefix: str, **options: Any) -> Any:
    """The value that must be visible after a possible prefix. `options` are those of `json.loads`."""
    text = shown(prefix).text
    return loads(text, **options) if text else MISSING


def first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An `object_pairs_hook` for `duplicate_keys="first"`."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        result.setdefault(key, value)
    return result


# Where a text stops being possible: a pushdown automaton over characters that builds no value.


@dataclass(frozen=True)
class Fault:
    """`reason` is the name of a `Reason`."""

    reason: str
    index: int
    path: Path


@dataclass
class Walk:
    """What may come next (`value`, `first`, `key`, `first key`, `colon`, `after`) and the way down to it."""

    expected: str = "value"
    brackets: list[str] = field(default_factory=list)
    segments: list[str | int] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The container's path, and the segment of the value where one is expected or being read."""
        inside = self.expected in {"value", "first"}
        return tuple(self.segments if inside or not self.segments else self.segments[:-1])

    def open(self, bracket: str) -> None:
        self.brackets.append(bracket)
        self.segments.append(0 if bracket == "[" else "")
        self.expected = "first" if bracket == "[" else "first key"

    def close(self) -> None:
        self.brackets.pop()
        self.segments.pop()
        self.expected = "after"

    def comma(self) -> None:
        last = self.segments[-1]
        if isinstance(last, int):
            self.segments[-1] = last + 1
        self.expected = "value" if isinstance(last, int) else "key"

    def key(self, lexeme: str) -> None:
        self.segments[-1] = json.loads(lexeme)
        self.expected = "colon"

    def punctuation(self, char: str) -> bool:
        """Take a bracket, a comma or a colon; False where it cannot stand."""
        bracket = self.brackets[-1] if self.brackets else ""
        if char in CLOSER and self.expected in {"value", "first"}:
            self.open(char)
        elif (self.expected, char) in {("first", "]"), ("first key", "}")}:
            self.close()
        elif (self.expected, char) == ("colon", ":"):
            self.expected = "value"
        elif self.expected == "after" and char == "," and bracket:
            self.comma()
        elif self.expected == "after" and bracket and char == CLOSER[bracket]:
            self.close()
        else:
            return False
        return True


def fault(text: str, *, ended: bool = False) -> Fault | None:
    """The first character that no valid text can have after what stands before it; with `ended`, also a missing end."""
    walk = Walk()
    position = 0
    if text.startswith("\ufeff"):
        return Fault("BYTE_ORDER_MARK", 0, ())
    while position < len(text):
        char = text[position]
        scalar = char in '"-0123456789tfn'
        if scalar and (walk.expected in {"value", "first"} or (char == '"' and "key" in walk.expected)):
            end, reason = scalar_end(text, position)
            if reason:
                return Fault(reason, end, walk.path)
            may_go_on = char in "-0123456789" and (walk.brackets or not ended)
            if end == len(text) and (may_go_on or not is_json(text[position:end])):
                return Fault("UNEXPECTED_END", end, walk.path) if ended else None
            if "key" in walk.expected:
                walk.key(text[position:end])
            else:
                walk.expected = "after"
            position = end
        elif char in SPACE or walk.punctuation(char):
            position += 1
        elif walk.expected == "after" and not walk.brackets:
            return Fault("TRAILING_TEXT", position, ())
        else:
            return Fault("UNEXPECTED_CHARACTER", position, walk.path)
    finished = walk.expected == "after" and not walk.brackets
    return Fault("UNEXPECTED_END", position, walk.path) if ended and not finished else None


def outcome(text: str, *, ended: bool = False) -> tuple[Any, Fault | None]:
    """What must be visible after any text, good or bad, and the fault if it has one."""
    found = fault(text, ended=ended)
    return visible(possible_part(text, found) if found else text + " " * ended), found


def possible_part(text: str, found: Fault) -> str:
    """A possible prefix that shows as much as `text` does.

    A wrong character still decides what waited for it:
    it completes a number that it cannot continue, and leaves a high surrogate alone.
    """
    prefix, wrong = text[: found.index], text[found.index : found.index + 1]
    if found.reason == "CONTROL_CHARACTER":
        return prefix + '"'
    if found.reason == "BAD_ESCAPE":
        return prefix.rpartition("\\")[0] + '"'
    completes = wrong and wrong not in DIGITS and NUMBER.fullmatch(shown(prefix).hidden)
    return prefix + " " if completes else prefix


def scalar_end(text: str, start: int) -> tuple[int, str]:
    """Where the string, number or word at `start` ends, or where it fails and the reason."""
    first = text[start]
    if first == '"':
        return string_end(text, start)
    if first in WORDS:
        word = WORDS[first]
        end = start
        while end < len(text) and end - start < len(word) and text[end] == word[end - start]:
            end += 1
        failed = end < len(text) and end - start < len(word)
        return end, "UNEXPECTED_CHARACTER" if failed else ""
    match = HALF_NUMBER.match(text, start)
    assert match
    lexeme, rest = match.group(), text[match.end() :]
    # A digit after a leading zero belongs to the number, and is wrong in it.
    failed = not NUMBER.fullmatch(lexeme) or (lexeme in {"0", "-0"} and rest[:1] in DIGITS)
    return match.end(), "UNEXPECTED_CHARACTER" if rest and failed else ""


def string_end(text: str, start: int) -> tuple[int, str]:
    match = BODY.match(text, start)
    assert match
    end = match.end()
    if end == len(text):
        return end, ""
    if text[end] == '"':
        return end + 1, ""
    if text[end] != "\\":
        return end, "CONTROL_CHARACTER"
    half = HALF_ESCAPE.match(text, end)
    assert half
    return half.end(), "" if half.end() == len(text) else "BAD_ESCAPE"


# Which nodes must exist.


class Lexeme(str):
    """A number as it was written."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object with all its pairs, duplicates included."""


class ModelNode(NamedTuple):
    """The attributes that a node must have; `None` for those that its kind does not have."""

    id: int
    type: str
    parent_id: int | None
    closed: bool
    resolved_value: Any
    buffer: str | None = None
    keys: tuple[str, ...] | None = None
    children: tuple[int, ...] | None = None


def nodes(prefix: str, hook: Hook = dict) -> list[ModelNode]:
    """All nodes of a possible prefix by id; `hook` makes an object of its pairs, like `object_pairs_hook`."""
    seen = shown(prefix)
    if not seen.text:
        return [hidden_node(0, None, seen.hidden)] if seen.hidden else []
    tree = json.loads(seen.text, object_pairs_hook=Pairs, parse_int=Lexeme, parse_float=Lexeme)
    made: dict[int, ModelNode] = {}
    add_node(made, tree, None, len(seen.closers) + seen.open_string, seen)
    for number in sorted(made, reverse=True):  # children before their parents
        made[number] = made[number]._replace(resolved_value=resolved(made[number], made, hook))
    return [made[number] for number in sorted(made)]


def resolved(node: ModelNode, made: dict[int, ModelNode], hook: Hook) -> Any:
    if node.children is None:
        return node.resolved_value
    items = [made[child].resolved_value for child in node.children]
    shown_items = [item for item in items if item is not MISSING]  # only the last can be missing
    return shown_items if node.keys is None else hook(list(zip(node.keys, shown_items, strict=False)))


def hidden_node(number: int, parent: int | None, lexeme: str) -> ModelNode:
    """An open number or word."""
    if lexeme[0] in WORDS:
        return ModelNode(
            number,
            "null" if lexeme[0] == "n" else "boolean",
            parent,
            closed=False,
            resolved_value=MISSING,
        )
    return ModelNode(number, "number", parent, closed=False, resolved_value=MISSING, buffer=lexeme)


def add_node(made: dict[int, ModelNode], tree: Any, parent: int | None, levels: int, seen: Shown) -> int:
    """Add the nodes of `tree` in preorder. `levels` counts what is open from here down along the last children."""
    number = len(made)
    made[number] = leaf_node(number, tree, parent, closed=levels == 0)
    if not isinstance(tree, list):
        return number
    keys = [pair[0] for pair in tree] if isinstance(tree, Pairs) else None
    items = [pair[1] for pair in tree] if isinstance(tree, Pairs) else tree
    last = len(items) - 1
    inner = max(levels - 1, 0)
    children = [add_node(made, item, number, inner if at == last else 0, seen) for at, item in enumerate(items)]
    if levels == 1 and seen.hidden:
        children.append(len(made))
        made[len(made)] = hidden_node(len(made), number, seen.hidden)
        keys = keys if keys is None else [*keys, seen.hidden_key]
    made[number] = ModelNode(
        number,
        "array" if keys is None else "object",
        parent,
        closed=levels == 0,
        resolved_value=MISSING,
        keys=None if keys is None else tuple(keys),
        children=tuple(children),
    )
    return number


def leaf_node(number: int, leaf: Any, parent: int | None, *, closed: bool) -> ModelNode:
    if isinstance(leaf, Lexeme):
        return ModelNode(number, "number", parent, closed, json.loads(leaf), buffer=str(leaf))
    if isinstance(leaf, str):
        return ModelNode(number, "string", parent, closed, leaf, buffer=leaf)
    return ModelNode(number, "null" if leaf is None else "boolean", parent, closed, leaf)


# Which events must be emitted: one lexeme after the other, with the way down to it.


class Event(NamedTuple):
    """What happened; a string is emitted in one piece."""

    kind: str
    path: Path
    text: str | None = None
    value: Any = None


def events(prefix: str) -> list[Event]:
    """The events of a possible prefix; of documents in a row, if there are several."""
    emitted: list[Event] = []
    segments: list[str | int] = []
    document: list[str] = []
    key_next = False
    for lexeme, ended in lexemes(prefix):
        first, path = lexeme[0], tuple(segments)
        document.append(lexeme)
        is_end = first in "]}"
        if first in CLOSER:
            emitted.append(Event("StartObject" if first == "{" else "StartArray", path, first))
            segments.append("" if first == "{" else 0)
            key_next = first == "{"
        elif is_end:
            segments.pop()
            emitted.append(Event("EndObject" if first == "}" else "EndArray", path[:-1], first))
            key_next = False
        elif first == ",":
            segments[-1], key_next = (path[-1] + 1, False) if isinstance(path[-1], int) else ("", True)
        elif key_next and ended:
            segments[-1] = json.loads(lexeme)
            emitted.append(Event("Key", path[:-1], json.loads(lexeme), json.loads(lexeme)))
            key_next = False
        elif first != ":" and not key_next:
            emitted += scalar_events(lexeme, path, ended=ended)
        if ended and not segments and (is_end or first not in "[{"):
            emitted.append(Event("JsonComplete", (), None, loads(" ".join(document))))
            document = []
    return emitted


def scalar_events(lexeme: str, path: Path, *, ended: bool) -> Iterator[Event]:
    if lexeme[0] == '"':
        text = json.loads(lexeme if ended else settled(lexeme) + '"')
        yield Event("StartString", path, '"')
        if text:
            yield Event("PartialString", path, text)
        if ended:
            yield Event("CompleteString", path, text, text)
    elif ended:
        kind = {"t": "Boolean", "f": "Boolean", "n": "Null"}.get(lexeme[0], "Number")
        yield Event(f"Complete{kind}", path, lexeme, json.loads(lexeme))


def folded(emitted: Iterable[Event]) -> list[Any]:
    """The documents that events rebuild, from deltas and not from whole values: written again, for `json.loads`."""
    written: list[str] = []
    for event in emitted:
        text = event.text or ""
        if event.kind == "Key":
            written.append(json.dumps(text) + ":")
        elif event.kind == "PartialString":
            written.append(json.dumps(text)[1:-1])
        elif event.kind == "CompleteString":
            written.append('",')
        elif event.kind.startswith("Start"):
            written.append(text)
        elif event.kind.startswith("End"):
            written[-1] = written[-1].removesuffix(",")
            written.append(text + ",")
        elif event.kind != "JsonComplete":
            written.append(text + ",")
    documents: list[Any] = json.loads("[" + "".join(written).removesuffix(",") + "]")
    return documents


# Which paths a pattern matches.


def matches(steps: Steps, path: Path) -> bool:
    if not steps:
        return not path
    if steps[0] is ...:
        return any(matches(steps[1:], path[levels:]) for levels in range(len(path) + 1))
    return bool(path) and fits(steps[0], path[0]) and matches(steps[1:], path[1:])


def fits(step: Step, segment: str | int) -> bool:
    if isinstance(step, slice):
        return isinstance(segment, int) and segment in range(segment + 1)[step]
    return type(segment) is step or (type(segment) is type(step) and segment == step)


def leads_to_match(steps: Steps, path: Path) -> bool:
    """Tell whether the path, or a longer one that begins with it, can match."""
    possible = all(range(sys.maxsize)[step] for step in steps if isinstance(step, slice))
    return possible and any(matches(steps[:count], path) for count in range(len(steps) + 1))
