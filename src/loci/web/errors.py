"""Errors as clients get them: JSON with one field `error`, and their place in the OpenAPI. Knows no routes."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from loci.errors import LociError
from loci.web.library import UnknownRun
from loci.web.worker import Busy

RETRY_SECONDS = 1
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    for status, text in {
        400: "Bad input, said in one line",
        404: "No such run",
        413: "The body is too large",
        422: "A field is missing or out of bounds",
        503: "The queue is full: try again",
    }.items()
}


def add_errors(app: FastAPI) -> None:
    """Turn what handlers raise into answers, and describe them in the OpenAPI."""

    @app.exception_handler(LociError)
    async def bad_input(request: Request, error: LociError) -> Response:
        return error_response(404 if isinstance(error, UnknownRun) else 400, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return error_response(422, f"{where}: {first['msg']}" if where else str(first["msg"]))

    @app.exception_handler(HTTPException)
    async def no_route(request: Request, error: HTTPException) -> Response:
        return error_response(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        return error_response(503, "too many questions are waiting", {"Retry-After": str(RETRY_SECONDS)})

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = FastAPI.openapi(app)
            made["components"]["schemas"]["Error"] = {
                "type": "object",
                "required": ["error"],
                "properties": {"error": {"type": "string", "description": "What is wrong and what to do about it."}},
            }
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]


def error_response(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error as a client gets it: one field."""
    return JSONResponse({"error": message}, status_code=status, headers=headers)
