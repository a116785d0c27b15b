"""The list of what a session has stored, for an agent that lost its references."""

from __future__ import annotations

from collections.abc import Sequence

from offloadkit.read_call import render_call
from offloadkit.reading.frame import age, count
from offloadkit.reading.setting import Setting
from offloadkit.reading.stored import ReadRequest, StoredEntry

__all__ = ["listing"]


def listing(entries: Sequence[StoredEntry], request: ReadRequest, setting: Setting) -> str:
    """Return one page of the list, newest first, from the request's offset on."""
    if not entries:
        return setting.words("Nothing is stored in this session.")
    ordered = sorted(entries, key=lambda entry: (-(entry.stored_at or 0.0), entry.ref))
    first = max(request.offset or 1, 1)
    if request.offset is not None and request.offset < 0:
        first = max(len(ordered) + 1 + request.offset, 1)
    if first > len(ordered):
        return setting.words(f"offset={first} lies past the end: {count(len(ordered), 'result')} are stored.")
    rows = [_row(entry, setting) for entry in ordered[first - 1 :][: _most(request.limit)]]

    def page(shown: int) -> str:
        last = first + shown - 1
        head = f"{count(len(ordered), 'stored result')} of this session, newest first: {first:,}-{last:,}."
        more = f"Next: {render_call(setting.tool_name, None, offset=last + 1, limit=request.limit)}"
        return "\n".join([head, *rows[:shown], more if last < len(ordered) else "End of the list."])

    return page(max(setting.largest(page, len(rows)), 1))


def _most(limit: int | None) -> int | None:
    return None if limit is None else max(limit, 1)


def _row(entry: StoredEntry, setting: Setting) -> str:
    tool = f" of {entry.tool}" if entry.tool else ""
    failed = ", failed" if entry.failed else ""
    stored = ""
    if setting.now is not None and entry.stored_at is not None:
        stored = f", {age(setting.now - entry.stored_at)}"
    return f"{entry.ref}: {count(entry.tokens, 'token')}, {count(entry.lines, 'line')}{tool}{failed}{stored}"
