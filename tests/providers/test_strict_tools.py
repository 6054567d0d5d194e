"""Definitions of tools as providers take them: strict where that can be, and never a request that is refused."""

import copy
import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from random import Random
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

import pytest
from hypothesis import given
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from jsontide import Tool, tool_definitions
from jsontide.messages import CompleteCall, Message, ToolResult
from jsontide.providers import PROVIDERS, to_request, why_not_strict
from jsontide.schema import UnsupportedSchemaError
from tests.providers.strict_rules import breaches
from tests.strategies import randoms

STRICT = ("openai_chat", "openai_responses", "anthropic", "bedrock")
CLOSED = ("anthropic", "bedrock")

every_strict = pytest.mark.parametrize("provider", STRICT)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Place(BaseModel):
    city: str
    zip: str | None = None


class Trip(BaseModel):
    """A model in a model in a model."""

    stops: list[Place]
    end: Place = Field(description="where it ends")


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Node(BaseModel):
    value: int
    children: list["Node"] = []
    parent: "Node | None" = Field(None, description="the one above")


class Options(TypedDict):
    a: int
    b: NotRequired[str]


@dataclass
class Size:
    width: int
    height: int = 2


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


# Type, whether OpenAI takes it as strict, and whether Anthropic and Bedrock do.
TYPES: dict[str, tuple[Any, bool, bool]] = {
    "scalars": (tuple[str, int] | str | int | float | bool, True, True),
    "list": (list[Place], True, True),
    "tuple of one type": (tuple[int, ...], True, True),
    "optional": (int | None, True, True),
    "nested model": (Trip, True, True),
    "text literal": (Literal["a", "b"], True, True),
    "one literal": (Literal["a"], True, True),
    "number literals": (Literal[1, 2], True, True),
    "mixed literals": (Literal[1, "a"], True, True),
    "enum": (Color, True, True),
    "enum of numbers": (Level, True, True),
    "dict": (dict[str, str], False, False),
    "dict of models": (dict[str, Place], False, False),
    "bare dict": (dict, False, False),
    "any": (Any, False, False),
    "bare list": (list, False, False),
    "set": (set[str], True, True),
    "length of a list": (Annotated[list[int], Field(min_length=2, max_length=5)], True, True),
    "at least one": (Annotated[list[int], Field(min_length=1)], True, True),
    "tuple": (tuple[int, Place], True, True),
    "datetime": (datetime, True, True),
    "date": (date, True, True),
    "timedelta": (timedelta, True, True),
    "uuid": (UUID, True, True),
    "bytes": (bytes, True, True),
    "decimal": (Decimal, True, True),
    "url": (AnyUrl, True, True),
    "bounds": (Annotated[int, Field(ge=1, le=5)], True, True),
    "open bounds": (Annotated[float, Field(gt=1, lt=5, multiple_of=0.5)], True, True),
    "length and pattern": (Annotated[str, Field(min_length=1, max_length=9, pattern="^[a-z]+$")], True, True),
    "description of a model": (Annotated[Place, Field(description="where to")], True, True),
    "description of an enum": (Annotated[Color, Field(description="which")], True, True),
    "recursive": (Node, True, False),
    "union": (Cat | Dog, True, True),
    "discriminated": (Annotated[Cat | Dog, Field(discriminator="kind")], True, True),
    "typed dict": (Options, True, True),
    "dataclass": (Size, True, True),
    "model that takes more": (Open, False, False),
    "list of dicts": (list[dict[str, int]], False, False),
}


