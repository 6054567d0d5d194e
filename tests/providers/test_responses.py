"""What OpenAI Responses and compatible servers send: items, what they repeat, and tools that they run themselves."""

import json
import pickle
from collections.abc import Callable, Iterable
from functools import reduce
from statistics import median
from typing import Any

import pytest

from jsontide.messages import (
    Citation,
    File,
    Message,
    MessageConfig,
    Other,
    Outcome,
    ReasoningPart,
    Refusal,
    ServerCall,
    TextPart,
)
from jsontide.providers import feed_stream, finish_stream, start_stream, to_request
from jsontide.schema import Partial
from jsontide.streams import stream_message
from tests.meters import Meter, untraced
from tests.providers.block_streams import Event, last, runnable
from tests.providers.chat_events import failure
from tests.test_cost import SLACK, SMALL

ITEM: Event = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "pay", "arguments": ""}
CUSTOM: Event = {"type": "custom_tool_call", "id": "ctc", "call_id": "call_1", "name": "sql", "input": ""}


def event(kind: str, output: int = 0, **said: Any) -> Event:
    return {"type": f"response.{kind}", "output_index": output, **said}


def created(*tools: Event) -> Event:
    return event("created", response={"id": "resp", "tools": [*tools]})


def completed(*output: Event, **said: Any) -> Event:
    return {"type": "response.completed", "response": {"output": [*output], **said}}


END = completed(status="completed")
ADDED = event("output_item.added", 1, item={**ITEM, "id": "fc_1", "name": "weather"})


def statuses(message: Message) -> list[Outcome]:
    return [call.status for call in message.tool_calls]


class TestToolsThatTheServerRuns:
    """As xAI writes its searches: custom tools that are not among those of the request."""

    @staticmethod
    def search(output: int = 0, name: str = "x_keyword_search", **said: Any) -> list[Event]:
        item = {**CUSTOM, "name": name, "call_id": f"xs_{output}", "status": "in_progress"}
        done = {**item, "status": "completed", "input": '{"query":"xai"}', **said}
        return [
            event("output_item.added", output, item=item),
            event("custom_tool_call_input.delta", output, delta='{"query":"xai"}'),
            event("custom_tool_call_input.done", output, input='{"query":"xai"}'),
            event("output_item.done", output, item=done),
        ]

    @staticmethod
    def end(*said: list[Event]) -> Event:
        outputs = [events[-1]["item"] for events in said]
        return completed(*outputs, status="completed")

    @pytest.mark.parametrize("tools", [[{"type": "x_search"}], [], [{"type": "function", "name": "x_keyword_search"}]])
    def test_are_not_shown(self, tools: list[Event]) -> None:
        search, text = self.search(), event("output_text.delta", 1, delta="Here it is.")
        stream = stream_message([created(*tools), *search, text, self.end(search)])
        messages = list(stream)
        assert all(message.tool_calls == () for message in messages)
        assert (messages[-1].outcome, messages[-1].finish_reason) == (Outcome.COMPLETE, "stop")

    def test_are_not_shown_if_they_break_off(self) -> None:
        cut = self.search(status="incomplete")
        for told in (cut, cut[:2], cut[-1:]):
            message = last(created({"type": "x_search"}), *told, self.end(cut))
            assert (message.tool_calls, message.finish_reason) == ((), "stop")

    def test_do_not_hide_those_of_the_caller(self) -> None:
        declared = {"type": "custom", "name": "sql"}
        in_a_namespace = {"type": "namespace", "name": "db", "tools": [declared]}
        mine, search = self.search(0, "sql"), self.search(1)
        for tools in ([declared], [{"type": "x_search"}, in_a_namespace]):
            message = last(created(*tools), *mine, *search, self.end(mine, search))
            assert [(call.name, call.status) for call in message.tool_calls] == [("sql", Outcome.COMPLETE)]
            assert message.finish_reason == "tool_calls"

    @pytest.mark.parametrize(
        "begun",
        [
            [],
            [event("created", response={"id": "resp"})],
            [created({"type": "tool_search"})],  # which loads tools that are not in the list
        ],
    )
    def test_are_not_told_from_others_if_nobody_knows_what_was_declared(self, begun: list[Event]) -> None:
        mine = self.search(0, "sql")
        message = last(*begun, *mine, self.end(mine))
        assert (statuses(message), message.finish_reason) == ([Outcome.COMPLETE], "tool_calls")

    def test_what_was_declared_is_not_forgotten_by_an_event_that_does_not_say_it(self) -> None:
        search = self.search()
        progress = event("in_progress", response={"id": "resp"})
        assert last(created({"type": "x_search"}), progress, *search, self.end(search)).tool_calls == ()


