"""Open the web lab: a local page to ask runs, look inside them and play with attention.

examples:
  loci web                          without a run: the page offers to train the demo
  loci web run other-run            two runs, side by side
  loci web experiment-course        an experiment: its runs, its page, the course's table
  loci web run --port 9000 --no-browser
  loci web run --host 0.0.0.0       reachable from other machines: asks for the token it prints
"""

from __future__ import annotations

from pathlib import Path

SHORTEST_TOKEN = 8
"""Characters of a token that nobody guesses by trying."""


def web(
    runs: tuple[Path, ...] = (),
    /,
    out: Path = Path("web-runs"),
    host: str = "127.0.0.1",
    port: int = 8137,
    no_browser: bool = False,
    token: str | None = None,
    threads: int = 1,
    queue: int = 64,
) -> int:
    """Serve the web lab.

    Args:
        runs: Folders that `loci train` wrote, or folders of runs and experiments.
        out: Where trainings started from the page are kept.
        host: The address to listen on.
        port: The port to listen on; 0 takes a free one.
        no_browser: Do not open a browser.
        token: What visitors must know; chosen at random when --host is not this machine's own.
        threads: Processor cores that answers may use. Small models need one; two wait for each other on a busy machine.
        queue: Questions that may wait before the server answers 503.
    """
    import importlib.util
    import secrets
    import socket
    import threading
    import webbrowser

    from loci.errors import LociError

    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise LociError("the web lab needs FastAPI and uvicorn", remedy="pip install 'loci-lab[web]'")
    import torch
    import uvicorn

    from loci.training.memory import keep_freed_memory
    from loci.web.app import create_app
    from loci.web.guard import LOCAL

    if token is not None and len(token) < SHORTEST_TOKEN:
        raise LociError(
            f"--token has {len(token)} characters", remedy=f"give {SHORTEST_TOKEN} or more, or leave it out"
        )
    local = host in LOCAL
    secret = token if token is not None else None if local else secrets.token_urlsafe(16)
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise LociError(f"cannot listen on {host}:{port}: {error.strerror}", remedy="choose another --port") from None
    number = listening.getsockname()[1]
    names = LOCAL if local else (*LOCAL, host, socket.gethostname().lower(), *_addresses())
    app = create_app(runs, out=out, hosts=names, token=secret, queue=queue)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{number}/" + (f"?token={secret}" if secret else "")
    print(f"the web lab is at {address} (ctrl-C ends it)", flush=True)
    if not no_browser:
        threading.Timer(0.7, webbrowser.open, (address,)).start()
    torch.set_num_threads(threads)
    keep_freed_memory()  # every batch needs the same buffers again
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3))
    server.run(sockets=[listening])
    return 0


def _addresses() -> tuple[str, ...]:
    """This machine's own addresses, as visitors may type them."""
    import socket

    try:
        return tuple({str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)})
    except OSError:
        return ()
