"""Chat completions of OpenAI and of the servers that speak them: the parts of a message beside its calls, and usage."""

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from jsontide.messages import File, Other, Outcome, ReasoningPart, Refusal, TextPart, Usage
from tests.providers.block_streams import Event, last, only, runnable, saved, states
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
    def test_content_in_parts_with_thinking(self) -> None:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
        message = last(chunk(content=[thinking, {"type": "text", "text": "Hi"}]), chunk("stop"))
        assert (message.content, message.reasoning) == ("Hi", "Hm.")

    def test_thinking_of_mistral_with_a_signature_in_pieces(self) -> None:
        def thinking(*inner: Event, **more: Any) -> Event:
            return chunk(content=[{"type": "thinking", "thinking": list(inner), **more}])

        reference = {"type": "reference", "reference_ids": [3]}
        message = last(
            thinking({"type": "text", "text": "Let me "}),
            thinking({"type": "text", "text": "see."}, reference),
            thinking(closed=True, signature="sig"),
            chunk(content=[{"type": "text", "text": "Hi"}]),
            chunk("stop"),
        )
        reasoning, text = message.parts
        assert isinstance(reasoning, ReasoningPart)
        assert (reasoning.text, reasoning.signature) == ("Let me see.", "sig")
        assert reasoning.extra == {"type": "thinking", "thinking": [reference], "closed": True}
        assert isinstance(text, TextPart)
        assert saved(message) == message

    def test_a_signature_that_comes_before_any_thinking(self) -> None:
        message = last(chunk(content=[{"type": "thinking", "thinking": [], "signature": "sig"}]), chunk("stop"))
        assert [part.signature for part in message.parts if isinstance(part, ReasoningPart)] == ["sig"]

    def test_two_fields_with_the_same_text_are_read_once(self) -> None:
        both = {"reasoning": "Hm.", "reasoning_content": "Hm."}
        assert last(chunk(**both), chunk(reasoning=" More."), chunk("stop")).reasoning == "Hm. More."

    def test_the_blocks_of_openrouter(self) -> None:
        def detail(**fields: Any) -> Event:
            return {"format": "anthropic-claude-v1", "index": 0, **fields}

        encrypted = {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "openai-v1", "index": 0}
        message = last(
            chunk(reasoning="Let ", reasoning_details=[detail(type="reasoning.text", text="Let ")]),
            chunk(reasoning="me see", reasoning_details=[detail(type="reasoning.text", text="me see")]),
            chunk(reasoning_details=[detail(type="reasoning.text", text=None, signature="sig")]),
            chunk(reasoning="So.", reasoning_details=[detail(type="reasoning.summary", summary="So.", index=1)]),
            chunk(reasoning_details=[encrypted, {"type": "reasoning.new", "x": 1}]),
            chunk(content="Hi"),
            chunk("stop"),
        )
        text, summary, hidden, unknown, answer = message.parts
        assert isinstance(text, ReasoningPart)
        assert (text.text, text.signature) == ("Let me see", "sig")
        assert text.extra == {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
        assert isinstance(summary, ReasoningPart)
        assert (summary.text, summary.extra["index"]) == ("So.", 1)
        assert isinstance(hidden, ReasoningPart)
        assert (hidden.encrypted, hidden.item_id, hidden.text) == ("gAAA", "rs_1", "")
        assert isinstance(unknown, Other)
        assert unknown.raw == {"type": "reasoning.new", "x": 1}
        assert isinstance(answer, TextPart)
        assert saved(message) == message

    def test_reasoning_beside_blocks_without_text_counts(self) -> None:
        hidden = {"type": "reasoning.encrypted", "data": "gAAA"}
        assert last(chunk(reasoning="Hm.", reasoning_details=[hidden]), chunk("stop")).reasoning == "Hm."

    @pytest.mark.parametrize("strange", [5, {"text": "x"}, [None], ["x"], [5]])
    def test_what_is_no_text_and_no_block_is_kept(self, strange: Any) -> None:
        message = last(chunk(reasoning=strange, content="a"), chunk(reasoning_details=strange), chunk("stop"))
        assert message.content == "a"
        assert message.metadata["reasoning"] == strange


class TestCitations:
    def test_are_of_the_text(self) -> None:
        message = last(chunk(content="Rome"), chunk(annotations=[FOUND]), chunk(content="."), chunk("stop"))
        part = only(message)
        assert isinstance(part, TextPart)
        (citation,) = part.citations
        assert (citation.url, citation.title, citation.cited_text) == ("https://rome.it", "Rome", "Roma")
        assert (citation.start, citation.end, citation.raw) == (0, 4, FOUND)
        assert part.text == "Rome."
        assert saved(message) == message

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

    def test_references_of_mistral_stand_where_they_belong(self) -> None:
        parts = [
            {"type": "text", "text": "Rome"},
            {"type": "reference", "reference_ids": [1]},
            {"type": "text", "text": " and Oslo"},
            {"type": "tool_reference", "tool": "web_search", "title": "Oslo", "url": "https://oslo.no"},
        ]
        message = last(chunk(content=parts), chunk("stop"))
        part = only(message)
        assert isinstance(part, TextPart)
        assert [(one.type, one.start, one.end, one.url) for one in part.citations] == [
            ("reference", 4, 4, None),
            ("tool_reference", 13, 13, "https://oslo.no"),
        ]
        assert part.citations[0].raw == parts[1]

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
    def test_audio_in_pieces(self) -> None:
        sound = [b"RIFF", b"12345", b"678"]
        pieces: list[Event] = [
            {"id": "audio_1", "transcript": "Hel"},
            *({"data": base64.b64encode(piece).decode()} for piece in sound),
            {"transcript": "lo", "expires_at": 1700000001},
        ]
        message = last(*(chunk(audio=piece) for piece in pieces), chunk("stop"))
        part = only(message)
        assert isinstance(part, File)
        assert base64.b64decode(part.data or "") == b"".join(sound)
        assert (part.id, part.media_type) == ("audio_1", "audio/*")
        assert part.extra == {"transcript": "Hello", "expires_at": 1700000001}
        complete = {"id": "audio_1", "transcript": "Hello", "expires_at": 1700000001, "data": part.data}
        assert last(whole(content=None, audio=complete)).parts == message.parts
        assert saved(message) == message

    def test_pieces_of_audio_that_are_no_base64_are_joined_as_they_are(self) -> None:
        part = only(last(chunk(audio={"data": "a==="}), chunk(audio={"data": "b"}), chunk("stop")))
        assert isinstance(part, File)
        assert part.data == "a===b"

    def test_images_are_data_or_an_address(self) -> None:
        images = [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO", "detail": "high"}, "index": 0},
            {"type": "image_url", "image_url": "https://a.org/b.png"},
            {"type": "new"},
        ]
        message = last(chunk(images=images), chunk("stop"))
        data, address, other = message.parts
        assert isinstance(data, File)
        assert isinstance(address, File)
        assert (data.media_type, data.data, data.url, data.extra) == (
            "image/png",
            "iVBO",
            None,
            {"index": 0, "detail": "high"},
        )
        assert (address.data, address.url) == (None, "https://a.org/b.png")
        assert isinstance(other, Other)
        parts = [images[1], {"type": "document_url", "document_url": "x"}]
        assert kinds(last(chunk(content=parts), chunk("stop"))) == ["File", "Other"]


class TestUsage:
    def test_the_last_total_counts(self) -> None:
        usages = [{"prompt_tokens": 3, "completion_tokens": at, "total_tokens": 3 + at} for at in (1, 2, 9)]
        message = last(*({**chunk(content="a"), "usage": usage} for usage in usages), {**chunk("stop"), "usage": {}})
        assert message.usage == Usage(input_tokens=3, output_tokens=9, total_tokens=12, raw=usages[-1])

    def test_is_found_where_servers_put_it(self) -> None:
        usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
        expected = Usage(input_tokens=3, output_tokens=4, total_tokens=7, raw=usage)
        groq = last(
            {**chunk(content="a"), "x_groq": {"id": "r", "seed": 1}},
            {**chunk("stop"), "x_groq": {"id": "r", "usage": usage}},
        )
        assert (groq.usage, groq.metadata) == (expected, {"x_groq": {"id": "r", "seed": 1}})
        moonshot = chunk("stop", content="a")
        moonshot["choices"][0]["usage"] = usage
        assert (last(moonshot).usage, last(moonshot).metadata) == (expected, {})
        assert last({**moonshot, "usage": {**usage, "completion_tokens": 5}}).usage == Usage(
            input_tokens=3, output_tokens=5, total_tokens=7, raw={**usage, "completion_tokens": 5}
        )

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
    def test_a_refusal(self) -> None:
        message = last(chunk(refusal="I can"), chunk(refusal="not."), chunk("stop"))
        assert (message.refusal, message.outcome) == ("I cannot.", Outcome.REFUSED)
        assert isinstance(only(message), Refusal)

    def test_fields_of_the_message(self) -> None:
        more = {"service_tier": "default", "system_fingerprint": "fp", "provider": "X", "moderation": {"input": {}}}
        message = last({**chunk(content="Hi"), **more, "obfuscation": "abc"}, chunk("stop"))
        assert (message.id, message.model, message.created) == ("chatcmpl-1", "gpt-5", 1700000000)
        assert (message.provider, message.role) == ("openai_chat", "assistant")
        assert message.metadata == more

    def test_objects_of_the_metadata_get_what_is_new(self) -> None:
        def filtered(**found: Any) -> Event:
            event = chunk(content="a")
            event["choices"][0]["content_filter_results"] = found
            return event

        message = last(filtered(hate=1), filtered(violence=2), filtered(), chunk("stop"))
        assert message.metadata == {"content_filter_results": {"hate": 1, "violence": 2}}

    def test_logprobs_of_content_and_refusal(self) -> None:
        def event(**logprobs: Any) -> Event:
            made = chunk(content="a")
            made["choices"][0]["logprobs"] = logprobs
            return made

        tokens: list[Any] = [{"token": name, "logprob": -0.5, "bytes": None, "top_logprobs": []} for name in "abc"]
        message = last(
            event(content=tokens[:1], refusal=None), event(content=tokens[1:2], refusal=tokens[2:]), chunk("stop")
        )
        assert message.metadata == {"logprobs": {"content": tokens[:2], "refusal": tokens[2:]}}

    def test_old_completions_with_logprobs(self) -> None:
        def event(text: str, at: int) -> Event:
            logprobs = {"tokens": [text], "token_logprobs": [-0.1], "top_logprobs": None, "text_offset": [at]}
            return {"id": "cmpl", "choices": [{"index": 0, "text": text, "logprobs": logprobs, "finish_reason": None}]}

        message = last(
            event("Hi", 0), event("!", 2), {"id": "cmpl", "choices": [{"text": "", "finish_reason": "stop"}]}
        )
        assert (message.content, message.outcome) == ("Hi!", Outcome.COMPLETE)
        assert message.metadata["logprobs"] == {
            "tokens": ["Hi", "!"],
            "token_logprobs": [-0.1, -0.1],
            "text_offset": [0, 2],
        }

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

    def test_content_that_is_neither_text_nor_parts_is_kept(self) -> None:
        assert last(chunk(content=1.5), chunk("stop")).metadata == {"content": 1.5}

    def test_structured_output_as_an_object_is_its_text(self) -> None:
        message = last(chunk(content={"a": 1}), chunk("stop"))
        assert (message.content, message.metadata) == ('{"a":1}', {})

    def test_the_events_that_the_helper_of_the_sdk_makes_of_chunks(self) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}}
        events: list[Event] = [
            {"type": "chunk", "chunk": chunk(content="Hi"), "snapshot": {}},
            {"type": "content.delta", "delta": "Hi", "snapshot": "Hi"},
            {"type": "chunk", "chunk": chunk(tool_calls=[call]), "snapshot": {}},
            {"type": "tool_calls.function.arguments.delta", "name": "now", "index": 0, "arguments": "{}"},
            {"type": "logprobs.content.delta", "content": [], "snapshot": []},
            {"type": "refusal.done", "refusal": ""},
            {"type": "chunk", "chunk": chunk("tool_calls"), "snapshot": {}},
            {"type": "content.done", "content": "Hi", "parsed": None},
        ]
        message = last(*events)
        assert (message.content, message.metadata) == ("Hi", {})
        assert runnable(message) == [("a", "now", {})]

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

    def test_objects_say_the_same_as_dicts(self) -> None:
        def as_object(value: Any) -> Any:
            if isinstance(value, list):
                return [as_object(item) for item in value]
            if isinstance(value, dict):
                return SimpleNamespace(**{name: as_object(item) for name, item in value.items()})
            return value

        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}, "custom": None}
        events = [
            {**chunk(content="Hi", annotations=[FOUND]), "citations": ["https://a.org"]},
            chunk(reasoning_details=[{"type": "reasoning.text", "text": "Hm", "index": 0}]),
            chunk(tool_calls=[call], images=[{"type": "image_url", "image_url": {"url": "https://a.org"}}]),
            {**chunk("tool_calls"), "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        assert last(*map(as_object, events)) == last(*events)

    def test_azure_begins_with_empty_fields(self) -> None:
        begun = {"choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": [{"a": 1}]}
        message = last(begun, chunk(content="Hi"), chunk("stop"))
        assert (message.id, message.model, message.created) == ("chatcmpl-1", "gpt-5", 1700000000)
        assert message.metadata == {"prompt_filter_results": [{"a": 1}]}

    def test_structured_output_beside_sources(self) -> None:
        events = [{**chunk(content=piece), "citations": ["https://a.org"]} for piece in ('{"a"', ": 1}")]
        message = last(*events, chunk("stop"), response_schema={"type": "object"})
        assert message.answer == {"a": 1}
