"""Chat completions of OpenAI and of the servers that speak them: the parts of a message beside its calls, and usage."""

import json
from typing import Any

import pytest

from jsontide.messages import File, Other, ReasoningPart, TextPart, Usage
from tests.providers.block_streams import Event, last, only, states
from tests.providers.chat_events import chunk, kinds, whole

FOUND: Event = {
    "type": "url_citation",
    "url_citation": {
        "start_index": 0,
        "end_index": 4,
        "url": "https://rome.it",
        "title": "Rome",
        "content": "Roma",
    },
}


class TestReasoning:
    def test_a_signature_that_comes_before_any_thinking(self) -> None:
        message = last(chunk(content=[{"type": "thinking", "thinking": [], "signature": "sig"}]), chunk("stop"))
        assert [part.signature for part in message.parts if isinstance(part, ReasoningPart)] == ["sig"]

    def test_reasoning_beside_blocks_without_text_counts(self) -> None:
        hidden = {"type": "reasoning.encrypted", "data": "gAAA"}
        assert last(chunk(reasoning="Hm.", reasoning_details=[hidden]), chunk("stop")).reasoning == "Hm."

    @pytest.mark.parametrize("strange", [5, {"text": "x"}, [None], ["x"], [5]])
    def test_what_is_no_text_and_no_block_is_kept(self, strange: Any) -> None:
        message = last(chunk(reasoning=strange, content="a"), chunk(reasoning_details=strange), chunk("stop"))
        assert message.content == "a"
        assert message.metadata["reasoning"] == strange


class TestCitations:
    def test_may_come_before_the_text_and_again(self) -> None:
        message = last(chunk(annotations=[FOUND], content="Rome"), chunk(annotations=[FOUND]), chunk("stop"))
        (part,) = message.parts
        assert isinstance(part, TextPart)
        assert len(part.citations) == 1
        early = last(chunk(annotations=[FOUND]), chunk(content="Rome"), chunk("stop"))
        assert early.parts == message.parts
        assert last(whole(content="Rome", annotations=[FOUND])).parts == message.parts

    def test_an_annotation_of_another_kind_is_a_part(self) -> None:
        file = {"type": "file", "file": {"hash": "x", "name": "a.pdf", "content": []}}
        message = last(chunk(content="Hi"), chunk(annotations=[file]), chunk("stop"))
        assert [part.raw for part in message.parts if isinstance(part, Other)] == [file]
        assert last(chunk(content="Hi", annotations={"a": 1}), chunk("stop")).metadata == {"annotations": {"a": 1}}

    def test_sources_are_noted_once_and_get_titles_when_they_are_known(self) -> None:
        urls = ["https://a.org", "https://b.org"]
        results = [{"url": url, "title": url[8], "date": "2026-01-01"} for url in (*urls, "https://c.org")]
        events = [{**chunk(content=str(at)), "citations": urls} for at in range(3)]
        message = last(*events, {**chunk(content="!"), "citations": urls, "search_results": results}, chunk("stop"))
        assert kinds(message) == ["Source", "Source", "TextPart", "Source"]
        assert [(source.url, source.title) for source in message.sources] == [
            ("https://a.org", "a"),
            ("https://b.org", "b"),
            ("https://c.org", "c"),
        ]
        assert message.content == "012!"
        assert message.sources[0].extra == {"date": "2026-01-01"}
        assert message.metadata == {}
        found = [state.message for state in states(events)]
        assert all(message.parts[0] is found[1].parts[0] for message in found[1:])

    def test_a_source_in_the_middle_of_a_text_does_not_split_it(self) -> None:
        message = last(chunk(content="a"), {**chunk(content="b"), "citations": ["https://a.org"]}, chunk("stop"))
        assert kinds(message) == ["TextPart", "Source"]
        assert message.content == "ab"
        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}}
        more = [chunk(tool_calls=[call]), chunk(content="c")]
        message = last(chunk(content="a"), {**chunk(), "citations": ["https://a.org"]}, *more, chunk("stop"))
        assert kinds(message) == ["TextPart", "Source", "CompleteCall", "TextPart"]
        assert [part.is_open for part in states([chunk(content="a"), *more])[-1].message.parts[:1]] == [False]

    @pytest.mark.parametrize("strange", ["https://a.org", 5, [5], [{"no": "url"}], {"a": 1}])
    def test_sources_without_an_address_are_kept_as_they_are(self, strange: Any) -> None:
        message = last({**chunk(content="a"), "citations": strange}, chunk("stop"))
        assert (kinds(message), message.metadata) == (["TextPart"], {"citations": strange})


class TestFiles:
    def test_pieces_of_audio_that_are_no_base64_are_joined_as_they_are(self) -> None:
        part = only(last(chunk(audio={"data": "a==="}), chunk(audio={"data": "b"}), chunk("stop")))
        assert isinstance(part, File)
        assert part.data == "a===b"


