"""The texts of a message that were cut between the two halves of a character, as UTF-16 writes those beyond U+FFFF.

Rule: what is shown is never taken back. A first half at the end of a delta waits for what comes next;
if that is no second half, or nothing, it stays as it came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from jsontide._textbuffer import joined, waits
from jsontide.messages._chunks import Delta


@dataclass(frozen=True, slots=True)
class Held:
    """The halves that wait, of each text of a message."""

    content: str = ""
    reasoning: str = ""
    refusal: str = ""


NOTHING_HELD: Final = Held()


def mended(held: Held, delta: Delta) -> tuple[Held, Delta]:
    """Return the halves that wait after a delta, and the delta with those that waited before."""
    if held is NOTHING_HELD and not (waits(delta.content) or waits(delta.reasoning) or waits(delta.refusal)):
        return held, delta
    content, content_half = joined(held.content, delta.content or "")
    reasoning, reasoning_half = joined(held.reasoning, delta.reasoning or "")
    refusal, refusal_half = joined(held.refusal, delta.refusal or "")
    now = Held(content_half, reasoning_half, refusal_half)
    whole = replace(delta, content=content, reasoning=reasoning, refusal=refusal)
    return (NOTHING_HELD if now == NOTHING_HELD else now), whole
