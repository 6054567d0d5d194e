"""Gemini's `generateContentStream`, on the Gemini API and on Vertex AI.

In: a response as dict or SDK object. Out: notes on a draft.
Calls have no index and often no id, so they are counted; arguments come whole, or in values at JSON paths.

Rule: a piece of text or thought that carries more than itself, such as a signature, is a part of its own: it must be
sent back where it was, and must not be joined with text that has none.

The API writes fields in camelCase and its SDK in snake_case; a message is the same from both. Names that the caller
chose, such as those of arguments, stay as they are.

The text of `partialArgs`, values at JSON paths, is written as the values arrive, and what was written is never taken
back. Parts that do not go on where the text stands, such as a path through a number, an element far behind the last
one, more of a string that was closed, or another value before a string is closed, end the writing: the text stays open,
and cannot be run. So does the text of a call that ends while a string was said to go on, or if it is not clear whether
it goes on.

Where an answer comes from is said with any response of a stream, and often again, with more in it. Places in the text
are counted in bytes. The metadata is kept whatever it says; a citation is made only where its place in the text is
certain.

In requests, parts go back in their order, each with what came with it, such as its signature; never joined or moved.
Of a message of another provider, text, files and calls are written; the first call gets the placeholder that the API
documents for calls that no Gemini made, because Gemini 3 and later refuse calls without a signature.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from itertools import islice
from json.encoder import encode_basestring
from typing import Any, ClassVar, Final, cast

from jsontide._textbuffer import NO_TEXT, GrowingList, GrowingText, ends_in_surrogate, join_surrogates, strip_surrogate
from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall, ToolCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult, to_plain
from jsontide.messages.parts import File, Other, ReasoningPart, Source, TextPart
from jsontide.messages.record import Value
from jsontide.messages.types import Citation, Usage
from jsontide.providers.base import (
    ANYTHING,
    IN_USAGE,
    PIECE,
    SECOND_MESSAGE,
    Form,
    Item,
    Provider,
    Reader,
    Shown,
    UsageNames,
    arguments_object,
    arguments_of,
    as_dict,
    as_integer,
    as_text,
    check_around,
    check_delta,
    check_fields,
    check_item,
    check_rest,
    check_unknown,
    check_usage_around,
    count_of,
    created_of,
    dict_of,
    integer_of,
    is_object,
    items_in,
    list_of,
    may_be_arguments,
    plain,
    read_error,
    rest_of,
    text_in,
    text_of,
)
from jsontide.providers.strict import ToolRules

_NAME: Final = "gemini"
_ATOMS: Final = (str, int, float, bytes, bytearray, datetime, Enum)
_CALLER_FIELDS: Final = ("args", "response", "partMetadata", "part_metadata")
"""Fields whose own names the caller chose."""


def read_either(fields: dict[str, Any], name: str, other: str) -> object:
    """Return a field that the API and its SDK call by two names."""
    found = fields.get(name)
    return fields.get(other) if found is None else found


def to_camel(name: str) -> str:
    """Return the name of a field as the API writes it.

    >>> to_camel("thought_signature")
    'thoughtSignature'
    """
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join([word[:1].upper() + word[1:] for word in rest])


def _is_camel(name: object) -> bool:
    return type(name) is str and "_" not in name


def plain_camel(value: object) -> JsonValue:
    """Return what the API or its SDK says as plain JSON, under the names of the API, however deep it is."""
    if isinstance(value, dict) and all([type(field) is int and _is_camel(name) for name, field in value.items()]):
        return dict(value)  # as the counts of tokens are
    root: list[Any] = [None]
    waiting: list[tuple[object, Any, Any]] = [(value, root, 0)]
    while waiting:
        found, target, place = waiting.pop()
        if found is None or type(found) is str or type(found) is int:  # as most values are
            target[place] = found
            continue
        if isinstance(found, (list, tuple)):
            items: list[Any] = [None] * len(found)
            target[place] = items
            waiting.extend([(item, items, at) for at, item in enumerate(found)])
            continue
        fields = {} if found is None or isinstance(found, _ATOMS) else as_dict(found)
        # The models of the SDK have all fields that there could be.
        is_mapping = isinstance(found, dict) or isinstance(found, Mapping)  # noqa: SIM101 - the second is slow
        if not fields and not is_mapping:
            target[place] = plain(found)
            continue
        named: list[tuple[str, Any, Any]] = [
            (to_camel(str(name)), name, field) for name, field in fields.items() if is_mapping or field is not None
        ]
        made: dict[str, Any] = dict.fromkeys([camel for camel, _, _ in named])  # in their order
        target[place] = made
        for camel, name, field in named[::-1]:  # of two names for one field the last counts, and is read last
            if name in _CALLER_FIELDS:
                made[camel] = plain(field)
            else:
                waiting.append((field, made, camel))
    return cast("JsonValue", root[0])


def count_chars(text: bytes, at: int) -> int:
    """Return the place in a text of a place in its UTF-8: Gemini counts bytes."""
    return len(text[:at].decode("utf-8", "ignore"))


CLOSED: Final = 0
CONTINUES: Final = 1
UNCLEAR: Final = 2

_MOST_EXACT: Final = 2**53
_DEEPEST: Final = 512
_INDEX: Final = re.compile("[0-9]{1,9}")
_QUOTED: Final = re.compile(r"""\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]""")
_IN_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)


class ArgumentContainer(Value):
    """An open object or array."""

    __slots__ = ("count", "keys", "last")

    def __init__(self, keys: dict[str, int] | None, count: int, last: object) -> None:
        self.keys: Final = keys
        """The keys of an object, numbered; `None`: an array. Later states share it: each sees its own first `count`."""
        self.count: Final = count
        self.last: Final = last
        """The member or element that is open, or was written last."""

    def add(self, segment: object) -> ArgumentContainer | None:
        """Return the container with one more member or element, `None` if there cannot be one."""
        keys, count = self.keys, self.count
        if keys is None:
            return ArgumentContainer(None, count + 1, segment) if segment == count else None
        if not isinstance(segment, str) or keys.get(segment, count) < count:
            return None
        if len(keys) != count:  # this is not the newest state
            keys = dict(islice(keys.items(), count))
        keys[segment] = count
        return ArgumentContainer(keys, count + 1, segment)

    def _fields(self) -> tuple[object, ...]:
        keys = self.keys
        return None if keys is None else dict(islice(keys.items(), self.count)), self.count, self.last


class Arguments(Value):
    """The arguments of one call as far as they are written."""

    __slots__ = ("held", "in_string", "is_broken", "is_open", "path", "place", "written")

    FIELDS: ClassVar[tuple[str, ...]] = ("written", "path", "place", "in_string", "is_open", "held", "is_broken")

    def __init__(
        self,
        written: GrowingText = NO_TEXT,
        path: tuple[ArgumentContainer, ...] = (),
        place: str = "",
        in_string: bool = False,
        is_open: bool = False,
        held: str = "",
        is_broken: bool = False,
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


def read_continues(fields: dict[str, Any]) -> int:
    """Return whether a call or a value goes on, `UNCLEAR` if the field is neither true nor false."""
    found = fields.get("willContinue")
    if found is None:
        found = fields.get("will_continue")
    if found is None or found is False:
        return CLOSED
    return CONTINUES if found is True else UNCLEAR


def list_partials(call: dict[str, Any]) -> list[object]:
    """Return the partial arguments; anything but an array is taken for one, so that it is not lost."""
    found = read_either(call, "partialArgs", "partial_args")
    if found is None:
        return []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def write_partials(before: Arguments, partials: list[object], whole: object) -> tuple[Arguments, str]:
    """Return the arguments after some more of them, or after all of them so far, and the text that this adds."""
    if before.is_broken:
        return before, ""
    writer = _PartialsWriter(before)
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


def _close(path: list[ArgumentContainer] | tuple[ArgumentContainer, ...], depth: int) -> str:
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


class _PartialsWriter:
    """Writes the parts of one event."""

    __slots__ = ("before", "held", "in_string", "is_open", "path", "pieces", "place")

    def __init__(self, before: Arguments) -> None:
        self.before: Final = before
        self.path: list[ArgumentContainer] = list(before.path)
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

    def _open(self, depth: int, path: list[object], opening: list[str]) -> list[ArgumentContainer] | None:
        """Return the containers along a path from a depth on, `None` if there cannot be such; write what opens them."""
        outer = self.path[depth]
        containers: list[ArgumentContainer] = []
        for at in range(depth, len(path)):
            step = path[at]
            is_key = isinstance(step, str)
            if at > depth:
                outer = ArgumentContainer({} if is_key else None, 0, None)
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
        if self.held or ends_in_surrogate(piece):
            piece, self.held = join_surrogates(self.held, piece)
        if piece:
            self.pieces.append(encode_basestring(piece)[1:-1])
        self.is_open = goes_on

    def put_whole(self, whole: object) -> bool:
        """Write all arguments so far; `False` if they do not begin with what was written."""
        # A part that stands where all of them should would become arguments itself.
        if not isinstance(whole, Mapping) or self.is_open or "jsonPath" in whole or "json_path" in whole:
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
        if self.held and strip_surrogate(rest, self.held) is None:
            return False
        self.pieces = [rest]
        self.path, self.place, self.in_string, self.held = path, "", is_text, ""
        return True


def _is_torn(text: str) -> bool:
    """Return whether both halves of a character stand in a text as two characters, which is no text of JSON."""
    if text.isascii():
        return False
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") != text


def _open_path(value: object) -> tuple[list[ArgumentContainer], object]:
    """Return the containers around the last value in a value, and that one, `None` if the innermost is empty."""
    path: list[ArgumentContainer] = []
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            keys = {str(key): at for at, key in enumerate(value)}
            path.append(ArgumentContainer(keys, len(value), next(reversed(value), None)))
            value = next(reversed(value.values()), None)
        else:
            path.append(ArgumentContainer(None, len(value), len(value) - 1))
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
    """Return the JSON of a value that is not a string, or `None`."""
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


ABOUT: Final = (
    "audioTranscription",
    "mediaProcessing",
    "mediaResolution",
    "partMetadata",
    "speechMetadata",
    "thought",
    "thoughtSignature",
    "videoMetadata",
)
"""The fields of a part that say something about its content, and are not content themselves."""
CONTENTS: Final = (
    "functionCall",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "inlineData",
    "fileData",
)
_NO_TYPE: Final = "a call that the provider runs does not name its tool, so it may be one for the caller to run"
RESULTS: Final = {"codeExecutionResult": "executableCode", "toolResponse": "toolCall"}
"""The contents that are results, and what they are the results of."""
_FILE_FIELDS: Final = ("data", "fileUri", "mimeType")


def says_something(candidate: dict[str, Any]) -> bool:
    """Return whether a candidate has content."""
    for item in list_of(as_dict(candidate.get("content")), "parts"):
        for name, value in as_dict(item).items():
            if value and to_camel(name) not in ABOUT:
                return True
    return False


def add_file(draft: Draft, fields: dict[str, Any], extra: dict[str, JsonValue]) -> None:
    """Add a file that the model made, here or at an address."""
    rest = {name: value for name, value in fields.items() if name not in _FILE_FIELDS}
    media_type, data, url = text_of(fields, "mimeType"), text_of(fields, "data"), text_of(fields, "fileUri")
    draft.set_part(NO_KEY, File(media_type, data, url, None, draft.count, False, None, {**rest, **extra} or None))


def add_server_call(draft: Draft, kind: str, fields: dict[str, Any], extra: dict[str, JsonValue]) -> None:
    """Add a call that the provider runs itself."""
    call_id = text_of(fields, "id")
    name: str | None = "code_execution"
    arguments: JsonValue = {key: item for key, item in fields.items() if key != "id"}
    if kind == "toolCall":
        if text_of(fields, "toolType") is None:
            draft.lose(_NO_TYPE)
        name, arguments = text_of(fields, "toolType"), fields.get("args")
    text = "" if arguments is None else write_json(arguments)
    shown = MISSING if arguments is None else arguments
    at = draft.count
    draft.set_part(
        NO_KEY, ServerCall(name, text, MISSING, None, kind, False, shown, call_id, at, True, None, extra or None)
    )


def add_result(draft: Draft, kind: str, fields: dict[str, Any], extra: dict[str, JsonValue]) -> None:
    """Give a call of the provider its result; what stands beside that in its part is kept under the name of it."""
    at = _find_server_call(draft, RESULTS[kind], text_of(fields, "id"))
    status = text_of(fields, "outcome")
    if at < 0:
        call = ServerCall(None, "", fields, status, kind, id=text_of(fields, "id"), index=draft.count)
        draft.set_part(NO_KEY, call.evolve(extra=extra or None))
        return
    part = draft.part_at(at)
    kept = {**part.extra, kind: extra} if extra else part.extra
    draft.update_part(at, result=fields, status=status, is_open=False, extra=kept or None)


def _find_server_call(draft: Draft, kind: str, call_id: str | None) -> int:
    """Return the place of the call that a result answers, or -1."""
    for part in reversed(draft.parts):
        if not isinstance(part, ServerCall) or part.type != kind or part.result is not MISSING:
            continue
        if call_id is None or part.id is None or part.id == call_id:
            return part.index
    return -1


_USAGE: Final = UsageNames(
    input_tokens="promptTokenCount + toolUsePromptTokenCount or toolUsePromptTokenCount",
    output_tokens="candidatesTokenCount + thoughtsTokenCount or thoughtsTokenCount",
    total_tokens="totalTokenCount",
    cached_tokens="cachedContentTokenCount",
    reasoning_tokens="thoughtsTokenCount",
)
_TOTAL_FIELDS: Final = ("totalTokenCount", "promptTokenCount", "candidatesTokenCount")


def read_usage(draft: Draft, usage: object) -> None:
    """Each response has the total so far; some have none of the counts."""
    known = draft.usage
    if known is not None and known.raw == usage:
        return
    raw = as_dict(plain_camel(usage))
    if known is None or _has_totals(raw):
        draft.set_usage(_USAGE.read(raw, raw))


def _has_totals(usage: dict[str, Any]) -> bool:
    return any([count_of(usage, name) is not None for name in _TOTAL_FIELDS])


GROUNDING: Final = "groundingMetadata"
CITATIONS: Final = "citationMetadata"
_CHUNKS: Final = "groundingChunks"
_SUPPORTS: Final = "groundingSupports"
_INDICES: Final = "groundingChunkIndices"
_CITED: Final = ("citations", "citationSources")


def merge_metadata(draft: Draft, name: str, given: JsonValue) -> dict[str, list[Any]]:
    """Keep metadata that comes in several responses, each with more of it or with the rest; return what is new."""
    fields = as_dict(given)
    if not fields and (draft.metadata is None or name not in draft.metadata):
        draft.set_metadata(name, given)
    known = draft.lists_in(name)
    more: dict[str, JsonValue] = {}
    gained: dict[str, list[Any]] = {}
    for field, value in fields.items():
        before = known.find(field)
        if isinstance(value, list):
            more[field] = gained[field] = value[_count_repeated(before, value) :]
        else:
            more[field] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    draft.extend_metadata_in(name, more)
    return gained


def _count_repeated(known: object, new: list[Any]) -> int:
    """Return how many items of a list repeat known ones, 0 unless one of the two lists begins with the other."""
    if not isinstance(known, GrowingList) or not known.count or not new or known.item(0) != new[0]:
        return 0
    most = min(known.count, len(new))
    return most if known.read()[:most] == new[:most] else 0


def read_grounding(draft: Draft, grounding: JsonValue) -> list[Any]:
    """Keep what the answer is based on, add a part for each new source, and return what is new about the text."""
    fields = as_dict(grounding)
    chunks = list_of(fields, _CHUNKS)
    known = draft.lists_in(GROUNDING).find(_CHUNKS)
    if isinstance(known, GrowingList) and known.count and chunks and not _count_repeated(known, chunks):
        # These are counted for themselves, and come after those that are known.
        supports = [_shift(as_dict(support), known.count) for support in list_of(fields, _SUPPORTS)]
        fields = {**fields, _SUPPORTS: supports}
    gained = merge_metadata(draft, GROUNDING, fields)
    for chunk in gained.get(_CHUNKS, []):
        _add_source(draft, as_dict(chunk))
    return gained.get(_SUPPORTS, [])


def _shift(support: dict[str, Any], by: int) -> dict[str, Any]:
    indices = [at + by if isinstance(at, int) else at for at in list_of(support, _INDICES)]
    return {**support, _INDICES: indices}


def _add_source(draft: Draft, chunk: dict[str, Any]) -> None:
    for kind in chunk:
        fields = dict_of(chunk, kind)
        url, title = read_source(fields)
        rest = {name: value for name, value in fields.items() if name not in {"uri", "title"}}
        extra: dict[str, JsonValue] = {kind: rest}
        if fields and not _has_source(draft, url, title, extra):
            draft.set_part(NO_KEY, Source(url, title, draft.count, False, None, extra))


def _has_source(draft: Draft, url: str | None, title: str | None, extra: dict[str, JsonValue]) -> bool:
    sources = [part for part in draft.parts if isinstance(part, Source)]
    return any([(part.url, part.title, part.extra) == (url, title, extra) for part in sources])


def read_source(fields: dict[str, Any]) -> tuple[str | None, str | None]:
    return text_of(fields, "uri"), text_of(fields, "title")


class _Text:
    """A text part, and where in the whole text it begins."""

    __slots__ = ("citations", "encoded", "offset", "part")

    def __init__(self, part: TextPart, offset: int) -> None:
        self.part: Final = part
        self.offset: Final = offset
        self.encoded: Final = part.text.encode("utf-8", "surrogatepass")
        self.citations: list[Citation] = []

    def holds(self, start: int, end: int, text: str | None) -> bool:
        if start < 0 or end < start or end > len(self.encoded):
            return False
        return text is None or self.encoded[start:end].decode("utf-8", "replace") == text


def cite(draft: Draft, supports: list[Any], sources: list[Any]) -> None:
    """Give the text parts more citations, where their place in the text is known."""
    texts = _find_texts(draft)
    _locate_all(draft, texts, supports, sources)
    for text in texts:
        if text.citations:
            draft.update_part(text.part.index, citations=text.part._citations.add(text.citations))


def cite_again(draft: Draft) -> None:
    """Give the text parts all citations of the metadata, now that all of the text is there."""
    grounding, cited = draft.lists_in(GROUNDING).read(), draft.lists_in(CITATIONS).read()
    texts = _find_texts(draft)
    _locate_all(draft, texts, list_of(grounding, _SUPPORTS), [each for name in _CITED for each in list_of(cited, name)])
    for text in texts:
        citations = tuple(text.citations)
        if citations != text.part.citations:
            draft.update_part(text.part.index, citations=citations)


def _locate_all(draft: Draft, texts: list[_Text], supports: list[Any], sources: list[Any]) -> None:
    chunks = draft.lists_in(GROUNDING).find(_CHUNKS)
    for support in supports:
        _cite_support(texts, as_dict(support), chunks if isinstance(chunks, GrowingList) else GrowingList([]))
    for source in sources:
        _cite_source(texts, as_dict(source))


def _find_texts(draft: Draft) -> list[_Text]:
    texts: list[_Text] = []
    offset = 0
    for part in draft.parts:
        if isinstance(part, TextPart):
            text = _Text(part, offset)
            offset += len(text.encoded)
            texts.append(text)
    return texts


def _cite_support(texts: list[_Text], support: dict[str, Any], chunks: GrowingList) -> None:
    segment = dict_of(support, "segment")
    found = _locate(texts, segment, text_of(segment, "text"))
    if found is None:
        return
    text, start, end = found
    indices = [at for at in list_of(support, _INDICES) if isinstance(at, int) and 0 <= at < chunks.count]
    for at in indices:
        chunk = as_dict(chunks.item(at))
        fields = dict_of(chunk, next(iter(chunk), ""))
        url, title = read_source(fields)
        text.citations.append(
            Citation(
                type="groundingSupport",
                url=url,
                title=title,
                cited_text=text_of(fields, "text"),
                start=start,
                end=end,
                raw=support,
            )
        )


def _cite_source(texts: list[_Text], citation: dict[str, Any]) -> None:
    found = _locate(texts, citation, None)
    if found is not None:
        text, start, end = found
        url, title = read_source(citation)
        text.citations.append(Citation(type="citation", url=url, title=title, start=start, end=end, raw=citation))


def _locate(texts: list[_Text], segment: dict[str, Any], said: str | None) -> tuple[_Text, int, int] | None:
    """Return the text that a segment is in, and its place there in characters.

    Of a stream, segments are counted from the beginning of the whole text; else from that of their part.
    """
    start, end = count_of(segment, "startIndex") or 0, count_of(segment, "endIndex")
    if end is None:
        return None
    for text in texts:
        if text.holds(start - text.offset, end - text.offset, said):
            return text, count_chars(text.encoded, start - text.offset), count_chars(text.encoded, end - text.offset)
    if said is not None:
        for text in texts:
            if text.holds(start, end, said):
                return text, count_chars(text.encoded, start), count_chars(text.encoded, end)
    return None


_REASONS: Final = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "length",
}
_NUMBERS: Final = ("", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "6", "BLOCKLIST", "PROHIBITED_CONTENT")
"""What numbers mean where enums are numbers; after `OTHER`, Vertex AI and the Gemini API count differently.

