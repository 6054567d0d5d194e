"""A chat server: an agent whose steps grow in the browser, as text, calls and their results, and as a typed answer.

    POST /turns                  ask a question; the response is the run of the agent while it grows
    GET  /turns/{id}             join that run again, after a reload or when the connection broke off
    POST /turns/{id}/decisions   say which of the calls that wait may run; the response is how the run goes on
    POST /turns/{id}/stop        stop it

`make chat` runs it. The page is in page/, and who answers in provider.py.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.staticfiles import StaticFiles
from provider import Json, Provider
from pydantic import BaseModel, Field
from starlette.responses import Response

from jsontide import Tool, tool_definitions
from jsontide.frontends import CompactEncoder
from jsontide.runs import Request, Run, RunOutcome, arun_agent
from jsontide.web import (
    DurableTurns,
    MemoryTurns,
    OnLeave,
    TurnStore,
    client_route,
    new_run_id,
    resume_response,
    stop,
    stream_response,
)

PAGE = Path(__file__).parent / "page"


class Stop(BaseModel):
    time: str = Field(description="24-hour clock, such as 09:30")
    place: str
    note: str = Field(description="one sentence")


class Day(BaseModel):
    title: str
    stops: list[Stop]


class Budget(BaseModel):
    currency: str
    low: int
    high: int
    covers: str


class TripPlan(BaseModel):
    """The plan that the user sees, field by field while you write it."""

    title: str
    summary: str
    days: list[Day]
    budget: Budget
    tips: list[str]


class Preferences(BaseModel):
    coach: str
    window: bool


def hold_train(origin: str, destination: str, departs: str, seats: int, preferences: Preferences) -> Json:
    """Hold seats on a train for a day."""
    return {"held": seats, "train": f"{origin} - {destination}, {departs}", "coach": preferences.coach}


# The answer comes as a call of this one, so that text and other calls can stand beside it, whoever the provider is.
OUTPUT = Tool("output", TripPlan, description="Show the plan. Call it last, once, when the train is held or refused.")


def make_tools(provider: Provider) -> list[Tool[Any]]:
    """Return the tools: one that a person must allow, and one that asks the model itself."""

    async def set_reminder(on: str, text: str) -> AsyncIterator[object]:
        """Remind the user of something on a date."""

        def ask(request: Request) -> AsyncIterator[object]:
            return provider.ask(request.messages(provider.name), [])

        async for run in arun_agent(ask, f"Say this as one friendly sentence, for {on}: {text}"):
            yield run  # the page shows its steps, and the agent gets its text

    return [Tool.from_function(hold_train, needs_approval=True), Tool.from_function(set_reminder)]


class Question(BaseModel):
    chat: str = Field(min_length=8, max_length=64)
    text: str = Field(min_length=1, max_length=4000)


@dataclass
class Chat:
    """What was said so far, as the provider wants it back; yours would be in a database, and know whose it is."""

    said: list[Json] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True)
class Waiting:
    """A run that waits for a person: what runs after a decision is read from here, and never from a browser."""

    chat: Chat
    asked: list[Json]
    run: Run[TripPlan]


def repeat_plan(run: Run[TripPlan]) -> list[Json]:
    """Return the plan for the next request, in which the call of it is not repeated."""
    if not isinstance(run.answer, TripPlan):
        return []
    return [{"role": "user", "content": f"This is the plan so far: {run.answer.model_dump_json()}"}]


class Agent:
    """Answers questions: what it asks and runs, and which of its runs wait."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.tools = make_tools(provider)
        self.chats: defaultdict[str, Chat] = defaultdict(Chat)
        self.waiting: dict[str, Waiting] = {}  # by the name of the turn that ended so

    def ask(self, request: Request) -> AsyncIterator[object]:
        name = self.provider.name
        return self.provider.ask(request.messages(name), tool_definitions([*self.tools, OUTPUT], name))

    def answer(self, turn: str, question: Question) -> AsyncIterator[Run[TripPlan]]:
        return self.run(turn, self.chats[question.chat], question.text)

    def decide(self, turn: str, found: Waiting, decisions: Mapping[str, bool]) -> AsyncIterator[Run[TripPlan]]:
        return self.run(turn, found.chat, found=found, decisions=decisions)

    async def run(
        self,
        turn: str,
        chat: Chat,
        text: str = "",
        found: Waiting | None = None,
        decisions: Mapping[str, bool] | None = None,
    ) -> AsyncIterator[Run[TripPlan]]:
        async with chat.lock:  # the question before may not be answered
            asked = [*chat.said, {"role": "user", "content": text}] if found is None else found.asked
            async with arun_agent(
                self.ask,
                asked,
                tools=self.tools,
                response_schema=TripPlan,
                emulate_structured_output=True,
                run=None if found is None else found.run,
                decisions=decisions or {},
            ) as runs:
                async for run in runs:
                    if run.outcome is RunOutcome.WAITING:
                        self.waiting[turn] = Waiting(chat, asked, run)
                    if run.outcome is RunOutcome.COMPLETE:
                        said = Request(asked, run).messages(self.provider.name)
                        chat.said = [*said, *repeat_plan(run)]
                    yield run


def create_app(provider: Provider, on_leave: OnLeave = "continue", turns: TurnStore | None = None) -> FastAPI:
    """Return the server. With `on_leave="cancel"`, an answer ends when its reader leaves; `turns` keeps them."""
    turns = MemoryTurns(max_age=900, max_turns=200) if turns is None else turns

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        if isinstance(turns, DurableTurns):
            await turns.close()

    app = FastAPI(title="jsontide chat", lifespan=lifespan)
    agent = Agent(provider)

    def respond(turn: str, source: AsyncIterator[Run[TripPlan]]) -> Response:
        return stream_response(source, CompactEncoder(run_id=turn), on_leave=on_leave, store=turns)

    @app.post("/turns")
    async def begin(question: Question) -> Response:
        turn = new_run_id()
        return respond(turn, agent.answer(turn, question))

    @app.post("/turns/{run_id}/decisions")
    async def decide(run_id: str, decisions: dict[str, bool]) -> Response:
        if run_id not in agent.waiting:
            raise HTTPException(409, "nothing waits here, or not any more")
        if decisions.keys() != {result.call.id for result in agent.waiting[run_id].run.waiting}:
            raise HTTPException(422, "there must be a decision for each call that waits, and no other")
        found, turn = agent.waiting.pop(run_id), new_run_id()  # nobody decides twice
        return respond(turn, agent.decide(turn, found, decisions))

    @app.get("/turns/{run_id}")
    async def join(run_id: str) -> Response:
        return await resume_response(turns, run_id, CompactEncoder())

    @app.post("/turns/{run_id}/stop")
    async def halt(run_id: str) -> bool:
        return await stop(turns, run_id)

    app.router.routes.append(client_route("/jsontide.js"))
    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app
