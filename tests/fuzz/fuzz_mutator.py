"""Seeded damage: bytes, JSON, safetensors headers and command lines, each as a stranger or a broken disk leaves it.

Every function is a pure function of its input and the generator passed in. Knows no reader.
"""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Sequence
from typing import Any

LARGEST = 1 << 21
"""Bytes beyond which a mutation does not make a file grow."""
NUMBERS = (
    "0", "-1", "1", "NaN", "Infinity", "-Infinity", "nan", "inf", "1e999", "1e-320", "-0.0", "2147483648", "4294967296",
    "9223372036854775808", "1" + "0" * 30, "9" * 5000, "0.1", "1.5", "1e9", "100000000", "٣", "0x10", "1_000",
)  # fmt: skip
TOKENS = (
    "\x00", "\x1b[2J", "\x1b]0;title\x07", "\r", "\r\n", "\n\n", "\t", "\t\t", "\u2028", "\u202e", "\ufeff", "\ufffe", "□", "⁇",
    "é", "e\u0301", "𝒳", "\\ud800", '"', "'", "\\", "{", "}", "[", "]", "{subject}", "{subject}{subject}", "<script>", "&amp;",
    "%s%n", "../../../../etc/passwd", "/etc/passwd", "~", "-", "--", "=", "#", "null", "true", "None", " ", " . ", ". ",
)  # fmt: skip
BYTES = (
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x80",
    b"PK\x03\x04",
    b"\x1f\x8b",
)
LENGTHS = (0, 1, 2, 127, 128, 129, 1000, 4097, 20_000, 65_537, 200_000)
WEIRD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 1e308, 5e-324, -1.5, 2**31, 2**53, 2**63, 2**64, 10**30, float("nan"), float("inf"),
    "", "x", "\x00", "\ud800", "{subject}", "□⁇", "../..", "/etc/passwd", "a" * 20_000, [], {}, [[]], [None], {"": None},
    [0] * 1000, {"name": "x", "templates": []}, ["{subject}"],
)  # fmt: skip


