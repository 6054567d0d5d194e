"""The modes of the scanner as plain integers: the rows of the grammar.

Each is named for what may come next.
They are integers and not members of an enum because the compiled loop compares them as machine words; `Mode` in
`types` gives people the same numbers with names.
The order is part of the contract: modes below `VALUE` are inside a token that is still open, those from `NUMBER` to
`EXPONENT` inside a number.
"""

from __future__ import annotations

from typing import Final

STRING: Final = 0
KEY_TEXT: Final = 1
LITERAL: Final = 2
NUMBER: Final = 3
FIRST_DIGIT: Final = 4
AFTER_ZERO: Final = 5
INTEGER: Final = 6
FIRST_DECIMAL: Final = 7
FRACTION: Final = 8
EXPONENT_SIGN: Final = 9
FIRST_EXPONENT: Final = 10
EXPONENT: Final = 11
VALUE: Final = 12
ITEM_OR_END: Final = 13
ITEM: Final = 14
AFTER_ITEM: Final = 15
KEY_OR_END: Final = 16
KEY: Final = 17
COLON: Final = 18
MEMBER: Final = 19
AFTER_MEMBER: Final = 20
DONE: Final = 21
ERROR: Final = 22
