"""Ratios out of medians, and tables out of ratios. No time is printed: it would be that of one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from backend_speed.measuring import OPERATIONS, Medians
from backend_speed.stores import OURS, PEER

__all__ = ["Absence", "Ratio", "Spread", "markdown", "ratios", "spreads"]

RAW_AIM = 1.3
SPREAD_AIM = 2.0
USUAL_SIZE = 100_000


@dataclass(frozen=True, slots=True)
class Ratio:
    """How long ours takes for one operation, as a multiple of what another client takes."""

    backend: str
    against: str
    size: int
    operation: str
    ratio: float

    @property
    def is_met(self) -> bool:
        """Whether it keeps the aim: faster than the peer, within 1.3 of a raw client."""
        return self.ratio < 1 if self.against == PEER else self.ratio <= RAW_AIM


@dataclass(frozen=True, slots=True)
class Spread:
    """How long a range of the largest object takes one client, as a multiple of a range of a usual one."""

    backend: str
    client: str
    ratio: float

    @property
    def is_met(self) -> bool:
        """Whether it keeps the aim."""
        return self.ratio <= SPREAD_AIM


@dataclass(frozen=True, slots=True)
class Absence:
    """What was not measured, and why; ``against`` is empty where the whole backend was not."""

    backend: str
    against: str
    reason: str


def ratios(backend: str, medians: Medians) -> list[Ratio]:
    """Return what ours takes relative to every other client."""
    return [
        Ratio(backend, client, size, operation, medians[OURS, size, operation] / seconds)
        for (client, size, operation), seconds in medians.items()
        if client != OURS
    ]


def spreads(backend: str, medians: Medians) -> list[Spread]:
    """Return for each client how much dearer a range of the largest object is; nothing for a single size."""
    sizes = sorted({size for _, size, _ in medians})
    usual = USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    if usual == sizes[-1]:
        return []
    clients = dict.fromkeys(client for client, _, _ in medians)
    return [
        Spread(backend, client, medians[client, sizes[-1], "range"] / medians[client, usual, "range"])
        for client in clients
    ]


def markdown(found: Sequence[Ratio], flat: Sequence[Spread], missing: Sequence[Absence], rounds: int) -> str:
    """Return three tables and what they come to; what misses its aim is bold."""
    raw = [ratio for ratio in found if ratio.against != PEER]
    peer = [ratio for ratio in found if ratio.against == PEER]
    own = [spread for spread in flat if spread.client == OURS]
    parts = [
        f"Ours over the raw client, {rounds} rounds:",
        _table(raw, [gap for gap in missing if gap.against != PEER], "raw client", _over_raw),
        "How many times as long py-key-value takes:",
        _table(peer, [gap for gap in missing if gap.against == PEER], "", _times_ours),
        "A range of the largest object over one of 100 KB:",
        _spread_table(flat),
        "\n".join(
            [
                f"within {RAW_AIM} of the raw client: {_met(raw)}",
                f"faster than py-key-value: {_met(peer)}",
                f"a range of the largest object within {SPREAD_AIM:g} of one of 100 KB: {_met(own)}",
            ]
        ),
    ]
    return "\n\n".join(parts)


def _table(
    found: Sequence[Ratio], missing: Sequence[Absence], against: str, cell: Callable[[Ratio], str]
) -> str:
    names = ["backend", *([against] if against else []), "object", *OPERATIONS]
    lines = [_line(names), _line(["---"] * (len(names) - 3) + ["--:"] * 3)]
    cells = {(r.backend, r.against, r.size, r.operation): cell(r) for r in found}
    for backend, client, size in dict.fromkeys((r.backend, r.against, r.size) for r in found):
        head = [backend, *([client] if against else []), _size(size)]
        lines.append(_line(head + [cells[backend, client, size, operation] for operation in OPERATIONS]))
    empty = [""] * (len(names) - 2)
    lines += [_line([gap.backend, f"not measured: {gap.reason}", *empty]) for gap in missing]
    return "\n".join(lines)


def _spread_table(flat: Sequence[Spread]) -> str:
    lines = [_line(["backend", "ours", "others"]), _line(["---", "--:", "---"])]
    for backend in dict.fromkeys(spread.backend for spread in flat):
        here = [spread for spread in flat if spread.backend == backend]
        own = next(_marked(f"{s.ratio:.2f}", met=s.is_met) for s in here if s.client == OURS)
        others = ", ".join(f"{s.client} {s.ratio:.2f}" for s in here if s.client != OURS)
        lines.append(_line([backend, own, others]))
    return "\n".join(lines)


def _over_raw(found: Ratio) -> str:
    return _marked(f"{found.ratio:.2f}", met=found.is_met)


def _times_ours(found: Ratio) -> str:
    times = 1 / found.ratio
    return _marked(f"{times:,.0f}" if times >= 10 else f"{times:.1f}", met=found.is_met)


def _marked(text: str, *, met: bool) -> str:
    return text if met else f"**{text}**"


def _met(found: Iterable[Ratio | Spread]) -> str:
    kept = [each.is_met for each in found]
    return f"{sum(kept)} of {len(kept)}"


def _size(size: int) -> str:
    units: Iterator[tuple[int, str]] = iter(((1_000_000, "MB"), (1_000, "KB"), (1, "bytes")))
    return next(f"{size // unit:,} {name}" for unit, name in units if size % unit == 0)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
