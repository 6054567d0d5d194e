"""Conversations as values, and as requests of every provider: what each demands is read off the request by itself."""

import json
import pickle
from base64 import b64decode
from collections.abc import Collection, Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide import Tool, stream_message
from jsontide.messages import (
    CompleteCall,
    File,
    Message,
    Outcome,
    PartialCall,
    ReasoningPart,
    ServerCall,
    TextPart,
    ToolResult,
    UserMessage,
)
from jsontide.runs import (
    Conversation,
    Request,
    Run,
    RunOutcome,
    Step,
    arun_agent,
    run_agent,
)
from tests.providers.client_types import check_request
from tests.runs.conversations import IMAGE, PDF, PNG, PROVIDERS, Event, draw_conversation
from tests.strategies import randoms

every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def blocks(item: Event) -> list[Event]:
    content = item.get("content", item.get("parts"))
    return content if isinstance(content, list) else []


def read(provider: str, request: Event) -> Iterator[tuple[str, str | None]]:
    """What a provider finds: calls and results with their ids, and what stands between them, by its role."""
    items = request.get("messages") or request.get("input") or request.get("contents") or []
    for item in items:
        kind = item.get("type", item.get("role"))
        if provider in {"openai_responses", "gemini_interactions"} and kind in {"function_call", "custom_tool_call"}:
            yield "call", item.get("call_id", item.get("id"))
        elif kind in {"function_call_output", "custom_tool_call_output", "function_result"}:
            yield "result", item["call_id"]
        elif kind in {"tool", "function"}:
            yield "result", item.get("tool_call_id", item.get("name"))
        else:
            yield from read_blocks(item)
            if item.get("function_call"):
                yield "call", item["function_call"]["name"]
            for call in item.get("tool_calls", ()):
                yield "call", call.get("id")


def read_blocks(item: Event) -> Iterator[tuple[str, str | None]]:
    found = []
    for block in blocks(item):
        for name, member in (("call", "toolUse"), ("result", "toolResult")):
            is_of_provider = "type" in block.get(member, ()) or (name == "result" and item.get("role") == "assistant")
            if member in block and not is_of_provider:
                found.append((name, block[member]["toolUseId"]))
        for name, member in (("call", "functionCall"), ("result", "functionResponse")):
            if member in block:
                found.append((name, block[member].get("id")))
        if block.get("type") == "tool_use":
            found.append(("call", block["id"]))
        elif block.get("type") == "tool_result":
            found.append(("result", block["tool_use_id"]))
    if not found or found[0][0] == "call":
        yield "role", str(item.get("role") or item.get("type"))
    yield from found
    if found and found[0][0] == "result":
        assert all(
            ("tool_result" in (b.get("type"), *b)) or "toolResult" in b or "functionResponse" in b
            for b in blocks(item)[: len(found)]
        )


def check_calls(provider: str, request: Event, ran: Collection[str | None] = ()) -> None:
    """Each call has one result, behind it, before anything else is said, and its id is no other's.

    `ran` are the calls that a provider ran itself.
    """
    found = [(kind, name) for kind, name in read(provider, request) if kind == "role" or name not in ran]
    calls = [call_id for kind, call_id in found if kind == "call"]
    results = [call_id for kind, call_id in found if kind == "result"]
    if provider == "ollama":  # by the place alone
        assert len(calls) == len(results)
    else:
        assert [call for call in calls if call] == [result for result in results if result], found
        if not request_has_old_form(request):
            assert len(set(calls)) == len(calls)
    waiting = 0
    for kind, call_id in found:
        # Between calls, nobody but the model says something.
        assert (
            kind != "role" or not waiting or call_id in {"assistant", "model_output"} or provider == "openai_responses"
        )
        waiting += {"call": 1, "result": -1, "role": 0}[kind]
    assert not waiting


def request_has_old_form(request: Event) -> bool:
    return any(item.get("function_call") for item in request.get("messages", ()))


def roles(request: Event) -> list[str]:
    return [item["role"] for item in request["messages"]]


