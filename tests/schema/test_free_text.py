"""Strings that are not free text: half a date, address or number is shown to nobody who did not ask for it."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, Field, HttpUrl, Json, SecretStr, StringConstraints

from jsontide import MISSING, Partial, stream_model
from jsontide.schema import Stream, from_json_ast
from tests.cuts import every, fed, whole
from tests.schema.resolving import resolutions

WHOLE: dict[Any, str] = {
    HttpUrl: "https://example.org/a",
    AnyUrl: "https://example.org/a",
    date: "2026-11-18",
    datetime: "2026-11-18T04:00:00Z",
    time: "04:00:00",
    timedelta: "P3DT12H",
    UUID: "12345678-1234-5678-1234-567812345678",
    Decimal: "1234.50",
    complex: "1+2j",
    bytes: "abc",
    Path: "/tmp/a/b",  # noqa: S108 - not used
    IPv4Address: "127.0.0.1",
    IPv6Network: "2001:db8::/32",
    SecretStr: "secret",
    Json[list[int]]: "[1, 2]",
    Annotated[Decimal, Field(gt=0)]: "12.5",
    date | None: "2026-11-18",
    list[date]: "2026-11-18",
}
FREE: dict[Any, str] = {
    str: "some text",
    str | None: "some text",
    Annotated[str, StringConstraints(min_length=1)]: "some text",
    Annotated[str, Field(description="A note")]: "some text",
    Annotated[date, Stream()]: "2026-11-18",
    Annotated[Decimal, Stream()]: "12.5",
}


def seen(schema: Any, text: str) -> list[object]:
    """What is shown of a string under the key `a`, character by character, until it closes."""
    return [
        found.value.get("a", MISSING)
        for found in resolutions(schema, ['{"a": "', *text])
        if isinstance(found.value, dict)
    ]


@pytest.mark.parametrize("kind", WHOLE, ids=str)
def test_a_type_that_is_not_text_appears_when_it_is_complete(kind: Any) -> None:
    fields: dict[str, Any] = {"__annotations__": {"a": kind}, "__module__": __name__}
    model = type("Model", (BaseModel,), fields)
    before, after = ("[", "]") if kind == list[date] else ("", "")
    text = WHOLE[kind].replace('"', r"\"")
    for chunks in every(f'{{"a": {before}"{text}'):
        for found in resolutions(model, chunks):
            assert found.value in (MISSING, {}, {"a": []})
    shown = from_json_ast(model, fed(whole(f'{{"a": {before}"{text}"{after}, '))).value
    assert shown == {"a": [text] if before else text}


@pytest.mark.parametrize("kind", FREE, ids=str)
def test_free_text_and_what_asks_for_it_grows(kind: Any) -> None:
    model = type("Model", (BaseModel,), {"__annotations__": {"a": kind}, "__module__": __name__})
    text = FREE[kind]
    assert seen(model, text) == [text[:length] for length in range(len(text) + 1)]


@pytest.mark.parametrize(
    "more",
    [
        *({"format": name} for name in ("uri", "date", "date-time", "uuid", "email", "ipv4", "decimal", "phone", "x")),
        {"contentEncoding": "base64"},
        {"contentMediaType": "application/json"},
    ],
)
def test_a_format_appears_when_it_is_complete_unless_a_policy_says_otherwise(more: dict[str, str]) -> None:
    text = {"type": "string", **more}
    for schema in (text, {"anyOf": [text, {"type": "null"}]}, {"$ref": "#/$defs/a"}, {"allOf": [text]}):
        root = {"properties": {"a": schema}, "$defs": {"a": text}}
        assert set(map(str, seen(root, "2026-1"))) == {"MISSING"}
        assert from_json_ast(root, fed(whole('{"a": "2026-11"'))).value == {"a": "2026-11"}
        grown = {**root, "properties": {"a": {**schema, "x-stream": "grow"}}}
        assert seen(grown, "2026")[-1] == "2026"
        by_path = from_json_ast(root, fed(whole('{"a": "2026')), policies={"a": Stream()})
        assert by_path.value == {"a": "2026"}


@pytest.mark.parametrize("name", ["markdown", "html", "text", "textarea", "Markdown", "multi-line", "code"])
def test_a_format_of_free_text_grows(name: str) -> None:
    root = {"properties": {"a": {"type": "string", "format": name, "contentMediaType": "text/markdown"}}}
    assert seen(root, "2026-1")[-1] == "2026-1"


def test_partials_have_no_half_dates() -> None:
    class Trip(BaseModel):
        start: date
        note: str

    chunks = ['{"start": "2026-1', '1-18", "note": "Hel', 'lo"}']
    shown = [trip.to_dict() for trip in stream_model(chunks, Trip) if isinstance(trip, Partial)]
    assert shown == [
        {},
        {"start": "2026-11-18", "note": "Hel"},
        {"start": "2026-11-18", "note": "Hello"},
    ]
