"""Which tool results leave the history, and why: the rules and what is decided by them.

`offloadkit.replay` applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, Protocol

from offloadkit.errors import ConfigError
from offloadkit.placeholder import OFFLOADED_WORDS
from offloadkit.results import Place, ToolResult
from offloadkit.tokens import TokenCounter

__all__ = ["Costs", "Decision", "Entry", "Plan", "Policy", "Reason", "ToolRule"]

INHERIT: Final = "inherit"
MAX_LIMIT: Final = 10**12
MAX_PLACEHOLDER_CHARACTERS: Final = 200
MIN_PAGE_TOKENS: Final = 200
"""The smallest page of the read tool: header, fence and next call need up to 150 tokens of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """What holds for one tool, or for the tools that a glob names.

    Attributes:
        offloading_token_limit: In place of the policy's; None = never offload this tool's results.
        clear: False = never clear them.
        preview: The kind of preview to make ("json", "log", …) in place of the recognised one.
    """

    offloading_token_limit: int | Literal["inherit"] | None = INHERIT
    clear: bool = True
    preview: str | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        if self.offloading_token_limit != INHERIT:
            _check_limit("offloading_token_limit", self.offloading_token_limit, optional=True)
        if not isinstance(self.clear, bool):
            raise ConfigError(f"clear takes True or False, not {self.clear!r}")


_NO_RULE = ToolRule()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What to offload and what to clear. All numbers are tokens by ``token_counter``, turns excepted.

    The first five fields and their defaults are those of the tool-result reduction of the Go framework
    eino (``adk/middlewares/reduction``, first generation). With ``clear_at_least_tokens=0``,
    ``keep_recent_turns=0`` and ``token_counter="bytes/4"`` the decisions to clear are exactly its own.

    Attributes:
        clearing_token_threshold: When all uncleared results together hold more tokens than this, old ones
            are cleared. None = never.
        keep_recent_tokens: The messages at the end of the history within this many tokens keep their
            results; the message that crosses the budget still does.
        offloading_token_limit: A result with more tokens than this is offloaded when it first appears.
            None = never.
        placeholder: The first words of what replaces a cleared result.
        exclude_tools: Tools whose results are never cleared or offloaded; they still count.
        token_counter: "bytes", "bytes/4", "tiktoken:NAME", a counter, or a callable on text.
        keep_recent_turns: Results of the last N turns that called tools are never cleared.
        clear_at_least_tokens: Clear only when at least this much is gained, and then all candidates at once.
        batch_token_limit: When the results of one turn together hold more than this, the largest are
            offloaded until they fit. None = no such rule.
        clear_tool_inputs: Also empty the arguments of the calls whose results are cleared.
        preview_tokens: The size of the preview that an offload leaves; its one-line header comes on top.
        page_tokens: The most that one answer of ``read_offloaded`` may hold.
        tools: Rules for single tools, by exact name or glob; the exact name wins, then the first glob.

    Raises:
        ConfigError: A value of the wrong type or below zero, or a bare string for ``exclude_tools``.
    """

    clearing_token_threshold: int | None = 20_000
    keep_recent_tokens: int = 40_000
    offloading_token_limit: int | None = 20_000
    placeholder: str = "[Old tool result content cleared]"
    exclude_tools: Collection[str] = ()
    token_counter: str | Callable[[str], int] | TokenCounter = "bytes"  # noqa: S105  no password
    keep_recent_turns: int = 1
    clear_at_least_tokens: int = 10_000
    batch_token_limit: int | None = None
    clear_tool_inputs: bool = False
    preview_tokens: int = 300
    page_tokens: int = 2_000
    tools: Mapping[str, ToolRule] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the values and freeze the collections."""
        if isinstance(self.exclude_tools, str):
            raise ConfigError(
                f"exclude_tools takes a collection of names, not the text {self.exclude_tools!r}; "
                f"write exclude_tools=({self.exclude_tools!r},)"
            )
        if not isinstance(self.exclude_tools, Collection) or not isinstance(self.tools, Mapping):
            raise ConfigError(
                "exclude_tools takes a collection of names, and tools a mapping of names to rules"
            )
        object.__setattr__(self, "exclude_tools", tuple(self.exclude_tools))
        object.__setattr__(self, "tools", dict(self.tools))
        for name in ("clearing_token_threshold", "offloading_token_limit", "batch_token_limit"):
            _check_limit(name, getattr(self, name), optional=True)
        for name in ("keep_recent_tokens", "keep_recent_turns", "clear_at_least_tokens", "preview_tokens"):
            _check_limit(name, getattr(self, name), optional=False)
        _check_limit("page_tokens", self.page_tokens, optional=False, least=MIN_PAGE_TOKENS)
        _check_placeholder(self.placeholder)
        for name, rule in self.tools.items():
            if not isinstance(rule, ToolRule):
                raise ConfigError(f"tools[{name!r}] takes a ToolRule, not {type(rule).__name__}")

    @classmethod
    def frugal(cls, **changes: Any) -> Policy:
        """Return the preset that does best on real transcripts; ``changes`` replace single fields.

        The figures behind it are printed by ``python benchmarks/policies.py``.
        """
        preset: dict[str, Any] = {
            "offloading_token_limit": 1_000,
            "clearing_token_threshold": 10_000,
            "keep_recent_tokens": 4_000,
            "clear_at_least_tokens": 5_000,
        }
        return cls(**(preset | changes))

    def rule(self, tool: str | None) -> ToolRule:
        """Return the rule for a tool: of its exact name, else of the first glob that matches."""
        if not self.tools or tool is None:
            return _NO_RULE
        if tool in self.tools:
            return self.tools[tool]
        return next((rule for glob, rule in self.tools.items() if fnmatchcase(tool, glob)), _NO_RULE)

    def offload_limit(self, tool: str | None) -> int | None:
        """Return above how many tokens a result of this tool is offloaded, or None for never."""
        if tool in self.exclude_tools:
            return None
        limit = self.rule(tool).offloading_token_limit
        return self.offloading_token_limit if limit == INHERIT else limit

    def may_clear(self, tool: str | None) -> bool:
        """Say whether results of this tool are cleared at all."""
        return tool not in self.exclude_tools and self.rule(tool).clear


