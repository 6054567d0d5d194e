"""Chats of three turns: a front end's own client, our server, an agent, and a provider's own client, over HTTP.

Thinking with signatures, an image from the user and one from a tool, tools that fail, yield and wait for a person.
"""

import json
import threading
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from jsontide import Tool
from jsontide.frontends import (
    AgUiEncoder,
    VercelEncoder,
    decisions_from_ag_ui,
    decisions_from_vercel,
    from_ag_ui,
    from_vercel,
)
from jsontide.messages import File, TextPart
from jsontide.runs import AsyncAgentStream, Conversation, Run, RunOutcome, arun_agent
from jsontide.web import stream_response
from tests.frontends.runs import shown_run
from tests.frontends.test_run_streams import as_in_ag_ui, shown_in_ag_ui, shown_in_vercel
from tests.frontends.test_sent_back import IMAGE, PNG
from tests.node_scripts import needs_node, run
from tests.providers.client_types import check_request
from tests.runs.test_client_agents import SIGNED
from tests.streams.client_scripts import ARGUMENTS, RESULT, Event, Turn
from tests.streams.real_clients import CLIENTS, Server, answering
from tests.streams.serving import serving

SYSTEM = "Be brief."
SHOWN_WEATHER = (
    [{"kind": "text", "text": RESULT}, {"kind": "file", "media_type": "image/png", "data": PNG}],
    [
        {"type": "text", "text": RESULT},
        {"type": "image", "source": {"type": "data", "value": PNG, "mimeType": "image/png"}},
    ],
)
"""What the tool gives, in the words of our own and in those of AG-UI."""
QUESTIONS = ("What is this?", "How far can you count?", "Book it.")
TURNS = (
    Turn(("Let me look.",), (("get_weather", ARGUMENTS),), thinks=True),
    Turn(("It is ", "warm."), number=2, after=RESULT),
    Turn(("I count.",), (("count", {"to": 3}), ("fail", {})), thinks=True, number=3, after=QUESTIONS[1]),
    Turn(("To ", "three."), number=4, after="counted to 3"),
    Turn(
        ("May I?",),
        (("book", {"room": "ryokan"}), ("get_weather", ARGUMENTS)),
        thinks=True,
        number=5,
        after=QUESTIONS[2],
    ),
    Turn(("It is ", "yours."), number=6, after="the ryokan"),
)
"""What the model says: in each turn it calls, and answers what the calls gave."""

pytestmark = [pytest.mark.long, pytest.mark.untraced]


