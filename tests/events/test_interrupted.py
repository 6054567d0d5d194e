"""An accumulator of bytes interrupted by Ctrl-C: it refuses, or all of the fragment counts, or none of it."""

from collections.abc import Sequence
from functools import partial

import pytest

from jsontide import COMPILED, JsonFragmentAccumulator
from tests.test_interrupts import break_off

pytestmark = pytest.mark.skipif(COMPILED, reason="compiled code is not interrupted between its lines")


def ended(accumulator: JsonFragmentAccumulator, fragments: Sequence[bytes]) -> object:
    """The last value, or nothing if the text is wrong."""
    updates = [update for fragment in fragments for update in accumulator.add_fragment(fragment)]
    updates += accumulator.finish()
    return None if accumulator.state.is_over else updates[-1].value


@pytest.mark.parametrize("fragments", [(b'["\xc3', b"\xa9x\xe2\x82", b'\xac"]'), (b'["a', b"b\xff", b'c"]')])
def test_a_fragment_of_bytes_that_was_interrupted_is_never_half_read(fragments: tuple[bytes, bytes, bytes]) -> None:
    first, second, third = fragments
    expected = [ended(JsonFragmentAccumulator(), each) for each in (fragments, (first, third))]
    for lines in range(200):
        accumulator = JsonFragmentAccumulator()
        accumulator.add_fragment(first)
        break_off(partial(accumulator.add_fragment, second), lines)
        try:
            last = ended(accumulator, [third])
        except RuntimeError:
            continue
        assert last in expected
