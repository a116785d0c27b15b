"""`Offloader`: ties policy, format and archive together for one session."""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from offloadkit.announcements import Announcements
from offloadkit.archive import Archive
from offloadkit.backend import Backend
from offloadkit.breaker import CircuitBreaker
from offloadkit.content import content_of
from offloadkit.departure import Departures
from offloadkit.errors import ConfigError
from offloadkit.events import Event, UsageReported
from offloadkit.formats import format_named, format_of
from offloadkit.guard import GuardedArchive
from offloadkit.history import Standing, content_units
from offloadkit.policy import Plan, Policy
from offloadkit.previews import check_kind
from offloadkit.read_tool import ReadTool
from offloadkit.reader import Reader
from offloadkit.reading import ReadRequest
from offloadkit.reducer import Reducer
from offloadkit.registry import open_backend
from offloadkit.restoring import restore
from offloadkit.results import Place, ResultView, ToolResult
from offloadkit.statistics import Counts
from offloadkit.tokens import drift, token_counter, tool_definition_tokens
from offloadkit.usage import Comparison, compare

__all__ = ["Offloader"]

READ_TOOL_NAME = "read_offloaded"
_log = logging.getLogger("offloadkit")
_T = TypeVar("_T")


class Offloader:
    """Keeps large and old tool results of one session out of the context, and within reach.

    Safe to use from many threads. `aoffload`, `areduce`, `aread` and `arestore` do the same in a
    worker thread.

    Attributes:
        policy: What is offloaded and cleared.
        session: Whose conversation this is.
        namespace: Whose session.
        read_tool: The agent's tool, with its definition for each API; ``read_tool.call(arguments)`` answers.
    """

    def __init__(
        self,
        backend: str | Backend | None,
        *,
        session: str | None = None,
        namespace: str = "default",
        policy: Policy | None = None,
        ttl: float | None = None,
        read_tool_name: str = READ_TOOL_NAME,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """Make an offloader. Nothing is opened or written before the first result leaves.

        Args:
            backend: A config URL, a `Backend` (which stays yours to close), or None for clear-only mode: old
                results become the bare placeholder, nothing is stored, nothing is offloaded.
            session: Whose conversation this is, such as a thread or run id. References open in the same
                session only, in any process. Without one a new random session is made.
            namespace: The tenant or application that the session belongs to.
            policy: What to offload and clear; by default ``Policy()``.
            ttl: Seconds after which a stored result expires, or None for never.
            read_tool_name: The name of the agent's read tool.
            on_event: Receives what happens; see `offloadkit.events`.

        Raises:
            ConfigError: A URL, a policy or a name that cannot be meant.
        """
        _check_arguments(session, namespace, policy, ttl)
        self.policy = policy if policy is not None else Policy()
        self.session = session if session is not None else uuid.uuid4().hex
        self.namespace = namespace
        for rule in self.policy.tools.values():
            if rule.preview is not None:
                check_kind(rule.preview)
        self._counter = token_counter(self.policy.token_counter)
        self._announcements = Announcements(self.session, self._counter, on_event)
        self._owned = open_backend(backend) if isinstance(backend, str) else None
        self._guard = self._guarded(self._owned or backend, ttl)
        self._reader = Reader(
            self._guard,
            session=self.session,
            page_tokens=self.policy.page_tokens,
            counter=self._counter,
            tool_name=read_tool_name,
            emit=self._announcements.emit,
        )
        self.read_tool = ReadTool(read_tool_name, self._reader.answer)
        self._departures = Departures(self._guard, self._announcements, self._reader)
        self._reducer = Reducer(self.policy, self._counter, self._guard, self._departures, read_tool_name)
        if session is None and self._guard is not None and self._guard.archive.backend.caps.persistent:
            _log.warning(
                "no session was given: what is stored opens with session=%r only; pass an id of your own",
                self.session,
            )

    def offload(
        self,
        result: Any,
        *,
        tool: str | None = None,
        call_id: str | None = None,
        is_error: bool = False,
        format: str = "openai-chat",
    ) -> Any:
        """Return what the model should see of a tool's result.

        Args:
            result: What the tool returned: text, a list of blocks, bytes, any value.
            tool: The tool's name.
            call_id: The call's id; it stands in events and nowhere else.
            is_error: True when the tool failed.
            format: The message format whose blocks a list holds.

        Returns:
            The same object when it stays: it is small, excluded, the read tool's own, or the store failed.
            Else a text with a preview and the reference, or a list of blocks when other parts stay.

        Raises:
            FormatError: No format has this name.
        """
        if self._guard is None or tool == self.read_tool.name:
            return result
        message_format = format_named(format)
        content = content_of(result, message_format.split)
        size = content_units(content, self._counter)
        limit = self.policy.offload_limit(tool)
        if limit is None or self._counter.tokens(size) <= limit:
            return result
        about = ToolResult(Place(0), 0, tool, size, is_error=is_error, media=len(content.media))
        standing = Standing(ResultView(Place(0), call_id, tool, content, is_error), about, None, None)
        made = self._reducer.replacements(lambda _: standing, message_format).for_offloading(Place(0))
        if made is None or made.size >= size or not self._departures.store(made, anew=True):
            return result
        self._announcements.left("offload", standing, made.placeholder, before=size, after=made.size)
        self._departures.note_call(standing, made.placeholder)
        return made.content

    def reduce(self, messages: Sequence[Any], *, format: str | None = None) -> list[Any]:
        """Return the messages with large and old results replaced; nothing else changes.

        The same messages, policy and session give the same bytes. Messages that stay are the same objects;
        the input is not changed. A result whose write failed stays in place.

        Args:
            messages: The history, as it was or as `reduce` returned it before.
            format: The message format; recognised when not given.

        Raises:
            FormatError: Messages of no known or of another format.
        """
        return self._reducer.reduce(messages, format)

    def plan(self, messages: Sequence[Any], *, format: str | None = None) -> Plan:
        """Return the decisions that `reduce` would make, with their reasons. Nothing is written.

        Raises:
            FormatError: Messages of no known or of another format.
        """
        return self._reducer.plan(messages, format)[1]

    def compare(self, messages: Sequence[Any], *, format: str | None = None) -> Comparison:
        """Return what all model calls of this history send, without and with reduction. Nothing is written.

        Raises:
            FormatError: Messages of no known or of another format.
        """
        entries, plan = self._reducer.plan(messages, format)
        return compare(entries, plan, self._counter)

    def report_usage(
        self,
        messages: Sequence[Any],
        input_tokens: int,
        *,
        tools: Iterable[Any] = (),
        format: str | None = None,
    ) -> float:
        """Tell what the provider counted for a request, and return how far the estimate is off.

        It is an event (`offloadkit.events.UsageReported`) and changes no decision: decisions that moved
        during a session would change the prompt's prefix. `offloadkit.tokens.calibrate` makes a counter of
        such reports for the next one.

        Args:
            messages: What was sent.
            input_tokens: What the provider reported, cached tokens included.
            tools: The tool definitions that were sent with them.
            format: The message format; recognised when not given.

        Returns:
            Reported over estimated tokens; above 1.0 the estimate is too low.

        Raises:
            FormatError: Messages of no known or of another format.
        """
        entries = self._reducer.entries(messages, format)
        sizes = (entry.size + sum(result.size for result in entry.results) for entry in entries)
        estimated = sum(self._counter.tokens(size) for size in sizes)
        estimated += tool_definition_tokens(tools, self._counter)
        off_by = drift(estimated, input_tokens)
        self._announcements.emit(
            UsageReported(session=self.session, estimated=estimated, reported=input_tokens, drift=off_by)
        )
        return off_by

    @property
    def statistics(self) -> Counts:
        """Counts of what happened so far."""
        return self._announcements.counts

    def read(
        self,
        ref: str | Sequence[str] | None = None,
        *,
        offset: int | None = None,
        limit: int | None = None,
        column: int | None = None,
        search: str | None = None,
        regex: str | None = None,
        context: int | None = None,
        query: str | None = None,
    ) -> str:
        """Return what the read tool answers; see `offloadkit.reading.ReadRequest`.

        Never raises for what is asked. Without a reference it lists what this session has stored.
        """
        refs = _references(ref)
        return self._reader.answer(
            ReadRequest(
                refs=refs,
                offset=offset,
                limit=limit,
                column=column,
                search=search,
                regex=regex,
                context=context,
                query=query,
            )
        )

    def restore(self, messages: Sequence[Any], *, format: str | None = None) -> list[Any]:
        """Return the messages with every original back in its place.

        A text that only looks like a placeholder, or whose reference no longer opens, stays; it is logged and
        told as an event (`offloadkit.events.RestoreMissed`).

        Raises:
            FormatError: Messages of no known or of another format.
            BackendError: The store failed, or what it holds fails its checksum.
        """
        message_format = format_of(messages, format)
        if self._guard is None:
            return message_format.replace(messages, {})
        return restore(message_format, messages, self._guard.archive, self._announcements.emit)

    async def aoffload(self, result: Any, **options: Any) -> Any:
        """Do as `offload` does, in a worker thread."""
        return await _in_thread(partial(self.offload, result, **options))

    async def areduce(self, messages: Sequence[Any], **options: Any) -> list[Any]:
        """Do as `reduce` does, in a worker thread."""
        return await _in_thread(partial(self.reduce, messages, **options))

    async def aread(self, ref: str | Sequence[str] | None = None, **options: Any) -> str:
        """Do as `read` does, in a worker thread."""
        return await _in_thread(partial(self.read, ref, **options))

    async def arestore(self, messages: Sequence[Any], **options: Any) -> list[Any]:
        """Do as `restore` does, in a worker thread."""
        return await _in_thread(partial(self.restore, messages, **options))

    def close(self) -> None:
        """Close the backend, if a URL named it. Twice is fine."""
        if self._owned is not None:
            self._owned.close()

    async def aclose(self) -> None:
        """Do as `close` does, in a worker thread."""
        await _in_thread(self.close)

    def __enter__(self) -> Self:
        """Return the offloader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the offloader itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    def _guarded(self, backend: Backend | str | None, ttl: float | None) -> GuardedArchive | None:
        if backend is None:
            return None
        if not isinstance(backend, Backend):
            raise ConfigError(
                f"backend takes a URL, an object with the methods of offloadkit.backend.Backend, or None, "
                f"not {type(backend).__name__}"
            )
        archive = Archive(backend, session=self.session, namespace=self.namespace, ttl=ttl)
        return GuardedArchive(archive, CircuitBreaker(), self._announcements.emit)


def _references(ref: Any) -> tuple[str, ...]:
    """Return the references in whatever was passed as one."""
    if isinstance(ref, list | tuple):
        return tuple(str(one) for one in ref)
    return () if ref is None else (str(ref),)


def _check_arguments(session: Any, namespace: Any, policy: Any, ttl: Any) -> None:
    if session is not None and not isinstance(session, str):
        raise ConfigError(f"session takes text or None, not {type(session).__name__}; str() it")
    if not isinstance(namespace, str):
        raise ConfigError(f"namespace takes text, not {type(namespace).__name__}")
    if policy is not None and not isinstance(policy, Policy):
        raise ConfigError(f"policy takes a Policy, such as Policy.frugal(), not {type(policy).__name__}")
    if ttl is not None and not (isinstance(ttl, int | float) and 0 < ttl < math.inf):
        raise ConfigError(f"ttl takes seconds above 0 or None, not {ttl!r}")


async def _in_thread(call: Callable[[], _T]) -> _T:
    from anyio import to_thread  # noqa: PLC0415  anyio is loaded by those who use it

    return await to_thread.run_sync(call)