class TestWholesThatContradictTheDeltas:
    DELTAS = ('{"amount":1', "0}")
    TEXT = "".join(DELTAS)

    @staticmethod
    def deltas(pieces: Iterable[str], kind: str = "function_call_arguments.delta") -> list[Event]:
        return [event(kind, delta=piece) for piece in pieces]

    @classmethod
    def ways(cls, whole: str) -> list[Event]:
        """The events that repeat the arguments."""
        item = {**ITEM, "arguments": whole, "status": "completed"}
        return [
            event("function_call_arguments.done", arguments=whole),
            event("output_item.done", item=item),
            completed(item),
        ]

    @pytest.mark.parametrize("way", range(3))
    def test_arguments_of_which_they_have_only_some(self, way: int) -> None:
        for cut in range(way == 2, len(self.TEXT)):
            repeated = self.ways(self.TEXT[:cut])[way]
            message = last(event("output_item.added", item=ITEM), *self.deltas(self.DELTAS), repeated, END)
            assert (statuses(message), message.outcome) == ([Outcome.INVALID], Outcome.INVALID)

    @pytest.mark.parametrize("way", range(3))
    @pytest.mark.parametrize("pieces", [['{"amount":1'], ['{"amount":1', "0"], ['{"amount":10}'], ['{"a', 'mount":1']])
    @pytest.mark.parametrize("whole", ["}", "0}", '{"amount":100}', '{"amount":2}', '{"amount":10}}', "[]", " {}"])
    def test_arguments_that_do_not_go_on_with_them(self, way: int, pieces: list[str], whole: str) -> None:
        repeated = self.ways(whole)[way]
        message = last(event("output_item.added", item=ITEM), *self.deltas(pieces), repeated, END)
        if whole.startswith("".join(pieces)) and whole.count("}") == 1:
            assert [json.loads(call.arguments) for call in message.tool_calls] == [json.loads(whole)]
        else:
            assert statuses(message) == [Outcome.INVALID]

    @pytest.mark.parametrize("way", range(3))
    def test_the_other_half_of_a_character(self, way: int) -> None:
        deltas = self.deltas(['{"to":"', "\ud83d"])
        for whole, outcome in (('{"to":"😀"}', Outcome.COMPLETE), ('{"to":"x"}', Outcome.INVALID)):
            message = last(event("output_item.added", item=ITEM), *deltas, self.ways(whole)[way], END)
            assert statuses(message) == [outcome]

    @pytest.mark.parametrize("way", range(2))
    def test_text_for_a_custom_tool(self, way: int) -> None:
        deltas = self.deltas(["DROP TABLE ", "x"], "custom_tool_call_input.delta")
        for whole in ("", "DROP", "DROP TABLE ", "DROP TABLE y", "TABLE x", " x"):
            done = event("output_item.done", item={**CUSTOM, "input": whole, "status": "completed"})
            told = [event("custom_tool_call_input.done", input=whole), done][way:]
            assert statuses(last(event("output_item.added", item=CUSTOM), *deltas, *told, END)) == [Outcome.INVALID]

    def test_text_for_a_custom_tool_that_is_no_text(self) -> None:
        delta = event("custom_tool_call_input.delta", delta=["DROP"])
        done = event("output_item.done", item={**CUSTOM, "input": 7})
        assert statuses(last(event("output_item.added", item=CUSTOM), delta, done, END)) == [Outcome.INVALID]

    @pytest.mark.parametrize("kind", ["output_text.done", "content_part.done", "output_item.done"])
    def test_an_answer(self, kind: str) -> None:
        deltas = self.deltas(self.DELTAS, "output_text.delta")
        call = event("output_item.done", 1, item={**ITEM, "arguments": "{}"})
        for whole in ("{", '{"amount":1', '{"amount":1}', '{"amount":100}', "}"):
            part = {"type": "output_text", "text": whole}
            said: Event = {"text": whole} if kind == "output_text.done" else {"part": part, "item": {"content": [part]}}
            message = last(*deltas, event(kind, **said), call, END, response_schema={"type": "object"})
            assert (message.outcome, type(message.answer)) == (Outcome.TRUNCATED, Partial)
            assert (message.content, statuses(message)) == (self.TEXT, [Outcome.TRUNCATED])
            assert message.errors[0].message == "the text is not what its deltas said"
        repeated = event("output_text.done", text=self.TEXT)
        assert last(*deltas, repeated, END, response_schema={"type": "object"}).answer == {"amount": 10}

    def test_refusals_and_thoughts_are_shown_as_they_were_streamed(self) -> None:
        refused = last(event("refusal.delta", delta="I cannot."), event("refusal.done", refusal="I"), END)
        assert (refused.refusal, refused.outcome) == ("I cannot.", Outcome.REFUSED)
        thought = last(
            event("reasoning_text.delta", delta="Hm, so"),
            event("reasoning_text.done", text="Hm."),
            event("output_text.delta", 1, delta="Hi"),
            END,
        )
        assert (thought.reasoning, thought.content, thought.outcome) == ("Hm, so", "Hi", Outcome.COMPLETE)


@pytest.mark.parametrize("status", [5, True, ["completed"], {}, ""])
def test_a_status_that_is_no_text_is_no_normal_end(status: object) -> None:
    item = {**ITEM, "arguments": "{}"}
    for of_item, of_response in ((status, "completed"), ("completed", status)):
        done = event("output_item.done", item={**item, "status": of_item})
        message = last(done, {"type": "response.completed", "response": {"status": of_response}})
        assert statuses(message) == [Outcome.TRUNCATED]


