"""An open container, linked to the one around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
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
    """Return what closes all that is open."""
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
