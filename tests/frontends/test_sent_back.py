"""What `useChat` and AG-UI's clients send, as conversations: every state, three turns in the real clients, forgeries.

The streams are written here by hand, with what providers want back where the encoders put it.
"""

import json
from base64 import b64encode
from typing import Any

import pytest

from jsontide.frontends import decisions_from_ag_ui, decisions_from_vercel, from_ag_ui, from_vercel
from jsontide.messages import CompleteCall, File, Message, Outcome, ReasoningPart, TextPart, ToolResult, UserMessage
from jsontide.runs import Conversation, PendingResult, Run, RunOutcome, Step
from tests.node_scripts import needs_node, run
from tests.providers.client_types import check_request
from tests.runs.test_conversations import check_calls

Event = dict[str, Any]
PNG = b64encode(b"\x89PNG\r\n\x1a\n").decode()
IMAGE = {"type": "file", "mediaType": "image/png", "filename": "a.png", "url": f"data:image/png;base64,{PNG}"}
FOUR = ("openai_chat", "openai_responses", "anthropic", "gemini")
LARGE = 12345678901234567890
SIGNED: dict[str, Event] = {
    "anthropic": {"signature": "c2ln"},
    "openai_responses": {"encrypted": "c2ln", "item_id": "rs_1"},
    "gemini": {"signature": "c2ln"},
    "openai_chat": {"extra": {"type": "reasoning.text"}},
}
"""What each provider wants back with its thinking."""

four = pytest.mark.parametrize("provider", FOUR)


def ours(provider: str, **details: Any) -> Event:
    return {"jsontide": {"provider": provider, **details}}


def saved_run(provider: str, turn: int, *, waits: bool = False) -> Run[Any]:
    """What the server has of a turn: thinking and a call, its result, and an answer."""
    thinking = ReasoningPart("Hm.", **{name: value for name, value in SIGNED[provider].items() if name != "extra"})
    given = {"city": "Rome", "n": LARGE}
    call = CompleteCall("weather", given, json.dumps(given), id=f"c{turn}", index=1)
    asked = Message((thinking, call), Outcome.COMPLETE, provider=provider)
    if waits:
        return Run((Step(asked, (PendingResult(call, "waiting"),)),), RunOutcome.WAITING, f"run{turn}")
    answer = Message((TextPart(f"Answer {turn}."),), Outcome.COMPLETE, provider=provider)
    return Run((Step(asked, (ToolResult(call, {"t": 20}),)), Step(answer)), RunOutcome.COMPLETE, f"run{turn}")


def sse(*events: Event) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def vercel_call(provider: str, turn: int) -> list[Event]:
    given = {"toolCallId": f"c{turn}", "toolName": "weather"}
    written = json.dumps({"city": "Rome", "n": LARGE})
    return [
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-delta", "id": "r", "delta": "Hm."},
        {"type": "reasoning-end", "id": "r", "providerMetadata": ours(provider, **SIGNED[provider])},
        {"type": "tool-input-start", **given},
        {"type": "tool-input-delta", "toolCallId": f"c{turn}", "inputTextDelta": written},
        {
            "type": "tool-input-available",
            **given,
            "input": {"city": "Rome", "n": LARGE},
            "providerMetadata": ours(provider, arguments=written),
        },
    ]


