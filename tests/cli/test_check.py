"""`jsontide check`, and what `--schema` takes."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest
from typer.testing import Result

from tests.cli.running import ITINERARY, run
from tests.cli.streams import openai, sse

SCHEMA = {
    "type": "object",
    "required": ["title", "days"],
    "properties": {
        "title": {"type": "string", "minLength": 3},
        "days": {"type": "array", "items": {"type": "integer"}},
    },
}


def check(tmp_path: Path, data: bytes, *options: str, schema: object = SCHEMA) -> Result:
    (tmp_path / "text.json").write_bytes(data)
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    return run("check", tmp_path / "text.json", "--schema", tmp_path / "schema.json", *options)


@pytest.mark.parametrize(
    "data",
    [
        b'{"title": "Porto", "days": []}',
        b'{"title": "Porto", "days": [1, 2]}',
        b'{"title": "Porto", "days": [1, "x"]}',
        b'{"title": "P", "days": [1]}',
        b'{"title": "Porto"}',
        b"[]",
    ],
)
def test_the_exit_code_says_whether_a_document_fits(tmp_path: Path, data: bytes) -> None:
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid(json.loads(data))
    assert check(tmp_path, data).exit_code == (0 if fits else 1)


def test_each_problem_has_a_caret_under_its_place(tmp_path: Path) -> None:
    result = check(tmp_path, b'{"title": 7,\n "days": [1, "x"]}')
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "jsontide: root.title: expected a string, found 7 (line 1, column 11)",
        '1 | {"title": 7,',
        "              ^",
        'jsontide: root.days[1]: expected an integer, found "x" (line 2, column 14)',
        '2 |  "days": [1, "x"]}',
        "                 ^",
    ]


def test_problems_for_programs(tmp_path: Path) -> None:
    result = check(tmp_path, b'{"title": 7, "days": [', "--json")
    assert (result.exit_code, result.stderr) == (3, "")
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["path"], first["reason"], first["column"]) == ("root.title", "wrong type", 11)
    assert (second["path"], second["reason"], second["index"]) == ("root.days[0]", "unexpected end", 22)


def test_not_all_of_many_problems_are_explained(tmp_path: Path) -> None:
    result = check(tmp_path, json.dumps({"title": "Porto", "days": ["x"] * 50}).encode())
    assert result.stderr.count("^") == 20
    assert result.stderr.splitlines()[-1] == "jsontide: and 30 more"


def test_any_json_fits_any() -> None:
    assert run("check", ITINERARY, "--schema", "any").exit_code == 0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "plans.py").write_text("from dataclasses import dataclass\n@dataclass\nclass Plan:\n    title: str\n")
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "plan.json").write_text('{"title": 7}')
    (tmp_path / "schema.json").write_text('{"type": "dream"}')
    (tmp_path / "bad.json").write_text('{"type": }')
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_type_in_a_module_of_this_directory_is_a_schema() -> None:
    result = run("check", "plan.json", "--schema", "plans:Plan")
    assert result.exit_code == 1
    assert "root.title: expected a string, found 7" in result.stderr


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("no.json", "No such file"),
        ("bad.json", "found '}' (line 1, column 10)"),
        ("schema.json", '"dream"'),
        ("nowhere:Plan", "cannot import nowhere"),
        ("broken:Plan", "division by zero"),
        ("plans:Trip", "the module plans has no Trip"),
        ("plans:Plan.days", "has no Plan.days"),
        ("plans:dataclass", "not a callable"),
    ],
)
def test_a_schema_that_cannot_be_used_is_named(schema: str, said: str) -> None:
    result = run("check", "plan.json", "--schema", schema)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_the_answer_of_a_model_is_checked(tmp_path: Path) -> None:
    assert check(tmp_path, openai('{"title": "Porto", ', '"days": []}')).exit_code == 0
    result = check(tmp_path, openai('{"title": "Porto",\n', '"days": [1, "x"]}'))
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        'jsontide: root.days[1]: expected an integer, found "x" (line 2, column 13)',
        '2 | "days": [1, "x"]}',
        "                ^",
    ]


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (openai('{"title": "Po', reason="length"), 3, "found the end of the text"),
        (openai("Hello"), 1, "expected a value, found 'H'"),
        (sse({"a": 1}), 1, "there is no message of a model in it"),
        (openai('{"title": "Porto", "days": []}', reason="content_filter"), 1, "the message is filtered"),
        (openai(call='{"q": "Porto"}', reason="tool_calls"), 1, "the message has no answer"),
        (openai('{"title": "Porto", "days": []}')[:-260], 3, "the stream ends in the middle of an event"),
    ],
)
def test_what_is_no_answer_does_not_fit(tmp_path: Path, data: bytes, code: int, said: str) -> None:
    result = check(tmp_path, data)
    assert result.exit_code == code
    assert said in result.stderr


def test_a_problem_without_a_place_has_none_for_programs(tmp_path: Path) -> None:
    result = check(tmp_path, sse({"a": 1}), "--json")
    assert json.loads(result.stdout) == {
        "path": "root",
        "reason": "no message",
        "message": "there is no message of a model in it",
    }


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("missing", "schema"), [("jsonschema", "any"), ("pydantic", "plans:Plan")])
def test_a_missing_extra_is_named(missing: str, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsontide.schema._validator.find_spec", lambda name: None if name == missing else name)
    result = run("check", "plan.json", "--schema", schema)
    assert result.exit_code == 2
    assert f"pip install 'jsontide[{missing}]'" in " ".join(result.stderr.split())