class TestRequests:
    @every_provider
    @given(randoms)
    def test_calls_have_results_and_ids_of_their_own(self, provider: str, random: Random) -> None:
        conversation = draw_conversation(random)
        steps = [turn for turn in conversation.turns if isinstance(turn, Step)]
        ran = [part.id for step in steps for part in step.message.parts if isinstance(part, ServerCall) and part.id]
        check_calls(provider, conversation.to_request(provider), ran)

    @pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
    @given(randoms)
    def test_roles_alternate(self, provider: str, random: Random) -> None:
        found = roles(draw_conversation(random).to_request(provider))
        assert all(one != other for one, other in pairwise(found))

    @every_provider
    @given(randoms)
    def test_nothing_in_it_is_blank_or_half_a_character(self, provider: str, random: Random) -> None:
        conversation = Conversation("", draw_conversation(random).turns)
        users = [item for item in conversation.to_request(provider).get("messages", ()) if item["role"] == "user"]
        for item in users:
            texts = (
                [item["content"]]
                if isinstance(item["content"], str)
                else [block["text"] for block in item["content"] if "text" in block]
            )
            assert all(text.strip() for text in texts) or item.get("images")
        json.dumps(conversation.to_request(provider), ensure_ascii=False, default=str).encode()


CALL = CompleteCall("chart", {}, id="c1")


def draw_chart(title: str) -> list[Any]:
    """Draw."""
    return [title, IMAGE]


SHOWN = Conversation("", ["Go", Step(Message((CALL,), Outcome.COMPLETE), (ToolResult(CALL, ["here:", IMAGE]),)), "Ok"])


