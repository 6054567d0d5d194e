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
from typing import Any, Protocol

import httpx

from jsontide.recordings import Recording

Json = dict[str, Any]

RECORDING = Path(__file__).parent / "recording.ndjson"
INSTRUCTIONS = (
    "You plan trips. In one message: say in two sentences what you will do, "
    "hold a train and set a reminder with the tools, then call output with the whole plan. Do not wait for results."
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
    """Gives the same answer to every question, in its own time."""

    path: Path = RECORDING
    speed: float = 1.0
    name: str = "anthropic"

    async def ask(self, _conversation: list[Json], _tools: list[Json]) -> AsyncIterator[object]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for piece in Recording.load(self.path).pieces:
            await asyncio.sleep(began + piece.at / self.speed - loop.time())
            yield piece.data


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
