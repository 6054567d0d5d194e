"""How two values or two states relate: equal, grown, made of the same objects.

In: values as states hand them out. Out: whether laws 2, 3 and 4 hold between them.
Rule: no recursion, so that values of any depth can be compared.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from jsontide import MISSING, ParserError, ParserState
from jsontide.tree import ArrayNode, Node, NumberNode, ObjectNode, StringNode
from tests.oracles import Fault, ModelNode, Path, line_and_column


def flat(value: Any) -> list[tuple[object, ...]]:
    """A copy of a value that no later change can reach, equal only for equal types, orders and signs of zero."""
    result: list[tuple[object, ...]] = []
    todo: list[tuple[int, object, Any]] = [(0, None, value)]
    while todo:
        depth, segment, item = todo.pop()
        if isinstance(item, dict):
            result.append((depth, segment, dict, len(item)))
            todo += [(depth + 1, key, child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            result.append((depth, segment, list, len(item)))
            todo += [(depth + 1, at, child) for at, child in reversed(list(enumerate(item)))]
        else:
            result.append((depth, segment, *leaf(item)))
    return result


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal as `flat` shows them, without making it; parts that are one object are not read."""
    todo = [(left, right)]
    while todo:
        one, other = todo.pop()
        if one is other:
            continue
        if isinstance(one, dict):
            if not isinstance(other, dict) or list(one) != list(other):
                return False
            todo += zip(one.values(), other.values(), strict=True)
        elif isinstance(one, list):
            if not isinstance(other, list) or len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif isinstance(other, dict | list) or leaf(one) != leaf(other):
            return False
    return True


def grows(old: Any, new: Any) -> bool:
    """Law 2: `new` can be what `old` has become. Only the last child of a container can still change."""
    while old is not MISSING and old is not new:
        if type(old) is not type(new):
            return False
        if not isinstance(old, list | dict):
            return bool(new.startswith(old)) if isinstance(old, str) else same(old, new)
        before = list(entries(old))
        now = list(entries(new))[: len(before)]
        if not before:
            return True
        if [key for key, _ in now] != [key for key, _ in before] or not same(dict(before[:-1]), dict(now[:-1])):
            return False
        old, new = before[-1][1], now[-1][1]
    return True


def entries(container: Any) -> Iterator[tuple[Any, Any]]:
    return iter(container.items()) if isinstance(container, dict) else iter(enumerate(container))


def strays(old: Any, new: Any) -> list[Path]:
    """Law 3: the paths of containers that are equal in both values, but not the same object."""
    digest = digests(old) | digests(new)
    result: list[Path] = []
    todo: list[tuple[Path, Any, Any]] = [((), old, new)]
    while todo:
        path, before, after = todo.pop()
        if before is after or id(before) not in digest or id(after) not in digest:
            continue
        if digest[id(before)] == digest[id(after)]:
            result.append(path)
        elif type(before) is type(after):
            now = dict(entries(after))
            todo += [((*path, key), item, now[key]) for key, item in entries(before) if key in now]
    return result


def digests(value: Any) -> dict[int, int]:
    """A hash of the content of every container in a value, by the container's identity."""
    found = [value]
    for item in found:
        if isinstance(item, list | dict):
            found += [child for _, child in entries(item)]
    result: dict[int, int] = {}
    for item in reversed(found):  # children before their parents
        if isinstance(item, list | dict):
            content = tuple((key, result.get(id(child)) or leaf(child)) for key, child in entries(item))
            result[id(item)] = hash((type(item), content))
    return result


def leaf(item: Any) -> tuple[object, ...]:
    """A scalar so that only scalars of the same type and sign are equal."""
    return type(item), repr(item) if isinstance(item, float) else item


def remade(old: Any, new: Any) -> list[Path]:
    """The paths of containers that both values have, but as different objects: what was copied in between."""
    result: list[Path] = []
    todo: list[tuple[Path, Any, Any]] = [((), old, new)]
    while todo:
        path, before, after = todo.pop()
        if before is after or not isinstance(before, list | dict) or not isinstance(after, list | dict):
            continue
        result.append(path)
        now = dict(entries(after))
        todo += [((*path, key), item, now[key]) for key, item in entries(before) if key in now]
    return result


def hold(value: Any, random: Random) -> tuple[Callable[[], Any], Any]:
    """Some way to hold some part of a value: how to look at it later, and what must be seen then."""
    while isinstance(value, list | dict) and value and random.random() < 0.4:
        value = random.choice([child for _, child in entries(value)])
    if isinstance(value, list | dict) and random.random() < 0.3:
        iterator = iter(value)
        return lambda: list(iterator), flat(list(value))
    if isinstance(value, dict) and random.random() < 0.5:
        view = value.items()
        return lambda: dict(view), flat(value)
    return lambda: value, flat(value)


def fault_in(error: ParserError | None) -> Fault | None:
    """An error in the terms of the model."""
    return None if error is None else Fault(error.reason.name, error.index, error.path)


def has_error(state: ParserState, found: Fault | None, text: str) -> bool:
    """Whether the error of a state is the fault of its text, at its line and column."""
    error = state.error
    if fault_in(error) != found:
        return False
    return error is None or (error.line, error.column) == line_and_column(text, error.index)


def facts(node: Node) -> ModelNode:
    """A node in the terms of the model."""
    common = (node.id, node.type, node.parent_id, node.closed, node.resolved_value)
    match node:
        case NumberNode() | StringNode():
            return ModelNode(*common, buffer=node.buffer)
        case ObjectNode():
            return ModelNode(*common, keys=node.keys, children=node.children)
        case ArrayNode():
            return ModelNode(*common, children=node.children)
        case _:
            return ModelNode(*common)


def same_nodes(left: Sequence[ModelNode], right: Sequence[ModelNode]) -> bool:
    return len(left) == len(right) and all(
        one._replace(resolved_value=None) == other._replace(resolved_value=None)
        and same(one.resolved_value, other.resolved_value)
        for one, other in zip(left, right, strict=True)
    )


def portrait(state: ParserState) -> tuple[object, ...]:
    """Everything that a state says, in a form that no later change can reach."""
    return (
        flat(state.value),
        [facts(node)._replace(resolved_value=None) for node in state.nodes],
        (state.root_id, state.stack, state.next_id, state.mode, state.error),
        (state.is_complete, state.index, state.line, state.column, state.trailing_index),
    )
