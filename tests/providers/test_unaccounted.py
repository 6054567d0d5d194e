"""What no reader can place in a stream: a call without arguments is `{}` only if there is nothing like that, law 9.

Each for every provider that it concerns, in streams that are written down here; `test_mutated_streams` draws more.
"""

import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from jsontide.messages import CompleteCall, Message, Outcome, Tool
from jsontide.providers import to_request
from jsontide.streams import stream_message
from tests.providers.dialects import DIALECTS, IN_PIECES, Event, chunk, response

ARGUMENTS = {"path": "/data/x/y"}
PIECES = ('{"path":"/data/', "x/y", '"}')
TEXT = "".join(PIECES)
WIPE = {"wipe": "c1", "copy": "c2"}


def ran(events: list[Any], **options: Any) -> list[tuple[Any, Any]]:
    message = stream_message(events, **options).final()
    return [(call.name, call.arguments_value) for call in message.tool_calls if isinstance(call, CompleteCall)]


class Written:
    """Events of a provider whose calls come in pieces."""

    def __init__(self, provider: str) -> None:
        self.dialect = DIALECTS[provider]
        self.piece = self.dialect.piece
        self.END = self.dialect.end(self.dialect.called)

    def head(self, name: str, at: int, call_id: str | None = None) -> Event:
        return self.dialect.head(at, call_id or WIPE[name], name)


INDEXED = Chat, Responses, Anthropic, Bedrock, Cohere, Interactions = [Written(name) for name in IN_PIECES]
by_index = pytest.mark.parametrize("to", INDEXED, ids=IN_PIECES)


def entry(**said: Any) -> Event:
    """A chunk of chat completions with an entry of a call."""
    return chunk(tool_calls=[said])


class Gemini:
    END: ClassVar[Event] = {"candidates": [{"finishReason": "STOP"}]}

    @staticmethod
    def call(**call: Any) -> Event:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}


class Ollama:
    END: ClassVar[Event] = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}

    @staticmethod
    def calls(calls: Any) -> Event:
        return {"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False}


def without_index(event: Event) -> Event:
    """Return an event whose index was lost; that of a choice stays."""
    if "choices" in event:
        (said,) = event["choices"][0]["delta"]["tool_calls"]
        return entry(**{name: value for name, value in said.items() if name != "index"})
    if "contentBlockDelta" in event:
        return {"contentBlockDelta": without_index(event["contentBlockDelta"])}
    return {name: value for name, value in event.items() if "ndex" not in name}


@by_index
class TestWhatBelongsToNoCall:
    def test_a_call_is_what_its_pieces_say(self, to: Any) -> None:
        told = [to.head("wipe", 0), *(to.piece(0, piece) for piece in PIECES), to.head("copy", 1), to.END]
        assert ran(told) == [("wipe", ARGUMENTS), ("copy", {})]

    def test_arguments_at_an_index_without_a_name_may_be_of_a_call_that_has_none_l1(self, to: Any) -> None:
        assert ran([to.head("wipe", 0), to.piece(1, TEXT), to.END]) == []
        assert ran([to.piece(1, TEXT), to.head("wipe", 0), to.END]) == []
        message = stream_message([to.head("wipe", 0), to.piece(1, TEXT), to.END]).final()
        assert message.outcome is Outcome.INVALID
        assert "belong to no call with a name" in str(message.errors[0].message)

    def test_a_piece_at_another_index_is_missed_where_it_was_taken_from_l2(self, to: Any) -> None:
        told = [to.head("wipe", 0), to.piece(0, PIECES[0]), to.piece(1, PIECES[1]), to.piece(0, PIECES[2]), to.END]
        assert ran(told) == []

    def test_a_call_that_was_complete_before_or_begins_later_may_lack_it_too(self, to: Any) -> None:
        assert ran([to.head("wipe", 0), to.piece(0, TEXT), to.piece(1, "{"), to.END]) == []
        assert ran([to.piece(1, "{"), to.head("wipe", 0), to.piece(0, TEXT), to.END]) == []
        assert ran([to.head("wipe", 0), to.piece(0, TEXT), to.piece(1, ["{"]), to.END]) == []

    def test_a_late_name_accounts_for_what_came_before_it(self, to: Any) -> None:
        told = [to.head("wipe", 0), to.piece(1, TEXT), to.head("copy", 1), to.END]
        assert ran(told) == [("wipe", {}), ("copy", ARGUMENTS)]

    def test_a_piece_without_its_index_may_be_of_any_of_several_calls(self, to: Any) -> None:
        lost = without_index(to.piece(0, PIECES[1]))
        whole = [to.head("wipe", 0), to.piece(0, PIECES[0]), to.piece(0, PIECES[2])]
        other = [to.head("copy", 1), to.piece(1, PIECES[0]), to.piece(1, PIECES[2])]
        assert ran([*whole, *other, to.END]) == [("wipe", {"path": "/data/"}), ("copy", {"path": "/data/"})]
        for at in range(1, 6):
            told = [*whole, *other, to.END]
            told.insert(at, lost)
            assert ran(told) == []

    def test_one_id_under_two_indices_is_not_known_to_be_one_call_or_two_l3(self, to: Any) -> None:
        told = [to.head("wipe", 0, "same"), to.head("wipe", 1, "same"), to.piece(1, TEXT), to.END]
        assert ran(told) == []

    def test_two_calls_that_begin_at_one_index_share_what_comes_after_them_l4(self, to: Any) -> None:
        assert ran([to.head("wipe", 0), to.head("copy", 0), to.piece(0, TEXT), to.END]) == []
        assert ran([to.head("wipe", 0), to.piece(0, TEXT), to.head("copy", 0), to.piece(0, TEXT), to.END]) == [
            ("wipe", ARGUMENTS),
            ("copy", ARGUMENTS),
        ]

    @pytest.mark.parametrize("strange", [5, True, ["x/y"], 0.5])
    @pytest.mark.parametrize("trailing", ["error", "ignore"])
    def test_a_piece_that_is_no_text_is_missed_l7(self, to: Any, strange: object, trailing: str) -> None:
        for at in range(4):
            pieces: list[Any] = [*PIECES[:at], strange, *PIECES[at:]]
            told = [to.head("wipe", 0), *(to.piece(0, piece) for piece in pieces), to.END]
            assert ran(told, trailing=trailing) == []

    def test_what_is_no_text_is_not_shown_as_if_it_were_some_18(self, to: Any) -> None:
        message = stream_message([to.head("wipe", 0), to.piece(0, '{"a"'), to.piece(0, 5), to.END]).final()
        assert_clean(message)

    @pytest.mark.parametrize("index", ["first", [0], {"at": 0}, 0.5, True])
    def test_an_index_that_cannot_be_read_l5(self, to: Any, index: object) -> None:
        assert ran([to.head("wipe", 0), to.piece(index, TEXT), to.END]) == []


def assert_clean(message: Message[Any]) -> None:
    """Nothing of our own stands in what is shown, sent or said."""
    shown = [repr(message), message.to_json(), json.dumps(to_request(message, "openai_chat"))]
    shown += [error.message for error in message.errors]
    assert not [text for text in shown if "\0" in text or "u0000" in text or "x00" in text]


# What cannot be read: a path into the event with the arguments, and what stands there.

CHAT = Chat.piece(0, TEXT)
CONTAINERS: dict[str, tuple[Any, list[str]]] = {
    "Chat": (
        Chat,
        [
            "choices",
            "choices.0",
            "choices.0.delta",
            "choices.0.delta.tool_calls",
            "choices.0.delta.tool_calls.0",
            "choices.0.delta.tool_calls.0.function",
        ],
    ),
    "Anthropic": (Anthropic, ["delta"]),
    "Bedrock": (Bedrock, ["contentBlockDelta", "contentBlockDelta.delta", "contentBlockDelta.delta.toolUse"]),
    "Cohere": (
        Cohere,
        ["delta", "delta.message", "delta.message.tool_calls", "delta.message.tool_calls.function"],
    ),
    "Interactions": (Interactions, ["delta"]),
}
PATHS = [(name, path) for name, row in CONTAINERS.items() for path in row[1]]


def changed(event: Any, path: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(event)
    name: Any = int(path[0]) if isinstance(event, list) else path[0]
    inside = changed(event[name], path[1:], change)
    if isinstance(event, list):
        return [inside if at == name else item for at, item in enumerate(event)]
    return {**event, name: inside}


def as_text(value: Any) -> Any:
    return json.dumps(value)


def as_number(_: Any) -> Any:
    return 7


def swapped(value: Any) -> Any:
    """An array in place of an object, and the other way round."""
    return {"0": value[0]} if isinstance(value, list) else [value]


class TestWhatCannotBeRead:
    @pytest.mark.parametrize("change", [as_text, as_number, swapped])
    @pytest.mark.parametrize(("name", "path"), PATHS)
    def test_is_missed_where_arguments_may_be_l5(self, name: str, path: str, change: Any) -> None:
        to = CONTAINERS[name][0]
        told = [to.head("wipe", 0), changed(to.piece(0, TEXT), tuple(path.split(".")), change), to.END]
        assert ran(told) == []
        assert stream_message(told).final().outcome is not Outcome.COMPLETE
        whole = [to.head("copy", 1), to.piece(1, TEXT), *told]
        assert ran(whole) == []

    @pytest.mark.parametrize(
        "calls",
        [{"function": {"name": "copy", "arguments": ARGUMENTS}}, "copy()", ["copy()"], [{"function": "copy()"}]],
    )
    def test_is_missed_in_ollama_too_l5(self, calls: object) -> None:
        wipe = {"function": {"name": "wipe", "arguments": {}}}
        message = stream_message([Ollama.calls([wipe]), Ollama.calls(calls), Ollama.END]).final()
        assert message.outcome is Outcome.INVALID
        assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)

    @pytest.mark.parametrize("path", [("content",), ("content", "parts"), ("content", "parts", "0")])
    @pytest.mark.parametrize("change", [as_text, as_number])
    def test_is_missed_in_gemini_too_l5(self, path: tuple[str, ...], change: Any) -> None:
        lost = changed(Gemini.call(name="copy", args=ARGUMENTS), ("candidates", "0", *path), change)
        assert ran([Gemini.call(name="wipe"), Gemini.END]) == [("wipe", {})]
        assert ran([Gemini.call(name="wipe"), lost, Gemini.END]) == []

    @pytest.mark.parametrize("path", [("item",), ("response",), ("response", "output"), ("response", "output", "0")])
    @pytest.mark.parametrize("change", [as_text, as_number])
    def test_is_missed_in_items_too_l5(self, path: tuple[str, ...], change: Any) -> None:
        item = Responses.head("copy", 1)["item"] | {"arguments": TEXT, "status": "completed"}
        done = {"type": "response.output_item.done", "output_index": 1, "item": item}
        end = {**Responses.END, "response": {"status": "completed", "output": [item]}}
        told = [Responses.head("wipe", 0), done, end]
        assert ran(told) == [("wipe", {}), ("copy", ARGUMENTS)]
        at = 1 if path[0] == "item" else 2
        told[at] = changed(told[at], path, change)
        assert ran(told) == []

    def test_is_missed_if_nothing_says_what_a_delta_is_l5(self) -> None:
        head, bare = Anthropic.head("wipe", 0), {"partial_json": TEXT}
        for event in (
            {"type": "content_block_delta", "index": 0, "delta": bare},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "json_delta", **bare}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "json": TEXT}},
            {"index": 0, "delta": {"type": "input_json_delta", **bare}},
            {"type": "content_block_more", "index": 0, "delta": {"type": "input_json_delta", **bare}},
            {"type": "content_block_more", "index": 0, "delta": TEXT},
        ):
            assert ran([head, event, Anthropic.END]) == []
        step = {"event_type": "step.delta", "index": 0, "delta": {"arguments": TEXT}}
        assert ran([Interactions.head("wipe", 0), step, Interactions.END]) == []
        assert ran([Interactions.head("wipe", 0), {**step, "event_type": "step.more"}, Interactions.END]) == []
        assert ran([Interactions.head("wipe", 0), {"index": 0, "delta": TEXT}, Interactions.END]) == []
        other = {"type": "tool-call-delta", "index": 0, "delta": {"message": {"content": {"function": TEXT}}}}
        assert ran([Cohere.head("wipe", 0), other, Cohere.END]) == []

    def test_is_said_before_the_end(self) -> None:
        *_, last = stream_message([Chat.head("wipe", 0), changed(CHAT, ("choices", "0", "delta"), as_text)])
        assert any("may hold arguments" in error.message for error in last.errors)

    def test_what_is_empty_says_nothing(self) -> None:
        nothings: list[Any] = [None, "", [], {}]
        for nothing in nothings:
            told = [Chat.head("wipe", 0), {"choices": [{"index": 0, "delta": {"tool_calls": nothing}}]}, Chat.END]
            assert ran(told) == [("wipe", {})]


