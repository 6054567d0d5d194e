"""The checkers of protocols take what encoders write, and refuse it with one thing wrong, wherever that is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from jsontide.frontends import AgUiEncoder, AssistantTransportEncoder, VercelEncoder
from jsontide.messages import CompletionChunk, Usage
from jsontide.testing import ProtocolError, check_ag_ui, check_assistant_transport, check_vercel
from tests.frontends.turns import TURNS, encode
from tests.messages.telling import call, delta, end, finished, text, trail
from tests.testing.mutations import (
    Frames,
    frames_of,
    with_each_field_missing_or_null,
    with_each_twice,
    without_each,
    write,
)

NAMES = ("complete with a call", "complete with a provider's tool", "cut off inside a call", "refused")
DONE = "[DONE]"
AG_UI = AgUiEncoder(thread_id="t", run_id="r", state={}, arguments_as_state={"search": "found"}, in_steps=False)
AG_UI_STREAMS = {name: frames_of(encode(AG_UI, TURNS[name])) for name in NAMES}
TRANSPORT_STREAMS = {name: frames_of(encode(AssistantTransportEncoder(message_id="m"), TURNS[name])) for name in NAMES}
CHUNKS = [
    delta(reasoning="Hm."),
    text("Let me "),
    text("look."),
    call('{"city": ', index=0, id="a", name="weather"),
    call('"Paris"}', index=0),
    call("{", index=1, id="b", name="weather"),
    CompletionChunk(usage=Usage(input_tokens=1, output_tokens=2)),
    end("length"),
]
MESSAGES = [*(state.message for state in trail(CHUNKS)), finished(CHUNKS).message]
VERCEL_STREAM = encode(VercelEncoder(message_id="m"), MESSAGES)


def kind_of(frame: Any) -> str:
    return frame if isinstance(frame, str) else frame["type"]


IN_AG_UI = {"TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "CUSTOM", "STATE_SNAPSHOT"}
IN_VERCEL = {"text-delta", "reasoning-delta", "tool-input-delta", "message-metadata"}


def may_be_missing_in_ag_ui(frames: Frames, frame: Any) -> bool:
    """The end as an error may leave things open, and arguments that are no JSON."""
    kind, is_error = frame["type"], frames[-1]["type"] == "RUN_ERROR"
    if kind == "STATE_DELTA":
        return frame is not next(each for each in frames if each["type"] == kind)
    return kind in {*IN_AG_UI, "TOOL_CALL_RESULT"} or (is_error and kind in {"TEXT_MESSAGE_END", "TOOL_CALL_ARGS"})


def may_come_twice_in_ag_ui(frames: Frames, frame: Any) -> bool:
    is_error = frames[-1]["type"] == "RUN_ERROR"
    is_empty = frame["type"] == "TOOL_CALL_ARGS" and (is_error or not frame["delta"].strip())
    return is_empty or frame["type"] in {*IN_AG_UI, "STATE_DELTA"}


def may_be_missing_in_transport(frames: Frames, frame: Any) -> bool:
    may_run = any(kind_of(each).endswith("text-finish") for each in frames)
    return kind_of(frame) == "error" or (kind_of(frame) == "text-delta" and not (may_run and frame["path"] == [1]))


@dataclass(frozen=True)
class Checker:
    check: Callable[[bytes], object]
    streams: dict[str, Frames]
    may_be_missing: Callable[[Frames, Any], bool]
    may_come_twice: Callable[[Frames, Any], bool]
    optional: frozenset[str] = frozenset()
    """Fields that may be missing or null, with or without the kind of their event."""

    def refuses(self, frames: Frames) -> bool:
        try:
            self.check(write(frames))
        except ProtocolError:
            return True
        return False


CHECKERS = {
    "ag-ui": Checker(
        check_ag_ui,
        AG_UI_STREAMS,
        may_be_missing_in_ag_ui,
        may_come_twice_in_ag_ui,
        frozenset({"role", "protocolVersion", "parentMessageId", "usage", "code", "outcome", "metadata"})
        | {"CUSTOM.value=null", "STATE_SNAPSHOT.snapshot=null"},
    ),
    "assistant transport": Checker(
        check_assistant_transport,
        TRANSPORT_STREAMS,
        may_be_missing_in_transport,
        lambda _, frame: kind_of(frame) in {"text-delta", "error"},
        frozenset({"error.code", "result.result=null", "part-start.path"}),
    ),
    "vercel": Checker(
        check_vercel,
        {"at the limit inside a call": frames_of(VERCEL_STREAM)},
        lambda _, frame: kind_of(frame) in IN_VERCEL,
        lambda _, frame: kind_of(frame) in IN_VERCEL,
    ),
}


@pytest.mark.parametrize(
    ("checker", "frames"),
    [
        pytest.param(checker, frames, id=f"{protocol}, {name}")
        for protocol, checker in CHECKERS.items()
        for name, frames in checker.streams.items()
    ],
)
class TestEveryStream:
    def test_passes_as_it_is(self, checker: Checker, frames: Frames) -> None:
        assert not checker.refuses(frames)

    def test_is_refused_without_an_event_that_it_needs(self, checker: Checker, frames: Frames) -> None:
        for dropped, rest in without_each(frames):
            assert checker.may_be_missing(frames, dropped) or checker.refuses(rest), dropped

    def test_is_refused_with_an_event_twice(self, checker: Checker, frames: Frames) -> None:
        for doubled, more in with_each_twice(frames):
            assert checker.may_come_twice(frames, doubled) or checker.refuses(more), doubled

    def test_is_refused_if_it_stops_early(self, checker: Checker, frames: Frames) -> None:
        for at in range(len(frames)):
            assert checker.refuses(frames[:at])
            assert [*frames[:at], DONE] == frames or checker.refuses([*frames[:at], DONE])

    def test_is_refused_with_an_event_after_the_end(self, checker: Checker, frames: Frames) -> None:
        for frame in frames:
            assert checker.refuses([*frames, frame])
            assert frames[-1] != DONE or checker.refuses([*frames[:-1], frame, DONE])

    def test_is_refused_without_a_field_or_with_null(self, checker: Checker, frames: Frames) -> None:
        if checker.check is check_vercel:
            return  # most of its fields may be missing: `test_check_vercel` has the others
        for where, other in with_each_field_missing_or_null(frames):
            is_optional = not checker.optional.isdisjoint({where, where.partition(".")[2]})
            assert is_optional or checker.refuses(other), where

    def test_is_refused_in_other_frames(self, checker: Checker, frames: Frames) -> None:
        stream = write(frames)
        for other in (stream.replace(b"\n", b"\r\n"), stream[:-1], stream[: len(stream) // 2], b"", b"{}\n\n" + stream):
            with pytest.raises(ProtocolError):
                checker.check(other)
