"""Histories that no left-to-right writer could make: rewritten, shrunk, vanished, of another type, grown in turn.

In: a final value and a `Random`. Out: snapshots, each a tree; some happen to be lawful.
"""

from random import Random
from typing import Any

from tests.snapshots.histories import KEYS, WORDS, Number, Tree, bare, joined, lawful, put, rebuilt

RETYPED: tuple[Tree, ...] = (
    Number("1"),
    True,
    Number("1.0"),
    None,
    "1",
    "",
    [],
    {},
    [Number("1")],
    {"a": "x"},
    False,
    Number("0"),
)


def unlawful(final: Tree, random: Random) -> list[Tree]:
    """A lawful history after an accident, or values that grow and shrink as they like."""
    history = lawful(final, random)
    match random.randrange(6):
        case 0:  # one snapshot is wrong, the rest continues as if nothing had happened
            at = random.randrange(len(history))
            return [*history[:at], mutated(history[at], random), *history[at:]]
        case 1:  # from some moment on, all are of another value
            at = random.randint(0, len(history))
            return history[:at] + lawful(mutated(final, random), random)
        case 2:
            random.shuffle(history)
            return [*history, final]
        case 3:
            return [pruned(final, random) for _ in range(random.randint(1, 6))] + [final]
        case 4:
            return in_turn(final, random)
        case _:
            return [tree for snapshot in history for tree in (snapshot, mutated(snapshot, random))]


def mutated(tree: Tree, random: Random) -> Tree:
    """One to three accidents, each somewhere."""
    root = [rebuilt(tree, bare)]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        mishap(root, random)
    return root[0]


def mishap(root: list[Tree], random: Random) -> None:
    places: list[tuple[Any, Any]] = [(root, 0)]
    for container, key in places:
        child = container[key]
        if isinstance(child, list | dict):
            places += [(child, at) for at in (child if isinstance(child, dict) else range(len(child)))]
    container, key = random.choice(places)
    old = container[key]
    match random.randrange(7):
        case 0 if container is not root:
            del container[key]
        case 1 if isinstance(old, str):
            container[key] = old[: random.randint(0, len(old))]
        case 2 if isinstance(old, str):
            place = random.randint(0, len(old))
            container[key] = joined(old[:place] + random.choice(WORDS) + old[place:])
        case 3 if isinstance(old, list | dict):
            put(old, len(old) if isinstance(old, list) else random.choice(KEYS), random.choice(("new", Number("7"))))
        case 4 if isinstance(old, list):
            old.reverse()
        case 5 if isinstance(container, dict):
            container[random.choice(KEYS)] = container.pop(key)
        case _:
            container[key] = rebuilt(random.choice(RETYPED), bare)


def pruned(tree: Tree, random: Random) -> Tree:
    """Strings and arrays cut anywhere, members left out, all at once."""
    root = [rebuilt(tree, bare)]
    found = list(root)
    for item in found:
        if isinstance(item, dict):
            for key in random.sample(list(item), k=random.choice((0, 0, len(item) // 2))):
                del item[key]
        if isinstance(item, list):
            del item[random.randint(0, 2 * len(item)) :]
        shorten(item, random)
        if isinstance(item, list | dict):
            found += item.values() if isinstance(item, dict) else item
    return root[0]


def shorten(item: Tree, random: Random) -> None:
    for key in (item if isinstance(item, dict) else range(len(item))) if isinstance(item, list | dict) else ():
        child = item[key]
        if isinstance(child, str) and random.random() < 0.5:
            item[key] = child[: random.randint(0, len(child))]


def in_turn(tree: Tree, random: Random) -> list[Tree]:
    """All is there from the start, and all strings grow in turn."""
    shares: dict[int, float] = {}

    def node(item: Tree, at: list[int]) -> Tree:
        at[0] += 1
        return item[: round(len(item) * shares.get(at[0], 0.3))] if isinstance(item, str) else bare(item)

    history: list[Tree] = []
    for _ in range(random.randint(2, 6)):
        at = [0]
        history.append(rebuilt(tree, lambda item, at=at: node(item, at)))
        for which in random.sample(range(1, at[0] + 1), k=min(at[0], 2)):
            shares[which] = min(1.0, shares.get(which, 0.3) + random.random())
    return [*history, tree]
