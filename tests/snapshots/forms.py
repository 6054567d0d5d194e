"""The forms of a snapshot: JSON text in any spelling, its UTF-8, or a Python value; keys shuffled anew each time.

In: a tree. Out: `Fed`, what a chunker takes, together with the tree.
Rule: the form changes nothing of the tree, not even how a number is written.
"""

import json
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

from tests.cuts import as_bytes
from tests.seeded import SPACES, spell_character
from tests.snapshots.histories import Number, Tree, bare, rebuilt


class Fed(NamedTuple):
    """A snapshot in the form in which a chunker takes it."""

    tree: Tree
    item: Any
    is_text: bool


class Mark(str):
    """What stands between the values of a text."""

    __slots__ = ()


def as_text(tree: Tree, random: Random, *, shuffle: bool = True) -> Fed:
    """Any spelling: white space, escapes, sometimes the UTF-8."""
    odd = random.random() < 0.3
    escaped = random.random() < 0.2

    def string(text: str) -> str:
        if not odd:
            return json.dumps(text, ensure_ascii=escaped)
        return '"' + "".join(spell_character(char, random, raw_surrogates=True) for char in text) + '"'

    def gap() -> Mark:
        return Mark(random.choice(SPACES)) if odd else Mark("")

    result: list[str] = []
    todo: list[Any] = [gap(), rebuilt(tree, bare, random if shuffle else None), gap()]
    while todo:
        item = todo.pop()
        match item:
            case Mark():
                result.append(item)
            case str():
                result.append(string(item))
            case dict() | list():
                pairs = (
                    [(Mark(f"{string(key)}{gap()}:{gap()}"), item[key]) for key in item]
                    if isinstance(item, dict)
                    else [(gap(), child) for child in item]
                )
                todo.append(Mark("}" if isinstance(item, dict) else "]"))
                for at, (before, child) in reversed(list(enumerate(pairs))):
                    todo += [gap(), child, before, gap(), Mark("," if at else "")]
                todo.append(Mark("{" if isinstance(item, dict) else "["))
            case Number():
                result.append(item.lexeme)
            case _:
                result.append(json.dumps(item))
    text = "".join(result)
    data = as_bytes(text) if random.random() < 0.2 else None
    return Fed(tree, text if data is None else data, is_text=True)


def as_value(tree: Tree, random: Random, *, shuffle: bool = True) -> Fed:
    """A Python value, its lists sometimes tuples."""
    value = rebuilt(
        tree, lambda item: python_number(item) if isinstance(item, Number) else bare(item), random if shuffle else None
    )
    return Fed(tree, with_tuples(value) if random.random() < 0.1 else value, is_text=False)


def python_number(number: Number) -> float | Decimal:
    """What Python writes as this lexeme."""
    value: float = json.loads(number.lexeme)
    return value if json.dumps(value) == number.lexeme else Decimal(number.lexeme)


def with_tuples(value: Any) -> Any:
    """The lists that hold no container, as tuples."""

    def node(item: Any) -> Any:
        plain = isinstance(item, list) and not any(isinstance(child, list | dict) for child in item)
        return tuple(item) if plain else bare(item)

    return rebuilt(value, node)


def either(tree: Tree, random: Random) -> Fed:
    return random.choice((as_text, as_value))(tree, random)
