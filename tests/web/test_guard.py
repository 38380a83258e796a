import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from loci.web.guard import LARGEST_BODY, Guard


async def hello(request):
    await request.body()
    return PlainTextResponse("hello")


PATHS = ("/", "/api/ask", "/healthz", "/reports/run/report")


def client(**options):
    app = Starlette(routes=[Route(path, hello, methods=["GET", "POST"]) for path in PATHS])
    return TestClient(Guard(app, **options), base_url="http://127.0.0.1:8137")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:8137"])
def test_another_host_name_is_refused(host):
    assert client().get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8137", "localhost:8137", "[::1]:8137"])
def test_our_own_names_are_served(host):
    assert client().get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_page_may_not_talk_to_it(headers):
    assert client().post("/api/ask", json={}, headers=headers).status_code == 403


def test_our_own_page_may():
    headers = {"Origin": "http://127.0.0.1:8137", "Sec-Fetch-Site": "same-origin"}
    assert client().post("/api/ask", json={}, headers=headers).status_code == 200


def test_bodies_are_bounded_whether_they_say_their_length_or_not():
    assert client().post("/api/ask", content=b"x" * (LARGEST_BODY + 1)).status_code == 413
    chunks = (b"x" * 65536 for _ in range(LARGEST_BODY // 65536 + 2))
    assert client().post("/api/ask", content=chunks).status_code == 413


def test_every_response_has_a_strict_policy():
    for path in PATHS:
        headers = client().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert ("unsafe-inline" in headers["content-security-policy"]) == path.startswith("/reports/")
    assert "sandbox" in client().get("/reports/run/report").headers["content-security-policy"]


def test_a_token_opens_the_door_by_address_cookie_or_header():
    made = client(token="secret")
    assert made.get("/").status_code == 401
    assert made.get("/healthz").status_code == 200
    assert made.post("/api/ask", json={}, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert made.post("/api/ask", json={}, headers={"Authorization": "Bearer secret"}).status_code == 200
    assert made.get("/", params={"token": "secret"}).status_code == 200  # follows to / with the cookie
    assert made.get("/").status_code == 200
