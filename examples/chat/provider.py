"""Who answers: a bundled recording, or OpenAI or Anthropic if the key of one is in the environment.

ANTHROPIC_API_KEY, OPENAI_API_KEY   ask that one
CHAT_MODEL                          which of its models
CHAT_SPEED                          how fast the recording is replayed; 1 is as it was recorded
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import httpx

from jsontide.recordings import Recording

Json = dict[str, Any]
Timed = tuple[float, Json]

RECORDING = Path(__file__).parent / "recording.ndjson"
SENTENCE = "Book two timed tickets for Livraria Lello today, before the morning slots are gone."
INSTRUCTIONS = (
    "You plan trips. First say in two sentences what you will do, and hold a train and set a reminder with the tools. "
    "When you have their results, call output with the whole plan."
)


class Provider(Protocol):
    """Who answers."""

    @property
    def name(self) -> str:
        """The name that jsontide knows its API by."""

    def ask(self, conversation: list[Json], tools: list[Json]) -> AsyncIterator[object]:
        """Yield the events of the response, or its bytes, as they arrive."""


@dataclass(frozen=True)
class Replay:
    """Gives the same answer to every question, in its own time: what it calls first, and then the plan."""

    path: Path = RECORDING
    speed: float = 1.0
    name: str = "anthropic"

    async def ask(self, conversation: list[Json], tools: list[Json]) -> AsyncIterator[object]:
        loop = asyncio.get_running_loop()
        recorded = [(piece.at, cast("Json", piece.data)) for piece in Recording.load(self.path).pieces]
        pieces = choose_pieces(recorded, conversation, tools)
        began = loop.time() - pieces[0][0] / self.speed
        for at, event in pieces:
            await asyncio.sleep(began + at / self.speed - loop.time())
            yield event


def choose_pieces(pieces: list[Timed], conversation: list[Json], tools: list[Json]) -> list[Timed]:
    """Return the part of the recording that comes next: what it calls, or, for the results of that, the plan.

    Without tools it is a tool that asks.
    """
    start, *middle, delta, stop = pieces
    plan = max(at for at, (_, event) in enumerate(middle) if event["type"] == "content_block_start")
    begins = middle[plan][0]
    if not tools:
        return [start, *say(SENTENCE), *[(2.5, event) for _, event in (delta, stop)]]
    if isinstance(conversation[-1]["content"], str):
        return [start, *middle[:plan], *[(begins, event) for _, event in (delta, stop)]]
    return [(begins, start[1]), *middle[plan:], delta, stop]


def say(text: str) -> list[Timed]:
    """Return a text word by word, as the recording would have it."""
    begin: Json = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    words = [{"type": "text_delta", "text": f"{word} "} for word in text.split()]
    deltas: list[Json] = [{"type": "content_block_delta", "index": 0, "delta": word} for word in words]
    return [(0.8 + at * 0.08, event) for at, event in enumerate([begin, *deltas])]


@dataclass(frozen=True)
class Service:
    """A provider's API."""

    name: str
    url: str
    headers: Mapping[str, str]
    body: Json

    async def ask(self, conversation: list[Json], tools: list[Json]) -> AsyncIterator[object]:
        body = {**self.body, "messages": [*self.body["messages"], *conversation], "tools": tools, "stream": True}
        # Leaving the block closes the connection, and the provider stops writing.
        async with (
            httpx.AsyncClient(timeout=120) as client,
            client.stream("POST", self.url, headers=dict(self.headers), json=body) as response,
        ):
            async for data in response.aiter_bytes():
                yield data


def ask_anthropic(key: str) -> Service:
    model = os.environ.get("CHAT_MODEL", "claude-sonnet-5")
    thinking = {"type": "adaptive"}
    body = {"model": model, "max_tokens": 8192, "system": INSTRUCTIONS, "thinking": thinking, "messages": []}
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return Service("anthropic", "https://api.anthropic.com/v1/messages", headers, body)


def ask_openai(key: str) -> Service:
    model = os.environ.get("CHAT_MODEL", "gpt-5-mini")
    messages = [{"role": "system", "content": INSTRUCTIONS}]
    body = {"model": model, "messages": messages, "stream_options": {"include_usage": True}}
    headers = {"authorization": f"Bearer {key}"}
    return Service("openai_chat", "https://api.openai.com/v1/chat/completions", headers, body)


def choose_provider() -> tuple[Provider, str]:
    """Return who answers, and what to tell people about it."""
    if key := os.environ.get("ANTHROPIC_API_KEY"):
        return ask_anthropic(key), "Anthropic answers"
    if key := os.environ.get("OPENAI_API_KEY"):
        return ask_openai(key), "OpenAI answers"
    speed = float(os.environ.get("CHAT_SPEED", "1"))
    return Replay(speed=speed), "a bundled recording answers; set ANTHROPIC_API_KEY or OPENAI_API_KEY for a model"
