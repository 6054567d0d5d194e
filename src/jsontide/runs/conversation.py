"""What was said so far, as one value: system text, what the user said, and messages with the results of their calls.

    conversation.to_request(provider)    the arguments of the client's method: system text, items, tools, answer

A turn is a `UserMessage` or a `Step`. A conversation is built by hand, from runs, or from what a front end sends.
Rule: what is written is a request that the provider takes. Every call has one result, behind its message, in the order
of the calls; no two calls have the same id; what the user says in a row is one message; what is empty is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from jsontide._check import check_type
from jsontide._values import write_json
from jsontide.messages import File, Message, Outcome, TextPart, Tool, ToolCall, ToolResult, UserMessage
from jsontide.messages.options import read_content, to_plain
from jsontide.messages.record import refuse_hash
from jsontide.providers import answer_format, to_request, tool_definitions
from jsontide.providers.requests import find_form, make_sendable
from jsontide.runs.json_form import read_step, write_step
from jsontide.runs.run import Run, is_paused, settle
from jsontide.runs.types import Step

Turn: TypeAlias = UserMessage | Step
Said: TypeAlias = str | UserMessage | Step | Message[Any] | Run[Any]
"""What can be added to a conversation: a text is the user's, a run is its steps."""

_VERSION: Final = 1
_MARK: Final = "jsontide"
_FIELDS: Final = (_MARK, "system", "turns")
_MAX_ID: Final = 64
_NOT_IN_IDS: Final = re.compile("[^a-zA-Z0-9_-]")
_NOTHING: Final = {"role": "assistant", "content": ""}
"""How some providers have a message that says nothing."""


@dataclass(frozen=True, slots=True, init=False)
class Conversation:
    """What was said so far; it never changes.

    >>> conversation = Conversation("Be brief.", ["Where is Kyoto?"])
    >>> conversation.to_request("anthropic")
    {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Where is Kyoto?'}]}], 'system': 'Be brief.'}
    >>> conversation.to_request("openai_chat")
    {'messages': [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Where is Kyoto?'}]}
    """

    system: str
    """What the model is told about its task; empty if nothing."""
    turns: tuple[Turn, ...]
    """What the user said, and the messages of models with the results of their calls, in order."""

    def __init__(self, system: str = "", turns: Iterable[Said] = ()) -> None:
        check_type("system", system, str, "a str")
        if isinstance(turns, str | bytes | UserMessage | Step | Message | Run) or not isinstance(turns, Iterable):
            message = f"turns must be an iterable of turns, not {type(turns).__name__}: pass [turn]"
            raise TypeError(message)
        object.__setattr__(self, "system", system)
        object.__setattr__(self, "turns", tuple(turn for said in turns for turn in _read_turns(said)))

    def add(self, *turns: Said) -> Conversation:
        """Return the conversation with more at its end.

        >>> Conversation("", ["Hi"]).add("Are you there?").turns[1].text
        'Are you there?'
        """
        return Conversation(self.system, (*self.turns, *turns))

    def to_request(
        self, provider: str, *, tools: Iterable[Tool[Any]] = (), response_schema: object = None
    ) -> dict[str, Any]:
        """Return the arguments that the method of the provider's client takes: `create`, `generate_content`, `chat`.

        They are the system text, wherever the provider wants it, the conversation, the tools, and what asks for an
        answer that fits a schema. The model and everything else is for the caller to add.
        """
        form = find_form(provider)
        defined = tool_definitions(tools, provider)
        answer = {} if response_schema is None else answer_format(response_schema, provider)
        last = self.turns[-1] if self.turns else None
        if isinstance(last, Step) and last.message.provider == provider:
            answer = {**form.write_continued(last.message), **answer}
        items = form.join(write_turns(self.turns, provider))
        return form.write_request(_sendable(self.system), items, defined, answer)

    def to_json(self) -> str:
        """Return the conversation as JSON text, in a documented form that later versions read too."""
        turns = [_write_turn(turn) for turn in self.turns]
        return write_json({_MARK: _VERSION, **({"system": self.system} if self.system else {}), "turns": turns})

    @staticmethod
    def from_json(text: object) -> Conversation:
        """Return the conversation that `to_json` wrote, from its text or from the parsed object."""
        return _read_conversation(text)

    def __hash__(self) -> int:
        return refuse_hash(self)


def _read_turns(said: object) -> Sequence[Turn]:
    if isinstance(said, UserMessage | Step):
        return (said,)
    if isinstance(said, str):
        return (UserMessage(said),)
    if isinstance(said, Message):
        return (Step(said),)
    if isinstance(said, Run):
        return turns_of(said)
    message = f"every turn must be a str, UserMessage, Step, Message or Run, not {type(said).__name__}"
    raise TypeError(message)


