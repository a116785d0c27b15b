"""The agent's read tool: its definition for each API, and the reading of what a model sends as arguments.

Models copy references with quotes and brackets, send numbers as texts and objects as broken JSON. What can be
meant is taken; for the rest the answer says in words what to send. Nothing that a model sends raises.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from offloadkit.errors import ConfigError
from offloadkit.read_call import parse_call, render_call
from offloadkit.reading import ReadRequest

__all__ = ["ReadTool", "parse_arguments", "parse_call", "render_call", "repeat_call"]

DESCRIPTION: Final = (
    "Read a stored tool result by the reference in its placeholder. Pages by lines; search or regex shows "
    "matches; query selects from JSON. Each answer names the next call. Without ref: lists what is stored."
)
_NUMBERS: Final = {
    "offset": "First line, from 1; negative: from the end",
    "limit": "At most so many lines, or matches",
    "column": "First character in that line, from 1; for long lines",
    "context": "Lines around each match",
}
_TEXTS: Final = {
    "search": "Literal text to find",
    "regex": "RE2 pattern to find, within lines",
    "query": "JMESPath, for JSON or JSON Lines",
}
_ALIASES: Final = {
    **dict.fromkeys(("reference", "references", "refs", "id", "ref_id"), "ref"),
    **dict.fromkeys(("start", "start_line", "line", "from"), "offset"),
    **dict.fromkeys(("count", "lines", "max_lines", "num_lines", "max_results"), "limit"),
    **dict.fromkeys(("col", "char", "start_column"), "column"),
    **dict.fromkeys(("text", "find", "needle"), "search"),
    **dict.fromkeys(("pattern", "regexp"), "regex"),
    **dict.fromkeys(("jmespath", "path"), "query"),
}
_WRAPPERS: Final = ("arguments", "args", "input", "kwargs", "parameters")
_NAMES: Final = ("ref", *_NUMBERS, *_TEXTS)

_TOOL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_REFERENCE: Final = re.compile(r"(?<![a-z0-9])[a-z2-7]{16}(?![a-z0-9])")
_NAMED_REFERENCES: Final = re.compile(r"\bref\w*[\"'`]?\s*[=:]((?:[\"'`\[(<\s,]*[a-z2-7]{16}(?![a-z0-9]))+)")
_WHOLE_NUMBER: Final = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_LOOSE_PAIR: Final = re.compile(
    rf"[\"']?\b({'|'.join(_NAMES)})[\"']?\s*[:=]\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,;{{}}\"']+)"
)
_NOTHING: Final = ("", "null", "none", "undefined")
_MOST_CHARACTERS: Final = 100_000
_MOST_SHOWN: Final = 60
_MOST_REPEATED: Final = 400
_log = logging.getLogger("offloadkit")


class ReadTool:
    """The tool as a program registers it with a model: a definition, and `call` for what the model sends.

    Attributes:
        name: Its name.
        description: What it does, for the model.
    """

    description = DESCRIPTION

    def __init__(self, name: str, answer: Callable[[ReadRequest], str]) -> None:
        """Make the tool.

        Args:
            name: Its name; `placeholder` and pages call it so.
            answer: Returns what a request asks for.

        Raises:
            ConfigError: A name that no model API takes.
        """
        if not _TOOL_NAME.fullmatch(name):
            raise ConfigError(f"a tool name is a letter and up to 63 more of A-Z a-z 0-9 _ . -, not {name!r}")
        self.name = name
        self._answer = answer

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as JSON schema."""
        ref = {"type": "string", "description": "One reference, or several with commas"}
        numbers = {name: {"type": "integer", "description": about} for name, about in _NUMBERS.items()}
        texts = {name: {"type": "string", "description": about} for name, about in _TEXTS.items()}
        return {"type": "object", "properties": {"ref": ref, **numbers, **texts}}

    def openai(self) -> dict[str, Any]:
        """Return the definition for OpenAI chat completions, and what is compatible with it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def openai_responses(self) -> dict[str, Any]:
        """Return the definition for OpenAI responses; not strict, since every parameter may be left out."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "strict": False,
        }

    def anthropic(self) -> dict[str, Any]:
        """Return the definition for Anthropic messages."""
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}

    def call(self, arguments: Any = None) -> str:
        """Answer what a model sent: an object, its JSON text, or what is left of one. Never raises."""
        try:
            request = parse_arguments(arguments)
            return request if isinstance(request, str) else self._answer(request)
        except Exception:  # noqa: BLE001  an agent's run must not end here
            _log.exception("the read tool failed")
            return f"{self.name} failed because of a fault in the program; asking again will not help."

    async def acall(self, arguments: Any = None) -> str:
        """Do as `call` does, in a worker thread."""
        from anyio import to_thread  # noqa: PLC0415  anyio is loaded by those who use it

        return await to_thread.run_sync(self.call, arguments)


