"""How a result leaves the history: it is stored first, then its going is told and its call noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from offloadkit.announcements import Announcements
from offloadkit.guard import GuardedArchive
from offloadkit.history import Standing, arguments_text
from offloadkit.placeholder import Placeholder
from offloadkit.policy import Decision
from offloadkit.reader import Reader
from offloadkit.reading import LostCall
from offloadkit.replacement import Replacement, Replacements
from offloadkit.results import Place

__all__ = ["Departures"]

MAX_LOST_ARGUMENTS: Final = 300


class Departures:
    """The results of one session that leave. Safe to use from many threads."""

    def __init__(self, guard: GuardedArchive | None, announcements: Announcements, reader: Reader) -> None:
        """Let none leave yet; without a ``guard`` nothing is stored."""
        self._guard = guard
        self._announcements = announcements
        self._reader = reader

    def store(self, made: Replacement, *, anew: bool = False) -> bool:
        """Store what a replacement stands for, and say whether it may stand there.

        With ``anew`` the store is asked although the content is remembered as stored.
        """
        if made.encoded is None or made.placeholder is None:
            return True
        return self._guard is not None and self._guard.save(made.encoded, made.placeholder, anew=anew)

    def carry_out(
        self, decisions: Iterable[Decision], replacements: Replacements
    ) -> dict[Place, Replacement]:
        """Store what was decided to leave, and return the replacements of what is stored."""
        final = {decision.result.place: decision for decision in decisions}
        made = {place: replacements.of(decision) for place, decision in final.items()}
        return {place: one for place, one in made.items() if one is not None and self.store(one)}

    def tell(
        self, decisions: Iterable[Decision], stored: Mapping[Place, Replacement], replacements: Replacements
    ) -> None:
        """Tell of each decision that was carried out, once in a session."""
        for decision in decisions:
            if (made := stored.get(decision.result.place)) is not None:
                self._announcements.left(
                    decision.action,
                    replacements.standing(decision.result.place),
                    made.placeholder,
                    before=decision.size_before,
                    after=decision.size_after,
                )

    def note_call(self, standing: Standing, placeholder: Placeholder | None) -> None:
        """Note which call a result came from, to be named should the result be gone one day."""
        if placeholder is None or placeholder.tool is None or self._reader.remembers_call(placeholder.ref):
            return
        arguments = arguments_text(standing.call.arguments) if standing.call else ""
        self._reader.remember_call(
            placeholder.ref, LostCall(placeholder.tool, arguments[:MAX_LOST_ARGUMENTS])
        )
