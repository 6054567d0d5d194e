"""What a turn sees as the end of what its source gives, and what stays of it after a stop."""

from typing import Any

import pytest

from jsontide import finalize
from jsontide.messages import Message, Outcome
from jsontide.runs import Run
from jsontide.web._producer import cancel, has_ended
from tests.cuts import fed


@pytest.mark.parametrize(
    ("growing", "expected"),
    [
        (fed(["[1"]), False),
        (finalize(fed(["[1]"])), True),
        (fed(["[1}"]), True),
        (Message(), False),
        (Message(outcome=Outcome.COMPLETE), True),
        (Run(), False),
    ],
)
def test_nothing_more_follows_an_end_or_an_error(growing: Any, *, expected: bool) -> None:
    assert has_ended(growing) is expected


def test_a_document_stays_as_it_is_after_a_stop() -> None:
    state = fed(["[1"])
    assert cancel(state) is state
