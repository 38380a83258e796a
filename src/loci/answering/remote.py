"""Ask a run over the network: the answers of a `loci web` server, as the same `Answer` a local run gives.

Standard library only. Knows the server's address and interface; knows nothing of models or how answers are shown.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from loci.answering.answer import Answer
from loci.errors import LociError
from loci.text.questions import Question

ATTEMPTS = 5
"""How often a busy server is asked before giving up."""
PATIENCE = 60.0
"""Seconds to wait for one answer."""
LONGEST = 1 << 24
"""Bytes of the largest answer that is read."""
REMEMBERED = 20
"""Earlier questions the server takes along, to know whom a pronoun means."""
HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Server:
    """A `loci web` server."""

    url: str
    token: str | None = None

    def ask_all(
        self, run: str, questions: Iterable[str | Question], *, history: Sequence[str] = (), **options: float | None
    ) -> list[Answer]:
        """Ask one after the other; a pronoun may mean the subject of a question before."""
        said, answers = list(history), []
        for question in questions:
            text = question if isinstance(question, str) else question.text
            body = {"run": run, "question": text, "history": said[-REMEMBERED:], **options}
            answers.append(Answer.from_dict(self.post("/api/ask", body)))
            said.append(answers[-1].question)
        return answers

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON a route answers with; a busy server is asked again."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise LociError(f"--server {self.url} is no web address", remedy="like http://127.0.0.1:8137")
        request = Request(self.url.rstrip("/") + path, json.dumps(body).encode(), headers)
        opener = build_opener(ProxyHandler({})) if parts.hostname in HERE else build_opener()
        for attempt in range(ATTEMPTS):
            try:
                return self._once(opener, request)
            except HTTPError as error:
                if error.code == 503 and attempt + 1 < ATTEMPTS:
                    time.sleep(_seconds(error.headers.get("Retry-After")))
                    continue
                raise LociError(f"{self.url}: {_said(error)}") from None
        raise AssertionError("the last attempt answers or raises")

    def _once(self, opener: OpenerDirector, request: Request) -> Any:
        try:
            with opener.open(request, timeout=PATIENCE) as response:
                data = response.read(LONGEST + 1)
                if len(data) > LONGEST:
                    raise LociError(
                        f"{self.url} answers with over {LONGEST:,} bytes", remedy="is it a loci web server?"
                    )
                return json.loads(data)
        except HTTPError:
            raise
        except (URLError, OSError, HTTPException) as error:
            why = getattr(error, "reason", error)
            raise LociError(f"{self.url} does not answer: {why}", remedy="start it with: loci web RUN") from None
        except (ValueError, RecursionError):
            raise LociError(f"{self.url} did not answer with JSON", remedy="is it a loci web server?") from None


def _seconds(given: str | None) -> float:
    return min(float(given), 5.0) if given is not None and given.isdigit() else 1.0


def _said(error: HTTPError) -> str:
    """What the server says is wrong, or its status."""
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"answered with status {error.code}"
