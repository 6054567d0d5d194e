"""Options in, the state before any text out.

Never compiled: what is wrong with an option is better said by its own checks than by those of compiled calls.
"""

from __future__ import annotations

from typing import Final

from jsontide.text import Limits
from jsontide.text.numbers import Floats
from jsontide.tree._options import DuplicateKeys, Options, Trailing
from jsontide.tree._state import ParserState
from jsontide.tree._tape import Tape

_DEFAULT_LIMITS: Final = Limits()


def create_parser_state(
    *,
    limits: Limits = _DEFAULT_LIMITS,
    duplicate_keys: DuplicateKeys = "last",
    trailing: Trailing = "error",
    floats: Floats = "float",
) -> ParserState:
    """Return the state before any text.

    `duplicate_keys` tells which member of a repeated key counts, or that a repeated key is an error.
    `trailing="ignore"` keeps a finished document when text follows it, as models' prose does.
    `floats` tells what numbers with a fraction or an exponent become: `float`, `decimal.Decimal`, or their lexeme.

    >>> from jsontide import parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"city": "Kyo')
    >>> state.value
    {'city': 'Kyo'}
    """
    options = Options(limits=limits, duplicate_keys=duplicate_keys, trailing=trailing, floats=floats)
    return ParserState(Tape(options), None, None)
