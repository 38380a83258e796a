"""Who may talk to the server, and what a browser may do with its pages: one ASGI layer around the application.

A page from elsewhere must not be able to use the reader's browser as a way in. So the Host header must name this server
(against DNS rebinding), a request that changes or computes something must come from our own page or from no page at all
(Origin, Sec-Fetch-Site), bodies are bounded, and every response carries a strict content security policy. With a token,
everything but the health check needs it. Knows nothing of runs or models.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1 << 20
COOKIE = "loci_token"
LOCAL = ("127.0.0.1", "localhost", "[::1]", "::1")
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; frame-ancestors 'self'"
)
"""Reports carry their scripts inside; they run in a sandbox of their own, without access to the page around them."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True)
class Guard:
    """The ASGI layer."""

    app: ASGIApp
    hosts: tuple[str, ...] = LOCAL
    """Names and addresses of this server, without the port."""
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with the body counted and the headers added."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        guarded_send = _with_headers(scope, send)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, guarded_send)
            return
        read, too_large = 0, False

        async def counted() -> Message:
            nonlocal read, too_large
            message = await receive()
            read += len(message.get("body", b""))
            if read > LARGEST_BODY and not too_large:
                too_large = True
                await _TOO_LARGE(scope, receive, guarded_send)
            return {"type": "http.disconnect"} if too_large else message

        async def unless_refused(message: Message) -> None:
            if not too_large:
                await guarded_send(message)

        try:
            await self.app(scope, counted, unless_refused)
        except Exception:
            if not too_large:  # else it is the application's own surprise at a body that ended early
                raise

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            return _refuse(421, f"this server is not called {host[:100]!r}")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return _refuse(403, "requests from other pages are refused")
        if headers.get("sec-fetch-site", "none") == "cross-site" and scope["path"].startswith("/api"):
            return _refuse(403, "requests from other sites are refused")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            return _TOO_LARGE
        return None if self.token is None or scope["path"] == "/healthz" else self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """None for a request with the token; a visit with it in the address gets it as a cookie."""
        assert self.token is not None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and _same(given, self.token):
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return response
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if any(_same(value, self.token) for value in (bearer, cookie.value if cookie else "")):
            return None
        return _refuse(401, "this server asks for its token: open the address it printed, or send it as a bearer token")


def _name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].lower()


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _refuse(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status_code=status)


_TOO_LARGE = _refuse(413, f"a body has at most {LARGEST_BODY:,} bytes")


def _with_headers(scope: Scope, send: Send) -> Send:
    report = scope["path"].startswith("/reports/")

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["Content-Security-Policy"] = REPORT_POLICY if report else PAGE_POLICY
            if scope["path"].startswith("/api"):
                headers["Cache-Control"] = "no-store"
        await send(message)

    return sending
