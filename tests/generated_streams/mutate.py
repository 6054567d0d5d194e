"""Written streams with something moved, dropped, doubled, retyped, renamed or said to be of another kind.

And what of their calls may be run then.

What carries arguments in a stream is replaced by a `Piece` that knows whose it is. Mutations move these about without
looking into them, so that it is known of each mutated stream which pieces of which call are in it, and in which order.
A call may be run with the arguments that its description has; or with what the pieces of it make that are still there,
all of them and in their order, if these are text. Whatever else runs has lost something, or has what is another's.
Rule: nothing here comes from `jsontide`, so that no expectation does.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.generated_streams.said import Call, Event, Stream

INDEX = ("index", "output_index", "contentBlockIndex")
IN_ORDER = ("gemini", "ollama")
"""Those whose calls have no index."""
NAMED_BY_KIND = ("bedrock",)
"""Those whose events have one field, which says of which kind they are."""
CARRIERS = ("arguments", "partial_json", "args", "partialArgs")
"""Fields that have arguments wherever they stand."""
ARGUMENTS = (*CARRIERS, "delta", "input")
"""These, and those that have arguments in some places."""
WITH_INPUT = (None, "custom_tool_call", "response.custom_tool_call_input.done", "tool_use")
WITH_DELTA = ("response.custom_tool_call_input.delta", "response.function_call_arguments.delta")
"""What has arguments under these two names."""
OTHER_NAMES = (
    *("args", "arguments", "call", "content", "delta", "function", "functionCall", "function_call", "input", "item"),
    *("message", "parameters", "params", "partialArgs", "partial_json", "step", "toolCalls", "toolUse", "tool_call"),
    *("tool_calls", "tool_use"),
)
"""How fields are called that have arguments in them, by any provider."""
TEXT, WHOLE, OBJECT, PATHS, BROKEN = range(5)
SPOKEN = ("response.output_text.", "response.content_part.", "response.reasoning_", "content-", "tool-plan-")
CALLING = re.compile("rguments|rgs|nput|ool|tep|inish|top|done|unction|ame|nteraction")
ELSEWHERE = 20
"""The first index at which no calls are."""
ANSWERS = ("candidates", "choices")
"""Where several answers are told apart by an index, which may not be changed: what it says is not read then."""
TAGS = ("type", "event_type")
"""Fields that say of which kind something is."""
TAG = re.compile('"(?:event_)?type": "([^"]+)"')
SEGMENT = re.compile(r"\.(\w+)|\[(\d+)\]")


@dataclass(frozen=True)
class Piece:
    """Arguments of a call, or a part of them."""

    call: str
    """The name of the call."""
    value: Any
    kind: int
    """Whether it is a part of a text, all of it, an object, or values at paths; or was one of these."""


@dataclass(frozen=True)
class Name:
    """The name of a call where a stream begins it."""

    value: str


@dataclass(frozen=True, eq=False)
class Base:
    """A stream with pieces in place of arguments."""

    stream: Stream
    events: list[Any]
    calls: dict[str, Call]
    indices: dict[int, str]
    """Which call an index is of; empty if the calls of a stream are told apart by their order."""
    kinds: list[str]
    """Of which kinds the events are, and what is in them."""
    names: list[str]
    """How fields are called: in these events, and by any provider if they have arguments in them."""
    known: dict[int, tuple[Any, list[Any]]] = field(default_factory=dict)
    """Each of the events by its `id`, as it is written and with what is marked in it: most are never mutated."""

    def written(self, event: Any) -> Any:
        """Return an event as the provider sends it."""
        known = self.known.get(id(event))
        return write(event) if known is None else known[0]

    def marks(self, event: Any) -> list[Any]:
        """Return the pieces and names in an event, in order."""
        known = self.known.get(id(event))
        return find(event) if known is None else known[1]


# From a stream to one with pieces.


def find_base(stream: Stream) -> Base | None:
    """Return a stream with pieces, `None` if it has no calls, two of one name, or arguments that cannot be seen."""
    calls = {str(call.name): call for call in stream.said.calls}
    if not calls or len(calls) != len(stream.said.calls) or stream.second or stream.said.outcome != "complete":
        return None
    if any(not isinstance(call.value, (dict, str)) for call in calls.values()):
        return None
    marker = _Marker(calls)
    events = [marker.mark(event, event, None) for event in stream.events]
    seen = {piece.call for piece in find(events) if isinstance(piece, Piece)}
    if any(call.value and name not in seen for name, call in calls.items()):  # in an envelope that hides them
        return None
    short = [event for at, event in enumerate(events) if not is_spoken(stream.events[at]) or not at]
    for at, event in enumerate(short):
        if "sequence_number" in event:
            short[at] = {**event, "sequence_number": at}
    known = {id(event): (write(event), find(event)) for event in short}
    indices = {} if stream.provider in IN_ORDER else marker.indices
    return Base(stream, short, calls, indices, kinds_of(stream), names_of(stream), known)


def names_of(stream: Stream) -> list[str]:
    return sorted({*OTHER_NAMES, *(name for event in stream.events for name in find_names(event))})


def find_names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from find_names(item)


def kinds_of(stream: Stream) -> list[str]:
    if stream.provider in NAMED_BY_KIND:
        return sorted({name for event in stream.events for name in event})
    return sorted({kind for event in stream.events for kind in TAG.findall(json.dumps(event))})


def is_spoken(event: Event) -> bool:
    """Return whether an event is a piece of text or of a thought, which streams can do without here."""
    kind = str(event.get("type") or "")
    if kind.startswith(SPOKEN):
        return True
    written = json.dumps(event)
    is_piece = any(f'"{name}"' in written for name in ("text_delta", "thinking_delta", "signature_delta"))
    return is_piece or (bool(re.search(r'"(content|text|thought_summary)": ', written)) and not CALLING.search(written))


class _Marker:
    def __init__(self, calls: dict[str, Call]) -> None:
        self.calls = calls
        self.indices: dict[int, str] = {}
        self.last: str | None = None

    def mark(self, value: Any, event: Event, index: int | None) -> Any:
        if isinstance(value, list):
            return [self.mark(item, event, index) for item in value]
        if not isinstance(value, dict):
            return value
        given = [value[name] for name in INDEX if isinstance(value.get(name), int)]
        index = given[0] if given and not is_answer(value) else index
        name = value.get("name")
        if isinstance(name, str) and name in self.calls:
            self.last = name
            if index is not None:
                self.indices[index] = name
        return {key: self.mark_field(key, item, event, index, value) for key, item in value.items()}

    def mark_field(self, key: str, item: Any, event: Event, index: int | None, holder: Event) -> Any:
        if key == "name" and isinstance(item, str) and item in self.calls:
            return Name(item)
        owner = holder.get("name") if holder.get("name") in self.calls else None
        call = owner or (self.last if index is None else self.indices.get(index))
        kind = str(event.get("type") or "")
        is_piece = key in CARRIERS or (key == "input" and holder.get("type") in WITH_INPUT)
        is_piece = is_piece or (key == "delta" and kind in WITH_DELTA)
        if not is_piece or call is None or item is None:
            return self.mark(item, event, index)
        if not item:
            return Piece(call, item, TEXT)
        if key == "partialArgs":
            return [Piece(call, one, PATHS) for one in item]
        if isinstance(item, dict):
            return Piece(call, item, OBJECT)
        is_whole = kind.startswith("response.") and not kind.endswith(".delta")
        return Piece(call, item, WHOLE if is_whole else TEXT)


def is_answer(holder: Any) -> bool:
    """Return whether the index of something is that of one of several answers."""
    names = ("finish_reason", "finishReason", "content")
    is_choice = "delta" in holder and not ("type" in holder or "event_type" in holder)
    return isinstance(holder, dict) and (is_choice or any(name in holder for name in names))


def find(value: Any) -> list[Any]:
    """Return the pieces and names in an event, in order."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (Piece, Name)):
            found.append(one)
        elif isinstance(one, (dict, list)):
            waiting.extend(reversed(one.values() if isinstance(one, dict) else one))
    return found


