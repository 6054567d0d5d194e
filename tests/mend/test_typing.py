"""Mending for type checkers: which doors take it, and what they get."""

from pathlib import Path

import pytest

from tests.typecheck import check_program, checkers

PROGRAM = """
from collections.abc import AsyncIterator
from typing import Any, assert_type

import jsontide
from jsontide import JsonFragmentAccumulator
from jsontide.mend import MODELS, Mending, Repair, RepairKind
from jsontide.messages import CompleteCall, Message, MessageConfig, PartialCall

def note(repair: Repair) -> None: ...
def wrong(repair: int) -> None: ...

async def mends(chunks: AsyncIterator[str], message: Message[object], call: CompleteCall[Any] | PartialCall) -> None:
    list(jsontide.values("1", mend=MODELS, on_repair=note))
    jsontide.loads([b"1"], None, mend=MODELS, on_repair=lambda repair: repair.kind)
    list(jsontide.text_deltas("1", "a", mend=MODELS, on_repair=note))
    list(jsontide.items("1", "a", mend=MODELS, on_repair=note))
    jsontide.first_value("1", "a", mend=MODELS, on_repair=note)
    jsontide.avalues(chunks, mend=MODELS, on_repair=note)
    await jsontide.aloads(chunks, mend=MODELS, on_repair=note)
    jsontide.atext_deltas(chunks, "a", mend=MODELS, on_repair=note)
    jsontide.aitems(chunks, "a", mend=MODELS, on_repair=note)
    await jsontide.afirst_value(chunks, "a", mend=MODELS, on_repair=note)
    jsontide.stream_model("1", int, mend=MODELS, on_repair=note)
    jsontide.astream_model(chunks, int, mend=MODELS, on_repair=note)
    jsontide.stream_message([], mend=MODELS)
    jsontide.astream_message(chunks, mend=None)
    assert_type(JsonFragmentAccumulator(mend=MODELS).repairs, tuple[Repair, ...])
    assert_type(message.repairs, tuple[Repair, ...])
    assert_type(call.repairs, tuple[Repair, ...])
    assert_type(MODELS.allow_in_calls(RepairKind.PROSE), Mending)
    MessageConfig(mend=MODELS)

def takes_other_types() -> None:
    jsontide.values("1", mend=True)  # refused
    jsontide.loads("1", mend=MODELS, on_repair=wrong)  # refused
    jsontide.items("1", "a", MODELS)  # refused
    jsontide.stream_message([], mend="MODELS")  # refused
    JsonFragmentAccumulator(mend=1)  # refused
    MessageConfig(mend={RepairKind.PROSE})  # refused
"""


@pytest.mark.long
@pytest.mark.once
@checkers
def test_type_checkers_know_the_options_of_every_door(checker: str, tmp_path: Path) -> None:
    check_program(checker, PROGRAM, tmp_path)
