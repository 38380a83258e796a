"""Tensors are checked against the shapes in signatures: in each test once per function and combination of shapes.

A check takes longer than most of what it checks, and thousands of steps call a layer with the same shapes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import isfunction
from typing import Any

import jaxtyping
import numpy as np
import torch

_jaxtyped = jaxtyping.jaxtyped
#: (function, kinds of its arguments) that were right in the present test.
_right: set[tuple[object, ...]] = set()


def install(*packages: str) -> None:
    """From here on check these packages, of which nothing may have been imported yet."""
    setattr(jaxtyping, "jaxtyped", _once)  # noqa: B010 - what the hook writes above every function
    jaxtyping.install_import_hook(packages, "beartype.beartype")


def forget() -> None:
    """Check every combination of shapes again."""
    _right.clear()


def _once(fn: Any = None, *, typechecker: Any) -> Any:
    if fn is None:
        return functools.partial(_once, typechecker=typechecker)
    if not isfunction(fn):  # a class or a property
        return _jaxtyped(fn, typechecker=typechecker)
    checked: Callable[..., Any] | None = None

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal checked
        kinds = (fn, *map(_kind, args), *((name, _kind(value)) for name, value in kwargs.items()))
        if kinds in _right or torch.compiler.is_compiling():  # an exporter's sizes are symbols
            return fn(*args, **kwargs)
        if checked is None:
            checked = _jaxtyped(fn, typechecker=typechecker)
        result = checked(*args, **kwargs)
        _right.add(kinds)
        return result

    return call


def _kind(value: object) -> object:
    if isinstance(value, torch.Tensor | np.ndarray):
        return value.dtype, tuple(value.shape)
    if isinstance(value, list | tuple):
        return tuple(map(_kind, value))
    return type(value)
