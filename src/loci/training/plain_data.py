"""Dataclasses as plain data and back: what a file or a command line says is checked before it becomes one.

Knows of fields only that steps and mixtures come built.
"""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from loci.errors import LociError

T = typing.TypeVar("T")


def parsed(text: str) -> Any:
    """A value of a command line: JSON, or plain text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text.strip()


WORDS = {"float": "a number", "int": "a whole number", "str": "text", "bool": "true or false", "array": "a list"}
"""What types are called where people write them."""


def to_dict(value: Any) -> dict[str, Any]:
    """Plain data of a dataclass."""
    data: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(value)))
    return data


def from_dict(cls: type[T], data: Mapping[str, Any], *, where: str) -> T:
    """A dataclass from plain data: an unknown field or a wrong type is named, not stored."""
    hints = typing.get_type_hints(cls)
    if unknown := sorted(set(data) - set(hints)):
        raise LociError(f"{where}: unknown field {', '.join(unknown)}", remedy=f"known: {', '.join(sorted(hints))}")
    needed = {field.name for field in dataclasses.fields(cls) if _required(field)}  # type: ignore[arg-type]
    if missing := sorted(needed - set(data)):
        raise LociError(f"{where}: lacks {', '.join(missing)}")
    plain = {name for name in data if name not in ("steps", "mixture") or not isinstance(data[name], tuple)}
    return cls(**{k: coerce(v, hints[k], f"{where}.{k}") if k in plain else v for k, v in data.items()})


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def coerce(value: Any, hint: Any, where: str) -> Any:
    """Plain data as a type."""
    try:
        return msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        if typing.get_origin(hint) is Literal:
            raise LociError(f"{where} must be one of {', '.join(typing.get_args(hint))}, it is {value!r}") from None
        wanted = str(error).replace("`", "").partition(" - at ")[0].removeprefix("Expected ").partition(", got")[0]
        kinds = [WORDS.get(kind, kind) for kind in wanted.split(" | ")]
        raise LociError(f"{where} must be {' or '.join(kinds)}, it is {value!r:.60}") from None


def require_finite(value: Any, where: str) -> None:
    """Refuse a number that is none, anywhere in plain data."""
    if isinstance(value, float) and not math.isfinite(value):
        raise LociError(f"{where} must be a finite number, it is {value}")
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for name, one in inner:
        require_finite(one, f"{where}.{name}")
