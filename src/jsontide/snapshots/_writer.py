"""One snapshot in, the text that it adds out.

Where something new appears in a container, everything that is open inside it is complete: it is closed, and the new
values are written, in the outermost such container.
Of several new values in one object only the last can still grow, and which one that is cannot be known, because the
order of keys means nothing: they wait until one of them changes, or something later appears.

Rule: a frame is written to only after `fork`, so that the state before never changes, even if this step fails.
`Memo` knows which values wait to be filled and which have changed; both are asked at each level on the way down to the
value that grows, and no value is searched again: an answer found deep inside holds for all containers around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from jsontide._path import Segment
from jsontide._textbuffer import ends_in_surrogate
from jsontide._values import (
    ARRAY,
    LITERAL,
    MISSING,
    NUMBER,
    OBJECT,
    STRING,
    TOO_DEEP,
    check_depth,
    check_key,
    check_number,
    json_type,
    number_text,
    quote,
    write_value,
)
from jsontide.snapshots._conflicts import (
    Conflict,
    changed_members,
    find_conflict,
    find_difference,
    has_value_at,
    is_beginning,
    is_empty,
    open_key,
)
from jsontide.snapshots._reader import read_whole
from jsontide.snapshots._state import SnapshotState, WriteFrame
from jsontide.text.options import MAX_LIMIT

if TYPE_CHECKING:
    from mypy_extensions import i64


_ID: Final[Any] = id  # of any type, so that the integer stays Python's: compiled code ends where it cannot make one
_MOST_SKELETON: Final = 1_000_000
"""Values in a skeleton; one that contains itself has more."""


def certain_length(text: str) -> i64:
    """Return how much of a growing string is certain: the first half of a surrogate pair is not."""
    n: i64 = len(text)
    return n - 1 if ends_in_surrogate(text) else n


class Memo:
    """Answers for the values of one snapshot, which does not change meanwhile."""

    __slots__ = ("_changed", "_visible", "empties_wait", "nulls_wait")

    def __init__(self, empties_wait: bool, nulls_wait: bool) -> None:
        self.empties_wait: bool = empties_wait  # empty strings, arrays and objects are not written before they fill
        self.nulls_wait: bool = nulls_wait  # null is not written before something else takes its place
        # By identity; holding the objects keeps their identities from being used again.
        self._visible: dict[Any, Any] = {}
        self._changed: dict[Any, list[Any]] = {}  # the value before, and now

    def is_visible(self, value: Any) -> bool:
        """Return whether a value is, or holds, anything that does not wait to be filled."""
        return not ((self.empties_wait or self.nulls_wait) and self._is_skeleton(value))

    def has_changed(self, before: Any, now: Any) -> bool:
        """Return whether a value has changed."""
        known = self._changed.get(_ID(now))
        if known is not None and known[0] is before:
            return True
        found = find_difference(before, now)
        if found is None:
            return False
        for segment in found.path():
            self._changed[_ID(now)] = [before, now]
            if not (has_value_at(before, segment) and has_value_at(now, segment)):
                break
            before = before[segment]
            now = now[segment]
        return True

    def _is_skeleton(self, value: Any) -> bool:
        containers: list[Any] = []  # the containers around the current value
        left: list[Iterator[Any]] = [iter([value])]  # and the values left in each
        seen: i64 = 0
        while left:
            each: Any = next(left[-1], MISSING)
            if each is MISSING:
                left.pop()
                if containers:
                    containers.pop()
                continue
            kind = json_type(each)
            if kind <= OBJECT and kind != STRING and len(each) > 0 and _ID(each) not in self._visible:
                containers.append(each)
                left.append(iter(each.values()) if kind == OBJECT else iter(each))
            elif not self._waits(each):
                for container in containers:
                    self._visible[_ID(container)] = container
                return False
            seen += 1
            if seen > _MOST_SKELETON:
                raise ValueError(TOO_DEEP)
        return True

    def _waits(self, value: Any) -> bool:
        """Return whether a value is null or empty, and of a kind that waits."""
        if value is None:
            return self.nulls_wait
        return self.empties_wait and is_empty(value)


class SnapshotWriter:
    """Adds one snapshot to the written text."""

    def __init__(self, state: SnapshotState, snapshot: Any, is_text: bool) -> None:
        options = state._options
        self.keeps_order: bool = options.key_order == "kept"
        self.numbers_grow: bool = options.numbers == "grow"
        self.memo: Memo = Memo(options.empty == "late", options.nulls == "late")
        self.max_wait: i64 = 0 if options.max_wait is None else min(options.max_wait, MAX_LIMIT)
        self.ensure_ascii: bool = options.ensure_ascii

        self.frames: list[WriteFrame] = [frame if frame.is_newest() else frame.fork() for frame in state._frames]
        self.shared: i64 = len(self.frames)  # how many of them may belong to a state
        self.open_string: str | None = state._open_string  # the open string, as far as it is written
        self.open_string_key: Segment = state._open_string_key
        self.held: str = ""  # half a surrogate pair after it, not written yet
        self.length: i64 = state._length  # characters written
        self.waited: i64 = state._waited  # snapshots since values began to wait
        self.is_text: bool = is_text  # the snapshot came as text
        self.found: list[Any] = [[snapshot]]  # the snapshot's value for each frame
        self.out: list[str] = []

    def find_conflict(self, is_exact: bool) -> Conflict | None:
        """Compare the snapshot with the written text; `==` is exact if all snapshots came as text."""
        return find_conflict(self.frames, self.open_string, self.open_string_key, self.found, is_exact)

    def repair(self, conflict: Conflict) -> bool:
        """Let the innermost open object that can hold it write the member again; return whether there is one.

        All other members of that object that have changed are written again too.
        """
        level: i64 = conflict.level
        key = conflict.key
        while level > 0 and self.frames[level].members is None:
            key = self.frames[level].key
            level -= 1
        if level <= 0:
            return False
        frame = self.frames[level].fork()
        self.frames[level] = frame
        members = frame.members
        assert members is not None  # the loop ended at an object
        if key not in members:
            self._break_off(level)
            frame.forget([key])
        else:
            frame.forget(changed_members(members, self.found[level]))
        del self.found[level + 1 :]
        return True

    def adopt(self) -> None:
        """Replace closed values by the equal objects of the snapshot, which later snapshots will share."""
        self.frames = [
            frame.replace_objects(found) if is_beginning(frame, found) else frame
            for frame, found in zip(self.frames, self.found, strict=True)
        ]

    def write_news(self) -> None:
        """Write what the snapshot adds, once it has no conflict."""
        level = self._find_news()
        if level < 0:
            self._extend_string(self.found[-1][self.open_string_key])
        else:
            self._close_down_to(level)
            while self._settle():
                pass
        self._remember()

    def finish(self) -> None:
        """Write the rest of the snapshot, once it has no conflict, and close everything."""
        self._close_down_to(0)
        self._write_all(self._unwritten(0, False), self.found[0])

    def _find_news(self) -> i64:
        """Return the level of the outermost frame with something new, or of the innermost if nothing is open in it."""
        top: i64 = len(self.frames) - 1
        for level in range(top + 1):
            if (level == top and self.open_string is None) or self._has_news(level):
                return level
        return -1

    def _has_news(self, level: i64) -> bool:
        """Return whether something came after the open value of a frame."""
        frame = self.frames[level]
        found: Any = self.found[level]
        if len(found) == frame.count + 1:
            return False
        in_order = frame.members is None or self.keeps_order
        for key in self._unwritten(level, True):
            value: Any = found[key]
            if self._is_final(value) or frame.must_rewrite(key):
                return True
            if self.memo.is_visible(value) and (in_order or self._has_changed(frame, key, value)):
                return True
        return False

    def _has_changed(self, frame: WriteFrame, key: Segment, value: Any) -> bool:
        """Return whether a value is new, or differs from when it began to wait."""
        if not self._is_known(frame.waiting, key):
            return True
        return not is_empty(value) and self.memo.has_changed(frame.waiting[key], value)

    def _is_known(self, waiting: dict[Segment, Any], key: Segment) -> bool:
        """Return whether a value has waited; a skeleton that fills counts as new."""
        return key in waiting and self.memo.is_visible(waiting[key])

    def _unwritten(self, level: i64, has_open: bool) -> list[Any]:
        """Return the keys or indices of values that are neither closed nor open, in the order of the snapshot."""
        frame = self.frames[level]
        found: Any = self.found[level]
        members = frame.members
        if members is None:
            return list(range(frame.count + 1 if has_open else frame.count, len(found)))
        keys = [key for key in found if key not in members]
        for key in keys:
            check_key(key)
        if has_open:
            keys.remove(open_key(self.frames, level, self.open_string_key))
        return keys

    def _is_final(self, value: Any) -> bool:
        kind = json_type(value)
        if kind == NUMBER:
            check_number(value, self.is_text)
            if self.numbers_grow:
                number_text(value)  # an invalid number raises now, not after it has waited
            return not self.numbers_grow
        return kind == LITERAL and not (value is None and self.memo.nulls_wait)

    def _top(self) -> WriteFrame:
        """Return the innermost frame, to be written to."""
        last: i64 = len(self.frames) - 1
        if last < self.shared:
            self.frames[last] = self.frames[last].fork()
            self.shared = last
        return self.frames[last]

    def _settle(self) -> bool:
        """Write the certain values of the innermost frame; return whether that opened another one."""
        found: Any = self.found[-1]
        if len(found) == self.frames[-1].count:
            return False
        keys = self._unwritten(len(self.frames) - 1, False)
        top = self.frames[-1]
        if top.to_rewrite is not None:
            to_rewrite = [key for key in keys if top.must_rewrite(key)]
            keys = [key for key in keys if not top.must_rewrite(key)]
            # A member that is written wrong does not wait: the text must show what the snapshot holds.
            if not keys and json_type(found[to_rewrite[-1]]) <= OBJECT:
                self._write_all(to_rewrite[:-1], found)
                return self._open(to_rewrite[-1], found[to_rewrite[-1]], None)
            self._write_all(to_rewrite, found)
        if self.frames[-1].members is None or self.keeps_order:
            return self._settle_in_order(keys, found)
        return self._settle_in_any_order(keys, found)

    def _settle_in_order(self, keys: list[Any], found: Any) -> bool:
        """Write all but the last visible value, and open that one."""
        last: i64 = len(keys) - 1
        while last >= 0 and not self.memo.is_visible(found[keys[last]]):
            last -= 1
        if last < 0:
            return False
        for key in keys[:last]:
            self._write(key, found[key])
        key = keys[last]
        value: Any = found[key]
        if self._is_final(value):
            self._write(key, value)
            return False
        before: Any = self.frames[-1].waiting.get(key)
        if json_type(value) <= OBJECT:
            return self._open(key, value, before)
        is_new = before is None or self.memo.has_changed(before, value)
        if self._waited_enough(is_new):
            self._write(key, value)
        return False

    def _settle_in_any_order(self, keys: list[Any], found: Any) -> bool:
        """Write the complete values, and open the one that can grow, if it is known."""
        waiting = self.frames[-1].waiting
        new: list[Any] = []
        changed: list[Any] = []
        same: list[Any] = []
        is_later = False  # something came after the values that waited
        for key in keys:
            value: Any = found[key]
            is_known = self._is_known(waiting, key)
            if self._is_final(value):
                self._write(key, value)
                is_later = is_later or not is_known
            elif not self.memo.is_visible(value) or (is_known and is_empty(value)):
                continue  # it can be written when it fills
            elif not is_known:
                new.append(key)
            elif self.memo.has_changed(waiting[key], value):
                changed.append(key)
            else:
                same.append(key)
        is_later = is_later or len(new) > 0
        if not is_later and len(changed) != 1:
            self._defer(same + changed, found, False)
            return False
        self._write_all(same, found)
        if is_later:
            self._write_all(changed, found)
        candidates = new if is_later else changed
        if len(candidates) != 1 or json_type(found[candidates[0]]) > OBJECT:
            self._defer(candidates, found, len(new) > 0)
            return False
        key = candidates[0]
        return self._open(key, found[key], waiting.get(key))

    def _defer(self, undecided: list[Any], found: Any, is_new: bool) -> None:
        """Let values wait until it is clear which one grows, but not beyond `max_wait`; empty ones wait in any case."""
        if undecided and self._waited_enough(is_new):
            self._write_all([key for key in undecided if not is_empty(found[key])], found)

    def _waited_enough(self, is_new: bool) -> bool:
        """Count a snapshot that leaves open which value grows; return whether `max_wait` is reached."""
        self.waited = 0 if is_new else self.waited + 1
        return self.max_wait > 0 and self.waited >= self.max_wait

    def _remember(self) -> None:
        """Save in each frame the values that are known but not written."""
        top: i64 = len(self.frames) - 1
        for level in range(top + 1):
            frame = self.frames[level]
            has_open = level < top or self.open_string is not None
            if len(self.found[level]) == frame.count + has_open and not frame.waiting:
                continue
            if level < self.shared:
                frame = self.frames[level] = frame.fork()
            found: Any = self.found[level]
            frame.waiting = {key: self._freeze(found[key]) for key in self._unwritten(level, has_open)}

    def _freeze(self, value: Any) -> Any:
        """Return a value that cannot change: a container that was passed in is copied."""
        kind = json_type(value)
        if self.is_text or (kind != ARRAY and kind != OBJECT):
            return value
        parts: list[str] = []
        write_value(value, True, False, parts)
        return read_whole("".join(parts))

    def _open(self, key: Segment, value: Any, before: Any) -> bool:
        """Write the beginning of a value that may grow; return whether it is a container, whose values come next.

        `before` is the value as it waited, if it did: it shows which of its own values are new.
        """
        self._write_key(key)
        self.waited = 0
        kind = json_type(value)
        if kind == STRING:
            self.open_string = ""
            self.open_string_key = key
            self._emit('"')
            self._extend_string(value)
            return False
        check_depth(len(self.frames) - 1)  # the document is not a container
        waiting: dict[Segment, Any] = before if isinstance(before, dict) else {}
        if isinstance(before, list):
            waiting = dict(enumerate(before))
        self.frames.append(WriteFrame(key, kind == OBJECT, self.length, waiting))
        self.found.append(value)
        self._emit("{" if kind == OBJECT else "[")
        return True

    def _write_all(self, keys: list[Any], found: Any) -> None:
        for key in keys:
            self._write(key, found[key])

    def _write(self, key: Segment, value: Any) -> None:
        """Write a complete value."""
        self._write_key(key)
        parts: list[str] = []
        is_loose = write_value(value, self.ensure_ascii, self.is_text, parts)
        self._emit("".join(parts))
        self._close(key, value, is_loose)

    def _write_key(self, key: Segment) -> None:
        """Write the comma and the key before a value in the innermost frame."""
        frame = self._top()
        if frame.is_begun:
            self._emit(",")
        frame.is_begun = True
        if isinstance(key, str):
            self._emit(quote(key, self.ensure_ascii) + ":")

    def _close(self, key: Segment, value: Any, is_loose: bool) -> None:
        """Add a closed value to the innermost frame."""
        frame = self._top()
        frame.add(key, value)
        frame.is_loose = frame.is_loose or is_loose

    def _emit(self, text: str) -> None:
        self.out.append(text)
        self.length += len(text)

    def _extend_string(self, value: str) -> None:
        """Write the new part of the open string."""
        open_string = self.open_string
        assert open_string is not None  # the caller has opened it
        length: i64 = max(certain_length(value), len(open_string))
        if length > len(open_string):
            self._emit(quote(value[len(open_string) : length], self.ensure_ascii)[1:-1])
            self.open_string = value[:length]
        self.held = value[length:]

    def _close_down_to(self, level: i64) -> None:
        """Complete everything that is open inside a frame."""
        open_string = self.open_string
        if open_string is not None:
            value: str = self.found[-1][self.open_string_key]
            self._emit(quote(value[len(open_string) :], self.ensure_ascii)[1:])
            self.open_string = None
            self._close(self.open_string_key, value, False)
        while len(self.frames) - 1 > level:
            self._close_top()

    def _close_top(self) -> None:
        found: Any = self.found[-1]
        if len(found) != self.frames[-1].count:
            self._write_all(self._unwritten(len(self.frames) - 1, False), found)
        self.found.pop()
        frame = self._leave()
        self._close(frame.key, found, frame.is_loose)

    def _leave(self) -> WriteFrame:
        """Write the closing bracket of the innermost frame."""
        frame = self.frames.pop()
        self._emit("]" if frame.members is None else "}")
        self.shared = min(self.shared, len(self.frames))
        return frame

    def _break_off(self, level: i64) -> None:
        """Close everything that is open inside a frame as it is, to be written again."""
        if self.open_string is not None:
            self._emit('"')
            self.open_string = None
        while len(self.frames) - 1 > level:
            self._leave()
