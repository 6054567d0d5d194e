"""Known damage to random documents, and what must become of it.

In: a value and a source of chance. Out: a text with damage of known kinds, and the value that it was made of.
`write` lays a value out as tokens; a damage changes tokens, or what stands around them; a `Document` knows its value.
`DAMAGES` are meant to be mended, `DOUBTS` may be mended or refused, `REFUSED` must be errors.
Rule: the value is read off the tokens that were written; nothing here comes from `jsontide` but the names of kinds.

`python -m tests.mend.damage COUNT SEED` draws documents, each from a seed of its own, and counts what becomes of them.
"""

import json
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from jsontide.mend import RepairKind
from tests.strategies import strings

CLOSER = {"[": "]", "{": "}"}
SEPARATED = 6
"""Tokens between two damages that cannot be taken for one another."""


@dataclass(slots=True)
class Token:
    """`role`: a bracket, a comma, a colon, `key`, `string`, `number`, `word`, `gap`, or `junk`, which means nothing."""

    role: str
    text: str
    value: Any = None
    inside: str = ""
    """The bracket of its container; a bracket stands in the container around it."""
    is_damaged: bool = False

    def damage(self, text: str) -> None:
        self.text = text
        self.is_damaged = True


@dataclass
class Document:
    """A text in parts, the kinds of damage that it has, and whether it has to be mended."""

    tokens: list[Token]
    before: str = ""
    after: str = ""
    kinds: set[RepairKind] = field(default_factory=set)
    also: set[RepairKind] = field(default_factory=set)
    """Kinds that may be named too: how the damage is reported is not fixed."""
    is_certain: bool = True
    """Otherwise it may be refused, but not be read as something else."""

    @property
    def text(self) -> str:
        return self.before + self.body + self.after

    @property
    def body(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def value(self) -> Any:
        """What the tokens mean, whatever their texts have become."""
        stack: list[Any] = [[]]
        keys: list[str] = []
        for token in self.tokens:
            if token.role in {"{", "["}:
                stack.append({} if token.role == "{" else [])
                keys.append("")
            elif token.role == "key":
                keys[-1] = token.value
            elif token.role in {"}", "]", "string", "number", "word"}:
                is_end = token.role in {"}", "]"}
                made = stack.pop() if is_end else token.value
                if is_end:
                    keys.pop()
                if isinstance(stack[-1], dict):
                    stack[-1][keys[-1]] = made
                else:
                    stack[-1].append(made)
        return stack[0][0]

    @property
    def is_listing(self) -> bool:
        """Whether prose may hold the like: an array that begins with no string and no object, or nothing at all."""
        value = self.value
        return not value or (isinstance(value, list) and not isinstance(value[0], str | dict)) or self.is_scalar

    @property
    def is_scalar(self) -> bool:
        return self.tokens[0].role not in CLOSER

    def solid(self) -> list[Token]:
        return [token for token in self.tokens if token.role != "gap"]

    def spans(self) -> list[tuple[int, int]]:
        """Where repairs may be: what was damaged with the white space beside it, and what stands around."""
        places: list[tuple[int, int]] = []
        edges = [0]
        for token in self.tokens:
            edges.append(edges[-1] + len(token.text))
        for at, token in enumerate(self.tokens):
            if not token.is_damaged:
                continue
            first = last = at
            while first > 0 and self.tokens[first - 1].role in {"gap", "junk"}:
                first -= 1
            while last < len(self.tokens) - 1 and self.tokens[last + 1].role in {"gap", "junk"}:
                last += 1
            places.append((edges[first], edges[last + 1]))
        start, end = len(self.before), len(self.before) + edges[-1]
        inner = [(first + start, last + start) for first, last in places]
        return [(0, start), *inner, (end, len(self.text))]

    def are_apart(self) -> bool:
        """Whether no damaged token is near another, so that each is a matter of its own; a comment is one, too."""
        last, at = -SEPARATED - 1, 0
        for token in self.tokens:
            at += token.role != "gap"
            if token.is_damaged and (token.role != "gap" or token.text.strip()):
                if at - last <= SEPARATED:
                    return False
                last = at
        return True


# Documents, undamaged.


def write(value: Any, random: Random) -> Document:
    """Lay a value out as people and programs do: compact, as `json.dumps` does, indented, or anyhow."""
    gap = random.choice(LAYOUTS)(random)
    tokens: list[Token] = []

    def add(role: str, text: str, inside: str, value: Any = None) -> None:
        tokens.append(Token(role, text, value, inside))

    def space(place: str, depth: int, inside: str) -> None:
        add("gap", gap(place, depth), inside)

    def visit(item: Any, depth: int, inside: str) -> None:
        match item:
            case dict() | list():
                bracket = "{" if isinstance(item, dict) else "["
                add(bracket, bracket, inside)
                for at, child in enumerate(item):
                    if at:
                        space("before comma", depth, bracket)
                        add(",", ",", bracket)
                    space("item", depth + 1, bracket)
                    if isinstance(item, dict):
                        add("key", quoted(child, random), bracket, child)
                        space("before colon", depth, bracket)
                        add(":", ":", bracket)
                        space("after colon", depth, bracket)
                    visit(item[child] if isinstance(item, dict) else child, depth + 1, bracket)
                space("end" if item else "nothing", depth, bracket)
                add(CLOSER[bracket], CLOSER[bracket], inside)
            case str():
                add("string", quoted(item, random), inside, item)
            case bool() | None:
                add("word", json.dumps(item), inside, item)
            case _:
                add("number", json.dumps(item), inside, item)

    visit(value, 0, "")
    return Document(tokens)


Gap = Callable[[str, int], str]


def compact(_: Random) -> Gap:
    return lambda _, __: ""


def as_dumps(_: Random) -> Gap:
    return lambda place, depth: " " if place == "after colon" or (place == "item" and depth) else ""


def indented(random: Random) -> Gap:
    step = random.choice(("  ", "    ", "\t", ""))
    colon = random.choice((" ", ""))
    line = random.choice(("\n", "\n", "\r\n"))

    def gap(place: str, depth: int) -> str:
        return line + step * depth if place in {"item", "end"} else colon if place == "after colon" else ""

    return gap


def anyhow(random: Random) -> Gap:
    return lambda _, __: random.choice(("", "", " ", "\n", "\t", "  \n "))


LAYOUTS = (compact, as_dumps, as_dumps, indented, indented, indented, anyhow)


def quoted(text: str, random: Random) -> str:
    return json.dumps(text, ensure_ascii=random.random() < 0.2 or not is_plain(text))


def is_plain(text: str) -> bool:
    """Without surrogates: its UTF-8 exists."""
    return text.isascii() or not SURROGATES.search(text)


SURROGATES = re.compile("[\ud800-\udfff]")


WORDS = (
    *("the", "a", "Lisbon", "report", "is", "ready", "for", "you", "on", "Monday", "and", "we"),
    *("need", "more", "rain", "snow", "München", "東京", "été", "über", "5", "km"),
)
KEYS = (
    "name",
    "city",
    "total",
    "is_open",
    "items",
    "note",
    "user_id",
    "$ref",
    "_id",
    "kind",
    "first name",
    "日付",
    "x",
)
PHRASES = (
    *("", "a", "Hello, world", "it's fine", "a: b", "C:\\new\\table", "50% {off} [now]", "// no comment", "# title"),
    *("```json", "</think>", "two\nlines\n", "x, y, z", "null", "True", "http://example.org/?a=1#b", "a\\", "“quoted”"),
    *('{"a": 1}', 'He said "no".', "([{", "}])", "end.", "…", "/* c */", "<b>bold</b>", "`code`", "'", "1_000"),
)


def phrase(random: Random, least: int = 1) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(least, 7)))


