import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from starlette.testclient import TestClient

from loci.answering.ask import load
from loci.errors import LociError
from loci.web.app import create_app
from loci.web.worker import Busy

QUESTION = "Where was Ana Lima born?"


@pytest.fixture(scope="module")
def client(run, tmp_path_factory):
    app = create_app([run], out=tmp_path_factory.mktemp("out"))
    with TestClient(app, base_url="http://127.0.0.1") as made:
        yield made


def test_ask_says_what_the_run_says(client, run):
    found = client.post("/api/ask", json={"run": "run", "question": QUESTION}).json()
    own = load(run).ask(QUESTION)
    assert found["answer"] == own.said
    assert found["probability"] == pytest.approx(own.probability, rel=1e-4)
    assert found["silence"] == own.silence


def test_a_batch_answers_in_order_and_an_unreadable_question_is_a_silent_row(client):
    asked = [QUESTION, "Where was 中 born?", QUESTION]
    answers = client.post("/api/ask/batch", json={"run": "run", "questions": asked}).json()["answers"]
    assert [answer["question"] for answer in answers] == asked
    assert answers[1]["silence"] == "unreadable"
    assert answers[0] == answers[2]


def test_nobody_s_pronoun_means_another_visitor_s_subject(client):
    """Questions of several visitors are answered in one batch; each was asked by itself."""
    worker = client.app.state.worker
    entered, release = threading.Event(), threading.Event()
    worker.call("hold", [0], lambda items: (entered.set(), release.wait(20), items)[2])
    assert entered.wait(20)
    with ThreadPoolExecutor(2) as visitors:
        asked = [QUESTION, "Where was she born?"]
        bodies = [{"run": "run", "question": question} for question in asked]
        answers = [visitors.submit(client.post, "/api/ask", json=body) for body in bodies]
        while worker.waiting < 3:
            time.sleep(0.01)
        release.set()
        first, second = (answer.result(60).json() for answer in answers)
    assert first["subject"] == "Ana Lima"
    assert second["subject"] is None
    assert second["silence"] == "unreadable"


def test_generation_streams_characters_and_names_the_loop(client):
    body = {"run": "run", "prompt": "Where", "length": 120, "temperature": 0}
    lines = [json.loads(line) for line in client.post("/api/generate", json=body).text.splitlines()]
    assert sum("text" in line for line in lines) == 120
    assert lines[-1] == {"done": True}
    assert any(line.get("loop") for line in lines)  # a model taught forty steps repeats itself at temperature 0


def test_activations_have_their_shapes_and_ablation_changes_the_text(client):
    body = {"run": "run", "text": QUESTION}
    found = client.post("/api/activations", json=body).json()
    n = len(QUESTION)
    assert found["activations"]["blocks.0.attn.pattern"]["shape"] == [2, n, n]
    assert len(found["symbols"]) == n
    assert client.post("/api/activations", json={**body, "ablate": [[9, 0]]}).status_code == 400


def test_looking_inside_and_intervening(client):
    seen = client.post("/api/look", json={"run": "run", "question": QUESTION}).json()
    assert len(seen["lens"]["probability"]) == 3  # the embedding and two layers
    body = {"run": "run", "question": QUESTION}
    same = client.post("/api/intervene", json=body).json()
    assert same["before_now"] == pytest.approx(same["before"]["probability"])
    itself = client.post("/api/intervene", json={**body, "patch_from": QUESTION}).json()
    assert itself["before_now"] == pytest.approx(same["before_now"], rel=1e-3)
    heads = {**body, "patch_from": "Where was Bo Ray born?", "patch_heads": [[0, 0], [1, 1]]}
    assert client.post("/api/intervene", json=heads).json()["before_now"] != pytest.approx(same["before_now"], rel=1e-4)
    assert client.post("/api/intervene", json={**heads, "patch_heads": [[7, 0]]}).status_code == 400
    off = client.post("/api/intervene", json={**body, "ablate": [[0, 0], [0, 1], [1, 0], [1, 1]]}).json()
    assert off["before_now"] != pytest.approx(same["before_now"], rel=1e-3)


