"""Conversations drawn from the generated streams of all providers, with files and results of all kinds."""

from base64 import b64encode
from functools import cache
from random import Random
from typing import Any

from jsontide import stream_message
from jsontide.messages import File, Message, Outcome, ServerCall, ToolResult, UserMessage
from jsontide.runs import Conversation, PendingResult, Step
from tests.generated_streams import STREAMS

Event = dict[str, Any]
PROVIDERS = (
    *("openai_chat", "openai_responses", "anthropic", "bedrock"),
    *("gemini", "gemini_interactions", "ollama", "cohere"),
)
PNG = b64encode(b"\x89PNG\r\n\x1a\n").decode()
IMAGE = File("image/png", PNG)
PDF = File("application/pdf", b64encode(b"%PDF-1.4").decode(), name="a.pdf")
FILES = (
    IMAGE,
    PDF,
    File("image/jpeg", url="https://a.example/cat.jpg"),
    File("image/webp", url=f"data:image/webp;base64,{PNG}"),
    File("image/svg+xml", PNG),
    File("audio/wav", PNG),
    File("audio/ogg", url="https://a.example/a.ogg"),
    File("video/mp4", PNG),
    File("text/plain", b64encode(b"words").decode(), name="notes.txt"),
    File("application/zip", PNG, name="../../x.zip"),
    File("application/pdf", url="https://a.example/a.pdf"),
    File("image/png", id="file_1"),
    File(None, url="s3://bucket/key"),
)
OUTPUTS: tuple[Any, ...] = (None, "", " ", "warm", 7, {"t": 20}, [1, 2], IMAGE, ["see:", IMAGE, PDF], [FILES[5]])


@cache
def message_of(name: str) -> Message[Any]:
    return stream_message(STREAMS[name].events).final()


def draw_conversation(random: Random) -> Conversation:
    """Turns of all kinds in any order, with the same calls again and again, and results of all kinds or none."""
    turns = [draw_turn(random) for _ in range(random.randrange(7))]
    return Conversation(random.choice(("", "Be brief.", "Half: \ud83d")), ["Hello", *turns])


def draw_turn(random: Random) -> Any:
    kind = random.randrange(4)
    if kind == 0:
        words = [random.choice(("Hi", "", " \n", "\ud83d", *FILES)) for _ in range(random.randrange(1, 4))]
        return UserMessage(words)
    if kind == 1:
        return Message((), Outcome.EMPTY)
    message = message_of(random.choice([*STREAMS]))
    # Without a provider, a message is taken for one of whoever it is sent to, with all that only its provider knows.
    if random.random() < 0.2 and not any(isinstance(part, ServerCall) or part.extra for part in message.parts):
        message = message.evolve(provider=None)
    if not message.tool_calls or random.random() < 0.1:
        return message
    return Step(message, tuple(draw_result(random, call) for call in message.tool_calls))


def draw_result(random: Random, call: Any) -> Any:
    statuses: Any = ("queued", "waiting", "running")
    if random.random() < 0.3:
        return PendingResult(call, random.choice(statuses), "half")
    error = random.choice((None, None, None, "", "it failed"))
    return ToolResult(call, random.choice(OUTPUTS) if error is None else None, error)
