"""Recorded streams, cut at random and replayed, for tests of programs that read messages.

`jsontide.testing.pytest_plugin` offers them as a pytest fixture.
"""

from jsontide._public import publish
from jsontide.testing._recording import Recording

__all__ = ["Recording"]

publish(__name__, __all__, globals())
