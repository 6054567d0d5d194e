"""What a provider is, and what all of them share: fields of events, errors, usage, and calls in requests.

A provider is one module with a `Reader` (events of its stream in, notes on a draft out), a `Form` (a message, results
and tools in, items of the next request out), and `PROVIDER`, which names both and the facts about the provider.

One stream is one message. A second one must not be joined to the first: a program may have acted on the first one
already, or it broke off. So where another message begins, the stream has failed, and nothing in it can be run.
An event that begins the same message again says nothing new.

Fields are read alike from plain dicts and from the objects of any SDK.
Rule: nothing raises on provider data. A field that is missing, `None`, or of another type counts as absent.
Where arguments of a call may be, an unreadable value is noted on the draft as lost, so that no call runs without it:
`fields_in`, `items_in` and `index_in` read what arguments are in, `check_rest` looks at fields that are not known.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from math import isfinite
from typing import Any, ClassVar, Final, TypeAlias, cast

from jsontide._values import JsonValue
from jsontide.messages.calls import BaseCall, CompleteCall, PartialCall
from jsontide.messages.document import has_infinity, write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, UNREADABLE_ARGUMENTS, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult, describe_file
from jsontide.messages.parts import File, TextPart
from jsontide.messages.record import Value
from jsontide.messages.types import Usage
from jsontide.providers.strict import ToolRules

SECOND_MESSAGE: Final = "another message begins in the same stream; jsontide.runs.stream_run reads all of them"


ANYTHING: Final = 0
"""A value of which only the whole event says what it is."""
PIECE: Final = 1
"""More of a text or of arguments, which is added, if it is a text and not empty, whatever it says."""
IN_USAGE: Final = 2
"""A field of the usage; the last usage counts, if this field is a number."""
SILENT: Final = 3
"""A value that says nothing."""
COUNTER: Final = 4
"""The number of the event, of which the reader is told."""


class Reader(Value):
    """Reads the events of one provider's stream.

    Rule: a reader is a value; what it must remember between events is in the reader that `read` returns.
    """

    __slots__ = ()

    NAME: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """Whose events it reads."""
        return type(self).NAME

    def fits(self, event: dict[str, Any]) -> bool:
        """Return whether an event is of this provider."""
        raise NotImplementedError

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return the events that a stream of a whole completion would have; `None` if the event is not one.

        Some servers do not stream, though asked to. Only what no stream has is taken for a whole.
        """
        return None

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Note what an event says, and return the reader of the next one."""
        raise NotImplementedError

    def role_of(self, draft: Draft, event: dict[str, Any], path: tuple[object, ...]) -> int:
        """Return what a value is for the reader: `PIECE`, `IN_USAGE`, `SILENT`, `COUNTER`, or `ANYTHING`.

        It is asked of a value that is another one in the next event, while all else in that event is the same.
        """
        return ANYTHING

    def make_usage(self, usage: dict[str, Any]) -> Usage:
        """Return what the field says in which values are `IN_USAGE`."""
        raise NotImplementedError

    def count(self, draft: Draft, number: int) -> Reader:
        """Note what the number of an event shows, and return the reader that knows it."""
        raise NotImplementedError


class MessageStart(Value):
    """Whether the event that begins a message was read, for readers that watch for a second one."""

    __slots__ = ("has_more", "has_started", "id")

    FIELDS: ClassVar[tuple[str, ...]] = ("has_started", "id", "has_more")

    def __init__(self, has_started: bool = False, id: str | None = None, has_more: bool = False) -> None:  # noqa: A002
        self.has_started: Final = has_started
        self.id: Final = id
        self.has_more: Final = has_more
        """Whether another event followed the beginning."""

    def start(self, draft: Draft, message_id: str | None) -> MessageStart | None:
        """Return the same after an event that begins a message, `None` if the event says nothing new."""
        if not self.has_started:
            return MessageStart(True, message_id)
        is_another = message_id != self.id if message_id and self.id else self.has_more
        if is_another:
            draft.fail(SECOND_MESSAGE)
        return None

    def after_event(self) -> MessageStart:
        """Return the same after any other event."""
        return self if self.has_more or not self.has_started else MessageStart(True, self.id, True)


NOT_STARTED: Final = MessageStart()


class StartReader(Reader):
    """A reader that watches for the beginning of a second message."""

    __slots__ = ("start",)

    FIELDS: ClassVar[tuple[str, ...]] = ("start",)

    def __init__(self, start: MessageStart = NOT_STARTED) -> None:
        self.start: Final = start

    def continue_after(self, start: MessageStart | None) -> Reader:
        """Return the reader of the next event, given what is known of the beginning; `None` if that is nothing new."""
        return self if start is None or start is self.start else type(self)(start)


ANSWER_NAME: Final = "answer"
"""What a structured answer is called in a request, where it needs a name."""
Item: TypeAlias = dict[str, Any]
"""One item of the list of messages, contents or input items in a request."""


class Form:
    """Writes what goes into the next request to one provider."""

    __slots__ = ()

    ITEMS: ClassVar[str] = "messages"
    """The argument of the client's method that takes what is written here."""
    SYSTEM: ClassVar[str] = ""
    """The argument that takes the system text; without one, it is a message."""

    def write_request(self, system: str, items: list[Item], tools: list[Item], answer: Item) -> Item:
        """Return the arguments of the client's method, given those that ask for a structured answer."""
        if system and not self.SYSTEM:
            items = [{"role": "system", "content": system}, *items]
        written: Item = {self.ITEMS: items, **answer}
        if system and self.SYSTEM:
            written[self.SYSTEM] = system
        if tools:
            written["tools"] = tools
        return written

    def write_continued(self, message: Message) -> Item:
        """Return the arguments of the client's method that keep what a message of this provider was made with."""
        return {}

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        """Return the arguments of the client's method that ask for an answer that fits a JSON Schema."""
        raise NotImplementedError

    def join(self, items: list[Item]) -> list[Item]:
        """Return the items of a request with those joined that must not follow one another."""
        return items

    def write_message(self, message: Message) -> list[Item]:
        """Return an assistant's message, with all that must be sent back unchanged.

        Calls that cannot be run are left out unless they were answered: a provider refuses a call without its result,
        and arguments that are not JSON.
        """
        raise NotImplementedError

    def write_user(self, parts: Sequence[TextPart | File]) -> list[Item]:
        """Return what the user says and shows, as one text if there is nothing else."""
        blocks = self.write_content(parts)
        if not blocks:
            return []
        is_text = all([self.find_file(part) is None for part in parts if isinstance(part, File)])
        return [{"role": "user", "content": join_texts(parts) if is_text else blocks}]

    def write_content(self, parts: Sequence[TextPart | File]) -> list[Item]:
        """Return a block for each text and file; what the provider cannot be shown is told in words."""
        blocks: list[Item] = []
        for part in parts:
            block = self.find_file(part) if isinstance(part, File) else None
            text = text_in_words(part)
            if block is None and text.strip():
                block = self.write_text(text)
            if block is not None:
                blocks.append(block)
        return blocks

    def write_text(self, text: str) -> Item:
        """Return a block of text."""
        return {"type": "text", "text": text}

    def find_file(self, file: File) -> Item | None:
        """Return the block that shows a file, `None` if the provider has none for it."""
        return None

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the results of calls, most often an item for each."""
        return [self.write_result(result) for result in results]

    def write_result(self, result: ToolResult) -> Item:
        raise NotImplementedError

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a tool, whose parameters are a JSON Schema."""
        raise NotImplementedError


