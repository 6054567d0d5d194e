"""Unescaped quotes: on generated documents nothing comes back wrong without a word; a rule that guesses is caught."""

import json
import re
from collections import Counter
from random import Random

import pytest

from jsontide.mend import MODELS
from tests.cuts import singles
from tests.mend.quotes import KINDS, Sample, make, measure, overall, samples, schema_of, with_schema, without_schema
from tests.mend.runs import REFUSED, RIGHT, WRONG, alike, mended
from tests.oracles import is_json, loads

EACH = 25
"""Documents of a kind; `python -m tests.mend.quotes` reads a thousand of each."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_document_comes_back_wrong(kind: str) -> None:
    random = Random(kind)
    wrong = [sample for sample in (make(kind, random) for _ in range(EACH)) if without_schema(sample) == WRONG]
    assert wrong == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_document_comes_back_wrong_with_a_schema(kind: str) -> None:
    random = Random(kind)
    wrong = [sample for sample in (make(kind, random) for _ in range(EACH)) if with_schema(sample) == WRONG]
    assert wrong == []


def test_a_schema_takes_nothing_away() -> None:
    some = list(samples(600, 4))
    lost = [one for one in some if without_schema(one) == RIGHT and with_schema(one) != RIGHT]
    assert lost == []


def test_most_documents_that_have_all_their_delimiters_come_back() -> None:
    """Half of them, and none wrong; a rule that guesses reads as many, and others wrong."""
    some = list(samples(600, 1, [kind for kind in KINDS if not kind.startswith("lost")]))
    found = overall(measure(some))
    assert found[RIGHT] / found.total() >= 0.5
    assert found[WRONG] == 0
    assert overall(measure(some, next_character_decides))[WRONG] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_documents_are_read_the_same_in_any_cut(kind: str) -> None:
    random = Random(kind)
    for sample in (make(kind, random) for _ in range(6)):
        assert mended(singles(sample.text), MODELS).told == mended([sample.text], MODELS).told


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_no_json_and_mean_what_they_say(kind: str) -> None:
    """The generator itself: not JSON as it stands; with the delimiters known, the value follows from the text."""
    random = Random(kind)
    for sample in (make(kind, random) for _ in range(EACH)):
        assert not is_json(sample.text)
        assert letters(sample.text) == letters(json.dumps(sample.value, ensure_ascii=False))


def letters(text: str) -> Counter[str]:
    """What a lost quote, a layout or an escape does not change."""
    plain = re.sub(r"\\u(....)", lambda match: chr(int(match[1], 16)), text)
    return Counter(re.sub(r'\\.|["\s]', "", plain))


def next_character_decides(sample: Sample) -> str:
    """The rule of many repairers: a quote ends a string if a comma, a colon, a bracket or the end follows."""
    written: list[str] = []
    is_open = False
    for at, char in enumerate(sample.text):
        follows = sample.text[at + 1 :].lstrip()[:1]
        if char == '"' and is_open and follows not in set(",:}]"):
            written.append('\\"')
            continue
        is_open ^= char == '"'
        written.append(char)
    try:
        value = loads("".join(written))
    except ValueError:
        return REFUSED
    return RIGHT if alike(value, sample.value) else WRONG


def test_the_experiment_catches_a_rule_that_guesses() -> None:
    found = overall(measure(samples(1_000, 2), next_character_decides))
    assert found[WRONG] > 30
    assert found[RIGHT] > 200


def test_a_sample_has_the_schema_of_what_was_meant() -> None:
    assert schema_of({"a": ["x", "y"], "b": [1, "z"], "c": None}) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "string"}},
            "b": {"type": "array", "items": {}},
            "c": {"type": "null"},
        },
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }
