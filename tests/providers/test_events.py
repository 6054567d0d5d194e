"""An event is a value: what the text of it says, whatever came before it, and nobody changes it afterwards."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from jsontide.providers import finish_stream, reduce_item, start_stream
from jsontide.providers.wire import load_event
from jsontide.streams import stream_message
from tests.provider_streams import events, every_stream

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=4),
    st.sampled_from(["", '"', "\\", ":", '":', '": "', "\x7fjsontide 0", "\x7fjsontide 1", "{", "}}", "é😀"]),
    st.lists(st.integers(), max_size=2),
)
NAMES = st.sampled_from(["content", "content", "role", "refusal", "x"])
MEMBERS = st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=5)


def written(members: list[tuple[str, Any]]) -> str:
    """A chunk whose delta has these members, of which some may have one name."""
    delta = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in members)
    return f'{{"choices": [{{"index": 0, "delta": {{{delta}}}}}]}}'


@given(MEMBERS, st.lists(VALUES, min_size=2, max_size=8), st.integers(0, 4))
@example([("content", "\x7fjsontide 0"), ("x", 0), ("x", 1)], ["a", "b", "c", "d"], 1).via("a mark of our own once")
def test_what_it_says_does_not_depend_on_the_one_before(members: list[Any], values: list[Any], at: int) -> None:
    """Events that are alike but for one value, with names that are repeated: the last of two counts, as in `json`."""
    at %= len(members)
    texts = [written([*members[:at], (members[at][0], value), *members[at + 1 :]]) for value in values]
    said = [json.loads(text)["choices"][0]["delta"].get("content") for text in texts]
    data = "".join(f"data: {text}\n\n" for text in texts)
    message = stream_message([data]).final()
    if all(piece is None or isinstance(piece, str) for piece in said):
        assert message.content == "".join(piece or "" for piece in said)
    assert [load_event(text) for text in texts] == [json.loads(text) for text in texts]


@every_stream
def test_nothing_of_it_is_kept_but_copies(name: str) -> None:
    """An event is the caller's: no message may hold a part of it."""
    whole = spoilt = start_stream()
    for event in events(name):
        whole = reduce_item(whole, json.loads(json.dumps(event)))
        lent = json.loads(json.dumps(event))
        spoilt = reduce_item(spoilt, lent)
        spoil(lent)
        assert spoilt.message == whole.message
    assert finish_stream(spoilt).message == finish_stream(whole).message


def spoil(value: Any) -> None:
    if isinstance(value, (dict, list)):
        for inner in list(value.values() if isinstance(value, dict) else value):
            spoil(inner)
        value.clear()