def schema_of(provider: str, definition: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a definition has."""
    if provider == "openai_chat":
        return definition["function"]["parameters"]  # type: ignore[no-any-return]
    if provider == "openai_responses":
        return definition["parameters"]  # type: ignore[no-any-return]
    if provider == "bedrock":
        return definition["toolSpec"]["inputSchema"]["json"]  # type: ignore[no-any-return]
    return definition["input_schema"]  # type: ignore[no-any-return]


def is_strict(provider: str, definition: dict[str, Any]) -> bool:
    inner = {"openai_chat": "function", "bedrock": "toolSpec"}.get(provider)
    found = definition[inner] if inner else definition
    return found.get("strict", False)  # type: ignore[no-any-return]


def model_with(kind: Any) -> Any:
    return create_model("Arguments", value=(kind, ...), other=(str, "x"))


def function_with(kind: Any) -> Any:
    def tool(value: Any, other: str = "x") -> None: ...

    tool.__annotations__ = {"value": kind, "other": str}
    return tool


class TestTypes:
    @pytest.mark.parametrize("name", TYPES)
    def test_is_strict_where_the_provider_can_be(self, name: str) -> None:
        kind, *strict = TYPES[name]
        tools = [Tool("tool", model_with(kind)), Tool.from_function(function_with(kind))]
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            tools.append(Tool("tool", kind))
        for provider in STRICT:
            expected = strict[provider in CLOSED]
            for tool in tools:
                (defined,) = tool_definitions([tool], provider)
                assert is_strict(provider, defined) is expected
                assert not expected or breaches(provider, schema_of(provider, defined)) == []

    @every_strict
    def test_says_so_on_request_and_refuses_to_be_asked_for_more(self, provider: str) -> None:
        strict, loose = Tool("strict", Place), Tool("loose", model_with(dict[str, str]))
        assert tool_definitions([strict], provider, strict=True) == tool_definitions([strict], provider)
        assert list(why_not_strict([strict, loose], provider)) == ["loose"]
        with pytest.raises(ValueError, match="the tool 'loose' cannot be strict: 'value' may have any keys"):
            tool_definitions([strict, loose], provider, strict=True)
        assert not any(is_strict(provider, each) for each in tool_definitions([strict, loose], provider, strict=False))

    @pytest.mark.parametrize("name", TYPES)
    @pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "gemini", "gemini_interactions", "ollama"])
    def test_has_nothing_beside_references_even_if_it_is_not_strict(self, name: str, provider: str) -> None:
        (defined,) = tool_definitions([Tool("tool", model_with(TYPES[name][0]))], provider, strict=False)
        text = json.dumps(defined)
        assert '"oneOf"' not in text
        assert '"discriminator"' not in text
        assert "(?!" not in text or "pattern: " in text
        for one in objects_in(defined):
            assert "$ref" not in one or set(one) == {"$ref"}

    @every_strict
    def test_says_which_field_is_open_and_where(self, provider: str) -> None:
        class Inner(BaseModel):
            tags: dict[str, str]

        class Outer(BaseModel):
            inner: list[Inner]
            anything: Any
            many: list[dict[str, int]]

        assert why_not_strict([Tool("tool", Outer), Tool("fine", Place)], provider) == {
            "tool": ("'anything' may be any JSON", "'many[*]' may have any keys", "'Inner.tags' may have any keys")
        }

    @pytest.mark.parametrize("provider", CLOSED)
    def test_may_leave_out_what_has_a_default(self, provider: str) -> None:
        schema = schema_of(provider, *tool_definitions([Tool("tool", Size)], provider))
        assert schema["required"] == ["width"]
        assert "2" in schema["properties"]["height"]["description"]

    @every_strict
    def test_tells_in_words_what_it_cannot_say(self, provider: str) -> None:
        bound = Annotated[str, Field(min_length=3, description="A name.")]
        schema = schema_of(provider, *tool_definitions([Tool("tool", model_with(bound))], provider))
        assert schema["properties"]["value"]["description"] == "A name. (minLength: 3)"

    @every_strict
    def test_keeps_the_description_of_a_reference(self, provider: str) -> None:
        class Both(BaseModel):
            start: Place = Field(description="where it starts")
            end: Place = Field(description="where it ends")
            last: Place = Field(description="where it ends")

        schema = schema_of(provider, *tool_definitions([Tool("tool", Both)], provider))
        said = []
        for name in ("start", "end", "last"):
            keyword, target = schema["properties"][name]["$ref"].removeprefix("#/").split("/")
            said.append(schema[keyword][target]["description"])
            assert list(schema[keyword][target]["properties"]) == ["city", "zip"]
        assert said == ["where it starts", "where it ends", "where it ends"]
        assert len(schema["$defs"]) == 2

    @every_strict
    def test_drops_strict_for_dicts_and_keeps_their_schema(self, provider: str) -> None:
        def label(tags: dict[str, str]) -> None: ...

        schema = schema_of(provider, *tool_definitions([Tool.from_function(label)], provider))
        assert schema["properties"]["tags"]["additionalProperties"] == {"type": "string"}


PLAIN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


class TestJsonSchemas:
    @every_strict
    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ({"type": "array", "items": {"type": "string"}}, "not an object"),
            ({"anyOf": [PLAIN, PLAIN]}, "not an object"),
            ({"type": "object"}, "any keys"),
            ({**PLAIN, "additionalProperties": {"type": "string"}}, "any keys"),
            ({**PLAIN, "patternProperties": {"^x": {"type": "string"}}}, "any keys"),
            ({**PLAIN, "allOf": [PLAIN, {"required": ["a"]}]}, "'allOf'"),
            ({**PLAIN, "not": {"required": ["b"]}}, "'not'"),
            ({**PLAIN, "if": {"required": ["b"]}, "then": {"required": ["a"]}}, "'if'"),
            ({**PLAIN, "required": ["a", "b"]}, "'b'"),
            ({"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "null"}}}, "refers to"),
            ({"type": "object", "properties": {"a": {"$ref": "https://a.example/s"}}}, "refers to"),
            ({"type": "object", "properties": {"a": {"$ref": "#/$defs/nothing"}}}, "refers to"),
            ({"type": "object", "properties": {"a": {}}}, "'a' may be any JSON"),
            ({"type": "object", "properties": {"a": True}}, "'a' may be any JSON"),
            ({"type": "object", "properties": {"a": False}}, "'a' cannot be anything"),
            ({"type": "object", "properties": {"a": {"description": "x"}}}, "'a' may be any JSON"),
            ({"type": "object", "properties": {"a": {"enum": [{"$ref": "x"}, "b"]}}}, "object or an array"),
            ({"type": "object", "properties": {"a": {"const": []}}}, "object or an array"),
            ({"type": "object", "properties": {"a": {"type": "array"}}}, "any items"),
            (
                {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "null"}]}}},
                "any items",
            ),
            (None, "no schema"),
        ],
    )
    def test_cannot_be_strict(self, provider: str, schema: Any, words: str) -> None:
        (reasons,) = why_not_strict([Tool("tool", schema)], provider).values()
        assert any(words in reason for reason in reasons), reasons
        (defined,) = tool_definitions([Tool("tool", schema)], provider)
        assert not is_strict(provider, defined)

    @every_strict
    @pytest.mark.parametrize(
        "schema",
        [
            {"properties": {"a": {"type": "string"}}},
            {"type": "object", "properties": {}},
            {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
            {"type": "object", "properties": {"a": {"type": "string", "nullable": True, "description": "x"}}},
            {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/$defs/b"}], "description": "x"}},
             "$defs": {"b": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"$ref": "#/definitions/b~1c", "default": "y"}},
             "definitions": {"b/c": {"$ref": "#/definitions/d"}, "d": {"type": "string"}}},
            {"$ref": "#/$defs/a", "$defs": {"a": PLAIN}},
            {"type": "object", "properties": {"$ref": {"type": "string"}, "oneOf": {"const": "x"}}},
            {"type": "object", "properties": {"a": {"enum": [True, None, "b", 1.5]}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": False, "prefixItems": [{"const": 1}]}}},
            {"$schema": "x", "$id": "y", **PLAIN, "x-own": 1, "examples": [{"a": "b"}]},
        ],
    )  # fmt: skip
    def test_can_be_strict(self, provider: str, schema: dict[str, Any]) -> None:
        before = copy.deepcopy(schema)
        (defined,) = tool_definitions([Tool("tool", schema)], provider, strict=True)
        assert breaches(provider, schema_of(provider, defined)) == []
        assert schema == before

    def test_definitions_that_refer_to_themselves_do_no_harm(self) -> None:
        schema = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
        inner = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a", "description": "d"}}, **schema}
        for one in (schema, inner):
            for provider in STRICT:
                assert why_not_strict([Tool("tool", one)], provider)

    def test_definitions_that_refer_to_two_each_are_written_once(self) -> None:
        names = {f"d{at}": described(f"d{at + 1}") for at in range(60)} | {"d60": {"type": "string"}}
        schema = {**described("d0"), "$defs": names}
        for provider in STRICT:
            assert len(json.dumps(tool_definitions([Tool("tool", schema)], provider))) < 60_000

    @pytest.mark.parametrize("provider", ["openai_chat", "openai_responses"])
    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({f"f{at}": {"type": "null"} for at in range(5001)}, "5001 properties"),
            ({"a": {"enum": [*map(str, range(1001))]}}, "1001 values"),
            ({"a": {"const": "x" * 120_001}}, "characters"),
        ],
    )
    def test_larger_ones_than_openai_takes(self, provider: str, fields: dict[str, Any], words: str) -> None:
        tool = Tool("tool", {"type": "object", "properties": fields})
        ((reason,),) = why_not_strict([tool], provider).values()
        assert words in reason

    def test_deeper_ones_than_openai_takes(self) -> None:
        schema: dict[str, Any] = {"type": "string"}
        for levels in range(1, 12):
            schema = {"type": "object", "properties": {"a": schema}}
            assert bool(why_not_strict([Tool("tool", schema)], "openai_chat")) is (levels > 10)

    @pytest.mark.parametrize("depth", [50, 200, 500, 5000])
    def test_that_are_nested_deeply_are_loose_or_refused(self, depth: int) -> None:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(depth):
            schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
        for provider in PROVIDERS:
            try:
                assert len(tool_definitions([Tool("tool", schema)], provider)) == 1
            except UnsupportedSchemaError as error:
                assert "nested too deeply" in str(error)  # noqa: PT017 - or it is not raised
                assert depth > 50

    @pytest.mark.parametrize("provider", CLOSED)
    def test_share_the_limits_of_a_request(self, provider: str) -> None:
        def optional(count: int) -> dict[str, Any]:
            return {"type": "object", "properties": {f"f{at}": {"type": "null"} for at in range(count)}}

        many = [Tool(f"t{at}", PLAIN) for at in range(21)]
        assert list(why_not_strict(many, provider)) == ["t20"]
        assert [is_strict(provider, each) for each in tool_definitions(many, provider)] == [True] * 20 + [False]
        loose = [Tool("a", optional(20)), Tool("b", optional(5)), Tool("c", optional(4))]
        assert list(why_not_strict(loose, provider)) == ["b"]
        union = {"anyOf": [{"type": "string"}, {"type": "null"}]}
        fields = {f"f{at}": union for at in range(9)}
        unions = [Tool(name, {"type": "object", "properties": fields, "required": list(fields)}) for name in "ab"]
        assert list(why_not_strict(unions, provider)) == ["b"]

    @given(randoms)
    def test_whatever_is_strict_breaks_no_rule(self, random: Random) -> None:
        schema = {**drawn_object(random, 3), "$defs": {name: drawn(random, 2) for name in "AB"}}
        for provider in STRICT:
            tool = Tool("tool", schema)
            (defined,) = tool_definitions([tool], provider)
            if is_strict(provider, defined):
                assert breaches(provider, schema_of(provider, defined)) == []
            assert is_strict(provider, defined) is not bool(why_not_strict([tool], provider))


def described(name: str) -> dict[str, Any]:
    fields = {side: {"$ref": f"#/$defs/{name}", "description": side} for side in ("left", "right")}
    return {"type": "object", "properties": fields}


def drawn_object(random: Random, depth: int) -> dict[str, Any]:
    fields = {name: drawn(random, depth - 1) for name in random.sample("abcd", random.randint(0, 3))}
    drawn_schema: dict[str, Any] = {"type": "object", "properties": fields}
    if fields and random.random() < 0.5:
        drawn_schema["required"] = random.sample(sorted(fields), random.randint(0, len(fields)))
    if random.random() < 0.3:
        drawn_schema["additionalProperties"] = random.choice([False, False, True, {}])
    return drawn_schema


def drawn(random: Random, depth: int) -> Any:
    """A schema with keywords that providers treat differently."""
    said = {
        key: value for key, value in (("description", "d"), ("default", 1), ("title", "T")) if random.random() < 0.3
    }
    choices: list[Any] = [
        {"type": "string", "minLength": 1},
        {"type": "string", "pattern": random.choice(["^a", "^(?!b)"]), "format": random.choice(["date", "uri", "x"])},
        {"type": "integer", "minimum": 1},
        {"enum": [1, "a"]},
        {"const": "a"},
        {"$ref": f"#/$defs/{random.choice('AB')}"},
        {"type": ["string", "null"]},
    ]
    if depth:
        inner = [drawn(random, depth - 1) for _ in range(2)]
        choices += [
            {"type": "array", "items": inner[0], "minItems": random.randint(0, 2), "uniqueItems": True},
            {"type": "array", "prefixItems": inner, "minItems": 2, "maxItems": 2},
            {"anyOf": inner},
            {"oneOf": inner, "discriminator": {"propertyName": "a"}},
            {"allOf": [inner[0]]},
            drawn_object(random, depth),
        ]
    return {**random.choice(choices), **said}


def objects_in(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [one for item in value for one in objects_in(item)]
    if not isinstance(value, dict):
        return []
    return [value, *(one for item in value.values() for one in objects_in(item))]


class TestOtherProviders:
    @pytest.mark.parametrize("provider", ["gemini", "gemini_interactions", "cohere", "ollama"])
    def test_have_no_strict_tools_and_say_so(self, provider: str) -> None:
        tool = Tool("tool", Place)
        ((reason,),) = why_not_strict([tool], provider).values()
        assert provider in reason
        with pytest.raises(ValueError, match="cannot be strict"):
            tool_definitions([tool], provider, strict=True)
        assert tool_definitions([tool], provider) == tool_definitions([tool], provider, strict=False)

    @pytest.mark.parametrize("strict", [1, "yes"])
    def test_strict_is_a_switch(self, strict: Any) -> None:
        with pytest.raises(TypeError, match="strict must be a bool"):
            tool_definitions([], "openai_chat", strict=strict)

    def test_ollama_which_drops_references_gets_none(self) -> None:
        (defined,) = tool_definitions([Tool("tool", Trip)], "ollama")
        parameters = defined["function"]["parameters"]
        assert "$ref" not in json.dumps(defined)
        assert "$defs" not in parameters
        assert parameters["properties"]["end"]["description"] == "where it ends"
        assert list(parameters["properties"]["end"]["properties"]) == ["city", "zip"]
        assert list(parameters["properties"]["stops"]["items"]["properties"]) == ["city", "zip"]

    def test_ollama_gets_what_contains_itself_once(self) -> None:
        (defined,) = tool_definitions([Tool("tool", Node)], "ollama")
        assert "$ref" not in json.dumps(defined)
        inner = defined["function"]["parameters"]["properties"]["children"]["items"]
        assert list(inner["properties"]) == ["value", "children", "parent"]
        assert inner["properties"]["children"]["items"] == {"type": "object"}

    def test_ollama_gets_no_more_than_it_can_read(self) -> None:
        names = {f"d{at}": described(f"d{at + 1}") for at in range(40)} | {"d40": {"type": "string"}}
        schema = {**described("d0"), "$defs": names}
        assert len(json.dumps(tool_definitions([Tool("tool", schema)], "ollama"))) < 300_000

    def test_gemini_reads_one_value_as_an_enum(self) -> None:
        (defined,) = tool_definitions([Tool("tool", Cat)], "gemini")
        assert defined["parametersJsonSchema"]["properties"]["kind"]["enum"] == ["cat"]
        assert "const" not in defined["parametersJsonSchema"]["properties"]["kind"]


class TestNames:
    @pytest.mark.parametrize("name", ["<lambda>", "bad name!", "a" * 129, "naïve", "a/b", "a\n", " a"])
    def test_that_no_provider_takes_are_refused_when_a_tool_is_made(self, name: str) -> None:
        with pytest.raises(ValueError, match="name must be 1 to 128 letters"):
            Tool(name)
        with pytest.raises(ValueError, match="name must be 1 to 128 letters"):
            Tool.from_function(drawn, name=name)

    def test_a_function_without_a_name_needs_one(self) -> None:
        with pytest.raises(ValueError, match=r"name must be passed: .* '<lambda>'"):
            Tool.from_function(lambda: None)
        assert Tool.from_function(lambda: None, name="nothing").name == "nothing"

    @pytest.mark.parametrize(
        ("name", "refusing"),
        [
            ("weather", ()),
            ("get-weather_2", ()),
            ("w" * 64, ()),
            ("w" * 65, ("openai_chat", "openai_responses", "bedrock")),
            ("maps.weather", ("openai_chat", "openai_responses", "bedrock", "anthropic")),
            ("2nd", ("gemini", "gemini_interactions")),
        ],
    )
    def test_that_a_provider_refuses_are_refused_when_a_request_is_written(
        self, name: str, refusing: tuple[str, ...]
    ) -> None:
        for provider in PROVIDERS:
            if provider in refusing:
                with pytest.raises(ValueError, match=f"{provider} refuses a tool that is called '{name}'"):
                    tool_definitions([Tool(name, PLAIN)], provider)
            else:
                assert tool_definitions([Tool(name, PLAIN)], provider)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("error", ["", "  \n"])
def test_an_error_without_words_is_told_in_some(provider: str, error: str) -> None:
    written = to_request(ToolResult(CompleteCall("pay", {}, id="c1"), error=error), provider)
    assert "the tool failed" in json.dumps(written)


@pytest.mark.parametrize("provider", [None, *(each for each in PROVIDERS if each != "gemini")])
def test_the_first_call_of_another_provider_has_geminis_placeholder(provider: str | None) -> None:
    calls = (CompleteCall("a", {}, id="1"), CompleteCall("b", {}, id="2"))
    (item,) = to_request(Message(calls, provider=provider), "gemini")
    assert [part.get("thoughtSignature") for part in item["parts"]] == ["skip_thought_signature_validator", None]


def test_a_call_of_gemini_keeps_its_own_signature_or_none() -> None:
    signed = CompleteCall("a", {}, id="1", extra={"thoughtSignature": "c2ln"})
    (item,) = to_request(Message((signed, CompleteCall("b", {}, id="2")), provider="gemini"), "gemini")
    assert [part.get("thoughtSignature") for part in item["parts"]] == ["c2ln", None]
