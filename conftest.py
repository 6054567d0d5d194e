"""Every Python example in README.md, docs/ and the docstrings of src/ is a test.

Markdown: fenced ``python`` blocks, plain code or ``>>>`` sessions; blocks of one file share names.
Docstrings: ``>>>`` sessions; they see the names of their module.
"""

from doctest import ELLIPSIS, IGNORE_EXCEPTION_DETAIL

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

OPTIONS = ELLIPSIS | IGNORE_EXCEPTION_DETAIL

markdown = Sybil(
    name="markdown",
    parsers=[PythonCodeBlockParser(doctest_optionflags=OPTIONS), SkipParser()],
    patterns=["README.md", "docs/*.md"],
)
docstrings = Sybil(
    name="docstrings",
    parsers=[DocTestParser(optionflags=OPTIONS)],
    patterns=["src/jsontide/**/*.py", "src/jsontide/*.py"],
)

pytest_collect_file = (markdown + docstrings).pytest()