NAMES = ["parameters", "params", "args", "input", "partial_json", "arguments_", "toolInput"]


_FUNCTION = [{"id": "c1", "type": "function", "function": {"name": "wipe", "arguments": TEXT}}]
_STEP = {"type": "function_call", "id": "c1", "name": "wipe", "arguments": ARGUMENTS}
WHOLE: dict[str, tuple[Event, str]] = {
    "Chat": (
        {"choices": [{"index": 0, "message": {"tool_calls": _FUNCTION}, "finish_reason": "tool_calls"}]},
        "arguments",
    ),
    "Anthropic": (
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "wipe", "input": ARGUMENTS}],
            "stop_reason": "tool_use",
        },
        "input",
    ),
    "Bedrock": (
        {
            "output": {"message": {"content": [{"toolUse": {"toolUseId": "c1", "name": "wipe", "input": ARGUMENTS}}]}},
            "stopReason": "tool_use",
        },
        "input",
    ),
    "Cohere": ({"id": "m1", "message": {"tool_calls": _FUNCTION}, "finish_reason": "TOOL_CALL"}, "arguments"),
    "Responses": (
        {
            "object": "response",
            "status": "completed",
            "output": [{**_STEP, "call_id": "c1", "arguments": TEXT, "status": "completed"}],
        },
        "arguments",
    ),
    "Interactions": ({"object": "interaction", "status": "requires_action", "steps": [_STEP]}, "arguments"),
    "Gemini": (
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "wipe", "args": ARGUMENTS}}]}, "finishReason": "STOP"}
            ]
        },
        "args",
    ),
    "Ollama": (
        {"message": {"tool_calls": [{"function": {"name": "wipe", "arguments": ARGUMENTS}}]}, "done": True},
        "arguments",
    ),
}


class TestArgumentsElsewhere:
    @pytest.mark.parametrize("name", NAMES)
    def test_under_another_name_are_missed_l6(self, name: str) -> None:
        function = {"name": "wipe", name: ARGUMENTS}
        assert ran([entry(index=0, id="c1", function=function), Chat.END]) == []
        assert ran([Chat.head("wipe", 0), entry(index=0, function={name: TEXT}), Chat.END]) == []
        assert ran([Ollama.calls([{"function": function}]), Ollama.END]) == []
        assert ran([Gemini.call(name="wipe", **{name.replace("args", "arguments"): ARGUMENTS}), Gemini.END]) == []
        block = Anthropic.head("wipe", 0)
        block["content_block"] = {**block["content_block"], name.replace("input", "args"): ARGUMENTS}
        assert ran([block, Anthropic.END]) == []
        cohere = {"function": {name: TEXT}}
        more = {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": cohere}}}
        assert ran([Cohere.head("wipe", 0), more, Cohere.END]) == []
        item = changed(Responses.head("wipe", 0), ("item",), lambda item: {**item, name: ARGUMENTS})
        assert ran([item, Responses.END]) == []
        tool = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {name.replace("input", "i"): TEXT}}}}
        assert ran([Bedrock.head("wipe", 0), tool, Bedrock.END]) == []
        step = {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", name: TEXT}}
        assert ran([Interactions.head("wipe", 0), step, Interactions.END]) == []

    @pytest.mark.parametrize("name", [*NAMES, "content", "item", "message", "step", "value"])
    @pytest.mark.parametrize("provider", WHOLE)
    def test_under_another_name_in_a_whole_completion_are_missed_l6(self, provider: str, name: str) -> None:
        completion, own = WHOLE[provider]
        assert ran([completion]) == [("wipe", ARGUMENTS)]
        if name != own:
            assert ran([json.loads(json.dumps(completion).replace(f'"{own}":', f'"{name}":'))]) == []

    def test_beside_the_function_are_missed_l6(self) -> None:
        for said in (
            {"index": 0, "id": "c1", "function": {"name": "wipe"}, "arguments": TEXT},
            {"index": 0, "id": "c1", "function": {"name": "wipe", "arguments": ""}, "arguments": ARGUMENTS},
        ):
            assert ran([entry(**said), Chat.END]) == []
        call = {"function": {"name": "wipe"}, "arguments": ARGUMENTS}
        assert ran([Ollama.calls([call]), Ollama.END]) == []
        told = {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {"id": "c1", **call}}}}
        assert ran([told, Cohere.END]) == []
        for beside in ({"tool_calls": [{"index": 0, "function": {"arguments": TEXT}}]}, {"function_call": call}):
            event = {"choices": [{"index": 0, "delta": {}, **beside}]}
            assert ran([Chat.head("wipe", 0), event, Chat.END]) == []
            assert ran([Chat.head("wipe", 0), {"choices": [], **beside}, Chat.END]) == []

    def test_a_text_in_place_of_the_function_of_an_entry_may_be_arguments(self) -> None:
        said = [Chat.head("wipe", 0), Chat.piece(0, '{"n": '), entry(index=0, content="1"), Chat.piece(0, "2}")]
        assert ran([*said, Chat.END]) == []
        assert ran([*said[:2], entry(index=0, type="function", id="c1"), said[3], Chat.END]) != []
        lost = {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"content": "1"}}}}
        pieces = [Cohere.piece(0, '{"n": '), lost, Cohere.piece(0, "2}")]
        assert ran([Cohere.head("wipe", 0), *pieces, Cohere.END]) == []

    def test_what_is_known_to_be_something_else_is_not_missed(self) -> None:
        more = {
            "extra_content": {"google": {"thought_signature": "c2ln"}},
            "caller": {"type": "direct"},
            "strict": True,
        }
        said = {"index": 0, "id": "c1", "type": "function", "function": {"name": "wipe", "arguments": ""}, **more}
        assert ran([entry(**said), Chat.END]) == [("wipe", {})]
        block = changed(Anthropic.head("wipe", 0), ("content_block",), lambda block: {**block, **more})
        assert ran([block, Anthropic.END]) == [("wipe", {})]


