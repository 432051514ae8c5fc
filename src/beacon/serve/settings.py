"""What a server allows."""

from __future__ import annotations

from dataclasses import dataclass

from beacon.errors import check_count, check_positive


@dataclass(frozen=True)
class ServeSettings:
    """Limits of the server, so that no request takes more than its share. It checks itself."""

    workers: int | None = None
    """Queries to work on at once; default: one per core."""
    queue: int = 64
    """Queries that may wait; more are refused (429)."""
    max_seconds: float = 60.0
    """The most time that a request may ask for, waiting included."""
    max_body: int = 1 << 20
    """The most bytes of a request."""
    max_queries: int = 10_000
    """The most queries of one solve-many."""
    max_alternatives: int = 100
    """The most alternatives that a request may ask for."""
    max_sessions: int = 1000
    """Sessions that may be open at once."""
    session_seconds: float = 1800.0
    """Time without a request after which a session expires."""
    hosts: tuple[str, ...] = ()
    """Host names, besides those of this machine's loopback, that requests may be sent to; any: *."""
    log_evidence: bool = False
    """Log what each query observes, too."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.workers is not None:
            check_count("workers", self.workers, 1)
        for name in ("queue", "max_body", "max_queries", "max_alternatives", "max_sessions"):
            check_count(name, getattr(self, name), 1)
        check_positive("max_seconds", self.max_seconds)
        check_positive("session_seconds", self.session_seconds)
