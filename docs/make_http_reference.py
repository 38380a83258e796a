"""Write docs/http.md from the web lab's own OpenAPI description. Run by `make docs`; checked by a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loci.web.app import create_app

TARGET = Path(__file__).with_name("http.md")
INTRO = """# HTTP

Made by `make docs` from the web lab's OpenAPI description, which `loci web` serves at `/api/openapi.json`. Bodies and
answers are JSON. An error has one field, `error`, that says what is wrong and what to do. With `--token` every call needs
the header `Authorization: Bearer TOKEN`. [The web lab](guide/web.md) shows a client in three lines.
"""


def reference() -> str:
    """The whole page."""
    schema = create_app().openapi()
    parts = [INTRO]
    for path, methods in schema["paths"].items():
        for method, about in methods.items():
            parts.append(f"## {method.upper()} {path}\n")
            parts.append(about.get("description") or about.get("summary", ""))
            parts.append(parameters(about) + body(about, schema))
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


def parameters(about: dict[str, Any]) -> str:
    """The parts of the path and query."""
    names = [f"`{one['name']}` ({one['in']})" for one in about.get("parameters", ())]
    return f"\nParameters: {', '.join(names)}.\n" if names else ""


def body(about: dict[str, Any], schema: dict[str, Any]) -> str:
    """The fields of the body, with their kinds, defaults and bounds."""
    content = about.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return ""
    name = content["schema"]["$ref"].rsplit("/", 1)[-1]
    found = schema["components"]["schemas"][name]
    lines = ["\n| field | kind | default | bounds |", "|---|---|---|---|"]
    for field, one in found["properties"].items():
        needed = "required" if field in found.get("required", ()) else f"`{one.get('default')}`"
        lines.append(f"| `{field}` | {kind(one)} | {needed} | {bounds(one)} |")
    return "\n".join(lines)


def kind(one: dict[str, Any]) -> str:
    """What a value is, in a word or two."""
    if "anyOf" in one:
        return " or ".join(kind(part) for part in one["anyOf"])
    if "enum" in one:
        return ", ".join(f"`{value}`" for value in one["enum"])
    if one.get("type") == "array":
        return f"list of {kind(one['items']) if 'items' in one else 'pairs'}"
    return str(one.get("type", "value"))


def bounds(one: dict[str, Any]) -> str:
    """The limits that a call is held to."""
    words = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "minLength": "length ≥", "maxLength": "length ≤"}
    words |= {"minItems": "items ≥", "maxItems": "items ≤"}
    sources = [one, *one.get("anyOf", ())]
    return ", ".join(f"{word} {part[key]:,}" for key, word in words.items() for part in sources if key in part)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
