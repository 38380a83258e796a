"""The nearest name: by spelling, or in vectors of the caller's.

Knows nothing of answers or of what a nearness means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError

_ITSELF = np.iinfo(np.uint16).max
_CHUNK = 2048  # queries at a time: the table of distances stays in a few megabytes


def nearest_by_spelling(queries: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each query all names at the least edit distance (insert, delete, replace: 1 each), itself left out."""
    try:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist
    except ImportError:
        raise LociError("comparing names needs rapidfuzz", remedy="pip install rapidfuzz") from None
    names = list(dict.fromkeys(names))
    if not names:
        return dict.fromkeys(queries, ())
    found: dict[str, tuple[str, ...]] = {}
    wanted = list(dict.fromkeys(queries))
    column = {name: index for index, name in enumerate(names)}
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        distances: NDArray[np.uint16] = cdist(chunk, names, scorer=Levenshtein.distance, dtype=np.uint16)
        for row, query in enumerate(chunk):
            if query in column:
                distances[row, column[query]] = _ITSELF
        least = distances.min(axis=1)
        least[least == _ITSELF] = 0  # nobody else there: a distance that no name has
        rows, places = np.divmod(np.flatnonzero(distances == least[:, None]), len(names))
        ends = np.searchsorted(rows, np.arange(len(chunk) + 1))
        best = [names[place] for place in places]
        found.update((query, tuple(best[ends[row] : ends[row + 1]])) for row, query in enumerate(chunk))
    return found


def nearest_by_vector(
    queries: Sequence[str], names: Sequence[str], vectors: Mapping[str, NDArray[np.floating]]
) -> dict[str, tuple[str, ...]]:
    """For each query the name of highest cosine, itself left out; names without a vector take no part."""
    known = [name for name in dict.fromkeys(names) if name in vectors]
    wanted = [query for query in dict.fromkeys(queries) if query in vectors]
    if not known or not wanted:
        return {}
    targets = _unit(np.stack([vectors[name] for name in known]))
    column = {name: index for index, name in enumerate(known)}
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        cosines = _unit(np.stack([vectors[query] for query in chunk])) @ targets.T
        for row, query in enumerate(chunk):
            if query in column:
                cosines[row, column[query]] = -np.inf
        best = cosines.argmax(axis=1)
        for row, query in enumerate(chunk):
            if np.isfinite(cosines[row, best[row]]):
                found[query] = (known[best[row]],)
    return found


def _unit(matrix: NDArray[np.floating]) -> NDArray[np.float32]:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(norms == 0, 1, norms), dtype=np.float32)
