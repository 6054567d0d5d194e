"""One conversation in the words of four providers: thinking with a signature, a call, then the answer.

In: whether the result of the call is in the request. Out: the events of the turn, as the provider's documentation has
them.
"""

from typing import Any

Event = dict[str, Any]

THOUGHT = "They want the weather."
SIGNATURE = "c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg=="
SECRET = "ZW5jcnlwdGVk"  # noqa: S105 - what is encrypted
SAID = "Let me look."
PIECES = ['{"city": ', '"Kyō', 'to 𝄞"}']
ARGUMENTS = {"city": "Kyōto 𝄞"}
RESULT = "21 degrees"
ANSWER = ["It is 21 ", "degrees."]


def chat(*, is_answer: bool) -> list[Event]:
    def chunk(reason: str | None = None, **delta: Any) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    def grow(piece: str, **more: Any) -> Event:
        function = {"arguments": piece, **more.pop("function", {})}
        return chunk(tool_calls=[{"index": 0, "function": function, **more}])

    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    last = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    if is_answer:
        return [*(chunk(content=piece) for piece in ANSWER), chunk("stop"), {**last, "usage": usage}]
    return [
        chunk(role="assistant", content=""),
        chunk(reasoning_content=THOUGHT),
        chunk(content=SAID),
        grow("", id="call_1", type="function", function={"name": "get_weather"}),
        *map(grow, PIECES),
        chunk("tool_calls"),
        {**last, "usage": usage},
    ]


def responses(*, is_answer: bool) -> list[Event]:
    response: Event = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    told: list[Event] = [{"type": "response.created", "response": response}]
    output: list[Event] = []

    def add(item: Event, done: Event, *between: Event) -> None:
        at = len(output)
        told.append(
            {"type": "response.output_item.added", "output_index": at, "item": {**item, "status": "in_progress"}}
        )
        told.extend({**event, "output_index": at, "item_id": item["id"]} for event in between)
        output.append({**item, **done, "status": "completed"})
        told.append({"type": "response.output_item.done", "output_index": at, "item": output[-1]})

    if is_answer:
        part = {"type": "output_text", "text": "".join(ANSWER), "annotations": [], "logprobs": []}
        deltas = [
            {"type": "response.output_text.delta", "content_index": 0, "delta": piece, "logprobs": []}
            for piece in ANSWER
        ]
        add({"type": "message", "id": "msg_2", "role": "assistant", "content": []}, {"content": [part]}, *deltas)
    else:
        summary = [{"type": "summary_text", "text": THOUGHT}]
        thought = {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": THOUGHT}
        add(
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"summary": summary, "encrypted_content": SECRET},
            {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": {**summary[0], "text": ""}},
            thought,
        )
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": ""}
        grown = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in PIECES]
        add(call, {"arguments": "".join(PIECES)}, *grown)
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 2}}
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, **details}
    ended = {**response, "status": "completed", "output": output, "usage": usage}
    told.append({"type": "response.completed", "response": ended})
    return [{**event, "sequence_number": at} for at, event in enumerate(told)]


def anthropic(*, is_answer: bool) -> list[Event]:
    start: Event = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    told: list[Event] = [{"type": "message_start", "message": start}]
    blocks: list[tuple[Event, list[Event]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": THOUGHT},
                {"type": "signature_delta", "signature": SIGNATURE},
            ],
        ),
        ({"type": "redacted_thinking", "data": SECRET}, []),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": SAID}]),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}},
            [{"type": "input_json_delta", "partial_json": piece} for piece in PIECES],
        ),
    ]
    if is_answer:
        blocks = [({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in ANSWER])]
    for at, (block, deltas) in enumerate(blocks):
        told.append({"type": "content_block_start", "index": at, "content_block": block})
        told += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
        told.append({"type": "content_block_stop", "index": at})
    ended = {"stop_reason": "end_turn" if is_answer else "tool_use", "stop_sequence": None}
    told.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 4}})
    return [*told, {"type": "message_stop"}]


def gemini(*, is_answer: bool) -> list[Event]:
    parts: list[Event] = [{"text": piece} for piece in ANSWER]
    if not is_answer:
        call = {"name": "get_weather", "args": ARGUMENTS}
        parts = [
            {"text": THOUGHT, "thought": True},
            {"text": SAID},
            {"functionCall": call, "thoughtSignature": SIGNATURE},
        ]
    told: list[Event] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}], "responseId": "r1"}
        for part in parts
    ]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 2, "totalTokenCount": 13}
    end = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
    return [*told, {"candidates": [end], "usageMetadata": usage, "responseId": "r1", "modelVersion": "m"}]