phrases = st.builds(phrase, st.integers(0, 2**16).map(Random))
texts_inside = st.one_of(st.sampled_from(PHRASES), phrases, phrases, strings)
some_keys = st.one_of(
    st.sampled_from(KEYS), st.sampled_from(KEYS), st.text(string.ascii_lowercase, min_size=1), strings
)
some_numbers = st.one_of(
    st.integers(-5, 5000),
    st.integers(),
    st.sampled_from([0.5, -0.25, 5.0, 1e300, 1.5e-7, 12345.678]),
    st.floats(allow_nan=False, allow_infinity=False),
)
leaves = st.one_of(st.none(), st.booleans(), some_numbers, texts_inside, texts_inside)


def _around(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(children, max_size=4), st.dictionaries(some_keys, children, max_size=4))


contents = st.recursive(leaves, _around, max_leaves=12)


def rooted(value: Any, random: Random) -> Any:
    """A value around another that has everything in it that can be damaged."""
    rich = {
        "name": phrase(random, 3),
        "count": random.choice((1, 7, 31, 1000, 54_321)),
        "ratio": random.choice((0.5, 2.0, 12.0, -0.25)),
        "on": random.choice((True, False)),
        "off": None,
        "tags": [phrase(random, 2), phrase(random, 2), 3],
        "pair": [{"x": 1, "y": 2}, {"x": 3, "y": phrase(random, 2)}],
    }
    pairs: list[tuple[str, Any]] = list(rich.items())
    random.shuffle(pairs)
    pairs.insert(random.randint(0, len(pairs)), ("value", value))
    if random.random() < 0.7:
        return dict(pairs)
    return [{key: item} if random.random() < 0.5 else item for key, item in pairs]


# Damage to tokens. Each returns False where the document has no place for it.

Damage = Callable[[Document, Random], bool]


def pick(document: Document, random: Random, test: Callable[[Token], bool]) -> Token | None:
    found = [token for token in document.tokens if token.inside and not token.is_damaged and test(token)]
    return random.choice(found) if found else None


def control_character(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role in {"string", "key"} and is_plain(token.value))
    if token is None:
        return False
    char = random.choice("\n\n\t\r\x00\x01\x08\x0b\x0c\x1b\x1f")
    place = random.randint(0, len(token.value))
    left, right = token.value[:place], token.value[place:]
    token.damage(f'"{escaped(left)}{char}{escaped(right)}"')
    token.value = left + char + right
    if re.search(r"[,，、]\s*$", token.value) and "\n" in token.text:
        document.is_certain = False  # at the end of a line, the closing quote may be missing before the comma
    return add(document, RepairKind.CONTROL_CHARACTER)


def escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def add(document: Document, *kinds: RepairKind) -> bool:
    document.kinds.update(kinds)
    return True


def unknown_escape(document: Document, random: Random) -> bool:
    """The backslash belongs to the text; only before an apostrophe it does not.

    Beside an escape of JSON with a letter after it, it is in doubt whether that is one: `C:\\new\\_old`.
    """
    token = pick(document, random, lambda token: token.role in {"string", "key"} and is_plain(token.value))
    if token is None:
        return False
    after = random.choice(
        ("d", "s", "w", ".", "(", "*", "$", " ", "x41", "uZZ", "u12 ", "é", "_", "0", "'", "%", ":", ",")
    )
    place = random.randint(0, len(token.value))
    left, right = token.value[:place], token.value[place:]
    token.damage(f'"{escaped(left)}\\{after}{escaped(right)}"')
    token.value = left + ("'" if after == "'" else f"\\{after}") + right
    if re.search(r"\\[bfnrt][^\W\d_]", token.text.replace("\\\\", "")):
        document.is_certain = False
    return add(document, RepairKind.ESCAPE)


DELIMITERS = (("'", "'"), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("`", "`"), ("”", "”"), ("„", "“"))


def other_quotes(document: Document, random: Random) -> bool:
    """One string, or all of them."""
    left, right = random.choice(DELIMITERS[:6])
    kept = set(f"{left}{right}\"'")

    def fits(token: Token) -> bool:
        return token.role in {"string", "key"} and not kept & set(token.value)

    found = [token for token in document.tokens if fits(token) and token.inside and not token.is_damaged]
    if not found:
        return False
    for token in found if random.random() < 0.3 else [random.choice(found)]:
        token.damage(left + token.text[1:-1] + right)
    return add(document, RepairKind.QUOTES)


def triple_quotes(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "string" and not set("\"'\\") & set(token.value))
    if token is None or not token.value:
        return False
    quotes = random.choice(('"""', "'''"))
    raw = token.value.isprintable() or random.random() < 0.5
    inner = token.value if raw and is_plain(token.value) else token.text[1:-1]
    if any(char < " " for char in inner):
        document.also.add(RepairKind.CONTROL_CHARACTER)
    token.damage(quotes + inner + quotes)
    return add(document, RepairKind.QUOTES)


