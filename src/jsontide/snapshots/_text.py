"""Cumulative text in, what is new of it out: the sibling of the chunker for models that send plain text."""

from __future__ import annotations

from jsontide.snapshots._errors import SnapshotConflict
from jsontide.snapshots.writing import certain_length


class TextStreamChunker:
    """Turns texts that each repeat the one before and go on into the pieces that are new.

    >>> chunker = TextStreamChunker()
    >>> chunker.process("Hello"), chunker.process("Hello, world"), chunker.flush()
    ('Hello', ', world', '')
    """

    def __init__(self) -> None:
        self._text: str = ""
        self._held: str = ""  # the first half of a surrogate pair, whose second half may come

    @property
    def text(self) -> str:
        """All pieces so far, joined."""
        return self._text

    def process(self, text: str) -> str:
        """Take the whole text so far, and return what is new of it.

        Raises `SnapshotConflict` if it does not begin with what came before; then nothing of it is taken in.
        """
        if not isinstance(text, str):
            message = f"a text must be str, not {type(text).__name__}"
            raise TypeError(message)
        before = self._text
        if not text.startswith(before):
            raise SnapshotConflict((), before, text)
        length = max(certain_length(text), len(before))
        self._text = text[:length]
        self._held = text[length:]
        return self._text[len(before) :]

    def flush(self) -> str:
        """Say that the text is complete, and return what was held back of it."""
        held = self._held
        self._text += held
        self._held = ""
        return held

    def reset(self) -> None:
        """Be as new."""
        self._text = self._held = ""