class Provider:
    """All that the rest of the library knows of a provider."""

    __slots__ = ("client_packages", "event_names", "event_prefixes", "form", "reader", "tools")

    def __init__(
        self,
        reader: Reader,
        form: Form | None = None,
        *,
        tools: ToolRules | None = None,
        event_names: tuple[str, ...] = (),
        event_prefixes: tuple[str, ...] = (),
        client_packages: tuple[str, ...] = (),
    ) -> None:
        self.reader: Final = reader
        """Reads the first event of a stream."""
        self.form: Final = form
        """Nothing if requests are another provider's."""
        self.tools: Final = tools or ToolRules()
        self.event_names: Final = event_names
        """The names of its server-sent events, as far as they are named."""
        self.event_prefixes: Final = event_prefixes
        """How such names begin."""
        self.client_packages: Final = client_packages
        """Packages that open connections to it, by their top module: their exceptions are failures of the transport."""

    @property
    def name(self) -> str:
        return self.reader.name


# Fields of events.

_UNSET: Final = "Unset"
"""What the client of Mistral has in place of fields that are not there."""
_DIGITS: Final = re.compile("[0-9]{1,18}")
_MOST_EXACT: Final = 2**53
_NOTHING: Final[dict[str, Any]] = {}
_NO_ITEMS: Final[list[object]] = []
_UNREADABLE: Final = "the field {!r} of an event is of a type that is not expected, and may hold arguments of a call"
_UNKNOWN: Final = "an event has a field {!r} that is not known there, and may hold arguments of a call"
_OTHER_KIND: Final = "a piece of the kind {!r} came for a call"
_ARGUMENTS: Final = frozenset(
    (
        *("args", "arguments", "argumentsdelta", "inputjson", "inputjsondelta", "jsonpath", "partialargs"),
        *("partialjson", "toolinput"),
    )
)
"""How providers call arguments; in lower case, without what parts words."""
_HOLDERS: Final = _ARGUMENTS | {"functioncall", "functioncalls", "toolcall", "toolcalls", "tooluse"}
"""These, and what they are in; a number under one of the others may count calls."""
_CALL_DELTAS: Final = ("arguments_delta", "input_json_delta")
"""How providers say that something is arguments of a call."""
_IN_CALLS: Final = _HOLDERS | {"argument", "call", "delta", "function", "input", "json", "parameters", "params"}
"""How fields are called that may be arguments if they stand in a call."""
CUSTOM: Final = "custom"
"""The type of calls whose arguments are a text."""
_IN_CUSTOM: Final = (CUSTOM, "input")
"""How fields are called that hold such a text, and many other things."""
_USAGE_WORDS: Final = ("inference_geo", "search_context_size", "service_tier", "trafficType", "traffic_type")
"""Words that providers say in a usage, some of them where it has no numbers yet."""
_LABELS: Final = frozenset(
    (
        *("created", "event_id", "event_type", "id", "index", "model", "name", "object", "obfuscation", "role"),
        "type",
    )
)
"""How fields are called that hold a text or a number wherever they stand, and never anything else."""