def quotes_inside_others(document: Document, random: Random) -> bool:
    """As Python writes a string with quotes in it."""
    token = pick(document, random, lambda token: token.role == "string" and not set("'\"\\") & set(token.value))
    if token is None:
        return False
    words = f'{phrase(random)} "{phrase(random)}" {phrase(random)}'
    token.damage(f"'{words}'")
    token.value = words
    document.also |= {RepairKind.INNER_QUOTE, RepairKind.ESCAPE}
    return add(document, RepairKind.QUOTES)


REMARKS = (
    *("the total", "TODO: check this", "it's a guess", 'the "real" name', "{nothing}", "a, b", "see [1]", "50 %"),
    *('"old": 1', "x: y", "ünïcödé 日本", "", "http://example.org", "} ]", "'", '"', "...", "```", "-- # // *"),
)


def comment(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "gap")
    if token is None:
        return False
    remark = random.choice(REMARKS)
    form = random.choice(("// {}\n", "//{}\n", "# {}\n", "/* {} */", "/*{}*/", "/** {}\n more */", "// {}\r\n"))
    token.damage(random.choice(("", " ")) + token.text + form.format(remark) + random.choice(("", token.text)))
    before = document.tokens[index_of(document, token) - 1]
    if (remark == '"' and form.startswith(("//", "#"))) or (before.role in {"string", "key"} and may_go_on(before)):
        document.is_certain = False  # a string may end in the comment, or begin before it
    return add(document, RepairKind.COMMENT)


def may_go_on(token: Token) -> bool:
    """Whether another string may begin with the last quote of this one, which has lost its end then."""
    last = str(token.value).rstrip()[-1:]
    return last != "" and last in (",，、:：﹕" if token.role == "key" else ",，、")


def literal(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "word")
    if token is None:
        return False
    nothing = ("None", "None", "undefined", "NaN", "Infinity", "-Infinity")
    token.damage(str(token.value) if isinstance(token.value, bool) else random.choice(nothing))
    return add(document, RepairKind.LITERAL)


def number_form(document: Document, random: Random) -> bool:
    found = [
        (token, form)
        for token in document.tokens
        if token.role == "number" and token.inside and not token.is_damaged
        for form in number_forms(token.text)
    ]
    if not found:
        return False
    token, form = random.choice(found)
    token.damage(form)
    if form.endswith("."):
        token.value = float(token.value)
    return add(document, RepairKind.NUMBER)


def number_forms(text: str) -> Iterator[str]:
    """The other ways to write a number that JSON does not have."""
    if re.fullmatch(r"[0-9]{1,15}", text):
        yield from (f"0x{int(text):x}", f"0X{int(text):X}", f"{text}.")
        if len(text) > 3:
            yield f"{int(text):_}"
    if not text.startswith("-"):
        yield f"+{text}"
    if re.fullmatch(r"-?0\.[0-9]+", text):
        yield text.replace("0.", ".", 1)
    if re.fullmatch(r"-?[0-9]+\.0", text):
        yield text.removesuffix("0")


ODD_SPACES = ("\u00a0", "\ufeff", "\u2028", "\u2029", "\u200b", "\u3000", "\u2003", "\u202f")


def odd_space(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "gap")
    if token is None:
        return False
    token.damage(token.text + random.choice(ODD_SPACES) * random.randint(1, 3) + random.choice(("", token.text)))
    return add(document, RepairKind.SPACE)


def punctuation(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role in {",", ":"})
    if token is None:
        return False
    token.damage("：" if token.role == ":" else random.choice("，、"))
    return add(document, RepairKind.PUNCTUATION)


def ends(document: Document, *, least: int = 1, root: bool = True) -> list[tuple[int, int]]:
    """The places of the brackets of containers with at least `least` items."""
    found, opened = [], []
    counts: list[int] = []
    for at, token in enumerate(document.tokens):
        if token.role in CLOSER:
            opened.append(at)
            counts.append(0)
        elif token.role in {"}", "]"}:
            start, count = opened.pop(), counts.pop()
            if count >= least and (root or opened) and not document.tokens[start].is_damaged:
                found.append((start, at))
        if token.role in {"}", "]", "string", "number", "word"} and counts:
            counts[-1] += 1
    return found


def junk_at_end(document: Document, random: Random, text: str) -> bool:
    """Put something before the last white space of a container."""
    found = [end for _, end in ends(document) if not any(token.is_damaged for token in document.tokens[end - 2 : end])]
    if not found:
        return False
    end = random.choice(found)
    inside = document.tokens[end - 1].inside
    document.tokens.insert(end - 1, Token("junk", text, inside=inside, is_damaged=True))
    return True


def trailing_comma(document: Document, random: Random) -> bool:
    text = random.choice((",", ",", " ,", ", "))
    return junk_at_end(document, random, text) and add(document, RepairKind.TRAILING_COMMA)


def ellipsis(document: Document, random: Random) -> bool:
    text = random.choice((", ...", ",...", ",\n...", ", …", ",\n  ...\n"))
    document.also.add(RepairKind.TRAILING_COMMA)  # the one before it
    return junk_at_end(document, random, text) and add(document, RepairKind.ELLIPSIS)


def extra_comma(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == ",")
    if token is None:
        return False
    token.damage(random.choice((",,", ", ,", ",\n,", ",,,")))
    return add(document, RepairKind.EXTRA_COMMA)


def missing_comma(document: Document, random: Random) -> bool:
    """Certain in an object, and between containers; between two scalars on two lines."""
    return leave_out(document, random, lambda _, __, line: line)


def missing_comma_in_line(document: Document, random: Random) -> bool:
    """The same on one line, where a bracket or a key with its colon tells."""

    def tells(before: Token, after: Token, _: bool) -> bool:  # noqa: FBT001
        if after.role == "key":
            return before.role != "string"
        return before.role in {"}", "]"} and after.role in CLOSER

    return leave_out(document, random, tells)