class TestImagesInResults:
    def test_stay_images_where_a_provider_takes_them(self) -> None:
        anthropic = SHOWN.to_request("anthropic")["messages"][2]["content"]
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        assert anthropic[0]["content"] == [{"type": "text", "text": "here:"}, {"type": "image", "source": source}]
        assert anthropic[1] == {"type": "text", "text": "Ok"}
        responses = SHOWN.to_request("openai_responses")["input"][2]["output"]
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
        assert responses == [{"type": "input_text", "text": "here:"}, image]
        bedrock = SHOWN.to_request("bedrock")["messages"][2]["content"][0]["toolResult"]["content"]
        assert bedrock == [{"text": "here:"}, {"image": {"format": "png", "source": {"bytes": b64decode(PNG)}}}]
        gemini = SHOWN.to_request("gemini")["contents"][2]["parts"][0]["functionResponse"]
        assert gemini["response"] == {"output": "here:"}
        assert gemini["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
        assert SHOWN.to_request("ollama")["messages"][2]["images"] == [PNG]

    def test_are_told_in_words_elsewhere(self) -> None:
        assert "image/png" in SHOWN.to_request("openai_chat")["messages"][2]["content"]
        [document] = SHOWN.to_request("cohere")["messages"][2]["content"]
        assert "image/png" in document["document"]["data"]["result"]

    def test_come_from_tools_of_an_agent(self) -> None:
        def chart() -> list[Any]:
            """Draw."""
            return ["here:", IMAGE]

        def ask(request: Request) -> list[Event]:
            if request.run.steps:
                return [{"message": {"content": "Done."}, "done": True, "done_reason": "stop"}]
            calls = [{"function": {"name": "chart", "arguments": {}}}]
            return [{"message": {"content": "", "tool_calls": calls}, "done": True, "done_reason": "stop"}]

        run = run_agent(ask, "Draw", tools=[Tool.from_function(chart)]).final()
        assert run.steps[0].results[0].parts == (TextPart("here:"), IMAGE)  # type: ignore[union-attr]
        assert Run.from_json(run.to_json()) == run


class TestWhereThingsStand:
    def test_the_system_text_is_where_the_provider_wants_it(self) -> None:
        conversation = Conversation("Be brief.", ["Hi"])
        by_provider = {provider: conversation.to_request(provider) for provider in PROVIDERS}
        for provider in ("openai_chat", "ollama", "cohere"):
            assert by_provider[provider]["messages"][0] == {"role": "system", "content": "Be brief."}
        assert by_provider["openai_responses"]["instructions"] == "Be brief."
        assert by_provider["anthropic"]["system"] == "Be brief."
        assert by_provider["bedrock"]["system"] == [{"text": "Be brief."}]
        assert by_provider["gemini"]["config"] == {"system_instruction": "Be brief."}
        assert by_provider["gemini_interactions"]["system_instruction"] == "Be brief."

    def test_what_the_user_says_behind_results_is_a_content_of_its_own_for_gemini(self) -> None:
        *_, results, said = SHOWN.to_request("gemini")["contents"]
        assert [list(part) for part in results["parts"]] == [["functionResponse"]]
        assert said == {"role": "user", "parts": [{"text": "Ok"}]}

    def test_bedrock_gets_a_tool_for_old_calls_and_words_beside_a_document(self) -> None:
        assert SHOWN.to_request("bedrock")["toolConfig"]["tools"][0]["toolSpec"]["name"] == "chart"
        [said] = Conversation("", [UserMessage(PDF)]).to_request("bedrock")["messages"]
        assert said["content"][0]["document"]["name"] == "a pdf"
        assert said["content"][1] == {"text": "a pdf"}

    def test_signatures_go_to_their_own_provider_alone(self) -> None:
        thinking = ReasoningPart("Hm.", signature="sig", item_id="rs_1")
        step = Message((thinking, TextPart("Hi", index=1)), Outcome.COMPLETE, provider="anthropic")
        for provider in PROVIDERS:
            text = json.dumps(Conversation("", ["Hi", step, "Go on"]).to_request(provider), default=str)
            assert ("sig" in text) is (provider == "anthropic")

    @every_provider
    def test_a_call_without_a_result_gets_one_that_says_so(self, provider: str) -> None:
        calls = (CALL, PartialCall("chart", "{", index=1, id="c2", status=Outcome.TRUNCATED))
        request = Conversation("", ["Go", Message(calls, Outcome.TRUNCATED), "Go on"]).to_request(provider)
        assert json.dumps(request, default=str).count("the call was not run") == 2

    def test_long_and_equal_ids_are_replaced_in_calls_and_results(self) -> None:
        long = CompleteCall("chart", {}, id="x" * 65)
        turns = [Step(Message((call,), Outcome.COMPLETE), (ToolResult(call, "1"),)) for call in (CALL, CALL, long)]
        messages = Conversation("", ["Go", *turns]).to_request("openai_chat")["messages"]
        ids = [message["tool_calls"][0]["id"] for message in messages if message["role"] == "assistant"]
        assert ids[0] == "c1"
        assert len(set(ids)) == 3
        assert max(map(len, ids)) <= 64
        assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ids

    def test_code_of_anthropics_model_goes_on_in_its_container_after_results_and_pauses(self) -> None:
        """Elsewhere, and after what the user says, it may have expired."""
        container = {"container": {"id": "container_1", "expires_at": "2027-01-01T00:00:00Z"}}
        delta = {"stop_reason": "pause_turn", **container}
        begin = {"type": "message_start", "message": {"id": "m", "model": "c", "content": [], "usage": {}}}
        text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Counting"}}
        paused = stream_message([begin, text, {"type": "message_delta", "delta": delta}, {"type": "message_stop"}])
        conversation = Conversation("", ["Count.", Message.from_json(paused.final().to_json())])
        request = conversation.to_request("anthropic")
        check_request("anthropic", request)
        assert request["container"] == "container_1"
        assert "container" not in conversation.to_request("openai_responses")
        assert "container" not in conversation.add("And?").to_request("anthropic")

    def test_cohere_refuses_tools_together_with_an_answer_format(self) -> None:
        with pytest.raises(ValueError, match="tools or the format of the answer"):
            SHOWN.to_request("cohere", tools=[Tool("chart", {"type": "object"})], response_schema={"type": "object"})


class TestValues:
    @given(randoms)
    def test_json_and_pickles_give_an_equal_conversation(self, random: Random) -> None:
        conversation = draw_conversation(random)
        again = Conversation.from_json(conversation.to_json())
        assert again == conversation
        assert again.to_json() == conversation.to_json()
        assert pickle.loads(pickle.dumps(conversation)) == conversation  # noqa: S301 - our own
        assert Conversation.from_json(json.loads(conversation.to_json())) == conversation

    def test_adding_leaves_the_old_one_as_it_was(self) -> None:
        first = Conversation("Be brief.", ["Hi"])
        run: Run[Any] = Run((Step(Message((TextPart("Hello"),), Outcome.COMPLETE)),), RunOutcome.COMPLETE)
        second = first.add(run, "How are you?")
        assert len(first.turns) == 1
        assert second.turns[0] is first.turns[0]
        assert second.turns[1] is run.steps[0]
        assert second != first
        assert "Hello" in repr(second)
        with pytest.raises(TypeError):
            hash(second)

    def test_a_run_brings_the_feedback_that_its_model_got(self) -> None:
        answers = iter(['{"a": 1}', '{"a": "x"}'])

        def ask(_: Request) -> list[Event]:
            return [{"message": {"content": next(answers)}, "done": True, "done_reason": "stop"}]

        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        run = run_agent(ask, "Go", response_schema=schema, retries=1).final()
        kinds = [type(turn) for turn in Conversation("", [run]).turns]
        assert kinds == [Step, UserMessage, Step]

    @pytest.mark.parametrize("turns", ["Hi", 5, None, UserMessage("Hi"), Run()])
    def test_turns_are_several(self, turns: Any) -> None:
        with pytest.raises(TypeError, match="turns must be an iterable of turns"):
            Conversation("", turns)

    def test_turns_and_parts_are_of_known_types(self) -> None:
        with pytest.raises(TypeError, match="every turn must be a str, UserMessage, Step, Message or Run, not dict"):
            Conversation("", [{"role": "user"}])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="parts must be a str, TextPart or File"):
            UserMessage([5])  # type: ignore[list-item]
        # Compiled, the file is refused when it is made, in other words.
        with pytest.raises(TypeError, match=r"str or None.* bytes"):
            UserMessage(File("image/png", b"x"))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="system must be a str"):
            Conversation(None)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "text",
        [
            *("{", "[]", "null", '{"jsontide":2,"turns":[]}', '{"jsontide":1,"turns":{}}', '{"jsontide":1,"x":1}'),
            *('{"jsontide":1,"turns":[{"user":5}]}', '{"jsontide":1,"turns":[{"user":[{"kind":"refusal"}]}]}'),
            *('{"jsontide":1,"turns":[5]}', '{"jsontide":1,"turns":[{"message":{}}]}', '{"jsontide":1,"system":5}'),
        ],
    )
    def test_refuses_json_that_it_has_not_written(self, text: str) -> None:
        with pytest.raises(ValueError, match="this is not a"):
            Conversation.from_json(text)

    @every_provider
    def test_an_unknown_provider_and_nothing_to_say(self, provider: str) -> None:
        with pytest.raises(ValueError, match="provider must be one of"):
            Conversation().to_request("nobody")
        request = Conversation().to_request(provider)
        assert list(request.values()) == [[]]


