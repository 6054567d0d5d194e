"""A recording of a provider's stream in, the same stream with other cuts out, and the messages that it gives.

Networks cut a response anywhere: a program that works for one cut should be tried with many.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from jsontide.adapters import NdjsonState, SseState, decode_ndjson, decode_sse, finish_ndjson, stream_message

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.adapters import ReadingChoices
    from jsontide.messages import Message

WireFormat: TypeAlias = Literal["sse", "ndjson"]
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"  # white space, and a byte order mark
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Recording:
    """The events of one response, as plain values; they are not modified."""

    def __init__(self, events: Iterable[object]) -> None:
        self.events = tuple(events)

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read a file with one JSON document per line, or with server-sent events as they were received."""
        data = Path(path).read_bytes()
        if data.lstrip(_BLANK).startswith(b"{"):
            state, lines = decode_ndjson(NdjsonState(), data)
            return cls(map(json.loads, lines + finish_ndjson(state)))
        events = decode_sse(SseState(), data + b"\n\n")[1]
        return cls(json.loads(event.data) for event in events if event.data.strip().startswith("{"))

    def encode(self, form: WireFormat = "sse") -> bytes:
        """Return the bytes of the response."""
        lines = [_line(event) for event in self.events]
        if form == "ndjson":
            return "".join(f"{line}\n" for line in lines).encode()
        return "".join(f"data: {line}\n\n" for line in lines).encode()

    def cut(self, seed: int, form: WireFormat = "sse", *, pieces: int = 20) -> list[bytes]:
        """Return the bytes of the response, cut at random; the same seed gives the same cut."""
        data, random = self.encode(form), Random(seed)  # noqa: S311 - not secret
        places = sorted(random.randint(0, len(data)) for _ in range(pieces - 1))
        return [data[start:end] for start, end in pairwise([0, *places, len(data)])]

    def drop(self, seed: int, form: WireFormat = "sse") -> Iterator[bytes]:
        """Yield the response up to a random byte, then fail as a lost connection does."""
        chunks = self.cut(seed, form)
        data, random = b"".join(chunks), Random(seed)  # noqa: S311 - not secret
        left = random.randrange(len(data)) if data else 0
        for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                break
        message = "the connection was dropped by the test"
        raise ConnectionResetError(message)

    def replay(self, seed: int, **options: Unpack[ReadingChoices]) -> list[Message]:
        """Return the messages of a random cut, the finished one last; takes the options of `stream_message`.

        >>> recording = Recording([{"message": {"content": "Hi"}, "done": True}])
        >>> recording.replay(seed=7)[-1].content
        'Hi'
        """
        return list(stream_message(self.cut(seed), **options))


def _line(event: object) -> str:
    """Encode an event; half a surrogate pair, which some providers send, stays an escape because it has no UTF-8."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(event, ensure_ascii=False))
