"""One Python file that holds a model: cut out of our own sources, and nothing else.

Begins at named classes and follows every name they use through our modules. What only computes costs or checks configs
is left out, as are annotations, so that the file needs nothing but torch. Tables of classes (`ATTENTIONS`, …) shrink to
the one class that a config names. Works on source text and imports nothing; knows nothing of what the classes do.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

OWN = "loci"
#: Methods that a model needs to be designed or resumed, not to be used.
LEFT_OUT = {"cost", "check", "blind_after", "make_cache", "n_parameters", "to_dict", "from_dict", "__post_init__"}
LEFT_OUT |= {"_ask_axes", "windowed_cost"}
_FIELDS = {"NamedTuple", "dataclass"}  # classes whose annotations are their fields


class Name(NamedTuple):
    """A name at the top of a module."""

    module: str
    name: str


class _Module(NamedTuple):
    definitions: dict[str, ast.stmt]
    imports: dict[str, ast.stmt]
    """Names from other libraries, each with the line that imports it."""
    own: dict[str, Name]
    """Names from our other modules."""


def model_source(
    roots: list[Name],
    tables: Mapping[str, Mapping[str, str]],
    header: str,
    *,
    values: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """The file that defines the roots.

    Args:
        roots: Where to begin.
        tables: For each registry the entries that stay, as `module:class`.
        header: The file's docstring.
        values: Constants that are to be something else than in our sources.
    """
    imports: set[str] = set()
    ordered: dict[Name, str] = {}
    taken: dict[str, Name] = {}

    def visit(at: Name) -> None:
        at = _home(at)
        if at in ordered:
            return
        assert taken.setdefault(at.name, at) == at, f"two of our modules define {at.name}"
        ordered[at] = ""  # before its needs: functions may call each other
        if at.name in tables:
            entries = {key: Name(*place.split(":")) for key, place in tables[at.name].items()}
            for entry in entries.values():
                visit(entry)
            text = f"{at.name} = {{{', '.join(f'{key!r}: {entry.name}' for key, entry in entries.items())}}}"
        elif at.name in values:
            text = f"{at.name} = {values[at.name]!r}"
        else:
            node = _Trim().visit(_read(at.module).definitions[at.name])
            for used in _names(node):
                follow(at.module, used)
            text = ast.unparse(ast.fix_missing_locations(node))
        del ordered[at]  # its place is after what it needs
        ordered[at] = text

    def follow(module: str, used: str) -> None:
        found = _read(module)
        if used in found.definitions:
            visit(Name(module, used))
        elif used in found.own:
            visit(found.own[used])
        elif used in found.imports:
            imports.add(ast.unparse(found.imports[used]))

    for root in roots:
        visit(root)
    head = [f'"""{header}"""', "from __future__ import annotations", "\n".join(sorted(imports))]
    return "\n\n\n".join([*head, *ordered.values()]) + "\n"


@cache
def _read(module: str) -> _Module:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    found = _Module({}, {}, {})
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                local = alias.asname or alias.name
                if node.module.split(".")[0] == OWN:
                    found.own[local] = Name(node.module, alias.name)
                else:
                    found.imports[local] = ast.ImportFrom(node.module, [alias], 0)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found.imports[alias.asname or alias.name.split(".")[0]] = ast.Import([alias])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(name, ast.Name):
                        found.definitions[name.id] = node
    return found


def _home(at: Name) -> Name:
    """Where a name is defined: packages pass on the names of their modules."""
    found = _read(at.module)
    return at if at.name in found.definitions else _home(found.own[at.name])


def _names(node: ast.AST) -> list[str]:
    """The names a piece of code uses, in order; annotations are not among them."""
    if isinstance(node, ast.AnnAssign):
        return [] if node.value is None else _names(node.value)
    if isinstance(node, ast.Name):
        return [node.id]
    return [name for child in ast.iter_child_nodes(node) for name in _names(child)]


class _Trim(ast.NodeTransformer):
    """A definition without what only a designer or a type checker reads."""

    def __init__(self) -> None:
        self.fields = False  # inside a class whose annotations are fields

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self_fields = bool(_FIELDS & {*_names_of([*node.bases, *node.decorator_list])})
        outer, self.fields = self.fields, self_fields
        body = [self.visit(part) for part in node.body if getattr(part, "name", None) not in LEFT_OUT]
        self.fields = outer
        kept = [part for part in body if part is not None and not (self_fields and _is_text(part))]
        return ast.ClassDef(node.name, node.bases, node.keywords, kept or [ast.Pass()], node.decorator_list)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        outer, self.fields = self.fields, False
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            argument.annotation = None
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                extra.annotation = None
        body = [part for part in map(self.visit, _without_docstring(node.body)) if part is not None]
        self.fields = outer
        return ast.FunctionDef(node.name, arguments, body, node.decorator_list, None, None)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign | ast.Assign | None:
        if self.fields:
            return node
        return None if node.value is None else ast.Assign([node.target], node.value)


def _names_of(nodes: list[ast.expr]) -> list[str]:
    return [name for node in nodes for name in _names(node)]


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a text that only a reader sees."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return [part for part in body if not _is_text(part)] or [ast.Pass()]
