"""Paths: the keys and indices that lead from the root of a document to a value.

A path has no prefix and no syntax: `("users", 2, "email")`, and `()` for the root.
`path_text` writes one as text; the rule is that different paths have different texts, and `parse_pattern` reads them
back.

A `PathLink` is a path whose tuple is made on demand: the links of nested containers share all but the last segment.
"""

from __future__ import annotations

import json
import re
from typing import Final, TypeAlias

Segment: TypeAlias = str | int
"""A key of an object or an index of an array."""

Path: TypeAlias = tuple[Segment, ...]
"""Keys and indices from the root down."""

# Surrogates cannot be encoded, so they are escaped.
# The second of a pair stays as it is, because JSON reads two escapes as one character.
_SURROGATE: Final = re.compile(r"[\ud800-\udbff]|(?<![\ud800-\udbff])[\udc00-\udfff]")


def path_text(path: Path) -> str:
    """Write a path: identifiers after a dot, other keys as JSON strings in brackets, indices in brackets.

    >>> path_text(("users", 2, "email"))
    'root.users[2].email'
    >>> path_text(("a.b", 0))
    'root["a.b"][0]'
    """
    return "root" + "".join(map(segment_text, path))


def segment_text(segment: Segment) -> str:
    # Keys and indices may be enum members, which an f-string would show by name.
    if isinstance(segment, int):
        return f"[{int(segment)}]"
    if segment.isidentifier():
        return "." + segment
    written = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(segment, ensure_ascii=False))
    return f"[{written}]"


class PathLink:
    """A path as a link to the path of the enclosing container, and a key or index; its tuple is made on demand."""

    __slots__ = ("parent", "segment", "written")

    def __init__(self, parent: PathLink | None, segment: Segment) -> None:
        self.parent: PathLink | None = parent  # None for the root, whose segment means nothing
        self.segment: Segment = segment
        self.written: str = ""  # its text, once it was asked for

    def text(self) -> str:
        """Return the path as text, made once."""
        if not self.written:
            parent = self.parent
            if parent is None:
                self.written = path_text(())
            else:
                if not parent.written:
                    parent.written = path_text(parent.path())
                self.written = parent.written + segment_text(self.segment)
        return self.written

    def path(self) -> Path:
        """Return the keys and indices from the root down."""
        segments: list[Segment] = []
        link = self
        while link.parent is not None:
            segments.append(link.segment)
            link = link.parent
        segments.reverse()
        return tuple(segments)


def link_to(path: Path) -> PathLink:
    link = PathLink(None, 0)
    for segment in path:
        link = PathLink(link, segment)
    return link
