"""What OpenAI Responses and compatible servers repeat, and what they say of tools that they run themselves."""

import json
from collections.abc import Callable, Iterable
from functools import reduce
from statistics import median
from typing import Any

import pytest

from jsontide import MISSING
from jsontide.adapters import ADAPTERS, Adapter, stream_message
from jsontide.messages import Message, Outcome
from tests.meters import Meter, untraced
from tests.test_cost import SLACK, SMALL

Event = dict[str, Any]
ITEM: Event = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "pay", "arguments": ""}
CUSTOM: Event = {"type": "custom_tool_call", "id": "ctc", "call_id": "call_1", "name": "sql", "input": ""}
END: Event = {"type": "response.completed", "response": {"status": "completed", "output": []}}


def last(*events: Event, **options: Any) -> Message:
    *_, message = stream_message(events, **options)
    return message


def event(kind: str, output: int = 0, **said: Any) -> Event:
    return {"type": f"response.{kind}", "output_index": output, **said}


def created(*tools: Event) -> Event:
    return event("created", response={"id": "resp", "tools": [*tools]})


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
        return {"type": "response.completed", "response": {"status": "completed", "output": outputs}}

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
            {"type": "response.completed", "response": {"output": [item]}},
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

    @pytest.mark.parametrize("kind", ["output_text.done", "content_part.done", "output_item.done"])
    def test_an_answer(self, kind: str) -> None:
        deltas = self.deltas(self.DELTAS, "output_text.delta")
        call = event("output_item.done", 1, item={**ITEM, "arguments": "{}"})
        for whole in ("{", '{"amount":1', '{"amount":1}', '{"amount":100}', "}"):
            part = {"type": "output_text", "text": whole}
            said: Event = {"text": whole} if kind == "output_text.done" else {"part": part, "item": {"content": [part]}}
            message = last(*deltas, event(kind, **said), call, END, response_schema={"type": "object"})
            assert (message.outcome, message.content_model) == (Outcome.TRUNCATED, MISSING)
            assert (message.content, statuses(message)) == (self.TEXT, [Outcome.TRUNCATED])
            assert message.errors[0].message == "the text is not what its deltas said"
        repeated = event("output_text.done", text=self.TEXT)
        assert last(*deltas, repeated, END, response_schema={"type": "object"}).content_model == {"amount": 10}

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

    def test_a_part_for_each_delta(self, meter: Meter) -> None:
        self.check(meter, lambda count: [event("output_text.delta", at, delta="a") for at in range(count)])

    def test_parts_by_turns(self, meter: Meter) -> None:
        self.check(meter, lambda count: [event("output_text.delta", at % 7, delta="a") for at in range(count)])

    def test_a_part_that_is_done_between_its_deltas(self, meter: Meter) -> None:
        done, delta = event("output_text.done", text="a"), event("output_text.delta", delta="as it was told")
        begun = [event("output_text.delta", delta="a")]

        def work(deltas: int) -> int:
            adapter = untraced(lambda: reduce(read, [*begun, *[delta, done] * deltas], ADAPTERS["openai-responses"]))
            return meter(lambda: reduce(read, [delta, done], adapter))[0]

        assert work(3_000) <= SLACK[meter] * work(100) + SMALL[meter]

    def test_arguments_that_are_done_between_their_deltas(self, meter: Meter) -> None:
        done = event("function_call_arguments.done", arguments="{")
        delta = event("function_call_arguments.delta", delta="as it was told")
        added = event("output_item.added", item=ITEM)
        self.check(meter, lambda count: [added, *[delta, done] * (count // 2)][:count])

    def test_an_old_adapter_goes_its_own_way(self) -> None:
        def text(place: int) -> str:
            return f"part {place}"

        begun = [event("output_text.delta", at, delta=text(at)) for at in range(9)]
        old = reduce(read, begun, ADAPTERS["openai-responses"])
        reduce(read, [event("output_text.delta", at % 9, delta=" and more") for at in range(20)], old)
        for at in range(9):
            _, chunk = old.read(event("output_text.done", at, text=text(at) + "!"))
            assert chunk is not None
            assert chunk.choices[0].delta.content == "!"


def read(adapter: Adapter, one: Event) -> Adapter:
    return adapter.read(one)[0]