def write(value: Any) -> Any:
    """Return an event as the provider sends it."""
    if isinstance(value, (Piece, Name)):
        return value.value
    if isinstance(value, dict):
        return {key: encoded(write(item)) if key == "bytes" else write(item) for key, item in value.items()}
    return [write(item) for item in value] if isinstance(value, list) else value


def encoded(event: Any) -> Any:
    """Return an event as clouds have it in an envelope; what is no event stays as it is."""
    return b64encode(json.dumps(event).encode()).decode() if isinstance(event, dict) else event


# Mutations.


def mutate(base: Base, random: Random) -> tuple[list[Any], list[str]]:
    """Return the events after one or a few mutations, and what was done."""
    events = list(base.events)
    ways = [random.choice(MUTATIONS) for _ in range(random.choice((1, 1, 1, 2, 2, 3)))]
    return events, [way(events, base, random) for way in ways]


def pick(events: list[Any], base: Base, random: Random) -> int:
    """Return the place of an event, as a rule of one with arguments or a name."""
    told = [at for at, event in enumerate(events) if base.marks(event)] if random.random() < 0.8 else []
    return random.choice(told) if told else random.randrange(len(events))


def move(events: list[Any], base: Base, random: Random) -> str:
    at, to = pick(events, base, random), random.randrange(len(events))
    events.insert(to, events.pop(at))
    return f"moved {at} to {to}"


