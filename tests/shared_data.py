"""Where the public test data and recordings are, which are not part of this repository.

They are in the folder named by JSONTIDE_DATA, or in `shared/data` beside the repository. Tests of them are an extra of
`make test-long`: `make test` runs the same tests whether they are there or not.
"""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
DATA = Path(os.environ.get("JSONTIDE_DATA") or REPOSITORY.parent / "shared" / "data")


def in_data(folder: str) -> list[pytest.MarkDecorator]:
    """The marks of tests that need a folder of the data."""
    reason = f"data beside the repository: {folder} is not there; set JSONTIDE_DATA"
    return [pytest.mark.long, pytest.mark.untraced, pytest.mark.skipif(not (DATA / folder).is_dir(), reason=reason)]
