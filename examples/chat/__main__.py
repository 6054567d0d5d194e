"""Runs the chat on this machine: python examples/chat [PORT], where 0 is any port that is free.

Turns are kept in `turns.sqlite` beside this file, or where `CHAT_TURNS` says: another file, or the URL of a Redis.
"""

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

try:
    import uvicorn
    from app import create_app
    from provider import choose_provider

    from jsontide.web import DurableTurns, sqlite_turns
except ModuleNotFoundError as error:
    raise SystemExit(
        f"error: the package {error.name} is missing; `make chat` installs what is needed, "
        f'or: pip install "jsontide[web,pydantic]" fastapi httpx uvicorn'
    ) from None

HOST = "127.0.0.1"


def open_turns(where: str) -> DurableTurns:
    """Return the store of turns that a file or the URL of a Redis names."""
    if "://" not in where:
        return sqlite_turns(where)
    from jsontide.web import redis_turns  # noqa: PLC0415 - it needs one package more

    return redis_turns(where)


def main() -> None:
    port = int(sys.argv[1]) if sys.argv[1:] else 8000
    provider, who = choose_provider()
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise SystemExit(f"error: port {port}: {error.strerror}; choose another: make chat PORT=8001") from None
    port = listening.getsockname()[1]
    print(f"Open http://{HOST}:{port} - {who}. Control-C stops the server.", flush=True)
    turns = open_turns(os.environ.get("CHAT_TURNS") or str(Path(__file__).parent / "turns.sqlite"))
    config = uvicorn.Config(create_app(provider, turns=turns), log_level="warning", timeout_graceful_shutdown=1)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
