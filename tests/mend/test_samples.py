"""The contract of mending on samples that are the same every time; `test_contract.py` draws others."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from jsontide.mend import EVERYTHING, Mending, RepairKind
from tests.cuts import singles, sized
from tests.mend.damage import DAMAGES, DOUBTS
from tests.mend.runs import RIGHT, WRONG, judge, mended
from tests.mend.test_contract import some_damage

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))]
VALUES = (None, {"a": [1, "b", {"c": None}], "d": "e f"}, [True, ["x y"], 2.5, {}])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", sorted([*DAMAGES, *DOUBTS]))
def test_damage_is_mended_or_refused_in_any_cut(name: str, seed: int) -> None:
    random = Random(f"{name} {seed}")
    document = some_damage(name, random.choice(VALUES), random)
    for mending in (EVERYTHING, replace(EVERYTHING, max_held=12), replace(EVERYTHING, values="one")):
        end = mended([document.text], mending)
        assert judge(end, document.value) != WRONG
        assert mended(singles(document.text), mending).told == end.told
        assert mended(sized(document.text, 5), mending).told == end.told


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_what_is_switched_off_is_never_mended(name: str) -> None:
    for seed in range(3):
        random = Random(f"{name} {seed}")
        document = some_damage(name, random.choice(VALUES), random)
        for kind in sorted(document.kinds, key=lambda one: one.value):
            end = mended([document.text], EVERYTHING.without(kind))
            assert kind not in {repair.kind for repair in end.state.repairs}
        strict = mended([document.text], Mending(kinds=frozenset()))
        assert strict.state.error is not None or judge(strict, document.value) == RIGHT


OBJECT = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "number"},
        "i": {"type": "integer"},
        "b": {"type": "boolean"},
        "e": {"enum": ["low_key", "high"]},
        "l": {"type": "array", "items": {"type": "number"}},
        "t": {"type": "array", "items": {"type": "string"}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": False},
        "p": {"type": "array", "items": {"type": "object", "properties": {"x": {}}, "additionalProperties": False}},
    },
}
LINES = {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (OBJECT, '{"s": tall tree, "n": 1}', {"s": "tall tree", "n": 1}),
        (OBJECT, '{"s": a, b\n}', {"s": "a, b"}),
        (OBJECT, '{"s": f(x)}', None),
        (OBJECT, '{"s": "a\\u0301, "n": 2}', {"s": "a\u0301", "n": 2}),
        (OBJECT, '{"s": "a , "n": 2}', None),
        (OBJECT, '{"n": "1e3 m", "b": "OFF"}', {"n": 1000.0, "b": False}),
        (OBJECT, '{"n": "12,5"}', {"n": "12,5"}),
        (OBJECT, '{"n": 5 %, "b": y}', {"n": 5, "b": True}),
        (OBJECT, '{"n": seven}', None),
        (OBJECT, '{"n": 3,141}', None),
        (OBJECT, '{"n": "3,141"}', None),
        (OBJECT, '{"n": 3,141,592}', {"n": 3_141_592}),
        (OBJECT, '{"n": "1.000"}', {"n": 1.0}),
        (OBJECT, '{"i": "1.000"}', None),
        (OBJECT, '{"i": "1.0"}', {"i": 1.0}),
        (OBJECT, '{"i": 3,141}', {"i": 3141}),
        (OBJECT, '{"n": "2 million"}', {"n": "2 million"}),
        (OBJECT, '{"n": "5e3 million"}', {"n": "5e3 million"}),
        (OBJECT, '{"n": "5k"}', {"n": "5k"}),
        (OBJECT, '{"n": "5 M"}', {"n": "5 M"}),
        (OBJECT, '{"n": 12 dozen}', None),
        (OBJECT, '{"n": "12 kg"}', {"n": 12}),
        (OBJECT, '{"l": "[NaN]"}', {"l": "[NaN]"}),
        (OBJECT, '{"t": "[a, b]"}', {"t": "[a, b]"}),
        (OBJECT, '{"o": "{\\"x\\": Infinity}"}', {"o": '{"x": Infinity}'}),
        (OBJECT, '{"n": "\\x"}', {"n": "\\x"}),
        (OBJECT, '{"n": "1"2"}', None),
        (OBJECT, '{"e": Low-Key, "s": "x"}', {"e": "low_key", "s": "x"}),
        (OBJECT, '{"e": "other"}', {"e": "other"}),
        (OBJECT, '{"l": 5, "t": word}', {"l": [5], "t": ["word"]}),
        (OBJECT, '{"t": "x", "l": "[1, 2]"}', {"t": ["x"], "l": [1, 2]}),
        (OBJECT, '{"l": "[1, 2"}', {"l": "[1, 2"}),
        (OBJECT, '{"o": "{\\"x\\": 1}", "p": {"x": 2}}', {"o": {"x": 1}, "p": [{"x": 2}]}),
        (OBJECT, '{"p": {"y": 2}}', None),
        (OBJECT, '{"o": {"x": 1, "x": 2}, "t": ["a", 5]}', {"o": {"x": 2}, "t": ["a", 5]}),
        (OBJECT, '[1]\nThe answer:\n{"n": 3}', {"n": 3}),
        (LINES, '{"x": 1}\n{"x": 2}\n', [{"x": 1}, {"x": 2}]),
        (LINES, '{"x": 1}, {"x": 2} and so on', [{"x": 1}, {"x": 2}]),
        (LINES, '{"x": 1}', [{"x": 1}]),
        (LINES, '[{"x": 1}]', [{"x": 1}]),
    ],
)
def test_a_schema_decides_in_any_cut(schema: Any, text: str, value: Any) -> None:
    end = mended([text], EVERYTHING, schema)
    assert (judge(end, value) == RIGHT) == (end.state.error is None)
    assert (end.state.error is None) == (value is not None)
    for size in (1, 2, 7):
        assert mended(sized(text, size), EVERYTHING, schema).told == end.told


@pytest.mark.parametrize("kind", [kind for kind in RepairKind if kind.is_coercion])
def test_a_schema_changes_nothing_that_is_switched_off(kind: RepairKind) -> None:
    for text in (
        '{"s": a b, "n": "1,000", "b": "yes", "e": "HIGH", "t": "x"}',
        '[1]\n{"o": "{}"}',
        '{"s": "a, "n": 2}',
    ):
        end = mended([text], EVERYTHING.without(kind), OBJECT)
        assert kind not in {repair.kind for repair in end.state.repairs}
