"""Texts that random damage has found, each with what must become of it: the value that was meant, or an error.

Rule: what is right was decided by a reader, not by the stage; `REFUSED` is for texts that have two readings.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from jsontide.mend import EVERYTHING
from tests.cuts import every, whole
from tests.mend.runs import REFUSED, RIGHT, edited, judge, mended
from tests.oracles import is_json

MENDED: dict[str, tuple[str, Any]] = {
    "a comment between a key and its colon, after a missing comma": (
        '{"x": 1 "y"/*it\'s a guess*/: 2}',
        {"x": 1, "y": 2},
    ),
    "a comment after the first colon": (
        '{\n off\n: /* the total */null, "tags": ["on"]}\n[{"x": "y"}]',
        {"off": None, "tags": ["on"]},
    ),
    "a comment in place of a colon": ('```json\n[{"x" /**/1, "y": 2}]```', [{"x": 1, "y": 2}]),
    "a comment after a plus sign": ('{"a": "b" + /* and */ "c"}', {"a": "bc"}),
    "a comment after a string with quotes inside": (
        '{"a": "the "b" key", "c": /* one */ 1}',
        {"a": 'the "b" key', "c": 1},
    ),
    "an object right after its key": ('{"first name"{}\n}', {"first name": {}}),
    "commas before the first of nested items": ('[\n[,\n"}])"\t]\n,\n[ ]\n, null\t]', [["}])"], [], None]),
    "a comma before a nested array": ('[,\n [\n "", {}\n ]\n]', [["", {}]]),
    "an ellipsis after a missing comma, then the end": ('[\n[\n""\n]\n... \n]', [[""]]),
    "half a character before an escaped quote": (r'{"a":  "\ud800\""}', {"a": '\ud800"'}),
    "half a character before a backslash": (r'["z:\ud800\\"]', ["z:\ud800\\"]),
}
STRICT = ("half a character before an escaped quote", "half a character before a backslash")
AMBIGUOUS: dict[str, str] = {
    "an item that lost its end, and one with a quote too many": '["a b", "c d, "\\n"1", "e"]',
    "the same, and the quote is the last character": '["on for you, "km a""]',
    "the same, and the quote is the first character": '["you 5, ""5 a more"]',
    "the same without spaces": '{"steps":["and","km,"rain and" for a"],"n":1}',
    "the same with wide space": '["on we,  \t "over ready 5""\n, "need"]',
    "an empty item without a comma": '[ "" null, null, ""]',
    "the same in a compact array": '["" null,null,""]',
    "an ellipsis between empty items": '[ null, null, ""..., , ""]',
    "a line that ends in a comma, without a quote before it": '{"text": "on,\n", ".said , said ": false}',
    "a value after what may have been one": '{ off ! null, "a": ["on"]}\n[{"x": "y"}]',
    "a number in a tag, after what may have been a value": '{\n"<a href="x" class="y">5</a>": [1],\n"n: 1\n}',
    "four quotes that begin a string": '{"text": """"["""}',
    "a value that ends inside a string, before a comma": '{"a": "b", "text": ""}, {1{\\n",\n"note": "for is"\n}',
    "a value that ends inside a string, before a backslash": '{"a": 1, "text": " " }\\n[""{"\n}',
    "a value that ends inside a string, after a comma": '[ "1", ][[ "", "we"]',
    "a closer too many inside a string": '["a", "["]}a \'said ["\n]',
    "a comment right after a key that may have lost a quote": '{\nA#"\n:null }',
    "a key with quotes around a number inside": '{"a": 1, "over the" 5" Monday": [2, "b c"]}',
    "a key with a quote right after a number inside": '{"on": 5": and rain": 31, "name": "you"}',
    "brackets that close after a remark": '{"a": [ "b"}]\n',
}


@pytest.mark.parametrize("name", sorted(MENDED))
def test_it_comes_back_as_it_was_meant(name: str) -> None:
    text, value = MENDED[name]
    for chunks in every(text):
        end = mended(chunks, EVERYTHING)
        assert judge(end, value) == RIGHT
        assert edited(text, end.state.repairs) == end.text


@pytest.mark.parametrize("name", STRICT)
def test_it_is_strict_and_passes(name: str) -> None:
    text, value = MENDED[name]
    assert is_json(text)
    assert json.loads(text) == value
    for chunks in every(text):
        end = mended(chunks, EVERYTHING)
        assert (end.text, end.repairs) == (text, ())


@pytest.mark.parametrize("name", sorted(AMBIGUOUS))
def test_it_is_refused(name: str) -> None:
    for chunks in every(AMBIGUOUS[name]):
        assert judge(mended(chunks, EVERYTHING), None) == REFUSED


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ('[\n "code" \t{\n },null ]', 2),
        ('["a"\t  "b", 3]', 2),
        ('["a"\t  ，"b", 3]', 2),
        ('```text\n\n[\r\n    {\r\n        "name": "more"\r\n    }\r\n]\n```\n\n{"b": 2}', 16),
        ('{\r\n  "first name"{}\r\n}', 16),
        ('["two\nlines"\t  , "b"]', 2),
        ("[\n[\n] null\t]", 2),
        ('[ null ""]', 2),
        ('["b,9", 12345.678 "report", {"o": ","}]', 2),
    ],
)
def test_a_low_limit_does_not_lead_to_another_value(text: str, most: int) -> None:
    end = mended(whole(text), replace(EVERYTHING, max_held=most))
    assert end.state.error is not None or end.text == mended(whole(text), EVERYTHING).text