def drop(events: list[Any], base: Base, random: Random) -> str:
    at = pick(events, base, random)
    if len(events) > 1:
        events.pop(at)
    return f"dropped {at}"


def double(events: list[Any], base: Base, random: Random) -> str:
    at = pick(events, base, random)
    events.insert(random.choice((at, random.randrange(len(events)))), events[at])
    return f"doubled {at}"


def change(events: list[Any], base: Base, random: Random) -> str:
    """Change something in one event."""
    at = pick(events, base, random)
    paths = list(paths_of(events[at], ()))
    if not paths:
        return "nothing"
    path = random.choice(paths)
    return alter(events, [at], path, base, random)


def carry(events: list[Any], base: Base, random: Random) -> str:
    """Carry a field to another place of its event, under its own name or another that the stream has."""
    at = pick(events, base, random)
    paths = [path for path in paths_of(events[at], ()) if path[-1] not in INDEX]
    if not paths or len({one.call for one in base.marks(events[at]) if isinstance(one, Piece)}) > 1:
        return "nothing"
    path = random.choice(paths)
    value = value_at(events[at], path)
    without = put(events[at], path, without_item)
    places = [(), *(place for place in paths_of(without, ()) if isinstance(value_at(without, place), dict))]
    place, name = random.choice(places), random.choice((path[-1], random.choice(base.names)))
    if name in INDEX or is_something_else(value, name):
        return "nothing"
    events[at] = put([without], (0, *place), lambda holder, key: with_item(holder, key, str(name), value))[0]
    return f"carried {path} of {at} to {place} as {name}"


def is_something_else(value: Any, name: Any) -> bool:
    """Return whether a value says something else under a name, so that nobody could know what it was.

    Whatever stands where arguments do is arguments, and a name is that of the call in which it stands.
    """
    if isinstance(value, Piece):
        return name not in CARRIERS and is_scrap(value)
    return name == "name" if isinstance(value, Name) else name in ARGUMENTS and not find(value)


def is_scrap(value: Any) -> bool:
    """Return whether a value is arguments that became a number or the like: elsewhere, that is any new field."""
    return isinstance(value, Piece) and (value.value == "\0" or not isinstance(value.value, (str, dict, list)))


def value_at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def without_item(holder: Any, key: Any) -> Any:
    holder.pop(key)
    return holder


def with_item(holder: Any, key: Any, name: str, value: Any) -> Any:
    """Return what holds an object under a key, with another field in that object."""
    changed = {**holder[key], name: value}
    return {**holder, key: changed} if isinstance(holder, dict) else [*holder[:key], changed, *holder[key + 1 :]]