class Costs(Protocol):
    """What a result would shrink to, in the counter's units. Asked only when it matters, once a result."""

    def offloaded(self, result: ToolResult) -> int:
        """Return the size of the preview, header and kept media included."""
        ...

    def cleared(self, result: ToolResult) -> int:
        """Return the size of the placeholder."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, as the policy sees it.

    Attributes:
        starts_turn: True when the model produced it: a model call happened just before.
        size: Units of all that is no tool result in it: texts, call arguments, media.
        results: The tool results in it.
    """

    starts_turn: bool
    size: int
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a decision was made; ``str()`` says it in words.

    Attributes:
        rule: The field of the policy that ruled.
        tokens: What was measured.
        limit: What the rule allows.
        gain: Tokens that the whole batch gains (clearing only).
        results: How many results the batch holds (clearing only).
    """

    rule: Literal["offloading_token_limit", "batch_token_limit", "clearing_token_threshold"]
    tokens: int
    limit: int
    gain: int = 0
    results: int = 0

    def __str__(self) -> str:
        """Say why in one line."""
        if self.rule == "offloading_token_limit":
            return f"{self.tokens:,} tokens are above {self.rule} {self.limit:,}"
        if self.rule == "batch_token_limit":
            return f"the results of the turn hold {self.tokens:,} tokens, above {self.rule} {self.limit:,}"
        return (
            f"results hold {self.tokens:,} tokens, above {self.rule} {self.limit:,}; "
            f"clearing {self.results:,} of them gains {self.gain:,}"
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """One result leaves the history.

    Attributes:
        result: Which one, as it stood in the history.
        action: "offload" leaves a preview, "clear" a one-line placeholder.
        point: Before which message it was decided: the length of the history at that model call.
        size_before: Units it held until then.
        size_after: Units it holds from then on.
        reason: Why.
    """

    result: ToolResult
    action: Literal["offload", "clear"]
    point: int
    size_before: int
    size_after: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Plan:
    """What a policy decided for a history, in order. Nothing is written by making one.

    Attributes:
        decisions: All of them; a result may be offloaded first and cleared later.
        tokens_before: Tokens of all results as they stood in the history.
        tokens_after: Tokens of all results after the decisions.
    """

    decisions: tuple[Decision, ...]
    tokens_before: int
    tokens_after: int

    def final(self) -> dict[Place, Decision]:
        """Return the last decision for each result that has one."""
        return {decision.result.place: decision for decision in self.decisions}


def _check_limit(name: str, value: Any, *, optional: bool, least: int = 0) -> None:
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_LIMIT:
        none = " or None" if optional else ""
        raise ConfigError(f"{name} takes a whole number of at least {least}{none}, not {value!r}")


def _check_placeholder(placeholder: Any) -> None:
    if not isinstance(placeholder, str) or not placeholder.strip() or "\n" in placeholder:
        raise ConfigError("placeholder takes one line of text that is not blank")
    if len(placeholder) > MAX_PLACEHOLDER_CHARACTERS or placeholder.startswith(OFFLOADED_WORDS):
        raise ConfigError(
            f"placeholder takes at most {MAX_PLACEHOLDER_CHARACTERS} characters "
            f"and does not begin with {OFFLOADED_WORDS!r}, which marks an offloaded result"
        )