def may_have_ended(text: str) -> bool:
    """Whether a string has an odd number of escaped quotation marks, and one of them stands where a string may end."""
    marks = [found.end() for found in re.finditer(r"\\(.)", text, re.DOTALL) if found[1] == '"']
    return len(marks) % 2 == 1 and any(text[end : end + 1] in (",", ":", "}", "]") for end in marks)


def leave_out(document: Document, random: Random, test: Callable[[Token, Token, bool], bool]) -> bool:
    solid = document.solid()
    found = [
        at
        for at, token in enumerate(solid)
        if token.role == ","
        and not any(near.is_damaged for near in solid[at - 1 : at + 2])
        and test(solid[at - 1], solid[at + 1], "\n" in gap_after(document, token))
    ]
    if not found:
        return False
    at = random.choice(found)
    if solid[at + 1].role in CLOSER and any(may_have_ended(token.text) for token in solid[:at]):
        document.is_certain = False  # if the string ended there, the brackets are text
    comma = solid[at]
    gap = document.tokens[index_of(document, comma) + 1]
    if not gap.text and not (solid[at - 1].role in {"}", "]"} and random.random() < 0.5):
        gap.text = " "
    comma.damage("")
    return add(document, RepairKind.MISSING_COMMA)


def index_of(document: Document, token: Token) -> int:
    return next(at for at, other in enumerate(document.tokens) if other is token)


def gap_after(document: Document, token: Token) -> str:
    at = index_of(document, token) + 1
    following = document.tokens[at] if at < len(document.tokens) else token
    return following.text if following.role == "gap" else ""


def unquoted_key(document: Document, random: Random) -> bool:
    """One key, or all."""
    found = [
        token for token in document.tokens if token.role == "key" and not token.is_damaged and is_name(token.value)
    ]
    if not found:
        return False
    for token in found if random.random() < 0.3 else [random.choice(found)]:
        token.damage(token.value)
    return add(document, RepairKind.UNQUOTED_KEY)


NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
NO_NAMES = {"true", "false", "null", "NaN", "Infinity", "undefined", "None", "True", "False"}


def is_name(key: str) -> bool:
    return bool(NAME.fullmatch(key)) and key not in NO_NAMES


def missing_colon(document: Document, random: Random) -> bool:
    """Certain before what cannot be a key, and not at the start of the root, which would be no value then."""
    solid = document.solid()
    found = [
        at
        for at, token in enumerate(solid)
        if token.role == ":"
        and at > 2
        and solid[at + 1].role in {"number", "word", "{", "["}
        and not solid[at + 1].text.startswith("-")
        and not any(near.is_damaged for near in solid[at - 1 : at + 2])
    ]
    if not found:
        return False
    colon = solid[random.choice(found)]
    gap = document.tokens[index_of(document, colon) + 1]
    gap.text = gap.text or " "
    colon.damage("")
    key = document.tokens[index_of(document, colon) - 2]
    if may_go_on(key):
        document.is_certain = False
    return add(document, RepairKind.MISSING_COLON)


def concatenation(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "string" and is_plain(token.value))
    if token is None:
        return False
    place = random.randint(0, len(token.value))
    plus = random.choice((" + ", "+", "\n  + ", " +\n    "))
    token.damage(f'"{escaped(token.value[:place])}"{plus}"{escaped(token.value[place:])}"')
    return add(document, RepairKind.CONCATENATION)


def tuples(document: Document, random: Random) -> bool:
    return as_tuple(document, random, 2)


def as_tuple(document: Document, random: Random, least: int) -> bool:
    found = [pair for pair in ends(document, least=least, root=False) if document.tokens[pair[0]].role == "["]
    if not found:
        return False
    start, end = random.choice(found)
    document.tokens[start].damage("(")
    document.tokens[end].damage(")")
    return add(document, RepairKind.TUPLE)


def inner_quote(document: Document, random: Random) -> bool:
    """Quotes around words in the middle of a string, nothing near them that JSON has a use for."""
    token = pick(document, random, lambda token: token.role == "string" and not set('"\\') & set(token.value))
    if token is None:
        return False
    token.value = f'{phrase(random)} "{phrase(random)}" {phrase(random)}'
    token.damage(f'"{token.value}"')
    return add(document, RepairKind.INNER_QUOTE)


# Damage around the value.

SENTENCES = (
    "Sure! Here is the JSON you asked for",
    "I looked at all {about travel} and {name} options, see [1] and [docs]",
    'As they say, "well begun is half done"',
    "It's done; don't worry about the user's data (really)",
    "Given f(x) = {x | x > 0} and a[0] < b[1], this follows",
    "Das Ergebnis lautet wie folgt",
    "これはJSONです。ご確認ください",
    "以下是结果，请查收",
    "1. First item\n2. Second item\n- a bullet",
    "# Heading\n\n**Bold** and _italic_ and `inline code`",
    "Prices are $5 and 10% off, i.e. 4.50 :-) :-{",
    "Use {{placeholder}} or ${variable} or [link](http://example.org)",
    "A lone \" quote and a lone ' too",
    "true or false? null and void",
    "Ça va: voilà",
    "<b>Note</b> that 3 < 4",
)


def prose(document: Document, random: Random) -> bool:
    if document.is_scalar or "</" in document.after:
        return False
    own_line = document.is_listing or document.before.startswith(("```", "~~~"))
    # In the middle of a sentence, a value has to begin as in JSON.
    is_odd = any(token.is_damaged for token in document.solid()[:5])
    document.also.add(RepairKind.TAG)  # for the tags of the last sentence
    only_before = RepairKind.SECOND_VALUE in document.kinds  # after another value, prose is a part of that
    if only_before or random.random() < 0.8:
        text = random.choice((". ", "\n", ".\n\n")).join(random.choices(SENTENCES, k=random.randint(1, 3)))
        document.before = (
            text
            + random.choice(
                ("\n", ":\n", ":\n\n", *(() if own_line else (": ",)), *(() if own_line or is_odd else (" ",)))
            )
            + document.before
        )
        if only_before or random.random() < 0.4:
            return add(document, RepairKind.PROSE)
    own_line = document.is_listing or document.after.rstrip().endswith(("```", "~~~"))
    text = random.choice((". ", "\n", ".\n\n")).join(random.choices(SENTENCES, k=random.randint(1, 3)))
    document.after += random.choice(("\n", "\n\n", *(() if own_line else (" ", ". ")))) + text
    return add(document, RepairKind.PROSE)


