"""A growing message in, Vercel's UI message stream out, as `useChat` of the AI SDK 5, 6 and 7 reads it.

    start, start-step
    text-start, text-delta..., text-end                        text and refusals; reasoning in the same way
    tool-input-start, tool-input-delta..., then one of
        tool-input-available                                   a call that is complete and valid: the client may run it
        tool-input-error                                       any other call
        tool-input-available, tool-output-available or -error  a tool of the provider, with providerExecuted
    source-url, source-document, file
    data-answer                                                structured output, if asked for
    finish-step, finish | error | abort                        how it ended, with what it cost as message metadata
    [DONE]

Joining late gives each part once, whole, and then goes on: what a client that resumes needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from uuid import uuid4

from jsontide.encoders._base import DONE, SSE_HEADERS, Growing, SseEncoder, sse
from jsontide.encoders._vercel_answer import AnswerGrew, AnswerProgress
from jsontide.encoders._vercel_events import Event, VercelWriter, write_failure
from jsontide.encoders.hostile_keys import HostileKeys
from jsontide.encoders.progress import Ended, Progress, Step
from jsontide.messages.message import Message
from jsontide.tree import ParserState

Answer: TypeAlias = Literal["text", "data"]

_ANSWER: Final = "answer"
_HEADERS: Final[Mapping[str, str]] = MappingProxyType({**SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1"})
_NOTHING: Final = AnswerProgress()


class VercelState:
    """What was sent of a stream."""

    __slots__ = ("answer", "is_over", "progress")

    def __init__(self, progress: Progress, answer: AnswerProgress = _NOTHING, *, is_over: bool = False) -> None:
        self.progress: Final = progress
        self.answer: Final = answer
        self.is_over: Final = is_over


class VercelEncoder(SseEncoder):
    """Encodes messages, or the states of a parser, as a UI message stream of the AI SDK.

    `answer` says how structured output is told: as the text that it is, or as a data part `data-answer`, which is sent
    again whenever it has grown by half, and whole at its end. The state of a parser is always told as a data part.

    `hostile_keys` says what happens to `__proto__`, and `prototype` in `constructor`, inside of arguments, results and
    answers, because they would end the client's whole stream: with `refuse`, the call is told as failed, and an
    answer ends the stream with an error; with `drop`, they are left out.

    `dynamic_tools` declares all tools as dynamic, for a client that does not know their names.

    >>> from jsontide import stream_message
    >>> encoder = VercelEncoder(message_id="m1")
    >>> state, sent = encoder.begin()
    >>> for message in stream_message([{"message": {"content": "Hi"}, "done": True}]):
    ...     state, new = encoder.encode(state, message)
    ...     sent += new
    >>> print(sent.decode().replace("\\n\\n", "\\n"))
    data: {"type":"start","messageId":"m1"}
    data: {"type":"start-step"}
    data: {"type":"text-start","id":"m1-0"}
    data: {"type":"text-delta","id":"m1-0","delta":"Hi"}
    data: {"type":"text-end","id":"m1-0"}
    data: {"type":"finish-step"}
    data: {"type":"finish","finishReason":"stop"}
    data: [DONE]
    <BLANKLINE>
    """

    def __init__(
        self,
        *,
        message_id: str | None = None,
        answer: Answer = "text",
        hostile_keys: HostileKeys = "refuse",
        dynamic_tools: bool = False,
    ) -> None:
        _check_word("answer", answer, ("text", "data"))
        _check_word("hostile_keys", hostile_keys, ("refuse", "drop"))
        self.message_id: Final = f"msg-{uuid4().hex}" if message_id is None else message_id
        """What the client calls the message; one that joins late gets the same from the same encoder."""
        self.answer: Final = answer
        self.hostile_keys: Final = hostile_keys
        self.dynamic_tools: Final = dynamic_tools
        self._writer: Final = VercelWriter(hostile_keys, dynamic_tools=dynamic_tools)

    @property
    def headers(self) -> Mapping[str, str]:
        return _HEADERS

    def begin(self) -> tuple[VercelState, bytes]:
        """Return the first state, and what makes the client show a message."""
        start = sse({"type": "start", "messageId": self.message_id}) + sse({"type": "start-step"})
        return VercelState(Progress(self.message_id)), start

    def encode(self, state: VercelState, growing: Growing) -> tuple[VercelState, bytes]:
        """Return the state after a message or a parser's state, and what is new in it."""
        if state.is_over:
            return state, b""
        if isinstance(growing, ParserState):
            return self._encode_json(state, growing)
        if not isinstance(growing, Message):
            message = f"a message or the state of a parser is encoded, not {type(growing).__name__}"
            raise TypeError(message)
        progress, steps = state.progress.advance(growing)
        return self._send(state, progress, growing, steps)

    def fail(self, state: VercelState, reason: str) -> tuple[VercelState, bytes]:
        """Return the state after a failure that no message tells of, and the end."""
        if state.is_over:
            return state, b""
        progress, steps = state.progress.fail(reason)
        return self._send(state, progress, progress.message or Message(), steps)

    def _send(
        self, state: VercelState, progress: Progress, message: Message, steps: list[Step]
    ) -> tuple[VercelState, bytes]:
        answer: AnswerProgress = state.answer
        found: Sequence[Step | AnswerGrew] = steps
        if self.answer == "data" and progress is not state.progress:
            answer, found = answer.advance(message, self.message_id, steps)
        return VercelState(progress, answer, is_over=progress.is_over), self._frame(found)

    def _encode_json(self, state: VercelState, growing: ParserState) -> tuple[VercelState, bytes]:
        answer, steps = state.answer.advance_json(growing)
        is_over = bool(steps) and isinstance(steps[-1], Ended)
        return VercelState(state.progress, answer, is_over=is_over), self._frame(steps)

    def _frame(self, steps: Sequence[Step | AnswerGrew]) -> bytes:
        sent = b"".join([sse(event) for event in self._write(steps)])
        return sent + DONE if steps and isinstance(steps[-1], Ended) else sent

    def _write(self, steps: Sequence[Step | AnswerGrew]) -> list[Event]:
        events: list[Event] = []
        refusal = None
        for step in steps:
            if isinstance(step, AnswerGrew):
                data, reason = self._writer.clean(step.value)
                refusal = reason if step.is_whole else None
                events += [] if reason is not None else [{"type": "data-answer", "id": _ANSWER, "data": data}]
            elif isinstance(step, Ended) and refusal is not None:
                events += write_failure(step.message, refusal)
            else:
                events += self._writer.write(step)
        return events


def _check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        message = f"{name} must be {' or '.join(map(repr, words))}, not {word!r}"
        raise ValueError(message)
