"""The studio as tests use it: an application with a token that they know, and sessions that are loaded."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from jsontide.studio import create_app
from jsontide.studio._sessions import Session

TOKEN = "a-token-for-tests"  # noqa: S105
BASE = "http://127.0.0.1:8000"


def write_recording(path: Path, *texts: str, step: float = 0.1, end: str | None = "over") -> Path:
    """Write a recording whose pieces come at even times."""
    lines: list[dict[str, Any]] = [{"jsontide": "recording", "version": 1}]
    lines += [{"at": round(step * number, 6), "text": text} for number, text in enumerate(texts, 1)]
    if end is not None:
        lines.append({"at": round(step * len(texts), 6), "end": end})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


class Studio:
    """A studio without a network, with its requests."""

    def __init__(self, path: Path | None = None, **options: Any) -> None:
        self.app = create_app(path, token=TOKEN, **options)
        self.client = TestClient(self.app, base_url=BASE, headers={"x-studio-token": TOKEN})

    @property
    def newest(self) -> Session:
        newest: Session = list(self.app.state.studio.sessions.values())[-1]
        return newest

    def wait(self) -> Session:
        """Wait until the newest session is loaded."""
        wait_for(lambda: self.newest.state in {"over", "broken"})
        return self.newest

    def ask(self, path: str, /, **parameters: Any) -> Any:
        response = self.client.get(path, params={"session": self.newest.id, **parameters})
        assert response.status_code == 200, response.text
        return response.json()

    def refused(self, path: str, /, **parameters: Any) -> tuple[int, str]:
        response = self.client.get(path, params={"session": self.newest.id, **parameters})
        return response.status_code, response.json()["error"]


def wait_for(holds: Callable[[], bool], within: float = 60) -> None:
    ends = time.monotonic() + within
    while not holds():
        assert time.monotonic() < ends, "it did not come about in time"
        time.sleep(0.002)
