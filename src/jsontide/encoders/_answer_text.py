"""Steps of a message in, the same out without the text of a structured answer, which is shown as a value.

A text that turns out not to be a valid answer is told after all, at the end.
Rule: a text is told from its start to its end, or not at all.
"""

from __future__ import annotations

from typing import TypeAlias, cast

from jsontide.encoders.progress import Ended, Step, TextEnded, TextGrew, TextStarted
from jsontide.messages.growth import text_of
from jsontide.messages.message import Message
from jsontide.messages.parts import TextPart

Hidden: TypeAlias = frozenset[int]
"""The places of text parts that are shown as a value."""


def place_of(name: str, text_id: str) -> int:
    """Return which part a text is, by the id that `Progress(name)` made for it."""
    return int(text_id[len(name) + 1 :].partition("-")[0])


def hide_answer(
    name: str, message: Message, steps: list[Step], hidden: Hidden, *, hides: bool
) -> tuple[list[Step], Hidden]:
    """Return the steps that are to be told, and which parts are hidden then.

    `name` is that of the `Progress`; `hides` tells whether the text of the message is shown as a value.
    """
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, Ended) and not hides:
            kept += _show(name, message, hidden)
        if not isinstance(step, (TextStarted, TextGrew, TextEnded)):
            kept.append(step)
            continue
        at = place_of(name, step.id)
        if isinstance(step, TextStarted) and step.kind == "text" and hides:
            hidden |= {at}
        if at not in hidden:
            kept.append(step)
    return kept, hidden


def _show(name: str, message: Message, hidden: Hidden) -> list[Step]:
    """Return the steps of texts that were hidden, because they seemed to be the answer."""
    steps: list[Step] = []
    for at in sorted(hidden):
        part, text_id = cast("TextPart", message.parts[at]), f"{name}-{at}"
        steps += [TextStarted(text_id, "text"), TextGrew(text_id, "text", text_of(part).read())]
        steps.append(TextEnded(text_id, "text", part))
    return steps
