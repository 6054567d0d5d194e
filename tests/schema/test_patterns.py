"""Patterns of schemas: what Python's `re` finds is found, and no pattern takes longer than its text is long."""

import json
import re
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, StringConstraints

from jsontide import create_parser_state
from jsontide.schema import MismatchReason, Status, UnsupportedSchemaError, from_json_ast
from jsontide.schema._regex import Regex
from tests.meters import interpreted, opcodes
from tests.schema.resolving import closed

PATTERNS = [
    *(r"(a+)+$", r"(a|aa)+$", r"(.*)*$", r"(x+x+)+y", r"(a?){5}a{5}", r"(?:a*)*b{2}", r"(a{1,3}b?)*c"),
    *(r"^[a-z0-9]+(?:-[a-z0-9]+)*$", r"^(\d+\.)+\d+$", r"^([^@\s]+)@([a-z]+\.)+[a-z]{2,3}$"),
    *(r"[^\W\d_]+(\s[^\W\d_]+)*$", r"\bfoo\b.*x", r"(?i)(ab|a)*C", r"(?:a|b|ab)*?c\Z", r"(?x) ( a | b c )+ $"),
    *(r"(?m)^(a|b )*$", r"(?s)(.|x)*\Z", r"(?:(?!ab)a|\Bb)+$", r"(?<=a)b+(a|b)*$", r"(?:a|(?=b)c|\n)*$", r"((a|b)\.)*"),
]
HANDLED_BY_LENGTH = r"(a+)+\1$"
"""It refers back to what it found, which no automaton can."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_found_where_re_finds_it(pattern: str) -> None:
    random = Random(pattern)
    for length in (0, 3, 12, 13, 14, 15, 16, 17, 18) * 10:
        text = "".join(random.choices(random.choice(("ab", "aab bcC1.-x@\n_ fo", "abc")), k=length))
        is_found = re.search(pattern, text) is not None
        value = closed({"pattern": pattern}, json.dumps(text))
        assert (value.status is Status.FINAL) is is_found, text
        key = closed({"patternProperties": {pattern: False}}, json.dumps({text: 1}))
        assert (key.status is Status.MISMATCH) is is_found, text


EVIL: dict[str, tuple[Any, Callable[[str], str]]] = {
    "of a string": ({"pattern": "(a+)+$"}, json.dumps),
    "inside not": ({"not": {"pattern": "^(a|aa)+$"}}, json.dumps),
    "quadratic": ({"pattern": r"a+$"}, json.dumps),
    "of a key": ({"patternProperties": {"^(a+)+$": False}}, lambda text: json.dumps({text: 1})),
    "of other keys": (
        {"patternProperties": {"^(a+)+$": True}, "additionalProperties": True},
        lambda text: json.dumps({text: 1}),
    ),
    "of names": ({"propertyNames": {"not": {"pattern": "^(a+)+$"}}}, lambda text: json.dumps({text: 1})),
}


@pytest.mark.long
@interpreted
@pytest.mark.parametrize("name", EVIL)
@pytest.mark.untraced
def test_twice_the_text_is_at_most_twice_the_work(name: str) -> None:
    schema, written = EVIL[name]
    closed(schema, written("a"))
    small, _ = opcodes(lambda: closed(schema, written("a" * 1_500 + "!")))
    large, _ = opcodes(lambda: closed(schema, written("a" * 3_000 + "!")))
    assert large <= 2.2 * small


MANY_WAYS = {
    "repetitions in each other": r"^((((((a+)+)+)+)+)+)+$",
    "branches": r"^(?:a|a|a|a|a|a|a)+$",
    "repetitions after each other": r"^(?:a*a*a*a*a*)*$",
}


@pytest.mark.parametrize("name", MANY_WAYS)
def test_a_short_text_is_not_searched_by_re_if_there_are_too_many_ways(name: str, monkeypatch: Any) -> None:
    """`re` would take minutes, so it is not asked at all: only the automaton is."""
    asked: list[str] = []
    regex = Regex(MANY_WAYS[name])
    monkeypatch.setattr(regex, "_quick", SimpleNamespace(search=asked.append))
    assert not regex.search("a" * 11 + "!")
    assert regex.search("a" * 12)
    assert asked == []
    assert regex.steps(11) > 6**11


@pytest.mark.parametrize("schema", [{"pattern": HANDLED_BY_LENGTH}, {"not": {"pattern": HANDLED_BY_LENGTH}}])
def test_what_only_re_can_find_is_looked_for_in_short_texts(schema: Any) -> None:
    is_found = "not" not in schema
    assert (closed(schema, '"aaaaaaaaaaaa"').status is Status.FINAL) is is_found
    (error,) = closed(schema, json.dumps("a" * 60 + "!")).errors
    assert error.reason is MismatchReason.TOO_COMPLEX
    assert HANDLED_BY_LENGTH.replace("\\", "\\\\") in error.expected


def test_a_pattern_of_keys_that_only_re_can_find_is_refused() -> None:
    with pytest.raises(UnsupportedSchemaError, match="may take"):
        from_json_ast({"patternProperties": {HANDLED_BY_LENGTH: {}}}, create_parser_state())
    with pytest.raises(UnsupportedSchemaError, match="beside 'unevaluatedProperties'"):
        closed({"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}, '{"a": 1}')


def test_lookarounds_of_a_host_name_are_followed() -> None:
    pattern = r"^(?=.{1,253}$)(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+[a-z]{2,63}$"
    for name in (
        "a.example.com",
        "my-host.example.org",
        "-x.example.com",
        "x-.example.com",
        "a" * 64 + ".com",
        "a.b" * 90,
    ):
        is_found = re.search(pattern, name) is not None
        assert (closed({"pattern": pattern}, json.dumps(name)).status is Status.FINAL) is is_found


class ByPython(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    text: Annotated[str, StringConstraints(pattern="^(a+)+$")]


class Given(BaseModel):
    text: Annotated[str, StringConstraints(pattern=re.compile("^(a+)+$"))]


class Nested(BaseModel):
    text: Annotated[str, StringConstraints(pattern=re.compile("^((a+)+)+$"))]


class NestedDeeply(BaseModel):
    text: Annotated[str, StringConstraints(pattern=re.compile("^((((((a+)+)+)+)+)+)+$"))]


class ByPydantic(BaseModel):
    text: Annotated[str, StringConstraints(pattern="^(a+)+$")]


@pytest.mark.parametrize("schema", [ByPython, Given])
def test_what_pydantic_asks_re_about_is_bounded_too(schema: Any) -> None:
    assert closed(schema, '{"text": "aaa"}').status is Status.FINAL
    assert closed(schema, '{"text": "aab"}').errors[0].path == ("text",)
    (error,) = closed(schema, json.dumps({"text": "a" * 60 + "!"})).errors
    assert error.reason is MismatchReason.TOO_COMPLEX


@pytest.mark.parametrize(("schema", "length"), [(Nested, 14), (NestedDeeply, 9)])
def test_what_multiplies_by_more_than_two_is_counted_as_such(schema: Any, length: int) -> None:
    assert closed(schema, '{"text": "aaa"}').status is Status.FINAL
    (error,) = closed(schema, json.dumps({"text": "a" * length + "!"})).errors
    assert error.reason is MismatchReason.TOO_COMPLEX


def test_the_engine_of_pydantic_needs_no_bound() -> None:
    assert closed(ByPydantic, json.dumps({"text": "a" * 60})).status is Status.FINAL
    assert closed(ByPydantic, json.dumps({"text": "a" * 60 + "!"})).errors[0].path == ("text",)