def as_dict(value: object) -> dict[str, Any]:
    """Return the fields of an event, or of a part of one; empty for a value without fields."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (str, int, float, list, tuple, bytes)) or value is None:
        return _NOTHING
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict) and not isinstance(value, Mapping):
        # The models of SDKs keep what they do not know apart.
        extra = getattr(value, "__pydantic_extra__", None)
        return {**fields, **extra} if extra else fields
    return _slow_dict(value)


def _slow_dict(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    names = [name for name in dir(value) if not name.startswith("_")]
    found = {name: getattr(value, name, None) for name in names}
    return {name: field for name, field in found.items() if not callable(field)}


def dict_of(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field that has fields itself, empty if it is not there."""
    value = fields.get(name)
    return _NOTHING if value is None else as_dict(value)


def text_of(fields: dict[str, Any], name: str) -> str | None:
    """Return a field that is a text; SDKs make enums of some."""
    value = fields.get(name)
    return value if value is None or type(value) is str else as_text(value)


def text_in(draft: Draft, fields: dict[str, Any], name: str) -> str | None:
    """Return a field that is a text, and note what may be arguments if it is something else."""
    found = text_of(fields, name)
    if found is None and fields.get(name) is not None:
        check_unknown(draft, name, fields[name])
    return found


def as_text(value: object) -> str | None:
    if isinstance(value, Enum):
        value = value.value
    return str(value) if isinstance(value, str) else None


def integer_of(fields: dict[str, Any], name: str) -> int:
    """Return a field that is an integer, `NO_INDEX` if it is not; some servers write it as `1.0`, or as digits."""
    value = fields.get(name)
    if type(value) is int:
        return value
    found = as_integer(value)
    return NO_INDEX if found is None else found


def as_integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _MOST_EXACT else None
    return None


def count_of(fields: dict[str, Any], name: str) -> int | None:
    """Return a field that is a number of something."""
    value = fields.get(name)
    return value if value is None or type(value) is int else as_integer(value)


