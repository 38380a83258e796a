"""Edit a file of a run or checkpoint as somebody would who also mends its manifest."""

import hashlib
import json


def rewrite(file, edit):
    """Change a JSON file in place; the manifest next to it then says its new hash."""
    data = json.loads(file.read_text(encoding="utf-8"))
    edit(data)
    file.write_text(json.dumps(data), encoding="utf-8")
    record(file)


def record(file):
    """Let the manifest next to a file say its present hash."""
    manifest = json.loads((file.parent / "manifest.json").read_text(encoding="utf-8"))
    manifest["sha256"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    (file.parent / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
