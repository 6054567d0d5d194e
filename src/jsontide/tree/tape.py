"""Tokens in, the storage of a tree out: the sink that all states of one stream share.

A tape is only appended to; a state is a mark on it.
Feeding the newest state appends to its tape; feeding an older one first forks: it copies what that state can see.
A state remembers how many values of a container were complete, so older states stay valid.
The storage of an open container is never handed out, because it still grows; that of a closed one is its value.
An open container is handed out as a *view*: a plain `list` or `dict` of the same values and of the open one in it.
Values are typed as `object` here: compiled code would check a union again at each step.

The log of a tape has an entry for every value, in the order in which they open, so that the index of an entry is the
id of its node: the container it stands in, its key there, where it begins, and the scalar or container itself.
A scalar is logged when it is complete.
Lines and columns of values come from `LineIndex`, which notes only lines in which a value begins: white space takes
no memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Final

from jsontide._errors import Reason
from jsontide._path import Path, Segment
from jsontide._values import MISSING
from jsontide.text import modes
from jsontide.text.grammar import AT_A_VALUE, LITERAL_VALUES
from jsontide.text.numbers import parse_number, round_trips
from jsontide.text.scanner import Scanner
from jsontide.tree.views import NO_STRING, View, Viewable, ViewPool, is_same

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.tree._nodes import NodeIndex
    from jsontide.tree._options import ParserOptions


class Container(Viewable):
    """An array or object."""

    __slots__ = ("after", "closed_at", "node_id", "parent", "place", "start")

    def __init__(self, node_id: i64, parent: Container | None, key: str | None, after: i64) -> None:
        # As `super().__init__`, here and below, which costs twice as much interpreted.
        Viewable.__init__(self, key, 0 if parent is None else parent.depth + 1)
        self.node_id: i64 = node_id
        self.parent: Container | None = parent
        self.after: i64 = after  # the mode after a value in it
        self.place: i64 = 0 if parent is None else parent.count  # complete values before it in the parent
        self.closed_at: i64 = 0  # the step in which it closed, 0 while it is open
        self.start: i64 = 0  # the index of its bracket

    def outer(self) -> Viewable | None:
        return self.parent

    def path(self) -> Path:
        """Return the path of the container; the document has that of its root."""
        segments: list[Segment] = []
        container = self
        while container.depth > 1:
            segments.append(container.place if container.key is None else container.key)
            assert container.parent is not None
            container = container.parent
        segments.reverse()
        return tuple(segments)

    def child_path(self, key: str | None, count: int) -> Path:
        """Return the path of a value in it: of this key, or after `count` others."""
        return () if self.depth == 0 else (*self.path(), count if key is None else key)

    def add(self, key: str | None, value: object) -> None:
        """Append a complete value."""
        raise NotImplementedError

    def value(self) -> object:
        """Return the storage itself: the value of a closed container."""
        raise NotImplementedError

    def close(self, step: i64, view: View) -> object:
        """Close the container; return its final value: the given view of the same content, if any, else the storage."""
        raise NotImplementedError

    def show_past(self, count: i64, key: str | None, child: object) -> object:
        """Return an earlier value: the first `count` values, and `child` if one was open."""
        raise NotImplementedError

    def fork(self, count: i64, parent: Container | None) -> Container:
        """Return a copy with the first `count` values, to be appended to independently."""
        raise NotImplementedError


class ArrayContainer(Container):
    """An array: its storage is the list of its complete values."""

    __slots__ = ("items",)

    def __init__(self, node_id: i64, parent: Container | None, key: str | None, after: i64 = modes.AFTER_ITEM) -> None:
        Container.__init__(self, node_id, parent, key, after)
        self.items: list[object] = []

    def add(self, key: str | None, value: object) -> None:
        self.items.append(value)
        self.count += 1

    def value(self) -> object:
        return self.items

    def close(self, step: i64, view: View) -> object:
        self.closed_at = step
        if isinstance(view, list):
            self.items = view
        return self.items

    def show_past(self, count: i64, key: str | None, child: object) -> object:
        if self.closed_at != 0:
            if child is MISSING:
                if count == self.count:
                    return self.items
            elif count + 1 == self.count and is_same(self.items[count], child):
                return self.items
        view = self.items[:count]
        if child is not MISSING:
            view.append(child)
        return view

    def fork(self, count: i64, parent: Container | None) -> Container:
        fork = ArrayContainer(self.node_id, parent, self.key, self.after)
        fork.start = self.start
        fork.items = self.items[:count]
        fork.count = count
        return fork

    def new_view(self) -> View:
        return self.items.copy()

    def update_view(self, view: View, shown: i64) -> None:
        items: list[object] = view
        if self.count == shown + 1 and len(items) == shown:
            items.append(self.items[shown])
        elif self.count > shown:
            items[shown:] = self.items[shown:]

    def show_child(self, view: View, key: str | None, child: object) -> i64:
        items: list[object] = view
        if len(items) == self.count:
            items.append(child)
        else:
            items[-1] = child
        return self.count


class Replaced:
    """A member that the member numbered `place`, of the same key, replaced: before that, `value` was shown."""

    __slots__ = ("key", "place", "value")

    def __init__(self, place: i64, key: str, value: object) -> None:
        self.place: i64 = place
        self.key: str = key
        self.value: object = value


_NO_KEYS: Final[list[str]] = []  # shared by all closed objects; never appended to


class ObjectContainer(Container):
    """An object: its storage is the dict of its complete members.

    A repeated key overwrites a member of the dict, so replaced values are kept for older states.
    """

    __slots__ = ("keys", "members", "replaced")

    def __init__(self, node_id: i64, parent: Container | None, key: str | None) -> None:
        Container.__init__(self, node_id, parent, key, modes.AFTER_MEMBER)
        self.members: dict[str, object] = {}
        self.keys: list[str] = []  # of its complete members, repeated ones included, while it is open
        self.replaced: list[Replaced] | None = None

    def add(self, key: str | None, value: object) -> None:
        assert key is not None
        members = self.members
        before: i64 = len(members)
        members.setdefault(key, value)
        if len(members) == before:
            if self.replaced is None:
                self.replaced = []
            self.replaced.append(Replaced(self.count, key, members[key]))
            members[key] = value
        self.keys.append(key)
        self.count += 1

    def value(self) -> object:
        return self.members

    def close(self, step: i64, view: View) -> object:
        self.closed_at = step
        self.keys = _NO_KEYS
        if isinstance(view, dict):
            self.members = view
        return self.members

    def show_past(self, count: i64, key: str | None, child: object) -> object:
        if self.closed_at != 0:
            if child is MISSING:
                if count == self.count:
                    return self.members
            elif count + 1 == self.count and key is not None and is_same(self.members[key], child):
                return self.members
        view = self._first(count)
        if child is not MISSING:
            assert key is not None
            view[key] = child
        return view

    def fork(self, count: i64, parent: Container | None) -> Container:
        fork = ObjectContainer(self.node_id, parent, self.key)
        fork.start = self.start
        fork.members = self._first(count)
        fork.keys = list(fork.members)
        fork.count = len(fork.members)  # no older state sees this copy, so replaced values are dropped
        return fork

    def _first(self, count: i64) -> dict[str, object]:
        """Return the members as they were when `count` of them were complete."""
        replaced = self.replaced or []
        if count == self.count and count - len(replaced) == len(self.members):  # not so if adding was interrupted
            return self.members.copy()
        undone = [later for later in replaced if later.place >= count]
        distinct = count - (len(replaced) - len(undone))
        members = dict(islice(self.members.items(), distinct))
        for later in reversed(undone):
            if later.key in members:
                members[later.key] = later.value
        return members

    def new_view(self) -> View:
        return self.members.copy()

    def update_view(self, view: View, shown: i64) -> None:
        members: dict[str, object] = view
        if shown == 0:
            members.clear()
            members.update(self.members)
        else:
            stored = self.members
            keys = self.keys
            while shown < self.count:
                key = keys[shown]
                members[key] = stored[key]
                shown += 1

    def show_child(self, view: View, key: str | None, child: object) -> i64:
        assert key is not None
        members: dict[str, object] = view
        members[key] = child
        return self.count


class LineIndex:
    """The lines of a text in which values begin, by the index of their first character; the first is not noted.

    Most noted lines follow each other; the number of a line is noted only where lines before it were left out.
    """

    __slots__ = ("gap_numbers", "gaps", "last_number", "starts")

    def __init__(self, starts: array[int], gaps: array[int], gap_numbers: array[int]) -> None:
        self.starts: array[int] = starts
        self.gaps: array[int] = gaps  # places in `starts` before which lines are left out
        self.gap_numbers: array[int] = gap_numbers  # the numbers of the lines there, counted from 1
        self.last_number: i64 = self._number(len(starts) - 1)

    def note(self, number: i64, start: i64) -> None:
        """Add a line."""
        if number != self.last_number + 1:
            self.gaps.append(len(self.starts))
            self.gap_numbers.append(number)
        self.starts.append(start)
        self.last_number = number

    def position(self, index: i64) -> tuple[int, int]:
        """Return line and column of a place in a line that is noted."""
        at = bisect_right(self.starts, index) - 1
        return self._number(at), index + 1 if at < 0 else index - self.starts[at] + 1

    def _number(self, at: int) -> int:
        gap = bisect_right(self.gaps, at) - 1
        return 2 + at if gap < 0 else self.gap_numbers[gap] + at - self.gaps[gap]

    def until(self, index: i64) -> LineIndex:
        """Return a copy with the lines that begin up to an index."""
        count = bisect_right(self.starts, index)
        gap_count = bisect_left(self.gaps, count)
        return LineIndex(self.starts[:count], self.gaps[:gap_count], self.gap_numbers[:gap_count])

    def is_same_until(self, other: LineIndex, index: i64) -> bool:
        """Return whether two texts have the same lines up to an index at which a value begins."""
        mine, theirs = self.until(index), other.until(index)
        return (mine.starts, mine.gaps, mine.gap_numbers) == (theirs.starts, theirs.gaps, theirs.gap_numbers)


class Tape(Scanner):
    """A scanner that stores what it reads."""

    __slots__ = (
        "changed_step",
        "document",
        "entries",
        "floats",
        "hidden_levels",
        "is_duplicate",
        "keep_first",
        "keys",
        "known_keys",
        "lexemes",
        "lines",
        "member_key",
        "node_index",
        "noted_start",
        "options",
        "owners",
        "refuse_duplicates",
        "settled_step",
        "shown_step",
        "starts",
        "top",
        "views",
    )

    def __init__(self, options: ParserOptions) -> None:
        super().__init__(options.limits, ignore_trailing=options.trailing == "ignore")
        self.options: ParserOptions = options
        self.keep_first: bool = options.duplicate_keys == "first"
        self.refuse_duplicates: bool = options.duplicate_keys == "error"
        self.floats: str = options.floats

        self.document: Container = ArrayContainer(-1, None, None, modes.DONE)
        self.top: Container = self.document  # the innermost open container
        self.member_key: str | None = None  # the last key in it
        self.is_duplicate: bool = False  # it is not shown: an earlier member has the same key
        self.known_keys: dict[str, str] = {}  # equal keys are one object

        self.owners: list[Container] = []
        self.keys: list[str | None] = []
        self.entries: list[object] = []
        # Where scalars begin in their container, a string after its quote: small numbers, which are shared objects.
        self.starts: list[int] = []
        self.lexemes: dict[int, str] = {}  # of numbers that Python would write differently
        self.node_index: NodeIndex | None = None  # made with the first node
        self.lines: LineIndex = LineIndex(array("q"), array("q"), array("q"))
        self.noted_start: i64 = 0  # where the last line of `lines` begins

        self.changed_step: i64 = 0  # the last step that changed something visible
        self.hidden_levels: i64 = 0  # above 0 inside members that are not shown
        self.settled_step: i64 = 0  # the last step that was not interrupted
        self.views: ViewPool = ViewPool(self.document)
        self.shown_step: i64 = 0  # the step that the views show, -1 while they change or if that was interrupted

    def open_object(self) -> None:
        self._open(ObjectContainer(self.node_count - 1, self.top, self.member_key))

    def open_array(self) -> None:
        self._open(ArrayContainer(self.node_count - 1, self.top, self.member_key))

    def _open(self, container: Container) -> None:
        if not self.hidden_levels:
            self.changed_step = self.step
        container.is_duplicate = self.is_duplicate
        self.log(container)
        self.top = container
        self.member_key = None
        self.is_duplicate = False

    def close_container(self) -> i64:
        container = self.top
        parent = container.parent
        assert parent is not None  # the document does not close
        view: object = None
        if self.changed_step <= self.shown_step and self.hidden_levels == 0:
            # Nothing has changed since it was shown: the view of this container stays, for good.
            view = self.views.newest.views[container.depth]
        self.top = parent
        self.is_duplicate = container.is_duplicate
        self.attach(container.key, container.close(self.step, view))
        self.member_key = None
        return parent.after

    def key(self, text: str) -> Reason | None:
        key = self.known_keys.setdefault(text, text)
        self.member_key = key
        if self.keep_first or self.refuse_duplicates:
            top = self.top
            assert isinstance(top, ObjectContainer)
            if key in top.members:
                if self.refuse_duplicates:
                    return Reason.DUPLICATE_KEY
                self.is_duplicate = True
                self.hidden_levels += 1
        return None

    def string(self, text: str) -> None:
        # Not if the chunk begins with the closing quote: then all of it was shown before.
        if self.token_end > self.base and not self.hidden_levels:
            self.changed_step = self.step
        self.add(text)

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        value = parse_number(lexeme, is_integer, self.floats)
        if value is None:
            return Reason.NUMBER_OUT_OF_RANGE
        if not round_trips(lexeme, is_integer) or not (is_integer or self.floats == "float"):
            self.lexemes[self.node_count - 1] = lexeme
        if not self.hidden_levels:
            self.changed_step = self.step
        self.add(value)
        return None

    def literal(self, word: str) -> None:
        if not self.hidden_levels:
            self.changed_step = self.step
        self.add(LITERAL_VALUES[word])

    def add(self, value: object) -> None:
        """Add a complete scalar: `log` and `attach` in one."""
        top = self.top
        key = self.member_key
        self.owners.append(top)
        self.keys.append(key)
        self.entries.append(value)
        self.starts.append(self.token_start - top.start)
        if self.line[1] != self.noted_start:
            self._note_line()
        if self.is_duplicate:
            self.is_duplicate = False
            self.hidden_levels -= 1
        else:
            top.add(key, value)

    def log(self, container: Container) -> None:
        """Append a container to the log: its index there is its id."""
        container.start = self.token_start
        self.owners.append(self.top)
        self.keys.append(self.member_key)
        self.entries.append(container)
        self.starts.append(0)
        if self.line[1] != self.noted_start:
            self._note_line()

    def start_of(self, node_id: int) -> int:
        """Return where a value begins."""
        entry = self.entries[node_id]
        return entry.start if isinstance(entry, Container) else self.owners[node_id].start + self.starts[node_id]

    def first_starts(self, count: int) -> list[int]:
        """Return where the first `count` values begin."""
        return [self.start_of(node_id) for node_id in range(count)]

    def restore_lines(self, lines: LineIndex) -> None:
        """Take over the lines in which values begin."""
        self.lines = lines
        self.noted_start = lines.starts[-1] if lines.starts else 0

    def _note_line(self) -> None:
        """Note the current line, because a value begins in it."""
        number, start = self.line
        self.noted_start = start
        self.lines.note(number, start)

    def attach(self, key: str | None, value: object) -> None:
        """Add a complete value to the innermost open container."""
        if self.is_duplicate:
            self.is_duplicate = False
            self.hidden_levels -= 1
        else:
            self.top.add(key, value)

    def show(self) -> object:
        """Return the value of the root as it is now."""
        views = self.views
        shown: i64 = self.shown_step
        if self.changed_step > shown:
            if shown < 0:
                self.views = views = ViewPool(self.document)
            self.shown_step = -1
            pieces = self.pieces
            if views.text_id == self.node_count and self.mode == modes.STRING:
                is_shown = views.newest.append_text(pieces, len(pieces))
            else:
                views.top = self.top
                if self.mode == modes.STRING and not self.is_duplicate:
                    views.text_id = self.node_count
                    views.key = self.member_key
                    views.pieces = pieces
                    views.piece_count = len(pieces)
                else:
                    views.text_id = NO_STRING
                is_shown = views.newest.update(views)
            if not is_shown:
                views.piece_count = len(pieces)  # of a string that has only grown
                views.switch()
            self.shown_step = self.step
        document = views.newest.document
        return document[0] if document else MISSING

    def path(self) -> Path:
        top = self.top
        return top.child_path(self.member_key, top.count) if self.mode in AT_A_VALUE else top.path()
