"""Text and a place in, what begins there out: looks ahead, and never further than `end`.

Each answer is `YES`, `NO` or `WAIT`: more text is needed.
Rule: an answer other than `WAIT` is final, so it does not matter where a text is cut.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from jsontide._build import COMPILED
from jsontide.text.grammar import END_NUMBER, FAIL, GRAMMAR
from jsontide.text.modes import NUMBER

if TYPE_CHECKING:
    from mypy_extensions import i64

NO: Final = 0
YES: Final = 1
WAIT: Final = 2

ODD_SPACES: Final = (
    "\x0b\x0c\x85\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d"
    "\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
SPACES: Final = " \t\r\n" + ODD_SPACES
BLANKS: Final = " \t\r"
COMMAS: Final = ",，、،"
SEMICOLONS: Final = ";；"
COLONS: Final = ":：﹕"
AFTER_STRING: Final = COMMAS + COLONS + "}])"
CLOSING: Final[dict[str, str]] = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": "”“",
    "”": "”",
    "„": "“”",
    "‘": "’‘",
    "’": "’",
    "«": "»",
    "＂": "＂",
    "＇": "＇",
    "「": "」",
    "『": "』",
}
"""The quotation marks that may begin a string, each with those that may end it."""
OPEN_ONLY: Final = (CLOSING["“"], CLOSING["„"])
"""What may end strings that `"` may end too, because their first mark cannot be its pair."""
LITERALS: Final[dict[str, str]] = {
    "true": "true",
    "True": "true",
    "TRUE": "true",
    "false": "false",
    "False": "false",
    "FALSE": "false",
    "null": "null",
    "None": "null",
    "NULL": "null",
    "Null": "null",
    "nil": "null",
    "undefined": "null",
    "NaN": "null",
    "nan": "null",
    "Infinity": "null",
}
ESCAPED: Final = '\\"'
DOUBLED: Final = '""'
"""The quotation marks of a text that was written into a string of JSON, or into a cell of CSV."""
EMPTY_KEY: Final = ":"
"""The first key of an object has no text between its marks; in a cell of CSV they would be one mark, doubled."""
UNKNOWN: Final = "?"
NOT_NUMBERS: Final = frozenset(("NaN", "nan", "Infinity"))
_MOST_NESTED: Final = 8
_MARK_OR_ESCAPE: Final = re.compile(r'\\.|"', re.DOTALL)
_WORD: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_NAME: Final = re.compile(r"(?:[^\W]|[$@])[\w$.@-]*")
_SPACED_NAME: Final = re.compile(r"[^\W\d][\w$-]{0,30}(?: [\w$-]{1,30}){0,3}")
_NUMBER_RUN: Final = re.compile(r"[-+.\w]+")
_DELIMITED_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?=[,\]} \n\r\t])")
_STRICT_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
MISSING: Final = -1
UNDECIDED: Final = -2
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[ \t]*([\w+.#-]*)")
_TAG: Final = re.compile(r"</?[^\W\d][^<>\n]{0,80}>|<[|｜][^<>\n]{1,80}[|｜]>|\[/?[A-Z]{3,}(?:_[A-Z]+)*\]")
_TAG_BEGUN: Final = re.compile(r"</?(?:[^\W\d][^<>\n]{0,80})?|<[|｜][^<>\n]{0,81}|\[/?[A-Z]{0,20}(?:_[A-Z]*)*")
_TAG_NAME: Final = re.compile(r"<(/?)([\w:-]+)")
_WRAPPER: Final = re.compile(
    r"""[<\[]/?(?:[\w-]+:)?([\w-]+)(?:=[\w.-]+|(?:\s+(?:name|id)=(?:"[^"]*"|'[^']*'|[\w.-]+))*)\s*/?[>\]]"""
)
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
_TOKEN_WORD: Final = re.compile(r"[^\W_]+")
_TOKEN_WORDS: Final = frozenset(
    (
        *("im", "eot", "eom", "eos", "bos", "pad", "id", "start", "end", "begin", "of", "sep", "header", "return"),
        *("text", "sentence", "turn", "message", "msg", "channel", "constrain", "role", "assistant", "model"),
        *("startoftext", "endoftext", "endofprompt", "tool", "tools", "call", "calls", "function", "functions"),
        *("toolcall", "python", "tag", "action", "plugin", "section", "argument", "arguments", "response", "json"),
    )
)
"""Words of special tokens, such as `<|tool_calls_section_begin|>`, that say no more."""
_LONGEST_INFO: Final = 120
_THINKING: Final = frozenset(
    ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "antthinking", "analysis")
)
_JSON: Final = frozenset(("json", "jsonc", "json5", "jsonl", "ndjson", "geojson"))


def skip_spaces(text: str, i: i64, end: i64) -> i64:
    """Return the place of the next character that is not white space of any kind."""
    while i < end and text[i] in SPACES:
        i += 1
    return i


def skip_blanks(text: str, i: i64, end: i64) -> i64:
    """Do the same within the line."""
    while i < end and text[i] in BLANKS:
        i += 1
    return i


def skip_comments(text: str, i: i64, end: i64) -> i64:
    """Return the place of the next token: `end` also if a comment is not over, or may begin at the last character."""
    while True:
        i = skip_spaces(text, i, end)
        if i >= end:
            return end
        char = text[i]
        if char == "/" and i + 1 < end and text[i + 1] == "*":
            close: i64 = text.find("*/", i + 2, end)
            if close < 0:
                return end
            i = close + 2
        elif char == "#" or (char == "/" and i + 1 < end and text[i + 1] == "/"):
            close = text.find("\n", i, end)
            if close < 0:
                return end
            i = close + 1
        elif char == "<" and "<!--".startswith(text[i : min(i + 4, end)]):
            close = text.find("-->", i + 4, end)
            if close < 0:
                return end
            i = close + 3
        elif char == "/" and i + 1 == end:
            return end
        else:
            return i


def word_end(text: str, i: i64, end: i64) -> i64:
    """Return where the word at `i` ends."""
    match = _WORD.match(text, i, end)
    return i if match is None else match.end()


def name_end(text: str, i: i64, end: i64) -> i64:
    """Return where the name of a member ends that has no quotation marks."""
    match = _NAME.match(text, i, end)
    return i if match is None else match.end()


def number_end(text: str, i: i64, end: i64) -> i64:
    """Return the end of the run that looks like a number."""
    match = _NUMBER_RUN.match(text, i, end)
    return i if match is None else match.end()


def strict_number_end(text: str, i: i64, n: i64) -> i64:
    """Return where the number of JSON at `i` ends; -1 without a number, or without a delimiter after it."""
    if COMPILED:
        mode: i64 = NUMBER
        while i < n:
            code: i64 = ord(text[i])
            if code > 127:
                return -1
            cell: i64 = GRAMMAR[mode * 128 + code]
            if cell >= FAIL:
                return i if cell == END_NUMBER and is_delimiter(text, i) else -1
            mode = cell
            i += 1
        return -1
    match = _DELIMITED_NUMBER.match(text, i)
    return -1 if match is None else match.end()


def is_delimiter(text: str, i: i64) -> bool:
    """Return whether a character ends a number or a literal in JSON."""
    code: i64 = ord(text[i])
    return code == 44 or code == 125 or code == 93 or code == 32 or code == 10 or code == 13 or code == 9


def is_number(text: str) -> bool:
    """Return whether this is a number of JSON."""
    return _STRICT_NUMBER.fullmatch(text) is not None


def string_end(text: str, quote: i64, end: i64) -> i64:
    """Return the place after the quotation mark that ends the string at `quote`; -1 if it is not there."""
    closing = CLOSING[text[quote]]
    if closing in OPEN_ONLY:
        closing += '"'
    i: i64 = quote + 1
    while i < end:
        char = text[i]
        if char == "\\":
            i += 1
        elif char in closing:
            return i + 1
        i += 1
    return -1


def colon_ahead(text: str, i: i64, end: i64, names: bool) -> i64:
    """Return the place of the colon after the key at `i`, in quotation marks, or without if `names`.

    -1 if there is no key with a colon, -2 if more text is needed.
    """
    i = skip_prefix(text, i, end)
    if text[i] in CLOSING:
        after = string_end(text, i, end)
        if after < 0:
            return -2
    elif names:
        after = name_end(text, i, end)
        if after == i:
            return -1
        if after == end:
            return -2
    else:
        return -1
    after = skip_comments(text, after, end)
    if after == end:
        return -2
    return after if text[after] in COLONS else -1


def skip_prefix(text: str, i: i64, end: i64) -> i64:
    """Return the place of the quotation mark after the `u` at `i`, as Python 2 writes it; else `i`."""
    return i + 1 if text[i] in "uU" and i + 1 < end and text[i + 1] in "\"'" else i


def begins_clearly(text: str, i: i64, end: i64) -> i64:
    """Return whether a value is at `i` that is no word of a sentence."""
    i = skip_comments(text, i, end)
    if i == end:
        return WAIT
    if text[i] in CLOSING or text[i] in "{[" or text[i] in "-0123456789":
        return YES
    after = word_end(text, i, end)
    return WAIT if after == end else (YES if text[i:after] in LITERALS else NO)


def equals_ahead(text: str, i: i64, end: i64) -> i64:
    """Return whether `=` or `=>` is at `i`, and a value after it."""
    if text[i] != "=":
        return NO
    i += 1
    if i < end and text[i] == ">":
        i += 1
    return begins_clearly(text, i, end)


def loose_key_end(text: str, i: i64, end: i64, may_have_spaces: bool) -> i64:
    """Return where the key at `i` ends, if an equals sign follows it, or a colon though it is more than one word.

    -1 if there is no such key, -2 if more text is needed.
    """
    place = skip_prefix(text, i, end)
    if text[place] in CLOSING:
        after = string_end(text, place, end)
        if after < 0:
            return -2
    else:
        match = (_SPACED_NAME if may_have_spaces else _NAME).match(text, i, end)
        if match is None:
            return -1
        after = match.end()
        if after == end:
            return -2
    place = skip_comments(text, after, end)
    if place == end:
        return -2
    found = begins_clearly(text, place + 1, end) if text[place] in COLONS else equals_ahead(text, place, end)
    return after if found == YES else (-1 if found == NO else -2)


def skip_written_spaces(text: str, i: i64, end: i64) -> i64:
    """Return the place of the next character that is neither white space nor its escape."""
    i = skip_spaces(text, i, end)
    while i + 1 < end and text[i] == "\\" and text[i + 1] in "nrt":
        i = skip_spaces(text, i + 2, end)
    return i


def find_wrapping(text: str, i: i64, end: i64, is_in_quotes: bool) -> str:
    """Return the quotation marks of the first string behind the brackets at `i`, if the text was written into another.

    A colon must follow it if a brace comes before it, else a comma or a bracket. `UNKNOWN` if more text is needed,
    `EMPTY_KEY` if it can be read in both ways. `is_in_quotes`: a quotation mark comes right before.
    """
    bracket = ""
    nested: i64 = 0
    while i < end and text[i] in "[{" and nested < _MOST_NESTED:
        bracket = text[i]
        nested += 1
        i = skip_written_spaces(text, i + 1, end)
    wrapping = text[i : min(i + 2, end)]
    if wrapping in ("", '"', "\\"):
        return UNKNOWN
    if wrapping == DOUBLED and i + 2 < end and bracket == "{" and text[i + 2].isalnum():
        return _find_doubled(text, i, end, is_in_quotes)
    if wrapping == DOUBLED:
        return UNKNOWN if i + 2 == end else (EMPTY_KEY if bracket == "{" else "")
    if wrapping != ESCAPED:
        return ""
    place = _place_after_wrapped(text, i, end)
    if place < 0:
        return UNKNOWN
    return ESCAPED if text[place] in (":" if bracket == "{" else ",]") else ""


def _place_after_wrapped(text: str, i: i64, end: i64) -> i64:
    """Return the place of the next token after the string at `i` with two signs at each end; -1 if it is not there."""
    wrapping = text[i : i + 2]
    after: i64 = text.find(wrapping, i + 2, end)
    while after >= 0 and text[after - 1] == "\\":
        after = text.find(wrapping, after + 2, end)
    if after < 0:
        return -1
    place = skip_written_spaces(text, after + 2, end)
    return -1 if place == end or (text[place] == "\\" and place + 1 == end) else place


def _find_doubled(text: str, i: i64, end: i64, is_in_quotes: bool) -> str:
    """Return whether the key at `i` begins an object in a cell of CSV.

    Outside of quotation marks, its own may be part of it, unless the value is a string that has them too.
    """
    place = _place_after_wrapped(text, i, end)
    if place < 0:
        return UNKNOWN if '"' not in text[i + 2 : end - 1] or text.find(DOUBLED, i + 2, end) > 0 else ""
    if text[place] != ":" or is_in_quotes:
        return DOUBLED if text[place] == ":" else ""
    place = skip_spaces(text, place + 1, end)
    if text.startswith(DOUBLED, place) and place + 2 < end:
        return DOUBLED if text[place + 2].isalnum() else ""
    return UNKNOWN if text[place:end] in ("", '"', DOUBLED) else ""


def count_marks(text: str, i: i64, end: i64) -> i64:
    """Return how many quotation marks from `i` to `end` are not escaped."""
    count: i64 = _MARK_OR_ESCAPE.findall(text, i, end).count('"')
    return count


def ends_in_escape(text: str, i: i64, end: i64) -> bool:
    """Return whether the character at `end` is escaped."""
    before = text[i:end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def decode_key(key: str) -> str:
    """Return what a key says, as it is written between its quotation marks; nothing if its escapes are odd."""
    if "\\" not in key:
        return key
    try:
        decoded: str = json.loads(f'"{key}"', strict=False)
    except ValueError:
        return ""
    return decoded


def key_ahead(text: str, i: i64, end: i64, names: bool) -> i64:
    """Return whether a key and its colon are at `i`."""
    place = colon_ahead(text, i, end, names)
    return YES if place >= 0 else (NO if place == -1 else WAIT)


def begins_value(char: str) -> bool:
    """Return whether a value may begin with this character, in some spelling."""
    return char in '-+."{[(' or char in CLOSING or char.isalnum() or char == "_"


def container_begins(text: str, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
    """Return whether an object or an array begins at `i`."""
    if text[i] == "{":
        return object_begins(text, i, end, is_sure, is_end)
    return array_begins(text, i, end, is_sure, is_end) if text[i] == "[" else NO


def object_begins(text: str, i: i64, end: i64, is_sure: bool, is_end: bool, is_nested: bool = False) -> i64:
    """Return whether the brace at `i` opens an object and not words in braces.

    `is_sure`: at a place where a value is expected, so that less has to be seen of it.
    `is_end`: no text follows `end`. `is_nested`: it is the first item of an array.
    """
    i = skip_comments(text, i + 1, end)
    while i < end and is_sure and text[i] in COMMAS:
        i = skip_comments(text, i + 1, end)
    if i == end:
        return WAIT
    if text[i] in "uU" and i + 1 == end:  # it may be the prefix of a string
        return WAIT
    i = skip_prefix(text, i, end)
    char = text[i]
    if char == "}":
        return _after_empty(text, i + 1, end, is_end, is_nested)
    if char in "\"'" or (is_sure and char in CLOSING):
        return _quoted_key_ahead(text, i, end, is_sure)
    if not is_sure or char in CLOSING:
        return NO
    if char == "." and i + 1 == end:
        return WAIT
    return YES if char == "…" or text.startswith("..", i) else _name_ahead(text, i, end)


def _quoted_key_ahead(text: str, i: i64, end: i64, is_sure: bool) -> i64:
    """Return whether the first key of an object is at `i`, in quotation marks, and what follows it fits."""
    quote = string_end(text, i, end)
    after = end if quote < 0 else skip_comments(text, quote, end)
    if after == end:
        return WAIT
    if text[after] in COLONS:
        return YES
    if is_sure and text[after] == "=":
        return equals_ahead(text, after, end)
    if not is_sure or not begins_value(text[after]):
        return NO
    return YES if after > quote or text[after] in "{[" else NO


def _name_ahead(text: str, i: i64, end: i64) -> i64:
    """Return the same for a key without quotation marks: a value must follow its colon."""
    colon = colon_ahead(text, i, end, True)
    if colon == -1:
        loose = loose_key_end(text, i, end, True)
        return YES if loose >= 0 else (NO if loose == -1 else WAIT)
    if colon < 0:
        return WAIT
    after = skip_comments(text, colon + 1, end)
    if after == colon + 1 < end and text[after] == ":":
        after = skip_comments(text, after + 1, end)
    if after == end:
        return WAIT
    return YES if begins_value(text[after]) else NO


def array_begins(text: str, i: i64, end: i64, is_sure: bool, is_end: bool) -> i64:
    """Return whether the bracket at `i` opens an array and not a reference or words in brackets."""
    nested: i64 = 0
    i = skip_comments(text, i + 1, end)
    while i < end and (text[i] == "[" or (is_sure and text[i] in COMMAS)):
        if text[i] == "[":
            nested += 1
            if nested == _MOST_NESTED:
                return YES if is_sure else NO
        i = skip_comments(text, i + 1, end)
    if i == end:
        return WAIT
    if text[i] in "uU" and i + 1 == end:  # it may be the prefix of a string
        return WAIT
    i = skip_prefix(text, i, end)
    char = text[i]
    if char == "{":
        return object_begins(text, i, end, is_sure, is_end, True)
    if char in "\"'" or (is_sure and char in CLOSING):
        return _string_item_ahead(text, i, end, is_sure)
    if not is_sure or char in CLOSING:
        return NO
    if char == "]":
        return _after_empty(text, i + 1, end, is_end, nested > 0)
    return (
        YES
        if char in "(…" or text.startswith("..", i)
        else _plain_item_ahead(text, i, end, is_end and nested == 0, nested > 0)
    )


def _string_item_ahead(text: str, i: i64, end: i64, is_sure: bool) -> i64:
    """Return whether the first item of an array is the string at `i`."""
    after = string_end(text, i, end)
    after = end if after < 0 else skip_comments(text, after, end)
    if after == end:
        return WAIT
    return YES if is_sure or text[after] in COMMAS or text[after] == "]" else NO


def _plain_item_ahead(text: str, i: i64, end: i64, is_end: bool, is_nested: bool) -> i64:
    """Return whether the first item of an array is the number or the literal at `i`."""
    after = number_end(text, i, end)
    if after == i:
        return NO
    if after == end:
        return WAIT
    if text[i:after] not in LITERALS and not (text[i] in "+-." or text[i].isdigit()):
        return NO
    place = skip_comments(text, after, end)
    if place == end:
        return WAIT
    if text[place] in COMMAS:
        return YES
    if text[place] != "]":
        return YES if "\n" in text[after:place] else NO
    return YES if is_nested else _ends_line(text, place + 1, end, is_end)


def _after_empty(text: str, i: i64, end: i64, is_end: bool, is_nested: bool) -> i64:
    """Return whether what follows an empty container fits: another item, or the end of the line."""
    if not is_nested:
        return _ends_line(text, i, end, is_end)
    place = skip_comments(text, i, end)
    if place == end:
        return WAIT
    return YES if text[place] in COMMAS or text[place] in "]{[" or "\n" in text[i:place] else NO


def _ends_line(text: str, i: i64, end: i64, is_end: bool) -> i64:
    """Return whether nothing but a mark of Markdown, a tag or a closer too many follows in the line."""
    i = skip_blanks(text, i, end)
    while i < end and text[i] in "]};":
        i = skip_blanks(text, i + 1, end)
    if i == end:
        return YES if is_end else WAIT
    return YES if text[i] in "\n`~<" else NO


def scalar_ends(text: str, i: i64, end: i64, is_end: bool) -> i64:
    """Return whether a string, a number or a literal is at `i`, and nothing after it but a mark or a tag."""
    char = text[i]
    if char == '"':
        after = string_end(text, i, end)
        if after < 0:
            return WAIT
    else:
        after = number_end(text, i, end)
        if after == end and not is_end:
            return WAIT
        token = text[i:after]
        if token not in ("true", "false", "null") and not is_number(token):
            return NO
    after = skip_spaces(text, after, end)
    if after == end:
        return YES if is_end else WAIT
    if text[after] == "`" and end - after < 3 and not is_end:
        return WAIT
    return YES if text.startswith("```", after) or text[after] == "<" else NO


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

    >>> [is_wrapper(tag) for tag in ("<tool_call>", '<invoke name="add">', "[TOOL_CALLS]", "<|im_end|>")]
    [True, True, True, True]
    >>> [is_wrapper(tag) for tag in ("</cancelled>", "<|cancelled|>", '<tool_call status="cancelled">')]
    [False, False, False]
    """
    if tag.startswith(("<|", "<｜")):
        return _TOKEN_WORDS.issuperset(_TOKEN_WORD.findall(tag.lower()))
    match = _WRAPPER.fullmatch(tag)
    return match is not None and match[1].lower().replace("-", "_") in _WRAPPERS


def thinking_name(tag: str) -> str:
    """Return the name of a tag that opens or closes a block of thinking, with its slash; else nothing."""
    match = _TAG_NAME.match(tag)
    if match is None or match[2].lower() not in _THINKING:
        return ""
    return match[1] + match[2]
