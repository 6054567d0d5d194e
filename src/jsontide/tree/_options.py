"""What people pass to a parser besides text: options in, the first state out; a path in, the node there out.

Interpreted, so that our own checks report wrong arguments, not those of compiled calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jsontide._check import check_choices, check_state, check_type
from jsontide._path import Segment
from jsontide._pattern import read_path
from jsontide.text import Limits
from jsontide.text.numbers import FLOATS, Floats
from jsontide.tree._nodes import Node, find_node, is_open_at, make_node
from jsontide.tree._state import ParserState
from jsontide.tree.tape import Tape

DuplicateKeys: TypeAlias = Literal["last", "first", "error"]
Trailing: TypeAlias = Literal["error", "ignore"]

_DEFAULT_LIMITS: Final = Limits()
_CHOICES: Final = {"duplicate_keys": ("last", "first", "error"), "trailing": ("error", "ignore"), "floats": FLOATS}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserOptions:
    """Parser options, checked."""

    limits: Limits
    duplicate_keys: DuplicateKeys
    trailing: Trailing
    floats: Floats

    def __post_init__(self) -> None:
        check_type("limits", self.limits, Limits)
        check_choices(self, _CHOICES)


def create_parser_state(
    *,
    limits: Limits = _DEFAULT_LIMITS,
    duplicate_keys: DuplicateKeys = "last",
    trailing: Trailing = "error",
    floats: Floats = "float",
) -> ParserState:
    """Return the state before any text.

    `duplicate_keys` chooses which member of a repeated key counts, or makes a repeated key an error.
    `trailing="ignore"` keeps a finished document when text follows it, as models' prose does.
    `floats` chooses what numbers with a fraction or an exponent become: `float`, `decimal.Decimal`, or their lexeme.

    >>> from jsontide import parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"city": "Kyo')
    >>> state.value
    {'city': 'Kyo'}
    """
    options = ParserOptions(limits=limits, duplicate_keys=duplicate_keys, trailing=trailing, floats=floats)
    return ParserState(Tape(options), None, None)


def node_at(state: ParserState, path: str | Sequence[Segment]) -> Node | None:
    """Return the node at a path, `None` if there is no value there (yet).

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"days": [{"title": "Arr')
    >>> node_at(state, "days[0].title").buffer
    'Arr'
    """
    check_state(state, ParserState)
    node_id = find_node(state, read_path(path))
    return None if node_id is None else make_node(state, node_id)


def is_open(state: ParserState, path: str | Sequence[Segment]) -> bool:
    """Return whether the value at a path may still grow; `False` also where there is no value, see `node_at`.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"title": "Kyoto", "days": [')
    >>> is_open(state, "title"), is_open(state, ("days",))
    (False, True)
    """
    check_state(state, ParserState)
    node_id = find_node(state, read_path(path))
    return node_id is not None and is_open_at(state, node_id)