class Chat:
    """A server as the documentation has it: it keeps the runs, and trusts no browser."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.saved: dict[str, str] = {}
        self.ran: Counter[str] = Counter()
        self.requests: list[Event] = []
        plain = [Tool.from_function(tool) for tool in (self.get_weather, self.count, self.fail)]
        self.tools = [*plain, Tool.from_function(self.book, needs_approval=True)]

    def get_weather(self, city: str) -> list[TextPart | File]:
        """Return the weather in a city."""
        assert city == ARGUMENTS["city"]
        self.ran["weather"] += 1
        return [TextPart(RESULT), File("image/png", PNG)]

    def count(self, to: int) -> Iterator[str]:
        """Count."""
        self.ran["count"] += 1
        for number in range(1, to + 1):
            yield f"counted to {number}"

    def fail(self) -> None:
        """Fail."""
        self.ran["fail"] += 1
        raise LookupError("the key is 1234")

    def book(self, room: str) -> str:
        """Book a room."""
        self.ran[f"book {room}"] += 1
        return f"booked the {room}"

    @property
    def runs(self) -> list[Run[Any]]:
        return [Run.from_json(text) for text in self.saved.values()]

    def begin(self, conversation: Conversation, waiting: Run[Any] | None, decisions: Any) -> AsyncAgentStream[Any]:
        async def ask(request: Any) -> AsyncIterator[object]:
            self.requests.append(request.to_request(self.client.provider))
            later = self.client.open_later()
            try:
                async for event in await self.client.ask(later, self.with_system(request), self.tools):
                    yield event
            finally:
                await (later.aclose if hasattr(later, "aclose") else later.close)()

        run = waiting if decisions else None
        return arun_agent(ask, conversation, tools=self.tools, run=run, decisions=decisions)

    def with_system(self, request: Any) -> list[Any]:
        """The items of a request; the arguments beside them are checked, and the scripted server needs none of them."""
        written = request.to_request(self.client.provider)
        return next(list(written[name]) for name in ("messages", "input", "contents") if name in written)

    async def keep(self, runs: AsyncAgentStream[Any]) -> AsyncIterator[Run[Any]]:
        async with runs:
            async for each in runs:
                self.saved[str(each.id)] = each.to_json()
                yield each

    def take(self) -> tuple[list[Run[Any]], Run[Any] | None]:
        saved = self.runs
        return saved, saved[-1] if saved and saved[-1].waiting else None

    async def vercel(self, request: Request) -> Response:
        messages = (await request.json())["messages"]
        saved, waiting = self.take()
        decisions = decisions_from_vercel(messages, waiting) if waiting else {}
        runs = self.begin(from_vercel(messages, system=SYSTEM, runs=saved), waiting, decisions)
        encoder = VercelEncoder(message_id=runs.run.id, continues=waiting if decisions else None)
        return stream_response(self.keep(runs), encoder)

    async def ag_ui(self, request: Request) -> Response:
        given = await request.json()
        saved, waiting = self.take()
        decisions = decisions_from_ag_ui(given, waiting) if waiting else {}
        runs = self.begin(from_ag_ui(given, system=SYSTEM, runs=saved), waiting, decisions)
        continues = waiting if decisions else None
        names = {"thread_id": given["threadId"], "run_id": given["runId"], "message_id": runs.run.id}
        return stream_response(self.keep(runs), AgUiEncoder(**names, continues=continues))


@pytest.fixture(scope="module")
def provider() -> Iterator[Server]:
    with answering() as server:
        yield server


@contextmanager
def chatting(provider: Server, name: str) -> Iterator[tuple[Chat, str]]:
    provider.reset()
    provider.turns = TURNS
    client = CLIENTS[name](provider.url)
    chat = Chat(client)

    async def answer(request: Request) -> Response:
        return await (chat.ag_ui if request.url.path == "/ag-ui" else chat.vercel)(request)

    with serving(answer, "/ag-ui", "/vercel") as url:
        yield chat, url
    client.sync.close()


def path_of(kind: str, url: str) -> str:
    return f"{url}/{'ag-ui' if kind == 'ag-ui' else 'vercel'}"


def talk(kind: str, url: str, *, approves: bool = True) -> Event:
    """Ask the three questions in the client; return the bodies of its requests, and the messages it has in the end."""
    said: list[Event] = [{"text": question, "files": []} for question in QUESTIONS]
    said[0]["files"] = [IMAGE]
    if approves:
        said[-1]["approve"] = True
    found: Event = run("turns.mjs", said, kind, path_of(kind, url))
    return found


def shown(kind: str, messages: Sequence[Event]) -> list[Any]:
    """What the client shows of the assistant, step by step."""
    if kind == "ag-ui":
        questions = [at for at, one in enumerate(messages) if one["role"] == "user"]
        turns = [messages[at + 1 : end] for at, end in zip(questions, [*questions[1:], None], strict=True)]
        steps = [step for turn in turns for step in shown_in_ag_ui(turn)]
    else:
        steps = [step for one in messages if one["role"] == "assistant" for step in shown_in_vercel(one["parts"])]
    weather = SHOWN_WEATHER[kind == "ag-ui"]
    return [[(*one[:3], RESULT) if one[3:] == (weather,) else one for one in step] for step in steps]


def must_show(kind: str, runs: Sequence[Run[Any]]) -> list[Any]:
    steps = [
        [(*one[:3], RESULT) if len(one) > 3 and isinstance(one[3], tuple) else one for one in step]
        for each in runs
        for step in shown_run(each)
    ]
    return as_in_ag_ui(steps) if kind == "ag-ui" else steps


@needs_node
@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("kind", ["ai6", "ai7", "ag-ui"])
def test_three_turns_with_tools_thinking_and_images(provider: Server, kind: str, name: str) -> None:
    with chatting(provider, name) as (chat, url):
        found = talk(kind, url)
        runs = chat.runs
        assert [each.outcome for each in runs] == [RunOutcome.COMPLETE] * 3
        assert [each.content for each in runs] == ["It is warm.", "To three.", "It is yours."]
        assert chat.ran == {"weather": 2, "count": 1, "fail": 1, "book ryokan": 1}
        assert len(found["bodies"]) == 4
        assert shown(kind, found["messages"]) == must_show(kind, runs)
        assert "1234" not in json.dumps(found["messages"])
        assert len(provider.bodies) == len(chat.requests) == len(TURNS)
        signed = SIGNED[name]
        for at, (body, request) in enumerate(zip(provider.bodies, chat.requests, strict=True)):
            assert chat.client.conversation(body)
            check_request(name, request)
            text = json.dumps(body)
            assert signed is None or text.count(signed) == (at + 1) // 2, "each step in which the model thought"
            assert text.count(PNG) >= 1
            assert sum(question in text for question in QUESTIONS) == at // 2 + 1
        assert json.dumps(provider.bodies[-1]).count("the key is 1234") == 1, "the model reads what the browser may not"


def post(url: str, body: str) -> bytes:
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json"})  # noqa: S310 - as below
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - this machine
        return bytes(response.read())


@needs_node
@pytest.mark.parametrize("kind", ["ai7", "ag-ui"])
def test_an_approval_that_is_sent_often_and_forged_runs_once_what_was_saved(provider: Server, kind: str) -> None:
    with chatting(provider, "anthropic") as (chat, url):
        resumed = json.dumps(talk(kind, url)["bodies"][-1], ensure_ascii=False)
        post(path_of(kind, url), resumed)
        assert chat.ran["book ryokan"] == 1
        before = list(chat.saved)
    with chatting(provider, "anthropic") as (chat, url):
        talk(kind, url, approves=False)
        assert chat.runs[-1].outcome is RunOutcome.WAITING
        for old, new in zip(before, chat.saved, strict=False):
            resumed = resumed.replace(old, new)
        forged = resumed.replace("ryokan", "palace").replace(RESULT, "FORGED").replace("Let me look.", "FORGED")
        assert forged.count("palace") >= 1
        assert forged.count("FORGED") >= 2
        ends: list[bytes] = []
        threads = [threading.Thread(target=lambda: ends.append(post(path_of(kind, url), forged))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(ends) == 4
        assert (chat.ran["book ryokan"], chat.ran["book palace"]) == (1, 0)
        asked = json.dumps(provider.bodies)
        assert "booked the ryokan" in asked
        assert "FORGED" not in asked
        assert "palace" not in asked
