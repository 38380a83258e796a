"""What generation remembers: one clock for the whole model, one small store for each attention layer.

Rows of a batch may have different lengths: each has its own position on the clock, new characters are written there,
and a query sees only the positions up to its own. The model moves the clock, once per forward pass; a layer never
does. Knows nothing of attention classes: a layer decides what it stores.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Clock:
    """How many characters each row has stored. Kept as one integer while all rows agree, which is the fast path."""

    def __init__(self, batch: int, capacity: int, device: torch.device):
        self.batch = batch
        self.capacity = capacity
        self.device = device
        self.uniform: int | None = 0  # the common length, or None once rows differ
        self.lengths = torch.zeros(batch, dtype=torch.long, device=device)
        self.longest = 0  # upper bound of lengths, known without reading the tensor
        self._next: dict[int, Tensor] = {}  # positions already worked out since the clock last moved

    def positions(self, width: int) -> Int[Tensor, "b T"]:
        """Positions that the next `width` characters of each row will take: (1, T) while rows agree, else (B, T)."""
        if width not in self._next:
            if self.uniform is not None:
                self._next[width] = torch.arange(self.uniform, self.uniform + width, device=self.device)[None]
            else:
                self._next[width] = self.lengths[:, None] + torch.arange(width, device=self.device)
        return self._next[width]

    def visible(self, width: int) -> Bool[Tensor, "b 1 T S"]:
        """Which stored positions each of the next `width` characters may look at, its own included."""
        keys = torch.arange(self.longest + width, device=self.device)
        return (keys[None, None, :] <= self.positions(width)[:, :, None])[:, None]

    def advance(self, width: int) -> None:
        """Count `width` characters more on every row."""
        assert self.longest + width <= self.capacity, "the cache is full"
        self.longest += width
        self._next.clear()
        self.lengths = self.lengths + width
        if self.uniform is not None:
            self.uniform += width

    def set_lengths(self, lengths: Int[Tensor, "B"]) -> None:
        """After a prompt was read right-padded: each row's true length. What lies beyond is overwritten in time."""
        self._next.clear()
        self.lengths = lengths.clone()
        self.longest = int(lengths.max())
        self.uniform = self.longest if bool((lengths == self.longest).all()) else None

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Keep (or repeat, or reorder) these rows: finished rows leave, beams branch."""
        self.batch = len(rows)
        self.set_lengths(self.lengths[rows])


class LayerCache:
    """Named tensors of shape (B, H, capacity, D) that one layer fills along its third dimension."""

    def __init__(self, clock: Clock):
        self.clock = clock
        self.stores: dict[str, Tensor] = {}

    def extend(self, name: str, new: Float[Tensor, "B H T D"]) -> Float[Tensor, "B H S D"]:
        """Write the new characters at each row's position; returns all that is stored so far, the new ones included."""
        clock, width = self.clock, new.shape[2]
        if name not in self.stores:
            batch, heads, _, channels = new.shape
            self.stores[name] = new.new_zeros(batch, heads, clock.capacity, channels)
        store = self.stores[name]
        if clock.uniform is not None:
            store[:, :, clock.uniform : clock.uniform + width] = new
        else:
            rows = torch.arange(new.shape[0], device=new.device)[:, None]
            store[rows, :, clock.positions(width)] = new.transpose(1, 2)
        return store[:, :, : clock.longest + width]

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Keep these rows."""
        # index_select copies whole rows; store[rows] copies number by number, and that was a third of a batch's time
        self.stores = {name: store.index_select(0, rows) for name, store in self.stores.items()}

    def move(self, rows: Int[Tensor, "b"], there: Int[Tensor, "b"]) -> None:
        """Write these rows over those, all at once; the others stay where they are."""
        for store in self.stores.values():
            store.index_copy_(0, there, store.index_select(0, rows))

    def take(self, rows: Int[Tensor, "b"], clock: Clock) -> LayerCache:
        """A copy of some rows on a clock of their own, for a step that only they take."""
        part = type(self)(clock)
        part.stores = {name: store[rows] for name, store in self.stores.items()}
        return part

    def put(self, rows: Int[Tensor, "b"], part: LayerCache) -> None:
        """Write rows that were taken back."""
        for name, store in part.stores.items():
            self.stores[name][rows] = store


class Cache:
    """The clock and every layer's store."""

    def __init__(self, clock: Clock, layers: list[LayerCache]):
        self.clock = clock
        self.layers = layers

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Keep, repeat or reorder rows in every layer; where their number stays, only those that change are copied."""
        before = self.clock.batch
        self.clock.select(rows)
        if len(rows) != before:
            for layer in self.layers:
                layer.select(rows)
        elif len(there := (rows != torch.arange(before, device=rows.device)).nonzero().flatten()):
            for layer in self.layers:
                layer.move(rows[there], there)