def everywhere(events: list[Any], base: Base, random: Random) -> str:
    """Rename a field in all events that have it at the same path, as a new version of an API does."""
    paths = [path for path in paths_of(events[pick(events, base, random)], ()) if path and isinstance(path[-1], str)]
    paths = [path for path in paths if path[-1] not in INDEX]  # without one, a piece that moves is another call's
    if not paths:
        return "nothing"
    path, other = random.choice(paths), random.choice(base.names)
    for at, event in enumerate(events):
        events[at] = put(event, path, lambda holder, name: renamed(holder, name, other))
    return f"renamed {path} to {other} everywhere"


def retag(events: list[Any], base: Base, random: Random) -> str:
    """Say that an event, or something in it, is of another kind that the stream has."""
    at = pick(events, base, random)
    paths = [path for path in paths_of(events[at], ()) if path[-1] in TAGS]
    if base.stream.provider in NAMED_BY_KIND:
        paths = [path for path in paths_of(events[at], ()) if len(path) == 1]
    if not paths or not base.kinds:
        return "nothing"
    path, other = random.choice(paths), random.choice(base.kinds)
    is_name = path[-1] not in TAGS
    events[at] = put(
        events[at], path, lambda holder, name: renamed(holder, name, other) if is_name else {**holder, name: other}
    )
    return f"retagged {path} of {at} as {other}"


MUTATIONS = (move, drop, double, change, change, change, change, change, carry, carry, everywhere, retag)


