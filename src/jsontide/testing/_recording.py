"""A recording of a provider's stream in, the same stream cut otherwise out, and the messages that it gives.

How a network cuts a response is chance: a program that works for one cut should be tried with many.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

from jsontide.adapters import stream_message

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.adapters._stream_message import MessageChoices
    from jsontide.messages import Message

Form: TypeAlias = Literal["sse", "ndjson"]


class Recording:
    """The events of one response, as plain values; they are not modified."""

    def __init__(self, events: Iterable[object]) -> None:
        self.events = tuple(events)

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read a file of one JSON document per line, or of server-sent events as they were received."""
        lines = Path(path).read_text("utf-8").splitlines()
        texts = [line.removeprefix("data:").strip() for line in lines]
        return cls(json.loads(text) for text in texts if text.startswith("{"))

    def encode(self, form: Form = "sse") -> bytes:
        """Return the bytes of the response."""
        lines = [json.dumps(event, ensure_ascii=False) for event in self.events]
        if form == "ndjson":
            return "".join(f"{line}\n" for line in lines).encode()
        return "".join(f"data: {line}\n\n" for line in lines).encode()

    def cut(self, seed: int, form: Form = "sse", *, pieces: int = 20) -> list[bytes]:
        """Return the bytes of the response, cut at random; the same seed gives the same cut."""
        data, random = self.encode(form), Random(seed)  # noqa: S311 - no secret
        places = sorted(random.randint(0, len(data)) for _ in range(pieces - 1))
        return [data[start:end] for start, end in pairwise([0, *places, len(data)])]

    def dropped(self, seed: int, form: Form = "sse") -> Iterator[bytes]:
        """Yield the response up to a random byte, and then fail as a connection does."""
        chunks = self.cut(seed, form)
        data, random = b"".join(chunks), Random(seed)  # noqa: S311 - no secret
        left = random.randrange(len(data)) if data else 0
        for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                break
        message = "the connection was dropped by the test"
        raise ConnectionResetError(message)

    def replay(self, seed: int, **options: Unpack[MessageChoices]) -> list[Message]:
        """Return the messages of a random cut, the finished one last; the options are those of `stream_message`.

        >>> recording = Recording([{"message": {"content": "Hi"}, "done": True}])
        >>> recording.replay(seed=7)[-1].content
        'Hi'
        """
        return list(stream_message(self.cut(seed), **options))
