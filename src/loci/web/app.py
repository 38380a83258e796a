"""The application: routes, each a few lines around the library, the worker and the packages that do the work.

Handlers are asynchronous and never compute: inference goes to the one worker, a full queue answers 503 with
Retry-After. Client input never becomes a path. `create_app` makes it; `loci web` serves it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles

from loci import __version__
from loci.errors import LociError
from loci.training.lock import is_owned
from loci.web import inside, requests
from loci.web.errors import ERRORS, add_errors, error_response
from loci.web.guard import LOCAL, Guard
from loci.web.library import Library
from loci.web.trainings import Trainings, read_new_metrics
from loci.web.worker import Worker

STATIC = resources.files("loci.web").joinpath("static")
POLL_SECONDS = 0.5
HTML = "text/html; charset=utf-8"


def create_app(
    runs: Sequence[Path] = (),
    *,
    out: Path = Path("web-runs"),
    hosts: Sequence[str] = LOCAL,
    token: str | None = None,
    queue: int = 64,
) -> FastAPI:
    """The application for these runs; trainings started from the page go below `out`."""
    library, trainings, worker = Library(runs, out), Trainings(out), Worker(queue)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(trainings.close)
        worker.close()

    app = FastAPI(
        title="Loci",
        version=__version__,
        summary="Ask small transformers what they know, and see how they know it.",
        lifespan=lifespan,
        docs_url=None,  # their page would load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses=ERRORS,
    )
    app.state.worker, app.state.trainings, app.state.library = worker, trainings, library
    add_errors(app)
    _add_answers(app, library, worker)
    _add_pages(app, worker)
    _add_runs(app, library, trainings)
    app.add_middleware(Guard, hosts=tuple(hosts), token=token)
    return app


def _add_answers(app: FastAPI, library: Library, worker: Worker) -> None:
    async def one(key: object, item: Any, work: Callable[[Any], Any]) -> Any:
        """Let the worker do one thing by itself."""
        future = worker.call((key, id(item)), [item], lambda items: [work(each) for each in items])
        return (await asyncio.wrap_future(future))[0]

    @app.post("/api/ask", tags=["answers"])
    async def ask(asked: requests.Ask) -> Response:
        """Ask one question: answer, probability, alternatives, the reason for silence, the lines that support it."""
        library.path(asked.run)
        options = {name: getattr(asked, name) for name in ("threshold", "alternatives", "lines")}
        if asked.history:  # whom a pronoun means is this visitor's own: asked alone
            ask_it = lambda each: library.load(asked.run).ask(each, history=asked.history, **options).as_dict()  # noqa: E731
            return JSONResponse(await one("history", asked.question, ask_it))
        answers = partial(_answers_apart, library, asked.run, options)
        future = worker.call(("ask", asked.run, *options.values()), [asked.question], answers)
        return JSONResponse((await asyncio.wrap_future(future))[0])  # plain data: FastAPI need not look through it

    @app.post("/api/ask/batch", tags=["answers"])
    async def ask_batch(asked: requests.AskBatch) -> Response:
        """Ask several questions in one go."""
        library.path(asked.run)

        def answers(questions: list[str]) -> list[dict[str, Any]]:
            found = library.load(asked.run).ask_all(questions, threshold=asked.threshold, alternatives=0, lines=0)
            return [answer.as_dict() for answer in found]

        future = worker.call(("batch", id(asked)), asked.questions, answers)
        return JSONResponse({"run": asked.run, "answers": await asyncio.wrap_future(future)})

    @app.post("/api/generate", tags=["answers"], response_class=StreamingResponse)
    async def generate(wanted: requests.Generate, request: Request) -> StreamingResponse:
        """Continue a text. Lines of JSON: `{"text": …}` per character, `{"loop": {entry, period}}` once it loops."""
        library.path(wanted.run)
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[Any]()
        writing = worker.write(
            inside.written(library, wanted), lambda piece: loop.call_soon_threadsafe(pieces.put_nowait, piece)
        )

        async def lines() -> AsyncIterator[str]:
            try:
                while (piece := await pieces.get()) is not None:
                    if isinstance(piece, BaseException):
                        said = str(piece) if isinstance(piece, LociError) else "something went wrong"
                        yield json.dumps({"error": said}) + "\n"
                        return
                    yield json.dumps(piece, ensure_ascii=False) + "\n"
                yield json.dumps({"done": True}) + "\n"
            finally:  # also when the visitor closed the tab
                writing.cancel()

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    @app.post("/api/activations", tags=["inside"])
    async def activations(wanted: requests.Activations) -> dict[str, Any]:
        """Activations of a text by name: shape and base64 of little-endian float32, with the text's symbols."""
        library.path(wanted.run)
        return dict(await one("activations", wanted, lambda each: inside.activations(library, each)))

    @app.post("/api/look", tags=["inside"])
    async def look(wanted: requests.Look) -> dict[str, Any]:
        """The inside of one answer: attention over the characters, and the answer forming layer by layer."""
        library.path(wanted.run)
        return dict(await one("look", wanted, lambda each: inside.look_at(library, each)))

    @app.post("/api/intervene", tags=["inside"])
    async def intervene(wanted: requests.Intervene) -> dict[str, Any]:
        """The answer's probability with heads ablated or another name patched in, next to the untouched one."""
        library.path(wanted.run)
        return dict(await one("intervene", wanted, lambda each: inside.intervened(library, each)))


