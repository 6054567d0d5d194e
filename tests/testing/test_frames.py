"""The frames of server-sent events, as the checkers of protocols read them."""

import pytest

from jsontide import JsontideError
from jsontide.testing import ProtocolError
from jsontide.testing._events import sse_events


def test_each_event_gives_its_data_and_comments_give_nothing() -> None:
    stream = ': hello\n\ndata: {"a":1}\n\n: keep-alive\n\nid: 7\ndata: é\u2028\n\ndata: [DONE]\n\n'
    assert sse_events(stream) == sse_events(stream.encode()) == ['{"a":1}', "é\u2028", "[DONE]"]
    assert sse_events("") == []


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        ("data: 1\r\n\r\n", "carriage return"),
        ("data: 1\n\ndata: 2", "inside an event"),
        ("data: 1\n", "inside an event"),
        (b"data: \xff\n\n", "not UTF-8"),
        ("data: 1\n\ndata: 2\ndata: 3\n\n", "event 1: more than one line of data"),
        ("data: 1\n\n{}\n\n", "event 1: not a field"),
    ],
)
def test_what_clients_read_differently_is_refused(stream: bytes | str, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as caught:
        sse_events(stream)
    assert isinstance(caught.value, JsontideError)
    assert isinstance(caught.value, AssertionError)
