"""Law 8 for what comes beside the text: an event costs the same however many came before it."""

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import pytest

from jsontide.providers import feed_stream, start_stream
from tests.meters import Meter, heap, interpreted, opcodes

Event = dict[str, Any]


def chat_logprobs(at: int) -> Event:
    token = {"token": "a", "logprob": -0.5, "bytes": [at % 250], "top_logprobs": []}
    return {"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [token], "refusal": None}}]}


def gemini_logprobs(at: int) -> Event:
    chosen = {"chosenCandidates": [{"token": "a", "logProbability": -0.5, "tokenId": at}]}
    return {"candidates": [{"content": {"parts": [{"text": "a"}]}, "logprobsResult": chosen}]}


def ollama_logprobs(at: int) -> Event:
    return {"message": {"content": "a"}, "logprobs": [{"token": "a", "logprob": -at}], "done": False}


def chat_citations(at: int) -> Event:
    cited = {"type": "url_citation", "url_citation": {"url": f"https://a.example/{1_000_000 + at}", "title": "A"}}
    return {"choices": [{"index": 0, "delta": {"annotations": [cited]}}]}


def anthropic_citations(at: int) -> Event:
    cited = {"type": "char_location", "cited_text": f"{1_000_000 + at}", "document_title": "A"}
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": cited}}


def bedrock_citations(at: int) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"citation": {"title": f"{1_000_000 + at}"}}}}


def cohere_citations(at: int) -> Event:
    cited = {"start": at, "end": at, "text": "a", "content_index": 0, "sources": []}
    return {"type": "citation-start", "index": 1_000_000 + at, "delta": {"message": {"citations": cited}}}


def responses_citations(at: int) -> Event:
    cited = {"type": "url_citation", "url": f"https://a.example/{1_000_000 + at}", "title": "A"}
    where = {"output_index": 0, "content_index": 0, "annotation_index": at}
    return {"type": "response.output_text.annotation.added", **where, "annotation": cited}


def gemini_citations(at: int) -> Event:
    cited = {"startIndex": 0, "endIndex": 1, "uri": f"https://a.example/{1_000_000 + at}"}
    return {"candidates": [{"citationMetadata": {"citations": [cited]}}]}


def gemini_grounding(at: int) -> Event:
    told = {"groundingSupports": [{"segment": {"endIndex": 1, "text": "a"}, "groundingChunkIndices": [0], "at": at}]}
    return {"candidates": [{"groundingMetadata": {"webSearchQueries": [f"{1_000_000 + at}"], **told}}]}


def mistral_references(at: int) -> Event:
    cited = {"type": "reference", "reference_ids": [1_000_000 + at]}
    return {"choices": [{"index": 0, "delta": {"content": [{"type": "text", "text": "a"}, cited]}}]}


BEFORE: dict[Callable[[int], Event], Event] = {
    anthropic_citations: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
    bedrock_citations: {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}},
    cohere_citations: {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "a"}}}},
    gemini_citations: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
    gemini_grounding: {
        "candidates": [
            {
                "content": {"parts": [{"text": "a"}]},
                "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.example"}}]},
            }
        ]
    },
    responses_citations: {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "a"},
}
SAMPLE, EARLY = 32, 32
LATE: dict[Meter, int] = {opcodes: 1024, heap: 8192}
"""How many events are counted, and after how many: powers of two, where as much is joined."""


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def numbered(make: Callable[[int], Event]) -> Iterator[Event]:
    at = 0
    while True:
        yield make(at)
        at += 1


def cost(meter: Meter, make: Callable[[int], Event], before: int) -> int:
    """The middle of what each of some events costs after so many."""
    told = numbered(make)
    state = start_stream()
    if make in BEFORE:
        state = feed_stream(state, BEFORE[make])
    for event in islice(told, before):
        state = feed_stream(state, event)
    counts = []
    for event in islice(told, SAMPLE):
        count, state = meter(partial(feed_stream, state, event))
        counts.append(count)
    return sorted(counts)[SAMPLE // 2]


@pytest.mark.long
@pytest.mark.parametrize("meter", [pytest.param(opcodes, marks=interpreted), heap])
@pytest.mark.parametrize(
    "make",
    [
        chat_logprobs,
        gemini_logprobs,
        ollama_logprobs,
        chat_citations,
        anthropic_citations,
        bedrock_citations,
        cohere_citations,
        responses_citations,
        gemini_citations,
        gemini_grounding,
        mistral_references,
    ],
)
def test_an_event_costs_the_same_early_and_late(meter: Meter, make: Callable[[int], Event]) -> None:
    assert cost(meter, make, LATE[meter]) <= 1.5 * cost(meter, make, EARLY) + 700
