"""Standard output that a corpus cannot command: control characters are spelled out, whoever prints them.

Colours go to a terminal, since tables and answers have them; nothing goes anywhere that moves a cursor, hides, rings,
names a window or turns the direction of writing. The spelling is JSON's, so that JSON stays what it is. Knows no
command.
"""

from __future__ import annotations

import re
from typing import Any, TextIO

_COLOUR = r"\x1b\[(?!(?:\d+;)*8[;m])[\d;]*m"  # 8 hides
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"


class HarmlessOutput:
    """A stream like the one given, but for what is written."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._commands = re.compile(f"({_COLOUR if stream.isatty() else '(?!)'})|({_CONTROL})")

    def write(self, text: str) -> int:
        """Write `text`, control characters as `\\u001b`."""
        harmless = text if text.isprintable() else self._commands.sub(_spelled, text)
        self._stream.write(harmless)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _spelled(found: re.Match[str]) -> str:
    return found[1] or f"\\u{ord(found[2]):04x}"
