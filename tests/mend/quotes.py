"""The experiment with unescaped quotes: documents whose strings hold raw quotes, each with the value that was meant.

In: a class of content and a source of chance. Out: a text and its true value; `measure` tells how many came back right,
how many were refused, how many were taken for cut off, and how many came back wrong without a word.
Content that spells `", "key": "` makes strict JSON of another value, which no rule can see: such a text is never made.
Rule: a sample knows what it was made of; nothing here asks the stage what is right.

`python -m tests.mend.quotes [COUNT] [SEED]` runs the whole experiment, on 20,000 documents unless told otherwise.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from jsontide.mend import MODELS
from tests.mend.damage import Document, Token, phrase, write
from tests.mend.runs import REFUSED, RIGHT, TRUNCATED, WRONG, judge, mended
from tests.oracles import is_json

COUNT = 20_000
OUTCOMES = (RIGHT, REFUSED, TRUNCATED, WRONG)
NAMES = ("name", "note", "text", "city", "title", "comment", "id", "kind", "body", "答案")


@dataclass(frozen=True)
class Sample:
    """One document of the experiment."""

    kind: str
    text: str
    value: Any


# What the strings hold.


def name(random: Random) -> str:
    return random.choice(("Ann", "Bob", "the guard", "Mrs. Lee", "Zoë", "she", "he"))


def dialogue(random: Random) -> str:
    one, other = phrase(random), phrase(random)
    return random.choice(
        (
            f'"{one}?" {name(random)} asked. "{other}," said {name(random)}.',
            f'{name(random)} said, "{one}." Then: "{other}!"',
            f'"{one}," {name(random)} said, "{other}."',
            f'{name(random)}: "{one}" {name(random)}: "{other}"',
            f'He said "{one}", she said "{other}", they left.',
        )
    )


def quoted_words(random: Random) -> str:
    one, other = phrase(random), random.choice(("best", "experts", "fix", "AI"))
    return random.choice(
        (
            f'the so-called "{other}" of {one}',
            f'the "{other}", or rather the "{one}", came',
            f'was it "{other}"? or "{one}"!',
            f'({one} "{other}") and more',
            f'{one} - "{other}" - {one}',
            f'"{other}"; "{one}"; and so on',
            f'it is "{other}". It is "{one}".',
        )
    )


def html(random: Random) -> str:
    words = phrase(random)
    return random.choice(
        (
            f'<a href="https://example.org/?q=1" class="link">{words}</a>',
            f'<p>{words} <img src="a.png" alt="{words}"/></p>',
            f'<div id="main"><span style="color: red; margin: 0">{words}</span></div>',
            f'<input type="text" value="{words}">',
            f'Text <b class="x">{words}</b>, and more',
        )
    )


def shell(random: Random) -> str:
    words = phrase(random)
    return random.choice(
        (
            f'find . -name "*.py" | xargs grep "{words}"',
            f'git commit -m "{words}"',
            f'echo "{words}" > "out file.txt" && ls',
            'curl -H "Accept: application/json" -H "X-Key: 1" localhost',
            f'for f in *; do echo "$f: {words}"; done',
            'awk "{print $1}" data | sort',
        )
    )


def inches(random: Random) -> str:
    size = random.randint(3, 80)
    return random.choice(
        (
            f'a {size}" screen',
            f'{size}" x {size + 2}" boards',
            f'{size}"',
            "6'2\"",
            f'from {size}" to {size + 5}", or so',
        )
    )


def code(random: Random) -> str:
    word = random.choice(("key", "name", "x", "total"))
    return random.choice(
        (
            f'print("{phrase(random)}")',
            f'data["{word}"] = "value"',
            f'if kind == "{word}": return {{"a": 1}}',
            f'x = ["{word}", "b", "c"]',
            f'call("{word}", "b"); end',
            f'const s = "{word}"; let t = `${{s}}`;',
            f'd.get("{word}", [])',
            f'assert f("{word}") == {{"a": "b"}}, "message"',
        )
    )


def nested_json(random: Random) -> str:
    value = random.choice(
        (
            {"a": 1},
            {"name": phrase(random), "n": 2},
            [phrase(random), "b"],
            {"a": {"b": "c"}},
            {"list": ["x", "y"], "ok": True},
            {"q": phrase(random)},
        )
    )
    return random.choice(("{}", "the call {} failed", "{} {}")).replace("{}", json.dumps(value, ensure_ascii=False))


def chinese(random: Random) -> str:
    word = random.choice(("确定", "名称", "你好", "{{name}}"))
    return random.choice(
        (
            f'点击"{word}"按钮',
            f'输入"{word}"，然后继续',
            f'"{word}"，他说。',
            f'请选择"{word}"和"取消"',
            f'标题为："{word}"',
        )
    )


def at_start(random: Random) -> str:
    return f'"{phrase(random)}" {phrase(random)}'


def at_end(random: Random) -> str:
    return f'{phrase(random)} "{phrase(random)}"'


def all_of_it(random: Random) -> str:
    return f'"{phrase(random)}"'


def before_comma(random: Random) -> str:
    return random.choice(('say "{0}", then {1}', '"{0}", "{1}"', '{0} "{1}", {0}', '{0}", {1}, "{0}')).format(
        phrase(random), phrase(random)
    )


def before_bracket(random: Random) -> str:
    return random.choice(
        (
            'use {{"{0}"}} here',
            '["{0}"] is a list',
            'ends with "{0}"]',
            'ends with "{0}"}}',
            '{0} ("{1}"}} {0}',
            '"{0}"]}}',
        )
    ).format(phrase(random), phrase(random))


def before_colon(random: Random) -> str:
    return random.choice(('the "{0}": {1}', '"{0}": "{1}"', 'set "{0}": 1, and "{1}": 2', '{0}": {1}')).format(
        phrase(random), phrase(random)
    )


def odd(random: Random) -> str:
    return random.choice(('{0} "{1}', '{0}" {1}', '"{0}', '{0}"', '{0} " {1}', '{0} "{1}" {0} "{1}')).format(
        phrase(random), phrase(random)
    )


def items(random: Random) -> str:
    """What looks like the items of an array."""
    return random.choice(
        ('"{0}", "{1}"', '{0} "{1}", "{0}"', '"{0}", "{1}", {0}', '{0}", "{1}" {0}', '"{0}","{1}","{2}"')
    ).format(phrase(random), phrase(random), phrase(random))


def members(random: Random) -> str:
    """What looks like the members of an object."""
    return random.choice(
        (
            '"{0}": "{1}", "{2}": 1',
            '{0} "{1}": "{2}", {0}',
            '{0}", "{1}": {2}',
            '"{0}": [1], "{1}": "{2}"',
            '{0} "{1}", "{2}": "',
        )
    ).format(phrase(random), *random.sample(NAMES, k=2))


def anything(random: Random) -> str:
    """Quotes between any marks and words."""
    bits = ('"', '"', '"', ", ", ": ", " ", "{", "}", "[", "]", ".", "a", "key", "1", "said ", "'", "\\n", " and ")
    return "".join(random.choices(bits, k=random.randint(2, 9)))


CONTENTS: dict[str, Callable[[Random], str]] = {
    make.__name__: make
    for make in (
        *(dialogue, quoted_words, html, shell, inches, code, nested_json, chinese, at_start, at_end, all_of_it),
        *(before_comma, before_bracket, before_colon, items, members, odd, anything),
    )
}
KINDS = (
    *CONTENTS,
    "in keys",
    "in items",
    "items in items",
    "several",
    "lost closing quote",
    "lost opening quote",
    "lost and found",
)


# Documents around them.


def skeleton(random: Random) -> Any:
    """A small document with several strings, as a model answers."""
    keys = random.sample(NAMES, k=random.randint(1, 4))
    shapes: tuple[Any, ...] = (
        {key: phrase(random) for key in keys},
        {key: random.choice((phrase(random), random.randint(0, 99), True, None)) for key in keys}
        | {"text": phrase(random)},
        {"items": [{key: phrase(random) for key in keys}, {key: phrase(random) for key in keys}]},
        {"steps": [phrase(random) for _ in range(random.randint(1, 4))], "n": 1},
        [phrase(random) for _ in range(random.randint(1, 4))],
        {"a": {"b": phrase(random)}, "c": [phrase(random), 2]},
        [{"text": phrase(random)}, {"text": phrase(random), "ok": False}],
    )
    return random.choice(shapes)


def strings_of(document: Document, *roles: str) -> list[Token]:
    return [token for token in document.tokens if token.role in roles and not token.is_damaged]


def put(token: Token, content: str) -> None:
    """Write content between quotes without escaping those that it holds; the rest of it is spelled as it should be."""
    token.value = content.replace("\\n", "\n")
    token.damage(f'"{content}"')


def make(kind: str, random: Random) -> Sample:
    """A sample of a kind that is no JSON as it stands."""
    while True:
        document = write(skeleton(random), random)
        if not spoil(document, kind, random):
            continue
        sample = Sample(kind, document.text, document.value)
        keys = sum(token.role == "key" for token in document.tokens)
        if not is_json(sample.text) and not hides(document) and keys == len(set_of_keys(document)):
            return sample


def set_of_keys(document: Document) -> set[tuple[int, str]]:
    """The keys with their objects: where two are equal, the value that was meant has lost one."""
    found: set[tuple[int, str]] = set()
    objects: list[int] = []
    for at, token in enumerate(document.tokens):
        if token.role in {"{", "["}:
            objects.append(at)
        elif token.role in {"}", "]"}:
            objects.pop()
        elif token.role == "key":
            found.add((objects[-1], token.value))
    return found


def hides(document: Document) -> bool:
    """Whether one string alone, with all others as they should be, is JSON of another value, or has three marks."""
    for token in document.tokens:
        if not token.is_damaged or token.role not in {"string", "key"}:
            continue
        if token.text.startswith('"""') and token.text.endswith('"""'):  # which is how others write a long text
            return True
        text = "".join(
            other.text if other is token or not other.is_damaged else json.dumps(other.value)
            for other in document.tokens
        )
        if is_json(text):
            return True
    return False


def spoil(document: Document, kind: str, random: Random) -> bool:
    """Put raw quotes into some strings, or take a delimiter away."""
    if kind in CONTENTS:
        found = strings_of(document, "string")
        put(random.choice(found), CONTENTS[kind](random))
        return '"' in "".join(token.value for token in found)
    any_content = CONTENTS[random.choice(list(CONTENTS))]
    match kind:
        case "in keys":
            found = strings_of(document, "key")
            if found:
                put(random.choice(found), any_content(random))
            return bool(found)
        case "in items" | "items in items":
            found = [token for token in strings_of(document, "string") if token.inside == "["]
            for token in random.sample(found, k=min(len(found), random.randint(1, 2))):
                put(token, any_content(random) if kind == "in items" else items(random))
            return bool(found)
        case "several":
            found = strings_of(document, "string")
            for token in random.sample(found, k=min(len(found), random.randint(2, 4))):
                put(token, CONTENTS[random.choice(list(CONTENTS))](random))
            return len(found) > 1
        case _:
            return lose(document, kind, random)


def lose(document: Document, kind: str, random: Random) -> bool:
    found = strings_of(document, "string", "key" if random.random() < 0.3 else "string")
    token = random.choice(found)
    if kind == "lost and found":
        others = [other for other in found if other is not token]
        if not others:
            return False
        put(random.choice(others), CONTENTS[random.choice(list(CONTENTS))](random))
        kind = random.choice(("lost closing quote", "lost opening quote"))
    token.damage(token.text[:-1] if kind == "lost closing quote" else token.text[1:])
    return True


def schema_of(value: Any) -> dict[str, Any]:
    """The JSON Schema that a user would have written for a value."""
    match value:
        case dict():
            properties = {key: schema_of(item) for key, item in value.items()}
            return {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            }
        case list():
            items = [schema_of(item) for item in value]
            return {"type": "array", "items": items[0] if items and all(item == items[0] for item in items) else {}}
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case None:
            return {"type": "null"}
        case _:
            return {"type": "string"}


# The experiment.

Outcome = Callable[[Sample], str]
"""What becomes of a sample, one of `OUTCOMES`; one that knows `schema_of(sample.value)` runs it with a schema."""


def without_schema(sample: Sample) -> str:
    return judge(mended([sample.text], MODELS), sample.value)


def with_schema(sample: Sample) -> str:
    return judge(mended([sample.text], MODELS, schema_of(sample.value)), sample.value)


def samples(count: int, seed: int = 0, kinds: Iterable[str] = KINDS) -> Iterable[Sample]:
    """So many samples, as many of each kind."""
    random = Random(seed)
    several = list(kinds)
    for number in range(count):
        yield make(several[number % len(several)], random)


def measure(some: Iterable[Sample], outcome: Outcome = without_schema) -> dict[str, Counter[str]]:
    result: dict[str, Counter[str]] = {}
    for sample in some:
        result.setdefault(sample.kind, Counter())[outcome(sample)] += 1
    return result


def overall(result: dict[str, Counter[str]]) -> Counter[str]:
    return sum(result.values(), Counter[str]())


def table(result: dict[str, Counter[str]]) -> str:
    """For people, in Markdown."""
    lines = ["| content | documents | right | refused | cut off | silently wrong |", "|--|--|--|--|--|--|"]
    for kind, counts in [*sorted(result.items()), ("all", overall(result))]:
        total = counts.total()
        shares = " | ".join(f"{counts[outcome] / total:.1%}" for outcome in OUTCOMES[:-1])
        lines.append(f"| {kind.replace('_', ' ')} | {total:,} | {shares} | {counts[WRONG]} |")
    return "\n".join(lines)


def report(some: list[Sample], outcome: Outcome) -> int:
    """Print the table, and up to ten samples that came back wrong; return how many did."""
    wrong: list[Sample] = []

    def noted(sample: Sample) -> str:
        found = outcome(sample)
        if found == WRONG:
            wrong.append(sample)
        return found

    print(f"{table(measure(some, noted))}\n")  # noqa: T201 - its output is the product
    for sample in sorted(wrong, key=lambda sample: len(sample.text))[:10]:
        schema = schema_of(sample.value) if outcome is with_schema else None
        got = mended([sample.text], MODELS, schema).text
        print(f"{sample.kind}\n  text  {sample.text!r}\n  got   {got!r}\n  meant {sample.value!r}\n")  # noqa: T201
    return len(wrong)


def main(count: int = COUNT, seed: int = 0) -> int:
    """Run the experiment without a schema, and with the schema of what was meant."""
    some = list(samples(count, seed))
    return report(some, without_schema) + report(some, with_schema)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
