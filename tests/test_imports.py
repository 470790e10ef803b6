"""Who may import whom. The map is read from the source, so that an import inside a function counts as well."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"app", "cache", "chunking", "chunkscope", "data", "pages"}
MODELS = {"diskcache", "ollama", "onnxruntime"}

#: What each part of the program may import of the others; libraries are told apart below.
MAY_IMPORT = {
    "chunking": {"chunking"},
    "cache": {"cache", "chunking"},
    "data": {"data", "chunking"},
    "pages": {"pages", "chunking", "cache", "data"},
    "app": {"pages", "chunking", "cache", "data"},
    "chunkscope": {"chunking", "cache", "data"},
}
CORE_LIBRARIES = {"numpy", "bm25s", "markdown_it", "mdit_py_plugins", "scipy", "sentencex"}


def part_of(path: Path) -> str:
    """The part of the program that a file belongs to: its folder, or its own name."""
    inside = path.relative_to(ROOT)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def program() -> Iterator[Path]:
    """Every source file of the program."""
    for name in sorted(OURS):
        yield from sorted((ROOT / name).rglob("*.py"))
        if (ROOT / f"{name}.py").exists():
            yield ROOT / f"{name}.py"


def imported(source: str) -> set[str]:
    """The top-level names that a source imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names.add((node.module or "").split(".")[0])
    return names


FILES = {str(path.relative_to(ROOT)): path for path in program()}
every_file = pytest.mark.parametrize("path", FILES.values(), ids=FILES)


@every_file
def test_a_part_imports_only_the_parts_it_may(path: Path) -> None:
    names = imported(path.read_text(encoding="utf-8")) & OURS
    assert names <= MAY_IMPORT[part_of(path)]


@every_file
def test_streamlit_is_imported_by_the_pages_alone_and_models_by_the_cache_alone(path: Path) -> None:
    names, part = imported(path.read_text(encoding="utf-8")), part_of(path)
    assert part in ("app", "pages") or "streamlit" not in names
    assert part == "cache" or not names & MODELS


@pytest.mark.parametrize(
    "path", [path for path in FILES.values() if part_of(path) == "chunking"], ids=lambda path: path.name
)
def test_the_core_needs_numpy_and_the_parsers_it_cuts_with_and_nothing_else(path: Path) -> None:
    names = imported(path.read_text(encoding="utf-8"))
    assert names <= set(sys.stdlib_module_names) | CORE_LIBRARIES | {"chunking"}


def test_libraries_that_cut_are_imported_by_their_adapters_alone_and_only_when_chosen() -> None:
    """So that the program starts without them, and as fast: the adapters name them to `import_module`."""
    for name, path in FILES.items():
        source = path.read_text(encoding="utf-8")
        assert "import_module" not in source or name == "chunking/libraries/common.py", name
        assert "library(" not in source or name.startswith("chunking/libraries/"), name


def test_nothing_heavy_is_imported_at_the_start() -> None:
    heavy = ["bm25s", "chonkie", "langchain_text_splitters", "llama_index", "onnxruntime", "semantic_text_splitter",
             "semchunk", "scipy", "tokenizers"]  # fmt: skip
    code = f"import sys, chunkscope, chunking.experiment, pages.parts.controls; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_terminal_reaches_all_three() -> None:
    path = ROOT / "chunkscope.py"
    if not path.exists():
        pytest.skip("chunkscope.py is not there")
    assert {"cache", "chunking", "data"} <= imported(path.read_text(encoding="utf-8"))


def test_the_core_does_no_input_or_output() -> None:
    """It opens no file, no socket and no process: what it needs is passed in."""
    outside = {"io", "os", "pathlib", "shutil", "socket", "sqlite3", "subprocess", "tempfile", "urllib", "threading"}
    for name, path in FILES.items():
        source = path.read_text(encoding="utf-8")
        if part_of(path) == "chunking":
            assert not imported(source) & outside, name
            assert "open(" not in source, name
            assert "print(" not in source, name


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b, c as d", {"a", "c"}),
        ("from a.b import c", {"a"}),
        ("def f():\n    import a\n    if x:\n        from b import c", {"a", "b"}),
        ("x = 'import a'", set()),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, names: set[str]) -> None:
    assert imported(source) == names
