"""Imports point downward only, nobody imports the facade, and nothing but the standard library is needed."""

import ast
import re
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "toolstream"

LAYERS = [  # lowest first; a package (transport, providers, cli) is one entry and may import within itself
    {"_json_types", "errors"},
    {"types"},
    {"_rules", "_sources", "_text", "_values"},
    {"_engine_py", "_engine_c"},
    {"_engine"},
    {"streaming_json", "arguments"},
    {"identity", "defects", "watchdog"},
    {"accumulator", "tool_call_parser", "completion"},
    {"_verdict"},
    {"_tail"},
    {"assembler"},
    {"transport"},
    {"providers"},
    {"stream"},
    {"cli"},
    {"__main__", "__init__"},
]
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
OPTIONAL = {"cli": {"rich"}, "transport": {"orjson"}}  # used where they are installed
FORBIDDEN = {"events.py", "config.py", "_schema.py"}  # an unrelated distribution with this import name has them

SOURCES = sorted(path for ending in ("*.py", "*.pyx") for path in PACKAGE.rglob(ending))


def top(path: Path) -> str:
    """The entry of the table that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py").removesuffix(".pyx")


def statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Every import statement anywhere in a file, but those for type checkers alone."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".pyx":  # no syntax tree for these: the import statements alone are plain Python
        pattern = r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n]*))"
        source = "\n".join(re.findall(pattern, source, re.MULTILINE))
    found: list[ast.Import | ast.ImportFrom] = []
    nodes: list[ast.AST] = [ast.parse(source)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes.extend(node.orelse)
        else:
            nodes.extend(ast.iter_child_nodes(node))
    return found


def imports(path: Path) -> set[tuple[str, ...]]:
    """What a file imports: ("json",), ("toolstream", "types", "MISSING"), ("toolstream",)."""
    package = ("toolstream", *path.relative_to(PACKAGE).parts[:-1])
    names: set[tuple[str, ...]] = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            names.update(tuple(alias.name.split(".")) for alias in node.names)
        else:
            base = (*package[: len(package) - node.level + 1],) if node.level else ()
            module = (*base, *node.module.split(".")) if node.module else base
            names.update((*module, alias.name) for alias in node.names)
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path):
    own = top(path)
    assert own in HEIGHT, f"{own} has no place in the table of layers"
    for module in imports(path):
        if module[0] != "toolstream":
            assert module[0] in sys.stdlib_module_names or module[0] in OPTIONAL.get(own, ()), ".".join(module)
            continue
        assert module[1:], "the facade is for users"
        target = module[1]
        if target == "__version__" and own == "cli":
            continue  # stands in the facade and nowhere else
        assert target in HEIGHT, f"{'.'.join(module)}: a name of the facade, or a module without a place"
        inside = target == own and path.parent != PACKAGE
        assert inside or HEIGHT[target] < HEIGHT[own], f"{own} imports {'.'.join(module)}"


def test_a_source_was_found_for_every_layer():
    assert {top(path) for path in SOURCES} == set(HEIGHT)


def test_no_file_has_a_forbidden_name():
    assert not FORBIDDEN & {path.name for path in PACKAGE.iterdir()}


def test_the_extra_for_benchmarks_has_all_peers():
    root = PACKAGE.parent
    needed = re.findall(r"^@needs\((.+)\)$", (root / "benchmarks/peers.py").read_text(encoding="utf-8"), re.MULTILINE)
    extra = re.search(r"^bench = \[$(.+?)^\]$", (root / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    assert needed
    assert extra
    assert set(re.findall(r'"([\w-]+)', " ".join(needed))) <= set(re.findall(r'"([\w-]+)', extra[1]))