class TestUsage:
    def test_the_last_total_counts(self) -> None:
        usages = [{"prompt_tokens": 3, "completion_tokens": at, "total_tokens": 3 + at} for at in (1, 2, 9)]
        message = last(*({**chunk(content="a"), "usage": usage} for usage in usages), {**chunk("stop"), "usage": {}})
        assert message.usage == Usage(input_tokens=3, output_tokens=9, total_tokens=12, raw=usages[-1])

    def test_that_of_the_message_counts_more_than_that_of_its_choice(self) -> None:
        usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
        told, more = chunk("stop", content="a"), {**usage, "completion_tokens": 5}
        told["choices"][0]["usage"] = usage
        found = last({**told, "usage": more}).usage
        assert found == Usage(input_tokens=3, output_tokens=5, total_tokens=7, raw=more)

    @pytest.mark.parametrize(
        ("usage", "output", "reasoning"),
        [
            ({"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 354}, 342, 340),  # xAI
            ({"prompt_tokens": 12, "completion_tokens": 350, "total_tokens": 362}, 350, 340),
            ({"prompt_tokens": 12, "completion_tokens": 350}, 350, 340),
        ],
    )
    def test_reasoning_is_part_of_the_output(self, usage: Event, output: int, reasoning: int) -> None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
        found = last({**chunk("stop", content="a"), "usage": usage}).usage
        assert found is not None
        assert (found.output_tokens, found.reasoning_tokens, found.raw) == (output, reasoning, usage)

    @pytest.mark.parametrize(
        ("usage", "cached", "written"),
        [
            ({"prompt_cache_hit_tokens": 320, "prompt_cache_miss_tokens": 19}, 320, None),
            ({"cached_tokens": 5}, 5, None),
            ({"prompt_tokens_details": {"cached_tokens": 0}, "cached_tokens": 5}, 0, None),
            ({"prompt_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 8}}, 7, 8),
            ({"prompt_tokens_details": {"cache_creation_input_tokens": 9}}, None, 9),
        ],
    )
    def test_of_caches(self, usage: Event, cached: int | None, written: int | None) -> None:
        found = last({**chunk("stop", content="a"), "usage": usage}).usage
        assert found is not None
        assert (found.cached_tokens, found.cache_write_tokens) == (cached, written)


class TestTheRest:
    def test_fields_that_nobody_knows_are_kept(self) -> None:
        first = chunk(content="a", channel="final", videos=[1])
        first["choices"][0].update(native_finish_reason="x", message={"content": "a"})
        message = last(
            {**first, "videos": ["v"]}, chunk(videos=[2]), {"type": "new", "x": 1}, {"type": "ping"}, chunk("stop")
        )
        assert message.metadata == {
            "videos": ["v", 1, 2],
            "native_finish_reason": "x",
            "channel": "final",
            "events": [{"type": "new", "x": 1}],
        }

    @pytest.mark.parametrize("name", ["reasoning", "reasoning_content", "refusal"])
    def test_a_text_that_repeats_what_is_no_content_is_not_shown_as_content(self, name: str) -> None:
        message = last({"choices": [{"index": 0, "text": "Hm", "delta": {name: "Hm"}}]})
        assert (message.content, message.reasoning or message.refusal) == ("", "Hm")

    @pytest.mark.parametrize("value", [[{"city": "Rome"}, {"city": "Bari"}], [1, 2], {"city": "Rome"}], ids=str)
    def test_content_that_is_structured_output_is_its_text(self, value: Any) -> None:
        told = {"choices": [{"index": 0, "message": {"content": value}, "finish_reason": "stop"}]}
        assert json.loads(last(told).content) == value

    def test_content_that_is_neither_text_nor_parts_is_kept(self) -> None:
        assert last(chunk(content=1.5), chunk("stop")).metadata == {"content": 1.5}

    def test_a_whole_completion_keeps_everything(self) -> None:
        message = last(
            {
                **whole("tool_calls", content="Hi", refusal=None, reasoning_content="Hm.", parsed={"a": 1}, x=1),
                "service_tier": "flex",
                "system_fingerprint": None,
            }
        )
        assert kinds(message) == ["ReasoningPart", "TextPart"]
        assert message.usage == Usage(
            input_tokens=1,
            output_tokens=2,
            total_tokens=3,
            raw={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        )
        assert (message.id, message.created, message.metadata) == ("chatcmpl-1", 5, {"service_tier": "flex", "x": 1})

    def test_structured_output_beside_sources(self) -> None:
        events = [{**chunk(content=piece), "citations": ["https://a.org"]} for piece in ('{"a"', ": 1}")]
        message = last(*events, chunk("stop"), response_schema={"type": "object"})
        assert message.answer == {"a": 1}