def test_runs_people_reports_and_metrics(client):
    (row,) = client.get("/api/runs").json()
    assert (row["run"], row["state"], row["reports"]) == ("run", "finished", ["page"])
    people = client.get("/api/runs/run/people").json()
    assert set(people) >= {"only read about", "never read about", "one letter changed"}
    assert all(one["question"] == f"Where was {one['subject']} born?" for one in people["never read about"])
    assert "hello" in client.get("/reports/run/page").text
    events = client.get("/api/runs/run/metrics").text
    assert events.startswith("data: [{")
    assert "event: end" in events


def test_an_experiment_folder_shows_its_runs_its_page_and_the_course_s_table(run, tmp_path):
    folder = tmp_path / "table"
    (folder / "seed-0").mkdir(parents=True)
    shutil.copytree(run, folder / "seed-0" / "vanilla")
    rate = {"value": 0.2, "successes": 2, "n": 10, "low": 0.1, "high": 0.5}
    row = {"name": "vanilla", "explanation": "", "held_out": rate, "taught": None, "published": "22 %", "kinds": {}}
    (folder / "experiment.json").write_text('{"experiment": "course", "quick": true}')
    (folder / "results.json").write_text(json.dumps({"rows": [row]}))
    (folder / "report.html").write_text("<p>the table")
    with TestClient(create_app([folder], out=tmp_path / "out"), base_url="http://127.0.0.1") as client:
        (found,) = client.get("/api/experiments").json()
        assert (found["name"], found["experiment"], found["page"]) == ("table", "course", True)
        assert found["table"][0]["held_out"]["value"] == 0.2
        assert "the table" in client.get("/reports/table").text
        assert client.get("/reports/other").status_code == 404
        assert client.get("/reports/lab/other.html").status_code == 404
        assert [one["run"] for one in client.get("/api/runs").json()] == ["table-seed-0-vanilla"]
    with pytest.raises(LociError, match="neither a run nor an experiment"):
        create_app([folder / "seed-0" / "vanilla" / "final"], out=tmp_path / "out")


@pytest.mark.parametrize("name", ["other", "..", "../run", "/etc", "%2e%2e%2frun", "run/../run"])
def test_no_path_from_a_client_touches_the_disk(client, name):
    assert client.post("/api/ask", json={"run": name, "question": QUESTION}).status_code == 404
    quoted = quote(name, safe="")
    assert client.get(f"/api/runs/{quoted}/people").status_code == 404
    assert client.get(f"/reports/run/{quoted}").status_code in (404, 405)
    assert name == ".." or client.get(f"/static/{quoted}").status_code == 404


def test_a_full_queue_answers_503_with_retry_after(client, monkeypatch):
    def refuse(*args, **kwargs):
        raise Busy

    monkeypatch.setattr(client.app.state.worker, "call", refuse)
    response = client.post("/api/ask", json={"run": "run", "question": QUESTION})
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1


def test_machine_pages(client):
    assert client.get("/healthz").json()["status"] == "ok"
    assert "loci_questions_total" in client.get("/metrics").text
    assert "<title>Loci</title>" in client.get("/").text
    assert client.get("/static/js/main.js").status_code == 200


@pytest.mark.slow
def test_the_interface_survives_whatever_its_description_allows(run, tmp_path):
    """Schemathesis draws requests from the OpenAPI description: none may end in a server error."""
    app = create_app([run], out=tmp_path, hosts=("localhost", "testserver"))
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    found: Any = schema.get_all_operations()
    operations = [one.ok() for one in found]
    operations = [one for one in operations if not one.path.startswith("/api/trainings")]  # these start processes
    assert len(operations) >= 9
    for operation in operations:

        @settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None, database=None)
        @given(case=operation.as_strategy())
        def send(case):
            case.call_and_validate(checks=[not_a_server_error])

        send()
