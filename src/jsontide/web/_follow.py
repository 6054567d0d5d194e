"""The turns of a store in, bytes for one reader out.

Rule: nothing is kept for a reader but what it was told last, so a slow one skips to the newest state; and the last
thing that it gets is the end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from typing import Final, Generic, TypeVar

from jsontide.encoders import Encoder
from jsontide.web._producer import FAILED
from jsontide.web._turns import TurnState, TurnStore

FORGOTTEN: Final = "the turn is not kept any more"

_LOG: Final = logging.getLogger("jsontide.web")
_State = TypeVar("_State")


async def follow(
    store: TurnStore, run_id: str, encoder: Encoder[_State], keep_alive: float | None, min_interval: float
) -> AsyncGenerator[bytes]:
    """Yield what an encoder says of a turn, from its first state that is there to its end."""
    reader = _Reader(encoder)
    yield reader.begin()
    seen, sent_at = -1, time.monotonic()
    while not reader.is_over:
        left = None if keep_alive is None else max(0.0, sent_at + keep_alive - time.monotonic())
        state = await store.read(run_id, seen, left)
        is_new = state is None or state.version != seen
        sent = reader.tell(state) if is_new else encoder.keep_alive
        seen = -1 if state is None else state.version
        if sent:
            yield sent
            sent_at = time.monotonic()
            if not reader.is_over and is_new and min_interval:
                await asyncio.sleep(min_interval)


class _Reader(Generic[_State]):
    """What one reader was told."""

    def __init__(self, encoder: Encoder[_State]) -> None:
        self._encoder = encoder
        self._told, self._first = encoder.begin()
        self.is_over = False

    def begin(self) -> bytes:
        """Return what is sent at once: proxies and browsers wait for the first byte."""
        return self._first or self._encoder.keep_alive

    def tell(self, state: TurnState | None) -> bytes:
        """Return what is new in a turn, and its end when it is over."""
        sent, failure = (b"", FORGOTTEN) if state is None else self._encode(state)
        if failure is not None:
            self.is_over = True
            self._told, end = self._encoder.fail(self._told, failure)  # nothing, if the end was told
            sent += end
        return sent

    def _encode(self, state: TurnState) -> tuple[bytes, str | None]:
        """Return what is new, and why nothing follows, if nothing does."""
        sent = b""
        if state.growing is not None:
            try:
                self._told, sent = self._encoder.encode(self._told, state.growing)
            except Exception:  # noqa: BLE001 - a reader is told of it, whatever it is
                _LOG.exception("%s failed", type(self._encoder).__name__)
                return b"", FAILED
        return sent, (state.failure or FAILED) if state.is_over else None
