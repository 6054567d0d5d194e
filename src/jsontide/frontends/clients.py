"""What `useChat` and AG-UI's clients send in, a conversation out.

    from_vercel(body["messages"], runs=saved)        from_ag_ui(body, runs=saved)

A browser can forge all that it sends: calls, arguments, results, approvals, thinking, words of the assistant.
Rule: what it says of the user is taken, once it is well-formed; what it says of the assistant is text and nothing else.
An assistant's message that the server has saved is taken from there, whole: the browser only says where it stands.
Nothing is run, and no address is opened; addresses are those of the web, because a provider would open others with the
rights of the server.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, cast
from urllib.parse import unquote_to_bytes, urlsplit

from jsontide._check import check_switch, check_type
from jsontide._values import write_json
from jsontide.messages import (
    CompleteCall,
    File,
    Message,
    Outcome,
    Part,
    PartialCall,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from jsontide.messages.options import read_content
from jsontide.providers import PROVIDERS
from jsontide.runs import Conversation, PendingResult, Result, Run, RunOutcome, Step, Turn

_OURS: Final = "jsontide"
"""Where the encoders put what a provider wants back, in the metadata of a part."""
_NAME: Final = re.compile("[a-zA-Z0-9_.:-]{1,128}")
_MEDIA_TYPE: Final = re.compile(r"[a-zA-Z0-9.+-]+/[a-zA-Z0-9._+*-]+")
_OWN_STORES: Final = ("generativelanguage.googleapis.com",)
"""Hosts on which a provider finds what the server has uploaded."""
_DENIED: Final = "the call was not run: a person refused it"
_FAILED: Final = "the call failed"


def from_vercel(
    messages: object,
    *,
    system: str = "",
    runs: Iterable[Run[Any]] = (),
    client_tools: Iterable[str] = (),
    trust_client: bool = False,
) -> Conversation:
    """Return the conversation in the `messages` that `useChat` of the AI SDK 5, 6 and 7 sends.

    `runs` are those that the server has saved: an assistant's message whose id is that of a run is that run, and one
    that waits for a person at the end is left out, because `run_agent` goes on with it. Of other messages of the
    assistant only the text is taken. `client_tools` names the tools that run in the browser: where a saved run has a
    call of one without a result, the result is taken.

    `trust_client` takes all that the client says for ours: calls, results, thinking with signatures, system messages.

    >>> said = [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
    >>> from_vercel(said).to_request("ollama")
    {'messages': [{'role': 'user', 'content': 'Hi'}]}
    """
    reader = _Reader(system, runs, client_tools, trust_client=trust_client)
    for at, message in enumerate(_array("messages", _load("messages", messages))):
        reader.read_vercel(f"messages[{at}]", _object(f"messages[{at}]", message))
    return reader.finish()


def from_ag_ui(
    given: object,
    *,
    system: str = "",
    runs: Iterable[Run[Any]] = (),
    client_tools: Iterable[str] = (),
    trust_client: bool = False,
) -> Conversation:
    """Return the conversation in the `RunAgentInput` that AG-UI's clients send, as text, dict or object.

    It takes what `from_vercel` takes. A message belongs to a saved run if its id is that of the run, or that with a
    dash and more behind it. What subagents said is left out.

    >>> from_ag_ui({"messages": [{"id": "1", "role": "user", "content": "Hi"}]}).turns[0].text
    'Hi'
    """
    reader = _Reader(system, runs, client_tools, trust_client=trust_client)
    messages = _object("the input", _load("the input", given)).get("messages", ())
    for at, message in enumerate(_array("messages", messages)):
        reader.read_ag_ui(f"messages[{at}]", _object(f"messages[{at}]", message))
    return reader.finish()


def decisions_from_vercel(messages: object, run: Run[Any]) -> dict[str, bool | str]:
    """Return what the user of `useChat` decided about the waiting calls of a saved run, for `run_agent`.

    Only the decision is taken from what the client sends; about any other call nothing is said.
    """
    waiting = _waiting_in(run)
    decisions: dict[str, bool | str] = {}
    for at, message in enumerate(_array("messages", _load("messages", messages))):
        fields = _object(f"messages[{at}]", message)
        if fields.get("role") != "assistant" or fields.get("id") != run.id:
            continue
        for part in _array(f"messages[{at}].parts", fields.get("parts", ())):
            approval = part.get("approval") if isinstance(part, Mapping) else None
            call_id = part.get("toolCallId") if isinstance(part, Mapping) else None
            if call_id in waiting and isinstance(approval, Mapping) and isinstance(approval.get("approved"), bool):
                decisions[str(call_id)] = _decide(approval)
    return decisions


def decisions_from_ag_ui(given: object, run: Run[Any]) -> dict[str, bool | str]:
    """Return what the user of an AG-UI client decided about the waiting calls of a saved run, for `run_agent`.

    An interrupt has the id of its call. It is approved by the payload `true` or `{"approved": true}`, and by nothing
    else; a `reason` beside it is what the model reads of a refusal.
    """
    waiting = _waiting_in(run)
    decisions: dict[str, bool | str] = {}
    resumed = _object("the input", _load("the input", given)).get("resume") or ()
    for at, entry in enumerate(_array("resume", resumed)):
        fields = _object(f"resume[{at}]", entry)
        call_id, payload = fields.get("interruptId"), fields.get("payload")
        if call_id in waiting:
            told = payload if isinstance(payload, Mapping) else {"approved": payload}
            decisions[str(call_id)] = _decide(told) if fields.get("status") == "resolved" else False
    return decisions


def _waiting_in(run: Run[Any]) -> set[object]:
    return {result.call.id for result in check_type("run", run, Run, "a Run").waiting}


def _decide(told: Mapping[str, object]) -> bool | str:
    """Return a decision: yes is `True` and nothing else."""
    if told.get("approved") is True:
        return True
    reason = told.get("reason")
    return reason if isinstance(reason, str) and reason else False


@dataclass(slots=True)
class _Draft:
    """A step while it is read: the parts of its message, and what became of each call."""

    provider: str | None = None
    parts: list[Part] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def freeze(self) -> Step | None:
        if not self.parts:
            return None
        is_whole = all(not isinstance(part, PartialCall) for part in self.parts)
        outcome = Outcome.COMPLETE if is_whole else Outcome.INVALID
        return Step(Message(tuple(self.parts), outcome, provider=self.provider), tuple(self.results))

    def take_details(self, metadata: object) -> Mapping[str, object]:
        """Return what a provider wants back of a part, if it is the provider of the whole step."""
        details = metadata.get(_OURS) if isinstance(metadata, Mapping) else None
        provider = details.get("provider") if isinstance(details, Mapping) else None
        if not isinstance(details, Mapping) or provider not in PROVIDERS:
            return {}
        if self.provider is None:
            self.provider = cast("str", provider)
        return details if provider == self.provider else {}

    def add_text(self, text: str, details: Mapping[str, object]) -> None:
        if text or details:
            self.parts.append(TextPart(text, **self._common(details)))

    def add_reasoning(self, text: str, details: Mapping[str, object]) -> None:
        """Add thinking, which only its own provider can read."""
        if details:
            signature, encrypted = _text_of(details, "signature"), _text_of(details, "encrypted")
            redacted = details.get("redacted") is True
            self.parts.append(ReasoningPart(text, signature, redacted, encrypted, **self._common(details)))

    def add_call(self, name: str, given: object, call_id: str, details: Mapping[str, object]) -> ToolCall | None:
        """Add a call whose result is not known; its arguments as they were written are more exact than those sent."""
        if not _NAME.fullmatch(name):
            return None
        written = _text_of(details, "arguments")
        value = given if written is None else _parse(written)
        common: dict[str, Any] = {"id": call_id, **self._common(details)}
        call: ToolCall = (
            CompleteCall(name, value, written, **common)
            if isinstance(value, Mapping)
            else PartialCall(name, write_json(given) if written is None else written, given, Outcome.INVALID, **common)
        )
        self.parts.append(call)
        self.results.append(PendingResult(call))
        return call

    def settle(self, result: Result) -> None:
        """Replace what is known of a call."""
        self.results = [result if one.call is result.call else one for one in self.results]

    def _common(self, details: Mapping[str, object]) -> dict[str, Any]:
        """Return what parts of all kinds have; of other fields a forged one could become any part of a request."""
        extra = details.get("extra")
        signature = _text_of(extra, "thoughtSignature") if isinstance(extra, Mapping) else None
        kept = None if signature is None else {"thoughtSignature": signature}
        return {"index": len(self.parts), "item_id": _text_of(details, "item_id"), "extra": kept}


class _Reader:
    """Reads the messages of a client into turns."""

    def __init__(
        self, system: str, runs: Iterable[Run[Any]], client_tools: Iterable[str], *, trust_client: bool
    ) -> None:
        check_switch("trust_client", trust_client)
        if isinstance(client_tools, str):
            raise TypeError("client_tools must be names of tools, not a single str")
        self.system = [check_type("system", system, str, "a str")] if system else []
        self.runs: dict[str, Run[Any]] = {}
        for run in runs:
            if check_type("every run", run, Run, "a Run").id is None:
                raise ValueError("every run must have an id: that of its message on the client")
            self.runs[cast("str", run.id)] = run
        self.client_tools = set(client_tools)
        self.trusts = trust_client
        self.turns: list[UserMessage | Run[Any] | _Draft] = []
        self.results: dict[str, dict[str, ToolResult]] = {}
        """Of saved runs, by their ids: what calls of tools of the browser gave."""
        self.thinking = _Draft()
        """What AG-UI sends before the message to which it belongs."""

    def finish(self) -> Conversation:
        turns: list[Turn] = []
        for at, turn in enumerate(self.turns):
            if isinstance(turn, UserMessage):
                turns.append(turn)
            elif isinstance(turn, _Draft):
                step = turn.freeze()
                turns += [] if step is None else [step]
            elif turn.outcome is not RunOutcome.WAITING or at < len(self.turns) - 1:
                turns += Conversation("", [self._settle(turn)]).turns
        return Conversation("\n\n".join(self.system), turns)

    def _settle(self, run: Run[Any]) -> Run[Any]:
        """Return a saved run with the results of tools that ran in the browser."""
        found = self.results.get(cast("str", run.id), {})
        if not found:
            return run
        last = run.steps[-1]
        results = tuple(found.get(str(one.call.id), one) for one in last.results)
        return Run((*run.steps[:-1], Step(last.message, results)), run.outcome, run.id, run.error)

    def take_result(self, run: Run[Any], call_id: object, output: object, error: str | None) -> None:
        """Note the result of a call of a saved run that the browser was to run, and of no other."""
        for one in run.results:
            is_open = isinstance(one, PendingResult) and one.status == "queued"
            if one.call.id == call_id and is_open and one.call.name in self.client_tools:
                self.results.setdefault(cast("str", run.id), {})[str(call_id)] = ToolResult(one.call, output, error)

    def add_run(self, message_id: object) -> Run[Any] | None:
        """Return the saved run to which a message belongs, and add it where it is met first."""
        run = self.runs.get(message_id) if isinstance(message_id, str) else None
        if run is None and isinstance(message_id, str):
            run = next((run for run_id, run in self.runs.items() if message_id.startswith(f"{run_id}-")), None)
        if run is not None and not any(turn is run for turn in self.turns):
            self.turns.append(run)
        return run

    # Vercel

    def read_vercel(self, place: str, message: Mapping[str, Any]) -> None:
        role = message.get("role")
        parts = [
            (f"{place}.parts[{at}]", _object(f"{place}.parts[{at}]", part))
            for at, part in enumerate(_array(f"{place}.parts", message.get("parts")))
        ]
        if role == "user":
            shown = [self._read_shown(at, part) for at, part in parts if part.get("type") in {"text", "file"}]
            self.turns.append(UserMessage(shown))
        elif role == "system":
            self._add_system("\n".join(_text(f"{at}.text", part.get("text")) for at, part in parts))
        elif role != "assistant":
            _refuse(f"{place}.role must be 'user', 'assistant' or 'system', not {role!r}")
        elif (run := self.add_run(message.get("id"))) is not None:
            for at, part in parts:
                self._read_tool_of_run(at, part, run)
        else:
            self._read_assistant(parts)

    def _add_system(self, text: str) -> None:
        if self.trusts and text:
            self.system.append(text)

    def _read_shown(self, place: str, part: Mapping[str, Any]) -> TextPart | File:
        if part.get("type") == "text":
            return TextPart(_text(f"{place}.text", part.get("text")))
        url = _text(f"{place}.url", part.get("url"))
        return _read_file(place, url, part.get("mediaType"), _text_of(part, "filename"))

    def _read_tool_of_run(self, place: str, part: Mapping[str, Any], run: Run[Any]) -> None:
        state = part.get("state")
        if state == "output-available" and part.get("preliminary") is not True:
            self.take_result(run, part.get("toolCallId"), _read_output(part.get("output")), None)
        elif state == "output-error":
            self.take_result(run, part.get("toolCallId"), None, _text(f"{place}.errorText", part.get("errorText")))

    def _read_assistant(self, parts: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        draft = _Draft()
        self.turns.append(draft)
        for place, part in parts:
            kind = _text(f"{place}.type", part.get("type"))
            if kind == "step-start" and self.trusts:
                draft = _Draft()
                self.turns.append(draft)
            elif kind == "text":
                details = draft.take_details(part.get("providerMetadata")) if self.trusts else {}
                draft.add_text(_text(f"{place}.text", part.get("text")), details)
            elif kind == "reasoning" and self.trusts:
                details = draft.take_details(part.get("providerMetadata"))
                draft.add_reasoning(_text(f"{place}.text", part.get("text")), details)
            elif self.trusts and (kind.startswith("tool-") or kind == "dynamic-tool"):
                _read_call(draft, place, part)

    # AG-UI

    def read_ag_ui(self, place: str, message: Mapping[str, Any]) -> None:
        role = message.get("role")
        if message.get("subagentRunId") is not None or role == "activity":
            return
        if role == "user":
            self.turns.append(UserMessage(self._read_content(f"{place}.content", message.get("content"))))
            self.thinking = _Draft()
        elif role in {"system", "developer"}:
            self._add_system(_text(f"{place}.content", message.get("content")))
        elif role == "tool":
            self._read_result(place, message)
        elif role not in {"assistant", "reasoning"}:
            _refuse(f"{place}.role must be one that AG-UI has, not {role!r}")
        elif self.add_run(message.get("id")) is not None:
            return
        elif role == "reasoning" and self.trusts:
            details = self.thinking.take_details(_read_encrypted(message))
            self.thinking.add_reasoning(_text(f"{place}.content", message.get("content")), details)
        elif role == "assistant":
            self._read_message(place, message)

    def _read_message(self, place: str, message: Mapping[str, Any]) -> None:
        draft, self.thinking = self.thinking, _Draft()
        self.turns.append(draft)
        details = draft.take_details(_read_encrypted(message)) if self.trusts else {}
        draft.add_text(_text(f"{place}.content", message.get("content") or ""), details)
        calls = message.get("toolCalls") or () if self.trusts else ()
        for at, call in enumerate(_array(f"{place}.toolCalls", calls)):
            where = f"{place}.toolCalls[{at}]"
            fields = _object(where, call)
            function = _object(f"{where}.function", fields.get("function"))
            written = _text(f"{where}.function.arguments", function.get("arguments"))
            details = {**draft.take_details(_read_encrypted(fields)), "arguments": written}
            name = _text(f"{where}.function.name", function.get("name"))
            draft.add_call(name, written, _text(f"{where}.id", fields.get("id")), details)

    def _read_result(self, place: str, message: Mapping[str, Any]) -> None:
        """Read the result of a call: the last one with its id, if nothing is known of that."""
        call_id = _text(f"{place}.toolCallId", message.get("toolCallId"))
        content = self._read_content(f"{place}.content", message.get("content"))
        only = content[0] if len(content) == 1 else None
        output = _parse(only.text, only.text) if isinstance(only, TextPart) else content
        metadata = message.get("metadata")
        ours = metadata.get(_OURS) if isinstance(metadata, Mapping) else None
        is_error = bool(message.get("error")) or (isinstance(ours, Mapping) and ours.get("isError") is True)
        error = (UserMessage(content).text or str(message.get("error") or _FAILED)) if is_error else None
        for turn in reversed(self.turns):
            if isinstance(turn, Run):
                self.take_result(turn, call_id, output, error)
            elif isinstance(turn, _Draft):
                for one in turn.results:
                    if one.call.id == call_id and isinstance(one, PendingResult):
                        turn.settle(ToolResult(one.call, output, error))
                        return

    def _read_content(self, place: str, content: object) -> list[TextPart | File]:
        if isinstance(content, str):
            return [TextPart(content)]
        return [
            self._read_content_part(f"{place}[{at}]", _object(f"{place}[{at}]", part))
            for at, part in enumerate(_array(place, content))
        ]

    def _read_content_part(self, place: str, part: Mapping[str, Any]) -> TextPart | File:
        kind = part.get("type")
        if kind == "text":
            return TextPart(_text(f"{place}.text", part.get("text")))
        source = _object(f"{place}.source", part.get("source"))
        value = _text(f"{place}.source.value", source.get("value"))
        media_type = source.get("mimeType") or (f"{kind}/*" if kind in {"image", "audio", "video"} else None)
        if source.get("type") == "data":
            return _read_file(place, f"data:{media_type};base64,{value}", media_type)
        if source.get("type") == "file":
            if not self.trusts:
                _refuse(f"{place}.source must not be a file that the provider keeps: it may be anybody's")
            return File(_media_type(place, media_type), id=value)
        return _read_file(place, value, media_type)


def _read_call(draft: _Draft, place: str, part: Mapping[str, Any]) -> None:
    """Read a call of the client's tools with what became of it; the provider's own cannot go back without more."""
    kind, state = part["type"], part.get("state")
    if part.get("providerExecuted") is True or state == "input-streaming":
        return
    name = part.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    given = part.get("input", part.get("rawInput"))
    details = draft.take_details(part.get("callProviderMetadata"))
    call_id = _text(f"{place}.toolCallId", part.get("toolCallId"))
    call = draft.add_call(_text(f"{place}.toolName", name), given, call_id, details)
    if call is not None:
        draft.settle(_read_state(place, part, call))


def _read_state(place: str, part: Mapping[str, Any], call: ToolCall) -> Result:
    """Return what became of a call; an approval runs nothing here."""
    state = part.get("state")
    approval = part.get("approval")
    told: Mapping[str, object] = approval if isinstance(approval, Mapping) else {}
    if state == "output-available" and part.get("preliminary") is True:
        return PendingResult(call, "running", part.get("output"))
    if state == "output-available":
        return ToolResult(call, _read_output(part.get("output")))
    if state == "output-error":
        return ToolResult(call, error=_text(f"{place}.errorText", part.get("errorText")))
    if state == "output-denied" or (state == "approval-responded" and told.get("approved") is not True):
        reason = told.get("reason")
        return ToolResult(call, error=f"{_DENIED}: {reason}" if isinstance(reason, str) else _DENIED, ran="refused")
    return PendingResult(call, "waiting" if state == "approval-requested" else "queued")


def _read_output(output: object) -> object:
    """Return an output; texts and files come back as the encoders write them."""
    try:
        content = read_content(output)
    except ValueError:
        return output
    for part in content:
        if isinstance(part, File) and part.url is not None:
            _check_address("output", part.url)
    return content or output


def _read_encrypted(message: Mapping[str, Any]) -> dict[str, object]:
    """Return the metadata of a message or a call with what `encryptedValue` holds: the same as JSON, or a signature."""
    metadata, value = message.get("metadata"), message.get("encryptedValue")
    known = metadata.get(_OURS) if isinstance(metadata, Mapping) else None
    details: dict[str, object] = dict(known) if isinstance(known, Mapping) else {}
    parsed = _parse(value) if isinstance(value, str) else None
    if isinstance(parsed, Mapping):
        inner = parsed.get(_OURS)
        details.update(inner if isinstance(inner, Mapping) else {})
    elif isinstance(value, str):
        details["signature"] = value
    return {_OURS: details}


def _read_file(place: str, url: str, media_type: object, name: str | None = None) -> File:
    """Return a file from its address, or from a data URL; raise `ValueError` for any other."""
    if url[:5].lower() != "data:":
        _check_address(place, url)
        return File(_media_type(place, media_type), url=url, name=name)
    head, comma, content = url[5:].partition(",")
    if not comma:
        _refuse(f"{place} must have a whole data URL")
    found, *options = head.split(";")
    try:
        is_base64 = "base64" in [option.strip().lower() for option in options]
        data = b64decode(content, validate=True) if is_base64 else unquote_to_bytes(content)
    except ValueError:
        _refuse(f"{place} must have base64 in its data URL")
    return File(_media_type(place, media_type or found or "text/plain"), b64encode(data).decode(), name=name)


def _media_type(place: str, media_type: object) -> str | None:
    if media_type is None:
        return None
    if not isinstance(media_type, str) or not _MEDIA_TYPE.fullmatch(media_type.partition(";")[0].strip()):
        _refuse(f"{place} must have a media type, not {media_type!r}")
    return media_type


def _check_address(place: str, url: str) -> None:
    """Refuse what is not on the web: a provider would look into buckets and files that only the server may read."""
    try:
        address = urlsplit(url)
        is_on_web = address.scheme in {"http", "https"} and address.hostname not in {None, *_OWN_STORES}
    except ValueError:
        is_on_web = False
    if not is_on_web:
        _refuse(f"{place} must have a data URL, or one of http or https")


def _load(place: str, given: object) -> object:
    if isinstance(given, str | bytes | bytearray):
        try:
            return json.loads(given)
        except (ValueError, RecursionError) as error:
            _refuse(f"{place} must be JSON: {error}")
    return given


def _object(place: str, value: object) -> Mapping[str, Any]:
    if hasattr(value, "model_dump"):  # as the packages of the protocols have them
        value = value.model_dump(mode="json", by_alias=True)
    return value if isinstance(value, Mapping) else _refuse(f"{place} must be an object, not {type(value).__name__}")


def _array(place: str, value: object) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        _refuse(f"{place} must be an array, not {type(value).__name__}")
    return value


def _text(place: str, value: object) -> str:
    return value if isinstance(value, str) else _refuse(f"{place} must be a text, not {type(value).__name__}")


def _text_of(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) else None


def _parse(text: str, otherwise: object = None) -> object:
    """Return the object or the array that a text holds, something else if it holds none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
    return value if isinstance(value, dict | list) else otherwise


def _refuse(why: str) -> NoReturn:
    message = f"the client's messages are not what it sends: {why}"
    raise ValueError(message)
