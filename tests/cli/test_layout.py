"""Panels on a screen of any size, and what is new in them."""

import itertools

import pytest
from rich.console import Console
from rich.text import Text

from jsontide.cli._drawing import (
    FRESH,
    MessagePanels,
    NewParts,
    Panel,
    Prose,
    Room,
    Side,
    ValueBody,
    lay_out,
    share_rows,
)
from jsontide.frontends import AppendText, SetValue
from jsontide.messages import (
    File,
    Message,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    Source,
    TextPart,
)
from jsontide.recordings import Recording, follow
from tests.cli.running import EXAMPLES
from tests.cli.streams import openai

RECORDING = EXAMPLES / "chat" / "recording.ndjson"
CONSOLE = Console(width=200, height=100, color_system=None)


def prose(title: str, text: str, *, is_open: bool = False, side: Side = "prose") -> Panel:
    return Panel(title, side, Prose(text, 0, is_open), is_open)


def fresh_text(row: Text) -> str:
    return "".join(row.plain[span.start : span.end] for span in row.spans if span.style == FRESH)


def test_prose_and_data_stand_side_by_side_where_there_is_room() -> None:
    panels = [prose("text", "Hello"), Panel("answer", "data", ValueBody({"a": 1}, None), is_open=False)]
    rows = [row.plain for row in lay_out(CONSOLE, panels, Room(80, 20))]
    assert rows[0].index("text") < rows[0].index("answer")
    assert rows[1].startswith("│ Hello")
    assert rows[1].endswith("│ {                                    │")
    narrow = [row.plain.rstrip("─ ") for row in lay_out(CONSOLE, panels, Room(40, 20))]
    assert narrow == ["─ text ✓", "Hello", "─ answer ✓", "{", '  "a": 1', "}"]


def test_marks_say_what_is_open_done_and_bad() -> None:
    panels = [
        prose("one", "a", is_open=True),
        prose("two", "b"),
        Panel("three", "prose", Prose("c", 0, is_open=False), is_open=False, is_bad=True),
    ]
    rows = [row.plain for row in lay_out(CONSOLE, panels, Room(40, 20))]
    assert [row.strip("─ ") for row in rows] == ["one …", "a▌", "two ✓", "b", "three ✗", "c"]


@pytest.mark.parametrize(("width", "height"), list(itertools.product([1, 8, 40, 60, 79, 80, 120], [1, 3, 8, 24])))
def test_a_drawing_fits_the_terminal_at_every_moment(width: int, height: int) -> None:
    panels = MessagePanels()
    for moment in itertools.islice(follow(Recording.load(RECORDING)), 0, None, 23):
        assert moment.message is not None
        rows = lay_out(CONSOLE, panels.arrange(moment.message, NewParts()), Room(width, height))
        assert all(row.cell_len <= width for row in rows) or width == 1
        assert len(rows) <= max(height, 3)


@pytest.mark.parametrize(
    ("wanted", "are_open", "height", "shares"),
    [
        ([3, 4], [False, False], 20, [3, 4]),
        ([3, 40], [False, True], 20, [3, 13]),
        ([40, 3], [True, False], 20, [13, 3]),
        ([40, 40], [False, True], 20, [3, 13]),
        ([40, 40, 40], [False, False, True], 12, [1, 1, 4]),
        ([40, 40, 40], [False, False, True], 6, [0, 1, 1]),
        ([40], [True], 1, [1]),
        ([], [], 10, []),
    ],
)
def test_what_grows_gets_the_rows_that_the_rest_can_spare(
    wanted: list[int], are_open: list[bool], height: int, shares: list[int]
) -> None:
    assert share_rows(wanted, are_open, height, around=2) == shares


def test_new_text_is_highlighted() -> None:
    body = Prose("Hello world", 5, is_open=True)
    (row,) = body.draw(CONSOLE, Room(40, 5))
    assert row.plain == "Hello world▌"
    assert fresh_text(row) == "world▌"


def test_new_values_are_highlighted() -> None:
    fresh = NewParts()
    fresh.add([AppendText(("a",), "xyz"), SetValue(("b", 0), 7), SetValue(("c",), {"d": "new"})])
    value = ValueBody({"a": "wxyz", "b": [7], "c": {"d": "new"}, "e": 1}, None, fresh)
    rows = value.draw(CONSOLE, Room(40, 20))
    assert [fresh_text(row) for row in rows] == ["", "xyz", "", "7", "", "", "new", "", "", ""]


