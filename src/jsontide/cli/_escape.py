"""Any text in, text that is safe to print on a terminal out."""

import json
import re

# Characters that control a terminal, change the direction of text or break a line, and lone surrogates, which no
# encoding can write.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_TAB = 4
_UNSAFE_JSON = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def escape_unsafe(text: str) -> str:
    """Replace unsafe characters by JSON escapes."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape_lines(text: str) -> str:
    """Replace unsafe characters but line ends; a tab is some spaces."""
    return "\n".join(escape_unsafe(line.expandtabs(_TAB)) for line in text.split("\n"))


def quote_safely(text: str) -> str:
    """Return a JSON string that is safe to print."""
    return escape_unsafe(json.dumps(text, ensure_ascii=False))


def escape_unsafe_json(text: str) -> str:
    """Make any part of a JSON text safe to print without changing its value."""
    # Whatever is unsafe is inside a string, but for line ends and tabs between tokens.
    return _UNSAFE_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)
