"""Texts that random damage has found, each with what must become of it: the value that was meant, or an error.

Rule: what is right was decided by a reader, not by the stage; `REFUSED` is for texts that have two readings.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from jsontide import Reason
from jsontide.mend import EVERYTHING
from tests.cuts import Chunks, every, singles, whole
from tests.mend.runs import REFUSED, RIGHT, TRUNCATED, edited, judge, mended
from tests.oracles import is_json

Cuts = Callable[[str], Iterable[Chunks]]


def some(text: str) -> list[Chunks]:
    return [whole(text), singles(text)]


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
    "a comment with quoted words after a string": ('{"a": "b" // the "real" one\n, "c": 1}', {"a": "b", "c": 1}),
    "a comment with inches after a comma": ('{"a": "b", // 5" or so\n"c": 1}', {"a": "b", "c": 1}),
    "a comment with a member in it": ('{"a": "b", // "old": 1\n"c": 1}', {"a": "b", "c": 1}),
    "a comment on lines of its own, with a quote": ('[1, /* "\n*/ 2]', [1, 2]),
    "a comment after an escaped quote": ('["a\\"", // b\n"c"]', ['a"', "c"]),
    "a comma at the end of a string, and one too many": ('["a,", "b",]', ["a,", "b"]),
    "half a character before an escaped quote": (r'{"a":  "\ud800\""}', {"a": '\ud800"'}),
    "a no-break space as Python writes it": (repr({"text": "10\xa0€"}), {"text": "10\xa0€"}),
    "what Python escapes": (
        repr({"a": "\x00\x1b\x7f\U000e0001\u200b\\\n'", "b": "\x85"}).replace('"', "'").replace("n'", "n\\'", 1),
        {"a": "\x00\x1b\x7f\U000e0001\u200b\\\n'", "b": "\x85"},
    ),
    "a code point in three marks": (r'{"a": """\x41"""}', {"a": "A"}),
    "a code point in braces, as JavaScript writes it": (r"{'a': '\u{1F600}\x22'}", {"a": '\U0001f600"'}),
    "prose with an object in braces, then the value": ('Use {a: "}"} so: {"b": 1}', {"b": 1}),
    "a key as Python 2 writes it, after prose": ("Use {u'a': [u\"b\"]}", {"a": ["b"]}),
    "an item as Python 2 writes it, after prose": ('Use [u"a", 1]', ["a", 1]),
    "prose in parentheses before the value": ('Here (see 1.) and (2) it is: {"b": 1}', {"b": 1}),
    "an opening mark in a key that begins with one": ('{“1“ ": “a b"}', {"1“ ": "a b"}),
    "a key that begins with two typographic marks": (
        '[{„“[": [„a b"]}, [{„c": „d"}]]',
        [{"“[": ["a b"]}, [{"c": "d"}]],
    ),
    "a value in parentheses": ('Use the object ({"b": 1})', {"b": 1}),
    "an index in prose before the value": ('Use config["a"] to get {"b": 1}', {"b": 1}),
    "a value in quotes in the index of what it is assigned to": ('data["k"] = {"b": 1}', {"b": 1}),
    "an argument of a call": ("print({'total': 12})", {"total": 12}),
    "an object with apostrophes in the middle of a sentence": ("I got {'a': 1} from it", {"a": 1}),
    "an array with apostrophes in the middle of a sentence": ("I got ['a', 'b'] from it", ["a", "b"]),
    "a semicolon before a key without quotes": ('{name: "Zed"; age: 4}', {"name": "Zed", "age": 4}),
    "a comment of HTML with a value": ('<!-- {"a": 2} -->\n{"a": 1}', {"a": 1}),
    "an object in quotes in prose": ('He wrote "{"a": 1}" and "b"', {"a": 1}),
    "a cell of CSV among others": ('1,"{""a"": ""b""}","c"', {"a": "b"}),
    "quoted words on the line after a lone quote and the value": ('A lone " is here: {"a": 1}\nSo "it" is', {"a": 1}),
    "items that all begin with typographic marks": ('[“a", “b"]', ["a", "b"]),
    "the same with a full-width comma": ('[„a"，„b"]', ["a", "b"]),
    "an empty string between a typographic and a plain mark, after others": ('[“a", “", “b"]', ["a", "", "b"]),
    "the same before a key that is a plus sign": ('{“c":2,“d":“",“ + ":“e"}', {"c": 2, "d": "", " + ": "e"}),
    "half a character before a backslash": (r'["z:\ud800\\"]', ["z:\ud800\\"]),
    "an item with quoted words after an empty one": ('["", "a "b" c"]', ["", 'a "b" c']),
    "an item in two marks after others": ('["", "a", ""b"", ""]', ["", "a", '"b"', ""]),
    "a value in two marks after an empty one": ('{"a": "", "b": ""c""}', {"a": "", "b": '"c"'}),
    "a missing comma after an empty key": ('{"": 1 "a": 2}', {"": 1, "a": 2}),
    "a missing comma before an empty key": ('{"a": 1 "": 2}', {"a": 1, "": 2}),
    "an object with an empty key first, and quoted words": (
        '{"": 1, "a": "b", "c": ""d""}',
        {"": 1, "a": "b", "c": '"d"'},
    ),
    "another value with a backslash at the end of a string": ('{"a": 1}{"b": "C:\\\\"}', {"a": 1}),
    "another value with escaped marks": ('{"a": 1} {"b": "\\"c"}', {"a": 1}),
    "a quotation mark after another value, on the next line": ('{"a": 1} {"b": 2}\n5" or so', {"a": 1}),
    "a quotation mark in a comment of HTML after the value": ('{"a": 1} <!-- 5" -->', {"a": 1}),
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
    "a value that ends inside a string, before a colon": '[ ""]: [", "b c"]',
    "a value that ends inside a string, after a comma": '[ "1", ][[ "", "we"]',
    "a closer too many inside a string": '["a", "["]}a \'said ["\n]',
    "a comment right after a key that may have lost a quote": '{\nA#"\n:null }',
    "a key with quotes around a number inside": '{"a": 1, "over the" 5" Monday": [2, "b c"]}',
    "a key with a quote right after a number inside": '{"on": 5": and rain": 31, "name": "you"}',
    "brackets that close after a remark": '{"a": [ "b"}]\n',
    "a comment sign after an escaped quote": r'[null, "a\" ,"// no comment"]',
    "the same on lines of their own": '[\n"a\\",\n"// no comment"\n]',
    "a number sign after an escaped quote": r'["note\","# "]',
    "an open comment after an escaped quote": r'[ "5\", "/*[", -2.5, [ true]]',
    "a whole comment after an escaped quote": r'{"a": ["b\", "/* c */"], "d": null}',
    "a whole comment after a key with an escaped quote": '{"a": "b",\n"c\\":"/* c */"\n}',
    "a comment sign after a quote without a backslash": '{"a": "b"// c", "d": 1}',
    "an open comment at the end of a line, the same": '{\n"a": ""/*"\n}',
    "a comment sign after a string that lost its end": '{ "k0": ", "/*": "on we"}',
    "a whole comment after a string that lost its end": '{"a": "b,"/* c */": ": "}',
    "a comment sign in a string that lost its beginning": '[\n  "x",\n  // no"\n]',
    "a comment sign after a word, the same": '[\n\tnull// no: ",\n\t[1]\n]',
    "a comment with an escaped quote, and a last one": r'["", ["x,"# t\", \""]]',
    "brackets after a key with an escaped quote": r'{"m0": [1], "b c\": -2.5, "[]}//": "d"}',
    "a bracket in a string that lost its beginning mark's backslash": '{"b": " + \\", "}```"\n,"c": "d"}',
    "a number sign right after a value that may have ended early": '{"a": "\\\\"}# t(",", true/*": ["", "// no"]}',
    "another value after a string that lost its end": '{"on": "note,"} ":[-2.5,-2.5],"# t[":[1]}',
    "two items without a comma and a space": '[1, "a: ""note"]',
    "a string and a bracket without a comma and a space": '["x: 1"[""]]',
    "a number after a string without a comma": '["("\t -2.5 ,"b"]',
    "an ellipsis right after a string, the same": '["1*/"..., ,"/* c */",-2.5]',
    "a key of two words on a line of its own": '[{"x": " + ",\nfirst name: ""\n}]',
    "a key of two words after a comma": '[{"n": "k:",first name:" a"}]',
    "another array after one that may have ended early": '[""], [", "b"]',
    "nothing in a quoted scalar in prose": 'He wrote "{}}" there',
    "a number in a quoted scalar in prose, after a lone quote": 'A lone " too: "<|x|>5</a>"',
    "the same before a tag": 'The result is "<\\"\\"{}</a>"',
    "a fence in a quoted scalar in prose": 'Sure: "a ```json\n{}}" b',
    "a fence in a string of an object that cannot be read": '｛\n"a": "<```json\\n\\"",\n"b": [\n"km",\n-1\n]\n｝',
    "the same after a key that ends in an escaped quote": '{"a\\": [```json\n"b"], "c": {}}\n',
    "the same after a key that has lost its first quote": '{\nx": "#\\n```=",\n"b": "[```json\\n",\n"c": {}\n}',
    "a value after one in a fence that cannot be read": '```json\n{"a\\": 1, "b": "c"}\n```\nok {}',
    "the same without a fence around it": 'Here: {"a\\": "b",\n"c\\": {}}\n```\nok {}',
    "the same in a fence that names no language": 'Sure ```\n{"a\\": "b", "z\\": "b"}\n```\nok {}',
    "a tag in a string, the same": '［{"a":"<|x|>```json\\n"},\n["b", {"c": 1}]］',
    "a brace in a string of an object in prose that broke off": 'Use {a: "}", b: {"path": "/"}',
    "the same in apostrophes": 'Use {a: \'}\', b: {"path": "/"}',
    "the same after an escaped quotation mark": 'Use {a: "\\"}", b: {"path": "/"}',
    "the same in marks that are escaped": 'Use {a: \\"}\\", b: {"path": "/"}',
    "the same with its end": 'Use {a: "}", b: {"path": "/"}}',
    "an object behind an empty array in prose": 'Sure! [[], {"a": 2}]',
    "an object behind a bracket in a string in prose": 'Sure! [1, "]", {"a": 2}]',
    "an object in a tuple": '("ok", {"a": 2})',
    "an object in a tuple in prose": 'It says (1, {"a": 2}) there',
    "an object behind a name in a tuple": '(a, {"b": 1})',
    "an argument behind another": 'f(x, {"c": 2})',
    "an argument behind another call": 'f(g(x), {"c": 2})',
    "an argument with a name": 'Foo(a={"c": 2})',
    "an argument with a name behind another": 'Foo(a=1, b={"c": 2})',
    "an index with a string": 'config["a"] is 5',
    "members without the brace before them": '"city": "Oslo", "pos": {"lat": 1}}',
    "the same without the one after them": '"city": "Oslo", "pos": {"lat": 1}',
    "the same in a fence": '```json\n"city": "Oslo",\n"pos": {"lat": 1}}\n```',
    "the same with apostrophes": "'city': 'Oslo', 'pos': {\"lat\": 1}}",
    "the same without quotes": 'city: "Oslo", pos: {"lat": 1}}',
    "the same without the first key": '"Oslo", "pos": {"lat": 1}}',
    "the same without the first value": '1, "pos": {"lat": 1}}',
    "the same from the middle of a key": 'pos": {"lat": 1}}',
    "the same from the first colon": ': {"lat": 1}}',
    "items without the bracket before them": '"Oslo", {"lat": 1}]',
    "three quotes that may be strings of one": '{"a": """, "k": """}',
    "the same in an array": '["a", """, "b", """]',
    "three quotes, and one inside that may end a string": '{"a": """x", "k": """}',
    "escapes that Python knows and JSON does not": r"{'a': 'C:\apps'}",
    "an escape that Python knows in the marks around an apostrophe": repr({"text": "it's 10\xa0€"}),
    "the same before a string in apostrophes": repr(["it's \x00", "a"]),
    "the same in three marks, beside others": r'{"a": """b""", "c": "\x41"}',
    "a line that Python continues": "{'a': 'x\\\ny'}",
    "an octal escape": r"{'a': 'x\101'}",
    "an escape of Python beside a backslash that is text": r"{'a': 'C:\data\xab'}",
    "a cell of CSV whose strings hold fences": (
        '"{\r\n""$ref"": ""```json\n\\""\\"""",\r\n""```json"": ""/*```>]""\r\n}"'
    ),
    "a bracket in a key after a string with an escaped quote": r'[ [], { "_id": 1000}, [ [], "C:\"], { "]{„}": []}]',
    "the same with a space": r'[["C:\"], {"] {„}": []}]',
    "a bracket on another line after a path that ends in a backslash": '[0, "C:\\data\\",\n[\n"，„*/", {"n": 1}]]',
    "the same with an escaped backslash before it": '[0, "a\\",\n[\n"，„*/", {"n": 1}]]',
    "the same in one line": '[0, "a\\", ["，„*/", {"n": 1}]]',
    "a trailing comma after a string that may have ended": '["a\\", ", 1,]',
    "a typographic mark inside a string that begins with one": '{\n„a":„null”\xa0",\n„b":{„c":1}\n}',
    "a key that ends in a typographic mark, or not": '{"a": 1, "x”: ":„[)”"}',
    "two ends of a string that begins with a typographic mark": '[“a”, ", “`b`", “c"]',
    "a key of words that may be quoted words with a comma before them": '{"a":"<b>" , is it\t:\n "“c”"\n,"d":1}',
    "a full-width comma and a low mark after a string, or inside": '["é"，„\'",31,1000]',
    "a tag and a fence in a key after a string that lost its end": '{"a":"b,"}</a>```json\\nnull":"5 km"}',
    "an equals sign after two quotes of a cell of CSV": '{\n""=>//\\""k\\"": "":\nfalse}',
    "an equals sign right after a value that may have ended early": '["[1"]=a)# //", "5 is", {"b": null}]',
    "another value on a line after a comma, the same": '["[1"] a)# //",\n "5 is",\n{"b": null}]',
    "a typographic mark and a brace in a key": '{„a”{":{„b":1,„c":„d"}}',
    "the same with an array": r'[["a\"], ["] [‘x": 1]]',
    "two typographic marks that may be a string or text": '[„a b", „”, „c d", „e f"]',
    "a string between typographic marks after one that a plain mark ended": '{“a": “b”}',
    "a key in brackets in a cell of CSV": '{""[1]"": ""a b""}',
    "a fence in a string after a mark that lost its backslash": '[-5, "”"](=>```", "a b"]',
    "a typographic mark in a string that lost a backslash": '[1,"//b c...",“<"]',
    "the same with a low mark": '["a", „b"]',
    "the same behind other items": '["a", [1], “b"]',
    "the same in a later key": '{"a": "x,",“b": 1}',
    "the same after a full-width comma": '{"a": "x"，„b": 1}',
    "a key with such a mark after a string that lost its end": '{"kind":"ready 東京,",“<b c":"\\u2026"}',
    "the same with a comment and a full-width comma": '{"//-) + ":"// no,"，„\\t*/</a>":"True"}',
    "the same in a member": '{"k": ["a", “b"]}',
    "a mark after a slash, and one at the beginning of an array": '[["/"..., ], [ "\'", "b"]]',
    "an array in a quoted scalar in prose, before a tag": r'See [link](x) ">\uff0c\"k\": [1]</a>"',
    "the same before words": 'He wrote "so: [1, 2] or so"',
    "an object in a quoted scalar, before words": 'He wrote "so: {"a": 1} or so"',
    "two arrays in a quoted scalar": 'He wrote "so: [1, 2] or [2] or so"',
    "an object at the beginning of a quoted scalar": 'He wrote "{"a": 1} or so" here',
    "a key in apostrophes with a key of JSON in it": '{\t\'name":  \n "x, "\t, "b"\t: "\': “c" ,  \n "d"  \n :1\t}',
    "such a key in one line": "{'name\":\"x, y','b\": 1}",
    "such a key with a space": "{'name\" : \"x', 'b\" : 1}",
    "an object in a cell of CSV, after a tag in a key": (
        '"{\r\n ""<|x|>}"": {\r\n ""x"": ""y""\r\n },\r\n ""b"": 1\r\n}"'
    ),
    "such an object on a line of its own": '"{\r\n ""<|x|>}"":\r\n {""x"": ""y""},\r\n ""b"": 1\r\n}"',
    "an array in a cell of CSV, after a key with brackets": '"{\n""}])"":\t[""}# ()"", 1]}"',
    "a comma and a brace in a string that lost a backslash": '{"a":"{x"},1{5",\n"b":"",\n"c":"d"}',
    "an object with doubled marks after quoted words": 'So "it" is {""x"": ""y""} here',
    "a quotation mark after a fence that none has opened": '{"a": "b"}~~~\n"',
    "an array between tags in a quoted scalar": 'Prices :-)\n"\\uff0c</a>[1]<|x|>"',
    "an array in the first key in a cell of CSV": '"{ "":[1]"": 31, ""note"": { ""kind"": 1000}}"',
    "the same outside of quotation marks": '{"":[1]"": 31}',
    "a word in the first key, the same": '{"":true "": 1, ""b"": {}}',
    "members in the first key in a cell of CSV": '"{"":1,"": 31}"',
    "the same outside of quotation marks, before another key": '{"":1,"": 31, ""b"": 2}',
    "an object with an empty key in quotation marks": '"{"": 1}"',
    "an object with escaped marks in a string that lost a backslash": '[\r\n  ""]{\\"k\\": \\t"\r\n]',
    "an object with apostrophes in such a string": '["a"]{\'k\': 1}"]',
    "the same after a closer too many": '["a"]} {\'k\': 1}"]',
    "the same after words, before another member": '{"a": "b"} x: {k: 1}", "c": 2}',
    "an array after a tag in such a string": '["a"] <|x|>[1, 2]"]',
    "thinking in such a string": '["a"] <think> b"]',
    "a comment of HTML in such a string": '["a"] <!-- b"]',
    "the same before another line": '["a"] <!-- b",\n"c"]',
    "an item in two marks after an empty one": '["", ""b"", 2]',
    "the same with an apostrophe": '{"a": "b", "c": ["", ""\'1\\n1"", 2]}',
    "the same after other items": '[1, "x", "",\n""b"" c]',
    "a wrong closer after a string, or quoted words and a closer that is missing": (
        '[2,["/* + "},"\xa0rain and","/* c */"]'
    ),
    "an object in typographic marks whose key has such a mark": '{ “```”a</a>1}": “</a>{", “b": 0.5}',
    "a plus sign after such a mark, and a plain one": '[[„a“ + ",„"]]',
    "an equals sign after such a mark, and a plain one": '{“a“=>": “b"}',
    "two joined strings, the first with another end than a key": '{“c":2,“d":“x“ + "y"}',
    "a quotation mark after another value, in its line": '{"a": 1} {"b": 2} 5"\nor so',
}