def panels_of(stream: bytes) -> list[list[Panel]]:
    """The panels after each event that shows any."""
    panels = MessagePanels()
    messages = [moment.message for moment in follow(Recording.of_bytes(stream))]
    return [arranged for message in messages if message and (arranged := panels.arrange(message, NewParts()))]


def test_a_text_that_is_json_is_shown_as_a_value_though_no_schema_says_so() -> None:
    first, second, *_ = panels_of(openai('{"city": "Kyo', 'to"}'))
    assert [panel.title for panel in first + second] == ["answer", "answer"]
    assert isinstance(first[0].body, ValueBody)
    assert isinstance(second[0].body, ValueBody)
    assert (first[0].body.value, first[0].body.growing) == ({"city": "Kyo"}, ("city",))
    assert second[0].body.value == {"city": "Kyoto"}
    assert second[0].body.fresh.inside("city").count("Kyoto") == 2


def test_a_text_that_only_begins_like_json_becomes_a_text_again() -> None:
    first, second, *_ = panels_of(openai("[1", "] is a note"))
    assert [panel.title for panel in first + second] == ["answer", "text"]
    assert isinstance(second[0].body, Prose)
    assert second[0].body.text == "[1] is a note"


def test_what_could_steer_a_terminal_is_escaped() -> None:
    (row,) = Prose("a\x1b[2Jb\tc", 0, is_open=False).draw(CONSOLE, Room(40, 5))
    assert row.plain == "a\\u001b[2Jb  c"
    assert Prose("a\x1b\nb", 0, is_open=False).write() == "a\\u001b\nb"
    call = openai(call='{"q": "\\u009b2J"}', reason="tool_calls")
    *_, moment = follow([call.replace(b"search", b"sea\\u001brch")])
    assert moment.message is not None
    (panel,) = MessagePanels().arrange(moment.message, NewParts())
    assert "\x1b" not in panel.title
    assert "\x9b" not in panel.body.write()


def test_every_part_of_a_message_has_a_place() -> None:
    message = Message(
        parts=(
            ReasoningPart("", redacted=True),
            Refusal("I cannot"),
            TextPart("one"),
            TextPart("two"),
            ServerCall("web_search", '{"q": 1}', partial={"q": 1}, index=4),
            PartialCall("send", '{"to": ', status=Outcome.TRUNCATED, index=5),
            PartialCall(None, "", is_open=True, index=6),
            Source("https://example.com", "An example"),
            File("image/png", id="f1"),
            Other("patch", {}),
        )
    )
    panels = MessagePanels().arrange(message, NewParts())
    assert [(panel.title, panel.side, panel.body.write()) for panel in panels] == [
        ("reasoning", "prose", "(withheld)"),
        ("refusal", "prose", "I cannot"),
        ("text", "prose", "one\ntwo"),
        ("call 4: web_search", "data", '{\n  "q": 1\n}'),
        ("call 5: send", "data", '{"to": '),
        ("call 6: …", "data", ""),
        ("more", "prose", "source  An example  https://example.com\nfile  image/png  f1\nother  patch"),
    ]
    assert [panel.is_bad for panel in panels] == [False] * 4 + [True, False, False]
    assert [panel.is_open for panel in panels] == [False] * 5 + [True, False]


def test_an_answer_stands_beside_the_text_and_is_bad_if_it_does_not_fit() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "string"}}}
    shown = []
    for moment in follow(Recording.of_bytes(openai('{"m": "x", "n": ', '"7"}')), schema=schema):
        assert moment.message is not None
        (panel,) = MessagePanels().arrange(moment.message, NewParts())
        shown.append((panel.title, panel.is_open, panel.is_bad))
    assert (shown[0], shown[1], shown[-1]) == (
        ("answer", True, False),
        ("answer", True, True),
        ("answer", False, True),
    )
    *_, good = follow(Recording.of_bytes(openai('{"n": ', "7}")), schema=schema)
    assert good.message is not None
    (panel,) = MessagePanels().arrange(good.message, NewParts())
    assert (panel.title, panel.is_open, panel.body) == ("answer", False, ValueBody({"n": 7}, None, panel.body.fresh))  # type: ignore[arg-type]
