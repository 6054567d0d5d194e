"""A debugger for streams in the browser: every moment of a recording or a live stream, back and forth in time.

It needs the packages of the extra `studio`.
"""

from jsontide._public import publish

try:
    import starlette  # noqa: F401 - without them, the first import below would not say what to install
    import uvicorn  # noqa: F401
except ModuleNotFoundError as error:
    message = 'jsontide.studio needs Starlette and uvicorn: pip install "jsontide[studio]"'
    raise ModuleNotFoundError(message, name=error.name) from error

from jsontide.studio._app import create_app, serve

__all__ = ["create_app", "serve"]

publish(__name__, __all__, globals())
