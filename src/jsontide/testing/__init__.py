"""For tests of programs that use messages: recordings of streams, cut at random and replayed.

`jsontide.testing.pytest_plugin` has them as a fixture for pytest.
"""

from jsontide._public import publish
from jsontide.testing._recording import Recording

__all__ = ["Recording"]

publish(__name__, __all__, globals())
