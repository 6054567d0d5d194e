"""All Hypothesis strategies.

`values` draws JSON values, `texts` writes them in one of their many spellings.
`bad_texts` are texts after small accidents: most are not JSON, some still are; the oracles decide.
`cut` draws the chunks of a text, `trees` states that branch from one another.
`finals` draws what a history of snapshots ends in, as a tree.
`typed_documents` draws JSON Schemas with texts for them.
`paths` draws paths, `patterns` the steps of patterns, `near_paths` paths that patterns nearly match, or do.
Rule: how a text is spelled hangs on one drawn seed: documents stay cheap to draw, every example can be replayed.
"""

import json
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tests.cuts import Chunks, as_bytes
from tests.oracles import Path, Step, Steps
from tests.seeded import ODD_KEYS, Tree, chunk, interleaved_calls, mishap, spell, spell_character
from tests.snapshots.histories import any_tree, tree_of

BAD_BYTES = (
    *(b"\xff", b"\x80", b"\xc0\x80", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2(\xa1", b"\xed\xa0\x80"),
    *(b"\xf0\x9f\x98", b"\xf0\x28\x8c\xbc", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"),
)

seeds = st.integers(0, 2**32 - 1)
randoms = seeds.map(Random)


def examples(share: float) -> settings:
    """A share of the examples of the profile in force."""
    return settings(max_examples=max(1, round(settings().max_examples * share)))


characters = st.one_of(
    st.sampled_from('aZ09 "\\/\b\f\n\r\t\x00\x1f\x7f'),
    st.characters(codec="utf-8"),
    st.characters(min_codepoint=0x10000),
    st.characters(categories=["Cs"]),
)
strings = st.one_of(st.sampled_from(ODD_KEYS), st.text(characters, max_size=12))
keys = strings
numbers = st.one_of(
    st.integers(-100, 100),
    st.integers(),
    st.integers(1, 400).map(lambda digits: 7 * 10**digits + 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1e300, 5e-324, 0.1, 1e16, 123456789.125]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, strings)


def containers(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(children, max_size=6),
        st.dictionaries(keys, children, max_size=6),
    )


values = st.recursive(scalars, containers, max_leaves=25)
wide_values = st.one_of(
    st.lists(scalars, min_size=15, max_size=40),
    st.dictionaries(keys, scalars, min_size=10, max_size=25),
)


@st.composite
def texts(
    draw: st.DrawFn,
    source: st.SearchStrategy[Any] = values,
    *,
    raw_surrogates: bool = True,
    repeat_keys: bool = False,
) -> str:
    value = draw(source)
    return spell(value, draw(randoms), raw_surrogates=raw_surrogates, repeat_keys=repeat_keys)


@st.composite
def deep_texts(draw: st.DrawFn, deepest: int = 50) -> str:
    """A value inside many containers."""
    random = draw(randoms)
    text = spell(draw(scalars), random)
    for _ in range(draw(st.integers(1, deepest))):
        text = random.choice(("[{}]", "[0,{}]", '[{},""]', '{{"":{}}}', '{{"a":[],"b":{},"c":1}}')).format(text)
    return text


documents = st.one_of(texts(), texts(), texts(wide_values), deep_texts())
"""Texts of all shapes, without duplicate keys."""


@st.composite
def bad_texts(draw: st.DrawFn) -> str:
    text = draw(st.one_of(texts(), deep_texts(8)))
    random = draw(randoms)
    for _ in range(draw(st.integers(1, 3))):
        text = mishap(text, random)
    return text


@st.composite
def bad_bytes(draw: st.DrawFn) -> bytes:
    """The UTF-8 of a text with something that is not UTF-8 in it."""
    data = draw(texts(raw_surrogates=False)).encode()
    place = draw(st.integers(0, len(data)))
    return data[:place] + draw(st.sampled_from(BAD_BYTES)) + data[place:]


@st.composite
def cut(draw: st.DrawFn, text: str | bytes) -> Chunks:
    """Chunks of a text: as `str`, or as its UTF-8 where it has one."""
    random = draw(randoms)
    data = text if isinstance(text, bytes) else as_bytes(text)
    if isinstance(text, str) and text.startswith("\ufeff"):
        data = None  # in bytes a byte order mark is no part of the text
    if data is None or (isinstance(text, str) and draw(st.booleans())):
        assert isinstance(text, str)
        return chunk(text, random)
    return chunk(data, random)


def cut_documents(source: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, Chunks]]:
    """A text together with its chunks."""
    return source.flatmap(lambda text: st.tuples(st.just(text), cut(text)))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Variants are accidents of one text, so they part where the accident happened."""
    text = draw(documents)
    random = draw(randoms)
    tree = Tree([text, *(mishap(text, random) for _ in range(3))], random)
    for _ in range(draw(st.integers(2, 40))):
        tree.branch()
    return tree


finals = st.one_of(randoms.map(any_tree), randoms.map(any_tree), values.map(tree_of))
"""Final values that text and Python values can hold alike."""
written_finals = st.one_of(
    randoms.map(lambda random: any_tree(random, exact=False)),
    st.builds(tree_of, values, randoms),
)
"""Final values with numbers that only text can hold."""


FEW_KEYS = ("a", "b", "c", "root", "*", "")
common_keys = st.one_of(st.sampled_from(FEW_KEYS), keys)
indices = st.one_of(st.integers(0, 6), st.integers(0, 10**18 - 1))
paths: st.SearchStrategy[Path] = st.lists(st.one_of(common_keys, indices), max_size=7).map(tuple)

bounds = st.one_of(st.none(), st.integers(0, 6))
slices = st.builds(slice, bounds, bounds, st.one_of(st.none(), st.integers(1, 4)))
steps: st.SearchStrategy[Step] = st.one_of(common_keys, indices, slices, st.sampled_from([str, int, ...]))
patterns: st.SearchStrategy[Steps] = st.lists(steps, max_size=6).map(tuple)


def spell_pattern(pattern: Steps, random: Random) -> str:
    """Write a pattern with or without its prefix, its keys in one of their spellings."""
    text = "".join(spell_step(step, random) for step in pattern)
    if text and pattern[0] != "root" and random.random() < 0.6:
        return text.removeprefix(".")
    return "root" + text


def spell_step(step: Step, random: Random) -> str:
    if isinstance(step, str):
        return f".{step}" if step.isidentifier() and random.random() < 0.8 else f"[{spell_key(step, random)}]"
    if isinstance(step, int):
        return f"[{step}]"
    if isinstance(step, slice):
        parts = ["" if part is None else str(part) for part in (step.start, step.stop, step.step)]
        return f"[{':'.join(parts if parts[2] else parts[: random.choice((2, 3))])}]"
    return {str: ".*", int: "[*]", ...: ".**"}[step]


def spell_key(key: str, random: Random) -> str:
    text = '"' + "".join(spell_character(char, random, raw_surrogates=True) for char in key) + '"'
    # Two surrogates of which both were escaped have become one character.
    return text if json.loads(text) == key else json.dumps(key, ensure_ascii=False)


def near_paths(several: list[Steps]) -> st.SearchStrategy[Path]:
    return st.builds(near_path, st.just(several), randoms)


def near_path(several: list[Steps], random: Random) -> Path:
    """Follow one of the patterns, then sometimes stray."""
    path: list[str | int] = []
    for step in random.choice(several) if several else ():
        path += follow(step, random)
    if path and random.random() < 0.3:
        path[random.randrange(len(path))] = any_segment(random)
    return tuple(path[: random.randint(0, len(path))] if random.random() < 0.2 else path + stray(random, 0.2))


def follow(step: Step, random: Random) -> list[str | int]:
    """Keys and indices that a step may take."""
    if isinstance(step, str | int):
        return [step]
    if isinstance(step, slice):
        return [(step.start or 0) + (step.step or 1) * random.randint(0, 3)]
    if step is ...:
        return stray(random, 0.6)
    return [random.choice(FEW_KEYS) if step is str else random.randint(0, 6)]


def stray(random: Random, chance: float) -> list[str | int]:
    return [any_segment(random) for _ in range(3) if random.random() < chance]


def any_segment(random: Random) -> str | int:
    return random.choice(FEW_KEYS) if random.random() < 0.5 else random.randint(0, 6)


SSE_BITS = (
    "data",
    "event",
    "id",
    "retry",
    ":",
    ": ",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "a",
    "{}",
    "[DONE]",
    "\0",
    "é",
    "𝄞",
)
sse_streams = st.lists(
    st.one_of(st.sampled_from(SSE_BITS), st.sampled_from(["data: {}\n\n", "data: x\r\n", "\ufeff"])), max_size=14
).map("".join)
"""Server-sent event streams, from right to rubbish."""


@st.composite
def _call_streams(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Any]]:
    wanted = draw(st.lists(values, min_size=1, max_size=4))
    return interleaved_calls(wanted, draw(randoms)), wanted


call_streams = _call_streams()
"""The deltas of tool calls, cut anywhere and interleaved in any order, and the arguments that they end in."""


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
speakable = st.dictionaries(
    st.text("abc .'\"\\[]é\n", max_size=3),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-1000, 1000), FLOATS, st.text(characters)),
        lambda children: st.one_of(
            st.lists(children, min_size=1, max_size=3),
            st.dictionaries(st.text("ab '\"\\.[]é", max_size=3), children, min_size=1, max_size=3),
        ),
        max_leaves=8,
    ),
    max_size=3,
)
"""Objects that can be said as values at paths: no container in them is empty."""


FEW_TEXTS = ("a", "al", "alpha", "alps", "beta", "", "é", "1")
FEW_MEMBERS = (*FEW_TEXTS, 1, 2.5, True, None)


def some_schema(random: Random, depth: int = 3, *, refs: bool = True) -> dict[str, Any]:
    """A JSON Schema of the kinds that have shapes of their own; `#/$defs/node` is one of them."""
    kind = random.choice(SCHEMA_KINDS if depth else SCHEMA_KINDS[:6])
    schema: dict[str, Any] = {}
    match kind:
        case "enum":
            schema = {"enum": random.sample(FEW_MEMBERS, random.randint(1, 4))}
        case "array":
            schema = {"type": "array", "items": some_schema(random, depth - 1, refs=refs)}
        case "tuple":
            places = [some_schema(random, depth - 1, refs=refs) for _ in range(random.randint(1, 3))]
            schema = {
                "type": "array",
                "prefixItems": places,
                "items": random.choice((True, False, {"type": "integer"})),
            }
        case "object" | "map":
            schema = some_object(random, depth, refs=refs)
        case "union":
            branches = [some_schema(random, depth - 1, refs=refs) for _ in range(random.randint(2, 3))]
            return {"anyOf": branches}
        case "tagged":
            tags = random.sample(FEW_TEXTS, random.randint(2, 3))
            return {"anyOf": [tagged(some_object(random, depth, refs=refs), tag) for tag in tags]}
        case "ref":
            return {"$ref": "#/$defs/node"} if refs else {}
        case _:
            schema = {"type": kind}
    if kind == "string" and random.random() < 0.3:
        schema["format"] = random.choice(("date", "uri", "markdown"))
    if random.random() < 0.15:
        schema["x-stream"] = random.choice(("done", "grow"))
    return schema


SCHEMA_KINDS = (
    *("string", "string", "integer", "number", "boolean", "enum"),
    *("null", "array", "tuple", "object", "object", "map", "union", "tagged", "ref"),
)


def some_object(random: Random, depth: int, *, refs: bool) -> dict[str, Any]:
    keys = random.sample(FEW_KEYS, random.randint(0, 3))
    properties = {key: some_schema(random, depth - 1, refs=refs) for key in keys}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    schema["required"] = [key for key in keys if random.random() < 0.5]
    if random.random() < 0.6:
        schema["additionalProperties"] = random.choice((False, True, {"type": "string"}))
    return schema


def tagged(schema: dict[str, Any], tag: str) -> dict[str, Any]:
    properties = {**schema["properties"], "kind": {"const": tag}}
    return {**schema, "properties": properties, "required": [*schema["required"], "kind"]}


def rooted(random: Random) -> dict[str, Any]:
    """A schema whose `$ref`s lead to a recursive definition."""
    node = some_object(random, 2, refs=False)
    node["properties"]["next"] = random.choice(
        ({"$ref": "#/$defs/node"}, {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]})
    )
    node["required"] = [key for key in node["required"] if key != "next"]
    return {**some_schema(random), "$defs": {"node": node}}


def some_value(schema: Any, root: dict[str, Any], random: Random, wrong: float, depth: int = 6) -> Any:
    """A value that fits a schema, but for some of its parts."""
    while isinstance(schema, dict) and ("$ref" in schema or "anyOf" in schema or "oneOf" in schema):
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
            depth -= 1
        else:
            schema = random.choice(schema.get("anyOf") or schema["oneOf"])
    if isinstance(schema, bool) or not schema or random.random() < wrong:
        return random.choice((*FEW_MEMBERS, [], {}, [1], {"a": "x"}, 3, {"kind": "alpha"}))
    if "const" in schema or "enum" in schema:
        return random.choice(schema["enum"]) if "enum" in schema else schema["const"]
    match schema["type"]:
        case "array":
            return some_items(schema, root, random, wrong, depth)
        case "object":
            return some_members(schema, root, random, wrong, depth)
        case kind:
            return random.choice(SCALARS_BY_TYPE[kind])


SCALARS_BY_TYPE = {
    "string": (*FEW_TEXTS, "gamma rays", 'x"y', "12"),
    "integer": (0, 7, -12, 10**18, 3.0),
    "number": (0, 2.5, -1e30, 12),
    "boolean": (True, False),
    "null": (None,),
}


def some_items(schema: Any, root: dict[str, Any], random: Random, wrong: float, depth: int) -> list[Any]:
    places = schema.get("prefixItems", [])
    rest = schema.get("items", True)
    length = min(random.randint(0, 3), max(depth, 0)) if rest is not False else random.randint(0, len(places))
    length = max(length, schema.get("minItems", 0))
    shapes = [*places[:length], *[rest] * (length - len(places))]
    return [some_value(shape, root, random, wrong, depth - 1) for shape in shapes]


def some_members(schema: Any, root: dict[str, Any], random: Random, wrong: float, depth: int) -> dict[str, Any]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    required = schema.get("required", ())
    chosen = [key for key in properties if key in required or (depth > 0 and random.random() < 0.7)]
    members = {key: some_value(properties[key], root, random, wrong, depth - 1) for key in chosen}
    if others is not False and random.random() < 0.3:
        members["extra"] = some_value(others, root, random, wrong, depth - 1)
    if random.random() < wrong:
        members.pop(next(iter(members), ""), None)
        members["stray"] = 1
    shuffled = list(members.items())
    random.shuffle(shuffled)
    return dict(shuffled)


@st.composite
def typed_documents(draw: st.DrawFn, *, wrong: float = 0.0, repeat_keys: bool = False) -> tuple[dict[str, Any], str]:
    """A JSON Schema and a text for it, of which a share of the values is wrong."""
    random = draw(randoms)
    schema = rooted(random)
    return schema, spell(some_value(schema, schema, random, wrong), random, repeat_keys=repeat_keys)


HOSTILE_KEYS = (
    *("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "length"),
    *("0", "10", "2", "-1", "1e3", "01", "4294967295"),
)
hostile_values = st.recursive(
    scalars,
    lambda children: st.one_of(
        st.lists(children, max_size=4), st.dictionaries(st.sampled_from(HOSTILE_KEYS), children, max_size=6)
    ),
    max_leaves=15,
)
"""Values whose keys mean something to JavaScript, or are sorted by it."""
