"""From bytes on disk to text, with everything stated that had to be put right on the way.

Knows encodings, byte-order marks and line ends; knows nothing of what the lines mean.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loci.errors import LociError
from loci.text.findings import Finding, Notes, raise_first_error
from loci.text.vocab import MASK, PAD

_MAGIC = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)
# The longer mark first: UTF-32's begins with UTF-16's.
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BEGINS_OTHERWISE = (codecs.BOM_UTF8, *(begin for begin, _ in (*_MAGIC, *_WIDE_MARKS)))
LARGEST, LONGEST_LINE = 1 << 29, 1 << 24
"""Bytes of a file and of a line that are read into memory."""
# Line ends and tabs are not here: a line has no line end in it, and the tab has a meaning.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u2060\ufeff\ud800-\udfff]")
# Not the joiners U+200C and U+200D: Persian and Hindi are spelled with them.
ZERO_WIDTH = "\u200b\u2060\ufeff"
"""Characters that take no room."""
_ZERO_WIDTH = re.compile(f"[{ZERO_WIDTH}]")
_SPECIAL = re.compile(f"[{PAD}{MASK}]")
_UNUSUAL = re.compile(f"[{PAD}{MASK}{_CONTROL.pattern[1:]}")
_RARE = 20  # one in so many bytes, at most, is NUL or another control character in what is still text
_SURROGATE = re.compile("[\ud800-\udfff]")
_STAND_INS = {PAD: "\ufdd0", MASK: "\ufdd1"}  # no text has them: Unicode keeps them for a program's own use
_LINE_ENDS_AND_TABS = re.compile("[\t\r\n]+")


@dataclass(frozen=True)
class Source:
    """The text of one file, line ends `\\n`, and what was found on the way to it."""

    path: Path | None
    text: str
    findings: tuple[Finding, ...] = ()

    def lines(self) -> list[str]:
        """The lines without their ends. Only `\\n` ends a line: Unicode's other separators stay inside."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines


def load(path: str | Path) -> Source:
    """Read a file. A missing or unreadable one is a `LociError`; what is wrong with its bytes is in the findings."""
    path = Path(path)
    with _reading(path):
        if (size := path.stat().st_size) > LARGEST:
            what = f"is {size >> 20:,} MB large, at most {LARGEST >> 20:,} MB are read"
            raise LociError(what, path=path, remedy="split it into several files")
        if size > LONGEST_LINE:
            for _ in _raw_lines(path):
                pass
        data = path.read_bytes()
    return decode(data, path)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a file of any size, numbered from 1, one in memory at a time; raises what `load` finds wrong.

    From a line on that is no plain UTF-8 with a `\\n` at its end the whole file is read, as `load` does.
    """
    path = Path(path)
    with _reading(path):
        for number, raw in enumerate(_raw_lines(path), start=1):
            if (number == 1 and raw.startswith(_BEGINS_OTHERWISE)) or b"\r" in raw or b"\0" in raw or not _is_utf8(raw):
                yield from list(enumerate(load_sound(path).lines(), start=1))[number - 1 :]
                return
            yield number, raw.decode("utf-8").removesuffix("\n")


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A block that reads a regular file; anything else there, or a file that cannot be read, is a `LociError`."""
    try:
        if path.is_dir():
            raise LociError("is a folder, a file is wanted here", path=path, remedy="name one file of it")
        if not path.exists():
            raise LociError("no such file", path=path, remedy=_likely_names(path))
        if not path.is_file():
            raise LociError("is not a regular file", path=path, remedy="copy what it gives into a file")
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LociError(f"cannot be read: {reason}", path=path, remedy="check its name and rights") from None


def load_sound(path: str | Path) -> Source:
    """Read a file; the first thing that is wrong with its bytes is a `LociError`."""
    source = load(path)
    raise_first_error(source.findings)
    return source