def damaged(data: bytes, rng: random.Random, others: Sequence[bytes] = (), *, json_like: bool = False) -> bytes:
    """`data` after one to four mutations; where it is JSON, often of its structure."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if json_like and rng.random() < 0.6:
            data = _json_damaged(data, rng)
        else:
            data = rng.choice(_MUTATIONS)(data, rng, others)
        data = data[: max(LARGEST, len(data) // 2)]
    return data


def damaged_weights(data: bytes, rng: random.Random) -> bytes:
    """A safetensors file, often with a header that is still one, but says something else."""
    if rng.random() < 0.4 or len(data) < 8:
        return damaged(data, rng)
    size = min(struct.unpack("<Q", data[:8])[0], len(data) - 8)
    header = _json_damaged(data[8 : 8 + size], rng)
    said = len(header) if rng.random() < 0.8 else rng.choice((0, 1, 2**40, 2**63, len(header) - 1))
    return struct.pack("<Q", max(0, said)) + header + data[8 + size :]


def _flip(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\x00"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _insert(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    token = rng.choice(BYTES) if rng.random() < 0.3 else rng.choice((*TOKENS, *NUMBERS)).encode()
    return data[:at] + token * rng.choice((1, 1, 1, 2, 50)) + data[at:]


def _cut(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    first = rng.randrange(len(data) + 1)
    last = rng.randrange(first, len(data) + 1)
    return data[:first] if rng.random() < 0.3 else data[:first] + data[last:]


def _repeat(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    first = rng.randrange(len(data) + 1)
    part = data[first : first + rng.choice((1, 5, 40, 400))]
    times = min(rng.choice((2, 10, 1000, 50_000)), LARGEST // max(1, len(part)))
    return data[:first] + part * times + data[first:]


def _long(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    unit = rng.choice(
        (
            "a",
            "A ",
            "A. ",
            "was ",
            "Ada Lovelace ",
            "é",
            "(",
            "[",
            '"',
            "{",
            "\t",
            ",",
            "0",
            "\n",
            " ",
            "'",
            "of ",
            "\r",
            "?",
            "<",
            "#",
            ". ",
        )
    )
    return data[:at] + (unit * rng.choice(LENGTHS)).encode() + data[at:]


def _number(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data[:100_000]))
    if not found:
        return _insert(data, rng, _)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS).encode() + data[one.end() :]


def _lines(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    kind = rng.randrange(6)
    if kind == 0:
        rng.shuffle(lines)
    elif kind == 1:
        lines = lines * min(rng.choice((2, 5, 50)), 1 + LARGEST // (len(data) + 1))
    elif kind == 2:
        line = rng.choice(lines)
        lines = [line] * min(rng.choice((1, 3, 1000, 20_000)), 1 + LARGEST // (len(line) + 1))
    elif kind == 3:
        lines = [line for line in lines if rng.random() < 0.7]
    elif kind == 4:  # many of a kind, each another
        at = rng.randrange(len(lines))
        times = min(rng.choice((50, 2000, 30_000)), LARGEST // (len(lines[at]) + 8))
        lines[at : at + 1] = [lines[at] + str(number).encode() for number in range(times)]
    else:
        at = rng.randrange(len(lines))
        lines[at] = lines[at].replace(rng.choice((b"\t", b" ", b"?", b",", b".")), rng.choice(TOKENS).encode())
    return rng.choice((b"\n", b"\n", b"\r\n", b"\r")).join(lines)


def _splice(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else b"{}"
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[rng.randrange(len(other) + 1) :][: LARGEST // 2]


def _recode(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", errors="replace")
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1")), errors="replace")


def _replace(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    whole = (b"", b"\n", b"\x00" * 100, b"{", b"[]", b"[" * 100_000, b'{"a":' * 20_000, b"\xff" * 50, bytes(range(256)))
    return rng.choice((*whole, *others))


_MUTATIONS = (_flip, _flip, _insert, _insert, _cut, _repeat, _long, _number, _lines, _splice, _recode, _replace)


def _json_damaged(data: bytes, rng: random.Random) -> bytes:
    """Other values, lost and foreign fields in a JSON text, or in one line of JSON lines."""
    try:
        return json.dumps(_value_damaged(json.loads(data), rng)).encode()
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        lines[at] = json.dumps(_value_damaged(json.loads(lines[at]), rng)).encode()
    except (ValueError, RecursionError):
        return _insert(data, rng, ())
    return b"\n".join(lines)


def _value_damaged(value: Any, rng: random.Random) -> Any:
    """A JSON value in which one place, at any depth, is another."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.15:
            return {key: one for key, one in value.items() if key != name}
        if kind < 0.25:
            return {**value, rng.choice(("", "x", "__class__", name + " ", name.upper())): rng.choice(WEIRD)}
        return {**value, name: _value_damaged(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        kind = rng.random()
        if kind < 0.15:
            return value[:at] + value[at + 1 :]
        if kind < 0.3:
            return value[: at + 1] * rng.choice((2, 2, 100))
        return [*value[:at], _value_damaged(value[at], rng), *value[at + 1 :]]
    if isinstance(value, bool) or value is None or rng.random() < 0.5:
        return rng.choice(WEIRD)
    if isinstance(value, int | float):
        return rng.choice((-value, value + 1, value * 1000, value / 3, 10**9, 0, str(value)))
    if isinstance(value, str):
        return damaged(value.encode("utf-8", "replace"), rng).decode("utf-8", "replace")[:100_000]
    return rng.choice(WEIRD)


def damaged_arguments(arguments: Sequence[str], rng: random.Random, paths: Sequence[str]) -> list[str]:
    """A command line with other values, lost words, words twice, or files that are something else."""
    changed = list(arguments)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(1, len(changed)) if len(changed) > 1 else 0
        kind = rng.random()
        if not at or kind < 0.08:
            changed.append(rng.choice(("--nothing", "-", "--", "-h", "--seed", "--json", "\x1b[31m", "--out")))
        elif kind < 0.16:
            del changed[at]
        elif kind < 0.22:
            changed.insert(at, changed[rng.randrange(1, len(changed))])
        elif changed[at].startswith("--"):
            changed[at] = rng.choice((changed[at][:-1], changed[at] + "=" + rng.choice(NUMBERS), changed[at].upper()))
        elif "=" in changed[at] and kind < 0.8:
            name, _equals, _value = changed[at].partition("=")
            changed[at] = f"{name}={rng.choice((*NUMBERS, *TOKENS, '[]', '{}'))}"
        elif kind < 0.55:
            changed[at] = rng.choice(NUMBERS)
        elif kind < 0.75:
            changed[at] = rng.choice(
                (*paths, "", ".", "/", "nowhere/file", "/dev/null", "/dev/full", "a" * 300, "\udcff", "a\nb")
            )
        else:
            changed[at] = damaged(changed[at].encode("utf-8", "replace"), rng).decode("utf-8", "replace")[:100_000]
    return [one.replace("\x00", "") for one in changed]  # the system passes no NUL