@pytest.mark.parametrize("where", ["arguments.done", "item.done", "completed"])
def test_a_call_that_is_named_otherwise_later_is_not_run_under_either_name(where: str) -> None:
    names = {each: "refund" if each == where else "pay" for each in ("arguments.done", "item.done", "completed")}
    items = {each: {**ITEM, "name": name, "arguments": "{}", "status": "completed"} for each, name in names.items()}
    message = last(
        event("output_item.added", item=ITEM),
        event("function_call_arguments.delta", delta="{}"),
        event("function_call_arguments.done", arguments="{}", name=names["arguments.done"]),
        event("output_item.done", item=items["item.done"]),
        completed(items["completed"]),
    )
    assert statuses(message) == [Outcome.INVALID]


class TestShapes:
    """From the documentation."""

    def test_arguments_that_come_only_when_they_are_done(self) -> None:
        done = event("function_call_arguments.done", 1, arguments='{"city":"Rome"}')
        end = {"type": "response.completed", "response": {"output": [{"type": "function_call"}]}}
        assert runnable(last(ADDED, done, end)) == [("call_1", "weather", {"city": "Rome"})]

    def test_arguments_that_come_only_with_the_item(self) -> None:
        item = {**ADDED["item"], "arguments": '{"city":"Rome"}'}
        done = event("output_item.done", 1, item=item)
        end = completed()
        assert runnable(last(ADDED, done, end)) == [("call_1", "weather", {"city": "Rome"})]
        assert runnable(last(done, end)) == [("call_1", "weather", {"city": "Rome"})]

    def test_arguments_that_come_only_with_the_end_of_the_response(self) -> None:
        item = {**ADDED["item"], "arguments": '{"city":"Rome"}', "status": "completed"}
        end = completed(item)
        assert runnable(last(ADDED, end)) == [("call_1", "weather", {"city": "Rome"})]

    def test_a_cut_off_call_without_an_id_is_found_by_its_place(self) -> None:
        item = {"type": "function_call", "name": "weather", "arguments": ""}
        added = event("output_item.added", 1, item=item)
        delta = event("function_call_arguments.delta", 1, delta='{"city":"Rome"}')
        outputs = [{"type": "reasoning"}, {**item, "arguments": '{"city":"Rome"}', "status": "incomplete"}]
        message = last(added, delta, {"type": "response.incomplete", "response": {"output": outputs}})
        assert [call.status for call in message.tool_calls] == [Outcome.TRUNCATED]

    @pytest.mark.parametrize("status", ["incomplete", "unheard-of"])
    @pytest.mark.parametrize("written", ["", "{}", '{"city":"Rome"}', '{"city"', "1"])
    @pytest.mark.parametrize("told_by", ["the item", "the response", "both"])
    def test_an_item_that_was_cut_off_cannot_be_run_though_the_response_completes(
        self, status: str, written: str, told_by: str
    ) -> None:
        item = {**ADDED["item"], "arguments": written}
        cut = {**item, "status": status}
        done = event("output_item.done", 1, item=cut)
        arguments = event("function_call_arguments.done", 1, arguments=written)
        outputs = [{"type": "reasoning"}, item if told_by == "the item" else cut]
        for status_of_all in ({}, {"status": "completed"}):
            end = {"type": "response.completed", "response": {**status_of_all, "output": outputs}}
            message = last(ADDED, arguments, *([] if told_by == "the response" else [done]), end)
            (call,) = message.tool_calls
            assert (message.outcome, call.status) == (Outcome.TRUNCATED, Outcome.TRUNCATED)
            assert call.arguments == written
            assert message.errors

    def test_an_item_whose_result_is_waited_for_is_whole_if_it_says_something(self) -> None:
        end = completed()
        expected: dict[str, list[object]] = {"": [], '{"city"': [], "{}": [("call_1", "weather", {})]}
        for written, whole in expected.items():
            item = {**ADDED["item"], "arguments": written, "status": "in_progress"}
            done = event("output_item.done", 1, item=item)
            assert runnable(last(ADDED, done, end)) == whole

    def test_one_item_that_was_cut_off_does_not_spoil_the_others(self) -> None:
        others = [{**ADDED, "output_index": at, "item": {**ADDED["item"], "call_id": f"call_{at}"}} for at in range(3)]
        done = [
            {**event, "type": "response.output_item.done", "item": {**event["item"], "status": status}}
            for event, status in zip(others, ("completed", "incomplete", "completed"), strict=True)
        ]
        outputs = [event["item"] for event in done]
        message = last(*others, *done, completed(*outputs))
        assert runnable(message) == [("call_0", "weather", {}), ("call_2", "weather", {})]
        assert len(message.tool_calls) == 3

    def test_a_cut_off_call_that_no_other_event_told_of_is_shown_as_such(self) -> None:
        cut = {**ADDED["item"], "status": "incomplete"}
        message = last(completed(cut))
        assert [(call.id, call.status) for call in message.tool_calls] == [("call_1", Outcome.TRUNCATED)]

    def test_an_answer_by_a_call_that_was_cut_off_is_none(self) -> None:
        item = {**ADDED["item"], "name": "output", "arguments": "{}", "status": "incomplete"}
        events = [
            event("output_item.done", item=item),
            completed(),
        ]
        *_, message = stream_message(events, response_schema={"type": "object"}, emulate_structured_output=True)
        assert (message.outcome, type(message.answer)) == (Outcome.TRUNCATED, Partial)
        assert message.tool_calls == ()

    @pytest.mark.parametrize("status", ["in_progress", "queued", "unheard-of"])
    def test_a_response_that_ends_in_another_state_than_completed_leaves_empty_arguments_alone(
        self, status: str
    ) -> None:
        assert runnable(last(ADDED, {"type": "response.completed", "response": {"status": status}})) == []

    @pytest.mark.parametrize("status", ["incomplete", "failed", "cancelled"])
    def test_a_response_that_is_completed_by_name_only_is_judged_by_its_status(self, status: str) -> None:
        message = last(ADDED, {"type": "response.completed", "response": {"status": status}})
        assert (message.outcome, runnable(message)) == (Outcome.TRUNCATED, [])

    def test_text_for_a_custom_tool_with_quotes_and_newlines(self) -> None:
        item = CUSTOM
        added = event("output_item.added", item=item)
        pieces = ['say "hi"\n', "\\ 𝄞"]
        deltas = [event("custom_tool_call_input.delta", delta=piece) for piece in pieces]
        told = event("custom_tool_call_input.done", input="".join(pieces))
        whole = {**item, "status": "completed", "input": "".join(pieces)}
        done = event("output_item.done", item=whole)
        end = completed(item)
        for events in ([added, *deltas, told, done], [added, *deltas, done], [added, done], [done]):
            assert runnable(last(*events, end)) == [("call_1", "sql", 'say "hi"\n\\ 𝄞')]
        assert last(added, *deltas, end).tool_calls[0].status is Outcome.TRUNCATED

    def test_text_for_a_custom_tool_that_a_limit_cut_off_cannot_be_run(self) -> None:
        item = CUSTOM
        cut = {**item, "status": "incomplete", "input": "DELETE FROM users"}
        message = last(
            event("output_item.added", item=item),
            event("custom_tool_call_input.delta", delta="DELETE FROM users"),
            event("custom_tool_call_input.done", input="DELETE FROM users"),
            event("output_item.done", item=cut),
            {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
        )
        assert message.tool_calls[0].status is Outcome.TRUNCATED
        assert message.tool_calls[0].partial == "DELETE FROM users"

    @staticmethod
    def text(kind: str, output: int = 0, at: int = 0, **said: Any) -> Event:
        return {"type": f"response.{kind}", "output_index": output, "content_index": at, **said}

    @pytest.mark.parametrize("streamed", ["", "Once", "Once upon a time"])
    def test_text_that_was_not_streamed_is_taken_when_it_is_done_and_never_twice(self, streamed: str) -> None:
        whole = "Once upon a time"
        part = {"type": "output_text", "text": whole}
        deltas = [self.text("output_text.delta", 1, delta=streamed)] if streamed else []
        endings = [
            self.text("output_text.done", 1, text=whole),
            self.text("content_part.done", 1, part=part),
            event("output_item.done", 1, item={"type": "message", "content": [part]}),
        ]
        end = completed()
        for at in range(3):
            assert last(*deltas, *endings[at:], end).content == whole
        assert last(*deltas, *endings, *endings, end).content == whole

    def test_a_spoken_answer_is_a_file_that_grows(self) -> None:
        spoken = [
            {"type": "response.audio.delta", "delta": "SGk="},
            {"type": "response.audio.transcript.delta", "delta": "Hi "},
            {"type": "response.audio.delta", "delta": "IHlvdQ=="},
            {"type": "response.audio.transcript.delta", "delta": "you"},
            {"type": "response.audio.transcript.done"},
            {"type": "response.audio.done"},
        ]
        text = self.text("output_text.delta", 0, 0, delta="Listen.")
        message = last(text, *spoken, {"type": "response.completed", "response": {"status": "completed"}})
        _, audio = message.parts
        assert isinstance(audio, File)
        assert (audio.data, audio.extra, audio.is_open) == ("SGkgeW91", {"transcript": "Hi you"}, False)
        assert (message.content, message.outcome, message.metadata) == ("Listen.", Outcome.COMPLETE, {})
        assert [item["type"] for item in to_request(message)] == ["message"]

    def test_text_of_several_parts_is_told_apart(self) -> None:
        message = last(
            self.text("output_text.delta", 0, 0, delta="a"),
            self.text("output_text.done", 0, 0, text="a"),
            self.text("output_text.done", 0, 1, text="a"),
            self.text("output_text.done", 2, 0, text="ab"),
            self.text("output_text.delta", 3, 0, delta="x"),
            self.text("output_text.done", 3, 0, text="another"),  # what contradicts the deltas adds nothing
            {"type": "response.completed", "response": {}},
        )
        assert message.content == "aaabx"

    def test_refusals_and_reasoning_that_were_not_streamed(self) -> None:
        end = {"type": "response.completed", "response": {}}
        refused = last(self.text("refusal.delta", delta="I "), self.text("refusal.done", refusal="I cannot."), end)
        assert (refused.refusal, refused.outcome) == ("I cannot.", Outcome.REFUSED)
        assert last(self.text("content_part.done", part={"type": "refusal", "refusal": "No."}), end).refusal == "No."
        summary, thought = {"type": "summary_text", "text": "In short."}, {"type": "reasoning_text", "text": "Hm."}
        item = {"type": "reasoning", "summary": [summary], "content": [thought]}
        done = event("output_item.done", item=item)
        events = [
            self.text("reasoning_summary_text.done", summary_index=0, text="In short."),
            event("reasoning_summary_part.done", summary_index=0, part=summary),
            self.text("reasoning_text.done", text="Hm."),
        ]
        assert last(*events, done, end).reasoning == "In short.Hm."
        assert last(done, end).reasoning == "In short.Hm."

    @pytest.mark.parametrize("begun", [0, 2], ids=lambda at: f"begun at {at}")
    @pytest.mark.parametrize("counted", [(0, 0, 0), (1, 1, 1), (0, 1, 1), (0, 1, 2), (3, 4, 5)], ids=str)
    @pytest.mark.parametrize("later", [0, 1], ids=["its output", "the next output"])
    def test_texts_that_a_server_counts_in_ways_of_its_own_come_once(
        self, begun: int, counted: tuple[int, int, int], later: int
    ) -> None:
        def item(kind: str, name: str, text: str, place: int, **more: Any) -> list[Event]:
            where: Event = {"output_index": place, "item_id": name}
            whole = {"type": text, "text": "Hi you"}
            ended: Event = {"output_index": place + later, "item_id": name, "content_index": counted[2]}
            part = "reasoning_part" if kind == "reasoning" else "content_part"
            return [
                event("output_item.added", place, item={"type": kind, "id": name, **more}),
                event(f"{part}.added", **where, content_index=begun, part={"type": text, "text": ""}),
                event(f"{text}.delta", **where, content_index=counted[0], delta="Hi"),
                event(f"{text}.delta", **where, content_index=counted[1], delta=" you"),
                event(f"{text}.done", **ended, text="Hi you"),
                event(f"{part}.done", **ended, part=whole),
                event("output_item.done", ended["output_index"], item={"type": kind, "id": name, "content": [whole]}),
            ]

        thought = item("reasoning", "rs_1", "reasoning_text", 1, summary=[])
        said = item("message", "msg_1", "output_text", 2, role="assistant", content=[])
        message = last(*thought, *said, {"type": "response.completed", "response": {"status": "completed"}})
        assert (message.reasoning, message.content, message.outcome) == ("Hi you", "Hi you", Outcome.COMPLETE)
        assert not any(part.is_open for part in message.parts)


class TestItems:
    """What each kind of item becomes."""

    @staticmethod
    def part(item: Event, *before: Event, output: int = 0) -> Any:
        """The one part of an item that is added and done, and repeated at the end."""
        begun = {**item, "status": "in_progress"}
        end = completed(item, status="completed")
        state = reduce(feed_stream, [*before, event("output_item.added", output, item=begun)], start_stream())
        (open_part,) = state.message.parts
        assert open_part.is_open
        assert not open_part.needs_action
        done = feed_stream(state, event("output_item.done", output, item=item))
        ended = finish_stream(feed_stream(done, end))
        assert ended.message.parts == done.message.parts
        assert ended.message.tool_calls == ()
        (part,) = last(*before, event("output_item.done", output, item=item), end).parts
        assert part == ended.message.parts[0]
        assert Message.from_json(ended.message.to_json()) == ended.message
        return part

    @pytest.mark.parametrize(
        "item",
        [
            {"type": "mcp_approval_request", "name": "echo", "arguments": '{"a": 1}', "server_label": "s"},
            {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "p"}},
            {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
            {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
            {"type": "tool_search_call", "call_id": "c", "arguments": {"goal": "g"}, "execution": "client"},
        ],
    )
    def test_that_wait_for_the_caller_do_so_only_if_they_are_complete(self, item: Event) -> None:
        assert self.part({"id": "item_1", "status": "completed", **item}).needs_action
        for status in ("incomplete", "failed", 5):
            assert not self.part({"id": "item_1", **item, "status": status}).needs_action

    @pytest.mark.parametrize(
        "item",
        [
            {"type": "shell_call", "call_id": "c", "action": {}, "environment": {"type": "container_reference"}},
            {"type": "tool_search_call", "arguments": {"goal": "g"}, "execution": "server"},
        ],
    )
    def test_that_the_provider_runs_wait_for_nobody(self, item: Event) -> None:
        assert not self.part({"id": "item_1", "status": "completed", **item}).needs_action

    def test_an_image(self) -> None:
        item = {
            "type": "image_generation_call",
            "id": "ig",
            "status": "completed",
            "result": "QUJD",
            "output_format": "webp",
        }
        part = self.part(item)
        assert part == File("image/webp", "QUJD", item_id="ig", extra={"status": "completed", "output_format": "webp"})
        seen = event("image_generation_call.partial_image", partial_image_b64="QQ==", partial_image_index=0, size="9x9")
        (shown,) = feed_stream(start_stream(), seen).message.parts
        assert isinstance(shown, File)
        assert (shown.data, shown.extra, shown.is_open) == ("QQ==", {"size": "9x9"}, True)

    def test_commands_in_a_container_of_the_request_are_run_by_the_provider(self) -> None:
        item = {"type": "shell_call", "id": "sh", "call_id": "c", "action": {"commands": ["ls"]}, "status": "completed"}
        for where, waits in (("container_auto", False), ("container_reference", False), ("local", True)):
            tools = created({"type": "shell", "environment": {"type": where}})
            assert self.part(item, tools).needs_action is waits

    def test_the_output_of_a_call_is_an_item_and_its_result(self) -> None:
        item = {"type": "shell_call", "id": "sh", "call_id": "c", "action": {"commands": ["ls"]}, "status": "completed"}
        output = {"type": "shell_call_output", "id": "sho", "call_id": "c", "output": [{"stdout": "a"}]}
        message = last(event("output_item.done", item=item), event("output_item.done", 1, item=output), END)
        call, other = message.parts
        assert isinstance(call, ServerCall)
        assert (call.result, call.needs_action, message.pending_actions) == ([{"stdout": "a"}], False, ())
        assert other == Other("shell_call_output", output, index=1, item_id="sho")

    def test_code_and_arguments_of_the_provider_grow(self) -> None:
        code = {"type": "code_interpreter_call", "id": "ci", "code": "", "status": "in_progress"}
        mcp = {"type": "mcp_call", "id": "mcp", "name": "echo", "arguments": "", "status": "in_progress"}
        state = reduce(
            feed_stream,
            [
                event("output_item.added", item=code),
                event("code_interpreter_call_code.delta", delta='print("'),
                event("code_interpreter_call.interpreting"),
                event("output_item.added", 1, item=mcp),
                event("mcp_call_arguments.delta", 1, delta='{"a": [1, 2'),
            ],
            start_stream(),
        )
        one, two = state.message.parts
        assert isinstance(one, ServerCall)
        assert isinstance(two, ServerCall)
        assert (one.partial, one.status, one.arguments) == ('print("', "interpreting", '"print(\\"')
        assert (two.partial, two.arguments, two.is_open) == ({"a": [1]}, '{"a": [1, 2', True)

    def test_code_that_is_written_as_the_arguments_of_a_function(self) -> None:
        item = {"type": "code_interpreter_call", "id": "ci", "status": "completed", "arguments": '{"code":"print(1)"}'}
        (call,) = feed_stream(start_stream(), event("output_item.done", 1, item=item)).message.parts
        assert isinstance(call, ServerCall)
        assert (call.partial, call.extra) == ("print(1)", {})

    def test_unchanged_parts_are_the_same_objects(self) -> None:
        items: list[Event] = [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm"}]},
            {"type": "message", "id": "msg", "content": [{"type": "output_text", "text": "Hi"}], "status": "completed"},
            {"type": "web_search_call", "id": "ws", "action": {"query": "a"}, "status": "completed"},
            {"type": "mcp_call", "id": "mcp", "name": "echo", "arguments": "{}", "status": "completed"},
            {**ITEM, "arguments": "{}"},
        ]
        done = [event("output_item.done", at, item=item) for at, item in enumerate(items)]
        state = reduce(feed_stream, done, start_stream())
        again = reduce(feed_stream, done, state)
        end = completed(*items)
        for other in (again, feed_stream(again, end)):
            assert all(one is two for one, two in zip(state.message.parts, other.message.parts, strict=True))


class TestTexts:
    def test_parts_know_their_items(self) -> None:
        item = {
            "type": "message",
            "id": "msg",
            "role": "assistant",
            "status": "in_progress",
            "content": [],
            "phase": "commentary",
        }
        state = reduce(
            feed_stream,
            [
                event("output_item.added", item=item),
                event("output_text.delta", content_index=0, item_id="msg", delta="a"),
                event("refusal.delta", content_index=1, item_id="msg", delta="b"),
            ],
            start_stream(),
        )
        extra: Any = {"status": "in_progress", "phase": "commentary"}
        assert state.message.parts == (
            TextPart("a", is_open=True, item_id="msg", extra=extra),
            Refusal("b", index=1, is_open=True, item_id="msg", extra=extra),
        )
        whole = {
            **item,
            "status": "completed",
            "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
        }
        ended = feed_stream(state, event("output_item.done", item=whole)).message
        assert [part.extra["status"] for part in ended.parts] == ["completed"] * 2
        assert not any(part.is_open for part in ended.parts)

    def test_reasoning_has_a_part_for_each_text_and_is_there_without_any(self) -> None:
        item = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "begun"}
        state = feed_stream(start_stream(), event("output_item.added", item=item))
        assert state.message.parts == (ReasoningPart(encrypted="begun", is_open=True, item_id="rs"),)
        empty = feed_stream(state, event("output_item.done", item={**item, "encrypted_content": "all"}))
        assert empty.message.parts == (ReasoningPart(encrypted="all", item_id="rs"),)
        for at, piece in ((0, "One."), (1, "Two.")):
            state = feed_stream(state, event("reasoning_summary_text.delta", summary_index=at, delta=piece))
        state = feed_stream(state, event("reasoning_text.delta", content_index=0, delta="Hm."))
        whole = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
        thought = [{"type": "reasoning_text", "text": "Hm."}]
        done = {**item, "summary": whole, "content": thought, "encrypted_content": "all", "status": "completed"}
        message = feed_stream(state, event("output_item.done", item=done)).message
        parts: Any = message.parts
        assert [(part.text, part.encrypted, part.extra["type"]) for part in parts] == [
            ("One.", "all", "summary_text"),
            ("Two.", None, "summary_text"),
            ("Hm.", None, "reasoning_text"),
        ]
        assert {(part.item_id, part.extra["status"], part.is_open) for part in parts} == {("rs", "completed", False)}

    def test_what_is_remembered_is_saved(self) -> None:
        item = {"type": "message", "id": "msg", "content": [], "phase": "commentary"}
        some = [{"token": "a", "logprob": 0}]
        begun = [
            created({"type": "shell", "environment": {"type": "container_auto"}}),
            event("output_item.added", item=item),
            event("output_text.delta", 1, delta="a", logprobs=some),
        ]
        state = reduce(feed_stream, begun, start_stream())
        loaded = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
        assert loaded.reader == state.reader != start_stream().reader
        assert hash(loaded.reader) == hash(state.reader)
        shell = {"type": "shell_call", "id": "sh", "action": {}, "status": "completed"}
        more = [
            event("output_text.done", 1, text="a", logprobs=some),
            event("output_text.delta", delta="b"),
            event("output_item.done", 2, item=shell),
            event("output_item.done", 3, item={**CUSTOM, "name": "search", "input": "x"}),
            {"type": "response.created", "response": {"id": "another"}},
        ]
        ended = reduce(feed_stream, more, loaded)
        assert ended.message == reduce(feed_stream, more, state).message
        assert ended.message.parts[1] == TextPart("b", index=1, item_id="msg", extra={"phase": "commentary"})
        assert ended.message.metadata["logprobs"] == some
        assert ended.message.pending_actions == ended.message.tool_calls == ()
        assert "another message" in failure(ended.message)

    def test_annotations_are_told_once(self) -> None:
        url: Event = {"type": "url_citation", "url": "https://a.b", "title": "A", "start_index": 0, "end_index": 1}
        file: Event = {"type": "file_citation", "file_id": "f", "filename": "a.txt", "index": 1}
        part = {"type": "output_text", "text": "Hi", "annotations": [url, file]}
        added = [
            event("output_text.annotation.added", content_index=0, annotation_index=at, annotation=each)
            for at, each in enumerate((url, file))
        ]
        done = event("output_item.done", item={"type": "message", "id": "msg", "content": [part]})
        citations = (
            Citation(type="url_citation", url="https://a.b", title="A", start=0, end=1, raw=url),
            Citation(type="file_citation", title="a.txt", raw=file),
        )
        delta = event("output_text.delta", content_index=0, delta="Hi")
        for events in (
            [delta, *added],
            [delta, *added, done],
            [delta, done],
            [done],
            [delta, added[0], added[0], done],
        ):
            (text,) = last(*events, END).parts
            assert isinstance(text, TextPart)
            assert text.citations == citations

    def test_log_probabilities_are_told_once(self) -> None:
        some = [{"token": token, "logprob": 0.5} for token in "abc"]
        deltas = [event("output_text.delta", delta=each["token"], logprobs=[each]) for each in some]
        done = event("output_text.done", text="abc", logprobs=some)
        item = event("output_item.done", item={"content": [{"type": "output_text", "text": "abc", "logprobs": some}]})
        for events in (deltas, [*deltas, done, item], [done], [item], [*deltas[:1], done]):
            assert last(*events, END).metadata["logprobs"] == some

    def test_what_only_the_end_has_is_taken_if_nothing_of_its_kind_came(self) -> None:
        output = [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "id": "msg", "content": [{"type": "output_text", "text": "Hi"}]},
            {**ITEM, "arguments": '{"to":"Zoe"}', "status": "completed"},
            {"type": "web_search_call", "id": "ws", "action": {}, "status": "completed"},
        ]
        end = completed(*output, status="completed")
        message = last(created(), end)
        assert (message.reasoning, message.content, len(message.parts)) == ("Hm.", "Hi", 4)
        assert runnable(message) == [("call_1", "pay", {"to": "Zoe"})]
        begun = [
            event("output_text.delta", delta="Hi"),
            event("reasoning_text.delta", delta="Hm."),
            event("output_item.done", 3, item={**output[3], "id": "other"}),
        ]
        message = last(*begun, end)
        assert (message.reasoning, message.content, len(message.parts)) == ("Hm.", "Hi", 4)

    def test_the_end_counts_items_otherwise(self) -> None:
        """As where an item in between was left out."""
        item = {"type": "message", "id": "msg", "content": [{"type": "output_text", "text": "Hi all"}], "phase": "x"}
        end = completed(item)
        added = event("output_item.added", 2, item={**item, "content": []})
        message = last(added, event("output_text.delta", 2, item_id="msg", delta="Hi"), end)
        assert message.parts == (TextPart("Hi all", item_id="msg", extra={"phase": "x"}),)