class TestContradictions:
    @pytest.mark.parametrize("trailing", ["error", "ignore"])
    @pytest.mark.parametrize("other", ['{"path":"/"}', "", 5, {"path": "/"}])
    def test_between_deltas_and_the_whole_are_seen_l7(self, other: Any, trailing: str) -> None:
        done = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": other}
        told = [Responses.head("wipe", 0), Responses.piece(0, TEXT), done, Responses.END]
        assert ran(told, trailing=trailing) == []
        assert_clean(stream_message(told).final())

    def test_leave_what_was_shown_as_it_was_18(self) -> None:
        done = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{}"}
        message = stream_message([Responses.head("wipe", 0), Responses.piece(0, TEXT), done, Responses.END]).final()
        (call,) = message.tool_calls
        assert (call.arguments, call.partial, call.status) == (TEXT, ARGUMENTS, Outcome.INVALID)
        assert call.error is not None
        assert call.error.message == "the arguments contradict those before"


class TestErrorsBesideTheEnd:
    @pytest.mark.parametrize("to", [*INDEXED, Gemini, Ollama], ids=[*IN_PIECES, "gemini", "ollama"])
    def test_are_read_l8(self, to: Any) -> None:
        begun = {Gemini: Gemini.call(name="wipe"), Ollama: Ollama.calls([{"function": {"name": "wipe"}}])}
        head = begun[to] if to in begun else to.head("wipe", 0)
        assert ran([head, to.END]) == [("wipe", {})]
        message = stream_message([head, {**to.END, "error": {"message": "Out of memory"}}]).final()
        assert message.outcome is Outcome.TRUNCATED
        assert message.errors[0].message == "Out of memory"
        assert ran([head, {**to.END, "error": None}]) == [("wipe", {})]

    def test_are_read_inside_it_l8(self) -> None:
        response = {"status": "completed", "output": [], "error": {"message": "Out of memory"}}
        interaction = {"status": "requires_action", "error": {"message": "Out of memory"}}
        exception = {"internalServerException": {"message": "Out of memory"}}
        for told in (
            [Responses.head("wipe", 0), {"type": "response.completed", "response": response}],
            [Interactions.head("wipe", 0), {"event_type": "interaction.completed", "interaction": interaction}],
            [Bedrock.head("wipe", 0), {**Bedrock.END, **exception}],
            [Bedrock.head("wipe", 0), {**Bedrock.piece(0, TEXT), **exception}, Bedrock.END],
            [Responses.head("wipe", 0), {**Responses.piece(0, TEXT), "error": {"message": "Out of memory"}}],
        ):
            assert stream_message(told).final().errors[0].message == "Out of memory"
            assert ran(told) == []


def test_pieces_of_the_only_call_need_no_index() -> None:
    pieces = [entry(function={"arguments": piece}) for piece in PIECES]
    assert ran([Chat.head("wipe", 0), *pieces, Chat.END]) == [("wipe", ARGUMENTS)]


class TestLines:
    @pytest.mark.parametrize(
        "lost",
        [
            *("data: x\n: rest of it\n\n", "data: x\n\n", "data: arguments\n\n", "data: 7\n\n"),
            *("arguments\n\n", '{"choices": [\n\n', '"arguments": "\n\n'),
        ],
    )
    def test_that_are_no_event_are_damage_l10(self, lost: str) -> None:
        head, end = (f"data: {json.dumps(event)}\n\n" for event in (Chat.head("wipe", 0), Chat.END))
        assert ran([head + end]) == [("wipe", {})]
        assert ran([head + lost + end]) == []
        assert stream_message([head + lost + end]).final().outcome is Outcome.TRUNCATED

    @pytest.mark.parametrize("sign", ["ping", "[PING]", "keep-alive", "heartbeat", "null"])
    def test_that_are_signs_of_life_are_none(self, sign: str) -> None:
        head, end = (f"data: {json.dumps(event)}\n\n" for event in (Chat.head("wipe", 0), Chat.END))
        assert ran([f"{head}data: {sign}\n\n{end}"]) == [("wipe", {})]
        assert ran([f"{head}{sign}\n\n{end}"]) == [("wipe", {})]
        assert ran([f"{head}x-sign: {sign}\n\n{end}"]) == [("wipe", {})]


def numbered(events: list[Event]) -> list[Event]:
    return [{**event, "sequence_number": at} for at, event in enumerate(events)]


CREATED: Event = {"type": "response.created", "response": {"id": "r1"}}
TOLD = numbered([CREATED, Responses.head("wipe", 0), *(Responses.piece(0, piece) for piece in PIECES), Responses.END])


class TestNumbersOfEvents:
    def test_that_go_up_say_nothing(self) -> None:
        assert ran(TOLD) == [("wipe", ARGUMENTS)]

    @pytest.mark.parametrize(
        "order",
        [[0, 1, 2, 4, 5], [0, 1, 2, 4, 3, 5], [0, 1, 2, 3, 3, 4, 5], [0, 1, 3, 4, 5], [0, 1, 5]],
        ids=["a gap", "a swap", "one twice", "the first is lost", "all are lost"],
    )
    def test_show_what_is_lost_or_swapped_l11(self, order: list[int]) -> None:
        told = [TOLD[at] for at in order]
        assert ran([{**event, "sequence_number": None} for event in told]) != [("wipe", ARGUMENTS)]
        message = stream_message(told).final()
        (call,) = message.tool_calls
        assert call.status is Outcome.INVALID
        assert call.error is not None
        assert "lost or swapped" in call.error.message

    def test_say_nothing_of_calls_that_are_over(self) -> None:
        told = [*TOLD[:-1], {"type": "response.output_text.delta", "delta": "Hi", "sequence_number": 9}]
        told += [{**Responses.END, "sequence_number": 10}]
        assert ran(told) == [("wipe", ARGUMENTS)]

    def test_that_are_all_the_same_say_nothing(self) -> None:
        assert ran([{**event, "sequence_number": 0} for event in TOLD]) == [("wipe", ARGUMENTS)]


