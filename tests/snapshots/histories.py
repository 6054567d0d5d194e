"""Histories of snapshots: what a hidden left-to-right writer shows of its value while it writes.

In: a final value and a `Random`. Out: the snapshots, each a tree; `forms` makes of them what a chunker takes.
A tree is a value whose numbers are their lexemes: `==` of two trees compares types and ignores the order of keys.
Rule: a history depends on one drawn seed, and is made without recursion, at any depth.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any, Literal, NamedTuple

from tests.oracles import NUMBER
from tests.seeded import ODD_KEYS, spell_number

Tree = Any
"""`dict`, `list`, `str`, `bool`, `None` or `Number`."""
Skeleton = Literal["none", "flat", "nested", "nulls", "mixed"]
Grow = Literal["", "lexemes", "values"]


class Number(NamedTuple):
    """A number as it is written."""

    lexeme: str


class Step(NamedTuple):
    """What the hidden writer does next, in the container that it is in."""

    action: Literal["open", "set", "close"]
    key: str | int
    value: Tree


# Final values.

KEYS = ("a", "b", "c", "d", "name", "days", *ODD_KEYS)
WORDS = (
    *("", "a", "ab", "Matthew", "Mount Fuji", "Day 1", 'say "hi"', "back\\slash", "\n\t\x00", "日本語", "e\u0301"),
    *("😀", "x😀y", "👩‍👩‍👧", "𝄞𝄞", "\ud83d", "a\udc00", "\ud83dx", "true", "1", "[]", "\u2028", "</script>"),
)
EXACT_NUMBERS = (
    *("0", "1", "-1", "12", "125", "1.0", "12.5", "-0.0", "0.1", "1e+16", "1e-07", "5e-324", "12345678901234567890"),
    *("1.50", "0.000", "1E+5", "0E-8", "-7.10"),
)
"""Each the text of an `int`, a `float` or a `Decimal`."""
WRITTEN_NUMBERS = (*EXACT_NUMBERS, "1E5", "1e5", "1.25e3", "-0", "0e0", "1.00E+00", "1e400", "100000000000000000000e-2")


def joined(text: str) -> str:
    """A high and a low surrogate side by side are one character: JSON text cannot distinguish them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def any_tree(random: Random, *, exact: bool = True) -> Tree:
    """A final value with many members that could grow; with `exact`, it can be given as a Python value too."""
    root: list[Tree] = []
    todo: list[tuple[Any, int]] = [(root, 0)]
    room = random.choice((4, 10, 25))
    while todo:
        container, depth = todo.pop(random.randrange(len(todo)))
        for key in any_keys(container, random) if depth else [0]:
            room -= 1
            child = any_node(random, depth + 3 * (room < 0), exact=exact)
            put(container, key, child)
            if isinstance(child, list | dict):
                todo.append((child, depth + 1))
    return root[0]


def any_keys(container: Tree, random: Random) -> list[Any]:
    count = random.choice((0, 1, 2, 3, 3, 4, 5))
    return list(range(count)) if isinstance(container, list) else random.sample(KEYS, count)


def any_node(random: Random, depth: int, *, exact: bool) -> Tree:
    chances = (1, 20, 5, 1) if depth == 0 else (7, 4, 3, 3)
    kinds = ["string", "object", "array", "scalar"] if depth < 5 else ["string", "scalar"]
    match random.choices(kinds, chances[: len(kinds)])[0]:
        case "object":
            return {}
        case "array":
            return []
        case "string":
            return joined("".join(random.choices(WORDS, k=random.choice((1, 1, 1, 2)))))
        case _:
            numbers = EXACT_NUMBERS if exact else WRITTEN_NUMBERS
            return random.choice((True, False, None, *[Number(random.choice(numbers))] * 3))


def tree_of(value: Any, random: Random | None = None) -> Tree:
    """The tree of a Python value, its numbers as Python writes them, or in any form if a `Random` is given."""

    def node(item: Any) -> Tree:
        match item:
            case dict() | list() | tuple():
                return {} if isinstance(item, dict) else []
            case str():
                return joined(item)
            case bool() | None:
                return item
            case Decimal():
                return Number(str(item))
            case _:
                return Number(spell_number(item, random) if random else json.dumps(item))

    return rebuilt(value, node)


def rebuilt(tree: Any, node: Any, random: Random | None = None) -> Any:
    """A copy made by `node`, which makes an empty container of a container; keys shuffled if a `Random` is given."""
    root: list[Any] = []
    todo: list[tuple[Any, Any]] = [([tree], root)]
    while todo:
        source, target = todo.pop()
        keys = list(source) if isinstance(source, dict) else list(range(len(source)))
        if random and isinstance(source, dict):
            random.shuffle(keys)
        for key in keys:
            child = node(source[key])
            put(target, joined(key) if isinstance(key, str) else key, child)
            if isinstance(child, list | dict):
                todo.append((source[key], child))
    return root[0]


def bare(item: Tree) -> Tree:
    """A leaf as it is, a container without its content."""
    return type(item)() if isinstance(item, list | dict) else item


def put(container: Tree, key: str | int, child: Tree) -> None:
    if isinstance(container, list) and key == len(container):
        container.append(child)
    else:
        container[key] = child


