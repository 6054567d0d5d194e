"""Where public test data and recordings lie, which are not part of this repository.

In the folder named by JSONTIDE_DATA, else in `shared/data` beside the repository; tests that need them are skipped
where they are not found.
"""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
DATA = Path(os.environ.get("JSONTIDE_DATA") or REPOSITORY.parent / "shared" / "data")