class TestNames:
    def test_that_go_on_after_the_arguments_make_the_call_invalid_10(self) -> None:
        tools = [Tool("delete"), Tool("delete_all")]
        for arguments in ("{}", '{"all": true}'):
            for more in (None, ""):
                told = [
                    entry(index=0, id="c1", function={"name": "delete", "arguments": arguments}),
                    entry(index=0, function={"name": "_all", "arguments": more}),
                    Chat.END,
                ]
                for offered in (tools, tools[:1], []):
                    message = stream_message(told, tools=offered).final()
                    assert message.tool_calls[0].status is Outcome.INVALID
                    assert "_all" in str(message.tool_calls[0].error)

    def test_of_two_calls_at_one_index_are_two_names(self) -> None:
        told = [
            entry(index=0, function={"name": "wipe", "arguments": TEXT}),
            entry(index=0, function={"name": "copy", "arguments": TEXT}),
            Chat.END,
        ]
        for offered in ([], [Tool("wipe"), Tool("copy")]):
            assert ran(told, tools=offered) == [("wipe", ARGUMENTS), ("copy", ARGUMENTS)]


def test_a_call_of_gemini_that_begins_before_the_end_of_another_is_mixed_up_with_it_l4() -> None:
    begun = [Gemini.call(name=name, willContinue=True) for name in ("wipe", "copy")]
    piece = Gemini.call(partialArgs=[{"jsonPath": "$.path", "stringValue": "/"}], willContinue=True)
    assert ran([begun[1], piece, Gemini.call(), Gemini.END]) == [("copy", {"path": "/"})]
    assert ran([*begun, piece, Gemini.call(), Gemini.END]) == []


MISPLACED: dict[str, tuple[Any, Event]] = {
    "Chat, among the content": (
        Chat,
        {"choices": [{"index": 0, "delta": {"content": [{"index": 0, "function": {"arguments": TEXT}}]}}]},
    ),
    "Chat, in place of the message so far": (
        Chat,
        {"choices": [{"index": 0, "delta": {"content": ""}, "message": {"function": {"arguments": TEXT}}}]},
    ),
    "Chat, with its entry as the content": (
        Chat,
        {"choices": [{"index": 0, "delta": {"content": {"index": 0, "function": {"arguments": TEXT}}}}]},
    ),
    "Chat, as the content": (Chat, {"choices": [{"index": 0, "delta": {"content": {"arguments": TEXT}}}]}),
    "Cohere, as a text in a field of the call": (
        Cohere,
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"value": {"function": f"arguments: {TEXT}"}}}},
        },
    ),
    "Chat, as a text in a field of the call": (Chat, entry(index=0, value=[{"text": TEXT}])),
    "Bedrock, in a delta of another name": (
        Bedrock,
        {"contentBlockDelta": {"contentBlockIndex": 0, "step": {"parameters": {"input": TEXT}}}},
    ),
    "Bedrock, in an event of another name": (Bedrock, {"step": {"contentBlockIndex": 5, "input": TEXT}}),
    "Bedrock, in a delta without its name, of a block that never began": (
        Bedrock,
        {"contentBlockDelta": {"contentBlockIndex": 5, "delta": {"input": TEXT}}},
    ),
    "Bedrock, in an event without its name": (
        Bedrock,
        {"contentBlockIndex": 0, "delta": {"parameters": {"input": TEXT}}},
    ),
    "Interactions, without an index": (
        Interactions,
        {"event_type": "step.delta", "delta": {"type": "arguments_delta", "arguments": TEXT}},
    ),
    "Interactions, in a delta without its type": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": {"delta": TEXT}},
    ),
    "Responses, in an item without them": (
        Responses,
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {"type": "function_call", "id": "fc_c1", "call_id": "c1", "name": "wipe", "status": "completed"},
        },
    ),
}


MISPLACED |= {
    f"Bedrock, in {kind} of a block as {name}": (
        Bedrock,
        {kind: {"contentBlockIndex": 0, name: {"toolUse": {"input": TEXT}}}},
    )
    for kind in (
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    )
    for name in ("arguments", "p", "start", "step")
}
MISPLACED |= {
    f"Bedrock, as a text in {kind} of a block": (Bedrock, {kind: {"contentBlockIndex": 0, "step": "x/y"}})
    for kind in ("messageStart", "contentBlockStop", "messageStop", "metadata")
}
MISPLACED |= {
    f"Interactions, in {kind}": (Interactions, {"event_type": kind, "index": 0, "arguments": TEXT})
    for kind in ("interaction.created", "interaction.completed", "step.start", "step.stop")
}
MISPLACED |= {
    "Interactions, in a delta that is null": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": None, "function": "x/y"},
    ),
    "Interactions, beside a delta that is empty": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": {}, "tokens": "x/y"},
    ),
    "Interactions, beside a delta without an id": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_summary"}, "arguments": "x/y"},
    ),
    "Interactions, as the type of an event": (
        Interactions,
        {"event_type": {"type": "arguments_delta", "index": "x/y"}, "index": 0},
    ),
    "Interactions, where a step ends": (
        Interactions,
        {"event_type": "step.stop", "index": 1, "delta": {"type": "arguments_delta", "call": "x/y"}},
    ),
    "Interactions, as a call that goes on": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": {"type": "function_call", "service_tier": "x/y"}},
    ),
    **{
        f"Anthropic, as the usage of {kind}": (
            Anthropic,
            {"type": kind, "index": 1, "usage": {"type": "input_json_delta", "partial_json": "x/y"}},
        )
        for kind in ("content_block_stop", "message_stop", "ping")
    },
    "Anthropic, as the message of a ping": (
        Anthropic,
        {"type": "ping", "index": 1, "message": {"type": "input_json_delta", "partial_json": "x/y"}},
    ),
    **{
        f"Anthropic, as a delta without its name in {kind}": (
            Anthropic,
            {"type": kind, "index": 0, "delta": {"type": "input_json_delta", "name": "x/y"}},
        )
        for kind in ("content_block_stop", "message_delta", "message_stop", "ping", "text")
    },
    "Anthropic, in a block where a message ends": (
        Anthropic,
        {"type": "message_stop", "content_block": {"name": "x/y"}},
    ),
    "Anthropic, beside a delta without a type": (
        Anthropic,
        {"type": "content_block_delta", "index": 0, "delta": {}, "role": "x/y"},
    ),
    "Anthropic, beside a delta that became empty in an event of another kind": (
        Anthropic,
        {"type": "content_block_stop", "index": 1, "delta": {}, "role": "x/y"},
    ),
    "Interactions, as a thought": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature", "id": "x/y"}},
    ),
    "Interactions, as a step where one ends": (
        Interactions,
        {"event_type": "step.stop", "index": 1, "step": {"arguments": "x/y"}},
    ),
    "Interactions, in an unknown field of an event that ends a step": (
        Interactions,
        {"event_type": "step.stop", "index": 1, "content": {"type": "arguments_delta", "message": "x/y"}},
    ),
    "Bedrock, beside a delta that is empty": (
        Bedrock,
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": None}}, "input": "x/y"},
    ),
    "Bedrock, beside a delta that became empty in an event of another kind": (
        Bedrock,
        {"contentBlockStop": {"contentBlockIndex": 1, "delta": {}}, "new": {"input": "x/y"}},
    ),
    "Cohere, as the id": (
        Cohere,
        {"type": "tool-plan-delta", "delta": {"message": {}}, "id": {"arguments": "x/y"}},
    ),
    "Cohere, as the plan where a call ends": (
        Cohere,
        {"type": "tool-call-end", "index": 1, "delta": {"message": {"tool_plan": {"function": "x/y"}}}},
    ),
    "Chat, in a function beside the delta": (
        Chat,
        {"choices": [{"index": 0, "delta": {"tool_calls": [], "0": {"index": 0, "function": {"new": "x/y"}}}}]},
    ),
    "Chat, beside a function that became empty": (
        Chat,
        {"choices": [{"index": 0, "delta": {"new": [{"index": 0, "function": {}, "step": "x/y"}]}}]},
    ),
    "Anthropic, in what another event repeats": (
        Anthropic,
        {"type": "message", "event": Anthropic.piece(0, TEXT)},
    ),
    "Anthropic, in a delta that is null": (
        Anthropic,
        {"type": "content_block_delta", "index": 0, "delta": None, "text": "x/y"},
    ),
    "Anthropic, as a number in another event": (
        Anthropic,
        {"type": "content_block_stop", "index": 1, "delta": {"type": "input_json_delta", "partial_json": 7}},
    ),
    "Cohere, in an event of the plan": (
        Cohere,
        {"type": "tool-plan-delta", "index": 0, "toolUse": {"function": {"arguments": TEXT}}},
    ),
    "Cohere, where a call ends": (
        Cohere,
        {"type": "tool-call-end", "index": 1, "delta": {"message": {"value": {"function": {"arguments": TEXT}}}}},
    ),
    "Cohere, where a text goes on": (
        Cohere,
        {"type": "content-delta", "index": 1, "delta": {"message": {"args": {"function": {"arguments": TEXT}}}}},
    ),
    "Cohere, at the end": (
        Cohere,
        {"type": "message-end", "delta": {"message": {"value": {"function": {"arguments": TEXT}}}}},
    ),
    "Responses, beside what an event says": (
        Responses,
        {"type": "response.output_text.delta", "output_index": 1, "delta": "a", "new": {"arguments": TEXT}},
    ),
    "Bedrock, in an event that is not known, as a number": (Bedrock, {"new": {"arguments": 7}}),
    "Bedrock, in what is padding elsewhere": (Bedrock, {"p": Bedrock.piece(0, TEXT)["contentBlockDelta"]}),
    "Bedrock, beside a piece": (
        Bedrock,
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "", "args": "x/y"}}}},
    ),
    "Bedrock, beside a piece that says nothing": (
        Bedrock,
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {}}, "usage": "x/y"}},
    ),
    "Bedrock, in an event that says nothing of its block": (
        Bedrock,
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {}}, "delta": {"input": "x/y"}},
    ),
    "Anthropic, as the type of a delta": (
        Anthropic,
        {"type": "content_block_delta", "index": 0, "delta": {"type": "x/y"}},
    ),
    "Interactions, as the type of a delta": (
        Interactions,
        {"event_type": "step.delta", "index": 0, "delta": {"type": "x/y"}},
    ),
    "Cohere, beside the call of a delta": (
        Cohere,
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {}}, "content_index": "x/y"}},
        },
    ),
    "Cohere, in a call without a function": (
        Cohere,
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"type": {"arguments": "x/y"}}}}},
    ),
    "Chat, beside an entry that says nothing": (
        Chat,
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {}}]}}], "new": "x/y"},
    ),
    "Chat, as what makes the length of a chunk random": (
        Chat,
        {"choices": [], "obfuscation": {"arguments": TEXT}},
    ),
    "Chat, as the model": (Chat, {"choices": [], "model": [{"function": {"arguments": TEXT}}]}),
    "Chat, as the name of a function": (
        Chat,
        entry(index=0, function={"arguments": "", "name": [{"args": TEXT}]}),
    ),
    "Mistral, beside what an event holds": (
        Chat,
        {"data": {"choices": []}, "tool_calls": [{"index": 0, "function": {"arguments": TEXT}}]},
    ),
}