class TestAgents:
    @every_provider
    def test_ask_with_the_whole_request(self, provider: str) -> None:
        requests = []

        def ask(request: Request) -> list[Event]:
            requests.append(request.to_request(provider))
            return [{"message": {"content": "Hi"}, "done": True, "done_reason": "stop"}]

        schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
        conversation = Conversation("Be brief.", [UserMessage(["Hi", IMAGE])])
        tools = [] if provider == "cohere" else [Tool.from_function(draw_chart)]
        run_agent(ask, conversation, tools=tools, response_schema=schema).final()
        assert requests == [conversation.to_request(provider, tools=tools, response_schema=schema)]

    def test_messages_never_lose_the_system_text(self) -> None:
        request = Request(Conversation("Be brief.", ["Hi"]), Run())
        assert request.messages("ollama")[0]["role"] == "system"
        with pytest.raises(ValueError, match=r"anthropic takes the system text as system: use request.to_request"):
            request.messages("anthropic")
        assert request.to_request("anthropic")["system"] == "Be brief."

    def test_items_of_the_provider_stand_before_the_run(self) -> None:
        request = Request([{"role": "user", "content": "Hi"}], Run((Step(Message((TextPart("Hello"),))),)))
        assert request.to_request("ollama") == {"messages": request.messages("ollama")}
        assert [item["role"] for item in request.messages("ollama")] == ["user", "assistant"]

    def test_a_conversation_goes_on_with_what_was_run(self) -> None:
        def ask(request: Request) -> list[Event]:
            said = len(request.messages("ollama"))
            return [{"message": {"content": f"{said} messages"}, "done": True, "done_reason": "stop"}]

        conversation = Conversation("Be brief.", ["One"])
        for question in ("Two", "Three"):
            conversation = conversation.add(run_agent(ask, conversation).final(), question)
        assert run_agent(ask, conversation).final().content == "6 messages"

    def test_other_things_are_refused(self) -> None:
        for agent in (run_agent, arun_agent):
            with pytest.raises(TypeError, match="conversation must be a str, a Conversation or a list"):
                agent(lambda _: [], 5)  # type: ignore[arg-type]
