"""Named points of a forward pass: what is computed there can be read, and replaced.

A module that computes something worth a name calls `show(tap, name, value)` and continues with what comes back. Without
a tap that is the value itself, and nothing else happens. With one, the value is replaced if there is a patch for the
name, then kept if the name was asked for. Knows nothing of models or of which names there are: see `activations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from torch import Tensor

from loci.errors import LociError

#: What replaces a value: a tensor that broadcasts to its shape, or a function from the value to the new one.
Patch = Tensor | Callable[[Tensor], Tensor]
#: Attention weights of every block, first to last: what a model returns when asked for a trace.
Trace = tuple[Tensor, ...]


class Tap:
    """Names to keep, patches to apply, and what was kept, in the order of the forward pass."""

    def __init__(self, names: Sequence[str], patch: Mapping[str, Patch] | None = None, *, sparse: bool = False):
        """`sparse`: parts of the model in which nothing is wanted run without the tap, on their fast path, whose values
        differ in the last digits."""
        self.names = names
        self.sparse = sparse
        self.patch = patch or {}
        self.kept: dict[str, Tensor] = {}
        self._prefix = ""

    def at(self, part: str) -> Tap:
        """The same tap for a part of the model: its names begin with `part`."""
        inner = Tap(self.names, self.patch, sparse=self.sparse)
        inner.kept, inner._prefix = self.kept, f"{self._prefix}{part}."
        return inner

    def is_wanted(self) -> bool:
        """Whether a name below this part may be asked for or patched."""
        if not self.sparse:
            return True
        heads = ((name, re.split(r"[*?[]", name, maxsplit=1)[0]) for name in (*self.names, *self.patch))
        start = self._prefix
        return any(head.startswith(start) or (head != name and start.startswith(head)) for name, head in heads)

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """Replace the value if it is patched, keep it if it was asked for, and return it."""
        name = self._prefix + name
        if name in self.patch:
            value = _patched(name, value, self.patch[name])
        if any(fnmatchcase(name, wanted) for wanted in self.names):
            self.kept[name] = value
        return value


def show(tap: Tap | None, name: str, value: Tensor) -> Tensor:
    """The value, as the tap leaves it; just the value when there is no tap."""
    return value if tap is None else tap(name, value)


def inside(tap: Tap | None, part: str) -> Tap | None:
    """The tap of a part of the model; None where there is none, or where a sparse one wants nothing in that part."""
    if tap is None:
        return None
    inner = tap.at(part)
    return inner if inner.is_wanted() else None


def _patched(name: str, value: Tensor, patch: Patch) -> Tensor:
    new = patch if isinstance(patch, Tensor) else patch(value)
    try:
        return new.to(value).expand_as(value)
    except RuntimeError:
        raise LociError(
            f"the patch of {name} has the shape {tuple(new.shape)}, which does not fit {tuple(value.shape)}"
        ) from None
