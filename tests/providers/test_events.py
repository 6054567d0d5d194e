"""An event is a value: what the text of it says, whatever came before it, and nobody changes it afterwards.

Events that are alike are not parsed whole, but filled into a template; `json.loads` says what they must be.
"""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jsontide.providers import feed_stream, finish_stream, start_stream
from jsontide.providers.wire import EventLoader, find_template, load_event
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
    assert load_all(texts) == [json.loads(text) for text in texts]


def load_all(texts: list[str]) -> list[object]:
    loader = EventLoader()
    return [loader.load(text) for text in texts]


FRAMES: list[Any] = [
    {"id": "a", "choices": [{"index": 0, "delta": {"content": None}}], "n": None},
    {"type": "x", "n": None, "delta": {"text": None}, "again": {"text": None}},
    {"a": [None, {"b": [None]}], "é": None},
]


def filled(frame: Any, data: Any) -> Any:
    """A frame with values, or not, where it has none."""
    if isinstance(frame, dict):
        return {name: filled(value, data) for name, value in frame.items()}
    if isinstance(frame, list):
        return [filled(value, data) for value in frame]
    return data.draw(VALUES) if frame is None and data.draw(st.booleans()) else frame


@given(st.data())
def test_it_is_the_same_as_if_it_came_alone_also_where_it_is_damaged(data: Any) -> None:
    frames = st.sampled_from([FRAMES[0], FRAMES[0], *FRAMES])
    sent = [filled(data.draw(frames), data) for _ in range(data.draw(st.integers(2, 12)))]
    separators = data.draw(st.sampled_from([(", ", ": "), (",", ":")]))
    texts = [json.dumps(event, separators=separators, ensure_ascii=data.draw(st.booleans())) for event in sent]
    for at in data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=3)):
        text, place = texts[at], data.draw(st.integers(0, len(texts[at])))
        odd = data.draw(st.sampled_from(["", " ", '"', "}", "\\", "1", "\udfff", "\x01"]))
        texts[at] = text[:place] + odd + text[place + 1 :]
    assert list(map(repr, load_all(texts))) == [repr(load_event(text)) for text in texts]


@pytest.mark.parametrize("spaces", ["", " "])
def test_only_values_that_differ_are_parsed(spaces: str) -> None:
    def written(at: int) -> str:
        piece = json.dumps('{"city": ' * at + "é" * at)
        delta = f'{{"delta":{{"text":{piece}}}}}'
        return f'{spaces}{{"id":"x","n":{spaces}{at},"at":"12:00:0{at % 10}","choices":[{delta}]}}'

    template = find_template(written(1), written(2))
    assert template is not None
    for at in range(3, 30):
        assert template.fill(written(at)) == json.loads(written(at))
    assert template.fill(written(3).replace("x", "y")) is None
    assert template.fill(written(3)[:-1]) is None


def test_events_of_one_template_share_nothing() -> None:
    texts = [f'{{"known":{{"a":[{{}}]}},"n":{at}}}' for at in range(5)]
    loader = EventLoader()
    for at, text in enumerate(texts):
        event: Any = loader.load(text)
        assert event == {"known": {"a": [{}]}, "n": at}
        spoil(event)


def test_a_name_that_is_repeated_makes_no_template() -> None:
    """The mark of a value that another one hides is found in the text of a third one, but not the second mark."""
    decoy = json.dumps("\x7fjsontide 0").replace("j", "\\u006a")
    texts = [f'{{"text":{decoy},"n":{at},"n":0}}' for at in range(3)]
    assert find_template(texts[0], texts[1]) is None
    assert load_all(texts) == [json.loads(text) for text in texts]


@every_stream
def test_nothing_of_it_is_kept_but_copies(name: str) -> None:
    """An event is the caller's: no message may hold a part of it."""
    whole = spoilt = start_stream()
    for event in events(name):
        whole = feed_stream(whole, json.loads(json.dumps(event)))
        lent = json.loads(json.dumps(event))
        spoilt = feed_stream(spoilt, lent)
        spoil(lent)
        assert spoilt.message == whole.message
    assert finish_stream(spoilt).message == finish_stream(whole).message


def spoil(value: Any) -> None:
    if isinstance(value, (dict, list)):
        for inner in list(value.values() if isinstance(value, dict) else value):
            spoil(inner)
        value.clear()