6 is `BLOCKLIST` or `LANGUAGE`; 7 and 8 are filters in both.
"""
_UNSPECIFIED: Final = ("FINISH_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "0")
_RESPONSE_FIELDS: Final = frozenset(
    (
        "candidates",
        "createTime",
        "create_time",
        "error",
        "modelVersion",
        "model_version",
        "responseId",
        "response_id",
        "usageMetadata",
        "usage_metadata",
        # What the SDK adds of its own.
        "automatic_function_calling_history",
        "parsed",
        "sdk_http_response",
    )
)
"""The fields of a response that are read, or say nothing; all others are kept as they are."""
_RESPONSE_TEXTS: Final = (
    *("createTime", "create_time", "modelVersion", "model_version", "responseId", "response_id"),
    *("usageMetadata", "usage_metadata"),
)
"""Those that hold no container, or none in which arguments could be."""
_PIECE: Final = ("candidates", 0, "content", "parts", 0, "text")
_COME_IN_PARTS: Final = (CITATIONS, "urlContextMetadata")
_CALL_FIELDS: Final = frozenset(("args", "id", "name", "partialArgs", "partial_args", "willContinue", "will_continue"))
SIGNATURE: Final = "thoughtSignature"

_NO_NAME: Final = "arguments came for a call that has no name: they may be of another one"
_PART_FIELDS: Final = frozenset(("partMetadata", "videoMetadata"))
"""The objects that a part may have beside its content."""
_RESPONSE_HOLDERS: Final = frozenset(
    (
        *("automatic_function_calling_history", "candidates", "error", "modelStatus", "parsed", "promptFeedback"),
        *("prompt_feedback", "sdk_http_response", "usageMetadata", "usage_metadata"),
    )
)
"""The fields of a response that hold more, but no arguments beside those of its candidates."""
_CANDIDATE_HOLDERS: Final = frozenset(
    (
        *("citationMetadata", "content", "groundingAttributions", "groundingMetadata", "logprobsResult"),
        *("safetyRatings", "urlContextMetadata"),
        *("citation_metadata", "grounding_metadata", "logprobs_result", "safety_ratings", "url_context_metadata"),
    )
)
_CONTENT_HOLDERS: Final = frozenset(("parts",))
_TWO_CONTENTS: Final = "a part of a response has two contents, and one of them may be arguments of a call"
_NO_END: Final = "another call begins before the end of this one: which of them arguments belong to may be mixed up"

_NO_RUN: Final = 0
_TEXT: Final = 1
_THOUGHT: Final = 2


class GeminiReader(Reader):
    """Reads responses; some servers give each an id of its own, so another id says something only after the end."""

    __slots__ = ("arguments", "calls", "ended", "run", "run_kind")

    FIELDS: ClassVar[tuple[str, ...]] = ("ended", "calls", "arguments", "run", "run_kind")

    NAME: ClassVar[str] = _NAME

    def __init__(
        self,
        ended: str | None = None,
        calls: int = 0,
        arguments: Arguments | None = None,
        run: int = 0,
        run_kind: int = _NO_RUN,
    ) -> None:
        self.ended: Final = ended
        """The id of the message that has ended."""
        self.calls: Final = calls
        """How many calls have begun."""
        self.arguments: Final = arguments
        """The arguments of the call that is open."""
        self.run: Final = run
        """How many runs of text or thoughts have begun; each is a part."""
        self.run_kind: Final = run_kind
        """What the last run is of, if it goes on."""

    def fits(self, event: dict[str, Any]) -> bool:
        if list_of(event, "candidates"):
            return True
        names = ("promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata")
        return any([name in event for name in names])

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        candidates = [as_dict(item) for item in list_of(event, "candidates")]
        reasons = [_word_of(read_either(one, "finishReason", "finish_reason")) for one in candidates]
        blocked = read_either(
            as_dict(read_either(event, "promptFeedback", "prompt_feedback")), "blockReason", "block_reason"
        )
        return [event] if (candidates and all(reasons)) or (not candidates and blocked is not None) else None

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        candidates = items_in(draft, event, "candidates")
        # Beside an answer, an empty error is no error.
        failed = (not candidates or bool(event.get("error"))) and read_error(draft, event)
        if failed and draft.provider is None:
            return self
        response_id = text_of(event, "responseId") or text_of(event, "response_id")
        if draft.provider is None or draft.id is None or draft.model is None:
            model = text_of(event, "modelVersion") or text_of(event, "model_version")
            draft.identify(response_id, model, created_of(read_either(event, "createTime", "create_time")), self.name)
        _read_fields(draft, event)
        if failed:
            return self
        candidate = _find_candidate(draft, candidates)
        if candidate is None:
            _read_block(draft, event)
            return self
        ended = self.ended
        if ended is not None and (response_id or ended) != ended and says_something(candidate):
            draft.fail(SECOND_MESSAGE)
            return self
        step = _Step(self, draft)
        after = step.read(candidate, response_id)
        if step.lacks_arguments or step.lacks_piece:
            _check_around_call(draft, event, candidate, step.lacks_piece)
        return after

    def role_of(self, draft: Draft, event: dict[str, Any], path: tuple[object, ...]) -> int:
        if path == _PIECE:
            return PIECE
        is_usage = path[0] == "usageMetadata" and len(path) == 2 and _has_totals(event["usageMetadata"])
        return IN_USAGE if is_usage else ANYTHING

    def make_usage(self, usage: dict[str, Any]) -> Usage:
        raw = as_dict(plain_camel(usage))
        return _USAGE.read(raw, raw)


def _read_fields(draft: Draft, event: dict[str, Any]) -> None:
    """Note what a response says beside its candidates."""
    for name, value in event.items():
        if name not in _RESPONSE_FIELDS and value is not None:
            check_unknown(draft, name, value)
            draft.set_metadata(to_camel(name), plain_camel(value))
        elif name in _RESPONSE_TEXTS and may_be_arguments(value):
            check_unknown(draft, name, value)
    usage = read_either(event, "usageMetadata", "usage_metadata")
    if usage is not None:
        read_usage(draft, usage)


def _find_candidate(draft: Draft, candidates: list[object]) -> dict[str, Any] | None:
    """Return the candidate that is read; the first one has no index where zeros are left out."""
    for at, item in enumerate(candidates):
        candidate = check_item(draft, "candidates", item)
        given = candidate.get("index")
        index = at if given is None else integer_of(candidate, "index")
        if index == NO_INDEX:
            draft.fail("the index of a candidate is not a number: which answer it is for is not known")
            return None
        if index == draft.choice:
            return candidate
    return None


def _read_block(draft: Draft, event: dict[str, Any]) -> None:
    """A prompt that was blocked has no candidates, only feedback."""
    feedback = as_dict(read_either(event, "promptFeedback", "prompt_feedback"))
    reason = _word_of(read_either(feedback, "blockReason", "block_reason"))
    if reason and reason not in _UNSPECIFIED:
        draft.finish("content_filter", reason)


def _word_of(value: object) -> str | None:
    """Return a value of an enum as text; some clients and servers write it as a number."""
    if isinstance(value, Enum) and not isinstance(value.value, str):
        return value.name
    number = as_integer(value)
    return as_text(value) if number is None else str(number)


def _check_call(
    draft: Draft, call: dict[str, Any], beside: dict[str, JsonValue], is_empty: bool, goes_on: bool
) -> None:
    """Note what may be arguments in a call, or in the part that it is in, and is not where they should be."""
    check_rest(draft, call, _CALL_FIELDS)
    if is_empty:
        check_delta(draft, call, _CALL_FIELDS)
        check_around(draft, beside, _PART_FIELDS, goes_on)


def _check_around_call(draft: Draft, event: dict[str, Any], candidate: dict[str, Any], goes_on: bool) -> None:
    """Note what may be arguments of a call that has none, in the response around it.

    Vertex AI sends a piece without any now and then, where an object in the arguments ends.
    """
    content = dict_of(candidate, "content")
    check_around(draft, event, _RESPONSE_HOLDERS, goes_on)
    check_around(draft, candidate, _CANDIDATE_HOLDERS, goes_on)
    check_around(draft, content, _CONTENT_HOLDERS, goes_on)
    check_usage_around(draft, read_either(event, "usageMetadata", "usage_metadata"), goes_on)


class _Step:
    """What one response changes in its reader."""

    __slots__ = (
        "arguments",
        "before",
        "calls",
        "draft",
        "ended",
        "has_ended",
        "lacks_arguments",
        "lacks_piece",
        "run",
        "run_kind",
        "sources",
        "supports",
    )

    def __init__(self, before: GeminiReader, draft: Draft) -> None:
        self.before: Final = before
        self.draft: Final = draft
        self.ended: str | None = before.ended
        self.calls: int = before.calls
        self.arguments: Arguments | None = before.arguments
        self.run: int = before.run
        self.run_kind: int = before.run_kind
        self.supports: list[Any] = []
        self.sources: list[Any] = []
        """What is new about the sources of the text."""
        self.has_ended = False
        self.lacks_arguments = False
        """Whether a call begins that has none, or may have them elsewhere."""
        self.lacks_piece = False
        """Whether the piece of a call has none, or may have them elsewhere."""

    def read(self, candidate: dict[str, Any], response_id: str | None) -> GeminiReader:
        for name, value in candidate.items():
            if value is None or name == "index":
                continue
            if name == "content":
                self._read_content(check_fields(self.draft, name, value))
            elif name == "finishReason" or name == "finish_reason":
                word = _word_of(value)
                if word is None:
                    check_unknown(self.draft, name, value)
                self._read_reason(word, response_id)
            else:
                self._read_metadata(to_camel(name), value)
        metadata = self.draft.metadata
        if self.has_ended and metadata is not None and (GROUNDING in metadata or CITATIONS in metadata):
            cite_again(self.draft)
        elif self.supports or self.sources:
            cite(self.draft, self.supports, self.sources)
        before = self.before
        if (
            self.arguments is before.arguments
            and self.run == before.run
            and self.run_kind == before.run_kind
            and self.calls == before.calls
            and self.ended is before.ended
        ):
            return before
        return GeminiReader(self.ended, self.calls, self.arguments, self.run, self.run_kind)

    def _read_reason(self, reason: str | None, response_id: str | None) -> None:
        if not reason or reason in _UNSPECIFIED:
            return
        number = int(reason) if reason.isdecimal() and len(reason) == 1 else len(_NUMBERS)
        word = _NUMBERS[number] if number < len(_NUMBERS) else reason
        self.draft.finish(_REASONS.get(word, word), reason)
        if self.ended is None:
            self.ended = response_id
        self.has_ended = True

    def _read_metadata(self, name: str, value: object) -> None:
        draft = self.draft
        if name == "logprobsResult":
            draft.extend_metadata_in(name, as_dict(plain_camel(value)))  # each response has those of its own tokens
        elif name == GROUNDING:
            self.supports += read_grounding(draft, plain_camel(value))
        elif name in _COME_IN_PARTS:
            gained = merge_metadata(draft, name, plain_camel(value))
            if name == CITATIONS:
                self.sources += [each for field in _CITED for each in gained.get(field, [])]
        else:
            check_unknown(draft, name, value)
            draft.set_metadata(name, plain_camel(value))

    def _read_content(self, content: dict[str, Any]) -> None:
        for name, value in content.items():
            if name == "parts":
                for item in items_in(self.draft, content, name):
                    self._read_part(check_item(self.draft, name, item))
            elif name == "role":
                if text_in(self.draft, content, name) == "model":
                    self.draft.set_role("assistant")
            elif value is not None:
                check_unknown(self.draft, name, value)
                self.draft.set_metadata(to_camel(name), plain_camel(value))

    def _read_part(self, part: dict[str, Any]) -> None:
        text = part.get("text")
        if type(text) is str:
            if len(part) == 1:
                self._add_text(text, False)
                return
            if len(part) == 2 and part.get("thought") is True:
                self._add_text(text, True)
                return
        self._read_any_part(part)

    def _read_any_part(self, part: dict[str, Any]) -> None:
        text: str | None = None
        content, value, other = "", None, ""
        extra: dict[str, JsonValue] = {}
        for field, given in part.items():
            if given is None or given is False:
                continue
            name = to_camel(field)
            if name == "text" and isinstance(given, str):
                text = str(given)
            elif name in CONTENTS:
                if content:
                    self.draft.lose(_TWO_CONTENTS)
                content, value = name, given
            else:
                check_unknown(self.draft, name, given)
                extra[name] = plain_camel(given)
                other = other if name in ABOUT else name
        if content:
            self._add_text(text or "", extra.get("thought") is True)
            self._read_value(content, value, extra)
        elif other:
            self._end_run()
            self.draft.set_part(NO_KEY, Other(other, plain_camel(part), False, self.draft.count))
        else:
            self._read_text(text or "", extra)

    # Text and thoughts: those in a row are one part.

    def _add_text(self, piece: str, is_thought: bool) -> None:
        if not piece:
            return
        kind = _THOUGHT if is_thought else _TEXT
        if self.run_kind != kind:
            self._end_run()
            self.run += 1
            self.run_kind = kind
        if is_thought:
            self.draft.add_reasoning(self.run, piece)
        else:
            self.draft.add_text(self.run, piece)

    def _read_text(self, text: str, extra: dict[str, JsonValue]) -> None:
        is_thought = extra.pop("thought", None) is True
        if extra:
            self._add_signed_text(text, is_thought, extra)
        else:
            self._add_text(text, is_thought)

    def _add_signed_text(self, piece: str, is_thought: bool, extra: dict[str, JsonValue]) -> None:
        """Add a piece that is a part of its own."""
        draft = self.draft
        self._end_run()
        at = draft.count
        if piece:
            self._add_text(piece, is_thought)
        elif is_thought:
            draft.set_part(NO_KEY, ReasoningPart("", None, False, None, at))
        else:
            draft.set_part(NO_KEY, TextPart("", (), at))
        if at == draft.count:  # there is no room for it
            return
        if isinstance(draft.part_at(at), ReasoningPart):
            signature = as_text(extra.pop(SIGNATURE, None))
            draft.update_part(at, signature=signature, extra=extra or None, is_open=False)
        else:
            draft.update_part(at, extra=extra, is_open=False)
        self.run_kind = _NO_RUN

    def _end_run(self) -> None:
        if self.run_kind != _NO_RUN:
            self.draft.close(self.run)
            self.run_kind = _NO_RUN

    # All other content.

    def _read_value(self, name: str, value: object, extra: dict[str, JsonValue]) -> None:
        draft = self.draft
        if name == "functionCall":
            # An empty object ends a call; anything but an object must not.
            is_damaged = isinstance(value, (str, int, float, bytes, list, tuple))
            if is_damaged and self.arguments is None:
                check_fields(draft, name, value)
            self._read_call({"willContinue": "unclear"} if is_damaged else as_dict(value), extra)
            return
        self._end_run()
        fields = as_dict(plain_camel(value))
        if name != "toolCall":
            check_unknown(draft, "args", fields.get("args"))
            check_unknown(draft, "partialArgs", fields.get("partialArgs"))
        if name in RESULTS:
            add_result(draft, name, fields, extra)
        elif name == "inlineData" or name == "fileData":
            add_file(draft, fields, extra)
        else:
            add_server_call(draft, name, fields, extra)

    def _read_call(self, call: dict[str, Any], extra: dict[str, JsonValue]) -> None:
        draft = self.draft
        name, goes_on = text_of(call, "name"), read_continues(call)
        given, partials = call.get("args"), list_partials(call)
        known = self.arguments
        begins = name is not None or known is None
        # What follows may be more of the one before.
        is_mixed = begins and known is not None and goes_on != CLOSED
        says_nothing = given is None or (not given and isinstance(given, (str, Mapping)))
        is_empty = says_nothing and not partials
        _check_call(draft, call, extra, is_empty, not begins)
        self.lacks_piece = self.lacks_piece or (is_empty and not begins)
        if begins and name is None:
            if is_empty:  # the end of a call that is over already
                return
            if goes_on != CLOSED:  # they are a part of the arguments of another call
                draft.lose(_NO_NAME)
        if begins:
            self.lacks_arguments = self.lacks_arguments or is_empty
            self._end_run()
            self.calls += 1
            known = None
        key = -self.calls
        if begins and goes_on == CLOSED and not partials:
            self.arguments = None
            delta = CallDelta(
                self.calls - 1, text_of(call, "id"), name, arguments_of(given), is_object=is_object(given), key=key
            )
        else:
            # Where it is not clear whether a call goes on, no part of it is known to be whole.
            is_unclear = goes_on == UNCLEAR
            begun = Arguments(path=(ArgumentContainer({}, 0, None),)) if known is None else known
            grown, more = write_partials(begun, partials, None if says_nothing else given)
            if goes_on == CLOSED:
                more += grown.closing
            self.arguments = None if goes_on == CLOSED else grown
            delta = CallDelta(
                self.calls - 1, text_of(call, "id"), name, more, cut_off=is_unclear, key=key, is_written=True
            )
        at = draft.add_call(delta)
        if is_mixed:
            draft.mark_open_calls(_NO_END)
        rest = rest_of(call, _CALL_FIELDS)
        if rest:
            extra["functionCall"] = rest
        draft.add_extra(at, extra)
        if goes_on == CLOSED:
            draft.close(key)


_RESULT_NAMES: Final = {call: result for result, call in RESULTS.items()}
_DATA_FIELDS: Final = ("displayName",)
_UNSIGNED: Final = "skip_thought_signature_validator"


class GeminiForm(Form):
    """Writes what goes into the next request to Gemini."""

    __slots__ = ()

    ITEMS: ClassVar[str] = "contents"
    SYSTEM: ClassVar[str] = "config"

    def write_request(self, system: str, items: list[Item], tools: list[Item], answer: Item) -> Item:
        """Return the arguments of `generate_content`, whose client takes all but the contents in `config`."""
        config: Item = {"system_instruction": system} if system else {}
        if tools:
            config["tools"] = [{"function_declarations": tools}]
        config.update(answer.get("config", {}))
        return {"contents": items, "config": config} if config else {"contents": items}

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        return {"config": {"response_mime_type": "application/json", "response_json_schema": schema}}

    def write_user(self, parts: Sequence[TextPart | File]) -> list[Item]:
        """Return what the user says; behind results it must be a content of its own."""
        content = self.write_content(parts)
        return [{"role": "user", "parts": content}] if content else []

    def write_text(self, text: str) -> Item:
        return {"text": text}

    def find_file(self, file: File) -> Item | None:
        shown = Shown(file)
        if not shown.media_type or shown.link is None:
            return None
        if shown.data is not None:
            return {"inlineData": {"mimeType": shown.media_type, "data": shown.data}}
        return {"fileData": {"mimeType": shown.media_type, "fileUri": shown.url}}

    def write_message(self, message: Message) -> list[Item]:
        if message.provider == _NAME:
            parts = [written for part in message.parts for written in _write_own(part)]
        else:
            parts = _sign([written for part in message.parts for written in _write_any(part)])
        return [{"role": "model", "parts": parts}] if parts else []

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the results; a call without a name is left out of requests, and so is its result."""
        parts = [{"functionResponse": self.write_result(result)} for result in results if result.call.name]
        return [{"role": "user", "parts": parts}] if parts else []

    def write_result(self, result: ToolResult) -> Item:
        call: BaseCall = result.call
        given = {} if call.id is None else {"id": call.id}
        files = [block for block in self.write_content(result.parts) if "text" not in block]
        shown = {"parts": files} if files else {}
        return {**given, "name": call.name or "unknown", "response": self._write_output(result), **shown}

    def _write_output(self, result: ToolResult) -> dict[str, Any]:
        """The API takes an object, and knows the names `output` and `error` in it."""
        if result.error is not None:
            return {"error": result.text}
        if result.parts:
            texts = [block["text"] for block in self.write_content(result.parts) if "text" in block]
            return {"output": "\n".join(texts)}
        output = to_plain(result.output)
        return output if isinstance(output, dict) else {"output": output}

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        described = {"description": description} if description else {}
        return {"name": name, **described, "parametersJsonSchema": parameters}