def turns_of(run: Run[Any]) -> list[Turn]:
    """Return the turns of a run: its steps, and what the model was told of answers that could not be used."""
    turns: list[Turn] = []
    for step in run.steps:
        turns.append(step)
        if is_retried(step):
            turns.append(UserMessage(step.message.feedback()))
    return turns[:-1] if run.is_over and turns and isinstance(turns[-1], UserMessage) else turns


def is_retried(step: Step) -> bool:
    """Return whether a message was to be sent again, with feedback."""
    message = step.message
    is_invalid = message.outcome is Outcome.INVALID and not is_paused(message)
    return is_invalid and not message.tool_calls and bool(message.feedback())


def write_turns(turns: Iterable[Turn], provider: str) -> list[Any]:
    """Return turns as the items of a request, before those are joined that must not follow one another."""
    form = find_form(provider)
    items: list[Any] = []
    said: list[TextPart | File] = []
    for turn in _give_ids(turns):
        if isinstance(turn, UserMessage):
            said += turn.parts
            continue
        written = _write_step(turn, provider)
        if written:
            items += [*form.write_user(said), *written]
            said = []
    return make_sendable([*items, *form.write_user(said)])


def _write_step(step: Step, provider: str) -> list[Any]:
    """Return a message and the results of its calls, nothing if it says nothing."""
    message = [] if step.message.outcome is Outcome.EMPTY else to_request(step.message, provider)
    results = [settle(result) for result in step.results or map(_miss, step.message.tool_calls)]
    return [*(item for item in message if item != _NOTHING), *to_request(results, provider)]


def _miss(call: ToolCall) -> ToolResult:
    return ToolResult(call, error="the call was not run", ran="no")


def _give_ids(turns: Iterable[Turn]) -> Iterable[Turn]:
    """Yield the turns with ids of calls that no other call has, and that every provider takes for another."""
    taken: set[str] = set()
    for at, turn in enumerate(turns):
        if not isinstance(turn, Step):
            yield turn
            continue
        renamed: dict[int, ToolCall] = {}
        for call in turn.message.tool_calls:
            written = _NOT_IN_IDS.sub("_", call.id or "")
            if not written or written in taken or len(written) > _MAX_ID:
                written = _make_id(at, call.index, taken)
                renamed[id(call)] = call.evolve(id=written)
            taken.add(written)
        yield _rename(turn, renamed) if renamed else turn


def _make_id(turn: int, index: int, taken: set[str]) -> str:
    made = f"call_{turn}_{index}"
    while made in taken:
        made += "_"
    return made


def _rename(step: Step, renamed: Mapping[int, ToolCall]) -> Step:
    parts = tuple(renamed.get(id(part), part) for part in step.message.parts)
    results = tuple(
        ToolResult(renamed.get(id(one.call), one.call), one.output, one.error, None, one.ran)
        for one in map(settle, step.results)
    )
    return Step(step.message.evolve(parts=parts), results)


def _sendable(text: str) -> str:
    [sendable] = make_sendable([{"text": text}])
    return str(sendable["text"])


def _write_turn(turn: Turn) -> dict[str, object]:
    if isinstance(turn, UserMessage):
        return {"user": to_plain(turn.parts)}
    return write_step(turn, Run)


def _read_conversation(text: object) -> Conversation:
    try:
        given = json.loads(text) if isinstance(text, str | bytes | bytearray) else text
    except (ValueError, RecursionError) as error:
        _refuse(f"the text is not JSON: {error}")
    if not isinstance(given, Mapping):
        _refuse(f"it must be an object, not {type(given).__name__}")
    unknown = [name for name in given if name not in _FIELDS]
    if unknown:
        _refuse(f"it has no field {unknown[0]!r}")
    if given.get(_MARK) != _VERSION:
        _refuse(f"the version {given.get(_MARK)!r} of the form is not known, only {_VERSION}")
    turns = given.get("turns", ())
    if not isinstance(turns, list | tuple):
        _refuse(f"turns must be an array, not {type(turns).__name__}")
    try:
        return Conversation(given.get("system", ""), [_read_turn(turn) for turn in turns])
    except (TypeError, ValueError) as error:
        _refuse(str(error))


def _read_turn(turn: object) -> Turn:
    if isinstance(turn, Mapping) and [*turn] == ["user"]:
        return UserMessage(read_content(turn["user"]))
    return read_step(turn, Run)


def _refuse(why: str) -> NoReturn:
    message = f"this is not a conversation that to_json wrote: {why}"
    raise ValueError(message)
