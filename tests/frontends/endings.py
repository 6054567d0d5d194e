"""Turns of a model for tests of encoders: recorded and made up, cut anywhere, ended in every way.

Nothing here knows a protocol. `shown` says what a front end must show of a message, read off its parts.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from jsontide import stream_message
from jsontide.mend import MODELS
from jsontide.messages import (
    CompleteCall,
    CompletionChunk,
    File,
    Message,
    MessageConfig,
    MessageState,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    Source,
    TextPart,
    Usage,
    fail_message,
    feed_message,
    finish_message,
    start_message,
    stop_message,
)
from tests import provider_streams
from tests.messages.telling import call, delta, end

WORDS = ("Hi", " ", "é", "𝄞", "\n", "\u2028", '"', "\\", "data: x\n\n", "[DONE]", "", "weather", "\0")
NUMBERS = (0, -1, 2**53, 0.5, 1e300, True, None)
"""What JavaScript reads as the same number."""
REASONS = ("stop", "tool_calls", "length", "content_filter", "refusal", "error", "pause_turn")

ENDS: dict[str, Callable[[MessageState], MessageState]] = {
    "over": finish_message,
    "stopped": stop_message,
    "lost": lambda state: fail_message(state, ConnectionResetError("the connection was lost")),
}
"""What can happen after any event: the stream is over, the caller stops it, the connection is lost."""


def states_of(events: Iterable[object], **options: Any) -> list[MessageState]:
    """The state after each event that changed the message, and after the end."""
    stream = stream_message(events, **options)
    return [stream.state.message_state for _ in stream]


def recorded(name: str) -> list[MessageState]:
    return states_of(provider_streams.events(name))


def ended(states: Sequence[MessageState], at: int, way: str) -> list[Message[Any]]:
    """The messages of a turn that is ended after one of its states."""
    before = [state.message for state in states[: at + 1]]
    last = ENDS[way](states[at]).message
    return before if before[-1] is last else [*before, last]


def made_up(random: Random) -> list[MessageState]:
    """The states of a turn that nobody recorded: texts and calls in any order, good and bad, not ended."""
    chunks = [chunk for _ in range(random.randint(0, 5)) for chunk in some_chunks(random)]
    if random.random() < 0.3:
        chunks.append(CompletionChunk(usage=Usage(input_tokens=3, output_tokens=random.randint(0, 9))))
    if random.random() < 0.7:
        chunks.append(end(random.choice(REASONS)))
    state = start_message(MessageConfig(mend=MODELS) if random.random() < 0.2 else None)
    states = [state]
    for chunk in chunks:
        state = feed_message(state, chunk)
        if state is not states[-1]:
            states.append(state)
    return states


def some_chunks(random: Random) -> list[CompletionChunk]:
    kind = random.choice(["content", "reasoning", "refusal", "calls", "calls"])
    if kind != "calls":
        return [delta(**{kind: random.choice(WORDS)}) for _ in range(random.randint(1, 4))]
    queues = [some_call(random) for _ in range(random.randint(1, 3))]
    chunks = []
    while any(queues):
        chunks.append(random.choice([queue for queue in queues if queue]).pop(0))
    return chunks


def some_call(random: Random) -> list[CompletionChunk]:
    """The chunks of a call: valid, cut off, not JSON, or without arguments; some have no id, some share one."""
    index = random.getrandbits(40)
    text = json.dumps(some_value(random), ensure_ascii=random.random() < 0.5)
    text = random.choice([text, text, text[: len(text) // 2], text + "}", ""])
    call_id = random.choice([None, f"call-{index}", f"call-{index}", "same"])
    first = call("", index=index, id=call_id, name=random.choice(["search", "say"]))
    cuts = sorted(random.randint(0, len(text)) for _ in range(random.randint(0, 4)))
    pieces = [text[start:stop] for start, stop in pairwise([0, *cuts, len(text)])]
    return [first, *(call(piece, index=index) for piece in pieces)]


def some_value(random: Random, depth: int = 3) -> Any:
    if depth == 3 or (depth and random.random() < 0.5):
        return {random.choice(WORDS): some_value(random, depth - 1) for _ in range(random.randint(0, 4))}
    if depth and random.random() < 0.5:
        return [some_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    return random.choice([*NUMBERS, *WORDS, "\ud834"])


def shown(message: Message[Any]) -> list[tuple[object, ...]]:
    """What a front end must show of a message that has ended, part by part; calls by name, and whether they may run."""
    return [one for part in message.parts for one in shown_part(part)]


def seen_type(file: File) -> str:
    """What a person sees that a file is, of which the provider does not say it: by its name, or by its first bytes."""
    is_png = (file.url or "").endswith(".png") or (file.data or "").startswith("iVBORw0KGgo")
    return "image/png" if is_png else "application/octet-stream"


def shown_part(part: object) -> list[tuple[object, ...]]:  # noqa: PLR0911 - once for each kind
    match part:
        case TextPart() | Refusal():
            return [("text", part.text)] if part.text or part.extra else []
        case ReasoningPart():
            must_go_back = part.signature or part.encrypted or part.item_id or part.extra
            return [("reasoning", part.text)] if part.text or must_go_back else []
        case CompleteCall():
            return [("call", part.name, "ready", part.arguments_value)]
        case PartialCall():
            return [("call", part.name, "failed")] if part.name else []
        case ServerCall():
            return [("call", part.name, "on server")] if part.name else []
        case Source():
            return [("source", part.url or part.title)]
        case File():
            return [("file", part.media_type or seen_type(part))] if part.url or part.data else []
    return []
