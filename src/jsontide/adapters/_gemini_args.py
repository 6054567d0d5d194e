"""Gemini's `partialArgs`: values at JSON paths in, the text of the growing arguments out.

The text is written as the values arrive; of what is closed only the keys are kept.
Rule: what was written is never taken back. Parts that do not go on where the text stands, such as a path through a
number, an element far behind the last one, more of a string that was closed, or another value before a string is
closed, end the writing: the text stays open, and cannot be run.
So does the text of a call that ends while a string was said to go on, or of which nobody knows whether it goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, cast

from jsontide._path import Path, Segment
from jsontide._textbuffer import NO_TEXT, GrowingText, joined, without_half
from jsontide._values import JsonValue
from jsontide.adapters._fields import field, has, text

_MOST_EXACT: Final = 2**53
_DEEPEST: Final = 512
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]]+)
    | \[(?P<index>[0-9]{1,9})\]
    | \[(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""",
    re.VERBOSE,
)
_IN_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)
_NULLS: Final = ("nullValue", "null_value")
_NOT_NULL: Final = ("stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value")


@dataclass(frozen=True, slots=True)
class _Container:
    """An open object or array."""

    keys: dict[str, int] | None = None
    """The keys of an object, numbered; later states share it, and each sees the first so many. `None` for an array."""
    count: int = 0
    last: Segment | None = None
    """The member or element that is open, or was written last."""

    @property
    def closer(self) -> str:
        return "]" if self.keys is None else "}"

    def add(self, segment: Segment) -> _Container | None:
        """Return the container with one more member or element, `None` if there cannot be one."""
        keys, count = self.keys, self.count
        if keys is None:
            return _Container(None, count + 1, segment) if segment == count else None
        if not isinstance(segment, str) or keys.get(segment, count) < count:
            return None
        if len(keys) != count:  # this is not the newest state
            keys = dict(islice(keys.items(), count))
        keys[segment] = count
        return _Container(keys, count + 1, segment)