def test_the_input_of_a_call_of_bedrock_where_it_begins_is_not_passed_over() -> None:
    for given in (ARGUMENTS, TEXT):
        for tool in ({"toolUseId": "c1", "name": "wipe", "input": given}, {"input": given}):
            begun = {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": tool}}}
            assert ran([Bedrock.head("wipe", 0), begun, Bedrock.END]) == []
            assert ran([begun, Bedrock.END]) == []


MISPLACED_IN_GEMINI: dict[str, Any] = {
    "as the name of a call": {
        "functionCall": {"name": [{"jsonPath": "$.all", "boolValue": True}], "willContinue": True}
    },
    "as what an unknown field holds": {"jsonPath": [{"jsonPath": "$.all", "boolValue": True}]},
    "as a second content": {"functionCall": {"willContinue": True, "partialArgs": []}, "inlineData": {}},
    "beside a piece that has none": {"functionCall": {"willContinue": True}, "new": [{"jsonPath": "$.all"}]},
}


@pytest.mark.parametrize("name", MISPLACED_IN_GEMINI)
def test_a_piece_of_a_call_of_gemini_in_another_place_is_missed(name: str) -> None:
    head, end = Gemini.call(name="wipe", willContinue=True), Gemini.call()
    assert ran([head, end, Gemini.END]) == [("wipe", {})]
    part = {"candidates": [{"content": {"parts": [MISPLACED_IN_GEMINI[name]]}}]}
    assert ran([head, part, end, Gemini.END]) == []


def test_a_piece_of_a_call_of_gemini_that_has_none_is_nothing_unless_it_stands_around_it() -> None:
    head, end = Gemini.call(name="wipe", willContinue=True), Gemini.call()
    lost = [{"jsonPath": "$.all", "boolValue": True}]
    empty = Gemini.call(willContinue=True)
    (candidate,) = empty["candidates"]
    told = [head, Gemini.call(partialArgs=lost, willContinue=True), empty, end, Gemini.END]
    assert ran(told) == [("wipe", {"all": True})]
    for event in (
        {**empty, "new": lost},
        {"candidates": [{**candidate, "new": lost}]},
        {"candidates": [{"content": {**candidate["content"], "new": lost}}]},
        {**empty, "usageMetadata": {"new": lost[0]}},
    ):
        assert ran([*told[:2], event, end, Gemini.END]) == []


def test_a_piece_of_a_call_of_gemini_beside_the_content_is_missed() -> None:
    head, end = Gemini.call(name="wipe", willContinue=True), Gemini.call()
    piece = Gemini.call(partialArgs=[{"jsonPath": "$.all", "boolValue": True}], willContinue=True)["candidates"]
    for event in (
        {"candidates": [], "usageMetadata": {"candidates": piece}},
        {"candidates": [], "responseId": piece},
        {"candidates": [{"content": {"role": piece[0]["content"]["parts"]}}]},
        {"candidates": [{"content": {"parts": []}}], "jsonPath": {"stringValue": "/"}},
    ):
        assert ran([head, event, end, Gemini.END]) == []


def test_an_object_beside_a_call_of_gemini_without_arguments_may_be_them() -> None:
    for about, made in (({"partMetadata": {"a": 1}}, [("wipe", {})]), ({"modelVersion": ARGUMENTS}, [])):
        part = {"functionCall": {"name": "wipe"}, **about}
        assert ran([{"candidates": [{"content": {"parts": [part]}}]}, Gemini.END]) == made


USAGE: list[tuple[Any, Event, str]] = [
    (Chat, {"choices": []}, "usage"),
    (Anthropic, {"type": "message_delta", "delta": {}}, "usage"),
    (Bedrock, {"metadata": {}}, "metadata.usage"),
    (Cohere, {"type": "message-end", "delta": {}}, "delta.usage"),
    (Responses, {"type": "response.in_progress", "response": {}}, "response.usage"),
    (Interactions, {"event_type": "interaction.completed", "interaction": {"status": "x"}}, "interaction.usage"),
]


@pytest.mark.parametrize(("to", "event", "path"), USAGE, ids=[path for *_, path in USAGE])
def test_arguments_among_the_usage_are_missed(to: Any, event: Event, path: str) -> None:
    message = stream_message([to.head("wipe", 0), put(event, path, {"a": {"tool_calls": [TEXT]}}), to.END]).final()
    assert any("may hold arguments" in error.message for error in message.errors)


def put(event: Event, path: str, value: Any) -> Event:
    name, _, rest = path.partition(".")
    return {**event, name: put(event.get(name, {}), rest, value) if rest else value}


def test_an_object_beside_a_call_of_workers_ai_without_arguments_may_be_them() -> None:
    call = {"name": "wipe"}
    counts = {"prompt_tokens": 1}
    for beside, made in (
        ({}, [("wipe", {})]),
        ({"usage": counts}, [("wipe", {})]),
        ({"tags": ARGUMENTS}, []),
        ({"usage": {"arguments": ARGUMENTS}}, []),
        ({"usage": {**counts, "errors": ARGUMENTS}}, []),
        ({"usage": ARGUMENTS}, []),
        ({"response": ARGUMENTS}, []),
    ):
        whole = {"success": True, "result": {"response": None, "tool_calls": [call], **beside}}
        assert ran([whole]) == made
    for name in ("near", "errors", "usage"):
        assert ran([{"success": True, "result": {"response": None, "tool_calls": [call]}, name: ARGUMENTS}]) == []


def test_an_object_around_a_call_of_gemini_without_arguments_may_be_them() -> None:
    content = {"parts": [{"functionCall": {"name": "wipe"}}], "role": "model"}
    candidate = {"content": content, "safetyRatings": [{"category": "x"}], "index": 0}
    usage = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}]}
    for known in (usage, {"trafficType": "ON_DEMAND"}, {}):
        assert ran([{"candidates": [candidate], "usageMetadata": known}, Gemini.END]) == [("wipe", {})]
    for event in (
        {"candidates": [candidate], "tags": ARGUMENTS},
        {"candidates": [{**candidate, "tags": ARGUMENTS}]},
        {"candidates": [{**candidate, "content": {**content, "tags": ARGUMENTS}}]},
        {"candidates": [candidate], "usageMetadata": {"promptTokensDetails": ARGUMENTS}},
        {"candidates": [candidate], "responseId": ARGUMENTS},
        {"candidates": [candidate], "modelVersion": TEXT},
        {"candidates": [candidate], "usageMetadata": TEXT},
        {"candidates": [{**candidate, "finishMessage": ARGUMENTS}]},
        {"candidates": [{**candidate, "content": {**content, "role": ARGUMENTS}}]},
    ):
        assert ran([event, Gemini.END]) == []


