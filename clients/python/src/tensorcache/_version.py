"""The versions of the client and of the protocols that it speaks.

Protocol history: 1, the first.
"""

from __future__ import annotations

from dataclasses import dataclass

__version__ = "0.1.0"
CLIENT = f"tensorcache-python/{__version__}"


@dataclass(frozen=True)
class Protocols:
    """The versions of the protocol that a daemon or a client speaks: from least to newest."""

    least: int
    newest: int

    def common(self, other: Protocols) -> int | None:
        """The newest version that both speak, or None."""
        newest = min(self.newest, other.newest)
        return newest if newest >= max(1, self.least, other.least) else None

    def __str__(self) -> str:
        if self.least == self.newest:
            return f"protocol {self.newest}"
        return f"protocols {self.least} to {self.newest}"


PROTOCOLS = Protocols(least=1, newest=1)