def _answers_apart(library: Library, run: str, options: dict[str, Any], questions: list[str]) -> list[dict[str, Any]]:
    """Answers to several visitors: what they ask alike is asked once, and nobody's "she" means another's subject."""
    distinct = list(dict.fromkeys(questions))
    asker = library.load(run)
    answers = dict(zip(distinct, asker.ask_all(distinct, **options), strict=True))
    found = {
        question: answer if answer.pronoun is None else asker.ask(question, **options)
        for question, answer in answers.items()
    }
    return [found[question].as_dict() for question in questions]


def _add_runs(app: FastAPI, library: Library, trainings: Trainings) -> None:
    @app.get("/api/runs", tags=["runs"])
    async def runs() -> list[dict[str, Any]]:
        """All runs that can be asked or watched, and the state of each."""
        return await asyncio.to_thread(library.summaries)

    @app.get("/api/experiments", tags=["runs"])
    async def experiments() -> list[dict[str, Any]]:
        """The experiments in the given folders; the course's with its table."""
        return await asyncio.to_thread(library.experiments)

    @app.get("/api/runs/{run}/people", tags=["runs"])
    async def people(run: str) -> dict[str, list[dict[str, str]]]:
        """Questions to try: about people asked about in training, only read about, never read about."""
        library.path(run)
        future = app.state.worker.call(("people", run), [run], lambda names: [library.people(name) for name in names])
        found: list[dict[str, list[dict[str, str]]]] = await asyncio.wrap_future(future)
        return found[0]

    @app.get("/api/runs/{run}/metrics", tags=["runs"], response_class=StreamingResponse)
    async def metrics(run: str, request: Request) -> StreamingResponse:
        """Server-sent events with the loss of every step so far and, while it trains, of every step to come."""
        path = library.path(run)

        async def events() -> AsyncIterator[str]:
            at = 0
            while not await request.is_disconnected():
                rows, at = await asyncio.to_thread(read_new_metrics, path, at)
                if rows:
                    yield f"data: {json.dumps(rows)}\n\n"
                    continue
                if not is_owned(path):
                    yield "event: end\ndata: {}\n\n"
                    return
                yield ": still there\n\n"
                await asyncio.sleep(POLL_SECONDS)

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.get("/api/trainings", tags=["runs"])
    async def list_trainings() -> list[dict[str, Any]]:
        """The trainings this server started."""
        return [one.as_dict() for one in trainings.all.values()]

    @app.post("/api/trainings", tags=["runs"])
    async def start(wanted: requests.StartTraining) -> dict[str, Any]:
        """Start a small training."""
        if wanted.kind == "recipe":
            options = {"people": wanted.people, "characters": wanted.characters, "seed": wanted.seed}
            return trainings.start_run(recipe=wanted.recipe, **options).as_dict()
        if wanted.kind == "course":
            return trainings.start_course().as_dict()
        return trainings.start_demo(quick=wanted.kind == "quick-demo", seed=wanted.seed).as_dict()

    @app.post("/api/trainings/{name}/stop", tags=["runs"])
    async def stop(name: str) -> dict[str, Any]:
        """Stop a training; its checkpoint stays."""
        return trainings.stop(name).as_dict()

    @app.post("/api/trainings/{name}/resume", tags=["runs"])
    async def resume(name: str) -> dict[str, Any]:
        """Continue a stopped training."""
        return trainings.resume(name).as_dict()

    @app.get("/reports/{run}/{report}", include_in_schema=False)
    async def report(run: str, report: str) -> Response:
        return _page(next((page for page in library.reports(run) if page.stem == report), None))

    @app.get("/reports/{experiment}", include_in_schema=False)
    async def experiment_report(experiment: str) -> Response:
        return _page(library.experiment_page(experiment))


def _page(found: Path | None) -> Response:
    return error_response(404, "no such report") if found is None else FileResponse(found, media_type=HTML)


def _add_pages(app: FastAPI, worker: Worker) -> None:
    @app.get("/api/lab", tags=["inside"])
    async def exercises() -> list[dict[str, Any]]:
        """The written exercises on attention, each with its text and the playground's settings for it."""
        return await asyncio.to_thread(inside.exercises)

    @app.get("/reports/lab/{exercise}.html", include_in_schema=False)
    async def exercise_page(exercise: str) -> Response:
        page = await asyncio.to_thread(inside.exercise_page, exercise)
        return error_response(404, "no such exercise") if page is None else Response(page, media_type=HTML)

    @app.get("/healthz", tags=["machine"])
    async def health() -> dict[str, Any]:
        """Whether the server is there, and how many wait."""
        return {"status": "ok", "version": __version__, "waiting": worker.waiting}

    @app.get("/metrics", tags=["machine"], response_class=PlainTextResponse)
    async def prometheus() -> str:
        """Counters in Prometheus' text format."""
        counts = worker.counts
        rows = (
            ("loci_waiting", "gauge", "Calls that wait or are being worked on", worker.waiting),
            ("loci_calls_total", "counter", "Calls of the model", counts.calls),
            ("loci_questions_total", "counter", "Questions and other items in these calls", counts.items),
            ("loci_batches_total", "counter", "Batches the model worked through", counts.batches),
            ("loci_refused_total", "counter", "Calls refused because the queue was full", counts.refused),
            ("loci_characters_total", "counter", "Characters written by generation", counts.written),
        )
        return "".join(f"# HELP {n} {text}\n# TYPE {n} {kind}\n{n} {value}\n" for n, kind, text, value in rows)

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(str(STATIC.joinpath("index.html")), headers={"Cache-Control": "no-cache"})

    app.mount("/static", StaticFiles(directory=str(STATIC)), name="static")