def paths_of(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_of(item, (*path, key))


def put(value: Any, path: tuple[Any, ...], edit: Any) -> Any:
    """Return an event in which what holds the end of a path is edited, the same if there is no such path."""
    key = path[0]
    is_there = key in value if isinstance(value, dict) else isinstance(value, list) and key in range(len(value))
    if not is_there:
        return value
    if len(path) == 1:
        return edit(value.copy(), key)
    inner = put(value[key], path[1:], edit)
    if inner is value[key]:
        return value
    changed = value.copy()
    changed[key] = inner
    return changed


def renamed(holder: Any, name: Any, other: str) -> Any:
    if not isinstance(holder, dict) or is_something_else(holder[name], other):
        return holder
    return {other if key == name else key: item for key, item in holder.items()}


def alter(events: list[Any], places: list[int], path: tuple[Any, ...], base: Base, random: Random) -> str:
    how = random.choice(("drop", "rename", "retype", "retype", "lift", "index"))
    other, form, number = random.choice(base.names), random.randrange(6), random.randrange(8)
    far = ELSEWHERE + 8 + random.randrange(10**6)  # a piece and a name that both get it would be of one call

    def edit(holder: Any, name: Any) -> Any:
        if name == "index" and (is_answer(holder) or (len(path) > 2 and path[-3] in ANSWERS)):
            return holder
        if how == "index" and name in INDEX and isinstance(holder, dict) and isinstance(holder[name], int):
            return redirected(holder, name, number, base)
        if how == "drop":
            holder.pop(name)
        elif how == "rename" and isinstance(holder, dict):
            return renamed(holder, name, other)
        elif how == "lift" and isinstance(holder[name], dict):
            inside = holder.pop(name)
            return {**holder, **inside} if isinstance(holder, dict) else [*holder, *inside.values()]
        else:
            made = retyped(holder[name], form, far)
            if not is_scrap(made) or name in ARGUMENTS or not isinstance(name, str):
                holder[name] = made
        return holder

    for at in places:
        events[at] = put(events[at], path, edit)
    return f"{how} {path} of {places} ({other}, {form}, {number})"


def redirected(holder: Any, name: str, number: int, base: Base) -> Any:
    """Say another index; pieces that now say the index of another call are that call's."""
    if any(isinstance(one, Name) for one in find(holder)):
        return {**holder, name: number if number in base.indices else number + ELSEWHERE}
    target = base.indices.get(number)
    holder = {**holder, name: number}
    return holder if target is None else owned_by(holder, target)


def owned_by(value: Any, call: str) -> Any:
    if isinstance(value, Piece):
        return replace(value, call=call)
    if isinstance(value, dict):
        return {key: owned_by(item, call) for key, item in value.items()}
    return [owned_by(item, call) for item in value] if isinstance(value, list) else value


def retyped(value: Any, form: int, number: int) -> Any:
    """Return a value as one of another type, such as this number; of what is empty nothing is left."""
    if isinstance(value, Piece) and form:
        return Piece(value.call, (7, True, 0.5, [7], "\0")[form - 1], BROKEN)
    if isinstance(value, list) and value and all(isinstance(item, Piece) for item in value):
        return replace(value[0], value=[7], kind=BROKEN)
    if form == 0:
        return [value]
    if form == 1:
        return {"value": value}
    if isinstance(value, (dict, list)):
        pieces = [replace(piece, kind=BROKEN) for piece in find(value) if isinstance(piece, Piece)]
        text = json.dumps(write(value))
        return Piece(pieces[0].call, text, BROKEN) if pieces and form > 2 else text if form > 2 else None
    text = str(number)
    return (None, number, Name(text) if isinstance(value, Name) else text, [])[form - 2]


# What may be run.


def pieces_of(events: list[Any], base: Base) -> dict[str, list[list[Piece]]]:
    """Return the pieces of each call that are in a stream.

    Where calls have no index, each name begins one, and a piece is of the last; before all names, it is nobody's. The
    only call of a stream may also get its name after its pieces, unless these stand beside names.
    """
    found: dict[str, list[list[Piece]]] = {name: [[]] if base.indices else [] for name in base.calls}
    marks = [one for event in events for one in base.marks(event)]
    if not base.indices and len(base.calls) == 1 and base.stream.provider not in IN_ORDER:
        found[next(iter(base.calls))].append([one for one in marks if isinstance(one, Piece)])
    last: list[Piece] = []
    for one in marks:
        if isinstance(one, Name):
            last = []
            if not base.indices and one.value in found:
                found[one.value].append(last)
        elif base.indices:
            found[one.call][0].append(one)
        else:
            last.append(one)
    return found


def may_run(name: str, value: Any, base: Base, pieces: dict[str, list[list[Piece]]]) -> bool:
    """Return whether a call may be run with these arguments."""
    if name not in base.calls:
        return False
    if same(value, base.calls[name].value):
        return True
    return any(makes(told, value) for told in pieces[name])


def makes(told: list[Piece], value: Any) -> bool:
    """Return whether pieces are these arguments, which are a text if they are a custom tool's."""
    kinds = {piece.kind for piece in told}
    if isinstance(value, str):
        is_text = all(piece.kind == TEXT or piece.value == "\0" for piece in told)
        return is_text and value == "".join(piece.value or "" for piece in told)
    if not told:
        return same(value, {})
    if kinds == {TEXT}:
        return same(value, loaded("".join(piece.value or "" for piece in told) or "{}"))
    return kinds == {PATHS} and same(value, built([piece.value for piece in told]))


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def built(values: list[Any]) -> Any:
    """Return what values at paths make, `None` if they do not fit each other."""
    root: Any = {}
    for value in values:
        segments = [key or int(at) for key, at in SEGMENT.findall(str(value.get("jsonPath")))]
        told = [item for key, item in value.items() if key.endswith("Value")]
        if not segments or len(told) != 1:
            return None
        item = None if "nullValue" in value else told[0]
        holder = root
        for at, (key, after) in enumerate(zip(segments, [*segments[1:], None], strict=True)):
            is_list = isinstance(holder, list)
            if is_list != isinstance(key, int) or (is_list and key > len(holder)):
                return None
            if at == len(segments) - 1:
                before = holder[key] if (key < len(holder) if is_list else key in holder) else ""
                made = before + item if isinstance(item, str) and isinstance(before, str) else item
            else:
                made = (
                    holder[key]
                    if (key < len(holder) if is_list else key in holder)
                    else []
                    if isinstance(after, int)
                    else {}
                )
            if is_list and key == len(holder):
                holder.append(made)
            else:
                holder[key] = made
            holder = made
    return root
