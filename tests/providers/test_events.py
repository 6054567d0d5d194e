"""An event is a value: what the text of it says, whatever came before it, and nobody changes it afterwards.

Of events that are alike, only what differs is parsed and read; `json.loads` says what they hold, and events as dicts,
which are always read whole, what a message must be.
"""

import json
import pickle
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jsontide.messages import Usage
from jsontide.messages.draft import NO_INDEX
from jsontide.providers import feed_stream, finish_stream, start_stream
from jsontide.providers.stream_reader import StreamReader
from jsontide.providers.wire import find_template
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
    check_as_if_read_whole(texts)


def check_as_if_read_whole(texts: list[str]) -> None:
    """Each event is the only one of its stream that is given as text, so that none is alike to another."""
    whole, together = start_stream(), StreamReader(start_stream())
    for text in texts:
        before = whole.message
        whole = feed_stream(whole, f"data: {text}\n\n")
        together.feed(f"data: {text}\n\n")
        assert (together.next_message() is None) is (whole.message is before)
        state = together.state
        assert state.message == whole.message
        assert repr(state.message.metadata) == repr(whole.message.metadata)
        assert repr(state.message.usage) == repr(whole.message.usage)
        assert state.errors == whole.errors
    assert finish_stream(together.state).message == finish_stream(whole).message


def chat(delta: Any, **said: Any) -> dict[str, Any]:
    return {"id": "a", "choices": [{"index": 0, "delta": delta, **said}]}


