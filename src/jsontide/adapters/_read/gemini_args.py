"""Gemini's `partialArgs`: values at JSON paths in, the text of the growing arguments out.

The text is written as the values arrive; of what is closed only the keys are kept.
Rule: what was written is never taken back. Parts that do not go on where the text stands, such as a path through a
number, an element far behind the last one, more of a string that was closed, or another value before a string is
closed, end the writing: the text stays open, and cannot be run.
So does the text of a call that ends while a string was said to go on, or if it is not clear whether it goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import islice
from json.encoder import encode_basestring
from typing import Any, Final, cast

from jsontide._textbuffer import NO_TEXT, GrowingText, ends_in_half, join_halves, without_half
from jsontide.adapters._read.fields import as_dict, as_text
from jsontide.adapters._read.gemini_fields import read_either
from jsontide.messages.record import Value

CLOSED: Final = 0
CONTINUES: Final = 1
UNCLEAR: Final = 2

_MOST_EXACT: Final = 2**53
_DEEPEST: Final = 512
_INDEX: Final = re.compile("[0-9]{1,9}")
_QUOTED: Final = re.compile(r"""\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""")
_IN_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)


class Container(Value):
    """An open object or array."""

    __slots__ = ("count", "keys", "last")

    def __init__(self, keys: dict[str, int] | None, count: int, last: object) -> None:
        self.keys: Final = keys
        """The keys of an object, numbered; later states share it, and each sees the first so many. `None`: an array."""
        self.count: Final = count
        self.last: Final = last
        """The member or element that is open, or was written last."""

    def add(self, segment: object) -> Container | None:
        """Return the container with one more member or element, `None` if there cannot be one."""
        keys, count = self.keys, self.count
        if keys is None:
            return Container(None, count + 1, segment) if segment == count else None
        if not isinstance(segment, str) or keys.get(segment, count) < count:
            return None
        if len(keys) != count:  # this is not the newest state
            keys = dict(islice(keys.items(), count))
        keys[segment] = count
        return Container(keys, count + 1, segment)

    def _fields(self) -> tuple[object, ...]:
        keys = self.keys
        return None if keys is None else dict(islice(keys.items(), self.count)), self.count, self.last


class Arguments(Value):
    """The arguments of one call as far as they are written."""

    __slots__ = ("held", "in_string", "is_broken", "is_open", "path", "place", "written")

    def __init__(
        self,
        written: GrowingText,
        path: tuple[Container, ...],
        place: str,
        in_string: bool,
        is_open: bool,
        held: str,
        is_broken: bool,
    ) -> None:
        self.written: Final = written
        self.path: Final = path
        """The containers that are open; the last value stands in the innermost."""
        self.place: Final = place
        """The path of the last value as it was written, empty if it came otherwise."""
        self.in_string: Final = in_string
        """Whether the last value is a string; its quote is written when something follows."""
        self.is_open: Final = is_open
        """Whether that string was said to go on."""
        self.held: Final = held
        """Half a character at the end of it."""
        self.is_broken: Final = is_broken

    @property
    def closing(self) -> str:
        """The text that closes the arguments, empty if they are not whole."""
        if self.is_broken or self.is_open:
            return ""
        return (_end_string(self.held) if self.in_string else "") + _close(self.path, 0)

    def _fields(self) -> tuple[object, ...]:
        return self.written, self.path, self.place, self.in_string, self.is_open, self.held, self.is_broken


def start_arguments() -> Arguments:
    return Arguments(NO_TEXT, (Container({}, 0, None),), "", False, False, "", False)


def read_continues(fields: dict[str, Any]) -> int:
    """Return whether a call or a value goes on, `UNCLEAR` if what is said of it is neither yes nor no."""
    found = fields.get("willContinue")
    if found is None:
        found = fields.get("will_continue")
    if found is None or found is False:
        return CLOSED
    return CONTINUES if found is True else UNCLEAR


def list_partials(call: dict[str, Any]) -> list[object]:
    """What is no array must not go missing unnoticed: it is taken for one part."""
    found = read_either(call, "partialArgs", "partial_args")
    if found is None:
        return []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def write_partials(before: Arguments, partials: list[object], whole: object) -> tuple[Arguments, str]:
    """Return the arguments after some more of them, or after all of them so far, and the text that this adds."""
    if before.is_broken:
        return before, ""
    writer = _Writer(before)
    fits = whole is None or writer.put_whole(whole)
    if fits:
        for partial in partials:
            if not writer.put(as_dict(partial)):
                fits = False
                break
    return writer.finish(is_broken=not fits)


def _end_string(held: str) -> str:
    # A half that nothing came for stays as it came: as an escape it would look as if it had been meant.
    return held + '"'


def _close(path: list[Container] | tuple[Container, ...], depth: int) -> str:
    """Return what closes the containers from the innermost to a depth."""
    if len(path) == depth + 1:
        return "]" if path[depth].keys is None else "}"
    return "".join(["]" if container.keys is None else "}" for container in path[depth:]])[::-1]


def read_path(written: str) -> list[object] | None:
    """Read a JSONPath of plain steps.

    >>> read_path("$.recipe['odd key'][0]")
    ['recipe', 'odd key', 0]
    """
    if not written.startswith("$"):
        return None
    segments: list[object] = []
    at, end = 1, len(written)
    while at < end:
        if written[at] == ".":
            stop = _find_end(written, at + 1, end)
            name = written[at + 1 : stop]
            if not name or "]" in name:
                return None
            segments.append(name)
            at = stop
            continue
        stop = written.find("]", at)
        if written[at] != "[" or stop < 0:
            return None
        inside = written[at + 1 : stop]
        if _INDEX.fullmatch(inside):
            segments.append(int(inside))
        else:
            found = _QUOTED.match(written, at)
            name_or_none = None if found is None else _unquote(found[1])
            if found is None or name_or_none is None:
                return None
            segments.append(name_or_none)
            stop = found.end() - 1
        at = stop + 1
    return segments if len(segments) <= _DEEPEST else None


def _find_end(written: str, at: int, end: int) -> int:
    """Return where a name ends."""
    dot, bracket = written.find(".", at), written.find("[", at)
    if dot < 0:
        dot = end
    return dot if bracket < 0 or dot < bracket else bracket


def _unquote(quoted: str) -> str | None:
    """RFC 9535: a name in quotes of either kind has the escapes of a JSON string, and its own quote may be escaped."""
    inside = _IN_QUOTES.sub(_requote, quoted[1:-1])
    try:
        return cast("str", json.loads(f'"{inside}"'))
    except ValueError:
        return None


def _requote(found: re.Match[str]) -> str:
    text = found[0]
    if text == '"':
        return '\\"'
    return "'" if text == "\\'" else text


class _Writer:
    """Writes the parts of one event."""

    __slots__ = ("before", "held", "in_string", "is_open", "path", "pieces", "place")

    def __init__(self, before: Arguments) -> None:
        self.before: Final = before
        self.path: list[Container] = list(before.path)
        self.place: str = before.place
        self.in_string: bool = before.in_string
        self.is_open: bool = before.is_open
        self.held: str = before.held
        # A call without any text would be one without arguments, which can be run.
        self.pieces: list[str] = [] if before.written.length else ["{"]

    def finish(self, is_broken: bool) -> tuple[Arguments, str]:
        added = "".join(self.pieces)
        written = self.before.written.append(added)
        made = Arguments(written, tuple(self.path), self.place, self.in_string, self.is_open, self.held, is_broken)
        return made, added

    def put(self, partial: dict[str, Any]) -> bool:
        """Write a partial argument; `False` if it does not fit."""
        place = read_either(partial, "jsonPath", "json_path")
        value = read_either(partial, "stringValue", "string_value")
        text = value if value is None or type(value) is str else as_text(value)
        goes_on = read_continues(partial)
        if goes_on == UNCLEAR or (text is not None and not text.isascii() and _is_torn(text)):
            return False
        if place == self.place and place:
            return self._put_more(partial, value, text, goes_on == CONTINUES)
        written = as_text(place)
        path = None if written is None else read_path(written)
        if not path:
            return False
        depth = self._find_depth(path)
        if depth == len(path) and depth == len(self.path):
            return self._put_more(partial, value, text, goes_on == CONTINUES)
        if depth == len(path) or depth == len(self.path) or self.is_open:
            return False
        if not self._put_new(depth, path, partial, text, goes_on == CONTINUES):
            return False
        self.place = written or ""
        return True

    def _find_depth(self, path: list[object]) -> int:
        """Return how many steps of a path lead along the open one."""
        most = min(len(path), len(self.path))
        depth = 0
        while depth < most and self.path[depth].last == path[depth]:
            depth += 1
        return depth

    def _put_more(self, partial: dict[str, Any], value: object, text: str | None, goes_on: bool) -> bool:
        if not self.in_string:
            return False
        if text is None and (value is not None or _has_other_value(partial)):
            return False
        if not self.is_open:  # it may be closed twice
            return not text and not goes_on
        self._put_string(text or "", goes_on)
        return True

    def _put_new(
        self, depth: int, path: list[object], partial: dict[str, Any], text: str | None, goes_on: bool
    ) -> bool:
        scalar: str | None = '"'
        if text is None:
            scalar = None if goes_on else _write_scalar(partial)
        if scalar is None:
            return False
        opening: list[str] = []
        containers = self._open(depth, path, opening)
        if containers is None:
            return False
        pieces = self.pieces
        if self.in_string:
            pieces.append(_end_string(self.held))
        if len(self.path) > depth + 1:
            pieces.append(_close(self.path, depth + 1))
        if self.path[depth].count:
            pieces.append(",")
        pieces += opening
        pieces.append(scalar)
        self.path[depth:] = containers
        self.in_string, self.is_open, self.held = text is not None, False, ""
        if text is not None:
            self._put_string(text, goes_on)
        return True

    def _open(self, depth: int, path: list[object], opening: list[str]) -> list[Container] | None:
        """Return the containers along a path from a depth on, `None` if there cannot be such; write what opens them."""
        outer = self.path[depth]
        containers: list[Container] = []
        for at in range(depth, len(path)):
            step = path[at]
            is_key = isinstance(step, str)
            if at > depth:
                outer = Container({} if is_key else None, 0, None)
                opening.append("{" if is_key else "[")
            added = outer.add(step)
            if added is None:
                return None
            containers.append(added)
            if is_key:
                opening.append(encode_basestring(cast("str", step)) + ":")
        return containers

    def _put_string(self, piece: str, goes_on: bool) -> None:
        """Pieces may have been cut between the two halves of a character."""
        if self.held or ends_in_half(piece):
            piece, self.held = join_halves(self.held, piece)
        if piece:
            self.pieces.append(encode_basestring(piece)[1:-1])
        self.is_open = goes_on

    def put_whole(self, whole: object) -> bool:
        """Write all arguments so far; `False` if they do not begin with what was written."""
        if not isinstance(whole, Mapping) or self.is_open:
            return False
        try:
            written = json.dumps(dict(whole), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            path, leaf = _open_path(json.loads(written))
        except (TypeError, ValueError, RecursionError):  # something that JSON does not have
            return False
        is_text = isinstance(leaf, str)
        written, before = written[: -(len(path) + is_text)], self.before.written
        if len(written) < before.length or not written.startswith(before.read()) or _is_torn(written):
            return False
        rest = written[before.length :]
        if self.held and without_half(rest, self.held) is None:
            return False
        self.pieces = [rest]
        self.path, self.place, self.in_string, self.held = path, "", is_text, ""
        return True


def _is_torn(text: str) -> bool:
    """Return whether both halves of a character stand in a text as two characters, which is no text of JSON."""
    if text.isascii():
        return False
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") != text


def _open_path(value: object) -> tuple[list[Container], object]:
    """Return the containers around the last value in a value, and that one, `None` if the innermost is empty."""
    path: list[Container] = []
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            keys = {str(key): at for at, key in enumerate(value)}
            path.append(Container(keys, len(value), next(reversed(value), None)))
            value = next(reversed(value.values()), None)
        else:
            path.append(Container(None, len(value), len(value) - 1))
            value = value[-1] if value else None
    return path, value


def _has_other_value(partial: dict[str, Any]) -> bool:
    """Return whether a part has a value that is not a string."""
    return (
        read_either(partial, "numberValue", "number_value") is not None
        or read_either(partial, "boolValue", "bool_value") is not None
        or read_either(partial, "nullValue", "null_value") is not None
    )


def _write_scalar(partial: dict[str, Any]) -> str | None:
    """Return the text of a value that is no string, `None` if there is none."""
    number, truth = read_either(partial, "numberValue", "number_value"), read_either(partial, "boolValue", "bool_value")
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return _write_number(number)
    if isinstance(truth, bool):
        return "true" if truth else "false"
    # SDK objects have all fields; a value of a wrong type must not become a null.
    is_other = number is not None or truth is not None
    is_null = "nullValue" in partial or "null_value" in partial
    if is_other or read_either(partial, "stringValue", "string_value") is not None or not is_null:
        return None
    return "null"


def _write_number(number: object) -> str | None:
    """Numbers travel as doubles: one without a fraction is an integer again."""
    if isinstance(number, float) and number.is_integer() and abs(number) <= _MOST_EXACT:
        return str(int(number))
    try:
        return json.dumps(number, allow_nan=False)
    except ValueError:  # infinite, or longer than Python writes
        return None