def test_a_piece_of_a_call_of_gemini_in_place_of_a_word_or_of_all_arguments_is_missed() -> None:
    one = {"jsonPath": "$.all", "boolValue": True}
    head, piece, end = (
        Gemini.call(name="wipe", willContinue=True),
        {"functionCall": {"partialArgs": [one]}},
        Gemini.call(),
    )
    assert ran([head, end, Gemini.END]) == [("wipe", {})]
    for lost in (
        {"candidates": [{"finishReason": [piece]}]},
        {"candidates": [{"finishReason": {"parts": [piece]}}]},
        {"candidates": [], "usageMetadata": json.dumps(piece)},
        Gemini.call(args=one, partialArgs=[], willContinue=True),
    ):
        assert ran([head, lost, end, Gemini.END]) == []


AROUND_CHAT: dict[str, tuple[str, Any]] = {
    "an object in a field that is not known": ("new", ARGUMENTS),
    "an object in a field that is a text": ("system_fingerprint", ARGUMENTS),
    "a text in a field that is not known": ("new", TEXT),
    "an object in the usage": ("usage.new", ARGUMENTS),
    "in place of the usage": ("usage", ARGUMENTS),
    "in place of the usage, with a number": ("usage", {"path": "/", "limit": 3, "near": {"open": True, "tags": ["a"]}}),
}
AROUND_CHOICE: dict[str, tuple[str, Any]] = {
    "an object beside the delta": ("input", ARGUMENTS),
    "in place of the usage of Moonshot": ("usage", ARGUMENTS),
    "in place of the message so far": ("message", ARGUMENTS),
    "a text in place of the log probabilities": ("logprobs", TEXT),
}
AROUND_DELTA: dict[str, tuple[str, Any]] = {
    "an object in place of the role": ("role", ARGUMENTS),
    "an object as the content": ("content", ARGUMENTS),
    "a text as the content": ("content", TEXT),
}


def chat_around(whole: Event, place: str) -> Event:
    """Return a chunk of chat completions with something put where a case says."""
    if place in AROUND_CHAT:
        return put(whole, *AROUND_CHAT[place])
    (choice,) = whole["choices"]
    if place in AROUND_CHOICE:
        return {**whole, "choices": [put(choice, *AROUND_CHOICE[place])]}
    name, value = AROUND_DELTA[place]
    return {**whole, "choices": [{**choice, "delta": {**choice["delta"], name: value}}]}


@pytest.mark.parametrize("place", [*AROUND_CHAT, *AROUND_CHOICE, *AROUND_DELTA])
def test_what_may_be_arguments_around_a_call_of_chat_that_has_none_is_missed(place: str) -> None:
    function = {"name": "wipe"}
    for head in (entry(index=0, id="c1", function=function), chunk(function_call=function)):
        assert ran([head, Chat.END]) == [("wipe", {})]
        assert ran([chat_around(head, place), Chat.END]) == []


@pytest.mark.parametrize("place", [*AROUND_CHAT, *AROUND_CHOICE, *AROUND_DELTA])
def test_what_may_be_arguments_of_a_call_without_any_is_not_missed_by_others(place: str) -> None:
    head = chat_around(entry(index=0, id="c1", function={"name": "wipe"}), place)
    other = Chat.head("copy", 1)
    assert ran([head, other, Chat.piece(1, TEXT), Chat.END]) == [("copy", ARGUMENTS)]
    assert ran([head, Chat.piece(0, "{"), Chat.piece(0, "}"), other, Chat.piece(1, TEXT), Chat.END]) == [
        ("wipe", {}),
        ("copy", ARGUMENTS),
    ]


def test_an_object_beside_an_entry_of_chat_that_has_no_arguments_may_be_them() -> None:
    assert ran([entry(index=0, id="c1", function={"name": "wipe"}, mood=ARGUMENTS), Chat.END]) == []


def test_what_servers_put_into_chunks_is_not_missed_as_arguments() -> None:
    head = entry(index=0, id="c1", function={"name": "wipe"})
    (choice,) = head["choices"]
    about = {"timings": {"prompt_ms": 1}, "citations": ["https://a"], "x_groq": {"id": "r"}, "service_tier": "default"}
    usage = {"total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 0}, "cost": 0.1, "is_byok": False}
    choice |= {"content_filter_results": {"hate": {"filtered": False}}, "logprobs": {"content": [{"token": "a"}]}}
    choice["message"] = {"role": "assistant", "content": "Let me {see}."}
    choice["delta"] |= {"role": "assistant", "content": "Let me {see}.", "annotations": [{"type": "x"}]}
    assert ran([{**head, **about, "usage": usage}, Chat.END]) == [("wipe", {})]


def test_a_piece_of_an_old_call_without_arguments_lost_them() -> None:
    head, end = chunk(function_call={"name": "wipe", "arguments": ""}), chunk("function_call")
    pieces = [chunk(function_call={"arguments": piece}) for piece in PIECES]
    assert ran([head, *pieces, end]) == [("wipe", ARGUMENTS)]
    assert ran([head, pieces[0], {**chunk(function_call={}), "object": "x/y"}, pieces[2], end]) == []


@pytest.mark.parametrize("to", [Anthropic, Cohere, Interactions], ids=["anthropic", "cohere", "interactions"])
def test_a_call_that_lacks_even_empty_arguments_lost_them_unless_they_follow(to: Any) -> None:
    head = lacking(to.head("wipe", 0))
    assert ran([to.head("wipe", 0), to.END]) == [("wipe", {})]
    assert ran([head, to.END]) == []
    assert ran([head, to.piece(0, TEXT), to.END]) == [("wipe", ARGUMENTS)]


def lacking(value: Any) -> Any:
    """Return an event without arguments, not even empty ones."""
    if not isinstance(value, dict):
        return value
    return {name: lacking(each) for name, each in value.items() if name not in {"arguments", "input"}}


WHOLE_ANTHROPIC = {"type": "message", "content": [{"type": "tool_use", "id": "c", "name": "wipe", "input": {}}]}
WHOLE_INTERACTION = {
    "object": "interaction",
    "steps": [{"type": "function_call", "id": "c", "name": "wipe", "arguments": {}}],
}
WHOLE_COHERE = {"message": {"tool_calls": [{"id": "c", "function": {"name": "wipe", "arguments": "{}"}}]}}


@pytest.mark.parametrize(
    ("whole", "end"),
    [
        (WHOLE_ANTHROPIC, {"stop_reason": "tool_use"}),
        (WHOLE_COHERE, {"finish_reason": "TOOL_CALL"}),
        (WHOLE_INTERACTION, {"status": "requires_action"}),
    ],
    ids=["anthropic", "cohere", "interactions"],
)
def test_a_call_of_a_whole_completion_that_lacks_them_lost_them(whole: Event, end: Event) -> None:
    assert ran([{**whole, **end}]) == [("wipe", {})]
    lost = json.loads(
        json.dumps(whole)
        .replace(', "input": {}', "")
        .replace(', "arguments": "{}"', "")
        .replace(', "arguments": {}', "")
    )
    assert ran([{**lost, **end}]) == []
    assert ran([{**lost, **end, "usage": {"input": ARGUMENTS}}]) == []


def test_an_object_beside_a_call_of_ollama_without_arguments_may_be_them() -> None:
    call = {"function": {"name": "wipe"}}
    assert ran([Ollama.calls([call]), Ollama.END]) == [("wipe", {})]
    for event in (
        Ollama.calls([{**call, "tags": ARGUMENTS}]),
        {**Ollama.calls([call]), "tags": ARGUMENTS},
        {"message": {"tool_calls": [call], "tags": ARGUMENTS}, "done": False},
        {"message": {"tool_calls": [call], "content": TEXT}, "done": False},
        {**Ollama.calls([call]), "done_reason": ARGUMENTS},
    ):
        assert ran([event, Ollama.END]) == []


OTHER_KINDS: list[tuple[Any, list[Event]]] = [
    (
        Anthropic,
        [
            {**Anthropic.piece(0, TEXT), "type": kind}
            for kind in (
                *("content_block_start", "content_block_stop", "message", "message_delta", "message_start"),
                *("message_stop", "ping"),
            )
        ]
        + [
            {**Anthropic.piece(0, TEXT), "delta": {**Anthropic.piece(0, TEXT)["delta"], "type": kind}}
            for kind in ("citations_delta", "signature_delta", "text_delta", "thinking_delta")
        ],
    ),
    (
        Bedrock,
        [
            {kind: Bedrock.piece(0, TEXT)["contentBlockDelta"]}
            for kind in ("contentBlockStart", "contentBlockStop", "messageStart", "messageStop", "metadata")
        ]
        + [{"metadata": [Bedrock.piece(0, TEXT)]}, {"metadata": {"contentBlockIndex": 0, "delta": {"input": TEXT}}}]
        + [
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {kind: {"input": TEXT}}}}
            for kind in ("image", "reasoningContent", "text", "toolResult")
        ],
    ),
    (
        Cohere,
        [
            {**Cohere.piece(0, TEXT), "type": kind}
            for kind in (
                *("citation-end", "citation-start", "content-delta", "content-end", "content-start", "debug"),
                *("message-end", "message-start", "tool-call-end", "tool-plan-delta"),
            )
        ],
    ),
    (
        Interactions,
        [
            {**Interactions.piece(0, TEXT), "event_type": kind}
            for kind in ("interaction.completed", "interaction.created", "step.start", "step.stop")
        ]
        + [
            {**Interactions.piece(0, TEXT), "delta": {**Interactions.piece(0, TEXT)["delta"], "type": kind}}
            for kind in ("audio", "image", "text", "text_annotation_delta", "thought_signature", "thought_summary")
        ],
    ),
    (
        Responses,
        [
            {**Responses.piece(0, TEXT), "item_id": "fc_c1", "type": f"response.{kind}"}
            for kind in (
                *("completed", "content_part.added", "content_part.done", "created", "in_progress"),
                *("output_text.delta", "output_text.done", "reasoning_text.delta", "refusal.delta"),
            )
        ]
        + [
            {"type": f"response.{kind}", "output_index": 0, "item_id": "fc_c1", "arguments": TEXT}
            for kind in ("content_part.done", "output_text.delta", "output_text.done", "refusal.done", "queued")
        ]
        + [
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {**Responses.head("wipe", 0)["item"], "arguments": TEXT, "type": kind},
            }
            for kind in ("image_generation_call", "mcp_call", "message", "new", "reasoning", "web_search_call")
        ],
    ),
    (
        Chat,
        [
            {"choices": [{"index": 0, "delta": {name: {"tool_calls": [{"function": {"arguments": TEXT}}]}}}]}
            for name in ("index", "new", "reasoning", "reasoning_content", "refusal", "role")
        ]
        + [
            {"choices": [{"index": 0, "delta": {}, name: [{"function": {"arguments": TEXT}}]}]}
            for name in ("finish_reason", "text")
        ],
    ),
]