INFOS = (
    "json",
    "json",
    "json",
    "",
    "JSON",
    "json5",
    "jsonc",
    "javascript",
    "js",
    "python",
    "text",
    "json title=x",
    "{.json}",
)


def fence(document: Document, random: Random) -> bool:
    """A backtick or tilde fence that the document does not hold itself at the start of a line."""
    marks = random.choice(("```", "```", "```", "~~~", "````"))
    if marks in document.body:
        return False
    end = random.choice(("\n", "\n", "", "\n\n"))
    document.before = f"{marks}{random.choice(INFOS)}\n" + random.choice(("", "", "\n", "  ")) + document.before
    document.after += f"{end}{marks}" + random.choice(("", "\n", "\n\n"))
    return add(document, RepairKind.FENCE)


CODE = (
    ("bash", "pip install thing\necho {a,b} [x]\n"),
    ("python", 'config = {"name": "x", "items": [1, 2]}\nprint(config)\n'),
    ("python", "def f(x):\n    return {'a': [x]}\n"),
    ("sql", "SELECT name FROM users WHERE id IN (1, 2);\n"),
    ("js", 'const a = {"b": 1};\nconsole.log(`${a}`);\n'),
    ("", "just some text, {not} json\n"),
    ("html", '<div class="a">{"b"}</div>\n'),
    ("yaml", "name: x\nitems: [1, 2]\n"),
    ("ts", "interface A { name: string; age?: number }\n"),
)


def code_block(document: Document, random: Random) -> bool:
    """A block of another language before the value; the value has a fence of its own, or a line of its own."""
    if document.is_scalar and not document.before:
        return False
    language, code = random.choice(CODE)
    document.before = f"```{language}\n{code}```\n" + random.choice(("", "\n")) + document.before
    document.also.add(RepairKind.FENCE)  # its marks
    return add(document, RepairKind.CODE_BLOCK)


THOUGHTS = (
    "The user wants JSON.",
    'Maybe {"name": "draft", "items": []} would do? No.',
    "Let me think: [1, 2, 3] or {a: 1}... it's hard.",
    '```json\n{"draft": true}\n```\nHmm, "not" yet.',
    "if a < b and c > d { return }",
    "",
)


def thinking(document: Document, random: Random) -> bool:
    if document.is_scalar:
        return False
    name = random.choice(("think", "think", "thinking", "reasoning"))
    thought = "\n".join(random.choices(THOUGHTS, k=random.randint(1, 3)))
    around = random.choice(("\n", ""))
    document.before = f"<{name}>{around}{thought}{around}</{name}>" + random.choice(("\n", "\n\n")) + document.before
    return add(document, RepairKind.THINKING)


TAGS = (
    ("<tool_call>", "</tool_call>"),
    ("<tool_call>\n", "\n</tool_call>"),
    ("<|im_start|>", "<|im_end|>"),
    ("", "<|im_end|>"),
    ("", "<|eot_id|>"),
    ("[TOOL_CALLS]", ""),
    ("<|tool_call|>", ""),
    ("<tools>\n<tool_call>\n", "\n</tool_call>\n</tools>"),
)


def tag(document: Document, random: Random) -> bool:
    if document.is_scalar or document.is_listing:
        return False
    before, after = random.choice(TAGS)
    document.before = before + document.before
    document.after += after
    return add(document, RepairKind.TAG)


def second_value(document: Document, random: Random) -> bool:
    """Another value, or the same once more, on a line of its own; only the first one is wanted."""
    if document.is_scalar:
        return False
    other = random.choice(('{"b": 2}', '{"a": [1, {"c": "d"}], "e": null}', document.body, '[{"x": "y"}]'))
    document.after += random.choice(("\n", "\n\n", "\r\n")) + other
    return add(document, RepairKind.SECOND_VALUE)


def extra_closer(document: Document, random: Random) -> bool:
    if document.is_listing:
        return False
    document.after += random.choice(("", "", "\n", " ")) + random.choice(("}", "]", "}}", "}\n}"))
    return add(document, RepairKind.EXTRA_CLOSER)


# How Python and JavaScript write a whole document.


def as_python(document: Document, random: Random) -> bool:
    """`repr` of the value, with tuples for some lists: the oracle is Python itself."""
    value = document.value
    if document.is_listing or not isinstance(value, dict) or not is_simple(value):
        return False
    text = repr(with_tuples(value, random))
    replace_all(document, text)
    document.kinds.add(RepairKind.QUOTES)  # of the keys
    bare = re.sub(r"'[^']*'", "", text)
    if re.search(r"True|False|None", bare):
        document.kinds.add(RepairKind.LITERAL)
    if "(" in bare:
        document.kinds.add(RepairKind.TUPLE)
    return True


def is_simple(value: Any) -> bool:
    """Whether Python puts all strings as they are between apostrophes."""
    text = json.dumps(value, ensure_ascii=False)
    return "\\" not in text and "'" not in text and text.isprintable()


