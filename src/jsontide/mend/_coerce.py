"""A value that does not fit its schema in, the same value in a form that does out: what only a schema decides.

A value is looked at when it begins, and held if it is short enough to be looked at whole.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from jsontide.mend import shape as shapes
from jsontide.mend._buffer import Buffer
from jsontide.mend._look import (
    CLOSING,
    COMMAS,
    LITERALS,
    NO,
    YES,
    is_delimiter,
    is_number,
    key_ahead,
    skip_spaces,
    strict_number_end,
    string_end,
)
from jsontide.mend._value import OBJECT, WRAPPER, Frame, OpenValue
from jsontide.mend.options import RepairKind

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.mend.shape import Shape

_TRUE: Final = frozenset(("true", "yes", "y", "on"))
_FALSE: Final = frozenset(("false", "no", "n", "off"))
_FORM: Final = re.compile(
    r"(?:[$€£¥₹]\s?)?([-+]?)([0-9]{1,3}(?:[,_'’ \u00a0\u202f][0-9]{3})+|[0-9]+)(\.[0-9]+)?([eE][-+]?[0-9]+)?"
    r"(?:\s?([^\W\d]{1,12}[²³]?|[%°$€£¥₹]))?"
)
_UNITS: Final = frozenset(
    (
        *("%", "°", "$", "€", "£", "¥", "₹"),
        *("eur", "usd", "gbp", "jpy", "chf", "cny", "inr", "euro", "euros", "dollars"),
        *("kg", "g", "mg", "lb", "lbs", "oz", "m", "km", "cm", "mm", "nm", "mi", "ft", "yd", "inch", "inches", "miles"),
        *("km²", "m²", "cm²", "m³", "l", "ml", "s", "sec", "secs", "ms", "min", "mins", "h", "hr", "hrs", "kmh", "mph"),
        *("second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months"),
        *("year", "years", "tage", "jahre", "px", "pt", "em", "rem", "hz", "khz", "mhz", "ghz", "w", "kw", "kwh", "v"),
        *("b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "bytes", "pcs", "pieces", "items", "people", "persons"),
        *("pages", "points", "stars", "times", "stück", "personen"),
    )
)
"""What may follow a number; other words may multiply it, as `million`, `k` and `dozen` do."""
TWO_NUMBERS: Final = "?"
_THOUSAND: Final = len(".000")
_SEPARATORS: Final = re.compile(r"[-_\s]+")
_NOT_IN_WORDS: Final = '"{[()'


class Coercions:
    """Looks at values that begin, with the schema in hand."""

    __slots__ = ("buffer", "value")

    def __init__(self, buffer: Buffer, value: OpenValue) -> None:
        self.buffer: Final = buffer
        self.value: Final = value

    def coerce(self, i: i64, n: i64) -> i64:
        """Return where to read on after the value at `i` was brought into form; `i` if nothing was done to it."""
        shape = self.value.wanted()
        if shape is None or shape.kinds == shapes.ANYTHING or self.buffer.flushed >= 0:
            return i
        char = self.buffer.text[i]
        if char in CLOSING:
            if shape.words or not shape.kinds & shapes.STRING:
                return self._coerce_string(i, n, shape)
            return i
        if char == "{":
            return i if shape.kinds & shapes.OBJECT else self._wrap_object(i, n, shape)
        if char in "[,]})(" or (char == "." and self.buffer.text.startswith("..", i)):
            return i
        return self._coerce_words(i, n, shape)

    def _wait_for_end(self, i: i64, n: i64) -> i64:
        """Wait for the end of a value, unless it is too long to be held."""
        buffer = self.buffer
        if buffer.is_end or buffer.is_late(i, n):
            return i
        if buffer.hold < 0:
            buffer.begin_hold(i, buffer.mode)
        return buffer.wait(i)

    def _replace(self, i: i64, end: i64, became: str, kind: RepairKind, lossy: bool = False) -> i64:
        buffer = self.buffer
        if kind not in buffer.kinds:
            return i
        if buffer.hold < 0:
            buffer.begin_hold(i, buffer.mode)
        return self.value.end_token(end) if buffer.edit(i, end, became, kind, lossy) else i

    def _wrap(self, i: i64, shape: Shape, kind: i64) -> i64:
        """Open a list around the value at `i`, if one of such values is wanted."""
        buffer = self.buffer
        item = shape.item
        if (
            RepairKind.LIST not in buffer.kinds
            or not shape.kinds & shapes.ARRAY
            or item is None
            or not item.kinds & kind
        ):
            return i
        if buffer.hold < 0:
            buffer.begin_hold(i, buffer.mode)
        if buffer.edit(i, i, "[", RepairKind.LIST):
            self.value.release()
            self.value.top = Frame(WRAPPER, self.value.top, False, shape)
        return i

    def _wrap_object(self, i: i64, n: i64, shape: Shape) -> i64:
        """Do the same for an object, unless it has other members than those that the schema knows."""
        text = self.buffer.text
        item = shape.item
        end = self.buffer.limit(i, n)
        place = skip_spaces(text, i + 1, end)
        if item is not None and item.is_closed and place >= end:
            return self._wait_for_end(i, n)
        if item is not None and item.is_closed and text[place] == '"':
            after = string_end(text, place, end)
            if after < 0:
                return self._wait_for_end(i, n)
            if not item.knows(text[place + 1 : after - 1]):
                return self.buffer.fail_ambiguous(i, "an object that fits the list")
        return self._wrap(i, shape, shapes.OBJECT)

    def _coerce_string(self, i: i64, n: i64, shape: Shape) -> i64:
        buffer, text = self.buffer, self.buffer.text
        end = buffer.limit(i, n)
        after = string_end(text, i, end)
        if after < 0 or (after == end and not buffer.is_end):
            return self._wait_for_end(i, n)
        if after < n and not is_delimiter(text, after) and text[after] not in CLOSING:
            return i
        try:
            inner: str = json.loads(f'"{text[i + 1 : after - 1]}"', strict=False)
        except ValueError:
            return i
        if inner in shape.words:
            return i
        place = self._coerce_text(i, after, inner.strip(), shape)
        if place != i or buffer.is_over:
            return place
        if shape.kinds & (shapes.OBJECT | shapes.ARRAY) and _is_json(inner, shape.kinds):
            return self._replace(i, after, inner, RepairKind.NESTED_JSON)
        is_list = inner.startswith("[") and inner.endswith("]")  # as somebody writes one, if not JSON
        return i if is_list else self._wrap(i, shape, shapes.STRING)

    def _coerce_text(self, i: i64, end: i64, text: str, shape: Shape) -> i64:
        """Take a text for the member of an enum, the boolean or the number that it stands for."""
        kinds = shape.kinds
        member = _find_word(text, shape.words)
        if member:
            return self._replace(i, end, json.dumps(member, ensure_ascii=False), RepairKind.ENUM)
        word = text.lower()
        if kinds & shapes.BOOLEAN and (word in _TRUE or word in _FALSE):
            return self._replace(i, end, "true" if word in _TRUE else "false", RepairKind.BOOLEAN)
        number = form_number(text, shape.is_integer) if kinds & shapes.NUMBER else ""
        if number == TWO_NUMBERS:
            return self.buffer.fail_ambiguous(i, "a number with one reading")
        return self._replace(i, end, number, RepairKind.NUMBER_FORM, _drops_words(text, number)) if number else i

    def _coerce_words(self, i: i64, n: i64, shape: Shape) -> i64:
        """Look at a value that is neither in quotation marks nor in brackets."""
        buffer, text = self.buffer, self.buffer.text
        kinds = shape.kinds
        if kinds & shapes.NUMBER:
            after = strict_number_end(text, i, n)
            place = skip_spaces(text, after, n) if after >= 0 else n
            if place < n and text[place] in ",}]" and not (place == after and text[place] == ","):
                return i
        after = self._words_end(i, buffer.limit(i, n))
        if after == -2:
            return buffer.wait(i) if buffer.is_end else self._wait_for_end(i, n)
        words = text[i:after].rstrip() if after >= 0 else "null"
        if words in LITERALS:
            return i
        if is_number(words):
            is_wanted = kinds & (shapes.NUMBER | shapes.STRING)
            return i if is_wanted else self._wrap(i, shape, shapes.NUMBER)
        end: i64 = i + len(words)
        place = self._coerce_text(i, end, words, shape)
        if place != i or buffer.is_over:
            return place
        if kinds & shapes.STRING and not shape.words:
            return self._replace(i, end, json.dumps(words, ensure_ascii=False), RepairKind.UNQUOTED_STRING)
        return self._wrap(i, shape, shapes.STRING)

    def _words_end(self, i: i64, end: i64) -> i64:
        """Return where words without quotation marks end: -1 if there are no words, -2 if more text is needed."""
        text = self.buffer.text
        frame = self.value.top
        while frame is not None and frame.closer == WRAPPER:
            frame = frame.parent
        if frame is None:
            return -1
        is_object = frame.closer == OBJECT
        while i < end:
            char = text[i]
            if char in "\n}]" or char == frame.closer:
                return i
            if char in _NOT_IN_WORDS or char == "`":
                return -1
            if char in COMMAS:
                if not is_object:
                    return i
                place = skip_spaces(text, i + 1, end)
                if place == end:
                    return -2
                found = YES if text[place] == OBJECT else key_ahead(text, place, end, True)
                if found != NO:
                    return i if found == YES else -2
            i += 1
        return -2


def form_number(text: str, is_integer: bool) -> str:
    """Return a number in JSON's spelling, without separators, currency and unit; an empty text if it is no number.

    It may be two: in `1,234` a fraction may begin after the comma, unless an integer is wanted; `1.000` may be a
    thousand, unless a fraction is wanted and it is written as in JSON.

    >>> [form_number(text, True) for text in ("00789", "1,234", "12 kg", "3 * 4", "12,5", "1.000", "2 million")]
    ['789', '1234', '12', '', '', '?', '']
    >>> [form_number(text, False) for text in ("1,234.5", "$1,299.00", "3,141", "1.000", "€1.000", "5k")]
    ['1234.5', '1299.00', '?', '1.000', '?', '']
    """
    match = _FORM.fullmatch(text)
    if match is None or len(text) > 400 or not _is_unit(match[5] or ""):
        return ""
    has_separator = not match[2].isdigit()
    if not has_separator and match[3] and len(match[3]) == _THOUSAND and (is_integer or not is_number(text)):
        return TWO_NUMBERS
    if not is_integer and not match[3] and match[2].count(",") == 1:
        return TWO_NUMBERS
    digits = "".join([char for char in match[2] if char.isdigit()]).lstrip("0") or "0"
    sign = "-" if match[1] == "-" else ""
    return sign + digits + (match[3] or "") + (match[4] or "")


def _is_unit(word: str) -> bool:
    """Return whether a word after a number, if there is one, leaves it as it is; `M` does not, `m` does."""
    return not word or word in _UNITS or (len(word) > 1 and word.lower() in _UNITS)


def _drops_words(text: str, number: str) -> bool:
    """Return whether more than digits and what stands between them was left out."""
    return any([char.isalpha() or char in "%°$€£¥₹" for char in text]) and "e" not in number.lower()


def _find_word(text: str, words: tuple[str, ...]) -> str:
    """Return the one member of an enum that this stands for; an empty text if no member does, or several do."""
    if text in words:
        return text
    plain = _plain(text)
    found = [word for word in words if _plain(word) == plain]
    return found[0] if plain and len(found) == 1 else ""


def _plain(word: str) -> str:
    return _SEPARATORS.sub("_", word.strip().casefold())


def _refuse_constant(word: str) -> object:
    """Raise for `NaN` and `Infinity`, which are not JSON."""
    raise ValueError(word)


def _is_json(text: str, kinds: int) -> bool:
    """Return whether this is the text of an object or an array, as it is wanted."""
    begun = text.lstrip()[:1]
    if not (begun == "{" and kinds & shapes.OBJECT) and not (begun == "[" and kinds & shapes.ARRAY):
        return False
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True