@pytest.mark.parametrize(("to", "event"), [(to, event) for to, events in OTHER_KINDS for event in events])
def test_arguments_in_an_event_of_a_kind_that_has_none_run_nothing(to: Any, event: Event) -> None:
    assert ran([to.head("wipe", 0), to.END]) == [("wipe", {})]
    assert ran([to.head("wipe", 0), event, to.END]) == []
    three = [to.piece(0, '{"a":1'), event, to.piece(0, "}")]
    assert ran([to.head("wipe", 0), *three, to.END]) == []


@pytest.mark.parametrize("name", ["content", "images", "role", "thinking"])
def test_calls_in_a_field_of_ollama_that_is_for_text_run_nothing(name: str) -> None:
    wipe = Ollama.calls([{"function": {"name": "wipe", "arguments": {}}}])
    calls = [{"function": {"name": "copy", "arguments": ARGUMENTS}}]
    assert ran([wipe, Ollama.END]) == [("wipe", {})]
    for event in (
        {"message": {"role": "assistant", name: calls}, "done": False},
        {"response": {"role": "assistant", "tool_calls": calls}, "done": False},
    ):
        assert ran([wipe, event, Ollama.END]) == []


@pytest.mark.parametrize("name", ["codeExecutionResult", "executableCode", "fileData", "inlineData", "toolResponse"])
def test_a_call_of_gemini_under_the_name_of_other_content_runs_nothing(name: str) -> None:
    for call in ({"name": "copy", "args": ARGUMENTS}, {"partialArgs": [{"jsonPath": "$.path", "stringValue": "/"}]}):
        assert ran([Gemini.call(name="wipe"), Gemini.END]) == [("wipe", {})]
        part = {"candidates": [{"content": {"parts": [{name: call}]}}]}
        assert ran([Gemini.call(name="wipe"), part, Gemini.END]) == []


WRITTEN: list[tuple[Any, list[Event], Callable[[Any], Event]]] = [
    (Chat, [Chat.head("wipe", 0)], lambda value: {"choices": [], "new": value}),
    (Chat, [Chat.head("wipe", 0)], lambda value: {"choices": [{"index": 0, "delta": {}, "new": [value]}]}),
    (Gemini, [Gemini.call(name="wipe")], lambda value: {"candidates": [{"content": {"parts": [{"call": value}]}}]}),
    (Gemini, [Gemini.call(name="wipe")], lambda value: {"candidates": [{"value": {"parts": value}}]}),
    (
        Ollama,
        [Ollama.calls([{"function": {"name": "wipe"}}])],
        lambda value: {"message": {"new": value}, "done": False},
    ),
    (Anthropic, [Anthropic.head("wipe", 0)], lambda value: {"type": "new", "index": 1, "of": {"value": value}}),
]


@pytest.mark.parametrize(("to", "head", "event"), WRITTEN)
def test_arguments_in_json_that_is_written_as_a_text_run_nothing(to: Any, head: Any, event: Any) -> None:
    assert ran([*head, event("{} [1]"), to.END]) == [("wipe", {})]
    assert ran([*head, event('{"a": [1, "arguments"]}'), to.END]) == [("wipe", {})]
    for value in ([{"functionCall": {"args": ARGUMENTS}}], {"tool_calls": [{"arguments": TEXT}]}):
        assert ran([*head, event(json.dumps(value)), to.END]) == []
        assert ran([*head, event(f" {json.dumps([json.dumps(value)])}"), to.END]) == []


def test_a_piece_of_a_call_of_gemini_that_is_written_as_a_text_is_missed() -> None:
    lost = {"partialArgs": [{"jsonPath": "$.all", "boolValue": True}], "willContinue": True}
    told = [Gemini.call(name="wipe", willContinue=True), Gemini.call(**lost), Gemini.call(), Gemini.END]
    assert ran(told) == [("wipe", {"all": True})]
    told[1] = {"candidates": [{"content": {"parts": [{"call": json.dumps(lost)}]}}]}
    assert ran(told) == []


@pytest.mark.parametrize("change", [as_text, as_number, swapped])
def test_a_piece_of_a_call_of_gemini_that_is_no_object_is_missed_after_its_end_too(change: Any) -> None:
    lost = change({"partialArgs": [{"jsonPath": "$.all", "boolValue": True}]})
    piece = {"candidates": [{"content": {"parts": [{"functionCall": lost}]}}]}
    assert ran([Gemini.call(name="wipe"), Gemini.call(), Gemini.END]) == [("wipe", {})]
    assert ran([Gemini.call(name="wipe"), piece, Gemini.END]) == []


def test_texts_that_are_json_are_texts() -> None:
    text = json.dumps({"arguments": ARGUMENTS})
    for head, event, end in (
        (Chat.head("wipe", 0), {"choices": [{"index": 0, "delta": {"content": text}}]}, Chat.END),
        (Chat.head("wipe", 0), {"choices": [{"index": 0, "delta": {"reasoning": text}}]}, Chat.END),
        (Ollama.calls([{"function": {"name": "wipe"}}]), {"message": {"content": text}, "done": False}, Ollama.END),
        (Gemini.call(name="wipe"), {"candidates": [{"content": {"parts": [{"text": text}]}}]}, Gemini.END),
    ):
        assert ran([head, event, end]) == [("wipe", {})]


