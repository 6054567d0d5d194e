"""What checks a value by a type of a client; it is made once for each type, which takes a tenth of a second."""

from functools import cache
from typing import Any

import pytest


@cache
def adapter_of(kind: Any) -> Any:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    return pydantic.TypeAdapter(kind)
