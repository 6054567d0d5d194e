"""What stands around a value: fences of Markdown, tags and special tokens, blocks of thinking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

MISSING: Final = -1
UNDECIDED: Final = -2

_CANDIDATE: Final = re.compile(r"[{}\[\]()｛｝［］<`~]")
_ASSIGNS: Final = re.compile(
    r"\s*(?:(?:export\s+)?(?:(?:const|let|var)\s+)?[^\W\d][\w.$]*(?:\s*:\s*[\w.]+(?:\[[\w., ]*\])?)?\s*:?="
    r"|return|export\s+default)\s*"
)
_LONGEST_BEGUN: Final = 80
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[ \t]*([\w+.#-]*)")
_TAG: Final = re.compile(r"</?[^\W\d][^<>\n]{0,80}>|<[|｜][^<>\n]{1,80}[|｜]>|\[/?[A-Z]{3,}(?:_[A-Z]+)*\]")
_TAG_BEGUN: Final = re.compile(r"</?(?:[^\W\d][^<>\n]{0,80})?|<[|｜][^<>\n]{0,81}|\[/?[A-Z]{0,20}(?:_[A-Z]*)*")
_TAG_NAME: Final = re.compile(r"<(/?)([\w:-]+)")
_WRAPPER_NAME: Final = re.compile(r"[<\[]/?(?:[\w-]+:)?([\w-]+)")
_WRAPPERS: Final = frozenset(
    (
        *("tool_call", "tool_calls", "toolcall", "tool", "tools", "tool_use", "tool_request", "function", "functions"),
        *("function_call", "function_calls", "functioncall", "call", "invoke", "parameters", "parameter", "arguments"),
        *("args", "input", "json", "answer", "output", "response", "result", "results", "final", "final_answer"),
        *("message", "content", "data", "object", "value", "structured_output", "code", "pre"),
        *("inst", "available_tools", "tool_results", "end_tool_request"),
    )
)
"""Names of tags that only say where a value is."""
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


def is_wrapper(tag: str) -> bool:
    """Return whether a tag says nothing but where the value is; others may say that it is not meant, as `<example>`.

    >>> [is_wrapper(tag) for tag in ("<tool_call>", "<function=add>", "[TOOL_CALLS]", "<|im_end|>", "</cancelled>")]
    [True, True, True, True, False]
    """
    if tag.startswith(("<|", "<｜")):
        return True
    match = _WRAPPER_NAME.match(tag)
    return match is not None and match[1].lower().replace("-", "_") in _WRAPPERS


def thinking_name(tag: str) -> str:
    """Return the name of a tag that opens or closes a block of thinking, with its slash; else nothing."""
    match = _TAG_NAME.match(tag)
    if match is None or match[2].lower() not in _THINKING:
        return ""
    return match[1] + match[2]


def begin_line(text: str, before: str) -> str:
    """Return the line that a text ends in, as far as it is needed; `before` is what it was before the text."""
    line = text[text.rfind("\n") + 1 :] if "\n" in text else before + text[:_LONGEST_BEGUN]
    return line[:_LONGEST_BEGUN]


def assigns(line: str) -> bool:
    """Return whether a line of code assigns or returns what follows.

    >>> [assigns(line) for line in ("result = ", "const a: T =", "module.exports = ", "return ", "f(x) = ", "so a =")]
    [True, True, True, True, False, False]
    """
    return len(line) < _LONGEST_BEGUN and _ASSIGNS.fullmatch(line) is not None


def find_open_quote(text: str, quote: str, before: str) -> str:
    """Return the quotation mark that is open after a text in brackets; `quote` is the one before, if any.

    An apostrophe begins no quotation after a letter, and none goes on in the next line.
    """
    for char in text:
        if char == "\n" or char == quote:
            quote = ""
        elif not quote and (char == '"' or (char == "'" and not before.isalnum())):
            quote = char
        before = char
    return quote


def count_marks(text: str, so_far: i64, before: str) -> i64:
    """Return how many quotation marks are in the line that a text ends in, without those that are escaped.

    `so_far` is how many there were before the text, and `before` the character there.
    """
    line: i64 = text.rfind("\n") + 1
    marks: i64 = text.count('"', line) - text.count('\\"', line)
    if line == 0:
        marks += so_far
        if before == "\\" and text.startswith('"'):
            marks -= 1
    return marks


def ends_paragraph(text: str, before: str) -> bool:
    """Return whether an empty line is in a text, or begins it after a line's end."""
    return _EMPTY_LINE.search(text) is not None or (before == "\n" and text.lstrip(" \t\r").startswith("\n"))


def lead_of(text: str, before: str) -> str:
    """Return the last character of a text that is not a blank, a newline if there is none in its last line."""
    stripped = text.rstrip(" \t\r")
    return stripped[-1] if stripped else before