def _raw_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file with their ends; one too long for memory is refused before it is read whole."""
    with open(path, "rb") as handle:
        for number in itertools.count(1):
            line = handle.readline(LONGEST_LINE + 1)
            if len(line) > LONGEST_LINE:
                remedy = "write one document or question on each line"
                message = f"the line is longer than {LONGEST_LINE >> 20} MB"
                raise LociError(message, path=path, line=number, remedy=remedy)
            if not line:
                return
            yield line


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _likely_names(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    near = difflib.get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=3)
    return f"there is {', '.join(near)}" if near else "check the name"


def decode(data: bytes, path: Path | None = None) -> Source:
    """Bytes to text with `\\n` line ends and no byte-order mark; a line that is not UTF-8 is read as Windows-1252."""
    notes = Notes(path)
    text = _decode(data, notes)
    if text is None:
        return Source(path, "", tuple(notes.found))
    return Source(path, _line_ends(text, notes), tuple(notes.found))


def _decode(data: bytes, notes: Notes) -> str | None:
    for magic, name in _MAGIC:
        if data.startswith(magic):
            notes.error("binary", f"is {name}, not text")
            return None
    for mark, codec in _WIDE_MARKS:
        if data.startswith(mark):
            try:
                text = data.decode(codec)
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                name = codec.upper()
                notes.warning("encoding", f"is {name}, read as such", 1, before=name, after="UTF-8", repaired=True)
                return text
    if b"\0" in data:
        if not _is_text_but_for_nuls(data):
            notes.error("binary", "contains NUL bytes: not text, or UTF-16 without a byte-order mark")
            return None
        data = _without_nuls(data, notes)
    return _decode_utf8(data, notes)


def _is_text_but_for_nuls(data: bytes) -> bool:
    """Whether few bytes are NUL and the others UTF-8 text, which may break off within a character: of a large file only
    the beginning is looked at."""
    if data.count(0) * _RARE > len(data) or _has_controls(data.replace(b"\0", b"")):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _without_nuls(data: bytes, notes: Notes) -> bytes:
    lines = data.split(b"\n")
    for place, line in enumerate(lines):
        if count := line.count(0):
            lines[place] = line.replace(b"\0", b"")
            before, after = (
                one.decode("utf-8", errors="backslashreplace").rstrip("\r") for one in (line, lines[place])
            )
            message = f"contains {'a NUL byte' if count == 1 else f'{count:,} NUL bytes'}"
            notes.error("control-character", message, place + 1, before=before, after=after)
    return b"\n".join(lines)


def _has_controls(data: bytes) -> bool:
    """Whether too many of the first bytes are control characters for a text."""
    head = data[: 1 << 16]
    return sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) * _RARE > len(head)


def _decode_utf8(data: bytes, notes: Notes) -> str | None:
    if data.startswith(codecs.BOM_UTF8):
        data = data.removeprefix(codecs.BOM_UTF8)
        notes.warning("bom", "begins with a byte-order mark", 1, before="\\ufeff", after="", repaired=True)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if _has_controls(data):
        notes.error("binary", "most of its bytes are not text")
        return None
    lines = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            lines.append(_windows(line))
            message = f"byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8"
            before = line.decode("utf-8", errors="backslashreplace")
            notes.error("encoding", message, number, before=before, after=lines[-1])
    return "\n".join(lines)


def _windows(line: bytes) -> str:
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:  # five bytes have no meaning in Windows-1252; Latin-1 gives every byte one
        return line.decode("latin-1")


def _line_ends(text: str, notes: Notes) -> str:
    if "\r" in text:
        # A run of them is looked at once, by its end: a pattern that begins anew at each takes the square of the time.
        ends = [(match.start(), text.startswith("\n", match.end())) for match in re.finditer("\r+", text)]
        for kind, windows, name, written in (
            ("crlf", True, "Windows line ends (\\r\\n)", "\\r\\n"),
            ("lone-cr", False, "lines ended by \\r alone", "\\r"),
        ):
            if own := [start for start, found in ends if found is windows]:
                line = text.count("\n", 0, own[0]) + 1
                notes.warning(kind, f"{len(own):,} {name}", line, before=written, after="\\n", repaired=True)
        text = re.sub("\r+(\n?)", lambda match: match[1] or "\n" * len(match[0]), text)
    if text and not text.endswith("\n"):
        line = text.count("\n") + 1
        notes.note("no-final-newline", "the last line has no newline", line, before="", after="\\n")
    return text


def is_plain(text: str) -> bool:
    """Whether there are neither special symbols nor control characters in `text`; most has none."""
    return _UNUSUAL.search(text) is None


def specials_in(text: str) -> str:
    """The pad and mask symbols that stand in `text`, each once."""
    return "".join(sorted(set(_SPECIAL.findall(text))))


def with_stand_ins(text: str) -> str:
    """`text` with stand-ins for the special symbols, also where JSON writes them as escapes."""
    for symbol, stand_in in _STAND_INS.items():
        text = text.replace(symbol, stand_in)
        if text.lstrip().startswith(("{", "[")):
            text = re.sub(rf"(?<!\\)\\u{ord(symbol):x}", stand_in, text, flags=re.IGNORECASE)
    return text


def without_stand_ins(text: str) -> str:
    """`text` with the special symbols where stand-ins stood."""
    for symbol, stand_in in _STAND_INS.items():
        text = text.replace(stand_in, symbol)
    return text


def controls_in(text: str) -> list[str]:
    """The control characters in `text`, each once, as their code points."""
    return [f"U+{ord(character):04X}" for character in sorted(set(_CONTROL.findall(text)))]


def without_specials(text: str) -> str:
    """`text` without special symbols and characters of no width; other control characters become spaces. Tabs and line
    ends stay."""
    return _CONTROL.sub(" ", without_zero_width(_SPECIAL.sub("", text)))


def without_zero_width(text: str) -> str:
    """`text` without characters of no width, which nobody sees and which make another word of one."""
    return _ZERO_WIDTH.sub("", text)


def one_line(text: str) -> str:
    """`text` with line ends and tabs as spaces: a string of a record may contain them, a line of ours may not."""
    return _LINE_ENDS_AND_TABS.sub(" ", text)


def has_surrogate(text: str) -> bool:
    """Whether `text` contains half a character, which JSON can write and UTF-8 cannot."""
    return _SURROGATE.search(text) is not None


def note_specials(notes: Notes, number: int, before: str, after: str) -> None:
    """Note the model's own symbols in a line, an error."""
    if symbols := specials_in(before):
        names = f"{' and '.join(symbols)}, which {'is' if len(symbols) == 1 else 'are'} the model's own"
        notes.error("special-symbol", f"contains {names}", number, before=before, after=after)