@pytest.mark.parametrize("name", MISPLACED)
def test_arguments_in_a_place_that_no_provider_has_for_them_run_nothing(name: str) -> None:
    to, event = MISPLACED[name]
    assert ran([to.head("wipe", 0), to.END]) == [("wipe", {})]
    assert ran([to.head("wipe", 0), event, to.END]) == []


def test_a_call_of_the_provider_s_own_tools_says_of_which() -> None:
    call = {"candidates": [{"content": {"parts": [{"toolCall": {"name": "wipe", "partialArgs": []}}]}}]}
    assert ran([Gemini.call(name="wipe", args=ARGUMENTS), Gemini.END]) == [("wipe", ARGUMENTS)]
    assert ran([Gemini.call(name="wipe", args=ARGUMENTS), call, Gemini.END]) == []


def test_an_answer_with_a_field_called_arguments_is_an_answer() -> None:
    content = {"arguments": ["a"], "verdict": "no"}
    message = stream_message([{"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": "stop"}]}])
    assert json.loads(message.final().content) == content
    assert message.message.outcome is Outcome.COMPLETE


# Custom tools, whose arguments are a text, so that one with a gap is one too.


def custom(**said: Any) -> Event:
    return entry(index=0, **said)


CUSTOM_HEAD = custom(id="c1", type="custom", custom={"name": "wipe", "input": ""})
LOST_INPUT: dict[str, Event] = {
    "under another name": custom(custom={"text": "x/y"}),
    "beside its object": custom(custom={}, input="x/y"),
    "in place of its object": custom(custom="x/y"),
    "as a number": custom(custom={"input": 7}),
    "at another index": entry(index=1, custom={"input": "x/y"}),
    "in place of the object of an entry": custom(),
    "in the choice": {"choices": [{"index": 0, "delta": {}, "finish_reason": {"input": "x/y"}}]},
    "in the chunk": {"choices": [], "new": {"index": 0, "custom": {"value": {"input": "x/y"}}}},
    "in the content": chunk(content=[{"index": 0, "custom": {"type": "x/y"}}]),
}


@pytest.mark.parametrize("lost", LOST_INPUT)
def test_a_piece_of_the_input_of_a_custom_tool_that_cannot_be_read_is_missed(lost: str) -> None:
    first, last = custom(custom={"input": "/data/"}), custom(custom={"input": "x/y"})
    assert ran([CUSTOM_HEAD, first, last, Chat.END]) == [("wipe", "/data/x/y")]
    assert ran([first, CUSTOM_HEAD, last, Chat.END]) == [("wipe", "/data/x/y")]
    assert ran([CUSTOM_HEAD, first, LOST_INPUT[lost], Chat.END]) == []


def test_a_custom_tool_that_lacks_even_an_empty_input_lost_it() -> None:
    lacks = custom(id="c1", type="custom", custom={"name": "wipe"}, text="x/y")
    assert ran([CUSTOM_HEAD, Chat.END]) == [("wipe", "")]
    assert ran([lacks, Chat.END]) == []
    assert ran([lacks, custom(custom={"input": "x"}), Chat.END]) == [("wipe", "x")]


def test_an_item_that_ends_as_that_of_another_call_leaves_nothing_to_run() -> None:
    head = response("output_item.added", 0, item=custom_item(call_id="c1", input=""))
    for item, made in ((custom_item(call_id="c1", input="x"), [("wipe", "x")]), (custom_item(call_id="x"), [])):
        assert ran([head, response("output_item.done", 0, item=item), Responses.END]) == made
    late = {**Responses.head("wipe", 0)["item"], "arguments": TEXT, "status": "completed"}
    done = response("output_item.done", 0, item=late)
    assert ran([Responses.piece(0, TEXT), done, Responses.END]) == [("wipe", ARGUMENTS)]


def custom_item(**said: Any) -> Event:
    return {"type": "custom_tool_call", "id": "i1", "name": "wipe", "status": "completed", **said}


# Agents.


def envelope(event: Any, **said: Any) -> Event:
    return {"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": None, **said}


AGENT_CALL = [envelope(event) for event in (Anthropic.head("wipe", 0), Anthropic.piece(0, '{"a":1'))]
AGENT_END = [envelope(event) for event in (Anthropic.piece(0, "}"), Anthropic.END)]
PIECE = Anthropic.piece(0, ',"b":2')


@pytest.mark.parametrize(
    "lost",
    [
        envelope(PIECE, parent_tool_use_id="c9"),
        envelope(PIECE, parent_tool_use_id=["c9"]),
        envelope(PIECE, type="system"),
        {**PIECE, "type": "system", "subtype": "x", "session_id": "s"},
        envelope(PIECE, type="message"),
        envelope(None, new=PIECE),
    ],
)
def test_an_event_of_an_agent_that_is_of_no_message_is_missed(lost: Event) -> None:
    assert ran([*AGENT_CALL, *AGENT_END]) == [("wipe", {"a": 1})]
    assert ran([*AGENT_CALL, lost, *AGENT_END]) == []


def test_a_block_that_repeats_a_call_has_its_arguments() -> None:
    stop = {"type": "content_block_stop", "index": 0}
    for given, made in (({"a": 1}, [("wipe", {"a": 1})]), ({"a": 1, "b": 2}, []), ({}, [])):
        block = {"type": "tool_use", "id": "c1", "name": "wipe", "input": given}
        repeated = {"type": "assistant", "message": {"content": [block]}, "parent_tool_use_id": None}
        assert ran([*AGENT_CALL, AGENT_END[0], repeated, AGENT_END[1]]) == made
        assert ran([*AGENT_CALL, AGENT_END[0], envelope({**stop, "content_block": block}), AGENT_END[1]]) == made


def test_a_message_of_an_agent_that_repeats_events_says_which() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "wipe", "input": {"a": 1}}
    for message, made in (
        ({"content": [block]}, [("wipe", {"a": 1})]),
        ({"content": [{"type": "text", "text": "Hi"}]}, [("wipe", {"a": 1})]),
        ({"content": {"value": [block]}}, []),
        ({"content": [{**block, "input": None, "new": {"a": 1}}]}, []),
        (block, []),
        (None, []),
    ):
        repeated = {"type": "assistant", "message": message, "parent_tool_use_id": None}
        assert ran([*AGENT_CALL, AGENT_END[0], repeated, AGENT_END[1]]) == made
    other = {**block, "input": {"a": 1, "b": 2}}
    moved: Event = {"type": "assistant", "message": {"content": []}, "new": other, "parent_tool_use_id": None}
    assert ran([*AGENT_CALL, AGENT_END[0], moved, AGENT_END[1]]) == []
    user = {"type": "user", "message": {"content": [other]}, "parent_tool_use_id": None}
    assert ran([*AGENT_CALL, *AGENT_END[:1], user, AGENT_END[1]]) == []


def test_the_old_form_of_chat_has_one_call() -> None:
    def told(*calls: tuple[str | None, str]) -> list[Event]:
        said = [{"name": name, "arguments": text} if name else {"arguments": text} for name, text in calls]
        events: list[Event] = [{"choices": [{"index": 0, "delta": {"function_call": call}}]} for call in said]
        return [*events, {"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]}]

    assert ran(told(("wipe", ""), (None, '{"a"'), (None, ":1}"))) == [("wipe", {"a": 1})]
    assert ran(told(("wipe", ""), (None, '"a"'), (None, "{"), ("wipe", ""), (None, ":1}"))) == []


def test_a_chunk_of_a_cloud_that_is_not_found_is_missed() -> None:
    told = [Anthropic.head("wipe", 0), Anthropic.piece(0, '{"a":1'), PIECE, Anthropic.piece(0, "}"), Anthropic.END]
    chunks: list[Event] = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in told]
    assert ran(chunks) == [("wipe", {"a": 1, "b": 2})]
    beside = {"chunk": {"bytes": b'{"type": null, "index": 0}', "role": told[2]["delta"]}}
    for lost in ({"new": chunks[2]["chunk"]}, chunks[2]["chunk"], {"new": '{"bytes": "eyJ9"}'}, beside):
        assert ran([*chunks[:2], lost, *chunks[3:]]) == []
    assert ran([{"chunk": '{"bytes": "eyJ9"}'}, *chunks]) == []
