"""The leaves of events, and where they are found in a message.

In: an event as a provider wrote it, or a message in its JSON form. Out: every scalar in it, with its path.
A path is the names of the fields from outside in, with dots; places in arrays are left out.
"""

import fnmatch
import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "docs" / "measured" / "dropped-fields.md"
SHORT = 3
"""Texts as short as this are found only where their field has the same name, or where text is joined."""
NULL, EMPTY = "(null)", "(empty)"

Leaf = tuple[str, Any]


def leaves(value: Any, path: str = "") -> Iterator[Leaf]:
    """Every scalar, and every object and array that is empty."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, value


def name_of(path: str) -> str:
    """The name of the field, as both `stopReason` and `stop_reason`."""
    return path.rpartition(".")[2].replace("_", "").lower()


@dataclass
class Shown:
    """What a message in its JSON form holds."""

    named: set[tuple[str, str]] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    in_arguments: set[str] = field(default_factory=set)
    """The scalars of arguments, which some providers send under other names."""
    joined: str = ""
    """All texts and arguments, one after another; what belongs together is together."""
    created: Any = None


JOINED = ("text", "arguments", "signature", "encrypted", "data")
TIMES = ("created", "createdat", "createtime")
ARGUMENTS = ("numbervalue", "boolvalue")
"""Where Gemini sends a scalar of arguments."""


def shown_in(message: dict[str, Any]) -> Shown:
    found = Shown(created=message.get("created"))
    joined = []
    for part in message.get("parts", []):
        joined += [value for name, value in part.items() if name in JOINED and isinstance(value, str)]
        joined += [value for value in part.get("extra", {}).values() if isinstance(value, str)]
        found.in_arguments |= {json.dumps(value) for _, value in leaves(part.get("arguments_value"))}
        joined += [value for _, value in leaves(parsed(part.get("arguments", ""))) if isinstance(value, str)]
    collect(found, message)
    found.joined = "\0".join(joined)
    return found


def collect(found: Shown, value: Any) -> None:
    for path, leaf in leaves(value):
        found.named.add((name_of(path), json.dumps(leaf)))
        if isinstance(leaf, str):
            found.texts.add(leaf)
            if leaf[:1] in {"{", "[", '"'}:  # arguments are kept as text
                collect(found, parsed(leaf))


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_shown(leaf: Leaf, found: Shown) -> bool:
    path, value = leaf
    name = name_of(path)
    if (name, json.dumps(value)) in found.named:
        return True
    if name in TIMES:
        return bool(found.created == (datetime.fromisoformat(value).timestamp() if isinstance(value, str) else value))
    if not isinstance(value, str):
        return name in ARGUMENTS and json.dumps(value) in found.in_arguments
    return (len(value) > SHORT and value in found.texts) or (bool(value) and value in found.joined)


@dataclass(frozen=True)
class Dropped:
    """A row of the table of fields that are dropped on purpose."""

    provider: str
    event: str
    field: str
    why: str

    def covers(self, provider: str, event: str, leaf: Leaf) -> bool:
        path, value = leaf
        if self.provider not in {"any", provider} or not fnmatch.fnmatchcase(event, self.event):
            return False
        if self.field in {NULL, EMPTY}:
            return value is None if self.field == NULL else value in ("", [], {})
        return fnmatch.fnmatchcase(path, self.field)


def read_table(text: str) -> list[Dropped]:
    """The rows of the first table in a page, without the ticks around code."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[re.sub("`", "", cell).strip() for cell in row] for row in rows]
    return [Dropped(*row) for row in cells[2:]]


def event_name(provider: str, event: dict[str, Any]) -> str:
    """What a provider calls an event; `chunk` where it has no names for them."""
    if provider == "bedrock":
        return next(iter(event))
    if provider == "gemini_interactions":
        return str(event.get("event_type"))
    return str(event.get("type") or "chunk")


def opened(told: dict[str, Any]) -> dict[str, Any]:
    """The event inside an envelope: of the helper of an SDK, of another SDK, of a cloud, or of an agent."""
    inside: dict[str, Any] = told
    if told.get("type") == "chunk":
        inside = told["chunk"]
    elif isinstance(told.get("data"), dict):
        inside = told["data"]
    elif "bytes" in (told.get("chunk") or ()):
        inside = json.loads(b64decode(told["chunk"]["bytes"]))
    elif told.get("type") == "stream_event":
        inside = told["event"]
    return inside


def lost(events: Iterable[dict[str, Any]], message: dict[str, Any], provider: str) -> Iterator[tuple[str, Leaf]]:
    """The leaves of events that a message does not hold, each with the name of its event."""
    found = shown_in(message)
    for told in events:
        event = opened(told)
        name = event_name(provider, event)
        yield from ((name, leaf) for leaf in leaves(event) if not is_shown(leaf, found))