def with_tuples(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        return {key: with_tuples(item, random) for key, item in value.items()}
    if isinstance(value, list):
        items = [with_tuples(item, random) for item in value]
        return tuple(items) if len(items) > 1 and random.random() < 0.3 else items
    return value


# Damage with two readings, or with one that the contract leaves open.


def doubtful(damage: Damage) -> Damage:
    def apply(document: Document, random: Random) -> bool:
        document.is_certain = False
        return damage(document, random)

    return apply


def apostrophe_in_quotes(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "string" and not set("'\"\\") & set(token.value))
    if token is None:
        return False
    token.value = random.choice(
        ("it's {}", "{} of the users' own", "rock 'n' {}", "'tis {}", "{}, 'quoted', {}")
    ).format(*[phrase(random) for _ in range(2)])
    token.damage(f"'{token.value}'")
    return add(document, RepairKind.QUOTES, RepairKind.INNER_QUOTE)


def mixed_delimiters(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role in {"string", "key"} and token.value.isalnum())
    if token is None:
        return False
    pairs = (('"', "”"), ("“", '"'), ("'", '"'), ('"', "'"), ("”", "“"), ("`", "'"), *DELIMITERS[6:])
    left, right = random.choice(pairs)
    token.damage(left + token.text[1:-1] + right)
    return add(document, RepairKind.QUOTES)


def backslash_at_end(document: Document, random: Random) -> bool:
    """`"C:\\dir\\"`: the path ends, or the quote belongs to the text."""
    token = pick(document, random, lambda token: token.role == "string")
    if token is None:
        return False
    token.value = random.choice(("C:\\", "C:\\data\\", "a\\"))
    token.damage(f'"{token.value}"')
    return add(document, RepairKind.ESCAPE)


def commas_for_nothing(document: Document, random: Random) -> bool:
    """After the opening bracket, or twice before the closing one."""
    if random.random() < 0.5:
        return junk_at_end(document, random, random.choice((",,", ", ,"))) and add(document, RepairKind.TRAILING_COMMA)
    found = ends(document, least=0)
    if not found:
        return False
    start, _ = random.choice(found)
    document.tokens.insert(start + 1, Token("junk", ",", is_damaged=True))
    return add(document, RepairKind.EXTRA_COMMA)


def comma_between_scalars(document: Document, random: Random) -> bool:
    """`[1 2]`, `"a" "b"`, `"a": "x" "b": 1` on one line."""

    def is_doubtful(before: Token, after: Token, _: bool) -> bool:  # noqa: FBT001
        return after.role == "string" or before.role == "string" or after.role in {"number", "word"}

    return leave_out(document, random, is_doubtful)


def colon_before_string(document: Document, random: Random) -> bool:
    solid = document.solid()
    found = [
        token for at, token in enumerate(solid) if token.role == ":" and (at == 2 or solid[at + 1].role == "string")
    ]
    if not found:
        return False
    colon = random.choice(found)
    colon.damage(random.choice(("", " ")))
    return add(document, RepairKind.MISSING_COLON)


def odd_key(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "key")
    if token is None:
        return False
    token.value = random.choice(("first-name", "true", "null", "a.b", "naïve", "名前", "2nd", "first name"))
    token.damage(token.value)
    return add(document, RepairKind.UNQUOTED_KEY)


def small_tuple(document: Document, random: Random) -> bool:
    """`(1)` is no tuple, `(1,)` and `()` are."""
    found = [pair for pair in ends(document, least=0, root=False) if document.tokens[pair[0]].role == "["]
    if not found:
        return False
    start, end = random.choice(found)
    if random.random() < 0.5:
        document.tokens.insert(end, Token("junk", ",", is_damaged=True))
        end += 1
    document.tokens[start].damage("(")
    document.tokens[end].damage(")")
    return add(document, RepairKind.TUPLE)


def full_width_brackets(document: Document, random: Random) -> bool:
    found = ends(document, least=0)
    if not found:
        return False
    start, end = random.choice(found)
    wide = str.maketrans("[]{}", "［］｛｝")
    for at in (start, end):
        document.tokens[at].damage(document.tokens[at].text.translate(wide))
    return add(document, RepairKind.PUNCTUATION)


def ellipsis_anywhere(document: Document, random: Random) -> bool:
    found = [at for at, token in enumerate(document.tokens) if token.role == "gap" and token.inside]
    if not found:
        return False
    at = random.choice(found)
    text = random.choice(("...", "..., ", ", ...", "…", " ... "))
    document.tokens.insert(at, Token("junk", text, is_damaged=True))
    return add(document, RepairKind.ELLIPSIS)


def content_quotes(document: Document, random: Random) -> bool:
    """Quotes at any place of a string or a key, even or odd; not so that it could be JSON."""
    token = pick(document, random, lambda token: token.role in {"string", "key"} and is_plain(token.value))
    if token is None:
        return False
    before = document.body
    parts = [phrase(random) for _ in range(random.randint(2, 4))]
    token.value = random.choice(('"', ' "', '" ', '", ', '": ', '"}', '"]')).join(parts)
    token.damage(f'"{token.value}"')
    assert before != document.body
    return add(document, RepairKind.INNER_QUOTE)


def scalar_in_prose(document: Document, random: Random) -> bool:
    """A root scalar is a value only where it stands alone."""
    leaf = pick(document, random, lambda token: token.role in {"string", "number", "word"})
    if leaf is None:
        return False
    document.tokens = [leaf]
    document.before = random.choice(SENTENCES) + random.choice((": ", "\n", " "))
    return add(document, RepairKind.PROSE)


def fence_in_line(document: Document, random: Random) -> bool:
    if "```" in document.body:
        return False
    document.before = random.choice(("```json ", "```json", "``` ", "```")) + document.before
    document.after += random.choice(("```", " ```", ""))
    return add(document, RepairKind.FENCE)


def open_thought(document: Document, random: Random) -> bool:
    """The opening tag stood in the prompt."""
    thought = random.choice(THOUGHTS[::5] + THOUGHTS[4:5])
    document.before = f"{thought}\n</think>\n" + document.before
    return add(document, RepairKind.PROSE)


def other_tag(document: Document, random: Random) -> bool:
    name = random.choice(("json", "answer", "output", "response", "function=search", "result"))
    document.before = f"<{name}>" + random.choice(("", "\n")) + document.before
    document.after += random.choice(("", "\n")) + f"</{name.partition('=')[0]}>"
    return add(document, RepairKind.TAG)


def other_separators(document: Document, random: Random) -> bool:
    """Equals signs or arrows for colons, or semicolons for the commas of objects, as other languages write them."""
    role, text = random.choice(((":", " = "), (":", " => "), (":", "=>"), (":", "::"), (",", ";"), (",", "،")))
    found = [token for token in document.tokens if token.role == role and token.inside == "{" and not token.is_damaged]
    for token in found if random.random() < 0.7 else found[:1]:
        token.damage(text)
    return bool(found) and add(document, RepairKind.PUNCTUATION)


def prefixed_strings(document: Document, random: Random) -> bool:
    """As Python 2 writes text."""
    found = [token for token in document.tokens if token.role in {"key", "string"} and "'" not in str(token.value)]
    for token in found:
        quote = random.choice("'\"") if '"' not in token.value else '"'
        token.damage(f"u{quote}{token.text[1:-1]}{quote}")
    return bool(found) and add(document, RepairKind.QUOTES)


def assignment(document: Document, random: Random) -> bool:
    """A line of code around the value."""
    if document.is_scalar or document.before:
        return False
    document.before = random.choice(
        ("result = ", "const data: T = ", "module.exports = ", "return ", "export default ")
    )
    document.after = random.choice((";", "", ";\n", "\n")) + document.after
    if random.random() < 0.5:
        other_quotes(document, random)
    return add(document, RepairKind.PROSE)


def html_comment(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "gap")
    if token is None:
        return False
    token.damage(f"{token.text}<!-- {random.choice(REMARKS)} -->{token.text}")
    return add(document, RepairKind.COMMENT)


def one_escape_too_many(document: Document, random: Random) -> bool:
    """The whole text as it is written into a string of JSON, without the quotes around it."""
    if document.is_scalar or not is_plain(document.body):
        return False
    text = json.dumps(document.body, ensure_ascii=random.random() < 0.3)
    return replace_all(document, text[1:-1]) and add(document, RepairKind.QUOTES)


def cell_of_csv(document: Document, random: Random) -> bool:
    """The same for a cell of CSV, with its quotes or without; only of an object, whose first key shows it."""
    if not isinstance(document.value, dict) or not document.value:
        return False
    quote = random.choice(('"', ""))
    doubled = document.body.replace('"', '""')
    return replace_all(document, f"{quote}{doubled}{quote}") and add(document, RepairKind.QUOTES)


def opened_otherwise(document: Document, random: Random) -> bool:
    """`“name"`, `„name"`: the first mark of some or all strings was made typographic."""
    found = [token for token in document.tokens if token.role in {"key", "string"} and token.inside]
    mark = random.choice("“„")
    for token in found if random.random() < 0.5 else found[:1]:
        token.damage(mark + token.text[1:])
    return bool(found) and add(document, RepairKind.QUOTES)


def key_of_words(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "key")
    if token is None:
        return False
    token.value = random.choice(("first name", "is it open", "date of birth", "a b"))
    token.damage(token.value)
    return add(document, RepairKind.UNQUOTED_KEY)


def plural_of_an_owner(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "string")
    if token is None:
        return False
    token.value = f"the dogs' {phrase(random)}"
    if random.random() < 0.3:
        token.value += f" and the cats' {phrase(random)}"
    token.damage(f"'{token.value}'")
    return add(document, RepairKind.QUOTES, RepairKind.INNER_QUOTE)


def lost_backslash(document: Document, random: Random) -> bool:
    """Of a quotation mark at any place of a string or a key."""
    token = pick(document, random, lambda token: token.role in {"key", "string"} and is_plain(token.value))
    if token is None:
        return False
    place = random.randint(0, len(token.value))
    left, right = token.value[:place], token.value[place:]
    token.value = f'{left}"{right}'
    token.damage(f'"{escaped(left)}"{escaped(right)}"')
    return True


def lost_brace(document: Document, _: Random) -> bool:
    """The first one of an object: it was in the prompt."""
    if document.tokens[0].role != "{":
        return False
    document.tokens[0].damage("")
    return True


# What has to be an error. Each returns whether it found a place, and leaves no reading that is right.


def lost_closing_quote(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role == "string" and '"' not in token.value)
    if token is None:
        return False
    token.damage(token.text[:-1])
    return True


def lost_opening_quote(document: Document, random: Random) -> bool:
    token = pick(document, random, lambda token: token.role in {"string", "key"} and token.value[:1].isalpha())
    if token is None:
        return False
    token.damage(token.text[1:])
    return True


def early_end(document: Document, random: Random) -> bool:
    """`{"a": 1}, "b": 2}`."""
    value = document.value
    if not isinstance(value, dict) or len(value) < 2:
        return False
    key, *_ = value
    head = json.dumps({key: value[key]})
    rest = json.dumps({other: value[other] for other in value if other != key})
    return replace_all(document, head + random.choice((", ", ",\n", ",")) + rest[1:])


def replace_all(document: Document, text: str) -> bool:
    for token in document.tokens:
        token.text = ""
    document.tokens[0].damage(text)
    return True


def wrong_closer(document: Document, random: Random) -> bool:
    """Other brackets than were opened, or two that have changed places."""
    found = ends(document)
    if not found:
        return False
    _, end = random.choice(found)
    document.tokens[end].damage({"}": "]", "]": "}"}[document.tokens[end].text])
    return True


def misnested(document: Document, random: Random) -> bool:
    solid = document.solid()
    found = [at for at in range(1, len(solid)) if {solid[at - 1].text, solid[at].text} == {"}", "]"}]
    if not found:
        return False
    at = random.choice(found)
    one, other = solid[at - 1], solid[at]
    left, right = one.text, other.text
    one.damage(right)
    other.damage(left)
    return True


def missing_value(document: Document, random: Random) -> bool:
    solid = document.solid()
    found = [
        at for at, token in enumerate(solid) if token.role == ":" and solid[at + 1].role in {"string", "number", "word"}
    ]
    if not found:
        return False
    solid[random.choice(found) + 1].damage("")
    return True


def code_for_value(document: Document, random: Random) -> bool:
    """Arithmetic, calls, names, sets, spreads, numbers with zeros or units: not without a schema, or never."""
    token = pick(document, random, lambda token: token.role in {"number", "word", "string"})
    if token is None:
        return False
    code = (
        *("1 + 2", "60 * 60", "2 ** 3", "-x", "datetime(2024, 1, 2)", "Decimal('1.5')", "print(1)", "(1)", "('a')"),
        *("hello", "hello world", "yes", "00789", "1,234.5.6", "5 kg", "$5", "50%", '{"a", "b"}', "{1, 2}", "...x"),
        *("[x for x in y]", "new Date()", "a.b.c", "@name", "f'{x}'", "lambda: 1", "1 2", "12:30", "2024-01-02"),
    )
    text = random.choice(code)
    token.damage(text)
    token.value = ("no value is right", text)
    return True


def scalars_in_line(document: Document, random: Random) -> bool:
    """`[1 2]`, and `"a" "b"` in an array."""
    numbers = random.choice(("[1 2]", "[1, 2 3]", '["a" "b"]', '["a", "b" "c"]', "[true false]", "[1 2 3 4]"))
    token = pick(document, random, lambda token: token.role in {"number", "word", "string"})
    if token is None:
        return False
    token.damage(numbers)
    token.value = ("no value is right", numbers)
    return True


def thought_after(document: Document, _: Random) -> bool:
    """What stands before a bare `</think>` was no answer."""
    if document.is_listing:
        return False
    document.after += "\n</think>\n"
    return True


DAMAGES: dict[str, Damage] = {
    name.__name__: name
    for name in (
        *(control_character, unknown_escape, other_quotes, triple_quotes, quotes_inside_others, comment, literal),
        *(number_form, odd_space, punctuation, trailing_comma, extra_comma, missing_comma, missing_comma_in_line),
        *(unquoted_key, missing_colon, concatenation, tuples, inner_quote, ellipsis, prose, fence, code_block),
        *(thinking, tag, second_value, extra_closer, as_python),
    )
}
DOUBTS: dict[str, Damage] = {
    name.__name__: doubtful(name)
    for name in (
        *(apostrophe_in_quotes, mixed_delimiters, backslash_at_end, commas_for_nothing, comma_between_scalars),
        *(colon_before_string, odd_key, small_tuple, full_width_brackets, ellipsis_anywhere, content_quotes),
        *(scalar_in_prose, fence_in_line, open_thought, other_tag, lost_closing_quote, lost_opening_quote),
        *(other_separators, prefixed_strings, assignment, html_comment, one_escape_too_many, cell_of_csv),
        *(opened_otherwise, key_of_words, plural_of_an_owner, lost_backslash, lost_brace),
    )
}
REFUSED: dict[str, Damage] = {
    name.__name__: name
    for name in (early_end, wrong_closer, misnested, missing_value, code_for_value, scalars_in_line, thought_after)
}
TO_TOKENS = [
    name for name in DAMAGES if name not in {"prose", "fence", "code_block", "thinking", "tag", "second_value"}
]
MIXED = sorted(DAMAGES.keys() - {"as_python"})
AROUND = ("extra_closer", "fence", "tag", "second_value", "code_block", "thinking", "prose")
"""From the inside out."""


def damaged(name: str, value: Any, random: Random) -> Document:
    """A document with one known damage; around the value, if it has no place for that."""
    damage = EVERY_DAMAGE[name]
    for attempt in range(50):
        document = write(value, random)
        if not document.is_scalar and damage(document, random):
            return document
        value = rooted(value if attempt < 2 else phrase(random), random)
    raise AssertionError(name)


def mixture(value: Any, random: Random) -> Document:
    """A document with two or three kinds of damage, certain only where they are far from one another."""
    names = random.sample(MIXED, k=random.randint(2, 3))
    document = write(value, random)
    inside = [name for name in names if name not in AROUND]
    for name in inside + [name for name in AROUND if name in names]:
        DAMAGES[name](document, random)
    escapes_are_clear = "unknown_escape" not in names or not has_code_quotes(document)
    document.is_certain = document.is_certain and document.are_apart() and escapes_are_clear
    return document


def has_code_quotes(document: Document) -> bool:
    """Whether a string looks like one of Python or JavaScript, which know more escapes than JSON in all strings."""
    return any(token.text.startswith(("'", "`", '"""')) for token in document.tokens if token.role in {"key", "string"})


# Documents drawn anew, each from one seed.

BITS = (
    *(", ", ",", ": ", ":", "{", "}", "[", "]", "(", ")", "'", '"', "//", "/*", "*/", "# ", "\\", "\n", " + ", "..."),
    *(
        "```",
        "```json\n",
        "<",
        ">",
        "</a>",
        "<|x|>",
        "“",
        "”",
        "„",
        "；",
        "=",
        "=>",
        "-",
        "1",
        "5",
        "null",
        "true",
        "é",
    ),
    *("a", "b c", "said", "rain and", "{x}", "[1]", '"k": ', "\t", "\u00a0", "，", "."),
)


def draw_text(random: Random) -> str:
    """A text in which JSON's own signs are frequent."""
    form = random.random()
    if form < 0.3:
        return "".join(random.choices(BITS, k=random.randint(0, 6)))
    return random.choice(PHRASES) if form < 0.6 else phrase(random)


def draw_value(random: Random, depth: int = 0) -> Any:
    """A container of a few values."""
    form = random.random() if depth else 1
    if form < 0.6:
        return draw_text(random)
    if form < 0.8 or depth > 2:
        return random.choice((0, 1, -5, 31, 1000, 0.5, -2.5, 12345.678, None, True, False))
    count = random.choice((0, 1, 1, 2, 2, 2, 3, 4))
    if random.random() < 0.4:
        return [draw_value(random, depth + 1) for _ in range(count)]
    keys = [random.choice(KEYS) if random.random() < 0.6 else draw_text(random) for _ in range(count)]
    return {key: draw_value(random, depth + 1) for key in keys}


def draw(random: Random) -> tuple[str, Document]:
    """A damage by its name, and a document that has it, small if it has a place there."""
    name = random.choice(NAMES)
    if name == "mixture":
        return name, mixture(draw_value(random), random)
    for _ in range(4):
        document = write(draw_value(random), random)
        if EVERY_DAMAGE[name](document, random):
            return name, document
    return name, damaged(name, draw_value(random), random)


EVERY_DAMAGE = DAMAGES | DOUBTS | REFUSED
NAMES = (*EVERY_DAMAGE, *["mixture"] * 8)


def main(count: int, seed: int) -> None:
    """Draw documents, and count what becomes of each damage."""
    from tests.mend.runs import WRONG, judge_drawn  # noqa: PLC0415 - the stage is needed here only

    tallies: dict[str, Counter[str]] = {name: Counter() for name in NAMES}
    for at in range(seed, seed + count):
        name, document = draw(Random(at))
        found = judge_drawn(name, document)
        tallies[name][found] += 1
        if found == WRONG:
            print(f"{name}, seed {at}: {document.text!r} is meant to be {document.value!r}", flush=True)  # noqa: T201
    tallies["all"] = sum(tallies.values(), Counter())
    for name, tally in tallies.items():
        print(f"{name:24}", "  ".join(f"{found} {tally[found]}" for found in sorted(tally)))  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
