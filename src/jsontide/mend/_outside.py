"""What stands around a value: fences of Markdown, tags and special tokens, blocks of thinking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

MISSING: Final = -1
UNDECIDED: Final = -2

_CANDIDATE: Final = re.compile(r"[{}\[\]｛｝［］<`~]")
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[ \t]*([\w+.#-]*)")
_TAG: Final = re.compile(r"</?[^\W\d][^<>\n]{0,80}>|<[|｜][^<>\n]{1,80}[|｜]>|\[/?[A-Z]{3,}(?:_[A-Z]+)*\]")
_TAG_BEGUN: Final = re.compile(r"</?(?:[^\W\d][^<>\n]{0,80})?|<[|｜][^<>\n]{0,81}|\[/?[A-Z]{0,20}(?:_[A-Z]*)*")
_TAG_NAME: Final = re.compile(r"<(/?)([\w:-]+)")
_EMPTY_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_LONGEST_INFO: Final = 120
_THINKING: Final = frozenset(
    ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "antthinking", "analysis")
)
_JSON: Final = frozenset(("json", "jsonc", "json5", "jsonl", "ndjson", "geojson"))


def find_candidate(text: str, i: i64) -> i64:
    """Return the next place where a value, a fence or a tag may begin, or a remark in brackets end."""
    match = _CANDIDATE.search(text, i)
    return MISSING if match is None else match.start()


def read_fence(text: str, i: i64, end: i64, is_end: bool) -> i64:
    """Return where the line that opens or closes a code block ends, or where the value in the same line begins."""
    match = _FENCE.match(text, i, end)
    if match is None:
        begun = text[i:end]
        undecided = len(begun) < 3 and begun == begun[0] * len(begun) and not is_end
        return UNDECIDED if undecided else MISSING
    after: i64 = match.end()
    if after == end:
        return end if is_end else UNDECIDED
    place: i64 = after
    is_first = True  # whether nothing but blanks follows the name of the language
    while place < end and place - i < _LONGEST_INFO:
        char = text[place]
        if char == "\n":
            return place + 1
        if is_first and char in '{["<`':
            if place + 1 == end and not is_end:
                return UNDECIDED
            if char != "{" or text[place + 1 : place + 2] not in (".", "#", "="):
                return place
        is_first = is_first and char in " \t\r"
        place += 1
    if place == end:
        return end if is_end else UNDECIDED
    return after


def fence_info(text: str, i: i64, end: i64) -> str:
    """Return the language that an opening fence names, in lower case."""
    match = _FENCE.match(text, i, end)
    return "" if match is None else match[1].lower()


def is_json_info(info: str) -> bool:
    """Return whether a code block with this name may have words before its value."""
    return info in _JSON


def read_tag(text: str, i: i64, end: i64, is_end: bool) -> i64:
    """Return where the tag or special token at `i` ends."""
    match = _TAG.match(text, i, end)
    if match is not None:
        return match.end()
    return UNDECIDED if not is_end and _TAG_BEGUN.fullmatch(text, i, end) is not None else MISSING


def thinking_name(tag: str) -> str:
    """Return the name of a tag that opens or closes a block of thinking, with its slash; else nothing."""
    match = _TAG_NAME.match(tag)
    if match is None or match[2].lower() not in _THINKING:
        return ""
    return match[1] + match[2]


def ends_paragraph(text: str, before: str) -> bool:
    """Return whether an empty line is in a text, or begins it after a line's end."""
    return _EMPTY_LINE.search(text) is not None or (before == "\n" and text.lstrip(" \t\r").startswith("\n"))


def lead_of(text: str, before: str) -> str:
    """Return the last character of a text that is not a blank, a newline if there is none in its last line."""
    stripped = text.rstrip(" \t\r")
    return stripped[-1] if stripped else before