CUTS = pytest.mark.parametrize("cuts", [some, pytest.param(every, marks=pytest.mark.long)], ids=["some", "every"])


@CUTS
@pytest.mark.parametrize("name", sorted(MENDED))
def test_it_comes_back_as_it_was_meant(name: str, cuts: Cuts) -> None:
    text, value = MENDED[name]
    for chunks in cuts(text):
        end = mended(chunks, EVERYTHING)
        assert judge(end, value) == RIGHT
        assert edited(text, end.state.repairs) == end.text


@CUTS
@pytest.mark.parametrize("name", STRICT)
def test_it_is_strict_and_passes(name: str, cuts: Cuts) -> None:
    text, value = MENDED[name]
    assert is_json(text)
    assert json.loads(text) == value
    for chunks in cuts(text):
        end = mended(chunks, EVERYTHING)
        assert (end.text, end.repairs) == (text, ())


@CUTS
@pytest.mark.parametrize("name", sorted(AMBIGUOUS))
def test_it_is_refused(name: str, cuts: Cuts) -> None:
    for chunks in cuts(AMBIGUOUS[name]):
        assert judge(mended(chunks, EVERYTHING), None) == REFUSED


@pytest.mark.parametrize(
    "text",
    [r'["\ud83d\udc69"]', r"{\"a\": \"\\ud83d\\udc69\"}", '"{""a"": ""\\ud83d\\udc69""}"'],
    ids=["as it is", "one escape too many", "a cell of CSV"],
)
def test_half_a_character_is_not_shown_where_a_text_is_cut_off(text: str) -> None:
    assert mended(whole(text), EVERYTHING).text.endswith(r'"\ud83d\udc69"' + ("]" if text[0] == "[" else "}"))
    for end in range(len(text)):
        shown = mended(whole(text[:end]), EVERYTHING).text
        assert (r"\ud83d" in shown) == (r"\udc69" in shown)