def _write_own(part: Part) -> list[Item]:
    """Write a part that Gemini made."""
    extra = part.extra
    if isinstance(part, TextPart):
        return [{"text": part.text, **extra}] if part.text or extra else []
    if isinstance(part, ReasoningPart):
        signature = {} if part.signature is None else {"thoughtSignature": part.signature}
        return [{"text": part.text, "thought": True, **signature, **extra}] if part.text or signature else []
    if isinstance(part, (CompleteCall, PartialCall)):
        rest = {name: value for name, value in extra.items() if name != "functionCall"}
        return [{**written, **rest} for written in _write_call(part)]
    if isinstance(part, ServerCall):
        return _write_server_call(part)
    if isinstance(part, File):
        return [_write_file(part)]
    return [dict(part.raw)] if isinstance(part, Other) and isinstance(part.raw, Mapping) else []


def _sign(parts: list[Item]) -> list[Item]:
    """Return the parts of another provider's message, with a placeholder for a signature at the first call."""
    first = next((at for at, part in enumerate(parts) if "functionCall" in part), None)
    return [{**part, "thoughtSignature": _UNSIGNED} if at == first else part for at, part in enumerate(parts)]


def _write_any(part: Part) -> list[Item]:
    """Write a part that another provider made."""
    if isinstance(part, TextPart):
        return [{"text": part.text}] if part.text else []
    if isinstance(part, (CompleteCall, PartialCall)):
        return _write_call(part)
    is_readable = isinstance(part, File) and part.media_type and (part.data or part.url)
    return [_write_data(part, {})] if isinstance(part, File) and is_readable else []


