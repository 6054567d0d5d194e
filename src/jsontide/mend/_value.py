"""What is open in the value that is read: tokens that begin and end in, the mode after them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import Reason
from jsontide.mend._buffer import Buffer
from jsontide.mend.options import RepairKind
from jsontide.text.modes import AFTER_ITEM, AFTER_MEMBER, DONE, ITEM_OR_END, KEY_OR_END

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.mend.shape import Shape

OBJECT: Final = "}"
ARRAY: Final = "]"
TUPLE: Final = ")"
WRAPPER: Final = ""
"""A list that only the schema asks for: nothing in the text ends it."""


_MARK: Final = "\n"  # in no key that matters
_MOST_SEEN: Final = 4_000


class Frame:
    """An open container; it never changes, so all states share it."""

    __slots__ = ("closer", "depth", "has_comma", "parent", "seen", "shape")

    def __init__(
        self, closer: str, parent: Frame | None, has_comma: bool = False, shape: Shape | None = None, seen: str = ""
    ) -> None:
        self.closer: Final = closer
        """The bracket that ends it in the original text."""
        self.parent: Final = parent
        self.depth: Final[int] = 1 if parent is None else parent.depth + 1
        self.has_comma: Final = has_comma
        """Of a tuple, whether it is one: `(1)` is not."""
        self.shape: Final = shape
        """What the schema wants of it."""
        self.seen: Final = seen
        """The keys of an object so far, if there is a schema, and there are not too many of them."""

    def with_key(self, key: str) -> Frame:
        """Return the same object after one more key."""
        seen = self.seen if len(self.seen) > _MOST_SEEN else f"{self.seen or _MARK}{key}{_MARK}"
        return Frame(self.closer, self.parent, self.has_comma, self.shape, seen)

    def has_seen(self, key: str) -> bool:
        """Return whether the object may have a key already."""
        return len(self.seen) > _MOST_SEEN or f"{_MARK}{key}{_MARK}" in self.seen

    @property
    def strict_closer(self) -> str:
        """The bracket that ends it in JSON."""
        return OBJECT if self.closer == OBJECT else ARRAY


def closers_of(frame: Frame | None) -> str:
    """Return the brackets that close all open containers."""
    closers: list[str] = []
    while frame is not None:
        closers.append(frame.strict_closer)
        frame = frame.parent
    return "".join(closers)


def list_frames(frame: Frame | None) -> list[tuple[str, bool, Shape | None, str]]:
    """Return the open containers as plain data, innermost first, for a pickle."""
    frames: list[tuple[str, bool, Shape | None, str]] = []
    while frame is not None:
        frames.append((frame.closer, frame.has_comma, frame.shape, frame.seen))
        frame = frame.parent
    return frames


def link_frames(frames: list[tuple[str, bool, Shape | None, str]]) -> Frame | None:
    """Return what `list_frames` was given."""
    frame: Frame | None = None
    for closer, has_comma, shape, seen in reversed(frames):
        frame = Frame(closer, frame, has_comma, shape, seen)
    return frame


def written_frame(frame: Frame | None) -> Frame | None:
    """Return the innermost container that the text itself opened."""
    while frame is not None and frame.closer == WRAPPER:
        frame = frame.parent
    return frame


class OpenValue:
    """The value that is read: its open containers, and what the schema wants of it."""

    __slots__ = ("buffer", "first_end", "key", "shape", "top")

    def __init__(
        self, buffer: Buffer, shape: Shape | None, top: Frame | None = None, key: str = "", first_end: i64 = -1
    ) -> None:
        self.buffer: Final = buffer
        self.shape: Final = shape  # what the schema wants of the whole
        self.top: Frame | None = top
        self.key: str = key  # of the member that is read, if there is a schema
        self.first_end: i64 = first_end  # where the first value of the text ends

    def kept(self) -> tuple[Any, ...]:
        return self.shape, self.top, self.key, self.first_end

    def mode_after(self) -> i64:
        top = self.top
        if top is None or top.closer == WRAPPER:
            return DONE
        return AFTER_MEMBER if top.closer == OBJECT else AFTER_ITEM

    def leave(self, i: i64) -> None:
        """Go on after a value that ends at `i`."""
        buffer = self.buffer
        top = self.top
        while top is not None and top.closer == WRAPPER and top.parent is not None:
            if not buffer.edit(i, i, ARRAY, RepairKind.LIST):
                return
            top = self.top = top.parent
        buffer.mode = self.mode_after()
        if buffer.mode == DONE:
            self._end(i)

    def release(self) -> None:
        """Give out the held text: a value has begun after it."""
        buffer = self.buffer
        if buffer.hold >= 0:
            if buffer.has_comma and self.top is not None and self.top.closer == TUPLE:
                self.top = Frame(TUPLE, self.top.parent, True, self.top.shape)
            buffer.hold = -1
        buffer.flushed = -1
        if buffer.drop_kind is not None:
            buffer.flush_drop()

    def end_token(self, i: i64) -> i64:
        """Leave a number or a literal that ends at `i`: what follows it may show more about a string before it."""
        buffer = self.buffer
        flushed: i64 = buffer.flushed
        is_after_string = buffer.token_end == flushed + 1
        self.release()
        if is_after_string:
            buffer.flushed = flushed
        buffer.token_end = buffer.base + i
        self.leave(i)
        return i

    def _end(self, i: i64) -> None:
        buffer = self.buffer
        buffer.token_end = buffer.base + i
        if self.first_end < 0:
            self.first_end = buffer.base + i

    def note_key(self, key: str) -> None:
        """Note the key of the member that is read."""
        self.key = key
        if self.top is not None and self.top.shape is not None:
            self.top = self.top.with_key(key)

    def wanted(self) -> Shape | None:
        """Return what the schema wants of the value that begins."""
        top = self.top
        if top is None:
            return self.shape
        shape = top.shape
        if shape is None:
            return None
        return shape.member(self.key) if top.closer == OBJECT else shape.item

    def open(self, i: i64, closer: str) -> i64:
        buffer = self.buffer
        unseen: i64 = buffer.flushed if buffer.token_end == buffer.flushed + 1 else -1
        self.release()
        buffer.flushed = unseen
        top = self.top
        most = buffer.mending.max_depth
        if top is not None and top.depth >= most:
            buffer.fail(Reason.TOO_DEEP, f"at most {most} open containers", "more", buffer.base + i)
            return i
        self.top = Frame(closer, top, False, None if self.shape is None else self.wanted())
        buffer.mode = KEY_OR_END if closer == OBJECT else ITEM_OR_END
        return i + 1

    def close(self, i: i64) -> i64:
        buffer = self.buffer
        top = self.top
        assert top is not None
        if buffer.text[i] != top.closer:
            return buffer.fail_at(i)
        buffer.hold = -1
        buffer.flushed = -1
        buffer.added_colon = -1
        buffer.flush_drop()
        self.top = top.parent
        buffer.token_end = buffer.base + i + 1
        self.leave(i + 1)
        return i + 1