RESPONSE: Event = {
    "id": "resp",
    "object": "response",
    "created_at": 12,
    "model": "m",
    "status": "completed",
    "service_tier": "default",
    "instructions": "Be kind.",
    "temperature": 1,
    "tools": [],
    "output": [],
    "usage": {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 12,
    },
}


class TestTheResponse:
    def test_fields_and_events_that_are_not_known_are_kept(self) -> None:
        delta = event("output_text.delta", delta="Hi", provider_note=[1], snapshot="Hi", obfuscation="x")
        new = event("steer.accepted", steer_id="s")
        message = last(delta, new, {"type": "keepalive", "sequence_number": 4}, END)
        assert message.metadata == {"provider_note": [1], "events": [new]}

    def test_a_whole_is_read_as_its_events(self) -> None:
        output = [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "id": "msg", "status": "completed", "content": [{"type": "output_text", "text": "Hi"}]},
            {**ITEM, "arguments": "{}", "status": "completed"},
        ]
        whole = {**RESPONSE, "output": output}
        message = last(whole)
        assert (message.id, message.content, message.reasoning) == ("resp", "Hi", "Hm.")
        assert (message.finish_reason, runnable(message)) == ("tool_calls", [("call_1", "pay", {})])
        assert message.usage is not None
        for status, outcome in (("incomplete", Outcome.TRUNCATED), ("failed", Outcome.TRUNCATED)):
            other = last({**whole, "status": status})
            assert (other.outcome, other.content) == (outcome, "Hi")

    def test_more_parts_than_there_may_be_fail_it(self) -> None:
        config = MessageConfig(max_parts=2)
        items: list[Event] = [
            {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {"type": "web_search_call"},
            {"type": "mcp_call", "name": "echo", "arguments": "{}"},
            {**ITEM, "arguments": "{}"},
        ]
        begun = [event("output_text.delta", at, delta="a") for at in range(2)]
        for item in items:
            done = event("output_item.done", 2, item={**item, "id": "x"})
            state = reduce(feed_stream, [*begun, done], start_stream(config))
            assert "more than 2 parts" in failure(state.message)


class TestGrowth:
    """What an event costs does not depend on how many came before it."""

    @staticmethod
    def cost(meter: Meter, before: list[Event], more: list[Event]) -> float:
        stream = stream_message([*before, *more])
        untraced(lambda: [next(stream) for _ in before])
        return median([meter(lambda: next(stream, None))[0] for _ in more])

    def check(self, meter: Meter, told: Callable[[int], list[Event]], count: int = 20) -> None:
        """The events of a larger size must begin with those of a smaller one."""
        early, late = (self.cost(meter, told(size), told(size + count)[size:]) for size in (100, 3_000))
        assert late <= SLACK[meter] * early + SMALL[meter]

    def test_parts_by_turns(self, meter: Meter) -> None:
        self.check(meter, lambda count: [event("output_text.delta", at % 7, delta="a") for at in range(count)])

    def test_a_part_that_is_done_between_its_deltas(self, meter: Meter) -> None:
        done, delta = event("output_text.done", text="a"), event("output_text.delta", delta="as it was told")
        begun = [event("output_text.delta", delta="a")]

        def work(deltas: int) -> int:
            state = untraced(lambda: reduce(feed_stream, [*begun, *[delta, done] * deltas], start_stream()))
            return meter(lambda: reduce(feed_stream, [delta, done], state))[0]

        assert work(3_000) <= SLACK[meter] * work(100) + SMALL[meter]

    def test_arguments_that_are_done_between_their_deltas(self, meter: Meter) -> None:
        """What is done contradicts the deltas; as that changes the message only once, events are counted."""
        done = event("function_call_arguments.done", arguments="{")
        delta = event("function_call_arguments.delta", delta="as it was told")
        added = event("output_item.added", item=ITEM)

        def cost(size: int) -> float:
            state = untraced(lambda: reduce(feed_stream, [added, *[delta, done] * (size // 2)], start_stream()))
            return meter(lambda: reduce(feed_stream, [delta, done] * 10, state))[0]

        assert cost(3_000) <= SLACK[meter] * cost(100) + 20 * SMALL[meter]

    def test_an_old_state_goes_its_own_way(self) -> None:
        def text(place: int) -> str:
            return f"part {place}"

        begun = [event("output_text.delta", at, delta=text(at)) for at in range(9)]
        old = reduce(feed_stream, begun, start_stream())
        reduce(feed_stream, [event("output_text.delta", at % 9, delta=" and more") for at in range(20)], old)
        for at in range(9):
            state = feed_stream(old, event("output_text.done", at, text=text(at) + "!"))
            part = state.message.parts[at]
            assert isinstance(part, TextPart)
            assert part.text == text(at) + "!"


@pytest.mark.parametrize(
    ("reason", "runs"), [("max_output_tokens", True), ("SAFETY", False), ("content_filter", False)]
)
def test_nothing_runs_after_a_response_that_is_incomplete_for_an_unknown_reason(reason: str, *, runs: bool) -> None:
    call = {**ITEM, "arguments": "{}", "status": "completed"}
    response = {"id": "r", "status": "incomplete", "incomplete_details": {"reason": reason}, "output": [call]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r"}},
        event("output_item.done", item=call),
        {"type": "response.incomplete", "response": response},
    ]
    (found,) = stream_message(events).final().tool_calls
    assert (found.status is Outcome.COMPLETE) is runs