def test_a_low_mark_and_a_plain_one_are_no_empty_string() -> None:
    assert judge(mended(['[\n"\\"", ,„",\n12345.678\n]'], EVERYTHING), None) == TRUNCATED


@pytest.mark.parametrize("text", ['"', '"{', '"{\t', '"[ ', '"{\t"'])
def test_what_may_be_a_string_or_a_cell_of_csv_is_not_shown_where_it_is_cut_off(text: str) -> None:
    assert judge(mended([text], EVERYTHING), None) == REFUSED


def test_a_string_with_json_in_it_is_shown_where_it_is_cut_off() -> None:
    assert judge(mended([r'"{\"a\": 1'], EVERYTHING), '{"a": 1') == TRUNCATED


def test_an_error_of_a_low_limit_is_where_the_text_is_that_would_have_to_be_held() -> None:
    error = mended(['{\n"a":null\n    "b":"x"\n}'], replace(EVERYTHING, max_held=2)).state.error
    assert error is not None
    assert (error.reason, error.index) == (Reason.HELD_TOO_LONG, 15)


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
        ('{"items":0.5,“x":"for on"}', 2),
        ('[{"user_id" =>  "…"}]', 2),
    ],
)
def test_a_low_limit_does_not_lead_to_another_value(text: str, most: int) -> None:
    for chunks in some(text):
        end = mended(chunks, replace(EVERYTHING, max_held=most))
        assert end.state.error is not None or end.text == mended(whole(text), EVERYTHING).text