def deep_tree(random: Random, depth: int) -> Tree:
    """Some value inside many containers, most of them with something before and after the way down."""
    tree = any_tree(random)
    for _ in range(depth):
        word = random.choice(WORDS)
        tree = random.choice(([tree], [word, tree], {"": tree}, {"b": word, "a": tree, "c": Number("1")}))
    return tree


# The hidden writer.


class Choices(NamedTuple):
    """What stands for the members of each object before they begin, chosen once."""

    random: Random
    made: dict[int, Tree]


def plan(final: Tree, random: Random, *, skeleton: Skeleton = "none", grow: Grow = "") -> list[Step]:
    """All that the writer does, with its own order of keys in every object."""
    steps: list[Step] = []
    choices = Choices(random, {})
    todo: list[tuple[Any, Any]] = [(0, final)]
    while todo:
        key, node = todo.pop()
        if key is None:
            steps.append(Step("close", "", None))
        elif isinstance(node, dict | list):
            steps.append(Step("open", key, hollow(node, skeleton, choices)))
            children = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
            if isinstance(node, dict):
                random.shuffle(children)
            if isinstance(node, dict) and skeleton == "flat":
                # A lone empty member is taken for open: what is complete stands before it.
                children.sort(key=lambda pair: isinstance(pair[1], str | list | dict))
            todo += [(None, None), *reversed(children)]
        elif isinstance(node, str):
            steps += [Step("set", key, part) for part in string_parts(node, random)]
        elif isinstance(node, Number) and grow:
            steps += [Step("set", key, part) for part in number_parts(node, grow)]
        else:
            steps.append(Step("set", key, node))
    return steps


def string_parts(text: str, random: Random) -> Iterator[str]:
    """What is seen of a string: from nothing to all of it, sometimes with half of a character at the end."""
    yield ""
    places = sorted(random.sample(range(len(text)), k=min(len(text), random.choice((0, 0, 1, 1, 3)))))
    for place in places:
        if place:
            yield text[:place]
        if text[place] > "\uffff" and random.random() < 0.5:
            yield text[:place] + chr(0xD7C0 + (ord(text[place]) >> 10))
    yield text


def number_parts(number: Number, grow: Grow) -> Iterator[Number]:
    """The numbers that a number is while its digits arrive: as they are written, or as Python `values` of them."""
    for end in range(1, len(number.lexeme), 1 + len(number.lexeme) // 20):
        if NUMBER.fullmatch(number.lexeme, 0, end):
            part = number.lexeme[:end]
            yield Number(json.dumps(json.loads(part)) if grow == "values" else part)
    yield number


def hollow(node: Tree, skeleton: Skeleton, choices: Choices) -> Tree:
    """What is seen of a container that is just opened: nothing, or members that are empty, or nested skeletons.

    With `nulls` every member is null, or a skeleton of nulls; `mixed` has all that, and members that are empty.
    """
    if skeleton == "none" or isinstance(node, list):
        return bare(node)
    if skeleton in {"nulls", "mixed"}:
        if id(node) not in choices.made:
            choices.made[id(node)] = {key: placeholder(child, skeleton, choices) for key, child in node.items()}
        return choices.made[id(node)]
    growing = {key: child for key, child in node.items() if isinstance(child, str | list | dict)}
    if skeleton == "flat":
        return {key: child if key not in growing else type(child)() for key, child in node.items()}
    return {
        key: hollow(child, skeleton, choices) if isinstance(child, dict) else type(child)()
        for key, child in growing.items()
    }


def placeholder(child: Tree, skeleton: Skeleton, choices: Choices) -> Tree:
    """What stands for a member that has not begun."""
    found: list[Tree] = [None]
    if isinstance(child, dict) and child:
        found.append(hollow(child, skeleton, choices))
    if isinstance(child, str | list | dict) and skeleton == "mixed":
        found.append(type(child)())
    return choices.random.choice(found)


def show(steps: list[Step], cuts: list[int]) -> list[Tree]:
    """What is seen after each of the given counts of steps."""
    root: list[Tree] = []
    stack: list[Tree] = [root]
    seen: list[Tree] = []
    for count, step in enumerate(steps, 1):
        if step.action == "close":
            stack.pop()
        else:
            put(stack[-1], step.key, rebuilt(step.value, bare))
            if step.action == "open":
                stack.append(stack[-1][step.key])
        seen += [rebuilt(root[0], bare) for _ in range(cuts.count(count))]
    return seen


def lawful(
    final: Tree, random: Random, *, skeleton: Skeleton = "none", grow: Grow = "", every: bool = False
) -> list[Tree]:
    """A history: cut at some steps, or at `every` one; some snapshots come again; the last is the final value."""
    steps = plan(final, random, skeleton=skeleton, grow=grow)
    if every:
        return without_repeats(show(steps, list(range(1, len(steps) + 1))))
    cuts = random.choices(range(1, len(steps) + 1), k=random.choice((1, 2, 2, 3, 5, 9)))
    cuts += [cut for cut in cuts for _ in range(random.choice((0, 0, 0, 0, 0, 0, 1, 2)))]
    return show(steps, [*cuts, len(steps)])


def without_repeats(history: list[Tree]) -> list[Tree]:
    return [tree for at, tree in enumerate(history) if not at or tree != history[at - 1]]
