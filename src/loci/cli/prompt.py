"""The prompt of `loci ask RUN`: one question after the other, with completion of names and a history that is kept.

Knows the terminal; knows nothing of how questions are answered.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from loci.errors import LociError
from loci.text.subject_index import without_article

LONGEST_HISTORY = 1000
"""Questions that are kept."""


def prompt(put: Callable[[str], object], subjects: Sequence[str]) -> None:
    """Put every line, until an empty one or ctrl-D; the tab key completes the name of a subject."""
    import readline

    found: list[str] = []

    def complete(line: str, state: int) -> str | None:
        if not state:
            found[:] = completions(line, subjects)
        return found[state] if state < len(found) else None

    readline.set_completer_delims("")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    with _kept_history():
        while True:
            try:
                question = input("? ").strip()
            except EOFError:
                print()
                return
            if not question:
                return
            try:
                put(question)
            except LociError as error:  # the next question may be a better one
                print(error)


def completions(line: str, subjects: Sequence[str]) -> list[str]:
    """The line with the name that its last words begin completed in every way, the longest beginning first.

    A name's article is left to who types: a question may hold it already.
    """
    subjects = [without_article(name) for name in subjects]
    for start in (place for place in range(len(line)) if place == 0 or line[place - 1] == " "):
        begun = line[start:].casefold()
        if found := [line[:start] + name for name in subjects if name.casefold().startswith(begun)]:
            return found
    return []


def history_file() -> Path:
    """Where earlier questions are kept, by the convention for a user's state."""
    state = os.environ.get("XDG_STATE_HOME", "")
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state") / "loci" / "history"


@contextlib.contextmanager
def _kept_history() -> Iterator[None]:
    """Earlier questions come back with the arrow keys, also those of earlier calls.

    A file that cannot be read or written is passed over: nobody asked for it.
    """
    import readline

    from loci.files import atomic_file

    try:
        file: Path | None = history_file()
    except RuntimeError:  # nobody's home
        file = None
    readline.clear_history()
    readline.set_history_length(LONGEST_HISTORY)
    if file is not None:
        with contextlib.suppress(OSError):
            readline.read_history_file(file)
    try:
        yield
    finally:
        if file is not None and readline.get_current_history_length():
            with contextlib.suppress(OSError, LociError), atomic_file(file) as temporary:
                temporary.touch(mode=0o600)  # what somebody asks is their own
                readline.write_history_file(temporary)
