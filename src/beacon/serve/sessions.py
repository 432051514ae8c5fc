"""Sessions: evidence that comes and goes, each with a solver that goes on from its last answer."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from time import monotonic
from typing import Any

from beacon.serve.models import ServedModel
from beacon.serve.settings import ServeSettings
from beacon.serve.workers import BusyError


class Session:
    """What one client observes on one model."""

    def __init__(self, served: ServedModel) -> None:
        self.id = secrets.token_urlsafe(16)
        self.served, self.solver = served, served.new_solver()
        self.touched = monotonic()

    def observe(self, evidence: Mapping[str, Any]) -> None:
        """Add, replace and (null) take back observations; doing so again changes nothing."""
        for variable, value in evidence.items():
            self.solver.observe(variable, value)


class Sessions:
    """All that are open. Used by one thread, that of the server's loop."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._open: dict[str, Session] = {}

    def __len__(self) -> int:
        """How many are open."""
        self._expire()
        return len(self._open)

    def new(self, served: ServedModel) -> Session:
        """Open one, unless there are too many."""
        if len(self) >= self._settings.max_sessions:
            oldest = next(iter(self._open.values())).touched
            wait = int(self._settings.session_seconds - (monotonic() - oldest)) + 1
            raise BusyError(f"{len(self._open)} sessions are open, as many as may be", wait)
        session = Session(served)
        self._open[session.id] = session
        return session

    def get(self, id: str, served: ServedModel) -> Session | None:
        """An open session of this model, which from now on lasts as long as a new one."""
        self._expire()
        session = self._open.get(id)
        if session is None or session.served is not served:
            return None
        session.touched = monotonic()
        self._open[id] = self._open.pop(id)  # the one that was used last comes last
        return session

    def close(self, session: Session) -> None:
        """Forget one."""
        self._open.pop(session.id, None)

    def _expire(self) -> None:
        ended = monotonic() - self._settings.session_seconds
        while self._open and (oldest := next(iter(self._open.values()))).touched < ended:
            del self._open[oldest.id]
