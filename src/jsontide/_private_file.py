"""A path in, a file to write out that nobody but its owner can read: recordings contain prompts and answers.

Where a file is there already, its owner has decided who may read it, and that stays.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Final, Literal, cast

_OWNER_ONLY: Final = 0o600


def open_private(path: Path, mode: Literal["wb", "xb", "ab"]) -> BinaryIO:
    """Open a file to write; `xb` raises `FileExistsError` if it is there."""
    return cast("BinaryIO", open(path, mode, opener=lambda name, flags: os.open(name, flags, _OWNER_ONLY)))