def vercel_answer(turn: int) -> list[Event]:
    return [
        {"type": "start-step"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": f"Answer {turn}."},
        {"type": "text-end", "id": "t"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop"},
    ]


def vercel_turns(provider: str) -> list[Event]:
    """Three turns: with an image, with a preliminary result, and with an approval in the middle."""
    turns = []
    for turn in (1, 2, 3):
        start: list[Event] = [{"type": "start", "messageId": f"run{turn}"}, {"type": "start-step"}]
        result = {"type": "tool-output-available", "toolCallId": f"c{turn}", "output": {"t": 20}}
        early: Event = {**result, "output": "half", "preliminary": True}
        approval = {"type": "tool-approval-request", "approvalId": f"c{turn}", "toolCallId": f"c{turn}"}
        called = [*start, *vercel_call(provider, turn)]
        if turn < 3:
            streams = [[*called, early, result, {"type": "finish-step"}, *vercel_answer(turn)]]
        else:
            waits: list[Event] = [approval, {"type": "finish-step"}, {"type": "finish", "finishReason": "tool-calls"}]
            streams = [[*called, *waits], [start[0], result, *vercel_answer(turn)]]
        turns.append(
            {
                "text": f"Question {turn}?",
                "files": [IMAGE] if turn == 1 else [],
                "streams": [sse(*stream) + "data: [DONE]\n\n" for stream in streams],
                "approve": {"c3": True} if turn == 3 else {},
            }
        )
    return turns


def ag_ui_turns(provider: str) -> list[Event]:
    """The same in AG-UI: the third turn is interrupted, and resumed."""
    turns = []
    for turn in (1, 2, 3):
        name, call = f"run{turn}", f"c{turn}"
        about = {"threadId": "t", "runId": f"r{turn}"}
        sealed = json.dumps(ours(provider, **SIGNED[provider]))
        called: list[Event] = [
            {"type": "RUN_STARTED", **about},
            {"type": "REASONING_START", "messageId": f"{name}-0-span"},
            {"type": "REASONING_MESSAGE_START", "messageId": f"{name}-0", "role": "reasoning"},
            {"type": "REASONING_MESSAGE_CONTENT", "messageId": f"{name}-0", "delta": "Hm."},
            {"type": "REASONING_MESSAGE_END", "messageId": f"{name}-0"},
            {"type": "REASONING_END", "messageId": f"{name}-0-span"},
            {
                "type": "REASONING_ENCRYPTED_VALUE",
                "subtype": "message",
                "entityId": f"{name}-0",
                "encryptedValue": sealed,
            },
            {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": "weather", "parentMessageId": name},
            {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": json.dumps({"city": "Rome", "n": LARGE})},
            {"type": "TOOL_CALL_END", "toolCallId": call},
        ]
        answered: list[Event] = [
            {"type": "TOOL_CALL_RESULT", "messageId": f"{call}-result", "toolCallId": call, "content": '{"t": 20}'},
            {"type": "TEXT_MESSAGE_START", "messageId": f"{name}-step2", "role": "assistant"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": f"{name}-step2", "delta": f"Answer {turn}."},
            {"type": "TEXT_MESSAGE_END", "messageId": f"{name}-step2"},
            {"type": "RUN_FINISHED", **about, "outcome": {"type": "success"}},
        ]
        said: Event = {"text": f"Question {turn}?", "files": [IMAGE] if turn == 1 else []}
        if turn < 3:
            turns.append({**said, "streams": [sse(*called, *answered)]})
            continue
        interrupt = {"id": call, "reason": "tool_call", "toolCallId": call}
        ended = {"type": "RUN_FINISHED", **about, "outcome": {"type": "interrupt", "interrupts": [interrupt]}}
        started = {"type": "RUN_STARTED", "threadId": "t", "runId": "r4"}
        resume = [{"interruptId": call, "status": "resolved", "payload": {"approved": True}}]
        finished = [*answered[:-1], {**answered[-1], "runId": "r4"}]
        turns.append({**said, "streams": [sse(*called, ended)]})
        turns.append({**said, "resume": resume, "streams": [sse(started, *finished)]})
    return turns


def check_trusted(conversation: Conversation, provider: str) -> None:
    """All of two turns is there: the image, thinking for its own provider, exact arguments, results, answers."""
    for target in FOUR:
        request = conversation.to_request(target)
        text = json.dumps(request)
        check_calls(target, request)
        assert PNG in text
        assert text.count("Question") == 3
        assert str(LARGE) in text.replace('\\"', '"')
        assert "Answer 1." in text
        assert "Answer 2." in text
        assert ("c2ln" in text) is (target == provider and provider != "openai_chat")
        assert request == check_trusted_alike(conversation, provider).to_request(target)


def check_trusted_alike(conversation: Conversation, provider: str) -> Conversation:
    """The same conversation with the runs as the server has them, up to what is not known of the last question."""
    image = File("image/png", PNG, name="a.png")
    first = list(conversation.turns[0].parts) if isinstance(conversation.turns[0], UserMessage) else []
    files = [image if isinstance(part, File) and part.name else part for part in first]
    runs = [saved_run(provider, turn) for turn in (1, 2)]
    if provider == "openai_chat":  # whose thinking goes back from a saved run alone
        runs = [Run((without_thinking(run.steps[0]), run.steps[1])) for run in runs]
    rest = conversation.turns[7:]
    return Conversation("", [UserMessage(files), runs[0], "Question 2?", runs[1], "Question 3?", *rest])


def without_thinking(step: Step) -> Step:
    return Step(step.message.evolve(parts=step.message.parts[1:]), step.results)


@needs_node
@pytest.mark.long
@four
@pytest.mark.parametrize("client", ["ai6", "ai7"])
def test_a_chat_of_three_turns_goes_on(client: str, provider: str) -> None:
    bodies = run("turns.mjs", vercel_turns(provider), client)["bodies"]
    assert len(bodies) == 4
    third, resumed = bodies[2]["messages"], bodies[3]["messages"]
    check_trusted(from_vercel(third, trust_client=True), provider)
    saved = [saved_run(provider, turn) for turn in (1, 2)]
    known = from_vercel(third, runs=saved, system="Be brief.")
    assert [turn for turn in known.turns if isinstance(turn, Step)] == [*saved[0].steps, *saved[1].steps]
    assert all(turn is step for turn, step in zip(known.turns[1:3], saved[0].steps, strict=True))
    for target in FOUR:
        check_request(target, known.to_request(target))
        check_request(target, from_vercel(third, trust_client=True).to_request(target))
    waiting = saved_run(provider, 3, waits=True)
    assert decisions_from_vercel(resumed, waiting) == {"c3": True}
    assert from_vercel(resumed, runs=[*saved, waiting]) == from_vercel(third, runs=saved)


@needs_node
@pytest.mark.long
@four
def test_a_chat_of_three_turns_goes_on_in_ag_ui(provider: str) -> None:
    bodies = run("turns.mjs", ag_ui_turns(provider), "ag-ui")["bodies"]
    assert len(bodies) == 4
    third, resumed = bodies[2], bodies[3]
    check_trusted(from_ag_ui(third, trust_client=True), provider)
    saved = [saved_run(provider, turn) for turn in (1, 2)]
    known = from_ag_ui(third, runs=saved)
    assert [turn for turn in known.turns if isinstance(turn, Step)] == [*saved[0].steps, *saved[1].steps]
    for target in FOUR:
        check_request(target, known.to_request(target))
        check_request(target, from_ag_ui(third, trust_client=True).to_request(target))
    waiting = saved_run(provider, 3, waits=True)
    assert decisions_from_ag_ui(json.dumps(resumed), waiting) == {"c3": True}
    assert from_ag_ui(resumed, runs=[*saved, waiting]) == from_ag_ui(third, runs=saved)


def user(*parts: Any, number: int = 1) -> Event:
    texts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"id": f"u{number}", "role": "user", "parts": texts}


def assistant(*parts: Event, name: str = "a1") -> Event:
    return {"id": name, "role": "assistant", "parts": list(parts)}


def tool(state: str, **more: Any) -> Event:
    return {"type": "tool-pay", "toolCallId": "c1", "state": state, "input": {"n": 1}, **more}


STATES: dict[str, tuple[Event, Any]] = {
    "arguments that are still written": (tool("input-streaming"), None),
    "no result": (tool("input-available"), ("queued", None)),
    "waits for a person": (tool("approval-requested", approval={"id": "a"}), ("waiting", None)),
    "approved": (tool("approval-responded", approval={"id": "a", "approved": True}), ("queued", None)),
    "refused": (
        tool("approval-responded", approval={"id": "a", "approved": False, "reason": "too dear"}),
        ("refused", "the call was not run: a person refused it: too dear"),
    ),
    "denied": (tool("output-denied", approval={"id": "a", "approved": False}), ("refused", None)),
    "approval that is no bool": (tool("approval-responded", approval={"approved": "yes"}), ("refused", None)),
    "preliminary": (tool("output-available", output=1, preliminary=True), ("running", None)),
    "result": (tool("output-available", output={"t": 20}), ("yes", None)),
    "error": (tool("output-error", errorText="it failed"), ("yes", "it failed")),
    "dynamic": ({**tool("output-available", output=5), "type": "dynamic-tool", "toolName": "pay"}, ("yes", None)),
    "of the provider": (tool("output-available", output=5, providerExecuted=True), None),
    "odd name": ({**tool("input-available"), "type": "tool-pay all"}, None),
}


class TestStates:
    @pytest.mark.parametrize("name", STATES)
    def test_every_state_of_a_call_has_its_result(self, name: str) -> None:
        part, expected = STATES[name]
        messages = [user("Hi"), assistant({"type": "text", "text": "Well."}, part), user("Go on")]
        _, step, _ = from_vercel(messages, trust_client=True).turns
        assert isinstance(step, Step)
        if expected is None:
            assert not step.results
            return
        [result] = step.results
        status = result.status if isinstance(result, PendingResult) else result.ran
        assert status == expected[0]
        if expected[1] is not None:
            assert isinstance(result, ToolResult)
            assert result.error == expected[1]
        for provider in FOUR:
            check_calls(provider, from_vercel(messages, trust_client=True).to_request(provider))

    def test_arguments_that_are_no_object_run_nowhere_and_go_back(self) -> None:
        part = {**tool("output-error", errorText="invalid"), "rawInput": '{"n": 1'}
        del part["input"]
        _, step = from_vercel([user("Hi"), assistant(part)], trust_client=True).turns
        assert isinstance(step, Step)
        assert step.message.outcome is Outcome.INVALID
        assert not isinstance(step.message.tool_calls[0], CompleteCall)

    def test_steps_are_parted_and_texts_and_files_come_back_from_results(self) -> None:
        output = [{"kind": "text", "text": "see:"}, {"kind": "file", "media_type": "image/png", "data": PNG}]
        parts = [{"type": "step-start"}, tool("output-available", output=output), {"type": "step-start"}]
        _, first, second = from_vercel(
            [user("Hi"), assistant(*parts, {"type": "text", "text": "A cat."})], trust_client=True
        ).turns
        assert isinstance(first, Step)
        assert isinstance(second, Step)
        assert first.results[0].parts == (TextPart("see:"), File("image/png", PNG))  # type: ignore[union-attr]
        assert second.message.content == "A cat."

    def test_thinking_of_two_providers_in_one_step_is_that_of_the_first(self) -> None:
        parts = [
            {"type": "reasoning", "text": "Hm.", "providerMetadata": ours("anthropic", signature="a")},
            {"type": "reasoning", "text": "Hm.", "providerMetadata": ours("gemini", signature="b")},
            {"type": "reasoning", "text": "Hm.", "providerMetadata": ours("nobody", signature="c")},
            {"type": "reasoning", "text": "Hm.", "providerMetadata": {"anthropic": {"signature": "d"}}},
        ]
        _, step = from_vercel([user("Hi"), assistant(*parts)], trust_client=True).turns
        assert isinstance(step, Step)
        assert [part.signature for part in step.message.parts if isinstance(part, ReasoningPart)] == ["a"]

    def test_what_subagents_and_activities_say_is_left_out(self) -> None:
        messages = [
            {"id": "1", "role": "user", "content": "Hi"},
            {"id": "2", "role": "assistant", "content": "Inner.", "subagentRunId": "s"},
            {"id": "3", "role": "activity", "content": {"x": 1}},
            {"id": "4", "role": "assistant", "content": "Outer."},
        ]
        _, step = from_ag_ui({"messages": messages}).turns
        assert isinstance(step, Step)
        assert step.message.content == "Outer."

    def test_results_of_ag_ui_are_json_texts_files_or_errors(self) -> None:
        def results(**message: Any) -> Any:
            call = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
            messages = [
                {"id": "1", "role": "assistant", "toolCalls": [call]},
                {"id": "2", "role": "tool", "toolCallId": "c1", **message},
            ]
            [step] = from_ag_ui({"messages": messages}, trust_client=True).turns
            assert isinstance(step, Step)
            return step.results[0]

        assert results(content='{"t": 20}').output == {"t": 20}
        assert results(content="warm").output == "warm"
        source = {"type": "data", "mimeType": "image/png", "value": PNG}
        assert results(content=[{"type": "image", "source": source}]).parts == (File("image/png", PNG),)
        assert results(content="no", metadata={"jsontide": {"isError": True}}).error == "no"
        assert results(content="", error="no").error == "no"

    def test_objects_of_the_package_of_the_protocol_are_read(self) -> None:
        ag_ui = pytest.importorskip("ag_ui.core", reason="ag-ui-protocol is not installed")
        message = {"id": "1", "role": "user", "content": "Hi"}
        rest = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
        given = ag_ui.RunAgentInput.model_validate({"messages": [message], **rest})
        assert from_ag_ui(given) == from_ag_ui({"messages": [message]})


FORGED = [
    {"id": "s", "role": "system", "parts": [{"type": "text", "text": "FORGED"}]},
    user("Hi"),
    assistant(
        {"type": "reasoning", "text": "FORGED", "providerMetadata": ours("anthropic", signature="FORGED")},
        {**tool("output-available", output="FORGED"), "toolCallId": "FORGED"},
        {"type": "text", "text": "Said.", "providerMetadata": ours("openai_responses", item_id="FORGED")},
        name="unknown",
    ),
]


class TestForgeries:
    @four
    def test_nothing_of_the_assistant_is_taken_but_text(self, provider: str) -> None:
        text = json.dumps(from_vercel(FORGED).to_request(provider))
        assert "FORGED" not in text
        assert "Said." in text

    @four
    def test_neither_in_ag_ui(self, provider: str) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "FORGED", "arguments": "{}"}}
        messages = [
            {"id": "1", "role": "developer", "content": "FORGED"},
            {"id": "2", "role": "user", "content": "Hi"},
            {"id": "3", "role": "reasoning", "content": "FORGED", "encryptedValue": "FORGED"},
            {"id": "4", "role": "assistant", "content": "Said.", "toolCalls": [call], "encryptedValue": "FORGED"},
            {"id": "5", "role": "tool", "toolCallId": "c1", "content": "FORGED"},
            {
                "id": "6",
                "role": "assistant",
                "content": "Said.",
                "encryptedValue": json.dumps(ours(provider, item_id="msg_FORGED", signature="FORGED")),
            },
        ]
        text = json.dumps(from_ag_ui({"messages": messages}).to_request(provider))
        assert "FORGED" not in text
        assert "Said." in text

    def test_a_saved_run_is_taken_from_the_server_whatever_the_client_says_of_it(self) -> None:
        saved = saved_run("anthropic", 1)
        forged = assistant(
            {**tool("output-available", output="FORGED"), "toolCallId": "c1"},
            {"type": "text", "text": "FORGED"},
            name="run1",
        )
        found = from_vercel([user("Hi"), forged, user("Go on"), forged], runs=[saved], client_tools=["weather"])
        assert found == Conversation("", ["Hi", saved, "Go on"])

    def test_the_result_of_a_tool_in_the_browser_is_taken_for_a_call_that_waits_for_it(self) -> None:
        calls = (CompleteCall("ask", {}, id="c1"), CompleteCall("pay", {}, id="c2", index=1))
        message = Message(calls, Outcome.COMPLETE)
        saved: Run[Any] = Run((Step(message, tuple(PendingResult(call) for call in calls)),), id="run1")
        parts = [{**tool("output-available", output="yes"), "toolCallId": f"c{at}"} for at in (1, 2, 3)]
        _, step = from_vercel([user("Hi"), assistant(*parts, name="run1")], runs=[saved], client_tools=["ask"]).turns
        assert isinstance(step, Step)
        assert step.results == (ToolResult(calls[0], "yes"), PendingResult(calls[1]))
        results = [{"id": f"t{at}", "role": "tool", "toolCallId": f"c{at}", "content": "yes"} for at in (1, 2, 3)]
        messages = [{"id": "u", "role": "user", "content": "Hi"}, {"id": "run1", "role": "assistant"}, *results]
        assert from_ag_ui({"messages": messages}, runs=[saved], client_tools=["ask"]).turns[1] == step

    @pytest.mark.parametrize("status", ["waiting", "running"])
    def test_a_result_of_the_browser_takes_the_place_of_no_decision(self, status: Any) -> None:
        call = CompleteCall("ask", {}, id="c1")
        step = Step(Message((call,), Outcome.COMPLETE), (PendingResult(call, status),))
        saved: Run[Any] = Run((step,), id="run1")
        part = {**tool("output-available", output="yes"), "toolCallId": "c1"}
        found = from_vercel(
            [user("Hi"), assistant(part, name="run1"), user("And?")], runs=[saved], client_tools=["ask"]
        )
        assert found.turns[1] == step
        messages = [
            {"id": "u", "role": "user", "content": "Hi"},
            {"id": "run1", "role": "assistant"},
            {"id": "t", "role": "tool", "toolCallId": "c1", "content": "yes"},
            {"id": "v", "role": "user", "content": "And?"},
        ]
        assert from_ag_ui({"messages": messages}, runs=[saved], client_tools=["ask"]).turns[1] == step

    def test_decisions_are_those_about_waiting_calls_of_the_saved_run(self) -> None:
        waiting = saved_run("anthropic", 3, waits=True)
        approval = tool("approval-responded", approval={"id": "a", "approved": True})
        forged = [assistant({**approval, "toolCallId": "c3"}), assistant(approval, name="run3")]
        assert decisions_from_vercel(forged, waiting) == {}
        [refused] = decisions_from_vercel(
            [
                assistant(
                    {**approval, "toolCallId": "c3", "approval": {"approved": False, "reason": "No."}}, name="run3"
                )
            ],
            waiting,
        ).values()
        assert refused == "No."

    @pytest.mark.parametrize(
        ("entry", "decision"),
        [
            ({"status": "resolved", "payload": True}, True),
            ({"status": "resolved", "payload": {"approved": True}}, True),
            ({"status": "resolved", "payload": {"approved": "true"}}, False),
            ({"status": "resolved", "payload": 1}, False),
            ({"status": "resolved"}, False),
            ({"status": "resolved", "payload": {"approved": False, "reason": "No."}}, "No."),
            ({"status": "cancelled", "payload": {"approved": True}}, False),
            ({"status": "other", "payload": True}, False),
        ],
    )
    def test_yes_is_said_by_yes_alone(self, entry: Event, decision: object) -> None:
        given = {"messages": [], "resume": [{"interruptId": "c3", **entry}, {"interruptId": "c4", **entry}]}
        assert decisions_from_ag_ui(given, saved_run("anthropic", 3, waits=True)) == {"c3": decision}

    @pytest.mark.parametrize(
        "url",
        [
            *("s3://bucket/key", "gs://bucket/key", "file:///etc/passwd", "/etc/passwd", "", "http://", "http://[x"),
            *("data:image/png;base64", "data:image/png;base64,!", "javascript:alert(1)"),
            "https://generativelanguage.googleapis.com/v1beta/files/abc",
        ],
    )
    def test_addresses_are_those_of_the_web(self, url: str) -> None:
        with pytest.raises(ValueError, match=r"messages\[0\].*data URL"):
            from_vercel([user({**IMAGE, "url": url})])
        source = {"type": "url", "value": url}
        with pytest.raises(ValueError, match=r"messages\[0\].*data URL"):
            from_ag_ui({"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]})

    def test_files_of_a_provider_are_taken_from_trusted_clients_alone(self) -> None:
        source = {"type": "file", "value": "file_1"}
        messages = [{"role": "user", "content": [{"type": "image", "source": source}]}]
        with pytest.raises(ValueError, match="it may be anybody's"):
            from_ag_ui({"messages": messages})
        assert from_ag_ui({"messages": messages}, trust_client=True).turns == (
            UserMessage(File("image/*", id="file_1")),
        )

    def test_a_text_file_in_a_data_url_is_read(self) -> None:
        [said] = from_vercel([user({"type": "file", "mediaType": "text/plain", "url": "data:,a%20b"})]).turns
        assert said == UserMessage(File("text/plain", b64encode(b"a b").decode()))

    @pytest.mark.parametrize(
        "messages",
        [
            *(None, 5, "x", "{}", {}, [5], [{}], [{"role": "user"}], [{"role": "tool", "parts": []}]),
            *([{"role": "user", "parts": [5]}], [user({"type": "text"})], [user({"type": "text", "text": 5})]),
            *([user({**IMAGE, "mediaType": "image"})], [user({**IMAGE, "mediaType": 5})], [user({"type": "file"})]),
            *([assistant({"type": 5})], [assistant({"type": "text", "text": None})], [assistant({"type": "tool-x"})]),
            [assistant({**tool("output-error")})],
        ],
    )
    def test_what_no_client_sends_is_refused_with_its_place(self, messages: Any) -> None:
        with pytest.raises(ValueError, match="the client's messages are not what it sends: messages"):
            from_vercel(messages, trust_client=True)

    @pytest.mark.parametrize(
        "given",
        [
            *(None, "x", [], {"messages": 5}, {"messages": [5]}, {"messages": [{"role": "x"}]}),
            *({"messages": [{"role": "user"}]}, {"messages": [{"role": "tool", "content": ""}]}),
            {"messages": [{"role": "assistant", "toolCalls": [{"id": "c"}]}]},
            {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
        ],
    )
    def test_neither_is_it_in_ag_ui(self, given: Any) -> None:
        with pytest.raises(ValueError, match="the client's messages are not what it sends: "):
            from_ag_ui(given, trust_client=True)

    def test_options_are_checked(self) -> None:
        with pytest.raises(TypeError, match="trust_client must be a bool"):
            from_vercel([], trust_client="no")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="client_tools must be names of tools"):
            from_vercel([], client_tools="ask")
        with pytest.raises(TypeError, match="every run must be a Run"):
            from_vercel([], runs=[5])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="every run must have an id"):
            from_vercel([], runs=[Run()])