USAGE = {"prompt_tokens": 3, "completion_tokens": None, "total_tokens": None}
GEMINI = {"candidates": [{"content": {"parts": [{"text": None}]}}], "usageMetadata": {"totalTokenCount": None, "x": 1}}
RESPONSES_TEXT = {
    "type": "response.output_text.delta",
    "sequence_number": None,
    "item_id": None,
    "output_index": 0,
    "content_index": 0,
    "delta": None,
    "obfuscation": None,
}
RESPONSES_CALL = {
    "type": "response.function_call_arguments.delta",
    "sequence_number": None,
    "item_id": "fc",
    "output_index": 0,
    "delta": None,
}
FRAMES: list[Any] = [
    chat({"content": None}, n=None),
    chat({"content": None}, text="a"),
    chat({"reasoning": None}, text="ab"),
    chat({"reasoning": None, "reasoning_content": "ab"}),
    chat({"content": None, "refusal": "ab"}),
    chat({"content": None}) | {"usage": USAGE, "obfuscation": None, "é": None},
    chat({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": None}}]}),
    chat({"tool_calls": [{"index": None, "function": {"arguments": None}}]}),
    chat({"tool_calls": [{"index": 0, "x": 1, "function": {"name": "f", "arguments": None}}]}),
    {"type": "content_block_delta", "index": None, "delta": {"type": "text_delta", "text": None}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": None}},
    {"message": {"content": None}, "created_at": None, "done": False},
    {"message": {"content": "ab"}, "response": None, "model": "m", "created_at": None, "done": False},
    GEMINI,
    RESPONSES_TEXT,
    RESPONSES_TEXT | {"logprobs": [1]},
    RESPONSES_CALL,
    RESPONSES_CALL | {"sequence_number": 1},
    RESPONSES_CALL | {"output_index": 1, "sequence_number": None},
    {"type": "x", "n": None, "delta": {"text": None}, "again": {"text": None}},
]
PIECES = st.one_of(
    VALUES,
    st.sampled_from(["ab", "abc", 'a"b', "a\\b", "{}", '{"a": 1', ": 1}", "a\x7fb", "a\u2028b", "\ud83d", "\ude00"]),
)


def filled(frame: Any, data: Any) -> Any:
    """A frame with values, or not, where it has none."""
    if isinstance(frame, dict):
        return {name: filled(value, data) for name, value in frame.items()}
    if isinstance(frame, list):
        return [filled(value, data) for value in frame]
    return data.draw(PIECES) if frame is None and data.draw(st.integers(0, 3)) else frame


@given(st.data())
def test_it_is_read_as_if_it_came_alone_also_where_it_is_damaged(data: Any) -> None:
    one, other = data.draw(st.sampled_from(FRAMES)), data.draw(st.sampled_from(FRAMES))
    sent = [filled(one if data.draw(st.integers(0, 4)) else other, data) for _ in range(data.draw(st.integers(2, 12)))]
    separators = data.draw(st.sampled_from([(", ", ": "), (",", ":")]))
    texts = [json.dumps(event, separators=separators, ensure_ascii=data.draw(st.booleans())) for event in sent]
    for at in data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=1)):
        text, place = texts[at], data.draw(st.integers(0, len(texts[at])))
        odd = data.draw(st.sampled_from(["", " ", '"', "}", "\\", "1", "\udfff", "\x01"]))
        texts[at] = text[:place] + odd + text[place + 1 :]
    check_as_if_read_whole(texts)


def calling(arguments: str) -> dict[str, Any]:
    """What servers without ids of calls send: only the arguments show where another call begins."""
    return chat({"tool_calls": [{"index": 0, "x": 1, "function": {"name": "f", "arguments": arguments}}]})


def gemini(counts: list[Any], **said: Any) -> list[Any]:
    """Responses with such a usage; the text is another one in each."""
    texts = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr"]
    return [
        {
            "candidates": [{"content": {"parts": [{"text": text}]}}],
            "usageMetadata": {"totalTokenCount": count, **said},
        }
        for text, count in zip(texts, counts, strict=False)
    ]


def line(text: str, time: str) -> dict[str, Any]:
    return {"message": {"content": text}, "created_at": time, "done": False}


@pytest.mark.parametrize(
    "sent",
    [
        [chat({"reasoning": text}, text="ab") for text in ("xy", "ab", "ab", "cd")],
        [chat({"reasoning": text, "reasoning_content": "a"}) for text in ("xy", "a", "cd")],
        [chat({"content": text}) | {"n": n} for text, n in (("ab", 1), ("cd", 1), ("ef", 2), ("gh", 1))],
        [chat({"content": text}) for text in ("ab", "cd", "e\udfff", "gh")],
        [chat({"content": text}) for text in ("ab", "cd", "e~f", "gh")],
        [chat({"content": text}) for text in ("ab", "cd", "", 1, None, "gh")],
        [line("ab", "x"), line("cd", "y"), line("ef", "2026-08-01T12:00:00Z")],
        [chat({"content": "ab"}) | {"usage": {"total_tokens": count}} for count in (1, 2, 0, 10, "3")],
        [chat({"content": text}) | {"usage": {"total_tokens": len(text)}} for text in ("a", "ab", "abc", "abcd")],
        [calling(text) for text in (" ", '{"a"', ": 1}", '{"b": 2}', '{"c": 3}')],
        [chat({"content": text, "images": [{"image_url": {"url": "data:,x"}}]}) for text in ("ab", "cd", "ef", "gh")],
        [chat({"content": "ab"}) | {"usage": {"total_tokens": count}} for count in (1, 2, 3, 3.0, None, 4, True, 5)],
        gemini([1, 2, 3, None, 4, "5", 6, 6, 7]),
        [event | {"usageMetadata": {"x": at}} for at, event in enumerate(gemini([1, 2, 3, 4, 5, 6]))],
    ],
    ids=[
        "compared",
        "not the piece",
        "other",
        "half a character",
        "control",
        "no text",
        "time",
        "only usage",
        "usage",
        "begins another call",
        "a part in each",
        "odd usage",
        "usage of Gemini",
        "no usage of Gemini",
    ],
)
def test_an_event_that_seems_to_repeat_another_is_read_as_if_it_came_alone(sent: list[Any]) -> None:
    """The first event of a stream, which shows whose it is, is compared with none."""
    first = sent[0]
    check_as_if_read_whole([json.dumps(event, ensure_ascii=False).replace("~", "\x01") for event in (first, *sent)])


@pytest.mark.parametrize("look", [False, True])
def test_what_a_message_cost_is_the_same_whenever_it_is_asked_for(look: Any) -> None:
    """Details that all events have are of each message by themselves."""
    sent = gemini([1, 2, 3, 4, 5, 6, 7], promptTokensDetails=[{"modality": "TEXT", "tokenCount": 1}])
    reader, messages = StreamReader(start_stream()), []
    for event in sent:
        reader.feed(f"data: {json.dumps(event)}\n\n")
        message = reader.next_message()
        assert message is not None
        messages.append(message)
        assert not look or message.usage is not None
    for message, event in zip(messages, sent, strict=True):
        said = event["usageMetadata"]
        copy = pickle.loads(pickle.dumps(message))  # noqa: S301
        assert message.usage is not None
        assert message.usage is message.usage
        assert message.usage == Usage(total_tokens=said["totalTokenCount"], raw=said)
        assert copy == message
        assert copy.usage == message.usage
        assert json.loads(message.to_json())["usage"]["raw"] == said
        assert message.evolve(id="b").usage == message.usage
        spoil(message.usage.raw)


CALL = {"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "", "status": "in_progress"}
BEGUN = [
    {"type": "response.created", "sequence_number": 0, "response": {"id": "r", "output": []}},
    {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": CALL},
]


@pytest.mark.parametrize(
    ("numbers", "is_lost"),
    [
        ([10, 11, 12], False),
        ([10, 12, 13], True),
        ([11, 10, 12], True),
        ([10, 10, 11], True),
        (["10", 11, 12], False),
        ([10.0, 11, 12], False),
        ([10, None, 11], False),
        ([True, 11, 12], True),
        ([-10, 10, 11], True),
        ([NO_INDEX, 10, 11], False),
    ],
)
@pytest.mark.parametrize("says_text", [False, True])
def test_the_numbers_of_events_that_repeat_another_are_followed(
    *, numbers: list[Any], is_lost: bool, says_text: bool
) -> None:
    """A number that is missing may be that of more arguments of the call that is open."""
    frame = RESPONSES_TEXT | {"output_index": 1} if says_text else RESPONSES_CALL
    sent = [
        frame | {"sequence_number": number, "delta": " " * (2 + at % 2), "item_id": f"i{at}"}
        for at, number in enumerate([*range(2, 10), *numbers])
    ]
    texts = [json.dumps(event) for event in (*BEGUN, *sent)]
    check_as_if_read_whole(texts)
    state = StreamReader(start_stream())
    for text in texts:
        state.feed(f"data: {text}\n\n")
    while state.next_message() is not None:
        pass
    assert bool(state.state.errors) is is_lost


def test_where_no_part_has_the_place_the_id_of_the_item_says_which_one_it_is() -> None:
    items = [{"id": name, "type": "message", "role": "assistant", "content": []} for name in "ab"]
    begun = [{"type": "response.output_item.added", "output_index": at, "item": item} for at, item in enumerate(items)]
    text = {"content_index": 0, "part": {"type": "output_text", "text": "xy"}}
    begun += [
        {"type": "response.content_part.added", "item_id": name, "output_index": at, **text}
        for at, name in enumerate("ab")
    ]
    sent = [
        RESPONSES_TEXT | {"item_id": name, "output_index": 7, "delta": name * (2 + at % 3)}
        for at, name in enumerate("abab" * 4)
    ]
    check_as_if_read_whole([json.dumps(event) for event in (*begun, *sent)])


def values_at(event: Any, paths: list[Any]) -> list[Any]:
    found = []
    for path in paths:
        value = event
        for step in path:
            value = value[step]
        found.append(value)
    return found


@pytest.mark.parametrize("spaces", ["", " "])
def test_only_values_that_differ_are_parsed(spaces: str) -> None:
    def written(at: int) -> str:
        piece = json.dumps('{"city": ' * at + "é" * at)
        delta = f'{{"delta":{{"text":{piece}}}}}'
        return f'{spaces}{{"id":"x","n":{spaces}{at},"at":"12:00:0{at % 10}","choices":[{delta}]}}'

    template = find_template(written(1), written(2))
    assert template is not None
    assert template.paths == [("n",), ("at",), ("choices", 0, "delta", "text")]
    for at in range(3, 30):
        assert template.read(written(at)) == values_at(json.loads(written(at)), template.paths)
    assert template.read(written(3).replace("x", "y")) is None
    assert template.read(written(3)[:-1]) is None


@given(PIECES, st.sampled_from(["", " ", "\t", "\x01", '"', "\\", "1", "\udfff"]), st.booleans())
def test_a_text_or_a_number_is_what_json_says_or_the_event_is_read_whole(value: Any, odd: str, is_ascii: Any) -> None:
    def written(value: Any) -> str:
        return f'{{"id":"x","text":{json.dumps(value, ensure_ascii=is_ascii)},"n":1}}'

    template = find_template(written("one"), written("two"))
    assert template is not None
    for text in (written(value), written(value).replace('","n', f'{odd}","n')):
        try:
            text.encode()
            said = json.loads(text)
        except ValueError:
            assert template.read(text) is None
        else:
            assert template.read(text) == (None if isinstance(said["text"], list) else [said["text"]])


@pytest.mark.parametrize("spaces", ["", " "])
@pytest.mark.parametrize(
    "number",
    ["0", "7", "00", "01", "-0", "-1", "1.5", "1e3", "12x", "", "²", "9" * 17, "9" * 18, "9" * 40, "true", "null"],
)
def test_a_count_is_what_json_says_or_the_event_is_read_whole(number: str, spaces: str) -> None:
    def written(number: str) -> str:
        return f'{{"id":"é","n":{spaces}{number}{spaces}}}'

    template = find_template(written("1"), written("2"))
    assert template is not None
    try:
        said = json.loads(written(number))["n"]
    except ValueError:
        assert template.read(written(number)) is None
    else:
        (found,) = template.read(written(number)) or [None]
        assert (found, type(found)) == (said, type(said))


def test_a_name_that_is_repeated_makes_no_template() -> None:
    """The mark of a value that another one hides is found in the text of a third one, but not the second mark."""
    decoy = json.dumps("\x7fjsontide 0").replace("j", "\\u006a")
    texts = [f'{{"text":{decoy},"n":{at},"n":0}}' for at in range(3)]
    assert find_template(texts[0], texts[1]) is None


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