def parse_arguments(raw: Any) -> ReadRequest | str:
    """Return the request that a model's arguments stand for, or words that say what to send instead."""
    given = _mapping(raw)
    if isinstance(given, str):
        return given
    values = _named(given)
    refs = _references(values.pop("ref", None), values)
    if isinstance(refs, str):
        return refs
    fields: dict[str, Any] = {}
    for name in _NUMBERS:
        fields[name] = _number(name, values.get(name))
    for name in _TEXTS:
        fields[name] = _text(name, values.get(name))
    wrong = next((value for value in fields.values() if isinstance(value, _Words)), None)
    return str(wrong) if wrong is not None else ReadRequest(refs=refs, **fields).bounded()


def repeat_call(tool_name: str, arguments: Any) -> str:
    """Return the call that shows a page again, as a placeholder names it; "" where that is not possible.

    Args:
        tool_name: The name of the read tool.
        arguments: The arguments of the call that showed it.
    """
    request = parse_arguments(arguments)
    if isinstance(request, str):
        return ""
    values = {name: getattr(request, name) for name in (*_NUMBERS, *_TEXTS)}
    call = render_call(tool_name, ", ".join(request.refs) or None, **values)
    return call if len(call) <= _MOST_REPEATED else ""


class _Words(str):
    """Words that say what to send instead of a value."""

    __slots__ = ()


def _mapping(raw: Any) -> Mapping[Any, Any] | str:
    if raw is None:
        return {}
    if isinstance(raw, bytes | bytearray):
        raw = bytes(raw).decode("utf-8", "replace")
    if isinstance(raw, str):
        raw = _from_text(raw[:_MOST_CHARACTERS])
    if isinstance(raw, list | tuple):
        return {"ref": raw}
    if isinstance(raw, Mapping):
        return raw
    return 'The arguments cannot be read. Send a JSON object, such as {"ref": "…", "offset": 1}.'


def _from_text(text: str) -> Any:
    """Return what a text holds: JSON, JSON in JSON, a call, or pairs of name and value in no clean form."""
    text = text.strip().removeprefix("```json").strip("`").strip()
    if text.lower() in _NOTHING:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if not isinstance(value, str):
        return {} if value is None else value
    call = parse_call(value)
    if call is not None and "ref" in call[1]:
        return call[1]
    if value is not text:
        return _from_text(value)
    pairs = {found[1]: found[2].strip("\"'") for found in _LOOSE_PAIR.finditer(text)}
    return pairs or ({"ref": text} if _found_references(text) else None)


def _named(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values by our names for them; what has no such name is passed over."""
    known = _known(given)
    if known:
        return known
    unwrapped = _mapping(next((given[name] for name in _WRAPPERS if name in given), None))
    return {} if isinstance(unwrapped, str) else _known(unwrapped)


def _known(given: Mapping[Any, Any]) -> dict[str, Any]:
    lowered = {str(name).strip().lower(): value for name, value in given.items()}
    theirs = {_ALIASES[name]: value for name, value in lowered.items() if name in _ALIASES}
    return theirs | {name: value for name, value in lowered.items() if name in _NAMES}


def _references(value: Any, others: dict[str, Any]) -> tuple[str, ...] | str:
    """Return the references in a value; a whole call in it also gives the arguments that are missing."""
    if value is None or value == []:
        return ()
    if isinstance(value, list | tuple):
        texts = [text for text in value if isinstance(text, str)]
        found = [ref for text in texts for ref in _found_references(text)]
    elif isinstance(value, str):
        if value.strip().lower() in (*_NOTHING, "list", "all", "*"):
            return ()
        found = _found_references(value)
        call = parse_call(value)
        for name, argument in (call[1] if call else {}).items():
            others.setdefault(name, argument)
    else:
        found = []
    if not found:
        return (
            f"ref={_shown(value)} is no reference: one is 16 characters of a-z and 2-7, as in a placeholder. "
            "Call without ref to list what is stored."
        )
    return tuple(dict.fromkeys(found))


def _found_references(text: str) -> list[str]:
    """Return the references in a text: those named so, else all that look so, else it less its marks."""
    lowered = text[:_MOST_CHARACTERS].lower()
    named = [ref for found in _NAMED_REFERENCES.finditer(lowered) for ref in _REFERENCE.findall(found[1])]
    if named or (named := _REFERENCE.findall(lowered)):
        return named
    return _REFERENCE.findall(re.sub(r"[^a-z0-9]", "", lowered))


def _number(name: str, value: Any) -> int | _Words | None:
    if isinstance(value, str):
        text = value.strip().strip("\"'`").replace(",", "").replace("_", "")
        if text.lower() in _NOTHING:
            return None
        found = _WHOLE_NUMBER.fullmatch(text)
        value = int(found[1][:19]) if found else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return _Words(f"{name}={_shown(value)} is no whole number; give one, such as {name}=10, or leave it out.")


def _text(name: str, value: Any) -> str | _Words | None:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    return _Words(f"{name} takes one text, not {_shown(value)}; leave it out or give a text.")


def _shown(value: Any) -> str:
    """Write what a model sent, shortened, so that it finds the place."""
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
