"""Every Python example in README.md, docs/ and the docstrings of src/ is a test.

Markdown: fenced ``python`` blocks are code, ``pycon`` blocks are ``>>>`` sessions; blocks of one file share names.
Docstrings: ``>>>`` sessions; they see the names of their module.
"""

from collections.abc import Iterable
from doctest import ELLIPSIS, IGNORE_EXCEPTION_DETAIL

from sybil import Document, Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.parsers.rest import DocTestParser

OPTIONS = ELLIPSIS | IGNORE_EXCEPTION_DETAIL


def parse_sessions(document: Document) -> Iterable[Region]:
    """Yield each example of the fenced ``pycon`` blocks."""
    sessions = DocTestStringParser(DocTestEvaluator(OPTIONS))
    for block in FencedCodeBlockLexer("pycon")(document):
        source = block.lexemes["source"]
        for example in sessions(source, document.path):
            example.adjust(block, source)
            yield example


markdown = Sybil(
    name="markdown",
    parsers=[PythonCodeBlockParser(doctest_optionflags=OPTIONS), parse_sessions, SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
)
docstrings = Sybil(
    name="docstrings",
    parsers=[DocTestParser(optionflags=OPTIONS)],
    patterns=["src/jsontide/**/*.py", "src/jsontide/*.py"],
)

pytest_collect_file = (markdown + docstrings).pytest()