def _opened(by: Segment) -> _Container:
    """Return the container that a step of a path leads into."""
    return _Container({} if isinstance(by, str) else None)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call as far as they are written."""

    written: GrowingText
    path: tuple[_Container, ...]
    """The containers that are open; the last value stands in the innermost."""
    in_string: bool = False
    """Whether the last value is a string; its quote is written when something follows."""
    is_open: bool = False
    """Whether that string was said to go on."""
    held: str = ""
    """Half a character at the end of it."""
    is_broken: bool = False


def no_arguments() -> Arguments:
    return Arguments(NO_TEXT, (_Container({}),))


def continues(said: object) -> bool | None:
    """Tell whether a call or a value goes on, `None` if what is said of it is neither yes nor no."""
    found = field(said, "willContinue", "will_continue")
    return found if isinstance(found, bool) else False if found is None else None


def with_partials(
    arguments: Arguments, partials: Iterable[object], whole: str | Mapping[str, object] | None = None
) -> tuple[Arguments, str]:
    """Return the arguments after some more of them, or after all of them so far, and the text that this adds."""
    if arguments.is_broken:
        return arguments, ""
    writer = _Writer(arguments)
    fits = not whole or writer.put_whole(whole)
    if fits:
        fits = all(map(writer.put, partials))
    return writer.finish(is_broken=not fits)


def closing(arguments: Arguments) -> str:
    """Return the text that closes the arguments, nothing if they are not whole."""
    if arguments.is_broken or arguments.is_open:
        return ""
    return _end_of_string(arguments) + _closers(arguments.path)


def _end_of_string(of: Arguments | _Writer) -> str:
    # A half that nothing came for is written as an escape.
    return json.dumps(of.held)[1:] if of.in_string else ""


def _closers(path: Iterable[_Container]) -> str:
    return "".join(container.closer for container in path)[::-1]


def path_of(written: str) -> Path | None:
    """Read a JSONPath of plain steps.

    >>> path_of("$.recipe['odd key'][0]")
    ('recipe', 'odd key', 0)
    """
    if not written.startswith("$"):
        return None
    segments: list[Segment] = []
    place = 1
    while place < len(written):
        step = _STEP.match(written, place)
        segment = None if step is None else _segment(step)
        if step is None or segment is None:
            return None
        segments.append(segment)
        place = step.end()
    return tuple(segments) if len(segments) <= _DEEPEST else None


def _segment(step: re.Match[str]) -> Segment | None:
    if step["index"]:
        return int(step["index"])
    return step["name"] or _unquoted(step["quoted"])


def _unquoted(quoted: str) -> str | None:
    """RFC 9535: a name in quotes of either kind has the escapes of a JSON string, and its own quote may be escaped."""
    inside = _IN_QUOTES.sub(lambda found: {'"': '\\"', "\\'": "'"}.get(found[0], found[0]), quoted[1:-1])
    try:
        name = json.loads(f'"{inside}"')
    except ValueError:
        return None
    return cast("str", name)


class _Writer:
    """Writes the parts of one event."""

    def __init__(self, before: Arguments) -> None:
        self.before = before
        self.path = [*before.path]
        self.in_string = before.in_string
        self.is_open = before.is_open
        self.held = before.held
        # A call without any text would be one without arguments, which can be run.
        self.pieces = [] if before.written.length else ["{"]

    def finish(self, *, is_broken: bool) -> tuple[Arguments, str]:
        added = "".join(self.pieces)
        written = self.before.written.append(added)
        path = tuple(self.path)
        return Arguments(written, path, self.in_string, self.is_open, self.held, is_broken), added

    def put(self, partial: object) -> bool:
        """Write a partial argument; `False` if it does not fit."""
        path, goes_on = path_of(text(partial, "jsonPath", "json_path") or ""), continues(partial)
        if not path or goes_on is None or _is_torn(text(partial, "stringValue", "string_value")):
            return False
        depth = self._depth(path)
        if depth == len(path) == len(self.path):
            return self._put_more(partial, goes_on=goes_on)
        if depth in {len(path), len(self.path)} or self.is_open:
            return False
        return self._put_new(depth, path, partial, goes_on=goes_on)

    def _depth(self, path: Path) -> int:
        """Return how many steps of a path lead along the open one."""
        depth = 0
        while depth < min(len(path), len(self.path)) and self.path[depth].last == path[depth]:
            depth += 1
        return depth

    def _put_more(self, partial: object, *, goes_on: bool) -> bool:
        piece = text(partial, "stringValue", "string_value")
        if not self.in_string or (piece is None and field(partial, *_NOT_NULL, *_NULLS) is not None):
            return False
        if not self.is_open:  # it may be closed twice
            return not piece and not goes_on
        self._put_string(piece or "", goes_on=goes_on)
        return True

    def _put_new(self, depth: int, path: Path, partial: object, *, goes_on: bool) -> bool:
        piece = text(partial, "stringValue", "string_value")
        scalar = _scalar(partial) if piece is None else ""
        found = [self.path[depth].add(path[depth]), *(_opened(step).add(step) for step in path[depth + 1 :])]
        containers = [container for container in found if container is not None]
        if scalar is None or len(containers) != len(found) or (piece is None and goes_on):
            return False
        self.pieces += [_end_of_string(self), _closers(self.path[depth + 1 :]), "," if self.path[depth].count else ""]
        self.pieces += [_key(path[depth]), *(_opener(step) + _key(step) for step in path[depth + 1 :])]
        self.path[depth:] = containers
        self.in_string, self.is_open, self.held = piece is not None, False, ""
        if piece is None:
            self.pieces.append(scalar)
        else:
            self.pieces.append('"')
            self._put_string(piece, goes_on=goes_on)
        return True

    def _put_string(self, piece: str, *, goes_on: bool) -> None:
        """Pieces may have been cut between the two halves of a character."""
        added, self.held = joined(self.held, piece)
        self.pieces.append(json.dumps(added, ensure_ascii=False)[1:-1])
        self.is_open = goes_on

    def put_whole(self, whole: str | Mapping[str, object]) -> bool:
        """Write all arguments so far; `False` if they do not begin with what was written."""
        if not isinstance(whole, Mapping) or self.is_open:
            return False
        try:
            written = json.dumps(dict(whole), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            path, leaf = _open_path(json.loads(written))
        except (TypeError, ValueError, RecursionError):  # something that JSON does not have
            return False
        closed = len(path) + isinstance(leaf, str)
        written, before = written[:-closed], self.before.written
        if len(written) < before.length or not written.startswith(str(before)) or _is_torn(written):
            return False
        rest = written[before.length :]
        if self.held and without_half(rest, self.held) is None:
            return False
        self.pieces = [rest]
        self.path, self.in_string, self.held = path, isinstance(leaf, str), ""
        return True


def _is_torn(piece: str | None) -> bool:
    """Tell whether both halves of a character stand in a text as two characters, which is no text of JSON."""
    if piece is None or piece.isascii():
        return False
    return piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") != piece


def _open_path(value: JsonValue) -> tuple[list[_Container], JsonValue]:
    """Return the containers around the last value in a value, and that one, `None` if the innermost is empty."""
    path: list[_Container] = []
    while isinstance(value, dict | list):
        if isinstance(value, dict):
            keys = {key: at for at, key in enumerate(value)}
            path.append(_Container(keys, len(value), next(reversed(value), None)))
            value = next(reversed(value.values()), None)
        else:
            path.append(_Container(None, len(value), len(value) - 1))
            value = value[-1] if value else None
    return path, value


def _opener(step: Segment) -> str:
    return "{" if isinstance(step, str) else "["


def _key(step: Segment) -> str:
    return json.dumps(step, ensure_ascii=False) + ":" if isinstance(step, str) else ""


def _scalar(partial: object) -> str | None:
    """Return the text of a value that is no string, `None` if there is none."""
    number, truth = field(partial, "numberValue", "number_value"), field(partial, "boolValue", "bool_value")
    if isinstance(number, int | float) and not isinstance(number, bool):
        return _number(number)
    if isinstance(truth, bool):
        return json.dumps(truth)
    # SDK objects have all fields; a value of a wrong type must not become a null.
    return "null" if field(partial, *_NOT_NULL) is None and has(partial, *_NULLS) else None


def _number(number: float) -> str | None:
    """Numbers travel as doubles: one without a fraction is an integer again."""
    if isinstance(number, float) and number.is_integer() and abs(number) <= _MOST_EXACT:
        number = int(number)
    try:
        return json.dumps(number, allow_nan=False)
    except ValueError:  # infinite, or longer than Python writes
        return None
