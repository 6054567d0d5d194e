"""Ollama's own chat endpoint: shapes that the streams of the contract do not have, and whole answers."""

import base64

from jsontide.messages import File, Outcome
from jsontide.providers import feed_stream, start_stream, to_request
from tests.providers.block_streams import Event, last, runnable
from tests.providers.chat_events import failure
from tests.providers.dialects import line

COUNTS = {"prompt_eval_count": 26, "eval_count": 298}
TIMES = {"total_duration": 5191566416, "load_duration": 2154458, "prompt_eval_duration": 1, "eval_duration": 4799921000}
END: Event = {**line(content="", done=True), "done_reason": "stop", **TIMES, **COUNTS}
CALLS = [
    {"id": f"call_{city}", "function": {"index": at, "name": "weather", "arguments": {"city": city}}}
    for at, city in enumerate(("Rome", "Oslo"))
]


class TestShapes:
    def test_a_call_without_arguments(self) -> None:
        calls = [{"function": {"name": "now", "arguments": {}}}, {"function": {"name": "now"}}]
        assert runnable(last(line(tool_calls=calls), line(done=True))) == [(None, "now", {})] * 2

    def test_images_go_back(self) -> None:
        message = last(line(content="", images=["iVBO"]), line(done=True))
        assert to_request(message)[0]["images"] == ["iVBO"]

    def test_one_call_that_is_no_json_does_not_take_the_next_one_with_it(self) -> None:
        calls = [{"function": {"name": "weather", "arguments": {"at": value}}} for value in (float("nan"), 1)]
        message = last(line(tool_calls=calls), line(done=True))
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID, Outcome.COMPLETE]

    def test_an_error_in_the_stream(self) -> None:
        message = last(line(content="Hi", tool_calls=CALLS), {"error": "model runner crashed"})
        assert (failure(message), runnable(message)) == ("model runner crashed", [])
        assert failure(last({**line(content="Hi"), "error": "out of memory"})) == "out of memory"
        assert last({**line(content="Hi"), "error": ""}, END).outcome is Outcome.COMPLETE

    def test_a_line_without_a_message_says_nothing_unless_it_is_the_last(self) -> None:
        begun = feed_stream(start_stream(), line(content="Hi"))
        assert feed_stream(begun, {"model": "m", "done": False}).message is begun.message
        assert last(line(content="Hi"), {"done": True}).outcome is Outcome.COMPLETE

    def test_images(self) -> None:
        message = last(line(content="", images=["iVBO", b"png"]), line(done=True))
        assert [part.data for part in message.parts if isinstance(part, File)] == [
            "iVBO",
            base64.b64encode(b"png").decode(),
        ]
