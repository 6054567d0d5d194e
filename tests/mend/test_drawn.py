"""Damaged documents that are drawn anew, each from one seed: none comes back as another value."""

import os
from random import Random

import pytest
from hypothesis import given

from tests.mend.damage import draw
from tests.mend.runs import WRONG, judge_drawn
from tests.strategies import seeds


def wrong(seed: int) -> list[str]:
    """What was drawn, if it comes back as another value."""
    name, document = draw(Random(seed))
    return [f"{name}: {document.text!r}"] if judge_drawn(name, document) == WRONG else []


@given(seeds)
def test_a_drawn_document_comes_back_as_it_was_meant_or_is_refused(seed: int) -> None:
    assert [found for at in range(seed, seed + 10) for found in wrong(at)] == []


@pytest.mark.long
def test_many_drawn_documents_come_back_as_they_were_meant_or_are_refused() -> None:
    assert [found for at in range(int(os.environ.get("JSONTIDE_DRAWN") or 10_000)) for found in wrong(at)] == []
