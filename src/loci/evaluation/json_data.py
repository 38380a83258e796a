"""Results as JSON data.

Knows dataclasses, enums, paths, arrays and rates; knows nothing of what they mean. A number that is not finite becomes
null, since JSON has no other word for it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from loci.evaluation.metrics import Rate


def to_json(value: Any) -> Any:
    """`value` made of dicts, lists, texts, numbers, booleans and None only."""
    match value:
        case Enum():
            return value.value
        case Rate():
            return {"value": to_json(value.value), **vars(value)}
        case None | bool() | int() | str():
            return value
        case Path():
            return str(value)
        case float() | np.floating():
            return float(value) if math.isfinite(value) else None
        case np.integer():
            return int(value)
        case np.ndarray():
            return to_json(value.tolist())
        case Mapping():
            return {str(to_json(key)): to_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(item) for item in value]
        case _ if dataclasses.is_dataclass(value):
            return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no plain form")
