"""Docstrings of the reference: a `>>>` session becomes a fenced block, or Markdown takes it for a quotation.

In: docstrings as griffe reads them from the source. Out: the same with fences around each session.
"""

import re

import griffe

SESSION = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class DoctestFences(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = SESSION.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