def _write_call(call: ToolCall) -> list[Item]:
    if call.name is None:
        return []
    given = {} if call.id is None else {"id": call.id}
    rest = call.extra.get("functionCall")
    more = rest if isinstance(rest, Mapping) else {}
    return [{"functionCall": {**given, "name": call.name, "args": arguments_object(call), **more}}]


def _write_server_call(call: ServerCall) -> list[Item]:
    """Write a call that Gemini ran, and its result."""
    result_name = _RESULT_NAMES.get(call.type, call.type)
    beside = call.extra.get(result_name)
    written: list[Item] = []
    if call.type in _RESULT_NAMES:
        given = {} if call.id is None else {"id": call.id}
        value = call.partial if isinstance(call.partial, Mapping) else {}
        content = (
            {**given, **value} if call.type == "executableCode" else {**given, "toolType": call.name, "args": value}
        )
        rest = {name: value for name, value in call.extra.items() if name != result_name}
        written.append({call.type: content, **rest})
        rest = dict(beside) if isinstance(beside, Mapping) else {}
    else:
        rest = dict(call.extra)
    if call.result is not MISSING:
        written.append({result_name: call.result, **rest})
    return written


def _write_file(file: File) -> Item:
    inside = {name: file.extra[name] for name in _DATA_FIELDS if name in file.extra}
    rest = {name: value for name, value in file.extra.items() if name not in _DATA_FIELDS}
    return {**_write_data(file, inside), **rest}


def _write_data(file: File, more: Mapping[str, Any]) -> Item:
    media_type = {} if file.media_type is None else {"mimeType": file.media_type}
    if file.url is not None:
        return {"fileData": {**media_type, "fileUri": file.url, **more}}
    return {"inlineData": {**media_type, "data": file.data or "", **more}}


TOOLS: Final[ToolRules] = ToolRules(
    names="[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    names_in_words="letters, digits and any of _-.:, no digit first",
    why_not_strict="gemini has no strict tools, but a mode of the whole request: the mode VALIDATED of toolConfig",
    is_plain=True,
    const_as_enum=True,
)
PROVIDER: Final[Provider] = Provider(GeminiReader(), GeminiForm(), tools=TOOLS, client_packages=("google",))
