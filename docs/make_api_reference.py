"""Write docs/api.md from the docstrings of what `import loci` offers. Run by `make docs`; checked by a test."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import loci
from loci.registry import Registry

TARGET = Path(__file__).with_name("api.md")
FIRST = ("load", "train", "evaluate", "make_world", "recipe", "Run", "Answer", "Evaluation", "Activations")


def reference() -> str:
    """The whole page."""
    others = [name for name in loci.__all__ if name not in FIRST and not name.startswith("_")]
    intro = (
        "# Python\n\nMade by `make docs` from the docstrings. Every name is offered by `import loci`, which imports "
        "nothing heavy until a name is used. [The guide](guide/python.md) shows them at work.\n"
    )
    return "\n".join([intro, *(part for name in (*FIRST, *others) for part in described(name))])


def described(name: str) -> Iterator[str]:
    """The section of one name."""
    thing = getattr(loci, name)
    yield f"## loci.{name}\n"
    if isinstance(thing, Registry):
        yield f"What is registered by name, each a {thing.kind}: {', '.join(f'`{one}`' for one in thing)}.\n"
        return
    if not made_by_others(thing):
        yield code(f"{name}{signature(thing)}")
    yield documentation(thing)
    if inspect.isclass(thing):
        yield from members(thing)


def made_by_others(thing: object) -> bool:
    """Whether a class is returned by a function and not called by hand: its signature would only distract."""
    return inspect.isclass(thing) and thing.__name__ in ("Run", "Answer", "Evaluation", "Activations", "LociError")


def members(cls: type) -> Iterator[str]:
    """Fields, properties and methods of a class, but for what it has from outside Loci."""
    if is_dataclass(cls):
        told = field_docs(cls)
        rows = [f"- `{one.name}: {one.type}`{told.get(one.name, '')}" for one in fields(cls)]
        yield "\n".join(rows)
    methods = []
    for name, member in inspect.getmembers(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
        if name.startswith("_") or not owner.__module__.startswith("loci"):
            continue
        if isinstance(member, property) or hasattr(member, "func"):
            function = member.fget if isinstance(member, property) else member.func
            yield f"- `.{name}`: {inspect.getdoc(function) or ''}"
        elif inspect.isfunction(member) or inspect.ismethod(member):
            methods += [f"\n### {cls.__name__}.{name}\n", code(f"{name}{signature(member)}"), documentation(member)]
    yield from methods


def field_docs(cls: type) -> dict[str, str]:
    """The strings that stand below the fields of a dataclass and its bases."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith("loci"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for one, following in zip(body.body, body.body[1:], strict=False):
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(following, ast.Expr):
                text = ast.literal_eval(following.value) if isinstance(following.value, ast.Constant) else ""
                found[one.target.id] = ": " + " ".join(str(text).split())
    return found


def signature(function: object) -> str:
    """Parameters with their types, one a line where they are many."""
    found = inspect.signature(function)  # type: ignore[arg-type]
    parts: list[str] = []
    for one in found.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        # A function as a default is shown with its address, which differs from run to run.
        parts.append(str(one.replace(default=...) if inspect.isfunction(one.default) else one))
    nothing = found.return_annotation is found.empty or inspect.isclass(function)
    answer = "" if nothing else f" -> {found.return_annotation}"
    text = f"({', '.join(parts)}){answer}"
    if len(text) > 90:
        text = "(\n" + "".join(f"    {part},\n" for part in parts) + f"){answer}"
    return text.replace("Ellipsis", "…").replace("'", "")


def documentation(thing: object) -> str:
    """A docstring as Markdown: its arguments become a list."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    text = []
    for line in lines:
        if line.startswith("    ") and text and text[-1].startswith("- ") and line.startswith("        "):
            text[-1] += " " + line.strip()
        elif "Args:" in text and line.startswith("    "):
            name, _, rest = line.strip().partition(": ")
            text.append(f"- `{name}`: {rest}")
        else:
            text.append(line)
    return "\n".join(line for line in text if line != "Args:") + "\n"


def code(text: str) -> str:
    """A block of Python."""
    return f"```python\n{text}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
