"""Types and JSON Schemas that tests share, and the matrix of docs/concepts/schema.md as data."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Json, model_validator
from typing_extensions import TypedDict

from jsontide import MISSING
from jsontide.schema import Status

Item = TypeVar("Item")


class Mood(Enum):
    CALM = "calm"
    CURIOUS = "curious"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")
    lat: float
    lon: float


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


class Page(BaseModel, Generic[Item]):
    items: list[Item]
    next: str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tricks: list[str] = []


class Walk(BaseModel):
    km: float


class Ride(BaseModel):
    stops: list[str]
    fare: Decimal | None = None


@dataclass
class Stop:
    place: str
    minutes: int = 5


class Note(TypedDict):
    text: str
    by: NotRequired[str]


def must_be_even(number: int) -> int:
    if number % 2:
        message = "must be even"
        raise ValueError(message)
    return number


class Rules(BaseModel):
    name: Annotated[str, Field(min_length=2, max_length=8, pattern="^[a-zé]*$")]
    even: Annotated[int, AfterValidator(must_be_even)] = 0
    words: Annotated[list[str] | None, BeforeValidator(lambda v: v.split() if isinstance(v, str) else v)] = None
    big: int = Field(default=100, alias="Big", ge=10)

    @model_validator(mode="after")
    def name_and_even_differ(self) -> "Rules":
        if self.name == str(self.even):
            message = "name and even must differ"
            raise ValueError(message)
        return self


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    count: int
    on: bool = False


class Everything(BaseModel):
    title: str
    mood: Mood = Mood.CALM
    level: Level | None = None
    pair: tuple[int, str] = (0, "")
    seen: set[int] = set()
    by_name: dict[str, int] = {}
    when: datetime | None = None
    day: date | None = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    way: Walk | Ride | str | None = None
    stop: Stop | None = None
    note: Note | None = None
    raw: Json[list[int]] | None = None
    who: UUID | None = None
    tree: Tree | None = None


TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "none": None,
    "decimal": Decimal,
    "optional": int | None,
    "literal": Literal["al", "alpha", "beta", 1],
    "enum": Mood,
    "int enum": Level,
    "list": list[int],
    "tuple": tuple[int, str, bool],
    "open tuple": tuple[int, ...],
    "dict": dict[str, Point],
    "set": set[int],
    "model": Point,
    "recursive": Tree,
    "generic": Page[Point],
    "tagged union": Annotated[Cat | Dog, Field(discriminator="kind")],
    "untagged union": Walk | Ride,
    "union of scalars": int | str | bool,
    "dataclass": Stop,
    "typed dict": Note,
    "rules": Rules,
    "strict": Strict,
    "everything": Everything,
    "list of unions": list[Cat | Walk | None],
}


class Cell(NamedTuple):
    """A cell of the matrix: a schema and a text, and what is shown of it."""

    schema: dict[str, Any]
    text: str
    value: Any
    status: Status


STRING = {"type": "string"}
KINDS: dict[str, dict[str, Any]] = {
    "string": STRING,
    "string, done": {"type": "string", "x-stream": "done"},
    "string with a format": {"type": "string", "format": "date"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "enum": {"enum": ["calm", "curious"]},
    "const": {"const": "calm"},
    "array": {"type": "array", "items": {"type": "integer"}},
    "tuple": {"type": "array", "prefixItems": [{"type": "integer"}, STRING], "items": False, "minItems": 2},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "object": {"type": "object", "properties": {"a": {"type": "integer"}, "b": STRING}, "required": ["b"]},
    "object, gated": {"type": "object", "properties": {"a": {"type": "integer", "x-stream": "gate"}, "b": STRING}},
    "union": {"anyOf": [{"type": "integer"}, {"type": "null"}, STRING]},
    "tagged union": {
        "anyOf": [
            {"type": "object", "properties": {"t": {"const": tag}, "x": STRING}, "required": ["t"]}
            for tag in ("in", "on")
        ]
    },
}
OPEN = "open"
UNDECIDED = "open, before it is known"
FITTING = "closed, fits"
WRONG = "closed, does not fit"
STATES = (UNDECIDED, OPEN, FITTING, WRONG)

PENDING, PARTIAL, FINAL, MISMATCH = Status.PENDING, Status.PARTIAL, Status.FINAL, Status.MISMATCH
MATRIX: dict[tuple[str, str], tuple[str, Any, Status]] = {
    ("string", UNDECIDED): ('"', "", PARTIAL),
    ("string", OPEN): ('"Kyo', "Kyo", PARTIAL),
    ("string", FITTING): ('"Kyoto"', "Kyoto", FINAL),
    ("string", WRONG): ("12 ", MISSING, MISMATCH),
    ("string, done", UNDECIDED): ('"', MISSING, PENDING),
    ("string, done", OPEN): ('"Kyo', MISSING, PENDING),
    ("string, done", FITTING): ('"Kyoto"', "Kyoto", FINAL),
    ("string, done", WRONG): ("null", MISSING, MISMATCH),
    ("string with a format", UNDECIDED): ('"', MISSING, PENDING),
    ("string with a format", OPEN): ('"2026-1', MISSING, PENDING),
    ("string with a format", FITTING): ('"2026-11-18"', "2026-11-18", FINAL),
    ("string with a format", WRONG): ("2026 ", MISSING, MISMATCH),
    ("number", UNDECIDED): ("-", MISSING, PENDING),
    ("number", OPEN): ("12.5", MISSING, PENDING),
    ("number", FITTING): ("12.5 ", 12.5, FINAL),
    ("number", WRONG): ('"12"', MISSING, MISMATCH),
    ("boolean", UNDECIDED): ("t", MISSING, PENDING),
    ("boolean", OPEN): ("tru", MISSING, PENDING),
    ("boolean", FITTING): ("true", True, FINAL),
    ("boolean", WRONG): ("1 ", MISSING, MISMATCH),
    ("null", UNDECIDED): ("n", MISSING, PENDING),
    ("null", OPEN): ("nul", MISSING, PENDING),
    ("null", FITTING): ("null", None, FINAL),
    ("null", WRONG): ("false", MISSING, MISMATCH),
    ("enum", UNDECIDED): ('"c', MISSING, PENDING),
    ("enum", OPEN): ('"calm', MISSING, PENDING),
    ("enum", FITTING): ('"calm"', "calm", FINAL),
    ("enum", WRONG): ('"cal"', MISSING, MISMATCH),
    ("const", UNDECIDED): ('"', MISSING, PENDING),
    ("const", OPEN): ('"cal', MISSING, PENDING),
    ("const", FITTING): ('"calm"', "calm", FINAL),
    ("const", WRONG): ('"calmer"', MISSING, MISMATCH),
    ("array", UNDECIDED): ("[", [], PARTIAL),
    ("array", OPEN): ("[1, 2", [1], PARTIAL),
    ("array", FITTING): ("[1, 2]", [1, 2], FINAL),
    ("array", WRONG): ('[1, "2", 3]', [1], MISMATCH),
    ("tuple", UNDECIDED): ("[1", [], PARTIAL),
    ("tuple", OPEN): ('[1, "a', [1, "a"], PARTIAL),
    ("tuple", FITTING): ('[1, "a"]', [1, "a"], FINAL),
    ("tuple", WRONG): ('[1, "a", 2]', [1, "a"], MISMATCH),
    ("map", UNDECIDED): ('{"a"', {}, PARTIAL),
    ("map", OPEN): ('{"a": 1, "b": 2', {"a": 1}, PARTIAL),
    ("map", FITTING): ('{"a": 1}', {"a": 1}, FINAL),
    ("map", WRONG): ('{"a": 1, "b": []}', {"a": 1}, MISMATCH),
    ("object", UNDECIDED): ("{", {}, PARTIAL),
    ("object", OPEN): ('{"a": 1, "b": "x', {"a": 1, "b": "x"}, PARTIAL),
    ("object", FITTING): ('{"a": 1, "b": "x"}', {"a": 1, "b": "x"}, FINAL),
    ("object", WRONG): ('{"a": 1}', {"a": 1}, MISMATCH),
    ("object, gated", UNDECIDED): ('{"b": "x"', MISSING, PENDING),
    ("object, gated", OPEN): ('{"b": "x", "a": 1,', {"b": "x", "a": 1}, PARTIAL),
    ("object, gated", FITTING): ('{"b": "x"}', {"b": "x"}, FINAL),
    ("object, gated", WRONG): ('{"b": "x", "a": ""}', MISSING, MISMATCH),
    ("union", UNDECIDED): ("1", MISSING, PENDING),
    ("union", OPEN): ('"Kyo', "Kyo", PARTIAL),
    ("union", FITTING): ("12 ", 12, FINAL),
    ("union", WRONG): ("true", MISSING, MISMATCH),
    ("tagged union", UNDECIDED): ('{"x": "y", "t"', MISSING, PENDING),
    ("tagged union", OPEN): ('{"x": "y", "t": "i', {"x": "y"}, PARTIAL),
    ("tagged union", FITTING): ('{"x": "y", "t": "in"}', {"x": "y", "t": "in"}, FINAL),
    ("tagged union", WRONG): ('{"x": "y", "t": "at"}', MISSING, MISMATCH),
}


def cells() -> Iterator[tuple[str, str, Cell]]:
    for (kind, state), (text, value, status) in MATRIX.items():
        yield kind, state, Cell(KINDS[kind], text, value, status)


def table() -> str:
    """The matrix as docs/concepts/schema.md has it."""
    lines = [f"| | {' | '.join(STATES)} |", f"|---|{'---|' * len(STATES)}"]
    for kind in KINDS:
        shown = [_shown(*MATRIX[kind, state]) for state in STATES]
        lines.append(f"| {kind} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _shown(text: str, value: Any, status: Status) -> str:
    seen = "nothing" if value is MISSING else f"`{value!r}`"
    return f"`{text.strip()}`: {seen}" + (", mismatch" if status is MISMATCH else "")
