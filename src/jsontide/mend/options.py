"""What can be mended, kind by kind, and the sets that people choose from.

Interpreted, so that our own checks report wrong arguments, not those of compiled calls.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Final, Literal, Self, TypeAlias

from jsontide._check import check_choices, check_count

_LOSSY: Final = "lossy"
_STRUCTURAL: Final = "structural"
_NEEDS_SCHEMA: Final = "needs a schema"


class RepairKind(Enum):
    """The kinds of repairs; each is a switch of `Mending`."""

    _value_: str
    is_lossy: bool
    """Whether what it leaves out is lost: words or values, and not only signs."""
    is_structural: bool
    """Whether it decides where values begin and end, and not only how one is spelled."""
    is_coercion: bool
    """Whether it needs a schema."""

    PROSE = "prose", _LOSSY
    """Words around the value."""
    FENCE = "code fence"
    """The marks of a Markdown code block around the value."""
    THINKING = "thinking", _LOSSY
    """A block such as `<think>...</think>` before the value."""
    TAG = "tag"
    """A tag or a special token around the value, such as `<tool_call>` or `<|im_start|>`."""
    CODE_BLOCK = "code block", _LOSSY
    """A whole Markdown code block that is not JSON."""
    SECOND_VALUE = "second value", _LOSSY, _STRUCTURAL
    """What follows the first value, beginning with another one."""
    EXTRA_CLOSER = "extra closer", _STRUCTURAL
    """A bracket or brace too many after the value."""
    CONTROL_CHARACTER = "control character"
    """A raw newline, tab or other control character inside a string."""
    ESCAPE = "escape"
    """A backslash that begins no escape: it is kept, except before a single quote."""
    QUOTES = "quotes"
    """Other quotation marks than `"` around a string or a key, or backslashes before all of them."""
    COMMENT = "comment", _LOSSY
    """`// ...`, `# ...`, `/* ... */` or `<!-- ... -->` between tokens."""
    LITERAL = "literal"
    """`True`, `False`, `None`, `undefined`, `NaN` and the like."""
    NUMBER = "number"
    """A number as other languages write it: `0x1F`, `+5`, `.5`, `5.`, `1_000`."""
    SPACE = "space"
    """White space that JSON does not know, or a byte order mark."""
    PUNCTUATION = "punctuation"
    """Another sign in place of a comma or a colon: full-width ones, `;`, `=`, `=>`, `::`."""
    TRAILING_COMMA = "trailing comma"
    """A comma before a closing bracket or brace."""
    EXTRA_COMMA = "extra comma", _STRUCTURAL
    """A comma where no value was."""
    MISSING_COMMA = "missing comma", _STRUCTURAL
    """No comma between two values."""
    UNQUOTED_KEY = "unquoted key"
    """A key without quotation marks."""
    MISSING_COLON = "missing colon", _STRUCTURAL
    """No colon between a key and its value."""
    CONCATENATION = "concatenation", _STRUCTURAL
    """Two strings with a plus sign between them."""
    TUPLE = "tuple", _STRUCTURAL
    """An array in parentheses."""
    INNER_QUOTE = "inner quote", _STRUCTURAL
    """A quotation mark inside a string that is not escaped."""
    ELLIPSIS = "ellipsis", _LOSSY, _STRUCTURAL
    """`...` in place of values that were left out."""
    TRUNCATED = "truncated", _LOSSY, _STRUCTURAL
    """The text ended before the value did: open values are closed, undecided text is dropped."""
    UNQUOTED_STRING = "unquoted string", _STRUCTURAL, _NEEDS_SCHEMA
    """Words without quotation marks where the schema wants a string."""
    ENUM = "enum", _NEEDS_SCHEMA
    """A value of an enum in another spelling."""
    BOOLEAN = "boolean", _NEEDS_SCHEMA
    """Yes, no and the like where the schema wants a boolean."""
    NUMBER_FORM = "number form", _NEEDS_SCHEMA
    """A number with leading zeros, separators, a currency or a unit, as the schema wants it."""
    LIST = "list", _STRUCTURAL, _NEEDS_SCHEMA
    """One value where the schema wants a list."""
    NESTED_JSON = "nested JSON", _STRUCTURAL, _NEEDS_SCHEMA
    """JSON in a string where the schema wants an object or an array."""
    ROOT = "root", _LOSSY, _STRUCTURAL, _NEEDS_SCHEMA
    """Another value before the kind of value that the schema wants."""
    LOST_QUOTE = "lost quote", _STRUCTURAL, _NEEDS_SCHEMA
    """The closing quotation mark is missing before a key that the schema knows."""
    LINES = "lines", _STRUCTURAL, _NEEDS_SCHEMA
    """Values one after the other where the schema wants a list."""

    def __new__(cls, value: str, *marks: str) -> Self:
        kind = object.__new__(cls)
        kind._value_ = value
        kind.is_lossy = _LOSSY in marks
        kind.is_structural = _STRUCTURAL in marks
        kind.is_coercion = _NEEDS_SCHEMA in marks
        return kind


SeveralValues: TypeAlias = Literal["first", "all", "one"]
_CHOICES: Final = {"values": ("first", "all", "one")}


@dataclass(frozen=True, slots=True)
class Repair:
    """One change to a text: `was`, at `index` of the original, became `became`."""

    kind: RepairKind
    index: int
    """Code points before the place, in the original text."""
    was: str
    became: str
    lossy: bool = False
    """Whether words or values were dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What may be mended, and how far.

    >>> from jsontide.mend import MODELS
    >>> RepairKind.COMMENT in MODELS.without(RepairKind.COMMENT).kinds
    False
    """

    kinds: frozenset[RepairKind]
    """The kinds of mistakes that are mended; any other mistake is an error."""
    values: SeveralValues = "first"
    """Of several values, the first counts, or all do, each on its own lines, or there is only one, repeated or not."""
    allowed_in_calls: frozenset[RepairKind] = frozenset()
    """Repairs that drop or restructure something, with which a call may run nevertheless."""
    max_held: int = 1024
    """The most characters that are held back because more than one reading is possible."""
    max_repairs: int = 10_000
    """The most repairs in one text; more are an error."""
    max_depth: int = 512
    """Open containers inside each other."""

    def __post_init__(self) -> None:
        for name in ("kinds", "allowed_in_calls"):
            kinds = getattr(self, name)
            if not isinstance(kinds, frozenset | set) or not all(isinstance(kind, RepairKind) for kind in kinds):
                raise TypeError(f"{name} must be a set of RepairKind, not {kinds!r}")
            object.__setattr__(self, name, frozenset(kinds))
        check_choices(self, _CHOICES)
        for field in fields(self):
            if field.name.startswith("max_"):
                check_count(field.name, getattr(self, field.name))

    def without(self, *kinds: RepairKind) -> Mending:
        """Return the same without some kinds."""
        return self._replace(kinds=self.kinds - set(kinds))

    def with_kinds(self, *kinds: RepairKind) -> Mending:
        """Return the same with more kinds."""
        return self._replace(kinds=self.kinds | set(kinds))

    def allow_in_calls(self, *kinds: RepairKind) -> Mending:
        """Return the same with more kinds of repair with which a call may run."""
        return self._replace(allowed_in_calls=self.allowed_in_calls | set(kinds))

    def _replace(self, **changes: object) -> Mending:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return Mending(**{**values, **changes})


def check_mending(mending: object) -> Mending:
    """Raise `TypeError` for anything but `Mending`."""
    if not isinstance(mending, Mending):
        raise TypeError(f"mend must be a Mending, such as jsontide.mend.MODELS, not {type(mending).__name__}")
    return mending


def check_on_repair(mend: object, on_repair: object) -> None:
    """Raise `TypeError` for what cannot be called with repairs, and where there will be none."""
    if on_repair is None:
        return
    if mend is None:
        raise TypeError("on_repair needs mend: without it nothing is repaired")
    if not callable(on_repair):
        raise TypeError(f"on_repair must be callable, not {type(on_repair).__name__}")


MODELS: Final = Mending(kinds=frozenset(RepairKind) - {RepairKind.ELLIPSIS})
"""What language models do to JSON."""
EVERYTHING: Final = Mending(kinds=frozenset(RepairKind))
"""The same, and what people do in logs and files that they write by hand."""