def list_of(fields: dict[str, Any], name: str) -> list[object]:
    """Return a field that is an array, empty if it is not there."""
    value = fields.get(name)
    if type(value) is list:
        return value
    return list(value) if isinstance(value, (list, tuple)) else _NO_ITEMS


def fields_in(draft: Draft, fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field that has fields itself, in which arguments may be."""
    return check_fields(draft, name, fields.get(name))


def check_fields(draft: Draft, name: str, value: object) -> dict[str, Any]:
    """Return the fields of a value in which arguments may be."""
    if type(value) is dict:
        return value
    found = as_dict(value)
    if found is _NOTHING and value:
        draft.lose(_UNREADABLE.format(name))
    return found


def items_in(draft: Draft, fields: dict[str, Any], name: str) -> list[object]:
    """Return a field that is an array, in which arguments may be."""
    value = fields.get(name)
    if type(value) is list:
        return value
    if value and not isinstance(value, (list, tuple)):
        draft.lose(_UNREADABLE.format(name))
    return list_of(fields, name)


def check_item(draft: Draft, name: str, item: object) -> dict[str, Any]:
    """Return the fields of an item of an array in which arguments may be; an item without fields counts as lost."""
    found = as_dict(item)
    if found is _NOTHING and item is not None:
        draft.lose(_UNREADABLE.format(name))
    return found


def index_in(draft: Draft, fields: dict[str, Any], name: str) -> int:
    """Return a field that says which call arguments are of, `NO_INDEX` if it is not there."""
    value = fields.get(name)
    if type(value) is int:
        return value
    found = integer_of(fields, name)
    if found == NO_INDEX and value is not None and value != "":
        draft.lose(_UNREADABLE.format(name))
    return found


def check_rest(draft: Draft, call: dict[str, Any], known: frozenset[str]) -> None:
    """Note what may be arguments among the fields of a call, or of a piece of one, that are not known."""
    for name, value in call.items():
        if value and (name not in known or is_odd_label(name, value)):
            if _bare(name) in _IN_CALLS:
                draft.lose(_UNKNOWN.format(name))
            _search(draft, name, value, _IN_CALLS)


def is_odd_label(name: str, value: object) -> bool:
    """Return whether a field that is a text or a number in every event holds something in this one."""
    return isinstance(value, (dict, list, tuple)) and name in _LABELS


def check_delta(draft: Draft, delta: dict[str, Any], known: frozenset[str]) -> None:
    """Note that a delta of a call is of a kind that is not known, if it says anything."""
    for name, value in delta.items():
        if value and (name not in known or is_odd_label(name, value)):
            draft.lose(_UNKNOWN.format(name))


def check_entry(draft: Draft, call: dict[str, Any], known: frozenset[str]) -> None:
    """Note that a call without the object for its arguments has a text that is not known, and may be them."""
    for name, value in call.items():
        if name not in known and isinstance(value, str) and value:
            draft.lose(_UNKNOWN.format(name))


def check_function(draft: Draft, function: dict[str, Any], known: frozenset[str]) -> None:
    """Note what may be arguments among the fields of a function: without arguments, all that is not known may be."""
    check_rest(draft, function, known)
    if function.get("arguments") is None and function.get("input") is None:
        check_delta(draft, function, known)


def has_arguments(call: dict[str, Any]) -> bool:
    """Return whether a call, of a function or a custom tool, has arguments, or an empty text in their place."""
    given = dict_of(call, "function").get("arguments")
    return given is not None or dict_of(call, "custom").get("input") is not None


def check_around(draft: Draft, fields: dict[str, Any], holders: frozenset[str], goes_on: bool = False) -> None:
    """Note what may be the arguments of a call that has none in this event: what is an object, also as a text.

    `holders` are the fields that are known to be objects or arrays. Of a call that goes on, it may be a piece.
    """
    for name, value in fields.items():
        if (name not in holders or isinstance(value, str)) and may_be_arguments(value):
            (draft.lose if goes_on else draft.leave_unread)(_UNKNOWN.format(name))


def check_usage_around(draft: Draft, usage: object, goes_on: bool = False) -> None:
    """Do as `check_around` does for a usage, in which objects hold numbers, and which holds numbers or known words."""
    fields = as_dict(usage)
    counts = [name for name, value in fields.items() if _is_count(value)]
    is_usage = bool(counts) or (bool(fields) and all([name in _USAGE_WORDS for name in fields]))
    if is_usage or not may_be_arguments(usage):
        check_around(draft, fields, frozenset(counts), goes_on)
    else:
        (draft.lose if goes_on else draft.leave_unread)(_UNKNOWN.format("usage"))


def may_be_arguments(value: object) -> bool:
    """Return whether a value could be all the arguments of a call."""
    if isinstance(value, str):
        return value.lstrip().startswith("{") and bool(load_json(value))
    return isinstance(value, (dict, list, tuple)) and bool(value)


def _is_count(value: object) -> bool:
    """Return whether a value is a figure, or figures by kind."""
    if isinstance(value, dict):
        return all([_is_count(each) for each in value.values()])
    if isinstance(value, (list, tuple)):
        return all([bool(as_dict(each)) for each in value])
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def check_unknown(draft: Draft, name: str, value: object) -> None:
    """Note what may be arguments in a field or an event that is not known, however deep it is."""
    _search(draft, name, value, _HOLDERS)


def check_places(draft: Draft, event: dict[str, Any], own: frozenset[str], others: frozenset[str]) -> None:
    """Note what may be arguments in a field that events of this kind do not have; `others` are those of other kinds."""
    for name, value in event.items():
        if name in own or value is None:
            continue
        if name in others:
            draft.lose(_UNKNOWN.format(name))
        elif value:
            check_unknown(draft, name, value)


def check_block(draft: Draft, key: int, kind: object) -> None:
    """Note that a piece of another kind came for a block that is a call."""
    if key != NO_KEY and isinstance(draft.find(key), PartialCall):
        draft.lose(_OTHER_KIND.format(kind))


def _search(draft: Draft, name: str, value: object, holders: frozenset[str]) -> None:
    """Note a field of one of these names that is not empty, also in JSON that is written as a text.

    In a call, every text that looks like an object may be arguments.
    """
    waiting: list[tuple[str, object]] = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        is_text, bare = isinstance(value, str), _bare(name)
        is_held = (bare in _IN_CUSTOM and _is_custom(draft, bare, value)) or (bare == "function" and _is_called(value))
        if not value and not is_held:
            continue
        is_held = is_held or (is_text and value in _CALL_DELTAS)
        if bare in holders and (is_text or bare in _ARGUMENTS or isinstance(value, (dict, list, tuple))):
            is_held = True
        if is_held or (is_text and holders is _IN_CALLS and str(value).lstrip().startswith('{"')):
            draft.lose(_UNKNOWN.format(name))
            return
        if is_text and str(value).lstrip().startswith(("{", "[")):
            value = load_json(str(value))
        if isinstance(value, dict):
            waiting.extend([(str(inner), each) for inner, each in value.items()])
        elif isinstance(value, (list, tuple)):
            waiting.extend([("", each) for each in value])


def _is_custom(draft: Draft, name: str, value: object) -> bool:
    """Return whether something may be of a call of a custom tool: there is one, or it looks like one."""
    if name == CUSTOM and isinstance(value, dict) and "'input'" in str(value):
        return True
    is_held = bool(value) if name != CUSTOM else isinstance(value, dict)
    return (
        is_held
        and not isinstance(value, (int, float))
        and any([part.extra.get("type") == CUSTOM for part in draft.parts])
    )


def _is_called(function: object) -> bool:
    """Return whether a function is one that is called, and not the definition of a tool."""
    return isinstance(function, dict) and "parameters" not in function


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def is_true(fields: dict[str, Any], name: str) -> bool:
    return fields.get(name) is True


def arguments_of(value: object) -> str | None:
    """Return arguments as text; they may be an object, and anything else is marked as unreadable."""
    if value is None or type(value) is str:
        return value
    text = as_text(value)
    if text is not None:
        return text
    return write_json(plain(value)) if is_object(value) else UNREADABLE_ARGUMENTS


def is_object(value: object) -> bool:
    """Return whether arguments are an object, and not text."""
    return isinstance(value, Mapping)


def plain(value: object) -> JsonValue:
    """Return what a provider sent as plain JSON, from dicts and from the objects of any SDK, however deep it is."""
    root: list[Any] = [None]
    waiting: list[tuple[object, Any, Any]] = [(value, root, 0)]
    while waiting:
        found, target, place = waiting.pop()
        if found is None or type(found) is str or type(found) is int:  # as most values are
            target[place] = found
            continue
        fields = _plain_fields(found)
        if fields is not None:
            made: dict[str, Any] = dict.fromkeys(fields)  # in their order
            target[place] = made
            waiting.extend([(field, made, name) for name, field in fields.items()])
        elif isinstance(found, (list, tuple)):
            items: list[Any] = [None] * len(found)
            target[place] = items
            waiting.extend([(item, items, at) for at, item in enumerate(found)])
        else:
            target[place] = _plain_scalar(found)
    return cast("JsonValue", root[0])


def _plain_fields(value: object) -> dict[str, Any] | None:
    """Return the fields of an object; the models of SDKs have every possible field, most of them `None`."""
    if isinstance(value, dict):
        return {str(name): field for name, field in value.items()}
    if value is None or isinstance(value, (str, int, float, list, tuple, bytes, bytearray, Enum, datetime)):
        return None
    fields = as_dict(value)
    if not fields and not hasattr(value, "__dict__"):
        return None
    return {str(name): field for name, field in fields.items() if field is not None and type(field).__name__ != _UNSET}


def _plain_scalar(value: object) -> object:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, (int, float)) or type(value) is str:
        return value
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else str(value)


def rest_of(fields: dict[str, Any], known: frozenset[str] = frozenset()) -> dict[str, JsonValue]:
    """Return the fields that are not known, as plain JSON; a field that is `None` is not there."""
    return {name: plain(value) for name, value in fields.items() if value is not None and name not in known}


def keep_metadata(draft: Draft, fields: dict[str, Any], known: frozenset[str] = frozenset()) -> None:
    """Keep the fields that are not known with the message, and note what may be arguments among them."""
    for name, value in fields.items():
        if value is not None and name not in known:
            check_unknown(draft, name, value)
            draft.set_metadata(name, plain(value))


def join_base64(before: str | None, piece: str | None) -> str | None:
    """Return two pieces of binary data as one: each may be padded by itself."""
    if not before or not piece:
        return before or piece
    if not before.endswith("="):
        return before + piece
    try:
        return before[:-4] + b64encode(b64decode(before[-4:]) + b64decode(piece)).decode()
    except ValueError:
        return before + piece


def created_of(value: object) -> object:
    """Return a time in seconds since 1970, from a number or as ISO 8601 writes it; `None` if it is neither."""
    if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            return None
    return None


# What `json.loads` calls, without the search for white space around it: that alone takes as long as a short event.
scan_json: Final[Callable[[str, int], tuple[object, int]]] = cast("Any", json.JSONDecoder()).scan_once
_JSON_SPACE: Final = " \t\n\r"


def load_json(text: str) -> object:
    """Return the value of a JSON text, `None` if it is not JSON."""
    text = text.strip(_JSON_SPACE)
    try:
        value, end = scan_json(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    return value if end == len(text) else None


# Errors.

_BESIDE_ERROR: Final = ("code", "error_type", "status", "status_code", "type")
"""What stands beside an error that is a text."""


def read_error(draft: Draft, event: dict[str, Any]) -> bool:
    """Note the error that an event reports in the field that all servers and proxies have for it, if it does."""
    error = event.get("error")
    if error is None or error is False:
        return False
    about = plain(error)
    if isinstance(about, str) and any([event.get(name) is not None for name in _BESIDE_ERROR]):
        about = {name: plain(event[name]) for name in ("error", *_BESIDE_ERROR) if event.get(name) is not None}
    draft.fail(describe_error(error), about)
    return True


def describe_error(error: object) -> str:
    """Return what an error says, whatever it is written as."""
    if isinstance(error, str):
        return error or "error"
    fields = as_dict(error)
    found = text_of(fields, "message") or text_of(fields, "type") or as_text(fields.get("code"))
    return found or "error"


# Usage.


class UsageNames:
    """Where the usage of a provider has each figure of a `Usage`.

    `a.b` is the field b of a. `a + b` is a sum: its first figure is needed, the others may be missing.
    Of several with `or`, the first that the provider gives counts.
    """

    __slots__ = ("_places",)

    def __init__(self, **places: str) -> None:
        self._places: Final = [
            (figure, [[_read_place(name) for name in terms.split(" + ")] for terms in place.split(" or ")])
            for figure, place in places.items()
        ]

    def read(self, usage: dict[str, Any], raw: JsonValue) -> Usage:
        """Return the figures; `raw` is the usage as plain JSON."""
        figures: dict[str, Any] = {"raw": raw if isinstance(raw, dict) else {}}
        for figure, choices in self._places:
            for terms in choices:
                found = _add_up(usage, terms)
                if found is not None:
                    figures[figure] = found
                    break
        return Usage(**figures)


def _read_place(written: str) -> tuple[list[str], str]:
    *around, name = written.split(".")
    return around, name


def _add_up(usage: dict[str, Any], terms: list[tuple[list[str], str]]) -> int | None:
    total: int | None = None
    for around, last in terms:
        fields = usage
        for name in around:
            fields = dict_of(fields, name)
        count = count_of(fields, last)
        if total is None:
            if count is None:
                return None
            total = count
        else:
            total += count or 0
    return total


# Texts and files in requests.

_DATA_URL: Final = re.compile(r"data:([^;,]*)[^,]*?;base64,", re.IGNORECASE)


def text_in_words(part: TextPart | File) -> str:
    """Return a text, or what a model reads of a file that it cannot be shown."""
    return part.text if isinstance(part, TextPart) else describe_file(part)


def join_texts(parts: Sequence[TextPart | File]) -> str:
    texts = [text_in_words(part) for part in parts]
    return "\n\n".join([text for text in texts if text.strip()])


class Shown:
    """A file as requests have it: its kind, and its content in base64 or where it is."""

    __slots__ = ("data", "kind", "media_type", "name", "url")

    def __init__(self, file: File) -> None:
        url, data, media_type = file.url, file.data, file.media_type
        if url is not None and data is None and (inline := _DATA_URL.match(url)) is not None:
            data = url[inline.end() :]
            url, media_type = None, media_type or inline.group(1)
        self.media_type: Final = (media_type or "").partition(";")[0].strip().lower()
        self.kind: Final = self.media_type.partition("/")[0]
        """What stands before the slash of its type: `image`, `audio`, `video`, `text`, `application`."""
        self.data: Final = data
        self.url: Final = url
        """Nothing for a data URL."""
        self.name: Final = file.name

    @property
    def link(self) -> str | None:
        """Where the content is; if it is here, a data URL."""
        return self.url if self.data is None else f"data:{self.media_type};base64,{self.data}"


# Calls in requests.

UNNAMED: Final = "unknown"
"""The name of a call whose name never came; its result, which says so, must refer to something."""


def is_own(message: Message, provider: str) -> bool:
    """Return whether a message comes from the provider that it is written for; one made by hand is taken for that."""
    return message.provider is None or message.provider == provider


def written_id(call: BaseCall) -> str:
    """Return the id of a call; its place stands for a missing one."""
    return call.id or f"call_{call.index}"


def written_name(call: BaseCall) -> str:
    return call.name or UNNAMED


def written_arguments(call: BaseCall) -> str:
    """Return the arguments of a call as they were written; if they were mended, as they should have been."""
    is_mended = isinstance(call, CompleteCall) and call.repairs
    return write_json(call.arguments_value) if is_mended and isinstance(call, CompleteCall) else call.arguments


def arguments_object(call: BaseCall) -> dict[str, Any]:
    """Return the arguments of a call as an object, an empty one if they are not."""
    found = load_json(written_arguments(call))
    return found if isinstance(found, dict) and not has_infinity(found) else {}


def arguments_text(call: BaseCall) -> str:
    """Return the arguments of a call as text, as they were written; an empty object if they are not one."""
    if isinstance(call, CompleteCall):
        return written_arguments(call)
    return call.arguments if arguments_object(call) else "{}"


def function_call(call: BaseCall) -> Item:
    """Return a call as chat completions, and the servers that took over their form, have it."""
    function = {"name": written_name(call), "arguments": arguments_text(call)}
    return {"id": written_id(call), "type": "function", "function": function}


def function_tool(name: str, description: str, parameters: dict[str, Any]) -> Item:
    """Return the definition of a tool in the same form."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
