"""Where the public test data and recordings are, which are not part of this repository.

They are in the folder named by JSONTIDE_DATA, or in `shared/data` beside the repository; without them, tests that need
them are skipped.
"""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
DATA = Path(os.environ.get("JSONTIDE_DATA") or REPOSITORY.parent / "shared" / "data")
