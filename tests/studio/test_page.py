"""The studio as people see it: a real server, and its page in Chromium.

Rule: what the page shows is never read, but expected: the page draws when the server has answered.
"""

import http.client
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jsontide.studio import create_app
from tests.studio.serving import TOKEN, write_recording
from tests.web.browsers import needs_browser, open_browser
from tests.web.serving import port_of, running

pytestmark = [needs_browser, pytest.mark.untraced, pytest.mark.once]  # the page is under test

PATIENCE = 60_000
TRIP = Path(__file__).parents[2] / "examples/chat/recording.ndjson"
RUN = Path(__file__).parents[2] / "examples/run.ndjson"
TEXT = '{"city": "Kyoto", "stops": ["Arashiyama", "Gion"], "nights": 3}'
SIZES = """() => Object.fromEntries(["raw", "tree", "events", "message", "time"].map((name) => {
    const element = document.querySelector(`[data-panel=${name}]`) ?? document.getElementById(name);
    const { left, right, height } = element.getBoundingClientRect();
    return [name, { left, right, height }];
}))"""
DROP = """([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name));
    for (const type of ["dragenter", "dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""
# Move the pointer, or press a key, and wait until the moment is drawn; what is on the page after each move.
SCRUB = """async (keys) => {
    const shown = () => document.querySelector("#moment b").textContent;
    const track = document.getElementById("track");
    const { left, width, top } = track.getBoundingClientRect();
    const drawn = [];
    for (let turn = 1; turn <= 40; turn++) {
        const before = shown();
        const began = performance.now();
        if (keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
        else track.dispatchEvent(new PointerEvent("pointermove",
            { clientX: left + width * ((turn * 37 % 97) / 97), clientY: top + 5, buttons: 1, bubbles: true }));
        while (shown() === before && performance.now() - began < 60000)
            await new Promise((resolve) => setTimeout(resolve));
        document.body.getBoundingClientRect();
        if (shown() !== before) drawn.push(document.querySelectorAll("*").length);
    }
    return drawn;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as browser:
        yield browser


class Studio:
    """A page, and what it logs and asks for."""

    def __init__(self, browser: Any, port: int, **options: Any) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"
        self.page = browser.new_context(**options).new_page()
        self.page.set_default_timeout(PATIENCE)
        self.logged: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.logged.append(message.text))
        self.page.on("pageerror", lambda error: self.logged.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{self.origin}/?token={TOKEN}")

    def wait_for_end(self, outcome: str = "complete") -> None:
        self.shows("#outcome", outcome)

    def wait_for_moment(self, number: int) -> None:
        self.shows("#moment b >> nth=0", f"{number:,}")

    def shows(self, selector: str, *texts: str | re.Pattern[str]) -> None:
        """Expect elements with these texts, and no others."""
        from playwright.sync_api import expect  # noqa: PLC0415 - without it tests are skipped before

        expect(self.page.locator(selector)).to_have_text(list(texts), use_inner_text=True, timeout=PATIENCE)

    def has(self, selector: str, count: int) -> None:
        """Expect so many elements."""
        from playwright.sync_api import expect  # noqa: PLC0415 - the same

        expect(self.page.locator(selector)).to_have_count(count, timeout=PATIENCE)

    def shows_tree(self, *rows: str | re.Pattern[str]) -> None:
        self.shows("#tree .body", *rows)

    @property
    def moment(self) -> int:
        return int(self.page.inner_text("#moment b >> nth=0").replace(",", ""))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def point(self, place: float) -> tuple[float, float]:
        """Return the point on the time that stands for a share of it."""
        box = self.page.locator("#pulse").bounding_box()
        return box["x"] + box["width"] * place, box["y"] + 10


@pytest.fixture
def open_studio(browser: Any) -> Callable[..., Any]:
    """Open pages, which must log nothing and ask nobody else."""

    @contextmanager
    def open_one(path: Path | None = None, *, page: dict[str, Any] | None = None, **options: Any) -> Iterator[Studio]:
        with running(create_app(path, token=TOKEN, **options)) as server:
            studio = Studio(browser, port_of(server), **(page or {}))
            yield studio
            studio.page.context.close()
            assert not studio.logged
            assert all(url.startswith(f"{studio.origin}/") for url in studio.asked)

    return open_one


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A recording of a document in pieces of three characters, a tenth of a second apart."""
    return write_recording(tmp_path / "city.ndjson", *(TEXT[at : at + 3] for at in range(0, len(TEXT), 3)))


LAST = len(range(0, len(TEXT), 3)) + 1


@pytest.mark.long
def test_a_recording_is_shown_at_its_end_and_stepped_through(open_studio: Any, city: Path) -> None:
    with open_studio(city) as studio:
        studio.wait_for_moment(LAST)
        studio.wait_for_end()
        studio.shows_tree(
            *("{} 3 keys", 'city: "Kyoto"', "stops: [] 2 items", '0: "Arashiyama"', '1: "Gion"', "nights: 3")
        )
        studio.has("#tree .open, #tree .caret", 0)
        studio.shows("#facts", re.compile(r"^json\s+·"))
        studio.shows("#session option:checked", "city.ndjson")
        studio.press("Home", *["ArrowRight"] * 5)
        studio.wait_for_moment(5)
        studio.shows_tree("{} 1 key", 'city: "Kyoto')


@pytest.mark.long
class TestMoments:
    def test_keys_and_buttons_step(self, open_studio: Any, city: Path) -> None:
        with open_studio(city) as studio:
            studio.wait_for_end()
            for keys, number in [
                (["Home"], 0),
                (["ArrowRight"] * 4, 4),
                (["Shift+ArrowRight"], 14),
                (["ArrowLeft", "Shift+ArrowLeft"], 3),
                (["ArrowLeft"] * 9, 0),
                (["End", "ArrowRight"], LAST),
            ]:
                studio.press(*keys)
                studio.wait_for_moment(number)
            for button, number in [("#back", LAST - 1), ("#forward", LAST), ("#first", 0), ("#last", LAST)]:
                studio.page.click(button)
                studio.wait_for_moment(number)

    def test_a_moment_shows_what_is_open_and_what_is_new(self, open_studio: Any, city: Path) -> None:
        with open_studio(city) as studio:
            studio.wait_for_end()
            studio.press("Home", *["ArrowRight"] * 5)
            studio.wait_for_moment(5)
            studio.shows("#tree .string.fresh", "oto")
            studio.has("#tree .row.open", 2)
            studio.shows("#raw .new", TEXT[12:15])
            studio.shows("#raw .past >> nth=-1", TEXT[9:12])
            studio.shows("#events .now", re.compile("append"))

    def test_scrubbing_goes_anywhere(self, open_studio: Any, city: Path) -> None:
        with open_studio(city) as studio:
            studio.wait_for_end()
            studio.page.mouse.click(*studio.point(0.54))
            studio.wait_for_moment(LAST // 2)
            studio.page.mouse.down()
            for place in (0.4, 0.2, 0.0):
                studio.page.mouse.move(*studio.point(place))
            studio.wait_for_moment(0)
            studio.page.mouse.move(*studio.point(1))
            studio.wait_for_moment(LAST)
            studio.page.mouse.up()
            studio.page.click("#by-piece")
            studio.page.mouse.click(*studio.point(0.25))
            studio.wait_for_moment(round(LAST * 0.25))

    def test_playing_runs_to_the_end_and_can_be_paused(self, open_studio: Any, city: Path) -> None:
        with open_studio(city) as studio:
            studio.wait_for_end()
            studio.page.select_option("#speed", "0.1")
            studio.page.focus("#track")
            studio.press(" ")
            studio.page.locator("#play.playing").wait_for()
            studio.page.locator("#moment b", has_text=re.compile("^[1-9]$")).wait_for()
            studio.press(" ")
            studio.page.locator("#play:not(.playing)").wait_for()
            paused = studio.moment
            assert 0 < paused < LAST
            studio.page.select_option("#speed", "20")
            assert studio.moment == paused
            studio.page.click("#play")
            studio.wait_for_moment(LAST)
            studio.page.locator("#play:not(.playing)").wait_for()

    def test_a_reload_comes_back_to_the_same_moment(self, open_studio: Any, city: Path) -> None:
        with open_studio(city) as studio:
            studio.wait_for_end()
            studio.press("Home", "ArrowRight", "ArrowRight")
            studio.wait_for_moment(2)
            studio.page.reload()
            studio.wait_for_moment(2)


@pytest.mark.long
class TestLooking:
    def test_comparing_marks_what_is_the_same_object_and_what_is_new(self, open_studio: Any) -> None:
        with open_studio(TRIP) as studio:
            studio.wait_for_end()
            studio.page.mouse.click(*studio.point(0.55))
            studio.page.locator("#tree .caret").first.wait_for()
            pinned = studio.moment
            studio.press("c", "Shift+ArrowRight")
            studio.wait_for_moment(pinned + 10)
            studio.shows("#compared", re.compile(f"^since {pinned}:"))
            for mark in ("= same object", "~ changed", "+ new"):
                studio.page.locator("#tree .mark", has_text=mark).first.wait_for()
            studio.press("Escape")
            studio.has("#tree:not(.comparing)", 1)
            studio.has("#tree .mark", 0)

    def test_a_node_tells_when_each_part_of_it_arrived(self, open_studio: Any, city: Path) -> None:
        with open_studio(city) as studio:
            studio.wait_for_moment(LAST)
            studio.page.locator("#tree .row", has_text="Arashiyama").click()
            studio.shows("#node code", "root.stops[0]")
            first = TEXT.index("Arashiyama") // 3 + 1  # pieces have three characters
            studio.shows("#node .entry .text", "A", "ras", "hiy", "ama")
            studio.shows("#node .entry .n", *(str(first + at) for at in range(4)))
            studio.page.locator("#node .entry").nth(1).click()
            studio.wait_for_moment(first + 1)

    def test_a_message_is_shown_with_its_parts_and_lanes(self, open_studio: Any) -> None:
        with open_studio(TRIP) as studio:
            studio.wait_for_end()
            studio.has("#message .part", 5)
            studio.shows("#message", re.compile("hold_train"))
            for drawn in ("#lane-labels li", "#lanes .grow", "#lanes .done"):
                studio.page.locator(drawn).nth(20).wait_for(state="attached")

    def test_a_run_is_shown_with_its_steps_results_and_a_lane_for_each_tool(self, open_studio: Any) -> None:
        with open_studio(RUN) as studio:
            studio.wait_for_end()
            studio.shows("#message .step h2", "Step 1", "Step 2", "Step 3")
            calls = ("get_weather", "find_train", "find_rooms", "book_room", "find_route")
            studio.shows("#message .result h3 code", *calls)
            studio.shows("#message .result h3 .pill", "done", "error", "done", "done", "done")
            names = ("1 message", *(f"1 {name}" for name in calls[:3]), "2 message", "2 book_room", "2 find_route")
            studio.shows("#lane-labels li", *names, "3 message")

    def test_nodes_fold_and_long_lists_are_windows(self, open_studio: Any, tmp_path: Path) -> None:
        path = write_recording(tmp_path / "long.ndjson", json.dumps({"rows": [{"id": at} for at in range(500)]}))
        with open_studio(path) as studio:
            studio.wait_for_end()
            studio.page.locator(".row.more").click()
            studio.page.locator(".row", has_text=re.compile("^▾?50:")).wait_for()
            studio.page.locator(".row .fold").nth(1).click()
            studio.page.locator(".row", has_text="▸").first.wait_for()
            studio.shows_tree("{} 1 key", "rows: [] 500 items")

    def test_dark_and_light(self, open_studio: Any, city: Path) -> None:
        with open_studio(city, page={"color_scheme": "dark"}) as studio:
            colour = "getComputedStyle(document.documentElement).backgroundColor"
            dark = studio.page.evaluate(colour)
            studio.page.click("#theme")
            assert studio.page.evaluate(colour) != dark
            studio.page.reload()
            studio.wait_for_end()
            light = studio.page.evaluate(colour)
            studio.page.click("#theme")
            assert studio.page.evaluate(colour) == dark != light

    def test_on_a_phone_one_panel_is_shown_at_a_time_and_nothing_is_cut_off(self, open_studio: Any) -> None:
        with open_studio(TRIP, page={"viewport": {"width": 390, "height": 844}}) as studio:
            studio.wait_for_end()
            for view in ["tree", "raw", "events", "message", "schema", "repairs", "chunks"]:
                studio.page.click(f"[data-view={view}]")
                studio.has("main .panel:visible", 1)
                assert studio.page.locator(f"[data-panel={view}]").is_visible()
                assert studio.page.evaluate("document.documentElement.scrollWidth") == 390
            studio.page.click("[data-view=tree]")
            sizes = studio.page.evaluate(SIZES)
            assert sizes["tree"]["height"] > 400
            assert all(box["left"] >= 0 and box["right"] <= 390 for box in sizes.values())
            studio.page.mouse.click(*studio.point(0.3))
            studio.page.locator("#tree .caret").first.wait_for()
            assert 0 < studio.moment < 300

    def test_on_a_phone_the_steps_of_a_run_have_their_numbers(self, open_studio: Any) -> None:
        with open_studio(RUN, page={"viewport": {"width": 390, "height": 844}}) as studio:
            studio.wait_for_end()
            studio.page.click("[data-view=message]")
            assert studio.page.locator("#message .step h2").first.is_visible()
            assert studio.page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.long
class TestBringing:
    def test_a_file_can_be_dropped(self, open_studio: Any, city: Path) -> None:
        with open_studio() as studio:
            studio.page.get_by_text("Step through a stream").wait_for()
            studio.page.evaluate(DROP, ["dropped.ndjson", city.read_text("utf-8")])
            studio.wait_for_moment(LAST)
            studio.wait_for_end()
            studio.shows("#session option:checked", "dropped.ndjson")
            studio.page.locator("#drop").wait_for(state="hidden")

    def test_what_was_received_without_times_is_shown_by_its_pieces(self, open_studio: Any) -> None:
        with open_studio() as studio:
            studio.page.evaluate(DROP, ["events.txt", 'data: {"a": 1}\n\ndata: {"a": 2}\n\ndata: {"a": 3}\n\n'])
            studio.wait_for_end()
            studio.shows("#facts", re.compile("no times$"))
            studio.has("#by-time:disabled", 1)
            studio.page.mouse.click(*studio.point(0.5))
            studio.shows("#moment", "2 of 4")

    def test_a_broken_recording_says_what_is_wrong_and_another_can_follow(self, open_studio: Any, city: Path) -> None:
        broken = city.read_text("utf-8").replace('"at": 0.5,', '"at": "soon",')
        with open_studio() as studio:
            studio.page.evaluate(DROP, ["broken.ndjson", broken])
            studio.page.locator("#notice", has_text="line 6").wait_for()
            studio.page.evaluate(DROP, ["whole.ndjson", city.read_text("utf-8")])
            studio.wait_for_end()
            studio.page.locator("#notice").wait_for(state="hidden")

    def test_a_recording_that_breaks_off_is_shown_up_to_there(self, open_studio: Any, city: Path) -> None:
        city.write_bytes(city.read_bytes()[:-60])
        with open_studio(city) as studio:
            studio.wait_for_end("truncated")
            studio.shows("#tree .body >> nth=1", 'city: "Kyoto"')
            studio.shows("#notice", re.compile("breaks off"))

    def test_one_that_is_too_large_is_refused_in_words(self, open_studio: Any) -> None:
        with open_studio(max_bytes=1000) as studio:
            studio.page.evaluate(DROP, ["large.json", "[" + "1," * 1000])
            studio.page.locator("#notice", has_text="more than 0.001 MB").wait_for()
            studio.logged.clear()  # the browser tells of the answer 413 by itself

    def test_text_is_pasted_and_cut_by_clicks(self, open_studio: Any) -> None:
        with open_studio() as studio:
            page = studio.page
            page.click("#paste")
            page.fill("#paste-text", '["abcdefghij"]')
            page.click("#cut-by-hand")
            box = page.locator("#paste-cuts").bounding_box()
            for x in (40, 75, 40, 55):
                page.mouse.click(box["x"] + x, box["y"] + 18)
            studio.shows("#paste-hint", re.compile("^3 pieces"))
            page.click("#paste-run")
            studio.wait_for_moment(4)
            studio.press("Home", "ArrowRight")
            studio.wait_for_moment(1)
            studio.shows("#tree .body >> nth=1", re.compile('^0: "[a-j]{1,6}$'))

    def test_bad_text_is_mended_and_read_through_a_schema(self, open_studio: Any) -> None:
        with open_studio() as studio:
            page = studio.page
            page.click("#paste")
            page.fill("#paste-text", "{'city': 'Kyoto', 'nights': 'three',}")
            page.click("#cut-characters")
            page.click("#paste-run")
            studio.wait_for_end("invalid")
            studio.shows("#error", re.compile("^expected"))
            page.click("#read")
            page.check("#read-mend")
            page.fill("#read-schema", '{"properties": {"nights": {"type": "integer"}}')
            page.click("#read-run")
            page.locator("#read-problem", has_text="no JSON").wait_for()
            page.fill("#read-schema", '{"properties": {"nights": {"type": "integer"}}}')
            page.click("#read-run")
            studio.wait_for_end()
            page.click("[data-view=repairs]")
            studio.has(".repair:has-text('trailing comma')", 1)
            page.click("[data-view=schema]")
            page.locator("#schema .pill", has_text="mismatch").wait_for()
            studio.shows("#schema", re.compile("root.nights"))
            page.click("[data-view=chunks]")
            page.locator("#chunks .entry").first.wait_for()


class Sender:
    """Posts a stream to a studio, piece by piece."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.connection.putrequest("POST", f"/listen?token={TOKEN}&name=live")
        self.connection.putheader("transfer-encoding", "chunked")
        self.connection.endheaders()

    def send(self, text: str) -> None:
        self.connection.send(f"{len(text):x}\r\n{text}\r\n".encode())

    def finish(self) -> int:
        self.connection.send(b"0\r\n\r\n")
        with self.connection.getresponse() as response:
            status = response.status
        self.connection.close()
        return status


STICKS_OUT = """() => {
    const card = document.getElementById("welcome").getBoundingClientRect();
    const boxes = [...document.querySelectorAll("#welcome *")].map((element) => element.getBoundingClientRect());
    return boxes.filter(({ left, right }) => left < card.left || right > card.right).length;
}"""
CLIPPED = """async (number) => {
    const { drawChunks, drawEvents } = await import("/static/lists.js");
    document.body.classList.remove("empty");
    for (const name of ["chunks", "events"]) {
        document.body.dataset.side = document.body.dataset.phone = name;
        document.querySelector(`[data-panel=${name}]`).style.display = "block";
    }
    drawChunks({ from: 1, base: 1, chunks: [{ n: number, text: "x", length: number }] }, number);
    drawEvents({ n: number, events: [{ n: number, what: "set", path: "root", text: "x" }] });
    const note = document.querySelector("#chunks .note").textContent;
    const cells = [...document.querySelectorAll(".entry .n")];
    return [note, cells.length, cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length];
}"""


@pytest.mark.long
class TestLayout:
    @pytest.mark.parametrize("width", [400, 1280])
    def test_the_first_card_holds_its_text(self, open_studio: Any, width: int) -> None:
        with open_studio(listen=True, page={"viewport": {"width": width, "height": 800}}) as studio:
            studio.page.locator("#command").wait_for()
            assert studio.page.evaluate(STICKS_OUT) == 0

    def test_numbers_are_shown_whole(self, open_studio: Any) -> None:
        with open_studio(listen=True) as studio:
            studio.page.locator("#command").wait_for()
            note, cells, clipped = studio.page.evaluate(CLIPPED, 1_234_567)
        assert (cells, clipped) == (2, 0)
        assert note.endswith("; 1 character was written before.")


@pytest.mark.long
class TestLive:
    def test_what_is_posted_is_shown_while_it_comes(self, open_studio: Any) -> None:
        with open_studio(listen=True) as studio:
            studio.shows("#command", re.compile(re.escape(f"/listen?token={TOKEN}")))
            sender = Sender(studio.port)
            sender.send('{"city": "Kyo')
            studio.page.locator("#tree .row", has_text='city: "Kyo').wait_for()
            studio.wait_for_end("live")
            sender.send('to", "stops": ["Gion')
            studio.page.locator("#tree .row", has_text='0: "Gion').wait_for()
            studio.press("ArrowLeft")
            studio.wait_for_moment(1)
            sender.send('", "Nara')
            studio.page.locator("#moment", has_text="of 3").wait_for()
            assert studio.moment == 1  # who looks back is left alone
            studio.page.click("#live")
            studio.page.locator("#tree .row", has_text='1: "Nara').wait_for()
            sender.send('"]}')
            assert sender.finish() == 201
            studio.wait_for_end()

    def test_a_sender_that_leaves_is_told_of(self, open_studio: Any) -> None:
        with open_studio(listen=True) as studio:
            sender = Sender(studio.port)
            sender.send('{"city": "Kyo')
            studio.page.locator("#tree .row", has_text='city: "Kyo').wait_for()
            sender.connection.close()
            studio.wait_for_end("truncated")
            studio.shows("#notice", re.compile("the sender left"))


@pytest.mark.long
class TestManyChunks:
    def test_200_000_chunks_can_be_scrubbed(self, open_studio: Any, tmp_path: Path) -> None:
        note = "the first of them is short, "
        rows = [{"id": at, "name": f"name {at}", "note": note * 2, "tags": ["a", "b"]} for at in range(8_300)]
        text = json.dumps({"rows": rows})
        pieces = [text[at : at + 5] for at in range(0, 1_000_000, 5)]
        path = write_recording(tmp_path / "many.ndjson", *pieces, step=0.0005)
        assert (len(pieces), len(text)) >= (200_000, 1_000_000)
        with open_studio(path) as studio:
            studio.page.locator("#facts", has_text="% loaded").wait_for()
            studio.press("Home")  # it can be looked at while it loads
            studio.wait_for_moment(0)
            studio.page.locator("#facts", has_text="200,001 moments").wait_for(timeout=10 * PATIENCE)
            sizes: list[int] = []
            studio.page.on(
                "response", lambda answer: sizes.append(len(answer.body())) if "/moment" in answer.url else None
            )
            studio.asked.clear()
            for keys in (False, True):
                drawn = studio.page.evaluate(SCRUB, keys)
                assert len(drawn) == 40
                assert max(drawn) < 3_000  # a page, however long the stream is
            asked = [url for url in studio.asked if "/moment" in url]
            assert len(asked) <= 80
            studio.wait_for_moment(studio.moment)
            assert max(sizes) < 100_000


@pytest.mark.long
def test_a_wrong_token_shows_no_studio(browser: Any) -> None:
    with running(create_app(token=TOKEN)) as server:
        page = browser.new_context().new_page()
        answer = page.goto(f"http://127.0.0.1:{port_of(server)}/?token=wrong")
        assert answer.status == 403
        assert "open the address that the studio printed" in page.inner_text("body")
        page.context.close()
